"""Compares two scratch graphs of a caller, such as a part of memory at two dates.

The graphs are locked one after the other while their contents are copied. Two calls that each held two locks, taken in
opposite order, would deadlock.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, NamedTuple, TypeAlias, TypeVar

from graphiti_pkm.capabilities.scratch.limits import Content, Load, ScratchEdge, ScratchNode
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
from graphiti_pkm.core.model.scratch_marks import FACT_UUIDS, LOADED_AS, MEMORY_GROUP, MEMORY_UUID
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput

_LONGEST_VALUE = 160
_LONGEST_NAME = 80
_FILLED_IN = frozenset({"status", "facts", FACT_UUIDS, MEMORY_UUID, MEMORY_GROUP})
"""Properties that loading and committing add to what they find."""
_MOST_DIFFERENCES = 20
"""Differences listed for one node or edge."""

_EdgeKey: TypeAlias = tuple[str, str, str]
_Key = TypeVar("_Key")
_Thing = TypeVar("_Thing")
_View = TypeVar("_View", bound=Answer)


class ScratchComparing:
    """``compare_graphs``."""

    def __init__(self, graphs: ScratchGraphs, zone: tzinfo) -> None:
        self._graphs = graphs
        self._zone = zone

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
        here, there = await self._taken(caller, request.graph), await self._taken(caller, request.other)
        return await in_thread(_compared, here, there, most, self._zone)

    async def _taken(self, caller: Caller, graph: str) -> "_Taken":
        async with self._graphs.reading(caller, graph) as opened:
            return _Taken(opened.name, await in_thread(opened.graph.content), tuple(opened.graph.loads))


class _Taken(NamedTuple):
    """A graph as it was when it was read."""

    name: str
    content: Content
    loads: tuple[Load, ...]

    def is_part_of(self, other: "_Taken") -> bool:
        """Whether this graph was loaded in part, or with other arguments than the other one."""
        asked = {load.asked for load in self.loads}
        return any(load.is_cut for load in self.loads) or any(x.asked not in asked for x in other.loads)


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


def _compared(one: _Taken, other: _Taken, most: int, zone: tzinfo) -> CompareGraphsResponse:
    here, there = one.content, other.content
    nodes = _split(_nodes(here), _nodes(there), _of_nodes, zone)
    edges = _split(_edges(here), _edges(there), _of_edges, zone)
    unknown = [
        told
        for lacking, whole, of_nodes, of_edges in (
            (one, other, nodes.only_there, edges.only_there),
            (other, one, nodes.only_here, edges.only_here),
        )
        if lacking.loads and (told := _set_aside(lacking, whole, of_nodes, of_edges))
    ]
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
        graph=one.name,
        other=other.name,
        equal=nodes.is_equal and edges.is_equal and not unknown,
        cannot_know=unknown or None,
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
    here: Mapping[_Key, _Thing],
    there: Mapping[_Key, _Thing],
    differ: Callable[[_Thing, _Thing, tzinfo], list[Difference]],
    zone: tzinfo,
) -> _Split:
    both = [(one, there[key]) for key, one in here.items() if key in there]
    return _Split(
        len(both),
        [one for key, one in here.items() if key not in there],
        [one for key, one in there.items() if key not in here],
        [(one, found) for one, other in both if (found := differ(one, other, zone))],
    )


def _nodes(content: Content) -> dict[str, ScratchNode]:
    return {same_key(node.label): node for node in content.nodes}


def _edges(content: Content) -> dict[_EdgeKey, ScratchEdge]:
    """Edges by the key that identifies them in a graph: ends and relation, without regard to case."""
    keys = {node.label: same_key(node.label) for node in content.nodes}
    return {(keys[edge.source], keys[edge.target], edge.relation.casefold()): edge for edge in content.edges}


def _set_aside(lacking: _Taken, whole: _Taken, nodes: list[ScratchNode], edges: list[ScratchEdge]) -> str | None:
    """Take out of two lists what the other graph got from memory and this one may only not have loaded; says so."""
    is_partial = lacking.is_part_of(whole)
    known = {same_key(node.label) for node in lacking.content.nodes}
    # Ends that were loaded were loaded with all facts between them, unless a limit left some out. Without a limit only
    # what has no end in the other graph may lie where that load did not come.
    fewest = 1 if not is_partial else 3 if any(load.facts_left_out for load in lacking.loads) else 2

    def is_unknown(edge: ScratchEdge) -> bool:
        reached = sum(same_key(end) in known for end in (edge.source, edge.target))
        return FACT_UUIDS in edge.properties and reached < fewest

    kept = [edge for edge in edges if not is_unknown(edge)]
    ends = {end for edge in kept for end in (edge.source, edge.target)}
    there = [node for node in nodes if MEMORY_UUID not in node.properties or not (is_partial or node.label not in ends)]
    lost, cut = len(nodes) - len(there), len(edges) - len(kept)
    nodes[:], edges[:] = there, kept
    if not lost and not cut:
        return None
    return (
        f"{lost} nodes and {cut} edges that only {whole.name!r} has are not listed: {lacking.name!r} was loaded in "
        "part, with other arguments or from where it does not reach them, so that memory may have them too. Load "
        "both with the same arguments, a higher limit and more starts."
    )


def _of_nodes(one: ScratchNode, other: ScratchNode, zone: tzinfo) -> list[Difference]:
    kinds = [("type", one.type, other.type)] if _folded(one.type) != _folded(other.type) else []
    named = (
        ("properties.type" if name == "type" else name, *values)
        for name, *values in _unlike(one.properties, other.properties, zone)
    )
    return [_difference(*found) for found in (*kinds, *named)]


def _of_edges(one: ScratchEdge, other: ScratchEdge, zone: tzinfo) -> list[Difference]:
    return [_difference(*found) for found in _unlike(one.properties, other.properties, zone)]


def _folded(kind: str | None) -> str | None:
    return kind and kind.casefold()


def _unlike(one: Mapping[str, Any], other: Mapping[str, Any], zone: tzinfo) -> Iterable[tuple[str, Any, Any]]:
    """Properties with different values; null counts as missing.

    No difference: two ways to write a date, and what loading or committing filled in on one side only.
    """
    for name in dict.fromkeys((*one, *other)):
        value, other_value = one.get(name), other.get(name)
        if name == LOADED_AS or (name in _FILLED_IN and (value is None or other_value is None)):
            continue
        is_same = value == other_value and isinstance(value, bool) is isinstance(other_value, bool)
        if not is_same and not (
            isinstance(value, str) and isinstance(other_value, str) and _is_one_date(value, other_value, zone)
        ):
            yield name, value, other_value


def _is_one_date(one: str, other: str, zone: tzinfo) -> bool:
    """Whether both are the same instant; a date is its start, and without an offset it is one of the zone."""
    try:
        found = [datetime.fromisoformat(text) for text in (one, other)]
    except ValueError:
        return False
    return len({at if at.tzinfo else at.replace(tzinfo=zone) for at in found}) == 1


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
