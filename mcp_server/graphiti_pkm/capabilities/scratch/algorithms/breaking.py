"""The fewest edges without which a graph has no cycle (a minimum feedback arc set)."""

from collections import deque
from collections.abc import Iterator

from graphiti_pkm.capabilities.scratch.algorithms.structure import strong_components
from graphiti_pkm.capabilities.scratch.algorithms.view import Pair, View

MOST_EXACT = 2_000
"""Edges on cycles up to which the fewest are searched for."""


def breaking_edges(view: View) -> Iterator[tuple[list[Pair], bool]]:
    """Ever fewer edges that break all cycles, and whether there are none fewer."""
    numbers = strong_components(view)
    inner = numbers[view.sources] == numbers[view.targets]
    pairs = list(zip(view.sources[inner].tolist(), view.targets[inner].tolist(), strict=True))
    loops = [pair for pair in pairs if pair[0] == pair[1]]
    edges = [pair for pair in pairs if pair[0] != pair[1]]
    some = _some(edges)
    yield sorted(loops + some), not some
    if not some or len(edges) > MOST_EXACT:
        return
    graph = _Graph(edges)
    for most in range(graph.ways_apart(), len(some)):
        found = graph.broken(most, set())
        if found is not None:
            some = found
            break
    yield sorted(loops + some), True


def _some(edges: list[Pair]) -> list[Pair]:
    """Edges that break all cycles, none of them needlessly: those that lead back in a good order of the nodes."""
    place = {node: at for at, node in enumerate(_order(edges))}
    back = [pair for pair in edges if place[pair[0]] > place[pair[1]]]
    kept = _Graph([pair for pair in edges if place[pair[0]] < place[pair[1]]])
    needed = []
    for pair in back:
        if kept.reaches(pair[1], pair[0]):
            needed.append(pair)
        else:
            kept.add(pair)
    return needed


def _order(edges: list[Pair]) -> list[int]:
    """An order of the nodes in which few edges lead back (Eades, Lin, Smyth 1993)."""
    out: dict[int, set[int]] = {}
    into: dict[int, set[int]] = {}
    for one, other in edges:
        for node in (one, other):
            out.setdefault(node, set())
            into.setdefault(node, set())
        out[one].add(other)
        into[other].add(one)
    first: list[int] = []
    last: list[int] = []
    while out:
        sink = next((one for one in out if not out[one]), None)
        if sink is not None:
            last.append(node := sink)
        else:
            start = next((one for one in out if not into[one]), None)
            node = max(out, key=lambda one: len(out[one]) - len(into[one])) if start is None else start
            first.append(node)
        for end in out.pop(node):
            into[end].discard(node)
        for before in into.pop(node):
            out[before].discard(node)
    return first + last[::-1]


class _Graph:
    """Edges that can be taken out and put back."""

    def __init__(self, edges: list[Pair]) -> None:
        self._out: dict[int, list[int]] = {}
        for pair in edges:
            self.add(pair)

    def add(self, pair: Pair) -> None:
        self._out.setdefault(pair[0], []).append(pair[1])

    def reaches(self, source: int, target: int) -> bool:
        return self._way(source, target) is not None

    def ways_apart(self) -> int:
        """How many cycles that share no edge were found: at least so many edges have to go."""
        taken: list[Pair] = []
        count = 0
        while (cycle := self._cycle()) is not None:
            count += 1
            taken += cycle
            for pair in cycle:
                self._out[pair[0]].remove(pair[1])
        for pair in taken:
            self.add(pair)
        return count

    def broken(self, most: int, fixed: set[Pair]) -> list[Pair] | None:
        """At most ``most`` edges that break all cycles, none of the ``fixed`` ones; None if there are none such.

        One edge of each cycle has to go: the shortest cycle has the fewest to try.
        """
        cycle = self._cycle()
        if cycle is None:
            return []
        if self.ways_apart() > most:
            return None
        tried: set[Pair] = set()
        for pair in cycle:
            if pair in fixed:
                continue
            self._out[pair[0]].remove(pair[1])
            found = self.broken(most - 1, fixed | tried)
            self.add(pair)
            if found is not None:
                return [pair, *found]
            tried.add(pair)
        return None

    def _cycle(self) -> list[Pair] | None:
        """A shortest cycle."""
        best: list[Pair] | None = None
        for node in self._out:
            for end in self._out[node]:
                way = self._way(end, node, None if best is None else len(best) - 1)
                if way is not None:
                    best = [(node, end), *way]
                    if len(best) == _SHORTEST:
                        return best
        return best

    def _way(self, source: int, target: int, below: int | None = None) -> list[Pair] | None:
        """A shortest way of less than ``below`` edges."""
        came: dict[int, int] = {source: source}
        todo = deque([(source, 0)])
        while todo:
            here, steps = todo.popleft()
            if below is not None and steps + 1 >= below:
                return None
            for end in self._out.get(here, ()):
                if end not in came:
                    came[end] = here
                    if end == target:
                        return _back(came, source, target)
                    todo.append((end, steps + 1))
        return None


_SHORTEST = 2


def _back(came: dict[int, int], source: int, target: int) -> list[Pair]:
    way: list[Pair] = []
    here = target
    while here != source:
        way.append((came[here], here))
        here = came[here]
    return way[::-1]
