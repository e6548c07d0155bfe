"""Search by meaning in small and large embedded memories, and the cold start of a large one.

Against what an exact scan costs at least: one product of a query with a matrix of as many vectors.
"""

import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from time import perf_counter

import numpy as np
from tests.benchmarks.large_world import Vectors, load
from tests.benchmarks.measuring import Figure, Side, Target, Times, in_turn, ms
from tests.benchmarks.startup import COMMAND
from tests.benchmarks.stdio import StdioServer
from tests.benchmarks.world import NUMPY, data_directory

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer

SIZES, QUICK_SIZES = (1_000, 10_000, 100_000), (200, 2_000)
GROUPS = (20, 1_000)
ROUNDS = 40
PROBES = 60
LIMIT = 10
PREFIX = "one-"
_SEARCH = "Who works on the harbour project?"


async def figures(*, quick: bool = False) -> list[Figure]:
    """Each memory in a directory of its own; the largest is in one group, then in many."""
    sizes = QUICK_SIZES if quick else SIZES
    vectors = await Vectors.of_the_journal(Settings(**NUMPY))
    found: list[Figure] = []
    for size in sizes:
        found += await _measured(vectors, size, 1, cold=size == sizes[-1])
    for groups in () if quick else GROUPS:
        found += await _measured(vectors, sizes[-1], groups)
    return found


async def _measured(vectors: Vectors, size: int, groups: int, *, cold: bool = False) -> list[Figure]:
    with data_directory() as directory:
        async with open_memory(Settings(data_dir=directory, **NUMPY)) as opened:
            begun = perf_counter()
            await load(Committer(opened.context).commit, vectors, size, PREFIX, groups)
            loaded = perf_counter() - begun
            where = "one group" if groups == 1 else f"{groups:,} groups, in one of them"
            found = await _compared(opened.context.graph, vectors, size // groups, f"{size:,} in {where}")
        if cold:
            what = f"{size:,} entities, facts and passages"
            found.append(Figure(f"{what} written, 1,000 a transaction", f"{loaded:.0f} s"))
            found.append(_cold_start(directory, size))
    return found


async def _compared(graph: Graph, vectors: Vectors, in_group: int, what: str) -> list[Figure]:
    matrix = vectors.matrix(in_group, seed=7)
    probes = cycle(vectors.matrix(PROBES, seed=8))

    async def alone() -> None:
        scores = matrix @ next(probes)
        assert len(np.argpartition(scores, -LIMIT)[-LIMIT:]) == LIMIT

    found = []
    for kind, ours in _sides(graph, vectors).items():
        taken = await in_turn({"ours": ours, "alone": alone}, ROUNDS)
        label = f"search of {kind} by meaning, {what}, p50 / p95"
        ratio = taken["ours"].p50 / taken["alone"].p50
        found.append(Figure(label, _both(taken["ours"]), f"{_both(taken['alone'])} of one product", ratio))
    return found


def _sides(graph: Graph, vectors: Vectors) -> dict[str, Side]:
    """Each search has a query of its own."""
    queries = cycle(vectors.draw(PROBES, seed=9))
    groups = (f"{PREFIX}0",)

    async def nodes() -> None:
        assert await graph.search.nearest_entities(next(queries), EntityFilter(group_ids=groups), LIMIT)

    async def facts() -> None:
        wanted = FactFilter(group_ids=groups, now=datetime.now(UTC))
        assert await graph.search.nearest_facts(next(queries), wanted, LIMIT)

    async def passages() -> None:
        assert await graph.search.nearest_episodes(next(queries), EpisodeFilter(group_ids=groups), LIMIT)

    return {"nodes": nodes, "facts": facts, "passages": passages}


def _cold_start(directory: Path, size: int) -> Figure:
    """From the start of the process to the first answer, which has to read the vectors from the file."""
    begun = perf_counter()
    with StdioServer([str(COMMAND), "serve", "--data-dir", str(directory)]) as server:
        server.initialize()
        assert server.call("search_memory_facts", query=_SEARCH, group_ids=[f"{PREFIX}0"])["facts"]
        taken = perf_counter() - begun
        server.close()
    what = f"cold start with {size:,} facts and as many passages, to the first answer of search_memory_facts"
    return Figure(f"{what}, against 20 s", _seconds(taken), "20 s", taken / 20, Target("<=", 1.0))


def _both(times: Times) -> str:
    return f"{ms(times.p50)} / {ms(_p95(times.milliseconds))}"


def _p95(milliseconds: Sequence[float]) -> float:
    return statistics.quantiles(milliseconds, n=20, method="inclusive")[-1]


def _seconds(value: float) -> str:
    return f"{value:.1f} s"
