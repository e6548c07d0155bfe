"""Places for a graph that goes in circles: distances in the picture near those in the graph (stress majorisation).

E. Gansner, Y. Koren, S. North: Graph drawing by stress majorization, 2004. Starts from classical scaling: no chance.
"""

from collections.abc import Sequence

import numpy as np
import rustworkx
from numpy.typing import NDArray

from graphiti_pkm.capabilities.scratch.drawing.placing import Placed

_ROUNDS = 80
_APART = (28.0, 26.0)
"""Least distances between boxes, beside and above each other."""
_PUSHES = 40
_FARTHEST = 40
"""How far one push moves a box."""
_TOUCHING = 0.5
_GROWTH = 1.15


def place_freely(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], length: float) -> Placed:
    """Place the boxes of a graph that hangs together; ``length`` is what an edge should have."""
    boxes = np.array(sizes, dtype=float)
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(len(sizes)))
    graph.add_edges_from_no_data(list(edges))
    distances = rustworkx.graph_distance_matrix(graph)
    points = _stressed(_scaled(distances), distances) * length
    points[:, 1] *= 0.75
    points = _apart(points, boxes)
    low, high = (points - boxes / 2).min(axis=0), (points + boxes / 2).max(axis=0)
    points -= low
    return Placed([(float(x), float(y)) for x, y in points], {}, *(float(one) for one in high - low))


def _scaled(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The plane that shows the distances best; directions are chosen so that every machine finds the same."""
    count = len(distances)
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-centre @ (distances**2) @ centre / 2)
    points = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 1e-9))
    turned = np.sign(points[np.argmax(np.abs(points), axis=0), [0, 1]])
    around = np.arange(count) * 2.399963  # the golden angle: no two nodes start in one place
    return np.asarray(points * turned, dtype=float) + 0.01 * np.stack([np.cos(around), np.sin(around)], axis=1)


def _stressed(points: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = 1 / np.maximum(distances, 1) ** 2
    np.fill_diagonal(weights, 0)
    shift = 1 / len(points)  # makes the Laplacian regular, and moves nothing but the whole
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + shift)
    wished = weights * distances
    for _ in range(_ROUNDS):
        across, down = (points[:, axis, None] - points[None, :, axis] for axis in (0, 1))
        gaps = np.sqrt(across**2 + down**2)
        ratio = wished / np.maximum(gaps, 1e-6)
        np.fill_diagonal(ratio, 0)
        points = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ points)
    return points


def _apart(points: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push overlapping boxes apart the shorter way; grow the picture until that is enough."""
    upper = np.triu(np.ones((len(boxes), len(boxes)), dtype=bool), 1)
    least = [(boxes[:, axis, None] + boxes[None, :, axis]) / 2 + _APART[axis] for axis in (0, 1)]
    while True:
        for _ in range(_PUSHES):
            over = [least[axis] - np.abs(points[:, axis, None] - points[None, :, axis]) for axis in (0, 1)]
            ones, others = np.nonzero((over[0] > _TOUCHING) & (over[1] > _TOUCHING) & upper)
            if not len(ones):
                return points
            depths = np.stack([over[0][ones, others], over[1][ones, others]])
            axis = np.argmin(depths, axis=0)
            side = np.where(points[ones, axis] < points[others, axis], -1, 1)
            push = (depths.min(axis=0) / 2 + _TOUCHING) * side
            moves = np.zeros_like(points)
            np.add.at(moves, (ones, axis), push)
            np.add.at(moves, (others, axis), -push)
            points = points + np.clip(moves, -_FARTHEST, _FARTHEST)
        points = points * _GROWTH
