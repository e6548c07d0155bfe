"""Who calls: the local user, or whoever a token stands for. Resolved on every request, never from an argument."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, Self, TypeAlias, get_args

from pydantic import Field, model_validator

from graphiti_pkm.core.model.record import Record
from graphiti_pkm.errors import NotAllowed

LOCAL_PRINCIPAL = "local"

Tier: TypeAlias = Literal["reader", "contributor", "librarian", "curator"]
"""What a token may do, each more than the one before: read; add and what can be undone; tidy up; delete for good."""
TIERS: tuple[Tier, ...] = get_args(Tier)

_USER = r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}"
_USER_ID = re.compile(rf"(?!(?:undefined|null|none|nan)$){_USER}", re.IGNORECASE)
"""Not what a program writes where it knows of no user: it would be one memory for all of those."""
_ID = re.compile(r"[0-9]+|[0-9a-f]{24}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
PRINCIPAL = rf"^{_USER}(:{_USER})?$"
"""A person or service, or ``service:user``: someone a service speaks for."""


class Caller(Record):
    """The one who calls."""

    principal: str = LOCAL_PRINCIPAL
    read_only: bool = False
    tier: Tier = "curator"
    """Of its token; the local user without one may all there is."""
    groups: tuple[str, ...] = ()
    """Public names of the groups it is held to; empty: all of the principal's."""
    token: str | None = None
    """Id of the token it came with, for the audit."""

    @property
    def is_local(self) -> bool:
        return self.principal == LOCAL_PRINCIPAL

    def may(self, tier: Tier) -> bool:
        """Whether its tier is this one or above."""
        return TIERS.index(self.tier) >= TIERS.index(tier)

    @property
    def visibility(self) -> tuple[str, ...]:
        """What may be seen, for whatever holds of this caller only, as a cursor does: one that sees more is another."""
        return (self.principal, *self.groups)

    @property
    def name(self) -> str | None:
        """As the operator or a service knows them; an id is no name."""
        known = self.principal.rpartition(":")[2]
        return None if _ID.fullmatch(known) else known


LOCAL = Caller()


class Token(Record):
    """What is kept of a token: its hash, and what it allows."""

    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the text that a client sends."""
    principal: Annotated[str, Field(pattern=PRINCIPAL)]
    tier: Tier = "contributor"
    groups: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")], ...] = ()
    may_impersonate: bool = False
    """It speaks for users, whom each request names in X-User-ID, and for nobody without."""
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
        """What it is called in lists, logs and ``tokens revoke``."""
        return self.hash[:8]

    def state(self, now: datetime) -> Literal["valid", "expired", "revoked"]:
        """Whether it is accepted, and if not, why."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "valid"


def caller_by(token: Token | None, users: Sequence[str], *, read_only: bool) -> Caller:
    """The caller of one request.

    Args:
        token: what it came with; None where the server asks for none and serves the local user.
        users: the values of its X-User-ID headers.
        read_only: the server offers nothing else.

    Raises:
        NotAllowed: the headers name no user, or one that this token may not speak for.
    """
    if token is None:
        if users:
            raise NotAllowed(
                "This server has no authentication, so X-User-ID is refused: anybody could claim to be anybody. "
                "Remove the header; the memory is the local user's."
            )
        return Caller(read_only=read_only)
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
