"""Selects the nodes and edges of a scratch graph that a commit writes. Pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.scratch.graphs.label_forms import Likeness
from graphiti_pkm.capabilities.scratch.limits import ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.memory_bridge.memory import is_known, memory_uuid
from graphiti_pkm.capabilities.scratch.models.requests import EdgeChoice
from graphiti_pkm.core.model.scratch_marks import MEMORY_GROUP
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.errors import AmbiguousLabel, NotFound, PkmError

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph

_SHOWN = 60
_CANDIDATES = 5
_MISTAKES = 20
"""Mistakes that one error lists."""
_NEAR = 0.5
"""The minimum similarity of labels that an error suggests."""


@dataclass(frozen=True)
class Chosen:
    """A part of a graph at the moment of its selection."""

    nodes: tuple[ScratchNode, ...]
    """Selected nodes, and ends of selected edges, that did not come from the group: entities to declare."""
    edges: tuple[ScratchEdge, ...]
    """Selected edges that the group does not know, or knows differently."""
    ends: Mapping[str, ScratchNode]
    """By label, all of ``nodes`` and the ends of all ``edges``, also those that came from the group."""
    known: tuple[ScratchEdge, ...]
    """Selected edges that the group already knows unchanged."""


def choose(
    graph: "ScratchGraph", edges: Sequence[EdgeChoice] | None, nodes: Sequence[str] | None, group: str
) -> Chosen:
    """The given edges and nodes, or everything if neither is given. ``group``: the public name of the target group.

    Raises:
        NotFound: nodes or edges do not exist.
        AmbiguousLabel: labels match several nodes.
    """
    if edges is None and nodes is None:
        found = graph.content()
        return _chosen(graph, found.nodes, found.edges, group)
    mistakes: list[PkmError] = []
    listed = {one: None for choice in edges or () for one in _edges(graph, choice, mistakes)}
    indices = dict.fromkeys(index for label in nodes or () if (index := _named(graph, label, mistakes)) is not None)
    if mistakes:
        raise _all_of(mistakes)
    chosen = [graph.node(index) for index in indices]
    return _chosen(graph, chosen, [_as_edge(graph, *numbers) for numbers in listed], group)


def _named(graph: "ScratchGraph", label: str, mistakes: list[PkmError]) -> int | None:
    """The node with this label, which may differ in punctuation; otherwise what is wrong joins ``mistakes``."""
    index = graph.find(label)
    if index is not None:
        return index
    alike = graph.loose(label)
    if len(alike) == 1:
        return alike[0]
    if alike:
        candidates = ", ".join(repr(clipped(graph.label(one), _SHOWN)) for one in alike[:_CANDIDATES])
        mistakes.append(AmbiguousLabel(f"{clipped(label, _SHOWN)!r} may be any of {candidates}: name one"))
        return None
    near = ", ".join(repr(clipped(one, _SHOWN)) for one in _near(graph, label)) if len(mistakes) < _MISTAKES else ""
    mistakes.append(
        NotFound(
            f"There is no node {clipped(label, _SHOWN)!r} in this scratch graph; "
            + (f"similar labels: {near}" if near else "find_node finds similar labels")
        )
    )
    return None


def _all_of(mistakes: Sequence[PkmError]) -> PkmError:
    """One error for all of them."""
    kind = next((type(one) for one in mistakes if isinstance(one, NotFound)), type(mistakes[0]))
    told = list(dict.fromkeys(one.message for one in mistakes))
    more = [f"and {len(told) - _MISTAKES} more"] if len(told) > _MISTAKES else []
    count = f"{len(told)} mistakes, nothing was written: " if len(told) > 1 else ""
    return kind(count + "; ".join(told[:_MISTAKES] + more) + ("." if count else "; nothing was written."))


def _near(graph: "ScratchGraph", label: str) -> list[str]:
    """Labels similar to a missing one, the best first."""
    sought = Likeness(label)
    scored = ((sought.to(other), other) for index in graph.order() if (other := graph.label(index)))
    return [other for score, other in nlargest(_CANDIDATES, scored) if score >= _NEAR]


def _edges(graph: "ScratchGraph", choice: EdgeChoice, mistakes: list[PkmError]) -> Iterator[tuple[int, int, str]]:
    source, target = _named(graph, choice.source, mistakes), _named(graph, choice.target, mistakes)
    if source is None or target is None:
        return
    found = [(edge.source, edge.target, edge.relation) for edge in graph.edges(source, target, choice.relation)]
    if not found:
        of = f" {clipped(choice.relation, _SHOWN)!r}" if choice.relation else ""
        mistakes.append(
            NotFound(
                f"There is no edge{of} from {clipped(graph.label(source), _SHOWN)!r} to "
                f"{clipped(graph.label(target), _SHOWN)!r}; find_edges lists the existing edges"
            )
        )
    yield from found


def _as_edge(graph: "ScratchGraph", source: int, target: int, relation: str) -> ScratchEdge:
    (edge,) = graph.edges(source, target, relation)
    return ScratchEdge(graph.label(source), graph.label(target), edge.relation, edge.properties)


def _chosen(graph: "ScratchGraph", nodes: Sequence[ScratchNode], edges: Sequence[ScratchEdge], group: str) -> Chosen:
    known = tuple(edge for edge in edges if is_known(edge, group))
    left = tuple(edge for edge in edges if not is_known(edge, group))
    ends = {node.label: node for node in nodes if not _is_of(node, group)}
    for edge in left:
        for label in (edge.source, edge.target):
            index = graph.find(label)
            if index is not None:
                ends.setdefault(label, graph.node(index))
    return Chosen(
        nodes=tuple(node for node in ends.values() if not _is_of(node, group)),
        edges=left,
        ends=ends,
        known=known,
    )


def _is_of(node: ScratchNode, group: str) -> bool:
    return memory_uuid(node) is not None and node.properties.get(MEMORY_GROUP) in {None, group}
