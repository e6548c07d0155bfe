"""All simple paths and cycles, the shortest first. There may be exponentially many: stop when you have enough."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from graphiti_pkm.capabilities.scratch.algorithms.paths import distances
from graphiti_pkm.capabilities.scratch.algorithms.structure import strong_components
from graphiti_pkm.capabilities.scratch.algorithms.view import View


def simple_paths(view: View, source: int, target: int, longest: int) -> Iterator[list[int]]:
    """Paths of at most ``longest`` edges without repeated nodes; the only path from a node to itself is that node."""
    if source == target:
        yield [source]
        return
    for _, found in _by_length(view, source, target, 1, longest):
        yield from found


def lengths_beyond(view: View, source: int, target: int, longest: int) -> Iterator[int]:
    """The lengths of the paths that have more than ``longest`` edges."""
    if source != target:
        for length, found in _by_length(view, source, target, longest + 1, view.n):
            if next(found, None) is not None:
                yield length


def _by_length(
    view: View, source: int, target: int, least: int, longest: int
) -> Iterator[tuple[int, Iterator[list[int]]]]:
    away = distances(view.into, np.array([target]), view.n)
    steps = {int(node): int(away[node]) for node in np.flatnonzero(away >= 0)}
    if source in steps:
        for length in range(max(least, steps[source]), min(longest, len(steps) - 1) + 1):
            yield length, _of_length(view.out.lists, source, target, length, steps)


def simple_cycles(view: View, longest: int | None = None) -> Iterator[list[int]]:
    """Cycles without repeated nodes, each starting at its lowest node; a self-loop is a cycle of one node.

    A cycle of a given length is searched for as a walk of that length from its lowest node, through higher nodes of
    the same strong component, back to the start.
    """
    loops = view.sources[view.sources == view.targets]
    yield from ([int(node)] for node in loops)
    inner = _inner(view)
    forward, backward = inner.out.lists, inner.into.lists
    sizes = np.bincount(strong_components(view), minlength=view.n)
    bound = int(sizes.max()) if view.n else 0
    starts = {node: _Start(node) for node, ends in enumerate(forward) if ends}
    for length in range(2, (bound if longest is None else min(bound, longest)) + 1):
        for start in tuple(starts.values()):
            if start.may_return_in(length, forward, backward):
                steps = _steps_back(start.node, backward, length - 1)
                yield from _of_length(forward, start.node, start.node, length, steps)
            elif start.is_done:
                del starts[start.node]


class _Start:
    """A candidate for the lowest node of cycles, with a lower bound on the length of these cycles."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.is_done = False
        self._least = 2
        self._looked = 2

    def may_return_in(self, length: int, forward: Sequence[Sequence[int]], backward: Sequence[Sequence[int]]) -> bool:
        """Whether a cycle of this length is possible. The search radius doubles as long as none is found."""
        while not self.is_done and self._least <= length and self._looked <= length:
            self._looked *= 2
            steps = _steps_back(self.node, backward, self._looked)
            found = [steps[end] + 1 for end in forward[self.node] if end in steps]
            if found:
                self._least, self._looked = min(found), len(forward) + 1
            else:
                self._least = self._looked + 1
                self.is_done = max(steps.values()) < self._looked
        return not self.is_done and self._least <= length


def _inner(view: View) -> View:
    """The edges that lie on cycles of at least two nodes."""
    numbers = strong_components(view)
    kept = (numbers[view.sources] == numbers[view.targets]) & (view.sources != view.targets)
    return View(view.n, view.sources[kept], view.targets[kept], None, view.indices)


def _steps_back(start: int, backward: Sequence[Sequence[int]], most: int) -> dict[int, int]:
    """The distance to ``start`` of the higher nodes that are at most ``most`` edges away."""
    steps = {start: 0}
    frontier = [start]
    for step in range(1, most + 1):
        reached: list[int] = []
        for node in frontier:
            for before in backward[node]:
                if before > start and before not in steps:
                    steps[before] = step
                    reached.append(before)
        if not reached:
            break
        frontier = reached
    return steps


def _of_length(
    successors: Sequence[Sequence[int]], start: int, goal: int, length: int, steps: Mapping[int, int]
) -> Iterator[list[int]]:
    """Walks of exactly this many edges without repeated nodes; ``steps`` holds each node's distance to the goal."""
    path = [start]
    passed = {start}
    branches = [iter(successors[start])]
    while branches:
        left = length - len(path)
        for node in branches[-1]:
            if node == goal:
                if not left:
                    yield [*path] if start == goal else [*path, node]
                continue
            if left and node not in passed and steps.get(node, length) <= left:
                path.append(node)
                passed.add(node)
                branches.append(iter(successors[node]))
                break
        else:
            branches.pop()
            passed.discard(path.pop())
