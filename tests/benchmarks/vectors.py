"""Search by meaning in small and large memories, and cold starts of a large one.

Against Graphiti's own scan, with its own driver, of the same records in the same database in the same run.
"""

import statistics
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import cycle
from pathlib import Path
from time import perf_counter

from falkordb.asyncio import FalkorDB
from graphiti_core.driver.driver import GraphProvider
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.graph_queries import get_vector_cosine_func_query
from graphiti_core.models.nodes.node_db_queries import get_entity_node_return_query
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.search.search_utils import edge_similarity_search, node_similarity_search
from tests.benchmarks.large_world import Vectors, load, regroup
from tests.benchmarks.measuring import Figure, ForgetTarget, Side, Times, in_turn, ms
from tests.benchmarks.startup import COMMAND
from tests.benchmarks.stdio import StdioServer
from tests.benchmarks.world import data_directory
from tests.integration.embedded_support import stopped

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.settings.loader import VECTOR_INDEX_THRESHOLD, Settings
from graphiti_pkm.storage.graph.embedded.embedded import EmbeddedDatabase
from graphiti_pkm.storage.graph.opening import OpenFalkor
from graphiti_pkm.storage.graph.store import GraphStore

SIZES = (1_000, 10_000, 100_000)
GROUPS = (20, 1_000)
TOGETHER, ROUNDS = 15, 25
SECONDS_EACH = 5
"""For Graphiti's side of one figure, which may take seconds a search."""
PROBES = 60
LIMIT = 10
MIN_SCORE = 0.6
"""Graphiti's default."""
ONE = "one-0"
KINDS = ("nodes", "facts", "passages")
_SEARCH = "Who works on the harbour project?"
_NO_INDEX = 10**9
_PASSAGE_SCAN = f"""MATCH (n:Passage) WHERE n.group_id IN $group_ids
  WITH n, {get_vector_cosine_func_query("n.embedding", "$search_vector", GraphProvider.FALKORDB)} AS score
  WHERE score > $min_score
  RETURN {get_entity_node_return_query(GraphProvider.FALKORDB)} ORDER BY score DESC LIMIT $limit"""
"""Graphiti's scan of entities, over passages: it has no search of those."""


@dataclass(frozen=True)
class Searched:
    """One memory with both ways of searching it."""

    store: GraphStore
    ours: FalkorDriver
    graphiti: FalkorDriver
    vectors: Vectors


async def figures(sizes: Sequence[int] = SIZES, groups: Sequence[int] = GROUPS) -> list[Figure]:
    """The largest size is searched in many groups, in one, and then again from cold starts."""
    found: list[Figure] = []
    largest = sizes[-1]
    threshold = min(VECTOR_INDEX_THRESHOLD, largest // 2)
    async with data_directory() as directory:
        settings = Settings(data_dir=directory, idle_seconds=2, vector_index_threshold=threshold)
        vectors = await Vectors.of_the_journal(settings)
        database = EmbeddedDatabase(directory, settings.idle_seconds)
        for size in sizes[:-1]:
            async with _searched(database, f"of_{size}", vectors, threshold) as searched:
                await load(searched.store, vectors, size, ONE)
                found += await _compared(searched, ONE, f"{size:,} in one group", None)
        async with _searched(database, "memory", vectors, threshold) as searched:
            await load(searched.store, vectors, largest, ONE)
            for number in groups:
                await regroup(searched.store, f"of-{number}-", number)
                what = f"{largest:,} in {number:,} groups, in one of them"
                found += await _compared(searched, f"of-{number}-7", what, ForgetTarget(">=", 1.0))
            await regroup(searched.store, ONE[:-1], 1)
            found += await _built(searched, largest)
            found += await _compared(searched, ONE, f"{largest:,} in one group", ForgetTarget(">=", 10.0))
            found += await _recalled(searched, largest)
        database.release()
        await stopped(directory)
        found += await _cold_starts(directory, threshold, largest)
    return found


@asynccontextmanager
async def _searched(
    database: EmbeddedDatabase, graph: str, vectors: Vectors, threshold: int
) -> AsyncIterator[Searched]:
    store = GraphStore(OpenFalkor(database.acquire, database.recover, graph), threshold)
    model = LocalEmbedder(Settings())
    await store.embeddings.record_embedding(model.model, model.dimension)
    client = FalkorDB(unix_socket_path=str(await database.acquire()))  # type: ignore[no-untyped-call]
    stock = FalkorDriver(falkor_db=client, database=graph)
    if stock._init_task is not None:  # its own indexes are ours but for full text, which no search here asks
        stock._init_task.cancel()
    ours = await store.driver()
    try:
        yield Searched(store, ours, stock, vectors)
    finally:
        await ours.close()
        await client.aclose()
        await store.close()
        await model.close()


async def _compared(searched: Searched, group: str, what: str, aim: ForgetTarget | None) -> list[Figure]:
    """Each search with a query of its own; the same calls of Graphiti's with our driver and with its own."""
    await searched.store.vectors.detect_vector_indexes()
    found = []
    for kind, (ours, theirs) in _sides(searched, group).items():
        begun = perf_counter()
        await theirs()
        rounds = max(2, min(TOGETHER, int(SECONDS_EACH / (perf_counter() - begun))))
        taken = await in_turn({"ours": ours, "theirs": theirs}, rounds, warm_up=0)
        alone = await in_turn({"ours": ours}, ROUNDS)  # theirs may take seconds
        quick = Times(taken["ours"].milliseconds + alone["ours"].milliseconds)
        label = f"search of {kind} by meaning, {what}, p50 / p95"
        ratio = taken["theirs"].p50 / quick.p50
        found.append(Figure(label, _both(quick), _both(taken["theirs"]), ratio, aim))
    return found


def _sides(searched: Searched, group: str) -> dict[str, tuple[Side, Side]]:
    queries = cycle(searched.vectors.draw(PROBES, seed=-1 % 2**32))

    async def nodes(driver: FalkorDriver) -> None:
        found = await node_similarity_search(driver, list(next(queries)), SearchFilters(), [group], LIMIT, MIN_SCORE)
        assert found

    async def facts(driver: FalkorDriver) -> None:
        query = list(next(queries))
        found = await edge_similarity_search(driver, query, None, None, SearchFilters(), [group], LIMIT, MIN_SCORE)
        assert found

    async def our_passages() -> None:
        wanted = EpisodeFilter(group_ids=(group,))
        assert await searched.store.search.nearest_episodes(next(queries), wanted, LIMIT)

    async def their_passages() -> None:
        values = {"group_ids": [group], "search_vector": list(next(queries)), "min_score": MIN_SCORE, "limit": LIMIT}
        found, _, _ = await searched.graphiti.execute_query(_PASSAGE_SCAN, **values)
        assert found

    return {
        "nodes": (partial(nodes, searched.ours), partial(nodes, searched.graphiti)),
        "facts": (partial(facts, searched.ours), partial(facts, searched.graphiti)),
        "passages": (our_passages, their_passages),
    }


async def _built(searched: Searched, size: int) -> list[Figure]:
    """The indexes of the large group, and what searches and writes wait meanwhile."""
    begun = perf_counter()
    await searched.store.vectors.tend_vector_indexes()
    queries = cycle(searched.vectors.draw(PROBES, seed=5))
    wanted = FactFilter(group_ids=(ONE,), now=datetime.now(UTC))
    searches, writes = [], []
    while not await _is_complete(searched.store):
        between = perf_counter()
        assert await searched.store.search.nearest_facts(next(queries), wanted, LIMIT)
        searches.append(1000 * (perf_counter() - between))
        between = perf_counter()
        await searched.store.embeddings.record_embedding("", 0)  # a write that changes nothing
        writes.append(1000 * (perf_counter() - between))
    what = f"indexes of {size:,} entities, facts and passages"
    return [
        Figure(f"{what}, built in the background", f"{perf_counter() - begun:.0f} s"),
        Figure(f"{what}, longest search meanwhile", ms(max(searches, default=0))),
        Figure(f"{what}, longest write meanwhile", ms(max(writes, default=0))),
    ]


async def _is_complete(store: GraphStore) -> bool:
    found = await store.vectors.vector_indexes()
    return len(found) == len(KINDS) and all(index.percent == 100 for index in found)


async def _recalled(searched: Searched, size: int) -> list[Figure]:
    """Of the ten nearest by an exact scan, how many the index finds."""
    exact = GraphStore(searched.store._opened.open_database)
    queries = searched.vectors.draw(PROBES, seed=9)
    now = datetime.now(UTC)
    entities, facts, episodes = (
        EntityFilter(group_ids=(ONE,)),
        FactFilter(group_ids=(ONE,), now=now),
        EpisodeFilter(group_ids=(ONE,)),
    )
    hits = dict.fromkeys(KINDS, 0)
    for query in queries:
        for kind, one, other in (
            ("nodes", searched.store.search.nearest_entities, exact.search.nearest_entities),
            ("facts", searched.store.search.nearest_facts, exact.search.nearest_facts),
        ):
            wanted = entities if kind == "nodes" else facts
            hits[kind] += len({*await one(query, wanted, LIMIT)} & {*await other(query, wanted, LIMIT)})  # type: ignore[operator]
        near = await searched.store.search.nearest_episodes(query, episodes, LIMIT)
        hits["passages"] += len({*near} & {*await exact.search.nearest_episodes(query, episodes, LIMIT)})
    await exact.close()
    return [
        Figure(
            f"search of {kind} by meaning, {size:,} in one group, recall@{LIMIT}",
            f"{count / (LIMIT * PROBES):.3f}",
            "an exact scan",
            count / (LIMIT * PROBES),
            ForgetTarget(">=", 0.97),
        )
        for kind, count in hits.items()
    ]


async def _cold_starts(directory: Path, threshold: int, size: int) -> list[Figure]:
    """From the start of the process to the first answer, after the stop in order that drops the indexes."""
    what = f"cold start with {size:,} facts and as many passages, to the first answer of search_memory_facts"
    with_them = await _first_answer(directory, threshold)
    without = await _first_answer(directory, _NO_INDEX)
    return [
        Figure(f"{what}, against 20 s", _seconds(with_them), "20 s", with_them / 20, ForgetTarget("<=", 1.0)),
        Figure(f"{what}, against no vector indexes", _seconds(with_them), _seconds(without), with_them / without),
    ]


async def _first_answer(directory: Path, threshold: int) -> float:
    """Seconds."""
    begun = perf_counter()
    command = [str(COMMAND), "serve", "--data-dir", str(directory), "--idle-seconds", "2"]
    with StdioServer([*command, "--vector-index-threshold", str(threshold)]) as server:
        server.initialize()
        assert server.call("search_memory_facts", query=_SEARCH, group_ids=[ONE])["facts"]
        taken = perf_counter() - begun
        server.close()
    await stopped(directory)
    return taken


def _both(times: Times) -> str:
    return f"{ms(times.p50)} / {ms(statistics.quantiles(times.milliseconds, n=20, method='inclusive')[-1])}"


def _seconds(value: float) -> str:
    return f"{value:.1f} s"
