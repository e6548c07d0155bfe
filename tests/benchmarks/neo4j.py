"""Connections of a hub and search by meaning, against Graphiti's own methods on the same records in Neo4j.

Ours are asked on Neo4j, and of the hub also in an embedded memory.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from time import perf_counter

from graphiti_core.driver.driver import GraphDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EpisodicNode
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.search.search_utils import edge_similarity_search, node_similarity_search
from mcp.client import Client
from tests.benchmarks.hub import EPISODE_PAGE, EPISODES, FACTS, PAGE, load_ours, make_hub
from tests.benchmarks.large_world import Vectors, load
from tests.benchmarks.measuring import Figure, Side, Target, Times, in_turn, ms
from tests.benchmarks.world import NUMPY, call, client_of, memory
from tests.neo4j_server import Neo4jServer

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter
from graphiti_pkm.settings.loader import Settings

HUB, QUICK_HUB = 10_000, 1_000
LARGE, QUICK_LARGE = 100_000, 8_000
ROUNDS, THEIR_ROUNDS, PROBES = 25, 3, 60
LIMIT, MIN_SCORE = 10, 0.6
PREFIX = "one-"
ONE = f"{PREFIX}0"
_HERE, _NEAR = "on Neo4j: ", "embedded: "
_POLL_SECONDS = 0.5


async def figures(*, quick: bool = False) -> list[Figure]:
    """Each on an empty server of its own, with a heap as production has it."""
    found: list[Figure] = []
    async with _on_neo4j() as opened:
        found += await _hub(opened, QUICK_HUB if quick else HUB)
    async with _on_neo4j() as opened:
        found += await _search(opened, QUICK_LARGE if quick else LARGE)
    return found


@asynccontextmanager
async def _on_neo4j() -> AsyncIterator[Memory]:
    with tempfile.TemporaryDirectory(prefix="pkm-neo4j-") as directory:
        server = Neo4jServer(Path(directory), heap="3g", java=[])
        await asyncio.to_thread(server.start)
        try:
            async with memory(
                neo4j_uri=server.uri, neo4j_username=server.username, neo4j_password=server.password
            ) as opened:
                yield opened
        finally:
            server.kill()


async def _stock(opened: Memory) -> GraphDriver:
    """Graphiti's own queries over our connections: without our searches, it sends its own."""
    driver = await opened.context.graph.driver()  # type: ignore[attr-defined]
    driver.search_interface = None
    return driver


async def _hub(opened: Memory, size: int) -> list[Figure]:
    hub = make_hub(size)
    await load_ours(opened, hub)
    driver = await _stock(opened)
    uuid = hub.centre.uuid

    async def their_facts() -> None:
        assert len((await EntityEdge.get_by_node_uuid(driver, uuid))[:PAGE]) == PAGE

    async def their_episodes() -> None:
        assert len((await EpisodicNode.get_by_entity_node_uuid(driver, uuid))[:EPISODE_PAGE]) == EPISODE_PAGE

    def our_facts(client: Client) -> Side:
        async def ask() -> None:
            assert (await call(client, FACTS, entity_uuid=uuid, max_connections=PAGE))["returned"] == PAGE

        return ask

    def our_episodes(client: Client) -> Side:
        async def ask() -> None:
            answer = await call(client, EPISODES, entity_uuid=uuid, max_episodes=EPISODE_PAGE)
            assert answer["returned"] == EPISODE_PAGE

        return ask

    async with client_of(opened) as client, memory() as embedded, client_of(embedded) as near:
        await load_ours(embedded, hub)
        facts, episodes = f"{FACTS} through MCP, {size:,} facts", f"{EPISODES} through MCP, {size // 5:,} episodes"
        return [
            *await _compared(f"{_HERE}{facts}", our_facts(client), their_facts, Target(">=", 100.0)),
            *await _compared(f"{_HERE}{episodes}", our_episodes(client), their_episodes, Target(">=", 20.0)),
            *await _compared(f"{_NEAR}{facts}", our_facts(near), their_facts, Target(">=", 100.0)),
            *await _compared(f"{_NEAR}{episodes}", our_episodes(near), their_episodes, Target(">=", 30.0)),
        ]


async def _search(opened: Memory, size: int) -> list[Figure]:
    graph = opened.context.graph
    vectors = await Vectors.of_the_journal(Settings(**NUMPY))
    await load(graph.writer.apply, vectors, size, PREFIX)
    begun = perf_counter()
    await graph.vectors.tend_vector_indexes()  # type: ignore[attr-defined]
    while any(index.percent < 100 for index in await graph.vectors.vector_indexes()):  # noqa: ASYNC110 nothing tells of it
        await asyncio.sleep(_POLL_SECONDS)
    built = perf_counter() - begun
    await graph.vectors.detect_vector_indexes()  # type: ignore[attr-defined]
    driver = await _stock(opened)
    queries = cycle(vectors.draw(PROBES, seed=5))
    facts, entities = FactFilter(group_ids=(ONE,), now=datetime.now(UTC)), EntityFilter(group_ids=(ONE,))

    async def our_facts() -> None:
        assert await graph.search.nearest_facts(next(queries), facts, LIMIT)

    async def their_facts() -> None:
        query = list(next(queries))
        assert await edge_similarity_search(driver, query, None, None, SearchFilters(), [ONE], LIMIT, MIN_SCORE)

    async def our_nodes() -> None:
        assert await graph.search.nearest_entities(next(queries), entities, LIMIT)

    async def their_nodes() -> None:
        assert await node_similarity_search(driver, list(next(queries)), SearchFilters(), [ONE], LIMIT, MIN_SCORE)

    what = f"by meaning, {size:,} in one group"
    return [
        *await _compared(f"{_HERE}search of facts {what}", our_facts, their_facts, Target(">=", 10.0)),
        *await _compared(f"{_HERE}search of nodes {what}", our_nodes, their_nodes, Target(">=", 10.0)),
        Figure(
            f"{_HERE}vector indexes of {size:,} entities, facts and passages, ready after the last was written",
            f"{built:.0f} s",
        ),
    ]


async def _compared(what: str, ours: Side, theirs: Side, aim: Target | None) -> list[Figure]:
    """Ours before and after theirs, which may take many seconds."""
    before = await in_turn({"ours": ours}, ROUNDS)
    slow = (await in_turn({"theirs": theirs}, THEIR_ROUNDS, warm_up=1))["theirs"]
    after = await in_turn({"ours": ours}, ROUNDS)
    quick = Times(before["ours"].milliseconds + after["ours"].milliseconds)
    return [Figure(what, ms(quick.p50), ms(slow.p50), slow.p50 / quick.p50, aim)]
