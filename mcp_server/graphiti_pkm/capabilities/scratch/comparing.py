"""Compares two scratch graphs of a caller, such as a part of memory at two dates.

The graphs are locked one after the other while their contents are copied. Two calls that each held two locks, taken in
opposite order, would deadlock.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.models.answers import (
    ChangedEdge,
    ChangedNode,
    ComparedNode,
    CompareGraphsResponse,
    ComparisonCounts,
    Difference,
    EdgeEnds,
)
from graphiti_pkm.capabilities.scratch.pages import ROOM, fitting
from graphiti_pkm.capabilities.scratch.requests import CompareGraphs
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs, checked_name
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import Answer
from graphiti_pkm.core.model.names import same_key
from graphiti_pkm.core.model.scratch_marks import LOADED_AS
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput

_LONGEST_VALUE = 160
_LONGEST_NAME = 80
_MOST_DIFFERENCES = 20
"""Differences listed for one node or edge."""

_EdgeKey: TypeAlias = tuple[str, str, str]
_Key = TypeVar("_Key")
_Thing = TypeVar("_Thing")
_View = TypeVar("_View", bound=Answer)


class ScratchComparing:
    """``compare_graphs``."""

    def __init__(self, graphs: ScratchGraphs) -> None:
        self._graphs = graphs

    async def compare_graphs(self, caller: Caller, request: CompareGraphs) -> CompareGraphsResponse:
        """Nodes and edges that are in only one of two graphs, or in both with differences.

        Raises:
            NotFound: one of the graphs does not exist.
            InvalidInput: both names mean the same graph.
        """
        most = request.limit
        if checked_name(request.graph) == checked_name(request.other, "other"):
            raise InvalidInput(
                "graph and other name the same graph. Name two different graphs; list_graphs lists them."
            )
        name, content = await self._taken(caller, request.graph)
        other_name, other_content = await self._taken(caller, request.other)
        return await in_thread(_compared, (name, other_name), (content, other_content), most)

    async def _taken(self, caller: Caller, graph: str) -> tuple[str, Content]:
        async with self._graphs.reading(caller, graph) as opened:
            return opened.name, await in_thread(opened.graph.content)


class _Split(NamedTuple):
    """The nodes, or the edges, of two graphs, divided by where they are; each part in order of insertion."""

    in_both: int
    only_here: list[Any]
    only_there: list[Any]
    changed: list[tuple[Any, list[Difference]]]

    @property
    def counts(self) -> ComparisonCounts:
        return ComparisonCounts(
            in_both=self.in_both,
            only_in_graph=len(self.only_here),
            only_in_other=len(self.only_there),
            changed=len(self.changed),
        )

    @property
    def is_equal(self) -> bool:
        return not (self.only_here or self.only_there or self.changed)


def _compared(names: tuple[str, str], contents: tuple[Content, Content], most: int) -> CompareGraphsResponse:
    here, there = contents
    nodes = _split(_nodes(here), _nodes(there), _of_nodes)
    edges = _split(_edges(here), _edges(there), _of_edges)
    every: list[list[Any]] = [
        [ComparedNode(label=one.label, type=one.type) for one in nodes.only_here[:most]],
        [ComparedNode(label=one.label, type=one.type) for one in nodes.only_there[:most]],
        [ChangedNode(label=one.label, **_told(own)) for one, own in nodes.changed[:most]],
        [_ends(one) for one in edges.only_here[:most]],
        [_ends(one) for one in edges.only_there[:most]],
        [ChangedEdge(**_ends(one).model_dump(), **_told(own)) for one, own in edges.changed[:most]],
    ]
    shown = _shared(every)
    totals = [len(part) for split in (nodes, edges) for part in split[1:]]
    return CompareGraphsResponse(
        graph=names[0],
        other=names[1],
        equal=nodes.is_equal and edges.is_equal,
        truncated=any(len(part) < total for part, total in zip(shown, totals, strict=True)),
        node_counts=nodes.counts,
        edge_counts=edges.counts,
        nodes_only_in_graph=shown[0],
        nodes_only_in_other=shown[1],
        nodes_changed=shown[2],
        edges_only_in_graph=shown[3],
        edges_only_in_other=shown[4],
        edges_changed=shown[5],
    )


def _split(
    here: Mapping[_Key, _Thing], there: Mapping[_Key, _Thing], differ: Callable[[_Thing, _Thing], list[Difference]]
) -> _Split:
    both = [(one, there[key]) for key, one in here.items() if key in there]
    return _Split(
        len(both),
        [one for key, one in here.items() if key not in there],
        [one for key, one in there.items() if key not in here],
        [(one, found) for one, other in both if (found := differ(one, other))],
    )


def _nodes(content: Content) -> dict[str, ScratchNode]:
    return {same_key(node.label): node for node in content.nodes}


def _edges(content: Content) -> dict[_EdgeKey, ScratchEdge]:
    """Edges by the key that identifies them in a graph: ends and relation, without regard to case."""
    keys = {node.label: same_key(node.label) for node in content.nodes}
    return {(keys[edge.source], keys[edge.target], edge.relation.casefold()): edge for edge in content.edges}


def _of_nodes(one: ScratchNode, other: ScratchNode) -> list[Difference]:
    kinds = [("type", one.type, other.type)] if one.type != other.type else []
    named = (
        ("properties.type" if name == "type" else name, *values)
        for name, *values in _unlike(one.properties, other.properties)
    )
    return [_difference(*found) for found in (*kinds, *named)]


def _of_edges(one: ScratchEdge, other: ScratchEdge) -> list[Difference]:
    # LOADED_AS is a digest of the other properties and tells nothing more
    return [_difference(*found) for found in _unlike(one.properties, other.properties) if found[0] != LOADED_AS]


def _unlike(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterable[tuple[str, Any, Any]]:
    """Properties with different values; null counts as missing."""
    for name in dict.fromkeys((*one, *other)):
        value, other_value = one.get(name), other.get(name)
        if value != other_value or isinstance(value, bool) is not isinstance(other_value, bool):
            yield name, value, other_value


def _difference(name: str, value: object, other_value: object) -> Difference:
    return Difference(name=clipped(name, _LONGEST_NAME), value=_short(value), other_value=_short(other_value))


def _short(value: object) -> object:
    if isinstance(value, str):
        return clipped(value, _LONGEST_VALUE)
    if isinstance(value, dict | list) and len(text := json.dumps(value, ensure_ascii=False)) > _LONGEST_VALUE:
        return clipped(text, _LONGEST_VALUE)
    return value


def _told(differences: Sequence[Difference]) -> dict[str, Any]:
    return {
        "differences": differences[:_MOST_DIFFERENCES],
        "more_differences": max(0, len(differences) - _MOST_DIFFERENCES) or None,
    }


def _ends(edge: ScratchEdge) -> EdgeEnds:
    return EdgeEnds(source=edge.source, target=edge.target, relation=edge.relation)


def _shared(parts: Sequence[list[_View]]) -> list[list[_View]]:
    """Cuts several lists to the room of one answer; what short lists leave is available to long ones."""
    shown = list(parts)
    room = ROOM
    for left, at in zip(
        range(len(parts), 0, -1), sorted(range(len(parts)), key=lambda at: len(parts[at])), strict=True
    ):
        shown[at] = parts[at][: fitting(parts[at], room // left)]
        room -= sum(len(one.model_dump_json()) for one in shown[at])
    return shown
