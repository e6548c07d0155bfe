"""The real database under the real services: what is fetched, what stays beside Graphiti's data, what order holds."""

import logging
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import pytest_asyncio
from graphiti_core.driver import record_parsers
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_name, a_write, an_entity, at, new_uuid
from tests.corpus import DJANGO, HUB, HUB_FACTS, HUB_FACTS_IN_OWN_GROUP, WEEKS, embeddings, hub, weeks
from tests.falkor import falkor_database
from tests.integration.rows_support import Spy, World, a_world, in_one_task
from tests.protocol.support import error_of
from tests.requirements import requirement

from graphiti_pkm.errors import WriteFailed
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.falkordb.driver import OneGraphDriver
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.store import GraphStore

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = "X]->() DELETE n // \"'`}) DETACH DELETE n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world()) as world:
        committer = Committer(world.memory.context)
        for write in (*hub(), *weeks()):
            await committer.commit(write, await embeddings(write, world.memory.context.embedder))
        yield world


@pytest.fixture
def store(world: World) -> GraphStore:
    graph = world.memory.context.graph
    assert isinstance(graph, GraphStore)
    return graph


@pytest_asyncio.fixture(loop_scope="module")
async def spy(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> Spy:
    return Spy(await falkor_database(store), monkeypatch)


@pytest_asyncio.fixture(loop_scope="module")
async def driver(store: GraphStore) -> AsyncIterator[OneGraphDriver]:
    driver = await store.driver()
    yield driver
    await driver.close()


async def properties(store: GraphStore, pattern: str) -> list[Row]:
    """Everything the database holds of some records, vectors left out."""
    (rows,) = await (await store.database()).read(
        Query(
            "test",
            f"MATCH {pattern} RETURN [k IN keys(r) WHERE typeOf(r[k]) <> 'Vectorf32' | [k, r[k]]] AS pairs",
            {},
        )
    )
    return sorted((dict(row["pairs"]) for row in rows), key=lambda row: str(row.get("uuid", row.get("id"))))


def without(row: Row, names: set[str]) -> Row:
    return {name: row[name] for name in sorted(row) if name not in names}


async def vectors(store: GraphStore, pattern: str, name: str) -> list[list[float]]:
    """The embeddings of some records, in the database's own text form."""
    text = f"MATCH {pattern} WHERE r.{name} IS NOT NULL RETURN r.{name}"
    database = await falkor_database(store)
    _, found, _ = await database.command("GRAPH.RO_QUERY", database.name, text)
    return [[float(number) for number in cell.strip("<>").split(",")] for (cell,) in found]


def holds_vector(value: Any) -> bool:
    """Whether a list of numbers stands anywhere in a value."""
    if isinstance(value, dict):
        return any("embedding" in key or holds_vector(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return (len(value) > 1 and all(isinstance(item, float) for item in value)) or any(map(holds_vector, value))
    return False


@requirement("G-18", "T15")
@pytest.mark.parametrize("limit", [1, 20, 50])
async def test_a_page_of_facts_is_all_that_is_fetched_of_a_hub(world: World, spy: Spy, limit: int) -> None:
    """One more than asked for tells that there is a next page."""
    page = await world.call("get_entity_connections", entity_uuid=HUB, max_connections=limit)
    assert (page["total"], page["returned"]) == (HUB_FACTS_IN_OWN_GROUP, limit)
    assert spy.rows_with("fact") == limit + 1
    assert not holds_vector([dict(row) for _, rows in spy.sent for row in rows])


@requirement("T15")
@pytest.mark.parametrize("limit", [1, 10])
async def test_a_page_of_episodes_is_all_that_is_fetched_of_a_timeline(world: World, spy: Spy, limit: int) -> None:
    page = await world.call("get_entity_timeline", entity_uuid=DJANGO, max_episodes=limit)
    assert (page["total"], page["returned"]) == (WEEKS, limit)
    assert spy.rows_with("content") == limit + 1
    assert not holds_vector([dict(row) for _, rows in spy.sent for row in rows])


async def test_rows_are_read_as_graphitis_own_parsers_read_them(world: World, spy: Spy) -> None:
    """We read rows ourselves, in a half of the time; whatever Graphiti would read differently fails here."""
    await world.call("get_entity_connections", entity_uuid=HUB, group_ids=[GROUP, OTHER_GROUP], max_connections=200)
    await world.call("get_entity_timeline", entity_uuid=DJANGO, max_episodes=100)
    await world.call("search_nodes", names=["HUB", "Django project"], group_ids=GROUP)
    compared = {"fact": 0, "content": 0, "summary": 0}
    for row in (row for _, rows in spy.sent for row in rows):
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


@requirement("M-08")
async def test_vectors_are_stored_in_the_models_dimension_and_no_read_answers_one(
    world: World, store: GraphStore
) -> None:
    dimension = world.memory.context.embedder.dimension
    told = await world.call(
        "add_memory",
        episode_body="Ottilie repairs clocks. She learned it in Basel.",
        facts=[{"source": "Ottilie", "relation": "LEARNED_IN", "target": "Basel"}],
    )
    for pattern, name, least in (
        (f"(r:Passage {{episode_uuid: '{told['episode_uuid']}'}})", "embedding", 2),
        ("(r:Entity {group_id: 'default'})", "name_embedding", 2),
        ("()-[r:RELATES_TO {group_id: 'default'}]->()", "fact_embedding", 1),
        ("(r:Passage)", "embedding", 2 * WEEKS),
    ):
        lengths = [len(vector) for vector in await vectors(store, pattern, name)]
        assert len(lengths) >= least
        assert set(lengths) == {dimension}
    assert await store.embeddings.embedding() == (world.memory.context.embedder.model, dimension)

    ottilie = told["entities"][0]["uuid"]
    for tool, arguments in (
        ("search_nodes", {"query": "Ottilie"}),
        ("search_memory_facts", {"query": "where she learned"}),
        ("search_episodes", {"query": "clocks"}),
        ("get_entity_connections", {"entity_uuid": ottilie}),
        ("get_entity_timeline", {"entity_uuid": ottilie}),
        ("get_episodes", {"episode_uuids": [told["episode_uuid"]]}),
        ("get_episode_entities", {"episode_uuids": [told["episode_uuid"]]}),
        ("get_entity_edge", {"uuid": told["facts"][0]["uuid"]}),
        ("get_status", {}),
    ):
        answer = await world.call(tool, **arguments)
        assert answer.get("returned") != 0
        assert not holds_vector(answer)


@requirement("T27")
async def test_what_graphiti_saves_again_keeps_all_that_is_ours(
    world: World, store: GraphStore, driver: OneGraphDriver
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
    passages = await vectors(store, ours[0], "embedding")
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
    assert await vectors(store, ours[0], "embedding") == passages
    assert [await world.call("get_entity_edge", uuid=fact["uuid"]) for fact in told["facts"]] == facts
    (sarah,) = (await world.call("search_nodes", names=["Sally"], group_ids="saved"))["nodes"]
    assert (sarah["name"], sarah["aliases"], sarah["labels"]) == ("Sarah", ["Sally"], ["Entity", "Person"])
    assert sarah["summary"] == "Graphiti's summary of Sarah."
    (found,) = (await world.call("search_episodes", query="where is she employed", group_ids="saved"))["episodes"]
    assert found["match"] == "She works at Larkfield."


@requirement("T10")
async def test_hostile_names_are_stored_as_data(store: GraphStore, spy: Spy) -> None:
    source, target = an_entity(HOSTILE, group_id="hostile"), an_entity("Target", group_id="hostile")
    fact = a_fact(source, target, HOSTILE, measure=HOSTILE, kind="reading", attributes={"note": HOSTILE})
    held = await world_size(store)
    await store.writer.apply(a_write(source, target, a_name(source), fact), {})
    assert await store.records.get_facts([fact.uuid], ["hostile"]) == [fact]
    assert await store.facts.relations("hostile", 10) == {HOSTILE: 1}
    assert await world_size(store) == (held[0] + 2, held[1] + 1)
    assert not [query.name for query, _ in spy.sent if HOSTILE[:17] in query.text]


@requirement("T10")
@pytest.mark.parametrize("label", [HOSTILE, "Person:Admin", "a`b", "Person) DETACH DELETE (n", "two words", "é", ""])
async def test_a_type_that_is_no_plain_word_never_becomes_part_of_a_query(store: GraphStore, label: str) -> None:
    held = await world_size(store)
    entity = an_entity("Mallory", group_id="hostile", label=label)
    with pytest.raises(WriteFailed, match="Nothing was stored"):
        await store.writer.apply(a_write(entity, a_name(entity)), {})
    assert await world_size(store) == held


@requirement("T10")
async def test_hostile_words_in_every_argument_of_a_tool_harm_nothing(
    world: World, store: GraphStore, spy: Spy
) -> None:
    held = await world_size(store)
    told = await world.call(
        "add_memory",
        episode_body=HOSTILE,
        name=HOSTILE,
        group_id="told",
        source_description=HOSTILE,
        entities=[{"name": HOSTILE, "type": HOSTILE, "summary": HOSTILE, "aliases": [f"{HOSTILE} 2"]}],
        facts=[{"source": HOSTILE, "relation": HOSTILE, "target": f"{HOSTILE} 3", "fact": HOSTILE, "quote": HOSTILE}],
    )
    (entity, *_) = told["entities"]
    asked = {"query": HOSTILE, "group_ids": "told"}
    nodes = await world.call("search_nodes", names=[HOSTILE], entity_types=[HOSTILE], **asked)
    facts = await world.call("search_memory_facts", **asked)
    related = await world.call("search_memory_facts", edge_types=[HOSTILE], **asked)
    episodes = await world.call("search_episodes", **asked)
    page = await world.call("get_entity_connections", entity_uuid=entity["uuid"], relation=HOSTILE)
    assert nodes["total"] == 0  # no entity has such a type
    assert [fact["fact"] for fact in page["facts"]] == [HOSTILE]
    assert re.fullmatch(r"[A-Z0-9_]+", page["facts"][0]["name"])
    assert {fact["uuid"] for fact in related["facts"]} == {page["facts"][0]["uuid"]}
    assert page["facts"][0]["uuid"] in {fact["uuid"] for fact in facts["facts"]}
    assert [episode["content"] for episode in episodes["episodes"]] == [HOSTILE]
    assert await world_size(store) > held
    assert not [query.name for query, _ in spy.sent if HOSTILE[:17] in query.text]


async def world_size(store: GraphStore) -> tuple[int, int]:
    """Entities and facts in the whole database."""
    sizes = (await store.records.group_sizes(await store.records.groups())).values()
    return sum(size.entities for size in sizes), sum(size.facts for size in sizes)


@requirement("T17")
async def test_facts_without_with_naive_and_with_equal_starts_have_one_stable_order(
    world: World, driver: OneGraphDriver
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
        *(
            (f"March, namesake {i}", march if i else march.replace(tzinfo=None), at(2025, 3), uuids[i])
            for i in range(3)
        ),
        ("an hour earlier, naive", march.replace(tzinfo=None) - timedelta(hours=1), at(2025), new_uuid()),
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


@requirement("T17")
async def test_episodes_of_other_zones_and_naive_ones_stand_where_they_happened(
    world: World, driver: OneGraphDriver
) -> None:
    moments = {
        "first": datetime(2025, 3, 1, 1, 0, tzinfo=timezone(timedelta(hours=2))),
        "second": datetime(2025, 2, 28, 23, 15),  # noqa: DTZ001 naive on purpose
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


@requirement("G-15", "G-30")
@pytest.mark.parametrize(
    ("tool", "prefix"),
    [
        ("get_entity_connections", "Error getting entity connections: "),
        ("get_entity_timeline", "Error getting entity timeline: "),
    ],
)
async def test_what_a_failing_database_says_reaches_neither_answer_nor_log(
    world: World,
    store: GraphStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tool: str,
    prefix: str,
) -> None:
    """The graph is a plain key for a moment, so that every query is refused in the database's own words."""
    database = await falkor_database(store)
    await database.command("SET", "planted-password", "x")
    monkeypatch.setattr(database, "name", "planted-password")
    result = await world.client.call_tool(tool, {"entity_uuid": HUB})
    assert error_of(result) == f"{prefix}The database could not answer a query. Try again; get_status says more."
    assert [record for record in caplog.records if record.levelno == logging.ERROR]
    told = caplog.text + error_of(result)
    assert not [word for word in ("planted", "WRONGTYPE", database.link.address.shown, HUB) if word in told]
