"""The store as a whole: schema, embedding, durability, concurrency, errors."""

import asyncio
import logging
import subprocess
import sys
from array import array
from pathlib import Path
from typing import Any

import pytest
from tests.builders import (
    GROUP,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    an_update,
    at,
    new_uuid,
)

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Episode, Fact, FactChange, WriteKind
from graphiti_pkm.errors import NewerSchema, Unavailable
from graphiti_pkm.storage.graph import schema
from graphiti_pkm.storage.graph.opening import OpenFalkor
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore

NOW = at(2026, 6)
FACTS = FactFilter(group_ids=(GROUP,), now=NOW)
PAGE = Window(limit=100)
PLANTED = "planted-secret-7361"


def second_store(first: GraphStore) -> GraphStore:
    """As another process has it."""
    return GraphStore(first._opened.open_database)


def a_change(fact: Fact, episode: Episode) -> FactChange:
    return FactChange(
        uuid=new_uuid(),
        fact_uuid=fact.uuid,
        kind="retired",
        episode_uuid=episode.uuid,
        replaced_by=None,
        recorded_at=NOW,
        previous_valid_at=fact.valid_at,
        previous_invalid_at=None,
        previous_expired_at=None,
    )


async def rows(store: GraphStore, text: str, **parameters: object) -> list[dict[str, object]]:
    (found,) = await (await store.database()).read(Query("test", text, parameters))
    return found


def test_importing_the_store_loads_no_client_and_no_graphiti() -> None:
    """These imports cost most of a second, and a server must answer tools/list before."""
    code = """if True:
        import sys, graphiti_pkm.storage.graph.store
        print([name for name in ("graphiti_core", "falkordb", "redis", "numpy") if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_fresh_graph_is_ready_and_empty(falkor_graph: GraphStore) -> None:
    assert await falkor_graph.ready()
    assert await falkor_graph.records.groups() == []
    assert await falkor_graph.embeddings.embedding() is None


async def test_readiness_covers_every_index(falkor_graph: GraphStore) -> None:
    assert await falkor_graph.ready()
    found = await rows(falkor_graph, "CALL db.indexes() YIELD label, types, status RETURN label, types, status")
    assert {row["label"] for row in found} >= {"Entity", "Episodic", "RELATES_TO", "MENTIONS", "Name", "Passage"}
    assert {row["label"] for row in found if "FULLTEXT" in str(row["types"])} == {
        "SearchText",
        "RELATES_TO",
        "Community",
    }
    assert {row["status"] for row in found} == {"OPERATIONAL"}


async def test_a_graph_without_its_canary_is_not_ready(falkor_graph: GraphStore) -> None:
    await falkor_graph.ready()
    database = await falkor_graph.database()
    await database.write(Query("test", "MATCH (s:SearchText {id: 'canary'}) DELETE s", {}))
    assert not await falkor_graph.ready()


async def test_stores_that_open_a_new_graph_together_build_it_once(falkor_graph: GraphStore) -> None:
    others = [second_store(falkor_graph) for _ in range(3)]
    try:
        assert await asyncio.gather(*(store.ready() for store in (falkor_graph, *others))) == [True] * 4
        assert len(await rows(falkor_graph, "MATCH (m:Meta) RETURN m.id AS id")) == 1
        assert len(await rows(falkor_graph, "CALL db.constraints() YIELD label RETURN label")) == 1
    finally:
        for store in others:
            await store.close()


async def test_data_of_a_newer_version_is_refused(falkor_graph: GraphStore) -> None:
    await falkor_graph.ready()
    database = await falkor_graph.database()
    await database.write(Query("test", "MATCH (m:Meta) SET m.schema_version = $v", {"v": schema.SCHEMA_VERSION + 1}))
    newer = second_store(falkor_graph)
    with pytest.raises(NewerSchema):
        await newer.records.groups()
    await newer.close()


async def test_the_embedding_is_recorded_once_and_seen_by_others(falkor_graph: GraphStore) -> None:
    await falkor_graph.embeddings.record_embedding("MiniLM", 384)
    await falkor_graph.embeddings.record_embedding("other", 12)
    other = second_store(falkor_graph)
    assert await other.embeddings.embedding() == ("MiniLM", 384)
    await other.close()


async def test_clearing_leaves_a_graph_that_is_ready_and_empty(falkor_graph: GraphStore) -> None:
    write = a_write(an_episode(), an_entity("Sarah"))
    await falkor_graph.embeddings.record_embedding("MiniLM", 384)
    await falkor_graph.writer.apply(write, {})
    await falkor_graph.clear()
    assert await falkor_graph.ready()
    assert await falkor_graph.writer.applied([write.uuid]) == set()
    assert await falkor_graph.records.groups() == []
    assert await falkor_graph.embeddings.embedding() is None
    await falkor_graph.writer.apply(write, {})
    assert await falkor_graph.records.groups() == [GROUP]


async def test_another_process_sees_names_of_a_rebuilt_graph_as_changed(falkor_graph: GraphStore) -> None:
    sarah = an_entity("Sarah")
    await falkor_graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    before = await falkor_graph.records.name_book(GROUP, None)
    assert before is not None
    await falkor_graph.clear()
    await falkor_graph.writer.apply(a_write(sarah, a_name(sarah, "Sal")), {})
    after = await falkor_graph.records.name_book(GROUP, before.version)
    assert after is not None
    assert [name.text for name in after.names] == ["Sal"]


async def test_what_was_written_becomes_durable(falkor_graph: GraphStore) -> None:
    await falkor_graph.writer.apply(a_write(an_episode()), {})
    assert await falkor_graph.writer.wait_durable()


async def test_waiting_for_the_disk_holds_up_no_other_call(falkor_graph: GraphStore) -> None:
    await falkor_graph.writer.apply(a_write(an_episode()), {})
    waiting = asyncio.create_task(falkor_graph.writer.wait_durable())
    assert await falkor_graph.records.groups() == [GROUP]
    assert await waiting


async def test_many_calls_at_once_wait_their_turn(falkor_graph: GraphStore) -> None:
    episodes = [an_episode(f"Note {i}") for i in range(100)]
    await asyncio.gather(*(falkor_graph.writer.apply(a_write(episode), {}) for episode in episodes))
    found = await asyncio.gather(*(falkor_graph.records.get_episodes([episode.uuid], [GROUP]) for episode in episodes))
    assert [one for (one,) in found] == episodes


async def test_writers_in_a_race_for_a_name_leave_one_holder(falkor_graph: GraphStore) -> None:
    people = [an_entity("Sarah") for _ in range(20)]
    stores = [falkor_graph, second_store(falkor_graph)]
    await asyncio.gather(
        *(stores[i % 2].writer.apply(a_write(one, a_name(one)), {}) for i, one in enumerate(people)),
    )
    await stores[1].close()
    held = await rows(falkor_graph, "MATCH (k:Name) RETURN k.entity_uuid AS holder")
    assert len(held) == 1


async def test_neither_logs_nor_errors_quote_what_was_asked(
    falkor_graph: GraphStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await falkor_graph.writer.apply(a_write(an_episode(PLANTED)), {})
    database = await falkor_graph.database()
    for text in (f"RETURN {PLANTED}(", "RETURN vecf32($text)", f"MATCH (n) WHERE n.{PLANTED}( RETURN n"):
        with pytest.raises(Unavailable) as caught:
            await database.read(Query("broken", text, {"text": PLANTED}))
        assert PLANTED not in caught.value.message
        assert caught.value.__cause__ is None
    driver = await falkor_graph.driver()
    with pytest.raises(Unavailable) as caught:
        await driver.execute_query("RETURN vecf32($text)", text=PLANTED)
    assert PLANTED not in str(caught.value)
    await driver.close()
    assert PLANTED not in caplog.text
    assert "broken" in caplog.text


async def test_a_server_that_never_comes_is_unavailable(tmp_path: Path) -> None:
    calls: list[str] = []

    async def connect() -> Path:
        return tmp_path / "nobody.sock"

    async def recover() -> None:
        calls.append("recover")

    store = GraphStore(OpenFalkor(connect, recover))
    with pytest.raises(Unavailable):
        await store.records.groups()
    assert not await store.ready()
    assert calls == ["recover", "recover"]
    await store.close()


async def test_nothing_that_is_read_holds_a_vector(falkor_graph: GraphStore) -> None:
    sarah, episode = an_entity("Sarah"), an_episode("Sarah")
    fact, passage = a_fact(sarah, sarah, attributes={"note": "x"}), a_passage(episode)
    unit = array("f", [0.6, 0.8])
    await falkor_graph.writer.apply(
        a_write(sarah, episode, fact, passage, a_mention(episode, sarah)),
        {record.uuid: unit for record in (sarah, fact, passage)},
    )
    read = [
        *await falkor_graph.records.get_entities([sarah.uuid], [GROUP]),
        *await falkor_graph.records.get_episodes([episode.uuid], [GROUP]),
        *(await falkor_graph.facts.connections(sarah.uuid, FACTS, PAGE)).facts,
        *await falkor_graph.episodes.passages(episode.uuid, without_vector=False, limit=5),
    ]
    assert read == [sarah, episode, fact, passage]
    assert "embedding" not in "".join(record.model_dump_json() for record in read)
    assert "0.6" not in "".join(record.model_dump_json() for record in read)


async def test_a_change_stands_beside_the_fact_and_knows_its_ends_when_it_is_gone(falkor_graph: GraphStore) -> None:
    sarah, tom, episode = an_entity("Sarah"), an_entity("Tom"), an_episode()
    kept, gone, of_tom = a_fact(sarah, sarah), a_fact(sarah, sarah), a_fact(sarah, tom)
    changes = [a_change(fact, episode) for fact in (kept, gone, of_tom)]
    await falkor_graph.writer.apply(a_write(sarah, tom, episode, kept, gone, of_tom, *changes), {})
    deletion = a_write(kind=WriteKind.DELETE_FACT, deletions={"facts": (gone.uuid,), "entities": (tom.uuid,)})
    await falkor_graph.writer.apply(deletion, {})
    ends = await rows(falkor_graph, "MATCH (c:Change) RETURN c.uuid AS uuid, c.source_uuid AS s, c.target_uuid AS t")
    assert {row["uuid"]: (row["s"], row["t"]) for row in ends} == {
        changes[0].uuid: (sarah.uuid, sarah.uuid),
        changes[1].uuid: (sarah.uuid, sarah.uuid),
        changes[2].uuid: (sarah.uuid, tom.uuid),
    }
    assert (await falkor_graph.facts.connections(sarah.uuid, FACTS, PAGE)).facts == (kept,)


async def test_as_of_lists_states_that_held_or_may_have(falkor_graph: GraphStore) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    told = {"reference_time": at(2025, 6)}

    def fact(text: str, **fields: Any) -> Fact:
        return a_fact(sarah, tom, text=text, **fields)

    facts = [
        fact("held", valid_at=at(2025), invalid_at=at(2025, 6), expired_at=at(2026)),
        fact("possible", **told),
        fact("later", valid_at=at(2025, 5)),
        fact("over", valid_at=at(2024), invalid_at=at(2025)),
        fact("voided", valid_at=at(2025), voided=True, expired_at=at(2026)),
        fact("expired, nobody knows when it ended", valid_at=at(2025), expired_at=at(2026)),
        fact("plan", kind="plan", valid_at=at(2025)),
        fact("event", kind="event", valid_at=at(2025)),
        fact("reading", kind="reading", valid_at=at(2025)),
    ]
    await falkor_graph.writer.apply(a_write(sarah, tom, *facts), {})
    page = await falkor_graph.facts.connections(sarah.uuid, FACTS.model_copy(update={"as_of": at(2025, 3)}), PAGE)
    assert {one.text for one in page.facts} == {"held", "possible"}
    assert page.total == 2


async def test_a_fact_that_ended_after_page_one_stays_where_it_was(falkor_graph: GraphStore) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    facts = [a_fact(sarah, tom, text=str(i), valid_at=at(2025, i)) for i in range(1, 7)]
    await falkor_graph.writer.apply(a_write(sarah, tom, *facts), {})
    first = await falkor_graph.facts.connections(sarah.uuid, FACTS, Window(limit=3))
    ended = [an_update(fact, invalid_at=at(2026), expired_at=at(2026, 7)) for fact in facts]
    later = a_fact(sarah, tom, text="later", created_at=at(2026, 7), valid_at=at(2025, 1, 2))
    await falkor_graph.writer.apply(a_write(*ended, later), {})
    as_recorded = FACTS.model_copy(update={"recorded_until": NOW})  # as the cursor of page one says
    second = await falkor_graph.facts.connections(sarah.uuid, as_recorded, Window(limit=10, after=first.keys[-1]))
    assert [fact.text for fact in (*first.facts, *second.facts)] == ["6", "5", "4", "3", "2", "1"]


async def test_an_alias_added_later_finds_the_entity(falkor_graph: GraphStore) -> None:
    sarah = an_entity("Sarah", summary="A friend")
    wanted = EntityFilter(group_ids=(GROUP,))
    await falkor_graph.writer.apply(a_write(sarah, a_name(sarah)), {})
    assert await falkor_graph.search.search_entities(["sal"], wanted, 10) == {}
    await falkor_graph.writer.apply(a_write(a_name(sarah, "Sal")), {})
    assert list(await falkor_graph.search.search_entities(["sal"], wanted, 10)) == [sarah.uuid]
    assert list(await falkor_graph.search.search_entities(["friend", "sal", "sarah"], wanted, 10)) == [sarah.uuid]


async def test_an_alias_of_a_name_that_another_holds_does_not_find_the_loser(falkor_graph: GraphStore) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await falkor_graph.writer.apply(a_write(sarah, a_name(sarah), a_name(sarah, "Boss")), {})
    await falkor_graph.writer.apply(a_write(tom, a_name(tom), a_name(tom, "Boss")), {})
    wanted = EntityFilter(group_ids=(GROUP,))
    assert list(await falkor_graph.search.search_entities(["boss"], wanted, 10)) == [sarah.uuid]


async def test_an_episode_of_a_megabyte_is_stored_and_found(falkor_graph: GraphStore) -> None:
    body = "Lorem ipsum dolor. " * 55_000 + "Needle"
    episode = an_episode(body)
    await falkor_graph.writer.apply(a_write(episode), {})
    assert list(await falkor_graph.search.search_episodes(["needle"], EpisodeFilter(group_ids=(GROUP,)), 10)) == [
        episode.uuid
    ]
    assert await falkor_graph.records.get_episodes([episode.uuid], [GROUP]) == [episode]
