"""Queries find what they start from by an index: Neo4j's planner says so, nothing is timed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_change, a_fact, a_write, an_entity, an_episode, at, new_uuid
from tests.integration.watched_database import WatchedDatabase, watched

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter, Window
from graphiti_pkm.storage.graph import shared_extraction_jobs
from graphiti_pkm.storage.graph.queries import changes as queries_changes
from graphiti_pkm.storage.graph.queries import documents as queries_documents
from graphiti_pkm.storage.graph.queries import facts as queries_facts
from graphiti_pkm.storage.graph.queries import neighbours as queries_neighbours
from graphiti_pkm.storage.graph.queries import paths as queries_paths
from graphiti_pkm.storage.graph.queries import read as queries_read
from graphiti_pkm.storage.graph.queries import search as queries_search
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore

MANY = 200
ONE, OTHER, NOTE = new_uuid(), new_uuid(), new_uuid()
PAGE = Window(limit=5)
FACTS = FactFilter(group_ids=(GROUP,), now=at(2026, 6))
KNOWN = FACTS.model_copy(update={"known_at": at(2026, 2)})
STATUS = EntityFilter(group_ids=(GROUP,), status=(("accepted", "approved"), at(2026, 2)))
READING: dict[str, Any] = {
    "server": "one",
    "uuid": new_uuid(),
    "uuids": [new_uuid()],
    "episode_uuid": new_uuid(),
    "group_id": GROUP,
    "group_ids": [GROUP],
    "properties": {},
    "turn": "1",
    "state": "failed",
    "lease": 1,
    "after": 0,
    "limit": 5,
    "longest": 1,
}


@pytest.fixture
async def database(neo4j_graph: GraphStore) -> WatchedDatabase:
    """With so much that an index is worth more than a look at everything."""
    for group in (GROUP, OTHER_GROUP, "t3"):
        people = [an_entity(f"Person {i}", group_id=group) for i in range(MANY)]
        facts = [a_fact(one, people[i - 1], text=f"Fact {i}") for i, one in enumerate(people)]
        notes = [an_episode(group_id=group), an_episode(group_id=group, uuid=NOTE if group == GROUP else new_uuid())]
        changes = [a_change(fact, notes[i < 3]) for i, fact in enumerate(facts)]
        await neo4j_graph.writer.apply(a_write(*people, *notes, *facts, *changes, group_id=group), {})
    found = await watched(neo4j_graph)
    await found.write(Query("plan anew", "CALL db.prepareForReplanning(60)", {}))
    return found


def steps(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", ()):
        yield from steps(child)


def of_walks() -> list[Query]:
    fact = a_fact(an_entity(), an_entity())
    return [
        *queries_paths.fact_sources(fact, [GROUP], "paragraph", PAGE),
        queries_paths.degrees([ONE, OTHER]),
        queries_paths.steps([ONE, OTHER], FACTS, 3),
        queries_paths.fact_joining(ONE, OTHER, FACTS),
        queries_paths.ring([ONE], [ONE], FACTS, 10),
        *queries_paths.facts_among([ONE, OTHER], FACTS, 10),
    ]


def of_what_was_known() -> list[Query]:
    queries = [
        *queries_read.entity_page(STATUS, PAGE),
        queries_read.first_fact(None, [GROUP], []),
        queries_read.first_fact(ONE, [GROUP], []),
        queries_read.record_start([GROUP]),
        queries_facts.first_changes(ONE, KNOWN),
        queries_facts.first_changes(None, KNOWN),
        *queries_read.connections(ONE, KNOWN, PAGE, []),
    ]
    for asked in (KNOWN, KNOWN.model_copy(update={"by_reference_time": True})):
        queries += [*queries_read.connections(ONE, asked, PAGE), *queries_read.group_facts(asked, PAGE)]
        queries += [queries_read.facts_under([ONE], asked), queries_read.fact_counts(ONE, asked, 5, 5)]
    return queries


def of_readings() -> list[Query]:
    names = ("_TAKE_OVER", "_OWN", "_BEGIN", "_HOLDS", "_END", "_LATEST")
    return [Query(name, getattr(shared_extraction_jobs, name), READING) for name in names]


def of_documents() -> list[Query]:
    after = PAGE.model_copy(update={"after": ("2026-01-01T00:00:00+00:00", ONE, 1, 1, ONE)})
    return [
        queries_documents.present(GROUP, "guide"),
        queries_documents.with_digest(GROUP, "d1"),
        queries_documents.at_path(GROUP, "guide.md"),
        queries_documents.counts(GROUP),
        queries_documents.listed(GROUP, PAGE),
        queries_documents.documents([ONE], [GROUP]),
        queries_documents.sections(ONE, GROUP, 10),
        queries_documents.placed([NOTE], [GROUP]),
        queries_documents.holding([NOTE], [GROUP], 10),
        *queries_documents.instances(ONE, [GROUP], after, None),
    ]


@pytest.mark.parametrize("queries", [of_walks, of_what_was_known, of_readings, of_documents])
async def test_queries_start_at_an_index(database: WatchedDatabase, queries: Any) -> None:
    for query in queries():
        plan = [(one["operatorType"], one["args"].get("Details")) for one in steps(await database.plan(query))]
        assert [kind for kind, _ in plan if "Index" in kind], query.name
        # Of the servers there is a handful, and all are asked for.
        scans = [step for step in plan if "Scan" in step[0] and "Index" not in step[0] and step[1] != "s:Server"]
        assert scans == [], query.name


async def test_what_an_episode_ended_is_found_without_trying_every_change(database: WatchedDatabase) -> None:
    profile = await database.profile(queries_changes.retired_by_episode(NOTE, [GROUP], 10))
    (found,) = [one for one in steps(profile) if "c:Change" in one["args"].get("Details", "")]
    assert "IndexSeek" in found["operatorType"]
    assert found["rows"] == 3


async def test_who_follows_is_looked_for_in_the_half_hour_after_only(database: WatchedDatabase) -> None:
    asked = queries_neighbours.followers([NOTE], EpisodeFilter(group_ids=(GROUP,)), 400, timedelta(minutes=30), 5)
    plan = await database.plan(asked)
    (found,) = [one for one in steps(plan) if "e:Episodic" in one["args"].get("Details", "")]
    assert "IndexSeek" in found["operatorType"]
    assert "valid_at" in found["args"]["Details"]


async def test_later_episodes_are_looked_for_by_when_they_were_recorded(database: WatchedDatabase) -> None:
    plan = await database.plan(queries_search.later_counts(["words"], [GROUP], at(2026)))
    sought = [one for one in steps(plan) if "IndexSeek" in one["operatorType"]]
    assert any("e:Episodic(created_at)" in one["args"]["Details"] for one in sought)
