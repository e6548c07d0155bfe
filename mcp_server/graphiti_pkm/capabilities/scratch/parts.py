"""The part of a scratch graph that an export shows: what lies near some nodes, ranks highest, or is not implied.

The graph itself stays as it is.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge

if TYPE_CHECKING:  # rustworkx and NumPy are loaded with the first graph
    from graphiti_pkm.capabilities.scratch.algorithms.view import View
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph


def near(graph: "ScratchGraph", indices: Iterable[int], hops: int, relation: str | None) -> set[int]:
    """Nodes at most ``hops`` edges away, whichever way they point, over one relation or all."""
    found = set(indices)
    ring = found
    for _ in range(hops):
        ends = {edge.target for index in ring for edge in graph.edges(source=index, relation=relation)}
        ends |= {edge.source for index in ring for edge in graph.edges(target=index, relation=relation)}
        ring = ends - found
        if not ring:
            break
        found |= ring
    return found


def of_relation(content: Content, relation: str | None) -> Content:
    """Only the edges of a relation, with their ends."""
    if relation is None:
        return content
    edges = tuple(edge for edge in content.edges if edge.relation.casefold() == relation.casefold())
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    return Content(tuple(node for node in content.nodes if node.label in ends), edges)


def highest(content: Content, most: int, kept: Collection[str] = ()) -> Content:
    """The nodes ``kept`` and those of the highest PageRank, ``most`` in all, with the edges among them."""
    from graphiti_pkm.capabilities.scratch.algorithms.ranking import pagerank  # noqa: PLC0415  (loads NumPy)

    if len(content.nodes) <= most:
        return content
    view = _view(content.edges, {node.label: at for at, node in enumerate(content.nodes)})
    scores = dict(zip((node.label for node in content.nodes), pagerank(view).tolist(), strict=True))
    order = sorted(scores, key=lambda label: (label not in kept, -round(scores[label], 12), label))
    chosen = set(order[:most])
    return Content(
        tuple(node for node in content.nodes if node.label in chosen),
        tuple(edge for edge in content.edges if edge.source in chosen and edge.target in chosen),
    )


def _view(edges: Sequence[ScratchEdge], numbers: Mapping[str, int]) -> "View":
    from graphiti_pkm.capabilities.scratch.algorithms.view import view_of  # noqa: PLC0415  (loads NumPy)

    ends = [(numbers[edge.source], numbers[edge.target]) for edge in edges]
    return view_of(range(len(numbers)), ends)


def without_implied(content: Content) -> Content:
    """Without the edges that longer paths of the same relation imply; edges of a cycle stay."""
    from graphiti_pkm.capabilities.scratch.algorithms.structure import implied_edges  # noqa: PLC0415  (loads NumPy)

    by_relation: dict[str, list[ScratchEdge]] = {}
    for edge in content.edges:
        by_relation.setdefault(edge.relation.casefold(), []).append(edge)
    implied: set[tuple[str, str, str]] = set()
    for relation, edges in by_relation.items():
        labels = list(dict.fromkeys(end for edge in edges for end in (edge.source, edge.target)))
        found = implied_edges(_view(edges, {label: at for at, label in enumerate(labels)}))
        implied.update((labels[source], labels[target], relation) for source, target in found)
    left = (edge for edge in content.edges if (edge.source, edge.target, edge.relation.casefold()) not in implied)
    return Content(content.nodes, tuple(left))
