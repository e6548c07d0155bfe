"""The person of each group: their name, and the names by which they are found."""

from collections.abc import Iterable
from dataclasses import dataclass

from graphiti_pkm.core.identity.groups import is_local, is_of
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.loader import Settings


@dataclass(frozen=True)
class Person:
    """The person of a group, and their entity if there is one."""

    name: str
    uuid: str | None
    is_known: bool = True
    """False: several may speak there, and what "I" did is of nobody that the group knows."""


def refuse_me(caller: Caller, group_id: str, names: Iterable[str]) -> None:
    """Refuse to write of ``me`` in a shared memory, where it would be all members at once. Raises InvalidInput."""
    if ME in names and not is_of(group_id, caller.principal):
        raise InvalidInput(
            "In a shared memory `me` could be any of its members: give the person's name instead. Nothing was stored."
        )


SPEAKER = "the speaker"
"""What a model calls whoever says "I" in a shared memory."""


class Persons:
    """Names the person of a group. The setting ``person`` applies to the local user's groups only."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self._graph = graph
        self._local = settings.person
        self._user_names = settings.user_names

    def called(self, caller: Caller, group_id: str | None = None) -> str:
        """The name of the caller: the local user by the setting ``person``, others by ``account_name``.

        In the group of a shared memory no name is that of its person: a caller's name is one of several there.
        """
        if group_id is not None and not is_of(group_id, caller.principal):
            return ME
        return self._local if caller.is_local else self.account_name(caller) or ME

    def account_name(self, caller: Caller) -> str | None:
        """The name of an account, only if the setting ``user_names`` makes it a person's name.

        Otherwise a token called "anna" would make every Anna in a text the owner of the token.
        """
        return caller.name if self._user_names and not caller.is_local else None

    def names(self, group_id: str) -> tuple[str, ...]:
        """Names by which a group's person is found, the most certain first; always includes ``me``."""
        return (ME, self._local) if is_local(group_id) else (ME,)

    async def uuids(self, group_id: str) -> frozenset[str]:
        """The entities of the group's person, which are never linked by mention."""
        found = await self._graph.records.get_names([name_key(group_id, text) for text in self.names(group_id)])
        return frozenset(name.entity_uuid for name in found.values() if not name.is_linkable)

    async def of(self, group_id: str, called: str | None, teller: str | None = None) -> Person:
        """Who "I" is in a stored group.

        ``called``: the caller's account name, used until the person is known; ``teller``: the principal that told it,
        None if that was not kept.
        """
        if teller is not None and not is_of(group_id, teller):
            return Person(SPEAKER, None, is_known=False)
        keys = [name_key(group_id, text) for text in self.names(group_id)]
        names = await self._graph.records.get_names(keys)
        uuid = next((names[key].entity_uuid for key in keys if key in names), None)
        if is_local(group_id):
            return Person(self._local, uuid)
        known = await self._graph.records.get_entities([uuid], [group_id]) if uuid else []
        return Person(known[0].name if known else (called if self._user_names else None) or ME, uuid)
