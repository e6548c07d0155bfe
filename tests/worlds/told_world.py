"""A memory that is told and asked: the writing world with everything that reads it."""

from typing import Any

from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections
from graphiti_pkm.capabilities.explore.service import Exploring
from graphiti_pkm.capabilities.history.requests import UpdateEntity
from graphiti_pkm.capabilities.search.assembly import FLAGS, NEIGHBOURS
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts, SearchNodes
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import ConnectionsResponse, FactSearchResponse, NodeSearchResponse


class ToldWorld(WritingWorld):
    """One server over fakes, asked after it was told."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        groups = Groups(self.graph, self.context.settings)
        self.searching = Searching(self.context, groups, self.graph.part(NEIGHBOURS), self.graph.part(FLAGS))
        self.exploring = Exploring(self.context, groups)

    async def facts_found(self, query: str | None = None, **given: Any) -> FactSearchResponse:
        return await self.searching.search_memory_facts(LOCAL, SearchMemoryFacts(query=query, **given))

    async def nodes_found(self, **given: Any) -> NodeSearchResponse:
        return await self.searching.search_nodes(LOCAL, SearchNodes(**given))

    async def connections_of(self, name: str, **given: Any) -> ConnectionsResponse:
        asked = GetEntityConnections(entity_uuid=self.entity(name).uuid, **given)
        return await self.exploring.get_entity_connections(LOCAL, asked)

    async def update(self, entity: str, /, **given: Any) -> str:
        """Update the entity with this name; its uuid."""
        uuid = self.entity(entity).uuid
        await self.updating.update_entity(LOCAL, UpdateEntity(entity_uuid=uuid, **given))
        return uuid
