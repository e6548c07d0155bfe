"""The analyses that the services call. Nodes are numbers.

Functions take time linear in the size of the graph. Generators have no such bound: they run as jobs of the worker
process (see ``jobs.py``) and yield JSON values.
"""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from graphiti_pkm.capabilities.scratch.algorithms import communities as louvain
from graphiti_pkm.capabilities.scratch.algorithms import ranking
from graphiti_pkm.capabilities.scratch.algorithms.breaking import breaking_edges
from graphiti_pkm.capabilities.scratch.algorithms.causes import causes
from graphiti_pkm.capabilities.scratch.algorithms.impact import (
    impact,
    loss_of,
    newly_unreachable,
    spans,
    without_other_root,
)
from graphiti_pkm.capabilities.scratch.algorithms.paths import cheapest_path, shortest_path
from graphiti_pkm.capabilities.scratch.algorithms.relations import EdgeRelations
from graphiti_pkm.capabilities.scratch.algorithms.structure import (
    cuts,
    grouped,
    redundant_edges,
    some_cycle,
    strong_components,
    weak_components,
)
from graphiti_pkm.capabilities.scratch.algorithms.view import Pair, View
from graphiti_pkm.capabilities.scratch.algorithms.walks import lengths_beyond, simple_cycles, simple_paths


def path(view: View, source: int, target: int, *, by_weight: bool) -> tuple[list[int], float | None] | None:
    """A shortest path, with its weight if ``by_weight``."""
    if by_weight:
        return cheapest_path(view, source, target)
    found = shortest_path(view, source, target)
    return None if found is None else (found, None)


def ranks(view: View) -> list[float]:
    scores: list[float] = ranking.pagerank(view).tolist()
    return scores


def components(view: View, *, strong: bool) -> list[list[int]]:
    """Weakly or strongly connected components, the largest first."""
    return grouped(strong_components(view) if strong else weak_components(view))


def cut_points(view: View) -> tuple[list[int], list[Pair]]:
    """Articulation points and bridges; of two opposite edges the one from the lower-numbered node represents both."""
    found = cuts(view)
    out = view.out.lists
    return found.points, [(low, high) if high in out[low] else (high, low) for low, high in found.bridges]


def relations_around(view: View, relations: EdgeRelations, node: int) -> dict[str, int]:
    """How many edges of which relation are on paths to a node or from it."""
    return relations.between(spans(view, node))


def relations_of_ways(relations: EdgeRelations, passed: list[int], target: int) -> dict[str, int]:
    """How many edges of which relation are on ways to a node that pass these nodes; if none, those that leave it."""
    if not passed:
        return relations.between([([target], relations.targets.tolist())])
    return relations.between([(passed, [*passed, target])])


def paths(view: View, source: int, target: int, longest: int, most_paths: int) -> Iterator[dict[str, Any]]:
    """Yields each simple path, at most ``most_paths``, then whether these were all, then the lengths of longer ones."""
    for number, found in enumerate(simple_paths(view, source, target, longest)):
        if number == most_paths:
            yield {"longer": len(found) - 1, "more": True}
            return
        yield {"path": found}
    yield {"done": True}
    for length in lengths_beyond(view, source, target, longest):
        yield {"longer": length}


def cycles(view: View, longest: int | None, most_cycles: int, most_counted: int) -> Iterator[dict[str, Any]]:
    """Yields any one cycle, edges that break all of them, the simple cycles, the shortest first, and their number.

    Of the cycles at most ``most_cycles`` are yielded, and the others counted up to ``most_counted``.
    """
    some = some_cycle(view)
    yield {"some": some}
    if not some:
        yield {"counted": 0, "is_all": True}
        return
    better = breaking_edges(view)
    edges, is_fewest = next(better)
    yield {"breaking": edges, "is_fewest": is_fewest}
    found = simple_cycles(view, longest)
    counted = 0
    for cycle in islice(found, most_cycles):
        counted += 1
        yield {"cycle": cycle}
    for edges, is_fewest in better:
        yield {"breaking": edges, "is_fewest": is_fewest}
    counted += sum(1 for _ in islice(found, most_counted - counted))
    yield {"counted": counted, "is_all": counted < most_counted}


def causes_of(view: View, target: int) -> Iterator[dict[str, Any]]:
    """Yields once: what leads to a node."""
    yield asdict(causes(view, target))


def betweenness(view: View) -> Iterator[dict[str, Any]]:
    """Yields ever better estimates."""
    return (asdict(found) for found in ranking.betweenness(view))


def communities(view: View) -> Iterator[dict[str, Any]]:
    """Yields ever better partitions."""
    for numbers in louvain.communities(view):
        yield {"numbers": numbers, "modularity": louvain.modularity(view, numbers)}


def reduction(view: View) -> Iterator[dict[str, Any]]:
    """Yields once: the redundant edges, or a cycle if the graph has one and therefore no reduction."""
    edges = redundant_edges(view)
    yield {"edges": edges} if edges is not None else {"cycle": some_cycle(view)}


def removal(
    view: View, node: int, most_dependents: int, target: int | None, *, of_cause: bool
) -> Iterator[dict[str, Any]]:
    """Yields the impact, then what each of the nearest dependents could no longer reach, or the loss of ``target``.

    Edges lead from what needs to what is needed; if ``of_cause``, from causes to effects.
    """
    falls = without_other_root(view, node) if of_cause else None
    view = view.turned if of_cause else view
    found = impact(view, node)
    yield asdict(found) | {"falls": falls}
    if target is not None:
        yield asdict(loss_of(view, node, target, found, of_cause=of_cause))
        return
    lost = newly_unreachable(view, node, found.dependents[:most_dependents])
    yield {"lost": [[dependent, nodes] for dependent, nodes in lost.items()]}
