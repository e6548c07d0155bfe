"""A database of an earlier version gets what it lacks, once, when it is opened."""

import asyncio
from pathlib import Path

import redis
from tests.builders import GROUP, a_change, a_community, a_fact, a_write, an_entity, an_episode, at
from tests.falkor import graph_name

from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, Episode, Fact
from graphiti_pkm.storage.graph import schema
from graphiti_pkm.storage.graph.queries import changes as queries_changes
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore


def another_store(first: GraphStore) -> GraphStore:
    """As the next process has it."""
    return GraphStore(first._opened.open_database)


async def indexed(store: GraphStore, label: str) -> set[str]:
    """Properties of a label that an index covers."""
    query = Query("test", "CALL db.indexes() YIELD label, properties RETURN label, properties", {})
    (found,) = await (await store.database()).read(query)
    return {name for row in found if row["label"] == label for name in row["properties"]}


async def recorded_version(store: GraphStore) -> int:
    query = Query("test", "MATCH (m:Meta {id: 'database'}) RETURN m.schema_version AS version", {})
    ((found,),) = await (await store.database()).read(query)
    return int(found["version"])


async def as_version_one_left_it(store: GraphStore) -> tuple[Entity, Episode, Fact]:
    """With a fact that an episode ended; version 1 knew no index of changes by what caused them."""
    sarah, note = an_entity("Sarah"), an_episode()
    ended = a_fact(sarah, sarah)
    await store.writer.apply(a_write(sarah, note, ended, a_change(ended, note, replaced_by=ended.uuid)), {})
    database = await store.database()
    for text in (
        "DROP INDEX ON :Change(episode_uuid)",
        "DROP INDEX ON :Change(replaced_by)",
        "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 1",
    ):
        await database.write(Query("test", text, {}))
    return sarah, note, ended


async def test_a_database_of_version_one_gets_the_index_of_changes_when_it_is_opened(
    falkor_graph: GraphStore,
) -> None:
    sarah, note, ended = await as_version_one_left_it(falkor_graph)
    newer = another_store(falkor_graph)
    assert await newer.facts.retired_by_episode(note.uuid, [GROUP], 10) == [ended]
    assert await indexed(newer, "Change") >= {"uuid", "fact_uuid", "group_id", "episode_uuid", "replaced_by"}
    assert await recorded_version(newer) == schema.SCHEMA_VERSION
    assert await newer.records.get_entities([sarah.uuid], [GROUP]) == [sarah]
    await newer.close()


async def test_processes_that_open_an_older_database_together_upgrade_it_once(falkor_graph: GraphStore) -> None:
    _, note, ended = await as_version_one_left_it(falkor_graph)
    before = await indexed(falkor_graph, "Change")
    stores = [another_store(falkor_graph) for _ in range(4)]
    found = await asyncio.gather(*(store.facts.retired_by_episode(note.uuid, [GROUP], 10) for store in stores))
    assert found == [[ended]] * 4
    assert await indexed(stores[0], "Change") == before | {"episode_uuid", "replaced_by"}
    assert await recorded_version(stores[0]) == schema.SCHEMA_VERSION
    again = another_store(falkor_graph)
    assert await again.ready()
    for store in (*stores, again):
        await store.close()


async def test_what_an_episode_ended_is_found_without_trying_every_change(
    falkor_socket: Path, falkor_graph: GraphStore
) -> None:
    sarah, note, other = an_entity("Sarah"), an_episode(), an_episode()
    facts = [a_fact(sarah, sarah, text=f"Fact {i}") for i in range(200)]
    changes = [a_change(fact, note if i < 3 else other) for i, fact in enumerate(facts)]
    await falkor_graph.writer.apply(a_write(sarah, note, other, *facts, *changes), {})
    query = queries_changes.retired_by_episode(note.uuid, [GROUP], 10)
    with redis.Redis(unix_socket_path=str(falkor_socket), decode_responses=True) as client:
        steps = client.execute_command("GRAPH.PROFILE", graph_name(falkor_graph), query.command())
    (scan,) = [step for step in steps if "(c:Change)" in step]
    assert "Index Scan" in scan
    assert "Records produced: 3," in scan


async def test_facts_and_changes_from_before_version_three_are_found_by_when_they_were_recorded(
    falkor_graph: GraphStore,
) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    fact = a_fact(sarah, tom, created_at=at(1999, 12, 31, 23), episodes=(note.uuid,))
    ended = a_change(fact, note, recorded_at=at(2026, 2))
    of_nothing = a_change(a_fact(sarah, tom), note, recorded_at=at(2026, 1))
    await falkor_graph.writer.apply(a_write(sarah, tom, note, fact, ended, of_nothing), {})
    database = await falkor_graph.database()
    for text in (
        "DROP INDEX ON :Change(recorded_day)",
        "MATCH (c:Change) SET c.recorded_day = null, c.source_uuid = null, c.target_uuid = null, c.place = null",
        "MATCH ()-[e:RELATES_TO]->() SET e.recorded_day = null",
        "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 2",
    ):
        await database.write(Query("test", text, {}))
    newer = another_store(falkor_graph)
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


async def test_communities_from_before_version_four_are_found_by_words(falkor_graph: GraphStore) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await falkor_graph.writer.apply(a_write(sarah, tom, a_community(sarah, tom, name="Builders of bridges")), {})
    database = await falkor_graph.database()
    for text in (
        "CALL db.idx.fulltext.drop('Community')",
        "MATCH (m:Meta {id: 'database'}) SET m.schema_version = 3",
    ):
        await database.write(Query("test", text, {}))
    newer = another_store(falkor_graph)
    text = "CALL db.idx.fulltext.queryNodes('Community', 'bridges') YIELD node RETURN node.name AS name"
    (found,) = await (await newer.database()).read(Query("test", text, {}))
    assert [row["name"] for row in found] == ["Builders of bridges"]
    assert await recorded_version(newer) == schema.SCHEMA_VERSION
    await newer.close()
