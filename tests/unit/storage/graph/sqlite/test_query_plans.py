"""What reads the tables of the graph finds its rows by an index, however large the tables are."""

import sqlite3
from array import array
from collections.abc import AsyncIterator, Callable
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.builders import (
    GROUP,
    a_change,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_saga,
    a_step,
    a_write,
    an_entity,
    an_episode,
    at,
)
from tests.fakes import FakeEmbedder

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter, Window
from graphiti_pkm.storage.graph.sqlite import lookups
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile

GROWS = (
    "entity",
    "episode",
    "fact",
    "name",
    "mention",
    "passage",
    "change",
    "vector",
    "search_text",
    "fact_episode",
    "episode_stems",
)
NOW = at(2026, 6)
FACTS = FactFilter(group_ids=(GROUP,), now=NOW)
EPISODES = EpisodeFilter(group_ids=(GROUP,))
ENTITIES = EntityFilter(group_ids=(GROUP,))
PAGE = Window(limit=5)
CHANGES = ChangeFilter(group_ids=(GROUP,), since=at(2020), recorded_until=NOW)


@pytest.fixture
async def graph(tmp_path: Path) -> AsyncIterator[SqliteGraph]:
    graph = SqliteGraph(JournalFile(tmp_path / "data", name=MEMORY))
    yield graph
    await graph.close()


def scans(statement: str, parameters: Any, connection: sqlite3.Connection, *, by_uuid: bool = False) -> list[str]:
    """Steps of the plan that look at all rows of a table that grows; ``by_uuid``: or at all episodes of a group."""
    plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall()
    details = [str(step[3]) for step in plan]
    whole = [one for one in details if one.startswith("SCAN ") and one.split()[1] in GROWS]
    return whole + [one for one in details if by_uuid and "episode_time (group_id=?)" in one]


BY_UUID = ("words of episodes", "places of episodes", "steps of sagas")
"""Questions about single episodes, of which a group may have many."""

VECTOR = array("f", [1.0] + [0.0] * 31)
HALF_AN_HOUR = timedelta(minutes=30)

QUESTIONS: dict[str, Callable[[SqliteGraph, str, str, str], Any]] = {
    "connections": lambda g, entity, _, __: g.facts.connections(entity, FACTS, PAGE),
    "current connections": lambda g, entity, _, __: g.facts.connections(
        entity, FACTS.model_copy(update={"only_current": True, "direction": "out"}), PAGE
    ),
    "oldest connections": lambda g, entity, _, __: g.facts.connections(entity, FACTS, Window(limit=5, newest=False)),
    "connections as known": lambda g, entity, _, __: g.facts.connections(
        entity, FACTS.model_copy(update={"known_at": at(2026, 2)}), PAGE
    ),
    "connections that held": lambda g, entity, _, __: g.facts.connections(
        entity, FACTS.model_copy(update={"as_of": at(2026, 2), "with_due_plans": True}), PAGE
    ),
    "facts of the group": lambda g, _, __, ___: g.facts.group_facts(FACTS, PAGE),
    "facts that follow from another": lambda g, entity, _, fact: g.facts.group_facts(
        FACTS.model_copy(update={"because_of": (entity, fact), "only_current": True}), PAGE
    ),
    "facts of episodes": lambda g, _, episode, __: g.facts.facts_of_episodes([episode], [GROUP], 5),
    "nearest sentences": lambda g, _, episode, fact: g.part(CHANGE_LISTS).nearest_sentences(
        [(fact, episode)], [GROUP], 100
    ),
    "facts between": lambda g, entity, _, __: g.facts.facts_between(GROUP, [(entity, entity)], 5),
    "facts with a relation": lambda g, entity, _, __: g.facts.facts_with_relation(GROUP, [(entity, "KNOWS")], 5),
    "retired by an episode": lambda g, _, episode, __: g.facts.retired_by_episode(episode, [GROUP], 5),
    "retired by a fact": lambda g, _, __, fact: g.facts.retired_by_fact(fact, [GROUP], 5),
    "neighbours and kinds": lambda g, entity, _, __: g.facts.fact_counts(entity, FACTS, 5, 5),
    "readings": lambda g, entity, _, __: g.facts.readings(GROUP, entity, "sleep", 5),
    "facts by uuid": lambda g, _, __, fact: g.records.get_facts([fact], [GROUP]),
    "uuids by prefix": lambda g, _, __, fact: g.records.find_uuids("fact", fact[:8], [GROUP], 5),
    "entities by uuid": lambda g, entity, _, __: g.records.get_entities([entity], [GROUP]),
    "entity support": lambda g, entity, _, __: g.records.entity_support([entity]),
    "aliases": lambda g, entity, _, __: g.records.aliases([entity], 5),
    "entity page": lambda g, _, __, ___: g.records.entity_page(ENTITIES, PAGE),
    "timeline": lambda g, entity, _, __: g.episodes.timeline(entity, EPISODES, PAGE),
    "timeline summary": lambda g, entity, _, __: g.episodes.timeline_summary(entity, EPISODES, UTC),
    "mentioned with": lambda g, entity, _, __: g.episodes.mentioned_with(entity, EPISODES, 5, 5),
    "recent episodes": lambda g, _, __, ___: g.episodes.recent_episodes(EPISODES, PAGE),
    "episode entities": lambda g, _, episode, __: g.episodes.episode_entities([episode], [GROUP], PAGE),
    "passages": lambda g, _, episode, __: g.episodes.passages(episode, without_vector=True, limit=5),
    "changes of a period": lambda g, _, __, ___: g.part(CHANGE_LISTS).changes(CHANGES, PAGE),
    "changes told since": lambda g, _, __, ___: g.part(CHANGE_LISTS).changes(
        CHANGES.model_copy(update={"told_since": at(2020), "told_until": NOW}), PAGE
    ),
    "shortest paths": lambda g, entity, _, __: g.part(WALKS_PART).shortest_paths(entity, "none", FACTS, 3, 2),
    "neighbourhood": lambda g, entity, _, __: g.part(WALKS_PART).neighbourhood([entity], FACTS, 2, 5, 5),
    "changes of a fact": lambda g, _, __, fact: g.changes.fact_changes([fact], [GROUP], 5),
    "replacements": lambda g, _, __, fact: g.changes.replacements([fact], [GROUP]),
    "search of entities": lambda g, _, __, ___: g.search.search_entities(["sarah"], ENTITIES, 5),
    "search of facts": lambda g, _, __, ___: g.search.search_facts(["knows"], FACTS, 5),
    "search of episodes": lambda g, _, __, ___: g.search.search_episodes(["berlin"], EPISODES, 5),
    "words of episodes": lambda g, _, episode, __: g.search.episode_words([episode], ["berlin"], [], [GROUP]),
    "episodes that have a word": lambda g, _, __, ___: g.search.episodes_holding(["berlin"], EPISODES),
    "cosines of episodes": lambda g, _, episode, __: g.search.episode_cosines(VECTOR, [episode], [GROUP]),
    "places of episodes": lambda g, _, episode, __: g.episodes.episode_places([episode], [GROUP]),
    "followers": lambda g, _, episode, __: g.part(NEIGHBOURS).followers([episode], EPISODES, 400, HALF_AN_HOUR, 5),
    "steps of sagas": lambda g, _, episode, __: g.part(NEIGHBOURS).saga_steps([episode], [GROUP]),
    "documents of a group": lambda g, _, __, ___: g.documents.listed(GROUP, PAGE),
    "sagas of a group": lambda g, _, __, ___: g.sagas.listed(GROUP, PAGE),
    "sagas of episodes": lambda g, _, episode, __: g.sagas.sagas_of_episodes([episode], [GROUP], []),
}


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_question_reads_no_whole_table(graph: SqliteGraph, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    episode, sarah, tom = an_episode("Sarah moved to Berlin."), an_entity("Sarah"), an_entity("Tom")
    fact, passage, saga = a_fact(sarah, tom, episodes=(episode.uuid,)), a_passage(episode), a_saga()
    write = a_write(
        episode,
        sarah,
        tom,
        a_name(sarah),
        fact,
        a_mention(episode, sarah),
        passage,
        saga,
        a_step(saga, episode),
        a_change(fact, episode),
    )
    texts = [sarah.uuid, fact.uuid, passage.uuid]
    await graph.writer.apply(write, dict(zip(texts, await FakeEmbedder().embed(texts), strict=True)))
    asked: list[tuple[str, Any, list[str]]] = []

    class Watched:
        """The connection, with the plan of each statement."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            self._connection = connection

        def execute(self, statement: str, parameters: Any = ()) -> Any:
            if statement.lstrip().startswith("SELECT"):
                found = scans(statement, parameters, self._connection, by_uuid=name in BY_UUID)
                asked.append((statement, parameters, found))
            return self._connection.execute(statement, parameters)

    file = graph._opened.file
    read = file._read
    monkeypatch.setattr(file, "_read", lambda ask: read(lambda db: ask(Watched(db))))
    await QUESTIONS[name](graph, sarah.uuid, episode.uuid, fact.uuid)
    assert asked
    assert [(statement, found) for statement, _, found in asked if found] == []


async def test_the_sentences_of_many_facts_are_read_with_one_statement(
    graph: SqliteGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    sarah = an_entity("Sarah")
    notes = [an_episode(f"Note {i}.") for i in range(9)]
    facts = [a_fact(sarah, sarah, text=f"Fact {i}", episodes=(note.uuid,)) for i, note in enumerate(notes)]
    parts = list(map(a_passage, notes))
    texts = [one.uuid for one in (*facts, *parts)]
    vectors = dict(zip(texts, await FakeEmbedder().embed(texts), strict=True))
    await graph.writer.apply(a_write(sarah, *notes, *facts, *parts), vectors)
    asked: list[str] = []
    file = graph._opened.file
    connect = file._connect

    def traced(**options: bool) -> sqlite3.Connection:
        connection = connect(**options)
        connection.set_trace_callback(asked.append)
        return connection

    monkeypatch.setattr(file, "_connect", traced)
    pairs = [(fact.uuid, note.uuid) for fact, note in zip(facts, notes, strict=True)]

    found = await graph.part(CHANGE_LISTS).nearest_sentences(pairs, [GROUP], 100)

    assert len(found) == len(notes)
    assert sum("FROM json_each" in statement and "passage" in statement for statement in asked) == 1


def test_a_scan_is_seen() -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE fact (uuid TEXT PRIMARY KEY, text TEXT)")
        assert scans("SELECT * FROM fact WHERE text = ?", ("x",), connection) == ["SCAN fact"]
        assert scans("SELECT * FROM fact WHERE uuid = ?", ("x",), connection) == []


def steps_of_an_unknown_name(db: sqlite3.Connection) -> int:
    """How many steps SQLite's machine takes."""
    steps: list[None] = []
    db.set_progress_handler(lambda: steps.append(None), 1)
    assert lookups.names(db, [name_key(GROUP, "Nobody")]) == {}
    db.set_progress_handler(None, 1)
    return len(steps)


async def test_a_name_that_nobody_has_costs_the_same_in_a_memory_of_any_size(graph: SqliteGraph) -> None:
    steps = []
    for size in (3, 300):
        people = [an_entity(f"Entity {size} {number}") for number in range(size)]
        await graph.writer.apply(a_write(*people, *map(a_name, people)), {})
        steps.append(await graph._opened.file.read(steps_of_an_unknown_name))
    assert steps[0] == steps[1]
