"""Tokens that callers over HTTP show: kept as hashes, in a file that may change while a server runs, or a setting."""

import hashlib
import hmac
import json
import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.errors import ConfigurationError

_log = logging.getLogger(__name__)

_PREFIX = "pkm_"
_BYTES = 32
_LONGEST = 512
_VERSION = 1
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_TOKENS = TypeAdapter(tuple[Token, ...])

Stamp: TypeAlias = tuple[int, int, int]
Refusal: TypeAlias = Literal["unknown", "expired", "revoked"]


@dataclass(frozen=True)
class Verified:
    """What a presented text is: a valid token, or why not, which is for the log alone."""

    token: Token | None
    refusal: Refusal | None = None


def new_secret() -> str:
    """A token as its holder keeps it; 256 random bits need no slow hash."""
    return _PREFIX + secrets.token_urlsafe(_BYTES)


def hash_of(secret: str) -> str:
    """What is kept of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Tokens:
    """The tokens of a file and of a setting. The file is read again whenever it has changed."""

    def __init__(self, path: Path, given: str | None = None, *, is_named: bool = False) -> None:
        """``given``: entries as JSON; ``is_named``: the settings name the file, so that it must be there.

        Raises:
            ConfigurationError: file or setting cannot be used.
        """
        self._path = path
        self._given = parse(given, "the setting tokens") if given is not None else ()
        self._stamp: Stamp | None = None
        self._filed: tuple[Token, ...] = ()
        self._required = is_named or given is not None
        if is_named and not path.exists():
            raise ConfigurationError(
                f"There is no token file {path}. `graphiti-pkm tokens create NAME` makes it, or leave tokens_file out."
            )
        self._read()

    def required(self) -> bool:
        """Whether callers need a token: once there has been a file or a setting, until the server ends."""
        self._look()
        return self._required

    def all(self) -> tuple[Token, ...]:
        """Every token there is, valid or not."""
        self._look()
        return (*self._filed, *self._given)

    def verify(self, presented: str, now: datetime) -> Verified:
        """Whose token a text is; takes as long whether it is one or not."""
        wanted = hash_of(presented[:_LONGEST])
        found = [token for token in self.all() if hmac.compare_digest(token.hash, wanted)]
        if not found:
            return Verified(None, "unknown")
        # One that is in the file and in the setting is revoked if either says so.
        states = {token.state(now) for token in found}
        for refusal in ("revoked", "expired"):
            if refusal in states:
                return Verified(None, refusal)
        return Verified(found[0])

    def _look(self) -> None:
        """Read the file again if it is another; one that cannot be used opens nothing."""
        try:
            if _stamp(self._path) != self._stamp:
                self._read()
        except ConfigurationError as error:
            _log.error("no token of the file is accepted: %s", error.message)
            self._filed = ()

    def _read(self) -> None:
        self._stamp = _stamp(self._path)
        self._filed = ()
        if self._stamp is not None:
            self._required = True
            self._filed = read_tokens(self._path)


def read_tokens(path: Path) -> tuple[Token, ...]:
    """What a file holds; nothing if there is none. Raises ConfigurationError."""
    try:
        if path.stat().st_mode & _OTHERS_WRITE:
            raise ConfigurationError(f"Others may write the token file {path}. Do `chmod 600` on it.")
        return parse(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read the token file {path}: {type(error).__name__}.") from None


def write_tokens(path: Path, tokens: Sequence[Token]) -> None:
    """Replace a file as a whole, readable by its owner alone. Raises ConfigurationError."""
    entries = [as_entry(token) for token in tokens]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # made with mode 0600
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                json.dump({"version": _VERSION, "tokens": entries}, file, indent=1)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(
            f"Cannot write the token file {path}: {error.strerror}. Nothing was changed."
        ) from None


def as_entry(token: Token) -> dict[str, object]:
    """A token as it stands in a file or in the setting."""
    return token.model_dump(mode="json", exclude_none=True)


def parse(text: str, where: str) -> tuple[Token, ...]:
    """Entries as JSON: a list, or the object that a file holds. Raises ConfigurationError."""
    try:
        data = json.loads(text)
        if isinstance(data, dict):
            if data.get("version") != _VERSION:
                raise ConfigurationError(f"The tokens in {where} are of another version of this product.")
            data = data.get("tokens")
        tokens = _TOKENS.validate_python(data)
        if any(
            at is not None and at.tzinfo is None for one in tokens for at in (one.created, one.expires, one.revoked)
        ):
            raise ConfigurationError(
                f"A time of the tokens in {where} has no offset; write it as 2026-03-01T00:00:00Z."
            )
    except ValidationError as error:
        # Never the input: it may be a token that somebody put in the place of its hash.
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"The tokens in {where} do not fit: {place}: {first['msg']}.") from None
    except ValueError:
        raise ConfigurationError(f"The tokens in {where} are no JSON.") from None
    return tokens


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"Cannot read the token file {path}: {type(error).__name__}.") from None
    return found.st_ino, found.st_mtime_ns, found.st_size
