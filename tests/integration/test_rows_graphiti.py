"""Graphiti's own code on the database of a whole memory: what it saves again, and what it stores and we read."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import pytest_asyncio
from graphiti_core.driver import record_parsers
from graphiti_core.driver.driver import GraphDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from tests.builders import GROUP, OTHER_GROUP, at, new_uuid
from tests.corpus import DJANGO, HUB, HUB_FACTS, WEEKS, hub, weeks
from tests.integration.rows_support import World, a_world, in_one_task
from tests.neo4j_server import Neo4jAddress, empty

from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.store import GraphStore

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(neo4j_server: Neo4jAddress) -> AsyncIterator[World]:
    empty(neo4j_server)
    address = {"neo4j_uri": neo4j_server.uri, "neo4j_username": neo4j_server.username}
    async with in_one_task(a_world(**address, neo4j_password=neo4j_server.password)) as world:
        yield world


@pytest.fixture
def store(world: World) -> GraphStore:
    graph = world.memory.context.graph
    assert isinstance(graph, GraphStore)
    return graph


@pytest_asyncio.fixture(loop_scope="module")
async def driver(store: GraphStore) -> AsyncIterator[GraphDriver]:
    driver = await store.driver()
    yield driver
    await driver.close()


async def properties(store: GraphStore, pattern: str) -> list[Row]:
    """Everything the database holds of some records."""
    text = f"MATCH {pattern} RETURN [k IN keys(r) | [k, r[k]]] AS pairs"
    (rows,) = await (await store.database()).read(Query("test", text, {}))
    return sorted((dict(row["pairs"]) for row in rows), key=lambda row: str(row.get("uuid", row.get("id"))))


def without(row: Row, names: set[str]) -> Row:
    return {name: row[name] for name in sorted(row) if name not in names}


async def test_rows_are_read_as_graphitis_own_parsers_read_them(
    world: World, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We read rows ourselves, in a half of the time; whatever Graphiti would read differently fails here."""
    for write in (*hub(), *weeks()):
        await store.writer.apply(write, {})
    rows: list[Row] = []
    database = (await store.database())._inner  # type: ignore[attr-defined]
    attempt = database.attempt

    async def spied(*queries: Query, **options: Any) -> list[list[Row]]:
        answers = await attempt(*queries, **options)
        rows.extend(row for answer in answers for row in answer)
        return answers

    monkeypatch.setattr(database, "attempt", spied)
    await world.call("get_entity_connections", entity_uuid=HUB, group_ids=[GROUP, OTHER_GROUP], max_connections=200)
    await world.call("get_entity_timeline", entity_uuid=DJANGO, max_episodes=100)
    await world.call("search_nodes", names=["HUB", "Django project"], group_ids=GROUP)
    compared = {"fact": 0, "content": 0, "summary": 0}
    for row in rows:
        if "fact" in row:
            edge = record_parsers.entity_edge_from_record({**row, "attributes": dict(row["attributes"])})
            fact = mapping.fact(row)
            assert (fact.uuid, fact.group_id, fact.relation, fact.text) == (
                *(edge.uuid, edge.group_id, edge.name, edge.fact),
            )
            assert (fact.source_uuid, fact.target_uuid) == (edge.source_node_uuid, edge.target_node_uuid)
            assert list(fact.episodes) == edge.episodes
            for name in ("created_at", "expired_at", "valid_at", "invalid_at", "reference_time"):
                assert getattr(fact, name) == getattr(edge, name)
            compared["fact"] += 1
        elif "content" in row:
            node = record_parsers.episodic_node_from_record({**row, "entity_edges": []})
            episode = mapping.episode(row)
            for name in ("uuid", "group_id", "name", "content", "source_description", "valid_at", "created_at"):
                assert getattr(episode, name) == getattr(node, name)
            assert episode.source == node.source.value
            compared["content"] += 1
        elif "summary" in row:
            found = record_parsers.entity_node_from_record({**row, "attributes": dict(row["attributes"])})
            entity = mapping.entity(row)
            for name in ("uuid", "group_id", "name", "summary", "created_at", "attributes"):
                assert getattr(entity, name) == getattr(found, name)
            assert [entity.label] == [label for label in found.labels if label != "Entity"]
            compared["summary"] += 1
    assert compared["fact"] >= HUB_FACTS
    assert compared["content"] >= WEEKS
    assert compared["summary"] >= 2


async def test_what_graphiti_saves_again_keeps_all_that_is_ours(
    world: World, store: GraphStore, driver: GraphDriver
) -> None:
    told = await world.call(
        "add_memory",
        episode_body="Sarah slept 6.5 hours. She works at Larkfield.",
        group_id="saved",
        entities=[{"name": "Sarah", "type": "Person", "aliases": ["Sally"]}],
        facts=[
            {"source": "Sarah", "relation": "WORKS_AT", "target": "Larkfield", "quote": "She works at Larkfield"},
            {"source": "Sarah", "relation": "SLEEPS", "kind": "reading", "measure": "sleep", "value": 6.5, "unit": "h"},
        ],
    )
    ours = (
        f"(r:Passage {{episode_uuid: '{told['episode_uuid']}'}})",
        "(r:Name {group_id: 'saved'})",
        f"(r:SearchText)-[:OF]->(:Episodic {{uuid: '{told['episode_uuid']}'}})",
        "(r:SearchText)-[:OF]->(:Entity {group_id: 'saved'})",
        "()-[r:RELATES_TO {group_id: 'saved'}]->()",
        "(r:Episodic {group_id: 'saved'})",
    )
    before = [await properties(store, pattern) for pattern in ours]
    assert all(before)
    facts = [await world.call("get_entity_edge", uuid=fact["uuid"]) for fact in told["facts"]]
    assert [fact["fact"]["value"] for fact in facts] == [None, "6.5"]

    episode = await EpisodicNode.get_by_uuid(driver, told["episode_uuid"])
    await episode.save(driver)
    for entity in told["entities"]:
        node = await EntityNode.get_by_uuid(driver, entity["uuid"])
        await node.load_name_embedding(driver)
        node.summary = f"Graphiti's summary of {node.name}."
        await node.save(driver)
    for fact in told["facts"]:
        edge = await EntityEdge.get_by_uuid(driver, fact["uuid"])
        await edge.load_fact_embedding(driver)
        await edge.save(driver)

    after = [await properties(store, pattern) for pattern in ours]
    # Graphiti names the ends of an edge otherwise; neither we nor it read them from there.
    ends = {"source_uuid", "target_uuid", "source_node_uuid", "target_node_uuid"}
    for kept, stored in zip(after, before, strict=True):
        assert [without(row, ends) for row in kept] == [without(row, ends) for row in stored]
    assert [await world.call("get_entity_edge", uuid=fact["uuid"]) for fact in told["facts"]] == facts
    (sarah,) = (await world.call("search_nodes", names=["Sally"], group_ids="saved"))["nodes"]
    assert (sarah["name"], sarah["aliases"], sarah["labels"]) == ("Sarah", ["Sally"], ["Entity", "Person"])
    assert sarah["summary"] == "Graphiti's summary of Sarah."
    (found,) = (await world.call("search_episodes", query="where is she employed", group_ids="saved"))["episodes"]
    assert found["match"] == "She works at Larkfield."


async def test_facts_without_in_other_zones_and_with_equal_starts_have_one_stable_order(
    world: World, driver: GraphDriver
) -> None:
    """Graphiti stores what it is given; pages of one show the order that the database makes of it."""
    centre, other = (
        EntityNode(name=name, group_id="order", labels=[], summary="", created_at=at(2025), name_embedding=[1.0] * 384)
        for name in ("Centre", "Other")
    )
    for node in (centre, other):
        await node.save(driver)
    uuids = sorted(new_uuid() for _ in range(3))
    march = datetime(2025, 3, 1, tzinfo=UTC)
    east = timezone(timedelta(hours=5))
    expected = [
        ("an hour later, in another zone", march.astimezone(east) + timedelta(hours=1), at(2025), new_uuid()),
        ("March, recorded last", march, at(2025, 4), new_uuid()),
        *((f"March, namesake {i}", march, at(2025, 3), uuids[i]) for i in range(3)),
        ("an hour earlier", march - timedelta(hours=1), at(2025), new_uuid()),
        ("unknown start, recorded last", None, at(2025, 2), new_uuid()),
        ("unknown start", None, at(2025), new_uuid()),
    ]
    for text, valid_at, created_at, uuid in reversed(expected):
        edge = EntityEdge(
            uuid=uuid,
            source_node_uuid=centre.uuid,
            target_node_uuid=other.uuid,
            group_id="order",
            name="KNOWS",
            fact=text,
            fact_embedding=[1.0] * 384,
            created_at=created_at,
            valid_at=valid_at,
        )
        await edge.save(driver)
    seen: list[str] = []
    cursor = None
    asked = {"entity_uuid": centre.uuid, "group_ids": "order", "max_connections": 1}
    while True:
        page = await world.call("get_entity_connections", cursor=cursor, **asked)
        seen += [fact["fact"] for fact in page["facts"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert seen == [text for text, *_ in expected]


async def test_episodes_of_other_zones_stand_where_they_happened(world: World, driver: GraphDriver) -> None:
    moments = {
        "first": datetime(2025, 3, 1, 1, 0, tzinfo=timezone(timedelta(hours=2))),
        "second": datetime(2025, 2, 28, 23, 15, tzinfo=UTC),
        "third": datetime(2025, 2, 28, 23, 30, tzinfo=UTC),
        "fourth": datetime(2025, 2, 28, 20, 0, tzinfo=timezone(timedelta(hours=-5))),
    }
    for name, valid_at in reversed(moments.items()):
        episode = EpisodicNode(
            name=name,
            group_id="zones",
            source=EpisodeType.text,
            source_description="",
            content=name,
            valid_at=valid_at,
            created_at=at(2025, 4),
        )
        await episode.save(driver)
    page = await world.call("get_episodes", group_ids=["zones"])
    assert [episode["name"] for episode in page["episodes"]] == [*moments][::-1]
    assert {episode["valid_at"][-6:] for episode in page["episodes"]} == {"+00:00"}
