"""Checks which groups a caller may read and write, and translates their public names to stored ids."""

import hashlib
import re
from collections.abc import Sequence

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.errors import InvalidInput, NotAllowed
from graphiti_pkm.settings.loader import Settings

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HASHED = re.compile(r"[0-9a-f]{32}_")
_HASH_LENGTH = 32
_SHOWN = 60


class Groups:
    """Maps names to stored ids for one caller and back; a stored id never reaches an answer."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self._graph = graph
        self._default = settings.default_group

    def one(self, caller: Caller, group_id: str | None) -> str:
        """Stored id of a public name, of the default group without one. Raises InvalidInput, NotAllowed."""
        name = self._default_of(caller) if group_id is None else _checked(group_id)
        if caller.groups and name not in caller.groups:
            # The message is the same for groups that exist and groups that never did.
            raise NotAllowed(f"Group {name!a} is not among those of this token: {', '.join(caller.groups)}.")
        return _prefix(caller) + name

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
        """The default group, or the first of the groups that the caller's token is limited to."""
        if not caller.groups or self._default in caller.groups:
            return self._default
        return caller.groups[0]

    async def visible(self, caller: Caller) -> tuple[str, ...]:
        """Stored ids of all groups that this caller may read and that are not empty."""
        prefix = _prefix(caller)
        stored = await self._graph.records.groups()
        own = tuple(group for group in stored if (group.startswith(prefix) if prefix else is_local(group)))
        return tuple(group for group in own if self.public(group) in caller.groups) if caller.groups else own

    def public(self, stored: str) -> str:
        """The name a caller knows a stored group by."""
        return stored if is_local(stored) else stored[_HASH_LENGTH + 1 :]


def is_local(stored: str) -> bool:
    """Whether a stored group belongs to the local principal."""
    return _HASHED.match(stored) is None


def owner_of(stored: str) -> str:
    """The owner of a stored group: one text for all groups of a principal, empty for the local one."""
    return "" if is_local(stored) else stored[:_HASH_LENGTH]


def _prefix(caller: Caller) -> str:
    """Empty for the local principal, so that an existing Graphiti database can be read."""
    if caller.is_local:
        return ""
    return hashlib.sha256(caller.principal.encode()).hexdigest()[:_HASH_LENGTH] + "_"


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
