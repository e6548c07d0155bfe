"""How a graph hangs together: components, cut points and bridges, order without cycles."""

from dataclasses import dataclass

import numpy as np
import rustworkx as rx

from graphiti_pkm.capabilities.scratch.algorithms.paths import distances
from graphiti_pkm.capabilities.scratch.algorithms.view import Ints, Pair, View

_FEW = 2
"""Edges a node from which weak components are made first, before those that join them no more are left out."""
_SMALL = 20_000
"""Edges up to which Kosaraju's algorithm is fast enough without taking the largest component out first."""


def weak_components(view: View) -> Ints:
    """The least node of each node's component, whichever way edges point.

    Roots are hooked to lesser roots until no edge joins two of them. A few edges come first: they join nearly all that
    can be joined, and the rest is then looked at once (Sutton, Ben-Nun, Barak 2018).
    """
    roots = np.arange(view.n)
    few = _first_edges(view)
    for chosen in (few, slice(None)):
        sources, targets = view.sources[chosen], view.targets[chosen]
        while True:
            ones, others = roots[sources], roots[targets]
            apart = ones != others
            if not apart.any():
                break
            sources, targets = sources[apart], targets[apart]
            ones, others = ones[apart], others[apart]
            np.minimum.at(roots, np.maximum(ones, others), np.minimum(ones, others))
            while not np.array_equal(above := roots[roots], roots):
                roots = above
    return roots


def _first_edges(view: View) -> Ints:
    starts = view.out.starts
    counts = np.minimum(np.diff(starts), _FEW)
    return np.concatenate([starts[:-1][counts > nth] + nth for nth in range(_FEW)])


def is_connected(view: View) -> bool:
    """Whether there is one weak component; a graph without nodes has none."""
    return view.n > 0 and not weak_components(view).any()


def strong_components(view: View) -> Ints:
    """A number for each node, the same for nodes that reach each other.

    In a large graph the component of the node with the most edges is what it reaches and is reached from; it is often
    nearly everything. The others are left to Kosaraju's algorithm.
    """
    numbers = np.full(view.n, -1, np.int64)
    if len(view.sources) > _SMALL:
        hub = np.argmax(np.diff(view.out.starts) * np.diff(view.into.starts))
        start = np.array([hub])
        together = (distances(view.out, start, view.n) >= 0) & (distances(view.into, start, view.n) >= 0)
        numbers[together] = hub
    rest = np.flatnonzero(numbers < 0)
    place = np.full(view.n, -1, np.int64)
    place[rest] = np.arange(len(rest))
    inside = (place[view.sources] >= 0) & (place[view.targets] >= 0)
    graph = _compiled(len(rest), place[view.sources[inside]], place[view.targets[inside]])
    for component in rx.strongly_connected_components(graph):
        members = rest[component]
        numbers[members] = members[0]
    return numbers


def grouped(numbers: Ints) -> list[list[int]]:
    """Nodes of the same number together, most nodes first, then the group with the least node."""
    order = np.argsort(numbers, kind="stable")
    ends = np.flatnonzero(np.diff(numbers[order])) + 1
    groups = [group.tolist() for group in np.split(order, ends)] if len(order) else []
    return sorted(groups, key=lambda group: (-len(group), group[0]))


@dataclass(frozen=True)
class Cuts:
    """What holds a graph together alone, whichever way edges point."""

    points: list[int]
    """Nodes without which their component falls apart."""
    bridges: list[Pair]
    """Pairs of nodes whose edge, or edges both ways, are the only way between two parts; the lesser node first."""


def cuts(view: View) -> Cuts:
    """Articulation points and bridges (Hopcroft and Tarjan 1973)."""
    both = view.undirected
    forward = both.sources < both.targets
    graph = rx.PyGraph()
    graph.add_nodes_from(range(view.n))
    graph.add_edges_from_no_data(list(zip(both.sources[forward].tolist(), both.targets[forward].tolist(), strict=True)))
    bridges = sorted((min(pair), max(pair)) for pair in rx.bridges(graph))
    return Cuts(sorted(rx.articulation_points(graph)), bridges)


def topological_order(view: View) -> list[int] | None:
    """Nodes in an order in which every edge leads to a later one; None if there is a cycle, such as a self-loop."""
    try:
        return list(rx.topological_sort(_compiled(view.n, view.sources, view.targets)))
    except rx.DAGHasCycle:
        return None


def is_dag(view: View) -> bool:
    """Whether there is no cycle; a self-loop is one."""
    return topological_order(view) is not None


def some_cycle(view: View) -> list[int]:
    """A cycle, its first node not repeated; empty if there is none."""
    numbers = strong_components(view)
    inner = np.flatnonzero(numbers[view.sources] == numbers[view.targets])
    if not len(inner):
        return []
    following = dict(zip(view.sources[inner].tolist(), view.targets[inner].tolist(), strict=True))
    path: dict[int, None] = {}
    node = int(view.sources[inner[0]])
    while node not in path:
        path[node] = None
        node = following[node]
    walked = list(path)
    return walked[walked.index(node) :]


def redundant_edges(view: View) -> list[Pair] | None:
    """Edges that are not in the transitive reduction; None if the graph has a cycle, where it is not defined.

    An edge is not if its end can be reached from another successor (Aho, Garey, Ullman 1972). What each node reaches
    is a row of bits.
    """
    order = topological_order(view)
    if order is None:
        return None
    reach = [0] * view.n
    redundant: list[Pair] = []
    for node in reversed(order):
        ends = view.out.lists[node]
        beyond = 0
        for end in ends:
            beyond |= reach[end]
        redundant += [(node, end) for end in ends if beyond >> end & 1]
        for end in ends:
            beyond |= 1 << end
        reach[node] = beyond
    return sorted(redundant)


def _compiled(n: int, sources: Ints, targets: Ints) -> "rx.PyDiGraph[int, None]":
    graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from_no_data(list(zip(sources.tolist(), targets.tolist(), strict=True)))
    return graph
