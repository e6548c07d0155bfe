"""Coordinates for a layered layout: box positions and edge routes, from left to right or from top to bottom."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from graphiti_pkm.capabilities.scratch.drawing.layered import Layers

Point: TypeAlias = tuple[float, float]

BEND = 0.16
"""How far the control point of an edge is from a straight line, for its length, if there is an opposite edge."""
_GAPS = (14, 24)
"""Between the boxes of a layer, vertically and horizontally."""
_LANE = 14
"""The room for an edge that passes a layer."""
_MOST_SLANT = 8.0
"""How far an edge may deviate from its lane within a layer."""
_SWEEPS = 14
_STIFF = 4.0
"""The weight of keeping long edges straight, relative to centring boxes."""


@dataclass(frozen=True)
class Way:
    """The route of an edge: straight from the first point to the second, curved to the third, and so on alternately."""

    points: list[Point]
    across: bool
    """Whether it runs horizontally."""


@dataclass
class Placed:
    """The centres of boxes, and the routes of edges that are not straight."""

    middles: list[Point]
    ways: dict[tuple[int, int], Way] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0


def place_layers(
    layers: Layers, sizes: Sequence[tuple[float, float]], labels: dict[tuple[int, int], float], *, across: bool
) -> Placed:
    """Turn ordered layers into coordinates.

    Args:
        layers: the result of ``layers_of``.
        sizes: width and height of each node's box; higher numbers in the layers are dummy nodes of long edges.
        labels: the width of each edge's label.
        across: whether layers are columns, read from left to right, instead of rows, read downwards.
    """
    count = len(sizes)
    along = [size[0] if across else size[1] for size in sizes]
    beside = [size[1] if across else size[0] for size in sizes]
    starts, ends = _bands(layers, along, labels, across=across)
    place = _places(layers, beside, count, _GAPS[0 if across else 1])
    level = {node: at for at, layer in enumerate(layers.layers) for node in layer}
    lowest = min(place[node] - (beside[node] if node < count else 0) / 2 for node in place)
    for node in place:
        place[node] -= lowest

    def point(along_axis: float, beside_axis: float) -> Point:
        return (along_axis, beside_axis) if across else (beside_axis, along_axis)

    middle = [(starts[level[node]] + ends[level[node]]) / 2 for node in range(count)]
    placed = Placed([point(middle[node], place[node]) for node in range(count)])
    ports = _ports(layers, place, beside, count)
    for edge, chain in layers.chains.items():
        first, last = chain[0], chain[-1]
        leaves, enters = place[first] + ports[edge, 0], place[last] + ports[edge, 1]
        way = [point(middle[first] + along[first] / 2, leaves), point(ends[level[first]], leaves)]
        for before, node, after in zip(chain, chain[1:-1], chain[2:], strict=False):
            start, end = starts[level[node]], ends[level[node]]
            steep = (place[after] - place[before]) / (starts[level[after]] - ends[level[before]])
            slant = max(-_MOST_SLANT, min(_MOST_SLANT, steep * (end - start) / 2))
            way += [point(start, place[node] - slant), point(end, place[node] + slant)]
        way += [point(starts[level[last]], enters), point(middle[last] - along[last] / 2, enters)]
        placed.ways[edge] = Way(way[::-1] if edge in layers.turned else way, across)
    most = max(place[node] + (beside[node] if node < count else 0) / 2 for node in place)
    placed.width, placed.height = point(ends[-1], most)
    return placed


def _bands(
    layers: Layers, along: Sequence[float], labels: dict[tuple[int, int], float], *, across: bool
) -> tuple[list[float], list[float]]:
    """The start and end of each layer, with room between layers for labels and bends."""
    level = {node: at for at, layer in enumerate(layers.layers) for node in layer}
    widest = [0.0] * len(layers.layers)
    crowd = [0] * len(layers.layers)
    for edge, chain in layers.chains.items():
        widest[level[chain[0]]] = max(widest[level[chain[0]]], labels.get(edge, 0.0))
        for node in chain[:-1]:
            crowd[level[node]] += 1
    starts, ends, at = [], [], 0.0
    for number, layer in enumerate(layers.layers):
        starts.append(at)
        at += max([along[node] for node in layer if node < len(along)], default=0.0)
        ends.append(at)
        room = widest[number] + 36 if across else 20 + (34 if widest[number] else 14)
        at += max(room, 44) + min(crowd[number], 40)
    return starts, ends


def _places(layers: Layers, beside: Sequence[float], count: int, gap: float) -> dict[int, float]:
    """Positions along each layer: close to the mean of the neighbours, in order, with minimum gaps."""
    neighbours: dict[int, list[tuple[int, float]]] = {node: [] for layer in layers.layers for node in layer}
    for chain in layers.chains.values():
        for one, other in pairwise(chain):
            weight = _STIFF if one >= count and other >= count else 1.0
            neighbours[one].append((other, weight))
            neighbours[other].append((one, weight))
    half = {node: (beside[node] / 2 if node < count else 0.0) for node in neighbours}
    place: dict[int, float] = {}
    gaps: list[list[float]] = []
    for layer in layers.layers:
        distances = [
            half[one] + half[other] + (gap if one < count and other < count else _LANE)
            for one, other in pairwise(layer)
        ]
        gaps.append(distances)
        at = -sum(distances) / 2
        for node, distance in zip(layer, [*distances, 0.0], strict=True):
            place[node] = at
            at += distance
    for sweep in range(_SWEEPS):
        order = range(len(layers.layers)) if sweep % 2 else range(len(layers.layers) - 1, -1, -1)
        for number in order:
            layer = layers.layers[number]
            wished = [_wish(neighbours[node], place, place[node]) for node in layer]
            weights = [max(1.0, sum(weight for _, weight in neighbours[node])) for node in layer]
            place.update(zip(layer, _spread(wished, weights, gaps[number]), strict=True))
    return place


def _wish(neighbours: Sequence[tuple[int, float]], place: dict[int, float], own: float) -> float:
    total = sum(weight for _, weight in neighbours)
    return sum(place[other] * weight for other, weight in neighbours) / total if total else own


def _spread(wished: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Positions closest to the desired ones that keep the gaps: least squares by pool-adjacent-violators."""
    offset, offsets = 0.0, [0.0]
    for gap in gaps:
        offset += gap
        offsets.append(offset)
    pools: list[tuple[float, float, int]] = []
    for wish, weight, shift in zip(wished, weights, offsets, strict=True):
        mean, total, size = wish - shift, weight, 1
        while pools and pools[-1][0] >= mean:
            before, heavy, many = pools.pop()
            mean = (before * heavy + mean * total) / (heavy + total)
            total, size = total + heavy, size + many
        pools.append((mean, total, size))
    means = [mean for mean, _, size in pools for _ in range(size)]
    return [mean + shift for mean, shift in zip(means, offsets, strict=True)]


def _ports(
    layers: Layers, place: dict[int, float], beside: Sequence[float], count: int
) -> dict[tuple[tuple[int, int], int], float]:
    """Offsets on a box's side where each edge leaves (0) or enters (1), in an order without crossings."""
    sides: dict[tuple[int, int], list[tuple[float, tuple[int, int]]]] = {}
    for edge, chain in layers.chains.items():
        sides.setdefault((chain[0], 0), []).append((place[chain[1]], edge))
        sides.setdefault((chain[-1], 1), []).append((place[chain[-2]], edge))
    ports = {}
    for (node, side), edges in sides.items():
        step = min(9.0, 0.7 * (beside[node] if node < count else 0.0) / len(edges))
        for number, (_, edge) in enumerate(sorted(edges)):
            ports[edge, side] = (number - (len(edges) - 1) / 2) * step
    return ports
