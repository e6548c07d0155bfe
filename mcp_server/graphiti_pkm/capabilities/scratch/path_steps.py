"""By which relations a path goes on from node to node."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs
from graphiti_pkm.core.model.access import Caller

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph

_MOST = 5
"""Relations of one step."""
_ROOM = 6_000
"""Characters of all of them."""


async def relations_along(
    graphs: ScratchGraphs, caller: Caller, graph: str, path: Sequence[str], relation: str | None, *, undirected: bool
) -> list[list[str]]:
    """Of each step, or of as many as there is room for; a graph that was changed meanwhile may have none of one."""
    steps: list[list[str]] = []
    room = _ROOM
    async with graphs.reading(caller, graph) as opened:
        for source, target in pairwise(path):
            found = _between(opened.graph, source, target, relation)
            if undirected:
                found |= _between(opened.graph, target, source, relation)
            steps.append(list(found)[:_MOST])
            room -= sum(map(len, steps[-1])) + 4
            if room < 0:
                return steps[:-1]
    return steps


def _between(graph: "ScratchGraph", source: str, target: str, relation: str | None) -> dict[str, None]:
    start, end = graph.find(source), graph.find(target)
    if start is None or end is None:
        return {}
    return {edge.relation: None for edge in graph.edges(start, end, relation)}
