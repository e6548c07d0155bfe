"""Random scratch graphs beside the same graph in NetworkX, for comparing what algorithms say about them.

The seed of a run is ``SEED`` unless the environment variable SCRATCH_SEED gives another one. A failure names the seed
of its case, and every comparison records that of the run.
"""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import networkx as nx

from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph
from graphiti_pkm.capabilities.scratch.limits import ScratchNode
from graphiti_pkm.settings.scratch_limits import ScratchLimits

SEED = int(os.environ.get("SCRATCH_SEED", "20261122"))
CASES = 500
RELATIONS = ("calls", "imports", "cites")


@dataclass(frozen=True)
class Case:
    """A multigraph with self-loops, edges side by side, isolated nodes and numbers that are no longer in use."""

    seed: int
    draw: random.Random
    graph: ScratchGraph
    multi: "nx.MultiDiGraph[int]"
    """The same in NetworkX; nodes are the view's numbers, weights stand as ``weight``."""

    @property
    def simple(self) -> "nx.DiGraph[int]":
        """Without edges side by side; of several weights the least."""
        simple: nx.DiGraph[int] = nx.DiGraph()
        simple.add_nodes_from(self.multi)
        for source, target, data in self.multi.edges(data=True):
            known = simple.get_edge_data(source, target, {"weight": float("inf")})
            simple.add_edge(source, target, weight=min(known["weight"], data["weight"]))
        return simple

    @property
    def undirected(self) -> "nx.Graph[int]":
        """Of two edges between the same nodes the one of less weight."""
        undirected: nx.Graph[int] = nx.Graph()
        undirected.add_nodes_from(self.multi)
        for source, target, data in self.multi.edges(data=True):
            known = undirected.get_edge_data(source, target, {"weight": float("inf")})
            undirected.add_edge(source, target, weight=min(known["weight"], data["weight"]))
        return undirected

    def node(self) -> int:
        """Any node."""
        return self.draw.choice(sorted(self.multi))


def cases(*, least_nodes: int = 0, most_nodes: int = 9, acyclic: bool = False) -> Iterator[Case]:
    """The cases of a run; each depends on its own seed only."""
    for at in range(CASES):
        seed = SEED * 1_000 + at
        yield _case(seed, least_nodes, most_nodes, acyclic=acyclic)


@contextmanager
def told(case: Case) -> Iterator[None]:
    """Let a failure name its case."""
    try:
        yield
    except Exception as error:
        edges = list(case.multi.edges(data="weight"))
        error.add_note(f"seed {case.seed} (SCRATCH_SEED={SEED}), {len(case.multi)} nodes, edges {edges}")
        raise


def _case(seed: int, least_nodes: int, most_nodes: int, *, acyclic: bool) -> Case:
    draw = random.Random(seed)  # noqa: S311 the same graph in every run
    graph = ScratchGraph(ScratchLimits())
    n = draw.randint(least_nodes, most_nodes)
    going = draw.randint(0, 2)
    nodes = [graph.add_node(ScratchNode(f"node {at}"))[0] for at in range(n + going)]
    removed = draw.sample(nodes, going)
    for _ in range(draw.randint(0, round(n * draw.choice((0.5, 1, 2, 4))))):
        source, target = draw.choice(nodes), draw.choice(nodes)
        if not acyclic or source < target:
            relation = draw.choice(RELATIONS)
            graph.add_edge(source, target, relation, draw.choice(({"weight": draw.randint(0, 5)}, {})))
    for node in removed:
        graph.remove_node(node)
    number = {index: at for at, index in enumerate(sorted(graph.order()))}
    multi: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    multi.add_nodes_from(range(n))
    for edge in graph.edges():
        weight = edge.properties.get("weight", 1)
        multi.add_edge(number[edge.source], number[edge.target], edge.relation, weight=float(weight))
    return Case(seed, draw, graph, multi)
