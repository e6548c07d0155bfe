"""The jobs of the worker process: what may take long, as generators of JSON values. See ``jobs.py``."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from graphiti_pkm.reasoning import communities as louvain
from graphiti_pkm.reasoning import ranking
from graphiti_pkm.reasoning.impact import impact, newly_unreachable
from graphiti_pkm.reasoning.reduction import redundant_edges
from graphiti_pkm.reasoning.structure import some_cycle
from graphiti_pkm.reasoning.view import View
from graphiti_pkm.reasoning.walks import simple_cycles, simple_paths


def paths(view: View, source: int, target: int, longest: int) -> Iterator[list[int]]:
    """Each find is a path."""
    return simple_paths(view, source, target, longest)


def cycles(view: View, longest: int | None) -> Iterator[list[int]]:
    """The first find is some cycle, or nothing; each other one is a cycle, the shortest first."""
    yield some_cycle(view)
    yield from simple_cycles(view, longest)


def betweenness(view: View) -> Iterator[dict[str, Any]]:
    """Each find is better than the one before."""
    return (asdict(found) for found in ranking.betweenness(view))


def communities(view: View) -> Iterator[dict[str, Any]]:
    """Each find is better than the one before."""
    for numbers in louvain.communities(view):
        yield {"numbers": numbers, "modularity": louvain.modularity(view, numbers)}


def reduction(view: View) -> Iterator[dict[str, Any]]:
    """The one find: edges to drop, or the cycle because of which there is no reduction."""
    edges = redundant_edges(view)
    yield {"edges": edges} if edges is not None else {"cycle": some_cycle(view)}


def removal(view: View, node: int, most_dependents: int) -> Iterator[dict[str, Any]]:
    """The first find is the impact; the second what the nearest dependents would lose, by their number."""
    found = impact(view, node)
    yield asdict(found)
    lost = newly_unreachable(view, node, found.dependents[:most_dependents])
    yield {"lost": [[dependent, nodes] for dependent, nodes in lost.items()]}
