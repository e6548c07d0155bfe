"""What leads to a node: its sources, the nodes that most ways pass, and the fewest nodes that cut all ways."""

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np
import rustworkx as rx

from graphiti_pkm.capabilities.scratch.algorithms.paths import distances
from graphiti_pkm.capabilities.scratch.algorithms.structure import strong_components
from graphiti_pkm.capabilities.scratch.algorithms.view import View


@dataclass(frozen=True)
class Causes:
    """What leads to a node, along the edges."""

    sources: list[tuple[int, float]]
    """Nodes that reach it and that nothing outside their own cycle reaches, with their shares, the highest first."""
    ways: int
    """The number of ways from the sources, which end where they first reach it; a cycle counts as one node."""
    shares: list[tuple[int, float]]
    """For each other node on a way, the share of ways that pass it, the highest first."""
    cuts_off: list[int]
    """For each of ``shares``, how many sources no longer reach the target without that node alone."""
    cut: list[int]
    """A smallest set of nodes without which no source reaches it, the one that is nearest to the sources."""
    has_cycles: bool
    """Whether there are cycles on the ways."""
    leads_back: bool
    """Whether it leads to some of the nodes that lead to it."""


def causes(view: View, target: int) -> Causes:
    """The causes of a node in a graph whose edges lead from causes to effects."""
    reaching = np.flatnonzero(distances(view.into, np.array([target]), view.n) > 0).tolist()
    inside = {*reaching, target}
    own, first = outermost(view, target, inside)
    numbers = strong_components(_ending_at(view, target)).tolist()
    before = _before(view, target, inside, numbers)
    starts = {numbers[node] for node in first}
    passing, ways = _ways(before, starts, numbers[target])
    shares = [(node, passing[numbers[node]] / ways) for node in reaching if passing[numbers[node]]]
    shares.sort(key=lambda one: (-one[1], one[0]))
    others = [one for one in shares if one[0] not in first]
    cut_off = _cut_off(view, target, inside, [node for node, _ in shares if node in first])
    sizes = Counter(numbers[node] for node, _ in shares)
    return Causes(
        sources=[one for one in shares if one[0] in first],
        ways=ways,
        shares=others,
        cuts_off=[cut_off[node] for node, _ in others],
        cut=_smallest_cut(view, sorted(first), target, inside),
        has_cycles=any(size > 1 for size in sizes.values()),
        leads_back=len(own) > 1,
    )


def _cut_off(view: View, target: int, inside: set[int], sources: list[int]) -> Counter[int]:
    """By node, how many sources reach the target through it only: those that it dominates, seen from the target."""
    back = rx.PyDiGraph()
    back.add_nodes_from(range(view.n))
    back.add_edges_from_no_data([(end, node) for node in inside for end in view.out.lists[node] if end in inside])
    above = rx.immediate_dominators(back, target)
    below: dict[int, list[int]] = {}
    for node in inside - {target}:
        below.setdefault(above[node], []).append(node)
    order = [target]
    for node in order:
        order += below.get(node, ())
    count: Counter[int] = Counter(sources)
    for node in reversed(order[1:]):
        count[above[node]] += count[node]
    return count


def outermost(view: View, target: int, inside: set[int]) -> tuple[set[int], set[int]]:
    """The nodes of the cycles through ``target``, and the nodes that nothing outside their own cycle reaches."""
    numbers = strong_components(view).tolist()
    before = _before(view, None, inside, numbers)
    own = {node for node in inside if numbers[node] == numbers[target]}
    return own, {node for node in inside - own if not before[numbers[node]]}


def _ending_at(view: View, target: int) -> View:
    """Without the edges from ``target``, so that no cycle passes it."""
    kept = view.sources != target
    return View(view.n, view.sources[kept], view.targets[kept], None, view.indices)


def _before(view: View, target: int | None, inside: set[int], numbers: list[int]) -> dict[int, set[int]]:
    """By part, the parts with an edge to it; edges from ``target`` do not count."""
    before: dict[int, set[int]] = {numbers[node]: set() for node in inside}
    for node in inside - {target}:
        for end in view.out.lists[node]:
            if end in inside and numbers[node] != numbers[end]:
                before[numbers[end]].add(numbers[node])
    return before


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
