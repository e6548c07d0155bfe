"""The store as a whole: how it opens, what two stores on one database share, and values that are large or odd."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_link, a_name, a_write, an_entity, an_episode, at, new_uuid
from tests.integration.watched_database import watched

from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.core.model.places import Steps
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.errors import ConfigurationError, NewerSchema
from graphiti_pkm.storage.graph.sqlite.schema import SCHEMA_VERSION
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.graph.store import GraphStore

ENTITIES = EntityFilter(group_ids=(GROUP,))
EPISODES = EpisodeFilter(group_ids=(GROUP,))
FACTS = FactFilter(group_ids=(GROUP,), now=at(2026, 6))
HOSTILE = "X]->() DELETE n // \"'`}) DETACH DELETE n"
Another = Callable[[], Graph]


@pytest.fixture
async def another(graph: Graph) -> AsyncIterator[Another]:
    """Makes stores on the same database, as other processes have them."""
    made: list[GraphStore | SqliteGraph] = []

    def make() -> Graph:
        if isinstance(graph, GraphStore):
            made.append(GraphStore(graph._opened.open_database))
        else:
            assert isinstance(graph, SqliteGraph)
            made.append(SqliteGraph(graph._opened.file._file))
        return made[-1]

    yield make
    for store in made:
        await store.close()


def test_importing_the_stores_loads_no_client_and_no_graphiti() -> None:
    """These imports cost most of a second, and a server must answer tools/list before."""
    code = """if True:
        import sys, graphiti_pkm.storage.graph.store, graphiti_pkm.storage.graph.sqlite.store
        print([name for name in ("graphiti_core", "neo4j", "numpy") if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_stores_that_open_a_new_graph_together_are_all_ready(graph: Graph, another: Another) -> None:
    stores = [graph, *(another() for _ in range(3))]
    assert await asyncio.gather(*(store.ready() for store in stores)) == [True] * 4
    episodes = [an_episode(str(i)) for i in range(4)]
    await asyncio.gather(*(one.writer.apply(a_write(note), {}) for one, note in zip(stores, episodes, strict=True)))
    for store in stores:
        assert await store.records.get_episodes([note.uuid for note in episodes], [GROUP]) == episodes


async def test_data_of_a_newer_version_is_refused(sqlite_graph: SqliteGraph) -> None:
    text = "UPDATE graph_meta SET value = ? WHERE key = 'schema_version'"
    await sqlite_graph._opened.file.write(lambda db: db.execute(text, (str(SCHEMA_VERSION + 1),)))
    newer = SqliteGraph(sqlite_graph._opened.file._file)
    with pytest.raises(NewerSchema, match=f"schema version {SCHEMA_VERSION + 1}"):
        await newer.records.groups()
    await newer.close()


async def test_a_file_that_takes_no_more_says_why_until_it_takes_a_write(sqlite_graph: SqliteGraph) -> None:
    file, writer, write = sqlite_graph._opened.file, sqlite_graph.writer, a_write(an_episode())
    await writer.apply(a_write(an_episode()), {})
    await file.outside(lambda db: db.execute("PRAGMA query_only = ON").fetchall())
    with pytest.raises(ConfigurationError, match="cannot be opened for writing"):
        await writer.apply(write, {})
    assert "cannot be opened for writing" in (await writer.refusal() or "")
    await file.outside(lambda db: db.execute("PRAGMA query_only = OFF").fetchall())
    await writer.apply(write, {})
    assert await writer.refusal() is None


async def test_the_embedding_is_recorded_once_and_seen_by_others(graph: Graph, another: Another) -> None:
    await graph.embeddings.record_embedding("MiniLM", 384)
    other = another()
    await other.embeddings.record_embedding("other", 12)
    assert await graph.embeddings.embedding() == await other.embeddings.embedding() == ("MiniLM", 384)


async def test_many_calls_at_once_wait_their_turn(graph: Graph) -> None:
    episodes = [an_episode(f"Note {i}") for i in range(100)]
    await asyncio.gather(*(graph.writer.apply(a_write(episode), {}) for episode in episodes))
    found = await asyncio.gather(*(graph.records.get_episodes([episode.uuid], [GROUP]) for episode in episodes))
    assert [one for (one,) in found] == episodes


async def test_stores_in_a_race_for_a_name_leave_one_holder(graph: Graph, another: Another) -> None:
    people, stores = [an_entity("Sarah") for _ in range(20)], [graph, another()]
    await asyncio.gather(*(stores[i % 2].writer.apply(a_write(one, a_name(one)), {}) for i, one in enumerate(people)))
    books = [await store.records.name_book(GROUP, None) for store in stores]
    assert [len(book.names) for book in books if book] == [1, 1]


async def test_an_alias_of_a_name_that_another_holds_does_not_find_the_loser(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await graph.writer.apply(a_write(sarah, a_name(sarah), a_name(sarah, "Boss")), {})
    await graph.writer.apply(a_write(tom, a_name(tom), a_name(tom, "Boss")), {})
    assert list(await graph.search.search_entities(["boss"], ENTITIES, 10)) == [sarah.uuid]


async def test_an_episode_of_a_megabyte_is_stored_and_found(graph: Graph) -> None:
    episode = an_episode("Lorem ipsum dolor. " * 55_000 + "Needle")
    await graph.writer.apply(a_write(episode), {})
    assert list(await graph.search.search_episodes(["needle"], EPISODES, 10)) == [episode.uuid]
    assert await graph.records.get_episodes([episode.uuid], [GROUP]) == [episode]


async def test_hostile_names_are_stored_as_data_and_in_no_query(neo4j_graph: GraphStore) -> None:
    source, target = an_entity(HOSTILE), an_entity("Target")
    fact = a_fact(source, target, HOSTILE, measure=HOSTILE, kind="reading", attributes={"note": HOSTILE})
    database = await watched(neo4j_graph)
    await neo4j_graph.writer.apply(a_write(source, target, a_name(source), fact), {})
    assert await neo4j_graph.records.get_entities([source.uuid, target.uuid], [GROUP]) == [source, target]
    assert await neo4j_graph.records.get_facts([fact.uuid], [GROUP]) == [fact]
    assert await neo4j_graph.facts.relations(GROUP, 10) == {HOSTILE: 1}
    assert database.reads
    assert database.writes
    assert not [one.name for one in (*database.reads, *database.writes) if HOSTILE[:17] in one.text]


async def test_facts_without_with_naive_and_with_equal_starts_have_one_stable_order(graph: Graph) -> None:
    centre, other = an_entity("Centre"), an_entity("Other")
    uuids = sorted(new_uuid() for _ in range(3))
    march, east = at(2025, 3), timezone(timedelta(hours=5))
    naive = march.replace(tzinfo=None)
    expected = [
        ("an hour later, in another zone", march.astimezone(east) + timedelta(hours=1), at(2025), new_uuid()),
        ("March, recorded last", march, at(2025, 4), new_uuid()),
        ("March, naive", naive, at(2025, 3), uuids[0]),
        ("March, in another zone", march.astimezone(east), at(2025, 3), uuids[1]),
        ("March", march, at(2025, 3), uuids[2]),
        ("an hour earlier, naive", naive - timedelta(hours=1), at(2025), new_uuid()),
        ("unknown start, recorded last", None, at(2025, 2), new_uuid()),
        ("unknown start", None, at(2025), new_uuid()),
    ]
    facts = [
        a_fact(centre, other, text=text, valid_at=valid_at, created_at=created_at, uuid=uuid)
        for text, valid_at, created_at, uuid in expected
    ]
    await graph.writer.apply(a_write(centre, other, *reversed(facts)), {})
    seen: list[str] = []
    after = None
    for _ in facts:
        page = await graph.facts.connections(centre.uuid, FACTS, Window(limit=1, after=after))
        seen += [fact.text for fact in page.facts]
        after = page.keys[-1]
    assert seen == [text for text, *_ in expected]


async def test_episodes_of_other_zones_and_naive_ones_stand_where_they_happened(graph: Graph) -> None:
    moments = {
        "first": datetime(2025, 3, 1, 1, 0, tzinfo=timezone(timedelta(hours=2))),
        "second": datetime(2025, 2, 28, 23, 15),  # noqa: DTZ001 naive on purpose
        "third": datetime(2025, 2, 28, 23, 30, tzinfo=UTC),
        "fourth": datetime(2025, 2, 28, 20, 0, tzinfo=timezone(timedelta(hours=-5))),
    }
    notes = [an_episode(name, valid_at=moment) for name, moment in reversed(moments.items())]
    await graph.writer.apply(a_write(*notes), {})
    page = await graph.episodes.recent_episodes(EPISODES, Window(limit=10))
    assert [episode.content for episode in page.episodes] == [*moments][::-1]
    assert {episode.valid_at.tzinfo for episode in page.episodes} == {UTC}


async def test_steps_go_along_a_saga_and_never_into_another_group(graph: Graph) -> None:
    first, second, third, alone = (an_episode(text) for text in ("first", "second", "third", "alone"))
    foreign = an_episode("foreign", group_id=OTHER_GROUP)
    chain = [a_link(first, second), a_link(second, third), a_link(third, foreign)]
    await graph.writer.apply(a_write(first, second, third, alone, foreign), {})
    await graph.writer.apply(a_write(*chain), {})
    asked = [each.uuid for each in (first, second, third, alone, foreign)]
    assert await graph.part(NEIGHBOURS).saga_steps(asked, [GROUP]) == {
        first.uuid: Steps(next=second.uuid),
        second.uuid: Steps(previous=first.uuid, next=third.uuid),
        third.uuid: Steps(previous=second.uuid),
    }
