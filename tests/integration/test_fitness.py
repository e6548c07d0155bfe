"""Fitness in a real data directory and on Neo4j: use lifts what fits, and the numbers are those of the formula."""

import asyncio
import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.requests import AdjustBias, MarkUseful
from graphiti_pkm.capabilities.curation.tools import FITNESS
from graphiti_pkm.capabilities.explore.requests import GetEntityConnections
from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.capabilities.forget.requests import Forget
from graphiti_pkm.capabilities.forget.tools import FORGETTING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.capabilities.search.tools import SEARCHING
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.answers import NodeSearchResponse
from graphiti_pkm.core.model.fitness import Fitness
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph

pytestmark = pytest.mark.timeout(240)

THINGS = {
    "PostgreSQL database": "Relational database of invoices and customers.",
    "Redis cache": "Keeps sessions and rate limits in memory.",
    "Grafana dashboards": "Shows metrics to the people on call.",
    "Invoice parser": "Reads invoices of suppliers.",
    "Mail gateway": "Sends mails to customers.",
    "Login service": "Checks passwords of people who log in.",
    "Backup job": "Copies the database every night.",
    "Search index": "Full text of all documents.",
}
USEFUL = "PostgreSQL database"
CLOSE = ("PostgreSQL", "the PostgreSQL database", "postgres database", "PostgreSQL db")
LOOSE = ("nightly work of machines", "where do files go", "copy of things", "something at night", "a job for later")
AGENTS = [Caller(principal="team", tier="reader", read_only=True, token=f"{place:08x}") for place in range(20)]
OWNER = Caller(principal="team", tier="curator", token="ffffffff")  # noqa: S106 the id of a token


async def add(
    memory: Memory, things: dict[str, str], caller: Caller = OWNER, body: str = "Our systems."
) -> dict[str, str]:
    """By name their uuids."""
    named = [{"name": name, "type": "Tool", "summary": text} for name, text in things.items()]
    request = AddMemory.model_validate({"episode_body": body, "entities": named})
    stored = await memory.services[WRITING].add_memory(caller, request)
    return {one.name: one.uuid for one in stored.entities}


async def search(memory: Memory, query: str, caller: Caller = OWNER, limit: int = 8) -> NodeSearchResponse:
    return await memory.services[SEARCHING].search_nodes(caller, SearchNodes(query=query, max_nodes=limit))


async def fitness(memory: Memory, uuids: dict[str, str], group: str) -> dict[str, Fitness]:
    found = await memory.usage.fitness(list(uuids.values()), [group])
    return {name: found.get(uuid, Fitness()) for name, uuid in uuids.items()}


async def group_of(memory: Memory, uuid: str) -> str:
    groups = await memory.context.graph.records.groups()
    return (await memory.context.graph.records.get_entities([uuid], groups))[0].group_id


async def test_what_fits_rises_above_what_is_only_returned_often_and_a_new_thing_is_found(tmp_path: Path) -> None:
    rng = random.Random(17)  # noqa: S311 a seed
    async with open_memory(Settings(data_dir=tmp_path, fitness="boost")) as memory:
        uuids = await add(memory, THINGS)
        group = await group_of(memory, uuids[USEFUL])
        before = dump(tmp_path)
        writes = await memory.journal.counts()
        for turn in range(300):
            agent = AGENTS[turn % len(AGENTS)]
            query = rng.choice(CLOSE) if turn % 3 == 0 else rng.choice(LOOSE)
            await search(memory, query, agent, 3)
        await memory.usage.flush()
        found = await fitness(memory, uuids, group)
        often = max(found, key=lambda name: found[name].hits if name != USEFUL else 0)
        assert found[often].hits > found[USEFUL].hits > 0
        assert found[USEFUL].final_score > found[often].final_score
        answer = await search(memory, "database", AGENTS[0])
        assert answer.nodes[0].uuid == uuids[USEFUL]
        new = await add(memory, {"Kafka broker": "Passes events between the services."}, body="A new one.")
        fresh = await search(memory, "broker of events", AGENTS[1], 3)
        assert new["Kafka broker"] in [node.uuid for node in fresh.nodes]
        after = dump(tmp_path)
        assert {name for name in before.tables if not before.tables[name].items() <= after.tables[name].items()} <= {
            "groups"
        }
        assert (await memory.journal.counts())["applied"] == writes["applied"] + 1


async def test_the_connections_that_read_cannot_write(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await add(memory, THINGS)
        graph = memory.context.graph
        assert isinstance(graph, SqliteGraph)
        file = graph._opened.file
        for text in ("DELETE FROM usage", "UPDATE entity SET name = ''", "CREATE TABLE mine (a)"):
            with pytest.raises(ConfigurationError):
                await file.read(lambda db, text=text: db.execute(text))


async def test_every_hit_of_two_servers_with_twenty_agents_is_counted_once(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    async with open_memory(settings) as one, open_memory(settings) as other:
        uuids = await add(one, THINGS)
        group = await group_of(one, uuids[USEFUL])

        async def work(memory: Memory, agent: Caller, place: int) -> list[str]:
            rng = random.Random(place)  # noqa: S311 a seed
            answers = [await search(memory, rng.choice((*CLOSE, *LOOSE)), agent, 3) for _ in range(15)]
            return [node.uuid for answer in answers for node in answer.nodes]

        both = (one, other)
        told = await asyncio.gather(*(work(both[place % 2], agent, place) for place, agent in enumerate(AGENTS)))
        await asyncio.gather(one.usage.flush(), other.usage.flush())
        returned = Counter(uuid for uuids_of in told for uuid in uuids_of)
        found = await fitness(other, uuids, group)
        assert {name: one.hits for name, one in found.items()} == {name: returned[uuid] for name, uuid in uuids.items()}
        assert returned.total() > 300


async def test_what_waits_is_written_at_the_end_and_read_by_the_next_process(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await add(memory, THINGS)
        group = await group_of(memory, uuids[USEFUL])
        for _ in range(5):
            await search(memory, "PostgreSQL database", AGENTS[0], 1)
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        assert (await fitness(memory, uuids, group))[USEFUL].hits == 5


async def test_counters_and_biases_outlive_a_rebuild_and_a_restore(tmp_path: Path) -> None:
    backup = tmp_path / "backup.sqlite3"
    async with open_memory(Settings(data_dir=tmp_path / "one")) as memory:
        uuids = await add(memory, THINGS, LOCAL)
        group = await group_of(memory, uuids[USEFUL])
        request = AdjustBias(entity_uuid=uuids[USEFUL], bias=0.25, reason="The main one.")
        await memory.services[FITNESS].adjust_bias(LOCAL, request)
        for _ in range(3):
            await search(memory, "database", LOCAL)
        await memory.usage.flush()
        known, before = await fitness(memory, uuids, group), dump(tmp_path / "one")
        assert known[USEFUL].hits == 3
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path / "one")) == []
        assert await fitness(memory, uuids, group) == known
        await memory.journal.backup(backup)
    async with open_memory(Settings(data_dir=tmp_path / "two")) as memory:
        await memory.recovery.rebuilding.restore_backup(backup, lambda _done, _total: None)
        assert await fitness(memory, uuids, group) == known


async def test_a_forgotten_name_leaves_the_reason_of_a_bias_and_its_counters_go(tmp_path: Path) -> None:
    hidden = "Zephyrin-Quolltext"
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await add(memory, THINGS, LOCAL) | await add(memory, {hidden: ""}, LOCAL, f"{hidden} came.")
        request = AdjustBias(entity_uuid=uuids[USEFUL], bias=0.5, reason=f"{hidden} said so.")
        await memory.services[FITNESS].adjust_bias(LOCAL, request)
        await search(memory, hidden, LOCAL)
        await memory.usage.flush()
        group = await group_of(memory, uuids[hidden])
        assert (await fitness(memory, uuids, group))[hidden].hits == 1
        asked = {"entity_uuid": uuids[hidden]}
        preview = await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate(asked))
        await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate({**asked, "confirm": preview.confirm}))
        left = await fitness(memory, uuids, group)
        assert (left[hidden], left[USEFUL].bias) == (Fitness(), 0.5)
    assert files_with(tmp_path, hidden) == []
    with sqlite3.connect(tmp_path / "memory.sqlite3") as db:
        assert db.execute("SELECT count(*) FROM usage WHERE uuid = ?", (uuids[hidden],)).fetchone() == (0,)


async def test_facts_are_counted_when_connections_return_them(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        told = [{"source": "Ann", "relation": "OWNS", "target": "Redis"}]
        request = AddMemory.model_validate({"episode_body": "Ann owns Redis.", "facts": told})
        stored = await memory.services[WRITING].add_memory(LOCAL, request)
        ann, fact = next(one.uuid for one in stored.entities if one.name == "Ann"), stored.facts[0].uuid
        for _ in range(3):
            await memory.services[EXPLORING].get_entity_connections(LOCAL, GetEntityConnections(entity_uuid=ann))
        answer = await memory.services[FITNESS].mark_useful(LOCAL, MarkUseful(fact_uuid=fact))
        assert (answer.traversal_count, answer.useful_count, answer.fitness) == (3, 1, 0.333)


# The document's own Cypher: its batched flush, and its boost of a search.
FLUSH = """UNWIND $updates AS update MATCH (c:Concept {concept_id: update.concept_id})
WITH c, update, 2 * vector.similarity.cosine(c.embedding, update.query) - 1 AS cosine
WITH c, count(*) AS hits, sum(CASE WHEN cosine < 0 THEN 0.0 ELSE cosine END) AS relevance
SET c.query_count = coalesce(c.query_count, 0) + hits, c.relevance_sum = coalesce(c.relevance_sum, 0.0) + relevance
SET c.fitness_score = c.relevance_sum / c.query_count
SET c.final_score = c.fitness_score + coalesce(c.manual_bias, 0.0)"""
BOOST = """UNWIND $hits AS hit MATCH (c:Concept {concept_id: hit.concept_id})
WITH c, hit.score AS score, hit.score * (1 + coalesce(c.final_score, 0)) AS boosted
RETURN c.concept_id AS uuid, boosted, c.query_count AS query_count ORDER BY boosted DESC, score DESC"""


async def test_numbers_and_order_are_those_of_the_documents_cypher_run_beside_it(
    tmp_path: Path, neo4j_server: Neo4jAddress
) -> None:
    empty(neo4j_server)
    settings = Settings(data_dir=tmp_path, fitness="boost", **neo4j_server.product_settings())
    login = (neo4j_server.username, neo4j_server.password)
    async with open_memory(settings) as memory:
        with GraphDatabase.driver(neo4j_server.uri, auth=login) as driver:
            uuids = await add(memory, THINGS, LOCAL)
            group = await group_of(memory, uuids[USEFUL])
            request = AdjustBias(entity_uuid=uuids["Backup job"], bias=-0.4, reason="Old.")
            await memory.services[FITNESS].adjust_bias(LOCAL, request)
            driver.execute_query(
                """MATCH (n:Entity) CREATE (c:Concept {concept_id: n.uuid, embedding: n.name_embedding})
                WITH n, c MATCH (q:QualityRecord {uuid: n.uuid}) SET c.manual_bias = q.bias"""
            )
            updates: list[dict[str, Any]] = []
            for query in (*CLOSE, *LOOSE, *CLOSE):
                answer = await search(memory, query, LOCAL, 4)
                (vector,) = await memory.context.embedder.embed([query])
                updates += [{"concept_id": one.uuid, "query": vector.tolist()} for one in answer.nodes]
            await memory.usage.flush()
            driver.execute_query(FLUSH, updates=updates)
            theirs = {
                row["uuid"]: row
                for row in driver.execute_query(
                    """MATCH (c:Concept) WHERE c.query_count > 0 RETURN c.concept_id AS uuid, c.query_count AS hits,
                    c.relevance_sum AS relevance, c.fitness_score AS score, c.final_score AS final"""
                ).records
            }
            ours = await memory.usage.fitness(list(uuids.values()), [group])
            assert {uuid for uuid, one in ours.items() if one.hits} == theirs.keys()
            for uuid, row in theirs.items():
                one = ours[uuid]
                assert (one.hits, one.relevance, one.score, one.final_score) == pytest.approx(
                    (row["hits"], row["relevance"], row["score"], row["final"]), abs=1e-5
                )
            for query in ("nightly copy of the database", "invoices", "people on call at night"):
                answer = await search(memory, query, LOCAL, 8)
                hits = [{"concept_id": one.uuid, "score": one.score} for one in answer.nodes]
                rows = driver.execute_query(BOOST, hits=hits).records
                assert [one.uuid for one in answer.nodes] == [row["uuid"] for row in rows]
                for one, row in zip(answer.nodes, rows, strict=True):
                    assert one.boosted_score == pytest.approx(row["boosted"], abs=2e-3)
                    assert one.query_count == (row["query_count"] or 0)
            await memory.usage.flush()
            before = await memory.usage.fitness(list(uuids.values()), [group])
            await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
            await memory.usage.flush()
            after = await memory.usage.fitness(list(uuids.values()), [group])
            assert after == before
            (nodes,) = driver.execute_query(
                "MATCH (m:MetricsRecord) RETURN count(m) AS nodes, count(DISTINCT m.uuid) AS records"
            ).records
            assert nodes["nodes"] == nodes["records"] > 0
