"""The structure of a graph: components, articulation points and bridges, topological order, cycles, reduction."""

from dataclasses import dataclass

import numpy as np
import rustworkx as rx

from graphiti_pkm.capabilities.scratch.algorithms.paths import distances
from graphiti_pkm.capabilities.scratch.algorithms.view import Ints, Pair, View, view_of

_FEW = 2
"""Edges per node that are used in the first pass over weak components; they join nearly everything."""
_SMALL = 20_000
"""Up to this number of edges Kosaraju's algorithm is fast enough for the whole graph."""


def weak_components(view: View) -> Ints:
    """For each node, the lowest node of its weak component.

    Roots are hooked to lower roots until no edge joins two different roots. A first pass over a few edges joins nearly
    everything, so that the remaining edges need to be examined only once (Sutton, Ben-Nun, Barak 2018).
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
    """Whether there is exactly one weak component; a graph without nodes has none."""
    return view.n > 0 and not weak_components(view).any()


def strong_components(view: View) -> Ints:
    """A component number for each node.

    In a large graph the component of the best connected node, often nearly the whole graph, is found first by one
    search forward and one backward. Kosaraju's algorithm finds the others.
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
    graph = rx.PyDiGraph()
    graph.add_nodes_from(range(len(rest)))
    graph.add_edges_from_no_data(
        list(zip(place[view.sources[inside]].tolist(), place[view.targets[inside]].tolist(), strict=True))
    )
    for component in rx.strongly_connected_components(graph):
        members = rest[component]
        numbers[members] = members[0]
    return numbers


def grouped(numbers: Ints) -> list[list[int]]:
    """Groups of nodes with the same number, the largest first; among equals the group with the lowest node."""
    order = np.argsort(numbers, kind="stable")
    ends = np.flatnonzero(np.diff(numbers[order])) + 1
    groups = [group.tolist() for group in np.split(order, ends)] if len(order) else []
    return sorted(groups, key=lambda group: (-len(group), group[0]))


@dataclass(frozen=True)
class Cuts:
    """Single points of failure of the undirected graph."""

    points: list[int]
    """Articulation points."""
    bridges: list[Pair]
    """Pairs of nodes, the lower first, whose edge or two opposite edges alone connect two parts."""


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
    """Nodes in an order in which every edge leads to a later one (Kahn 1962); None if there is a cycle.

    Not by rustworkx, which aborts the process where Python reports that the memory limit is reached.
    """
    missing = np.diff(view.into.starts).tolist()
    order = [node for node, count in enumerate(missing) if not count]
    for node in order:
        for end in view.out.lists[node]:
            missing[end] -= 1
            if not missing[end]:
                order.append(end)
    return order if len(order) == view.n else None


def some_cycle(view: View) -> list[int]:
    """Any cycle, without repeating its first node; empty if there is none."""
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
    """The edges outside the transitive reduction; None if the graph has a cycle, where it is undefined.

    An edge is redundant if its target can be reached from another successor of its source (Aho, Garey, Ullman 1972).
    The nodes that a node reaches are a bit set.
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


def implied_edges(view: View) -> list[Pair]:
    """The edges that longer paths imply, also of a graph with cycles, whose edges inside a cycle all stay.

    Strong components are taken for one node each; of several edges between two of them none implies another.
    """
    numbers = strong_components(view)
    order = np.unique(numbers)
    part = np.searchsorted(order, numbers)
    sources, targets = part[view.sources], part[view.targets]
    apart = sources != targets
    redundant = set(
        redundant_edges(view_of(range(len(order)), np.stack((sources[apart], targets[apart]), axis=1))) or ()
    )
    ends = zip(view.sources.tolist(), view.targets.tolist(), sources.tolist(), targets.tolist(), strict=True)
    return [(source, target) for source, target, one, other in ends if (one, other) in redundant]
