"""Access tokens of HTTP callers, stored as hashes in a setting or in a file that may change while the server runs."""

import hashlib
import hmac
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import TypeAdapter

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.errors import ConfigurationError, InvalidSettings
from graphiti_pkm.server.auth.watched_files import VERSION, Watched, parse_entries, read_private, write_private

_log = logging.getLogger(__name__)

_PREFIX = "pkm_"
_BYTES = 32
_LONGEST = 512
_TOKENS = TypeAdapter(tuple[Token, ...])


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
        self._is_required = is_named or given is not None or has_issuer
        if is_named and not path.exists():
            raise InvalidSettings(
                f"There is no token file {path}. `graphiti-pkm tokens create NAME` makes it, or leave tokens_file out."
            )
        read_tokens(path)
        self._filed: Watched[tuple[Token, ...]] = Watched(path, read_tokens, (), "no token of the file is accepted")

    def required(self) -> bool:
        """Whether callers need a token: true for the rest of the server's life once a file or a setting exists."""
        self._filed.value()
        return self._is_required or self._filed.has_existed

    def all(self) -> tuple[Token, ...]:
        """All tokens, valid or not."""
        return (*self._filed.value(), *self._given)

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


def read_tokens(path: Path) -> tuple[Token, ...]:
    """The tokens of a file; none if it does not exist. Raises ConfigurationError."""
    text = read_private(path, "token file")
    return () if text is None else parse(text, str(path))


def write_tokens(path: Path, tokens: Sequence[Token]) -> None:
    """Replace the whole file; only its owner can read it. Raises ConfigurationError."""
    write_private(path, {"version": VERSION, "tokens": [as_entry(token) for token in tokens]}, "token file")


def as_entry(token: Token) -> dict[str, object]:
    """The entry of a token in a file or in the setting."""
    return token.model_dump(mode="json", exclude_none=True)


def parse(text: str, where: str) -> tuple[Token, ...]:
    """Tokens from JSON: a list of entries, or the object in a token file. Raises ConfigurationError."""
    return parse_entries(text, where, "tokens", _TOKENS, may_be_list=True)
