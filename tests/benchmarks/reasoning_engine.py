"""Algorithms over scratch graphs beside NetworkX's on the same random graph, answers compared."""

import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np
from tests.benchmarks.measuring import Aim, Figure, Side, in_turn, ms

from graphiti_pkm.domain.scratch import ScratchLimits, ScratchNode
from graphiti_pkm.reasoning import analyses
from graphiti_pkm.reasoning.graph import ScratchGraph
from graphiti_pkm.reasoning.paths import cheapest_path, distances, shortest_path
from graphiti_pkm.reasoning.ranking import betweenness, pagerank
from graphiti_pkm.reasoning.structure import cuts
from graphiti_pkm.reasoning.view import View

NODES = 100_000
EDGES = 1_000_000
PIVOTS = 4
_PAIRS = 100
"""Of nodes, in each round of the shortest paths."""
_ROUNDS = 3
_AIM = Aim(">=", 10)


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
        assert one.agree(one.ours(), one.theirs()), one.what
        times = await in_turn({"ours": _side(one.ours), "theirs": _side(one.theirs)}, _ROUNDS, warm_up=0)
        ours, theirs = times["ours"].p50 / one.calls, times["theirs"].p50 / one.calls
        found.append(Figure(f"{one.what}, {on}, against NetworkX", _told(ours), _told(theirs), theirs / ours, _AIM))
    seconds = world.seconds
    return [
        *found,
        Figure(f"the arrays that these compute on, {on}", f"{seconds['view']:.2f} s"),
        Figure(
            "rows in both directions, without directions and with weights, as lists too", f"{seconds['more']:.2f} s"
        ),
        Figure("the graph itself, edge by edge", f"{seconds['ours']:.1f} s", f"{seconds['theirs']:.1f} s"),
    ]


def _told(milliseconds: float) -> str:
    return ms(milliseconds) if milliseconds >= 1 else f"{milliseconds:.2f} ms"


def _world(nodes: int, edges: int) -> _World:
    draw = random.Random(1)  # noqa: S311 the same graph in every run
    ends = [(draw.randrange(nodes), draw.randrange(nodes), draw.randint(1, 9)) for _ in range(edges)]
    seconds: dict[str, float] = {}
    with _timed(seconds, "ours"):
        graph = ScratchGraph(ScratchLimits(nodes=nodes, edges=edges, bytes=10**10))
        for node in range(nodes):
            graph.add_node(ScratchNode(f"node {node}"))
        for source, target, weight in ends:
            graph.add_edge(source, target, "calls", {"weight": weight})
    with _timed(seconds, "view"):
        view = graph.view()
    with _timed(seconds, "more"):
        weighted = graph.view("weight")
        for one in (view, weighted):
            _ = one.out, one.into
        _ = view.undirected.out, weighted.out.lists, weighted.out.costs, weighted.into.lists, weighted.into.costs
    directed: nx.DiGraph[int] = nx.DiGraph()
    with _timed(seconds, "theirs"):
        directed.add_nodes_from(range(nodes))
        for source, target, weight in ends:
            directed.add_edge(source, target, weight=weight)
    pairs = [(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(_PAIRS)]
    return _World(view, weighted, directed, directed.to_undirected(), pairs, seconds)


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


def _side(call: Callable[[], object]) -> Side:
    async def side() -> object:
        return call()

    return side


@contextmanager
def _timed(seconds: dict[str, float], what: str) -> Iterator[None]:
    begun = perf_counter()
    yield
    seconds[what] = perf_counter() - begun
