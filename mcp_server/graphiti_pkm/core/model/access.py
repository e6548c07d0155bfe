"""The caller: the local user or the principal of a token. Resolved on every request, never from an argument."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.records import Origin, SourceType
from graphiti_pkm.errors import NotAllowed
from graphiti_pkm.settings.serving import Tier as Tier  # noqa: PLC0414 it is also a setting

State = Literal["valid", "expired", "revoked"]
LOCAL_PRINCIPAL = "local"

TIERS: tuple[Tier, ...] = get_args(Tier)

_USER = r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}"
_USER_ID = re.compile(rf"(?!(?:undefined|null|none|nan)$){_USER}", re.IGNORECASE)
"""Excludes what programs send for an unknown user: all those users would share one memory."""
_ID = re.compile(r"[0-9]+|[0-9a-f]{24}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
PRINCIPAL = rf"^{_USER}(:{_USER})?$"
"""A person or service, or ``service:user``: a user on whose behalf a service calls."""


ISSUED = r"^oauth:[0-9a-f]{12}:[A-Za-z0-9._~@+%-]{1,800}$"
"""Somebody whom an OAuth issuer named: a hash of the issuer, and the name with other characters percent-encoded. Two
colons keep these principals apart from those of our own tokens, from their users and from the local one."""


def state_at(now: datetime, expires: datetime | None, revoked: datetime | None) -> State:
    """Whether a token or a grant counts; if not, the reason."""
    if revoked is not None:
        return "revoked"
    return "expired" if expires is not None and expires <= now else "valid"


class SharedMemory(Record):
    """The memory of another principal as a caller may use it, beside its own."""

    memory: str
    """The principal whose groups it has; tools name them ``memory/group``."""
    tier: Tier
    groups: tuple[str, ...] = ()
    """Names of the groups that are open; empty: all."""

    def may(self, tier: Tier) -> bool:
        """Whether the caller has at least this tier there."""
        return TIERS.index(self.tier) >= TIERS.index(tier)

    def has(self, group: str) -> bool:
        """Whether a group of this name is open, whether or not anything is in it."""
        return not self.groups or group in self.groups


class Caller(Record):
    """The caller of a request."""

    principal: str = LOCAL_PRINCIPAL
    read_only: bool = False
    tier: Tier = "curator"
    """The tier of its token; of the local user without a token, that of the setting."""
    groups: tuple[str, ...] = ()
    """Public names of the groups that the token is limited to; empty: all of the principal's."""
    token: str | None = None
    """The id of the token that was used, for the audit."""
    shared: tuple[SharedMemory, ...] = ()
    """Memories of others that are open to it."""
    needs: Tier = "reader"
    """The tier that the tool of this call needs; shared memories in which the caller has less are closed to it."""

    @property
    def is_local(self) -> bool:
        return self.principal == LOCAL_PRINCIPAL

    def may(self, tier: Tier) -> bool:
        """Whether the caller has at least this tier."""
        return TIERS.index(self.tier) >= TIERS.index(tier)

    def must_write(self, not_done: str) -> None:
        """Raise NotAllowed for a caller that may only read; ``not_done`` says what it kept from happening."""
        if self.read_only:
            raise NotAllowed(f"This connection may only read. {not_done}")

    def origin(self, source_type: SourceType = "conversation") -> Origin:
        """Of the records that a call of this caller makes."""
        return Origin(created_by=self.principal, token=self.token, source_type=source_type)

    @property
    def visibility(self) -> tuple[str, ...]:
        """Identifies what the caller may see; state such as a cursor belongs to callers with the same visibility."""
        shared = {f"{one.memory}/{group}" for one in self.shared for group in one.groups or ("",)}
        return (*self.own_visibility, *sorted(shared))

    @property
    def own_visibility(self) -> tuple[str, ...]:
        """As ``visibility``, without shared memories: for what can hold nothing of them."""
        return (self.principal, *self.groups)

    @property
    def name(self) -> str | None:
        """The name that the operator, a service or an issuer uses; an id is not a name."""
        known = self.principal.rpartition(":")[2]
        return None if _ID.fullmatch(known) or "%" in known else known


LOCAL = Caller()


class Token(Record):
    """A stored token: its hash and its permissions."""

    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the text that a client sends."""
    principal: Annotated[str, Field(pattern=PRINCIPAL)]
    tier: Tier = "contributor"
    groups: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")], ...] = ()
    may_impersonate: bool = False
    """Whether it calls on behalf of users, named by each request in X-User-ID, and never without one."""
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None

    @model_validator(mode="after")
    def _speaks_as_itself(self) -> Self:
        if self.may_impersonate and (":" in self.principal or self.principal == LOCAL_PRINCIPAL):
            raise ValueError("a service that speaks for users has a name of its own, without ':'")
        return self

    @property
    def id(self) -> str:
        """Its name in lists, logs and ``tokens revoke``."""
        return self.hash[:8]

    def state(self, now: datetime) -> State:
        """Whether it is accepted; if not, the reason."""
        return state_at(now, self.expires, self.revoked)


class IssuedToken(Token):
    """The permissions that an access token of an OAuth issuer grants; it is stored nowhere.

    ``hash`` is of the person and the client instead of the token, so that a renewed token continues the same sessions.
    """

    principal: Annotated[str, Field(pattern=ISSUED)]


def local_caller(tier: Tier, *, read_only: bool) -> Caller:
    """The local user where no token is asked for."""
    return Caller(read_only=read_only or tier == "reader", tier=tier)


def caller_by(token: Token | None, users: Sequence[str], *, read_only: bool, tier: Tier = "curator") -> Caller:
    """The caller of one request.

    Args:
        token: what it came with; None where the server asks for none and serves the local user.
        users: the values of its X-User-ID headers.
        read_only: the server offers nothing else.
        tier: of the local user.

    Raises:
        NotAllowed: the headers name no user, or one that this token may not speak for.
    """
    if token is None:
        if users:
            raise NotAllowed(
                "This server has no authentication, so X-User-ID is refused: anybody could claim to be anybody. "
                "Remove the header; the memory is the local user's."
            )
        return local_caller(tier, read_only=read_only)
    return Caller(
        principal=_principal(token, users),
        read_only=read_only or token.tier == "reader",
        tier=token.tier,
        groups=token.groups,
        token=token.id,
    )


def _principal(token: Token, users: Sequence[str]) -> str:
    if not token.may_impersonate:
        if users:
            raise NotAllowed("This token may not speak for users, so X-User-ID is refused. Remove the header.")
        return token.principal
    if len(users) != 1 or not _USER_ID.fullmatch(users[0]):
        raise NotAllowed(
            "This token speaks for users, and X-User-ID does not name one: it must be there once, with 1 to 128 "
            "letters, digits or . _ @ + - and nothing that still has to be filled in."
        )
    return f"{token.principal}:{users[0]}"
