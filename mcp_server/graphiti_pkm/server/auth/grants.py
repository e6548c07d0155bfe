"""Shared memories: who may use the groups of another principal beside its own.

The files are looked at on every request, so that who is taken off a list has lost access with the next call.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, TypeAdapter, model_validator
from starlette.types import ASGIApp, Receive, Scope, Send

from graphiti_pkm.core.model.access import ISSUED, PRINCIPAL, SharedMemory, State, Tier, state_at
from graphiti_pkm.core.model.record import Record
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.server.auth.callers import GRANTS
from graphiti_pkm.server.auth.watched_files import VERSION, Watched, parse_entries, read_private, write_private
from graphiti_pkm.settings.loader import Settings

_NOTHING = "nothing is shared by it"
_ISSUER = re.compile(r"oauth:[0-9a-f]{12}")


class Grant(Record):
    """What opens the groups of a memory to another principal, or to users of a service."""

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
    """Its name in lists and ``tokens revoke``."""
    principal: Annotated[str, Field(pattern=f"{PRINCIPAL}|{ISSUED}")]
    """Whom it is for; with ``members`` a service or an issuer (``oauth:ISSUER``), of whose users it is for those."""
    memory: Annotated[str, Field(pattern=PRINCIPAL)]
    tier: Tier = "contributor"
    groups: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")], ...] = ()
    members: Path | None = None
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None

    @model_validator(mode="after")
    def _is_for_another(self) -> Self:
        if self.memory == self.principal:
            raise ValueError("a memory is shared with another principal")
        if self.members is not None and ":" in self.principal and not _ISSUER.fullmatch(self.principal):
            raise ValueError("members are users of a service, whose name has no ':', or of an issuer")
        return self

    def state(self, now: datetime) -> State:
        """Whether it counts; if not, the reason."""
        return state_at(now, self.expires, self.revoked)


_GRANTS = TypeAdapter(tuple[Grant, ...])


class Grants:
    """The grants of a file, with the lists of members that they name."""

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._filed: Watched[tuple[Grant, ...]] = Watched(path, read_grants, (), _NOTHING)
        self._members: dict[Path, Watched[frozenset[str]]] = {}

    def of(self, principal: str) -> tuple[SharedMemory, ...]:
        """The memories that are open to a principal now. A file that cannot be used opens nothing."""
        now = self._now()
        return tuple(
            SharedMemory(memory=one.memory, tier=one.tier, groups=one.groups)
            for one in self._filed.value()
            if one.memory != principal and one.state(now) == "valid" and self._is_for(one, principal)
        )

    def _is_for(self, grant: Grant, principal: str) -> bool:
        if grant.members is None:
            return grant.principal == principal
        service, _, user = principal.rpartition(":")
        if service != grant.principal:
            return False
        known = self._members.setdefault(grant.members, Watched(grant.members, read_members, frozenset(), _NOTHING))
        return user in known.value()


class WithGrants:
    """Puts the grants into the scope of each request, for those that came through the check of tokens."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._grants = Grants(settings.grants_path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, GRANTS: self._grants}, receive, send)


def read_grants(path: Path) -> tuple[Grant, ...]:
    """The grants of a file; none if it does not exist. Raises ConfigurationError."""
    text = read_private(path, "file of grants")
    if text is None:
        return ()
    return parse_entries(text, str(path), "grants", _GRANTS)


def write_grants(path: Path, grants: Sequence[Grant]) -> None:
    """Replace the whole file; only its owner can read it. Raises ConfigurationError."""
    entries = [one.model_dump(mode="json", exclude_none=True) for one in grants]
    write_private(path, {"version": VERSION, "grants": entries}, "file of grants")


def read_members(path: Path) -> frozenset[str]:
    """The users of a list: one a line as the service sends them in X-User-ID; ``#`` begins a comment.

    Raises ConfigurationError, also if there is no such file.
    """
    text = read_private(path, "list of members")
    if text is None:
        raise ConfigurationError(f"There is no list of members {path}.")
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return frozenset(line for line in lines if line)
