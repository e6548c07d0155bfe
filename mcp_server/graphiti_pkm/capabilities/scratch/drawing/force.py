"""A layout for graphs with many cycles: distances in the picture approximate distances in the graph.

E. Gansner, Y. Koren, S. North: Graph drawing by stress majorization, 2004. It starts from classical scaling and is
deterministic. rustworkx has Kamada and Kawai's layout for the same stress; it folds long chains and is several times
slower on 300 nodes.
"""

from collections.abc import Sequence

import numpy as np
import rustworkx
from numpy.typing import NDArray

from graphiti_pkm.capabilities.scratch.drawing.placing import BEND, Placed

_ROUNDS = 80
_APART = (28.0, 26.0)
"""The minimum gap between boxes, horizontally and vertically."""
_PUSHES = 40
_FARTHEST = 40
"""The longest distance that a box moves in one step."""
_TOUCHING = 0.5
_GROWTH = 1.15
_CHECKED = 8.0
"""The distance between the points of a line that are checked, twice the distance that it keeps from boxes."""


def place_freely(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], length: float) -> Placed:
    """Place the boxes of a connected graph; ``length`` is the desired length of an edge."""
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


def is_crossed(placed: Placed, sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> bool:
    """Whether any edge, drawn straight or bent apart from its opposite, passes under the box of another node."""
    middles, halves, both = np.array(placed.middles), np.array(sizes, dtype=float) / 2, set(edges)
    for source, target in edges:
        run = middles[target] - middles[source]
        begin, end = (
            middles[node] + sign * run * min(1.0, float(np.min(halves[node] / np.maximum(np.abs(run), 1e-6))))
            for node, sign in ((source, 1), (target, -1))
        )
        at = np.linspace(0, 1, 2 + int(np.hypot(*(end - begin)) / _CHECKED))[:, None]
        bend = 2 * BEND * at * (1 - at) if (target, source) in both else np.zeros_like(at)
        points = begin + (end - begin) * at + bend * np.array([begin[1] - end[1], end[0] - begin[0]])
        inside = (np.abs(points[:, None] - middles) < halves + _CHECKED / 2).all(axis=2).any(axis=0)
        inside[[source, target]] = False
        if inside.any():
            return True
    return False


def _scaled(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Classical scaling to two dimensions; the signs are fixed so that every machine finds the same layout."""
    count = len(distances)
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-centre @ (distances**2) @ centre / 2)
    points = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 1e-9))
    turned = np.sign(points[np.argmax(np.abs(points), axis=0), [0, 1]])
    around = np.arange(count) * 2.399963  # the golden angle, so that no two nodes coincide
    return np.asarray(points * turned, dtype=float) + 0.01 * np.stack([np.cos(around), np.sin(around)], axis=1)


def _stressed(points: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = 1 / np.maximum(distances, 1) ** 2
    np.fill_diagonal(weights, 0)
    shift = 1 / len(points)  # makes the Laplacian invertible; shifts only the whole drawing
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
    """Push overlapping boxes apart along the shorter axis; enlarge the picture until none overlap."""
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
