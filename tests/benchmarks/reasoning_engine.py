"""Algorithms over scratch graphs beside NetworkX's on the same random graph, answers compared.

Told is processor time: both sides compute in this one process, and what else the machine does is then in neither.
"""

import gc
import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any, TypeVar

import networkx as nx
import numpy as np
from tests.benchmarks.measuring import Figure, Target, ms

from graphiti_pkm.capabilities.scratch.algorithms import analyses
from graphiti_pkm.capabilities.scratch.algorithms.paths import cheapest_path, distances, shortest_path
from graphiti_pkm.capabilities.scratch.algorithms.ranking import betweenness, pagerank
from graphiti_pkm.capabilities.scratch.algorithms.structure import cuts
from graphiti_pkm.capabilities.scratch.algorithms.view import View
from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph
from graphiti_pkm.capabilities.scratch.limits import ScratchNode
from graphiti_pkm.settings.scratch_limits import ScratchLimits

_T = TypeVar("_T")

NODES = 100_000
EDGES = 1_000_000
PIVOTS = 4
_PAIRS = 100
"""Of nodes, in each round of the shortest paths."""
_ROUNDS = 3
_AIM = Target(">=", 10)


@dataclass(frozen=True)
class _World:
    """One graph three times: ours, NetworkX's, and NetworkX's without directions."""

    view: View
    weighted: View
    directed: "nx.DiGraph[int]"
    undirected: "nx.Graph[int]"
    pairs: Sequence[tuple[int, int]]
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class _Algorithm:
    """Ours and theirs, each for so many calls, and whether two answers agree."""

    what: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    agree: Callable[[Any, Any], bool] = operator.eq
    calls: int = 1


async def figures(*, quick: bool) -> list[Figure]:
    """Each algorithm in turn with NetworkX's; what both compute on is made before and told apart."""
    nodes, edges = (NODES // 20, EDGES // 20) if quick else (NODES, EDGES)
    world = _world(nodes, edges)
    on = f"{edges:,} edges on {nodes:,} nodes"
    found = []
    for one in _algorithms(world):
        ours, theirs = [], []
        for _ in range(_ROUNDS):
            our_time, our_answer = _timed(one.ours)
            their_time, their_answer = _timed(one.theirs)
            assert one.agree(our_answer, their_answer), one.what
            ours.append(1000 * our_time / one.calls)
            theirs.append(1000 * their_time / one.calls)
        ratio = median(theirs) / median(ours)
        what = f"{one.what}, {on}, against NetworkX"
        found.append(Figure(what, _told(median(ours)), _told(median(theirs)), ratio, _AIM))
    seconds = world.seconds
    return [
        *found,
        Figure(f"what these compute on: the edges as arrays, {on}", f"{seconds['arrays']:.2f} s"),
        Figure("for some: rows in both directions and without directions", f"{seconds['rows']:.2f} s"),
        Figure(
            "for paths by weight: the edges with weights; as lists",
            f"{seconds['weights']:.1f} s; {seconds['lists']:.1f} s",
        ),
        Figure("the graph itself, edge by edge", f"{seconds['ours']:.1f} s", f"{seconds['theirs']:.1f} s"),
    ]


def _told(milliseconds: float) -> str:
    return ms(milliseconds) if milliseconds >= 1 else f"{milliseconds:.2f} ms"


def _world(nodes: int, edges: int) -> _World:
    draw = random.Random(1)  # noqa: S311 the same graph in every run
    ends = [(draw.randrange(nodes), draw.randrange(nodes), draw.randint(1, 9)) for _ in range(edges)]
    ours, graph = _timed(lambda: _scratch_graph(nodes, ends))
    theirs, directed = _timed(lambda: _networkx_graph(nodes, ends))
    arrays, view = _timed(graph.view)
    weights, weighted = _timed(lambda: graph.view("weight"))
    rows, _ = _timed(lambda: [view.out, view.into, view.undirected.out])
    lists, _ = _timed(lambda: [weighted.out.lists, weighted.out.costs, weighted.into.lists, weighted.into.costs])
    pairs = [(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(_PAIRS)]
    seconds = {"ours": ours, "theirs": theirs, "arrays": arrays, "weights": weights, "rows": rows, "lists": lists}
    return _World(view, weighted, directed, directed.to_undirected(), pairs, seconds)


def _scratch_graph(nodes: int, ends: Sequence[tuple[int, int, int]]) -> ScratchGraph:
    graph = ScratchGraph(ScratchLimits(nodes=nodes, edges=len(ends), bytes=10**10))
    for node in range(nodes):
        graph.add_node(ScratchNode(f"node {node}"))
    for source, target, weight in ends:
        graph.add_edge(source, target, "calls", {"weight": weight})
    return graph


def _networkx_graph(nodes: int, ends: Sequence[tuple[int, int, int]]) -> "nx.DiGraph[int]":
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    for source, target, weight in ends:
        graph.add_edge(source, target, weight=weight)
    return graph


def _algorithms(world: _World) -> Iterator[_Algorithm]:
    view, weighted, directed, undirected = world.view, world.weighted, world.directed, world.undirected
    one, n = world.pairs[0][0], view.n
    yield _Algorithm(
        "pagerank (to 1e-9; NetworkX to its 1e-6 a node)",
        lambda: pagerank(view),
        lambda: nx.pagerank(directed, weight=None),
        lambda ours, theirs: np.abs(ours - list(theirs.values())).sum() < 1e-6 * n,
    )
    yield _Algorithm(
        "shortest path of a pair",
        lambda: [len(shortest_path(view, *pair) or ()) for pair in world.pairs],
        lambda: [len(nx.shortest_path(directed, *pair)) for pair in world.pairs],
        calls=len(world.pairs),
    )
    yield _Algorithm(
        "shortest path of a pair by weight",
        lambda: [_cost(weighted, *pair) for pair in world.pairs],
        lambda: [nx.bidirectional_dijkstra(directed, *pair)[0] for pair in world.pairs],
        calls=len(world.pairs),
    )
    yield _Algorithm(
        "distances from one node to all",
        lambda: distances(view.out, np.array([one]), n),
        lambda: nx.single_source_shortest_path_length(directed, one),
        lambda ours, theirs: (
            all(ours[node] == steps for node, steps in theirs.items()) and (ours < 0).sum() == n - len(theirs)
        ),
    )
    yield _Algorithm(
        "weak components",
        lambda: analyses.components(view, strong=False),
        lambda: list(nx.weakly_connected_components(directed)),
        _same_groups,
    )
    yield _Algorithm(
        "strong components",
        lambda: analyses.components(view, strong=True),
        lambda: list(nx.strongly_connected_components(directed)),
        _same_groups,
    )
    yield _Algorithm(
        f"betweenness from {PIVOTS} nodes",
        lambda: list(betweenness(view, exact=0, pivots=PIVOTS))[-1].scores,
        lambda: nx.betweenness_centrality(directed, k=PIVOTS, seed=n),
        lambda ours, theirs: np.allclose(ours, list(theirs.values())),
    )
    yield _Algorithm(
        "articulation points and bridges",
        lambda: cuts(view),
        lambda: (set(nx.articulation_points(undirected)), set(nx.bridges(undirected))),
        lambda ours, theirs: set(ours.points) == theirs[0] and len(ours.bridges) == len(theirs[1]),
    )


def _cost(view: View, source: int, target: int) -> float:
    found = cheapest_path(view, source, target)
    assert found is not None
    return found[1]


def _same_groups(ours: Sequence[Sequence[int]], theirs: Sequence[set[int]]) -> bool:
    return sorted(map(sorted, ours)) == sorted(map(sorted, theirs))


def _timed(call: Callable[[], _T]) -> tuple[float, _T]:
    gc.collect()
    begun = process_time()
    answer = call()
    return process_time() - begun, answer
