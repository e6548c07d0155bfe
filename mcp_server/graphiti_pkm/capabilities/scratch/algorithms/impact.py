"""The effects of removing a node, computed without removing it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphiti_pkm.capabilities.scratch.algorithms.causes import outermost
from graphiti_pkm.capabilities.scratch.algorithms.paths import distances
from graphiti_pkm.capabilities.scratch.algorithms.structure import grouped, strong_components, weak_components
from graphiti_pkm.capabilities.scratch.algorithms.view import Ints, Rows, View


@dataclass(frozen=True)
class Impact:
    """A graph with a node and without it."""

    dependents: list[int]
    """Nodes with a path to it, the nearest first."""
    dependencies: list[int]
    """Nodes with a path from it, the nearest first."""
    direct_dependents: int
    """How many of them have an edge to it; they come first."""
    direct_dependencies: int
    components_before: int
    components_after: int
    parts: list[list[int]]
    """The parts into which its weak component would fall, the largest first."""


def impact(view: View, node: int) -> Impact:
    """The dependents and dependencies of a node, and the weak components without it."""
    before = weak_components(view)
    without = (view.sources != node) & (view.targets != node)
    after = weak_components(View(view.n, view.sources[without], view.targets[without], None, view.indices))
    around = np.flatnonzero(before == before[node])
    around = around[around != node]
    parts = [around[part].tolist() for part in grouped(after[around])]
    count = len(np.unique(before))
    return Impact(
        dependents=_nearest(view.into, node, view.n),
        dependencies=_nearest(view.out, node, view.n),
        direct_dependents=len({*view.into.lists[node]} - {node}),
        direct_dependencies=len({*view.out.lists[node]} - {node}),
        components_before=count,
        components_after=count - 1 + len(parts),
        parts=parts,
    )


def newly_unreachable(view: View, node: int, dependents: list[int]) -> dict[int, list[int]]:
    """For each dependent of a node, the nodes it reaches only through that node; dependents that lose none are omitted.

    Each dependent is one bit, propagated along the edges until nothing changes.
    """
    own = {dependent: 1 << place for place, dependent in enumerate(dependents)}
    reached = dict(own)
    open_nodes = dict.fromkeys(dependents)
    while open_nodes:
        here = next(iter(open_nodes))
        del open_nodes[here]
        bits = reached[here]
        for end in view.out.lists[here]:
            known = reached.get(end, 0)
            if end != node and bits & ~known:
                reached[end] = known | bits
                open_nodes[end] = None
    everyone = (1 << len(dependents)) - 1
    lost: dict[int, list[int]] = {dependent: [] for dependent in dependents}
    for dependency in _nearest(view.out, node, view.n):
        missing = everyone & ~reached.get(dependency, 0)
        while missing:
            place = missing.bit_length() - 1
            missing ^= 1 << place
            lost[dependents[place]].append(dependency)
    return {dependent: nodes for dependent, nodes in lost.items() if nodes}


def without_way(view: View, node: int, target: int) -> list[int]:
    """The nodes that reach ``target`` only through ``node``."""
    kept = (view.sources != node) & (view.targets != node)
    without = View(view.n, view.sources[kept], view.targets[kept], None, view.indices)
    reaching, still = (distances(one.into, np.array([target]), view.n) >= 0 for one in (view, without))
    lost: list[int] = np.flatnonzero(reaching & ~still).tolist()
    return [one for one in lost if one != node]


@dataclass(frozen=True)
class Loss:
    """What the removal of a node changes for a target."""

    asked: Literal["leads_to", "reached_by", "reaches", "unrelated"]
    """What of the target is lost: what leads to it, what it is reached by, what it reaches; unrelated: no path joins
    the two."""
    lost: list[tuple[int, list[int]]]
    """For each node that loses some, what it no longer reaches."""
    before: int = 0
    """How many nodes had a path, besides the removed one."""
    roots: int = 0
    """Of what leads to the target: those that nothing outside their own cycle leads to, besides the removed one."""
    roots_lost: int = 0


def loss_of(view: View, node: int, target: int, found: Impact, *, of_cause: bool) -> Loss:
    """What the removal changes for ``target``; edges lead from what needs to what is needed, or from effects to causes.

    If ``of_cause`` and the target follows from the node, it is what no longer leads to the target.
    """
    if of_cause and target in found.dependents:
        causes = view.turned
        gone = without_way(causes, node, target)
        before = [one for one in _nearest(causes.into, target, view.n) if one != node]
        roots = outermost(causes, target, {*before, node, target})[1] - {node}
        return Loss("leads_to", [(one, [target]) for one in gone], len(before), len(roots), len(roots & {*gone}))
    if target in found.dependencies:
        cut_off = set(without_way(view, node, target))
        lost = [(one, [target]) for one in found.dependents if one in cut_off]
        return Loss("reached_by", lost, len({*_nearest(view.into, target, view.n)} - {node}))
    if target in found.dependents:
        gone_from = newly_unreachable(view, node, [target])
        return Loss("reaches", [*gone_from.items()], len({*_nearest(view.out, target, view.n)} - {node}))
    return Loss("unrelated", [])


def without_other_root(view: View, node: int) -> list[int]:
    """What follows from ``node``, the nearest first, and from no root once ``node`` is gone.

    Edges lead from causes to effects. A root is a node that nothing outside its own cycle leads to; ``node`` and what
    is on a cycle with it are none.
    """
    numbers = strong_components(view)
    starts, ends = numbers[view.sources], numbers[view.targets]
    roots = ~np.isin(numbers, ends[starts != ends]) & (numbers != numbers[node])
    kept = (view.sources != node) & (view.targets != node)
    without = View(view.n, view.sources[kept], view.targets[kept], None, view.indices)
    reached = distances(without.out, np.flatnonzero(roots), view.n) >= 0
    return [one for one in _nearest(view.out, node, view.n) if not reached[one]]


def spans(view: View, node: int) -> list[tuple[list[int], list[int]]]:
    """The starts and the ends of the edges on paths to a node, and of those on paths from it."""
    before, after = (_nearest(rows, node, view.n) for rows in (view.into, view.out))
    return [(before, [*before, node]), ([*after, node], after)]


def _nearest(rows: Rows, node: int, n: int) -> list[int]:
    away: Ints = distances(rows, np.array([node]), n)
    found = np.flatnonzero(away > 0)
    nearest: list[int] = found[np.argsort(away[found], kind="stable")].tolist()
    return nearest
