"""The fake of saved graphs: a dict."""

from collections.abc import Sequence

from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.saved_graphs import SavedGraph, SavedGraphContent, is_lost
from graphiti_pkm.errors import TooLarge


class FakeSavedGraphs:
    """The port ``SavedGraphs`` in memory."""

    def __init__(self) -> None:
        self.table: dict[tuple[tuple[str, ...], str], SavedGraphContent] = {}

    async def save(self, graph: SavedGraphContent, most: int, most_characters: int) -> bool:
        others = [one for one in self.table.values() if one.owner == graph.owner and one.name != graph.name]
        if len(others) >= most or sum(len(one.content) for one in (*others, graph)) > most_characters:
            raise TooLarge("Nothing was saved: there are too many saved graphs.")
        replaced = (graph.owner, graph.name) in self.table
        self.table[graph.owner, graph.name] = graph
        return replaced

    async def listed(self, owner: Sequence[str]) -> list[SavedGraph]:
        own = [one for one in self.table.values() if one.owner == tuple(owner)]
        return [_line(one) for one in sorted(own, key=lambda one: one.name)]

    async def find(self, owner: Sequence[str], name: str) -> SavedGraphContent | None:
        return self.table.get((tuple(owner), name))

    async def delete(self, owner: Sequence[str], name: str) -> SavedGraph | None:
        found = self.table.pop((tuple(owner), name), None)
        return found and _line(found)

    def kept(self, principal: str) -> list[SavedGraphContent]:
        own = [one for one in self.table.values() if one.owner[0] == principal]
        return sorted(own, key=lambda one: (one.owner, one.name))

    def forget(self, forgetting: WriteIntent) -> None:
        self.table = {key: one for key, one in self.table.items() if not is_lost(one, forgetting)}


def _line(graph: SavedGraphContent) -> SavedGraph:
    return SavedGraph(name=graph.name, saved_at=graph.saved_at, nodes=graph.nodes, edges=graph.edges)
