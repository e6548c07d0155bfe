"""Sugiyama's layered layout for graphs that mostly have one direction: breaks cycles, assigns layers and orders them.

Nodes are numbers; ``edges`` are distinct pairs without loops. The result does not depend on the direction in which the
picture is read. ``placing.py`` turns it into coordinates.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import rustworkx

_SWEEPS = 12
_MOST_DUMMIES = 4_000


@dataclass(frozen=True)
class Layers:
    """Ordered layers of nodes; a long edge has a dummy node in each layer between its ends."""

    layers: list[list[int]]
    chains: dict[tuple[int, int], list[int]]
    """For each edge the nodes on its way, including both ends, from the lower layer to the higher one."""
    turned: set[tuple[int, int]]
    """Edges that lead from a higher layer to a lower one."""


def layers_of(count: int, edges: Sequence[tuple[int, int]]) -> Layers | None:
    """The layers of nodes 0 to ``count`` - 1; None if they would need too many dummy nodes."""
    turned = backward(count, edges)
    forward = [(target, source) if (source, target) in turned else (source, target) for source, target in edges]
    layer_of = _layer_of(count, forward)
    if sum(layer_of[target] - layer_of[source] - 1 for source, target in forward) > _MOST_DUMMIES:
        return None
    layers: list[list[int]] = [[] for _ in range(max(layer_of) + 1)]
    up: list[list[int]] = [[] for _ in range(count)]
    down: list[list[int]] = [[] for _ in range(count)]
    chains: dict[tuple[int, int], list[int]] = {}
    steps = {pair: _step(pair, layer_of, up, down) for pair in dict.fromkeys(forward)}
    for edge, pair in zip(edges, forward, strict=True):
        chains[edge] = steps[pair]
    seen = [False] * len(up)
    for start in sorted(range(count), key=lambda node: (layer_of[node], node)):
        stack = [start]
        while stack:
            node = stack.pop()
            if not seen[node]:
                seen[node] = True
                layers[layer_of[node]].append(node)
                stack += reversed(down[node])
    return Layers(_ordered(layers, up, down), chains, turned)


def backward(count: int, edges: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """The back edges of a depth-first search from the sources; without them the graph has no cycle."""
    following: list[list[int]] = [[] for _ in range(count)]
    entered = [0] * count
    for source, target in edges:
        following[source].append(target)
        entered[target] += 1
    state = [0] * count
    found: set[tuple[int, int]] = set()
    for start in sorted(range(count), key=lambda node: (entered[node] > 0, node)):
        stack = [(start, 0)] if not state[start] else []
        while stack:
            node, at = stack.pop()
            state[node] = 1
            if at == len(following[node]):
                state[node] = 2
                continue
            stack.append((node, at + 1))
            target = following[node][at]
            if state[target] == 1:
                found.add((node, target))
            elif not state[target]:
                stack.append((target, 0))
    return found


def _layer_of(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The length of the longest path to each node; a node without predecessors is moved next to its successors."""
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from_no_data(list(edges))
    layer_of = [0] * count
    for layer, nodes in enumerate(rustworkx.topological_generations(graph)):
        for node in nodes:
            layer_of[node] = layer
    for node in range(count):
        if not graph.in_degree(node) and graph.out_degree(node):
            layer_of[node] = min(layer_of[target] for target in graph.successor_indices(node)) - 1
    return layer_of


def _step(pair: tuple[int, int], layer_of: list[int], up: list[list[int]], down: list[list[int]]) -> list[int]:
    """The chain of an edge, with a new dummy node in each layer between its ends."""
    source, target = pair
    chain = [source]
    for layer in range(layer_of[source] + 1, layer_of[target]):
        chain.append(len(up))
        layer_of.append(layer)
        up.append([])
        down.append([])
    chain.append(target)
    for one, other in pairwise(chain):
        down[one].append(other)
        up[other].append(one)
    return chain


def _ordered(layers: list[list[int]], up: list[list[int]], down: list[list[int]]) -> list[list[int]]:
    """The order with the fewest crossings that barycentre sweeps find."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, down)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        is_down = sweep % 2 == 0
        order = range(1, len(layers)) if is_down else range(len(layers) - 2, -1, -1)
        for at in order:
            before = {node: place for place, node in enumerate(layers[at - 1 if is_down else at + 1])}
            layers[at] = _by_barycentre(layers[at], up if is_down else down, before)
        crossings = _crossings(layers, down)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return best


def _by_barycentre(layer: list[int], neighbours: list[list[int]], places: dict[int, int]) -> list[int]:
    """Sorts a layer by the mean position of each node's neighbours; a node without neighbours keeps its position."""
    means = {}
    for own, node in enumerate(layer):
        known = [places[other] for other in neighbours[node]]
        means[node] = sum(known) / len(known) if known else float(own)
    return sorted(layer, key=means.__getitem__)


def _crossings(layers: list[list[int]], down: list[list[int]]) -> int:
    """The number of edge crossings between adjacent layers."""
    total = 0
    for above, below in pairwise(layers):
        place = {node: at for at, node in enumerate(below)}
        seen: list[int] = []
        for node in above:
            targets = sorted(place[other] for other in down[node])
            total += sum(len(seen) - bisect_left(seen, target + 1) for target in targets)
            for target in targets:
                insort(seen, target)
    return total
