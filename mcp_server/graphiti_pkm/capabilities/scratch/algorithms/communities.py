"""Community detection by modularity, which rustworkx does not offer."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from graphiti_pkm.capabilities.scratch.algorithms.structure import weak_components
from graphiti_pkm.capabilities.scratch.algorithms.view import View
from graphiti_pkm.errors import InvalidInput

Weights: TypeAlias = list[dict[int, float]]
"""For each node, the weights of its neighbours; a self-loop counts twice."""

_LEAST_GAIN = 1e-12


def communities(view: View, resolution: float = 1.0) -> Iterator[list[int]]:
    """Yields ever better partitions: the community number of each node.

    The Louvain method (Blondel, Guillaume, Lambiotte, Lefebvre 2008) on the undirected graph, deterministic. It can
    produce disconnected communities (Traag, Waltman, van Eck 2019); splitting these only raises the modularity.

    Raises:
        InvalidInput: a weight is negative.
    """
    if view.weights is not None and len(view.weights) and float(view.weights.min()) < 0:
        raise InvalidInput("Some of the weights are negative; communities needs weights of at least 0, or none.")
    both = _scaled(view).undirected
    weights: Weights = [
        {end: weight * (1 + (end == node)) for end, weight in zip(ends, costs, strict=True)}
        for node, (ends, costs) in enumerate(zip(both.out.lists, both.out.costs, strict=True))
    ]
    numbers = list(range(view.n))
    yield numbers
    while True:
        joined = _joined(weights, resolution)
        if len(set(joined)) == len(weights):
            return
        names = {number: place for place, number in enumerate(dict.fromkeys(joined))}
        joined = [names[number] for number in joined]
        numbers = [joined[number] for number in numbers]
        weights = _drawn_together(weights, joined, len(names))
        yield _in_one_piece(both, numbers)


def modularity(view: View, numbers: Sequence[int], resolution: float = 1.0) -> float:
    """Modularity of a partition (Newman 2004): the share of edges within communities above chance; 0 without edges."""
    both = _scaled(view).undirected
    weights = np.ones(len(both.sources)) if both.weights is None else both.weights
    weights = weights * (1 + (both.sources == both.targets))
    total = float(weights.sum())
    if not total:
        return 0.0
    of = np.asarray(numbers)
    inside = float(weights[of[both.sources] == of[both.targets]].sum())
    degrees = np.bincount(of[both.sources], weights)
    return inside / total - resolution * float((degrees**2).sum()) / total**2


def _scaled(view: View) -> View:
    """Divides the weights by the largest one, so that their squares cannot overflow."""
    if view.weights is None or not len(view.weights) or not (largest := float(view.weights.max())):
        return view
    return replace(view, weights=view.weights / largest)


def _joined(weights: Weights, resolution: float) -> list[int]:
    """Moves each node to the neighbouring community with the highest gain, until no node moves."""
    degrees = [sum(near.values()) for near in weights]
    total = sum(degrees) or 1.0
    numbers = list(range(len(weights)))
    sums = list(degrees)
    moved = True
    while moved:
        moved = False
        for node, near in enumerate(weights):
            own = numbers[node]
            towards = {own: 0.0}
            for end, weight in near.items():
                if end != node:
                    towards[numbers[end]] = towards.get(numbers[end], 0.0) + weight
            sums[own] -= degrees[node]
            share = resolution * degrees[node] / total
            best, most = own, towards[own] - share * sums[own] + _LEAST_GAIN * total
            for number, weight in towards.items():
                gain = weight - share * sums[number]
                if gain > most:
                    best, most = number, gain
            sums[best] += degrees[node]
            if best != own:
                numbers[node] = best
                moved = True
    return numbers


def _drawn_together(weights: Weights, numbers: Sequence[int], count: int) -> Weights:
    """Contracts each community to one node."""
    drawn: Weights = [{} for _ in range(count)]
    for node, near in enumerate(weights):
        sums = drawn[numbers[node]]
        for end, weight in near.items():
            sums[numbers[end]] = sums.get(numbers[end], 0.0) + weight
    return drawn


def _in_one_piece(both: View, numbers: Sequence[int]) -> list[int]:
    of = np.asarray(numbers)
    inside = of[both.sources] == of[both.targets]
    pieces: list[int] = weak_components(
        View(both.n, both.sources[inside], both.targets[inside], None, both.indices)
    ).tolist()
    return pieces
