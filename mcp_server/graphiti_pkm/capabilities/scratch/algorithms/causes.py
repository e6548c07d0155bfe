"""What leads to a node: its sources, the nodes that most ways pass, and the fewest nodes that cut all ways."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from graphiti_pkm.capabilities.scratch.algorithms.paths import distances
from graphiti_pkm.capabilities.scratch.algorithms.structure import strong_components
from graphiti_pkm.capabilities.scratch.algorithms.view import View


@dataclass(frozen=True)
class Causes:
    """What leads to a node, along the edges."""

    sources: list[int]
    """Nodes that reach it and that nothing outside their own cycle reaches."""
    ways: int
    """The number of ways from the sources; a cycle counts as one node."""
    shares: list[tuple[int, float]]
    """For each node on a way, the share of ways that pass it, the highest first; no sources, not itself."""
    cut: list[int]
    """A smallest set of nodes without which no source reaches it, the one that is nearest to the sources."""
    has_cycles: bool


def causes(view: View, target: int) -> Causes:
    """The causes of a node in a graph whose edges lead from causes to effects."""
    reaching = np.flatnonzero(distances(view.into, np.array([target]), view.n) > 0).tolist()
    inside = {*reaching, target}
    numbers = strong_components(view).tolist()
    own = numbers[target]
    before: dict[int, set[int]] = {numbers[node]: set() for node in inside}
    for node in reaching:
        for end in view.out.lists[node]:
            if end in inside and numbers[node] != numbers[end]:
                before[numbers[end]].add(numbers[node])
    first = {part for part, others in before.items() if not others and part != own}
    sources = [node for node in reaching if numbers[node] in first]
    passing, ways = _ways(before, first, own)
    shares = [
        (node, passing[numbers[node]] / ways)
        for node in reaching
        if ways and numbers[node] not in first and numbers[node] != own
    ]
    shares.sort(key=lambda one: (-one[1], one[0]))
    return Causes(
        sources=sources,
        ways=ways,
        shares=shares,
        cut=_smallest_cut(view, sources, target, inside),
        has_cycles=len(before) < len(inside),
    )


def _ways(before: dict[int, set[int]], first: set[int], own: int) -> tuple[dict[int, int], int]:
    """By part, how many ways from a first part to the last one pass it; and how many there are."""
    after: dict[int, list[int]] = {part: [] for part in before}
    for part, others in before.items():
        for other in others:
            after[other].append(part)
    missing = {part: len(others) for part, others in before.items()}
    order = [part for part, count in missing.items() if not count]
    for part in order:
        for other in after[part]:
            missing[other] -= 1
            if not missing[other]:
                order.append(other)
    into, out = dict.fromkeys(before, 0), dict.fromkeys(before, 0)
    for part in order:
        into[part] = int(part in first) + sum(into[other] for other in before[part])
    out[own] = 1
    for part in reversed(order):
        out[part] += sum(out[other] for other in after[part])
    return {part: into[part] * out[part] for part in before}, into[own]


def _smallest_cut(view: View, sources: list[int], target: int, inside: set[int]) -> list[int]:
    """As many nodes as there are ways that share none (Menger 1927), by augmenting ways (Ford and Fulkerson 1956).

    Every node is an arc of capacity 1 from its entry to its exit; edges and the start have room for all.
    """
    room = len(inside) + 1
    left: dict[int, dict[int, int]] = {_START: {}}
    for node in inside - {target}:
        left.setdefault(_entry(node), {})[_exit(node)] = 1
        for end in view.out.lists[node]:
            if end in inside and end != node:
                left.setdefault(_exit(node), {})[_entry(end)] = room
    for node in sources:
        left[_START][_entry(node)] = room
    while True:
        came = _reached(left, _entry(target))
        if _entry(target) not in came:
            return sorted(node for node in inside - {target} if _entry(node) in came and _exit(node) not in came)
        here = _entry(target)
        while here != _START:
            last = came[here]
            left[last][here] -= 1
            back = left.setdefault(here, {})
            back[last] = back.get(last, 0) + 1
            here = last


_START = -1


def _entry(node: int) -> int:
    return 2 * node


def _exit(node: int) -> int:
    return 2 * node + 1


def _reached(left: dict[int, dict[int, int]], goal: int) -> dict[int, int]:
    """What the start reaches over arcs that have room left, each with the place before it; stops at the goal."""
    came = {_START: _START}
    todo = deque([_START])
    while todo and goal not in came:
        here = todo.popleft()
        for end, room in left.get(here, {}).items():
            if room and end not in came:
                came[end] = here
                todo.append(end)
    return came
