"""Shortest paths by bidirectional search: breadth-first by number of edges, Dijkstra's algorithm by weight."""

from heapq import heappop, heappush

import numpy as np

from graphiti_pkm.capabilities.scratch.algorithms.view import Ints, Rows, View
from graphiti_pkm.errors import InvalidInput

_UNSEEN = -1


def distances(rows: Rows, starts: Ints, n: int) -> Ints:
    """The number of edges from the nearest start to each node; -1 if no path leads to it."""
    found = np.full(n, _UNSEEN, np.int64)
    found[starts] = 0
    mark = np.empty(n, np.int64)
    frontier, depth = starts, 0
    while len(frontier):
        depth += 1
        frontier = rows.ends[rows.positions(frontier)]
        frontier = _distinct(frontier[found[frontier] == _UNSEEN], mark)
        found[frontier] = depth
    return found


def shortest_path(view: View, source: int, target: int) -> list[int] | None:
    """A path with the fewest edges, or None; the path from a node to itself is that node."""
    if source == target:
        return [source]
    sides = (_Side(view.out, source, view.n), _Side(view.into, target, view.n))
    while len(sides[0].frontier) and len(sides[1].frontier):
        near, far = sides if len(sides[0].frontier) <= len(sides[1].frontier) else sides[::-1]
        met = near.step(far)
        if met is not None:
            return [*reversed(sides[0].back(met)), *sides[1].back(met)[1:]]
    return None


class _Side:
    """The nodes reached from one end, with their parents."""

    def __init__(self, rows: Rows, start: int, n: int) -> None:
        self._rows = rows
        self.parents: Ints = np.zeros(n, np.int64)  # parent + 1: zeros take no memory until written
        self.parents[start] = start + 1
        self.frontier: Ints = np.array([start], np.int64)

    def step(self, other: "_Side") -> int | None:
        """Advance by one level; returns a node that the other side has reached, if any."""
        rows = self._rows
        ends = rows.ends[rows.positions(self.frontier)]
        froms = np.repeat(self.frontier, rows.starts[self.frontier + 1] - rows.starts[self.frontier])
        fresh = self.parents[ends] == 0
        ends, froms = ends[fresh], froms[fresh] + 1
        self.parents[ends] = froms
        self.frontier = ends[self.parents[ends] == froms]
        met = ends[other.parents[ends] != 0]
        return int(met[0]) if len(met) else None

    def back(self, node: int) -> list[int]:
        """The nodes from here back to the start of this side."""
        path = [node]
        while (parent := int(self.parents[path[-1]]) - 1) != path[-1]:
            path.append(parent)
        return path


def cheapest_path(view: View, source: int, target: int) -> tuple[list[int], float] | None:
    """A path of least weight with its weight, or None.

    Bidirectional Dijkstra (Nicholson 1966): the search stops when the distances of the two nearest open nodes add up
    to at least the weight of the best path found.

    Raises:
        InvalidInput: a weight is negative.
    """
    if view.weights is not None and len(view.weights) and float(view.weights.min()) < 0:
        raise InvalidInput(
            "Some of the weights are negative, and a shortest path by weight needs weights of at least 0. "
            "Leave weight out to count edges, or change the property with add_edge."
        )
    if source == target:
        return [source], 0.0
    sides = (_Search(view.out, source), _Search(view.into, target))
    best, met = float("inf"), -1
    while sides[0].open and sides[1].open and sides[0].open[0][0] + sides[1].open[0][0] < best:
        near, far = sides if sides[0].open[0][0] <= sides[1].open[0][0] else sides[::-1]
        for node in near.step():
            through = near.cost[node] + far.cost.get(node, float("inf"))
            if through < best:
                best, met = through, node
    if met < 0:
        return None
    return [*reversed(sides[0].back(met)), *sides[1].back(met)[1:]], best


class _Search:
    """Dijkstra's algorithm from one end."""

    def __init__(self, rows: Rows, start: int) -> None:
        self._ends, self._costs = rows.lists, rows.costs
        self.cost: dict[int, float] = {start: 0.0}
        self.parents: dict[int, int] = {start: start}
        self._closed: set[int] = set()
        self.open: list[tuple[float, int]] = [(0.0, start)]

    def step(self) -> list[int]:
        """Close the nearest open node; returns the nodes whose distance became smaller."""
        here, node = heappop(self.open)
        nearer: list[int] = []
        if node not in self._closed:
            self._closed.add(node)
            cost = self.cost
            for end, weight in zip(self._ends[node], self._costs[node], strict=True):
                there = here + weight
                if there < cost.get(end, float("inf")):
                    cost[end] = there
                    self.parents[end] = node
                    heappush(self.open, (there, end))
                    nearer.append(end)
        return nearer

    def back(self, node: int) -> list[int]:
        """The nodes from here back to the start of this side."""
        path = [node]
        while (parent := self.parents[path[-1]]) != path[-1]:
            path.append(parent)
        return path


def _distinct(nodes: Ints, mark: Ints) -> Ints:
    """Removes duplicates; ``mark`` is a buffer with room for every node."""
    at = np.arange(len(nodes))
    mark[nodes] = at
    distinct: Ints = nodes[mark[nodes] == at]
    return distinct
