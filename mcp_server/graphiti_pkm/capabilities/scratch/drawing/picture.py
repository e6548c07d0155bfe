"""The layout of a whole picture: each connected part is laid out by itself, and the parts are packed in rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import rustworkx

from graphiti_pkm.capabilities.scratch.drawing.layered import Layers, backward, layers_of
from graphiti_pkm.capabilities.scratch.drawing.placing import Placed, Point, Way, place_layers

_BETWEEN_PARTS = 44
_SHAPE = 1.5
"""The desired ratio of width to height."""
_MOST_BACKWARD = 0.2
"""The largest share of back edges for which a layered layout comes first."""
_LONGEST_LABEL = 130.0
_SCREEN = 1_400
_MOST_OF = 0.6
_LONGEST = 3.5
"""The ratio of the longer side to the shorter one above which a free layout may be better than layers."""


@dataclass(frozen=True)
class Picture:
    """The centres of all boxes, and the routes of edges that are not straight lines."""

    middles: list[Point]
    ways: dict[tuple[int, int], Way]
    width: float
    height: float


def picture_of(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], labels: dict[tuple[int, int], float]
) -> Picture:
    """Lay out a graph; ``edges`` are distinct pairs without loops, ``labels`` the widths of their labels."""
    parts = [_part(nodes, sizes, edges_in, labels) for nodes, edges_in in _parts(len(sizes), edges)]
    parts.sort(key=lambda part: (-part[1].height, -part[1].width))
    area = sum((part.width + _BETWEEN_PARTS) * (part.height + _BETWEEN_PARTS) for _, part in parts)
    widest = max([(area * _SHAPE) ** 0.5, *(part.width for _, part in parts)])
    middles: dict[int, Point] = {}
    ways: dict[tuple[int, int], Way] = {}
    left = top = row = width = 0.0
    for nodes, part in parts:
        if left and left + part.width > widest:
            left, top, row = 0.0, top + row + _BETWEEN_PARTS, 0.0
        for node, (x, y) in zip(nodes, part.middles, strict=True):
            middles[node] = (x + left, y + top)
        for (source, target), way in part.ways.items():
            points = [(x + left, y + top) for x, y in way.points]
            ways[nodes[source], nodes[target]] = Way(points, way.across)
        row = max(row, part.height)
        width = max(width, left + part.width)
        left += part.width + _BETWEEN_PARTS
    return Picture([middles[node] for node in range(len(sizes))], ways, width, top + row)


def _parts(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """The nodes of each connected part with its edges, which number the nodes by their places in the part."""
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from_no_data(list(edges))
    members = sorted(map(sorted, rustworkx.connected_components(graph)))
    part_of = {node: part for part, nodes in enumerate(members) for node in nodes}
    number = {node: at for nodes in members for at, node in enumerate(nodes)}
    inside: list[list[tuple[int, int]]] = [[] for _ in members]
    for source, target in edges:
        inside[part_of[source]].append((number[source], number[target]))
    return list(zip(members, inside, strict=True))


def _part(
    nodes: list[int],
    sizes: Sequence[tuple[float, float]],
    edges: list[tuple[int, int]],
    labels: dict[tuple[int, int], float],
) -> tuple[list[int], Placed]:
    own = [sizes[node] for node in nodes]
    if not edges:
        return nodes, Placed([(own[0][0] / 2, own[0][1] / 2)], {}, *own[0])
    layers = layers_of(len(nodes), edges)
    mostly_forward = len(backward(len(nodes), edges)) <= _MOST_BACKWARD * len(edges)
    wide = {
        (source, target): min(labels.get((nodes[source], nodes[target]), 0.0), _LONGEST_LABEL)
        for source, target in edges
    }
    best = None
    if layers is not None:
        best = min((place_layers(layers, own, wide, across=across) for across in (True, False)), key=_extent)
        if mostly_forward and (_fits(best) or _is_list(layers, len(nodes))):
            return nodes, best
    from graphiti_pkm.capabilities.scratch.drawing.force import (  # noqa: PLC0415  (NumPy, only where it is needed)
        is_crossed,
        place_freely,
    )

    free = place_freely(own, edges, 120 + max(wide.values()) / 2)
    # An edge under a box reads as two edges that there are not; layers lead every edge around.
    if best is not None and (is_crossed(free, own, edges) or (mostly_forward and _extent(best) <= _extent(free))):
        return nodes, best
    return nodes, free


def _fits(placed: Placed) -> bool:
    """Whether the layout is compact enough not to try a free one."""
    return _extent(placed) <= _SCREEN or 1 / _LONGEST < placed.width / placed.height < _LONGEST


def _is_list(layers: Layers, count: int) -> bool:
    """Whether most nodes are in one layer, as around a hub: a long list is easier to read than a star."""
    return max(sum(node < count for node in layer) for layer in layers.layers) > _MOST_OF * count


def _extent(placed: Placed) -> float:
    """The size of the screen that it needs."""
    return max(placed.width, placed.height * _SHAPE)
