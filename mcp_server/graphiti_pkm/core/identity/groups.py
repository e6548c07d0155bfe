"""Checks which groups a caller may read and write, and translates their public names to stored ids."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from graphiti_pkm.core.model.access import LOCAL_PRINCIPAL, TIERS, Caller, SharedMemory, Tier
from graphiti_pkm.core.model.targets import is_set_aside
from graphiti_pkm.errors import InvalidInput, NotAllowed, PermissionDenied
from graphiti_pkm.settings.loader import Settings

if TYPE_CHECKING:  # the list of tools needs the names of groups, not the store
    from graphiti_pkm.core.ports.graph import Graph

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HASHED = re.compile(r"[0-9a-f]{32}_")
_HASH_LENGTH = 32
_SHOWN = 60
_SHARED = re.compile(r"(?P<memory>[A-Za-z0-9][A-Za-z0-9._@+:-]{0,256})/(?P<group>[A-Za-z0-9_-]{1,64})")
"""The name of a group of another's memory. No group of one's own has a slash."""

_memories: ContextVar[Mapping[str, str]] = ContextVar("memories", default=MappingProxyType({}))
"""Names of the shared memories of the caller that is being answered, by the owner of their stored groups."""


@contextmanager
def answering(caller: Caller) -> Iterator[None]:
    """While this caller is answered, groups are shown by the names that it knows them by.

    Only for what is shown: what a caller may see is decided from the ``Caller`` that each method gets.
    """
    named = _memories.set({_owner(one.memory): one.memory for one in caller.shared})
    try:
        yield
    finally:
        _memories.reset(named)


class Groups:
    """Maps names to stored ids for one caller and back; a stored id never reaches an answer."""

    def __init__(self, graph: "Graph", settings: Settings) -> None:
        self._graph = graph
        self._default = settings.default_group

    def one(self, caller: Caller, group_id: str | None) -> str:
        """Stored id of a public name, of the default group without one.

        Raises InvalidInput, NotAllowed; PermissionDenied: the group is open, but not to what is asked.
        """
        if group_id is not None and (named := _SHARED.fullmatch(group_id)) and not _HASHED.match(named["group"]):
            return self._shared(caller, named["memory"], named["group"])
        name = self._default_of(caller) if group_id is None else _checked(group_id)
        if caller.groups and name not in caller.groups:
            # The message is the same for groups that exist and groups that never did.
            raise NotAllowed(f"Group {name!a} is not among those of this token: {', '.join(caller.groups)}.")
        return _prefix(caller.principal) + name

    def _shared(self, caller: Caller, memory: str, group: str) -> str:
        found = [one for one in caller.shared if one.memory == memory and one.has(group)]
        if not found:
            # The message is the same for memories that exist and memories that never did.
            raise NotAllowed(f"No shared memory of this name is open to you{_open_to(caller)}")
        if not any(one.may(caller.needs) for one in found):
            highest = max((one.tier for one in found), key=TIERS.index)
            raise PermissionDenied(
                f"PERMISSION_DENIED: this needs tier {caller.needs} in {memory}/{group}, and yours there is "
                f"{highest}. Nothing was changed. Do not try again; whoever runs the server can change it.",
                f"{memory}/{group} needs tier {caller.needs}, and yours there is {highest}.",
            )
        return _prefix(memory) + group

    def many(self, caller: Caller, group_ids: str | Sequence[str] | None) -> tuple[str, ...] | None:
        """Stored ids in the given order, without duplicates; None if omitted or empty. Raises as ``one``."""
        if group_ids is None:
            return None
        names = [group_ids] if isinstance(group_ids, str) else list(group_ids)
        return tuple(dict.fromkeys(self.one(caller, name) for name in names)) or None

    def searched(self, caller: Caller, group_ids: str | Sequence[str] | None) -> tuple[str, ...]:
        """As ``many``, or the default group if none is given."""
        return self.many(caller, group_ids) or (self.one(caller, None),)

    def _default_of(self, caller: Caller) -> str:
        """The default group, or the first of the groups that the caller's token is limited to.

        Staging and archives are nobody's default, unless the token opens nothing else.
        """
        if not caller.groups or self._default in caller.groups:
            return self._default
        return next((name for name in caller.groups if not is_set_aside(name)), caller.groups[0])

    async def visible(self, caller: Caller) -> tuple[str, ...]:
        """Stored ids of all groups that this caller may use in this call and that are not empty."""
        stored = await self._graph.records.groups()
        return tuple(group for group in stored if self._tier_in(caller, group, caller.needs))

    def may(self, caller: Caller, stored: str, tier: Tier) -> bool:
        """Whether the caller has at least this tier in a stored group: never more than that of its token."""
        return caller.may(tier) and self._tier_in(caller, stored, tier)

    def refuse_unnamed(self, caller: Caller, stored: str, group_id: str | None) -> None:
        """Refuse to add to a shared memory to which only a uuid led. Raises InvalidInput."""
        if group_id is None and not is_of(stored, caller.principal):
            raise InvalidInput(
                f"That is in the shared memory group {self.name_for(caller, stored)}, and what is added there has to "
                "name it: send it as group_id. Nothing was stored."
            )

    @staticmethod
    def _tier_in(caller: Caller, stored: str, tier: Tier) -> bool:
        """Whether a stored group is the caller's own, or open to it with this tier."""
        owner, name = owner_of(stored), _name_in(stored)
        if owner == _owner(caller.principal):
            return not caller.groups or name in caller.groups
        return any(owner == _owner(one.memory) and one.has(name) and one.may(tier) for one in caller.shared)

    async def visible_unasked(self, caller: Caller) -> tuple[str, ...]:
        """Those of ``visible`` that may be read, or suggested, without being named: neither staging nor archives."""
        return tuple(group for group in await self.visible(caller) if not is_set_aside(group))

    async def own(self, caller: Caller) -> tuple[str, ...]:
        """Those of ``visible_unasked`` in the caller's own memory: what is read where no group can be named."""
        return tuple(group for group in await self.visible_unasked(caller) if is_of(group, caller.principal))

    def public(self, stored: str) -> str:
        """The name by which the caller that is being answered knows a stored group."""
        memory = _memories.get().get(owner_of(stored))
        return _name_in(stored) if memory is None else f"{memory}/{_name_in(stored)}"

    @staticmethod
    def name_for(caller: Caller, stored: str) -> str:
        """The name by which a caller can be taken at its word: ``one`` gives the stored group for it."""
        owner = owner_of(stored)
        memory = next((one.memory for one in caller.shared if _owner(one.memory) == owner), None)
        is_own = owner == _owner(caller.principal) or memory is None
        return _name_in(stored) if is_own else f"{memory}/{_name_in(stored)}"


def is_local(stored: str) -> bool:
    """Whether a stored group belongs to the local principal."""
    return _HASHED.match(stored) is None


def owner_of(stored: str) -> str:
    """The owner of a stored group: one text for all groups of a principal, empty for the local one."""
    return "" if is_local(stored) else stored[:_HASH_LENGTH]


def is_of(stored: str, principal: str) -> bool:
    """Whether a stored group is in the memory of this principal, so that ``me`` means somebody there."""
    return owner_of(stored) == _owner(principal)


@lru_cache(maxsize=4_096)
def _owner(principal: str) -> str:
    """As ``owner_of``; empty for the local principal, so that an existing Graphiti database can be read."""
    if principal == LOCAL_PRINCIPAL:
        return ""
    return hashlib.sha256(principal.encode()).hexdigest()[:_HASH_LENGTH]


def _prefix(principal: str) -> str:
    owner = _owner(principal)
    return owner and f"{owner}_"


def _name_in(stored: str) -> str:
    return stored if is_local(stored) else stored[_HASH_LENGTH + 1 :]


def _open_to(caller: Caller) -> str:
    if not caller.shared:
        return "; none is."
    return f". There are: {', '.join(sorted({_named(one) for one in caller.shared}))}."


def _named(one: SharedMemory) -> str:
    return ", ".join(f"{one.memory}/{group}" for group in one.groups or ("*",))


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"group_id {name[:_SHOWN]!a} is not a group name: use 1 to 64 letters, digits, '-' or '_', for example "
            "'work' or 'project-x'. get_status lists the groups there are."
        )
    if _HASHED.match(name):
        raise InvalidInput(
            f"group_id {name[:_SHOWN]!a} has a reserved form (32 hex digits and '_'): choose another name."
        )
    return name
