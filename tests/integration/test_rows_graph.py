"""The real database under the real services: what is fetched, where vectors are, what hostile words do."""

import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.builders import a_fact, a_name, a_write, an_entity
from tests.corpus import DJANGO, HUB, HUB_FACTS_IN_OWN_GROUP, WEEKS, embeddings, hub, weeks
from tests.integration.rows_support import Spy, World, a_world, in_one_task
from tests.protocol.support import error_of

from graphiti_pkm.errors import WriteFailed
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph

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
def store(world: World) -> SqliteGraph:
    graph = world.memory.context.graph
    assert isinstance(graph, SqliteGraph)
    return graph


@pytest.fixture
def spy(store: SqliteGraph, monkeypatch: pytest.MonkeyPatch) -> Spy:
    return Spy(store, monkeypatch)


async def vectors(store: SqliteGraph, condition: str) -> list[bytes]:
    """The embeddings of some records, as the file holds them."""
    text = f"SELECT data FROM vector WHERE {condition}"  # noqa: S608 ours
    return await store._opened.file.read(lambda db: [row["data"] for row in db.execute(text)])


def holds_vector(value: Any) -> bool:
    """Whether bytes or a list of numbers stand anywhere in a value."""
    if isinstance(value, dict):
        return any("embedding" in key or holds_vector(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return (len(value) > 1 and all(isinstance(item, float) for item in value)) or any(map(holds_vector, value))
    return isinstance(value, bytes)


@pytest.mark.parametrize("limit", [1, 20, 50])
async def test_a_page_of_facts_is_all_that_is_fetched_of_a_hub(world: World, spy: Spy, limit: int) -> None:
    """One more than asked for tells that there is a next page."""
    page = await world.call("get_entity_connections", entity_uuid=HUB, max_connections=limit)
    assert (page["total"], page["returned"]) == (HUB_FACTS_IN_OWN_GROUP, limit)
    assert spy.rows_with("relation") == limit + 1
    assert not holds_vector([row for _, rows in spy.sent for row in rows])


@pytest.mark.parametrize("limit", [1, 10])
async def test_a_page_of_episodes_is_all_that_is_fetched_of_a_timeline(world: World, spy: Spy, limit: int) -> None:
    page = await world.call("get_entity_timeline", entity_uuid=DJANGO, max_episodes=limit)
    assert (page["total"], page["returned"]) == (WEEKS, limit)
    assert spy.rows_with("content") == limit + 1
    assert not holds_vector([row for _, rows in spy.sent for row in rows])


async def test_vectors_are_stored_in_the_models_dimension_and_no_read_answers_one(
    world: World, store: SqliteGraph
) -> None:
    dimension = world.memory.context.embedder.dimension
    told = await world.call(
        "add_memory",
        episode_body="Ottilie repairs clocks. She learned it in Basel.",
        facts=[{"source": "Ottilie", "relation": "LEARNED_IN", "target": "Basel"}],
    )
    for condition, least in (
        (f"owner = '{told['episode_uuid']}'", 2),
        ("kind = 'entity' AND group_id = 'default'", 2),
        ("kind = 'fact' AND group_id = 'default'", 1),
        ("kind = 'passage'", 2 * WEEKS),
    ):
        lengths = [len(vector) for vector in await vectors(store, condition)]
        assert len(lengths) >= least
        assert set(lengths) == {4 * dimension}
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


async def test_hostile_names_are_stored_as_data(store: SqliteGraph, spy: Spy) -> None:
    source, target = an_entity(HOSTILE, group_id="hostile"), an_entity("Target", group_id="hostile")
    fact = a_fact(source, target, HOSTILE, measure=HOSTILE, kind="reading", attributes={"note": HOSTILE})
    held = await world_size(store)
    await store.writer.apply(a_write(source, target, a_name(source), fact), {})
    assert await store.records.get_facts([fact.uuid], ["hostile"]) == [fact]
    assert await store.facts.relations("hostile", 10) == {HOSTILE: 1}
    assert await world_size(store) == (held[0] + 2, held[1] + 1)
    assert not [text for text, _ in spy.sent if HOSTILE[:17] in text]


@pytest.mark.parametrize("label", [HOSTILE, "Person:Admin", "a`b", "Person) DETACH DELETE (n", "two words", "é", ""])
async def test_a_type_that_is_no_plain_word_never_becomes_part_of_a_query(store: SqliteGraph, label: str) -> None:
    held = await world_size(store)
    entity = an_entity("Mallory", group_id="hostile", label=label)
    with pytest.raises(WriteFailed, match="Nothing was stored"):
        await store.writer.apply(a_write(entity, a_name(entity)), {})
    assert await world_size(store) == held


async def test_hostile_words_in_every_argument_of_a_tool_harm_nothing(
    world: World, store: SqliteGraph, spy: Spy
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
    assert not [text for text, _ in spy.sent if HOSTILE[:17] in text]


async def world_size(store: SqliteGraph) -> tuple[int, int]:
    """Entities and facts in the whole database."""
    sizes = (await store.records.group_sizes(await store.records.groups())).values()
    return sum(size.entities for size in sizes), sum(size.facts for size in sizes)


@pytest.mark.parametrize(
    ("tool", "prefix"),
    [
        ("get_entity_connections", "Error getting entity connections: "),
        ("get_entity_timeline", "Error getting entity timeline: "),
    ],
)
async def test_what_a_failing_database_says_reaches_neither_answer_nor_log(
    world: World, store: SqliteGraph, caplog: pytest.LogCaptureFixture, tool: str, prefix: str
) -> None:
    """A text that is no UTF-8 is refused in words that quote it."""
    (hub,) = await store.records.get_entities([HUB], ["t1"])
    text = "UPDATE entity SET summary = CAST(? AS TEXT) WHERE uuid = ?"
    for summary in (b"\xffplanted-password", hub.summary.encode()):
        result = await world.client.call_tool(tool, {"entity_uuid": HUB})
        await store._opened.file.write(lambda db, given=(summary, HUB): db.execute(text, given))
    assert error_of(result).startswith(f"{prefix}The journal {store._opened.file._file.path} is damaged.")
    assert [record for record in caplog.records if record.levelno == logging.ERROR]
    told = caplog.text + error_of(result)
    assert not [word for word in ("planted", "decode", HUB) if word in told]
