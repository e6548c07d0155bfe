"""A memory over fakes with scratch graphs beside it."""

from typing import Any

from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.service import Reasoning
from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller


class ScratchWorld(WritingWorld):
    """``told`` goes into memory, ``drawn`` into a scratch graph."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        groups = Groups(self.graph, self.context.settings)
        walks, neighbours = self.graph.part(WALKS_PART), self.graph.part(NEIGHBOURS)
        self.reasoning = Reasoning(self.context, groups, self.writing, self.journal.saved_graphs, walks, neighbours)

    async def draw(self, *things: ScratchNode | ScratchEdge, graph: str = "default", caller: Caller = LOCAL) -> None:
        nodes = tuple(one for one in things if isinstance(one, ScratchNode))
        edges = tuple(one for one in things if isinstance(one, ScratchEdge))
        async with self.reasoning.graphs.writing(caller, graph) as opened:
            opened.graph.apply(Content(nodes, edges))

    async def drawn(self, graph: str = "default", caller: Caller = LOCAL) -> Content:
        async with self.reasoning.graphs.reading(caller, graph) as opened:
            return opened.graph.content()

    def uuid(self, name: str) -> str:
        return self.entity(name).uuid
