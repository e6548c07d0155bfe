"""Edges that say nothing new because longer paths join the same nodes."""

from graphiti_pkm.capabilities.scratch.algorithms.structure import topological_order
from graphiti_pkm.capabilities.scratch.algorithms.view import Pair, View


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
