"""A database of an earlier version gets what it lacks, once, when it is opened."""

import asyncio

import pytest
from tests.builders import GROUP, a_change, a_community, a_fact, a_write, an_entity, an_episode, at

from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.queries import FactFilter, ReadingSeries, Window
from graphiti_pkm.core.model.records import Entity, Episode, Fact
from graphiti_pkm.storage.graph import schema
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore


def another_store(first: GraphStore) -> GraphStore:
    """As the next process has it."""
    return GraphStore(first._opened.open_database)


async def indexed(store: GraphStore, label: str) -> set[str]:
    """Properties of a label that an index covers."""
    text = "SHOW INDEXES YIELD labelsOrTypes, properties WHERE labelsOrTypes = [$label] RETURN properties"
    (found,) = await (await store.database()).read(Query("test", text, {"label": label}))
    return {name for row in found for name in row["properties"]}


async def recorded_version(store: GraphStore) -> int:
    query = Query("test", "MATCH (m:Meta {id: 'database'}) RETURN m.schema_version AS version", {})
    ((found,),) = await (await store.database()).read(query)
    return int(found["version"])


async def test_a_graph_that_is_ready_has_every_index(neo4j_graph: GraphStore) -> None:
    assert await neo4j_graph.ready()
    text = "SHOW INDEXES YIELD labelsOrTypes, type, state WHERE type <> 'LOOKUP' RETURN labelsOrTypes, type, state"
    (found,) = await (await neo4j_graph.database()).read(Query("test", text, {}))
    labels = {label for row in found for label in row["labelsOrTypes"]}
    assert labels >= {"Entity", "Episodic", "RELATES_TO", "MENTIONS", "Name", "Passage"}
    fulltext = {label for row in found if row["type"] == "FULLTEXT" for label in row["labelsOrTypes"]}
    assert fulltext == {"SearchText", "RELATES_TO", "Community"}
    assert {row["state"] for row in found} == {"ONLINE"}


async def as_version_one_left_it(store: GraphStore) -> tuple[Entity, Episode, Fact]:
    """With a fact that an episode ended; version 1 knew no index of changes by what caused them."""
    sarah, note = an_entity("Sarah"), an_episode()
    ended = a_fact(sarah, sarah)
    await store.writer.apply(a_write(sarah, note, ended, a_change(ended, note, replaced_by=ended.uuid)), {})
    database = await store.database()
    for text in (
        "DROP INDEX pkm_change_episode_uuid",
        "DROP INDEX pkm_change_replaced_by",
        "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 1",
    ):
        await database.write(Query("test", text, {}))
    return sarah, note, ended


async def test_a_database_of_version_one_gets_the_index_of_changes_when_it_is_opened(
    neo4j_graph: GraphStore,
) -> None:
    sarah, note, ended = await as_version_one_left_it(neo4j_graph)
    newer = another_store(neo4j_graph)
    assert await newer.facts.retired_by_episode(note.uuid, [GROUP], 10) == [ended]
    assert await indexed(newer, "Change") >= {"uuid", "fact_uuid", "group_id", "episode_uuid", "replaced_by"}
    assert await recorded_version(newer) == schema.SCHEMA_VERSION
    assert await newer.records.get_entities([sarah.uuid], [GROUP]) == [sarah]
    await newer.close()


async def test_processes_that_open_an_older_database_together_upgrade_it_once(neo4j_graph: GraphStore) -> None:
    _, note, ended = await as_version_one_left_it(neo4j_graph)
    before = await indexed(neo4j_graph, "Change")
    stores = [another_store(neo4j_graph) for _ in range(4)]
    found = await asyncio.gather(*(store.facts.retired_by_episode(note.uuid, [GROUP], 10) for store in stores))
    assert found == [[ended]] * 4
    assert await indexed(stores[0], "Change") == before | {"episode_uuid", "replaced_by"}
    assert await recorded_version(stores[0]) == schema.SCHEMA_VERSION
    again = another_store(neo4j_graph)
    assert await again.ready()
    for store in (*stores, again):
        await store.close()


async def test_facts_and_changes_from_before_version_three_are_found_by_when_they_were_recorded(
    neo4j_graph: GraphStore,
) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    fact = a_fact(sarah, tom, created_at=at(1999, 12, 31, 23), episodes=(note.uuid,))
    ended = a_change(fact, note, recorded_at=at(2026, 2))
    of_nothing = a_change(a_fact(sarah, tom), note, recorded_at=at(2026, 1))
    await neo4j_graph.writer.apply(a_write(sarah, tom, note, fact, ended, of_nothing), {})
    database = await neo4j_graph.database()
    for text in (
        "DROP INDEX pkm_change_recorded_day",
        "MATCH (c:Change) SET c.recorded_day = null, c.source_uuid = null, c.target_uuid = null, c.place = null",
        "MATCH ()-[e:RELATES_TO]->() SET e.recorded_day = null",
        "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 2",
    ):
        await database.write(Query("test", text, {}))
    newer = another_store(neo4j_graph)
    wanted = ChangeFilter(group_ids=(GROUP,), since=at(1999, 12, 31), recorded_until=at(2027))
    page = await newer.part(CHANGE_LISTS).changes(wanted, Window(limit=10))
    assert [change.uuid for change in page.changes] == [ended.uuid, of_nothing.uuid, fact.uuid]
    of_tom = await newer.part(CHANGE_LISTS).changes(
        wanted.model_copy(update={"entity_uuid": tom.uuid}), Window(limit=10)
    )
    assert [change.uuid for change in of_tom.changes] == [ended.uuid, fact.uuid]
    (read,) = await newer.records.get_facts([fact.uuid], [GROUP])
    assert read == fact
    assert await recorded_version(newer) == schema.SCHEMA_VERSION
    await newer.close()


async def test_communities_from_before_version_four_are_found_by_words(neo4j_graph: GraphStore) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await neo4j_graph.writer.apply(a_write(sarah, tom, a_community(sarah, tom, name="Builders of bridges")), {})
    database = await neo4j_graph.database()
    for text in (
        "DROP INDEX community_name",
        "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 3",
    ):
        await database.write(Query("test", text, {}))
    newer = another_store(neo4j_graph)
    text = "CALL db.index.fulltext.queryNodes('community_name', 'bridges') YIELD node RETURN node.name AS name"
    (found,) = await (await newer.database()).read(Query("test", text, {}))
    assert [row["name"] for row in found] == ["Builders of bridges"]
    assert await recorded_version(newer) == schema.SCHEMA_VERSION
    await newer.close()


async def test_readings_from_before_version_eight_are_counted_by_what_their_values_say(
    neo4j_graph: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sarah, sleep = an_entity("Sarah"), an_entity("sleep")
    told = (("5 and a half hours", None), ("6.5", "hours"), ("8", "h"), ("badly", None), ("6/10", None))
    readings = [
        a_fact(sarah, sleep, kind="reading", measure="sleep", value=value, unit=unit, valid_at=at(2026, 2, day))
        for day, (value, unit) in enumerate(told, start=1)
    ]
    state = a_fact(sarah, sleep, value="7")
    await neo4j_graph.writer.apply(a_write(sarah, sleep, *readings, state), {})

    async def counted(store: GraphStore) -> list[ReadingSeries]:
        wanted = FactFilter(group_ids=(GROUP,), now=at(2026, 3), kinds=("reading",))
        return await store.facts.reading_series(None, wanted, "UTC", 10, 10)

    before = await counted(neo4j_graph)
    assert sorted((one.kind, one.readings, one.numbers) for one in before) == [
        ("", 1, 0),
        ("/10", 1, 1),
        ("time", 3, 3),
    ]
    database = await neo4j_graph.database()
    for text in (
        "MATCH ()-[e:RELATES_TO]->() SET e.value_number = null, e.value_kind = null",
        "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 5",
    ):
        await database.write(Query("test", text, {}))
    assert [(one.kind, one.readings, one.numbers) for one in await counted(neo4j_graph)] == [("", 5, 0)]
    monkeypatch.setattr(schema, "_READINGS", 2)
    newer = another_store(neo4j_graph)
    assert await counted(newer) == before
    (read,) = await newer.records.get_facts([state.uuid], [GROUP])
    assert read == state
    assert await recorded_version(newer) == schema.SCHEMA_VERSION
    await newer.close()
