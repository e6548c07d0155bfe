"""Access tokens of HTTP callers, stored as hashes in a setting or in a file that may change while the server runs."""

import hashlib
import hmac
import json
import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.core.operating_system import HAS_FILE_MODES, patiently, replace
from graphiti_pkm.errors import ConfigurationError, InvalidSettings

_log = logging.getLogger(__name__)

_PREFIX = "pkm_"
_BYTES = 32
_LONGEST = 512
_VERSION = 1
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_TOKENS = TypeAdapter(tuple[Token, ...])


class _Dated(Protocol):
    """What counts from one time to another."""

    @property
    def created(self) -> datetime: ...
    @property
    def expires(self) -> datetime | None: ...
    @property
    def revoked(self) -> datetime | None: ...


_D = TypeVar("_D", bound=_Dated)
Stamp: TypeAlias = tuple[int, int, int]
Refusal: TypeAlias = Literal["unknown", "expired", "revoked"]


@dataclass(frozen=True)
class Verified:
    """The result of a check: a valid token, or the reason for the refusal, which only the log may show."""

    token: Token | None
    refusal: Refusal | None = None


def new_secret() -> str:
    """A new token in plain text. Its 256 random bits need no slow hash."""
    return _PREFIX + secrets.token_urlsafe(_BYTES)


def hash_of(secret: str) -> str:
    """The hash under which a token is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Tokens:
    """The tokens of a file and of a setting. The file is read again whenever it has changed."""

    def __init__(
        self, path: Path, given: str | None = None, *, is_named: bool = False, has_issuer: bool = False
    ) -> None:
        """``given``: the setting's entries as JSON; ``is_named``: the settings name the file, so it must exist.

        ``has_issuer``: an OAuth issuer makes further tokens, so callers need one even if there are none here.

        Raises:
            InvalidSettings: the setting cannot be used, or names a file that does not exist.
            ConfigurationError: the file cannot be used.
        """
        self._path = path
        try:
            self._given = parse(given, "the setting tokens") if given is not None else ()
        except ConfigurationError as error:
            raise InvalidSettings(error.message) from None
        self._stamp: Stamp | None = None
        self._filed: tuple[Token, ...] = ()
        self._required = is_named or given is not None or has_issuer
        if is_named and not path.exists():
            raise InvalidSettings(
                f"There is no token file {path}. `graphiti-pkm tokens create NAME` makes it, or leave tokens_file out."
            )
        self._read()

    def required(self) -> bool:
        """Whether callers need a token: true for the rest of the server's life once a file or a setting exists."""
        self._look()
        return self._required

    def all(self) -> tuple[Token, ...]:
        """All tokens, valid or not."""
        self._look()
        return (*self._filed, *self._given)

    def verify(self, presented: str, now: datetime) -> Verified:
        """Find the token that a caller presented; takes equally long for known and unknown tokens."""
        wanted = hash_of(presented[:_LONGEST])
        found = [token for token in self.all() if hmac.compare_digest(token.hash, wanted)]
        if not found:
            return Verified(None, "unknown")
        # A token that is both in the file and in the setting is revoked if either says so.
        states = {token.state(now) for token in found}
        for refusal in ("revoked", "expired"):
            if refusal in states:
                return Verified(None, refusal)
        return Verified(found[0])

    def _look(self) -> None:
        """Read the file again if it has changed; if it cannot be used, none of its tokens is accepted."""
        try:
            if stamp_of(self._path) != self._stamp:
                self._read()
        except ConfigurationError as error:
            _log.error("no token of the file is accepted: %s", error.message)
            self._filed = ()

    def _read(self) -> None:
        self._stamp = stamp_of(self._path)
        self._filed = ()
        if self._stamp is not None:
            self._required = True
            self._filed = read_tokens(self._path)


def read_tokens(path: Path) -> tuple[Token, ...]:
    """The tokens of a file; none if it does not exist. Raises ConfigurationError."""
    text = read_private(path, "token file")
    return () if text is None else parse(text, str(path))


def read_private(path: Path, what: str) -> str | None:
    """A file that decides who may do what; None if there is none. Raises ConfigurationError if others may write it."""
    try:
        if HAS_FILE_MODES and path.stat().st_mode & _OTHERS_WRITE:
            raise ConfigurationError(f"Others may write the {what} {path}. Do `chmod 600` on it.")
        return patiently(lambda: path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read the {what} {path}: {type(error).__name__}.") from None


def write_tokens(path: Path, tokens: Sequence[Token]) -> None:
    """Replace the whole file; only its owner can read it. Raises ConfigurationError."""
    write_private(path, {"version": _VERSION, "tokens": [as_entry(token) for token in tokens]}, "token file")


def write_private(path: Path, content: Mapping[str, object], what: str) -> None:
    """Replace a file as a whole by JSON that only its owner can read. Raises ConfigurationError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # created with mode 0600
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=1)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            replace(Path(name), path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(f"Cannot write the {what} {path}: {error.strerror}. Nothing was changed.") from None


def as_entry(token: Token) -> dict[str, object]:
    """The entry of a token in a file or in the setting."""
    return token.model_dump(mode="json", exclude_none=True)


def parse(text: str, where: str) -> tuple[Token, ...]:
    """Tokens from JSON: a list of entries, or the object in a token file. Raises ConfigurationError."""
    return parse_entries(text, where, "tokens", _TOKENS, may_be_list=True)


def parse_entries(
    text: str, where: str, what: str, entries: TypeAdapter[tuple[_D, ...]], *, may_be_list: bool = False
) -> tuple[_D, ...]:
    """What lets callers in, from JSON: an object with a version and, as ``what``, the entries.

    ``may_be_list``: whether the entries may also come alone.

    Raises ConfigurationError.
    """
    try:
        data = json.loads(text)
        if isinstance(data, dict) or not may_be_list:
            if not isinstance(data, dict) or data.get("version") != _VERSION:
                raise ConfigurationError(f"The {what} in {where} are of another version of this product.")
            data = data.get(what)
        found = entries.validate_python(data)
    except ValidationError as error:
        # Never quote the input: somebody may have entered a token where its hash belongs.
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"The {what} in {where} do not fit: {place}: {first['msg']}.") from None
    except ValueError:
        raise ConfigurationError(f"The {what} in {where} are no JSON.") from None
    times = [at for one in found for at in (one.created, one.expires, one.revoked)]
    if any(at is not None and at.tzinfo is None for at in times):
        raise ConfigurationError(f"A time of the {what} in {where} has no offset; write it as 2026-03-01T00:00:00Z.")
    return found


def stamp_of(path: Path) -> Stamp | None:
    """What changes when a file does; None if there is none. Raises ConfigurationError."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"Cannot read {path}: {type(error).__name__}.") from None
    return found.st_ino, found.st_mtime_ns, found.st_size
