"""Walks over FalkorDB: natural ways to ask that it answers wrongly, and random graphs against a search by hand."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import redis
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_passage, a_write, an_entity, an_episode, at, new_uuid
from tests.fakes import FakeGraph
from tests.falkor import graph_name
from tests.integration.test_falkordb_wrong_answers import plan, vector

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact, WriteIntent
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph import path_search
from graphiti_pkm.storage.graph.queries import paths as queries_paths
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile

NOW = at(2026, 6)
FACTS = FactFilter(group_ids=(GROUP,), now=NOW)
WHENS = (None, at(2023), at(2024), at(2025))
ALL = 1_000


def a_random_graph(source: random.Random) -> tuple[WriteIntent, list[str]]:
    entities = [an_entity(f"N{i}") for i in range(source.randint(4, 12))]
    facts: list[Fact] = []
    for _ in range(source.randint(4, 28)):
        start, end = source.choice(entities), source.choice(entities)
        ended = source.choice((None, None, at(2024, 6), at(2025, 6)))
        facts.append(
            a_fact(
                start,
                end,
                group_id=source.choice((GROUP, GROUP, GROUP, OTHER_GROUP)),
                kind=source.choice(("state", "state", "state", "event")),
                valid_at=source.choice(WHENS),
                reference_time=at(2024),
                invalid_at=ended,
                expired_at=ended,
                voided=source.random() < 0.1,
            )
        )
    return a_write(*entities, *facts), [entity.uuid for entity in entities]


FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"only_current": True},
    {"as_of": at(2024, 3)},
    {"valid_after": at(2024)},
    {"valid_before": at(2025)},
    {"group_ids": (GROUP, OTHER_GROUP)},
)


@pytest.mark.parametrize("seed", range(6))
async def test_random_graphs_have_the_ways_and_surroundings_that_a_search_by_hand_finds(
    falkor_graph: GraphStore, seed: int, tmp_path: Path
) -> None:
    source = random.Random(seed)  # noqa: S311 the same graphs in every run
    write, uuids = a_random_graph(source)
    by_hand, in_a_file = FakeGraph(), SqliteGraph(JournalFile(tmp_path / "data", name=MEMORY))
    for graph in (falkor_graph, in_a_file, by_hand):
        await graph.writer.apply(write, {})
    found, expected = [one.part(WALKS_PART) for one in (falkor_graph, in_a_file)], by_hand.part(WALKS_PART)
    for fields in FILTERS:
        wanted = FACTS.model_copy(update=fields)
        for _ in range(5):
            start, end = source.sample(uuids, 2)
            hops = source.randint(1, 5)
            asked = (start, end, wanted, hops, ALL)
            paths = await expected.shortest_paths(*asked)
            assert [await walks.shortest_paths(*asked) for walks in found] == [paths, paths]
            around = (
                [start, end][: source.randint(1, 2)],
                wanted,
                source.randint(1, 3),
                source.randint(0, 12),
                source.randint(1, 30),
            )
            near = await expected.neighbourhood(*around)
            assert [await walks.neighbourhood(*around) for walks in found] == [near, near]
    await in_a_file.close()


async def test_incoming_facts_are_not_lost_on_a_walk(falkor_graph: GraphStore) -> None:
    """An undirected match with a predicate on an indexed property of the edge drops them."""
    hub, others = an_entity("Hub"), [an_entity(f"Person {i}") for i in range(20)]
    facts = [
        a_fact(hub, other, valid_at=at(2025)) if i % 2 else a_fact(other, hub, valid_at=at(2025))
        for i, other in enumerate(others)
    ]
    await falkor_graph.writer.apply(a_write(hub, *others, *facts), {})
    found = await falkor_graph.part(WALKS_PART).neighbourhood([hub.uuid], FACTS, 1, 50, 50)
    assert (len(found.entities), found.facts_total) == (20, 20)
    for one, other in pairwise(others):
        (path,) = await falkor_graph.part(WALKS_PART).shortest_paths(one.uuid, other.uuid, FACTS, 2, 3)
        assert len(path) == 2


async def test_a_search_between_two_hubs_that_gets_out_of_hand_is_refused(
    falkor_graph: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on at the end with fewer facts: one hub alone is walked around, two are not."""
    hubs = [an_entity("Hub 1"), an_entity("Hub 2")]
    spokes = [[an_entity(f"Spoke {i} of {hub.name}") for i in range(9)] for hub in hubs]
    facts = [a_fact(hub, spoke) for hub, around in zip(hubs, spokes, strict=True) for spoke in around]
    tail = [an_entity(f"Tail {i}") for i in range(3)]
    facts += [a_fact(one, other) for one, other in pairwise([hubs[0], *tail])]
    await falkor_graph.writer.apply(a_write(*hubs, *spokes[0], *spokes[1], *tail, *facts), {})
    monkeypatch.setattr(path_search, "MOST_FACTS", 8)
    (path,) = await falkor_graph.part(WALKS_PART).shortest_paths(hubs[0].uuid, tail[-1].uuid, FACTS, 4, 3)
    assert len(path) == 3
    with pytest.raises(InvalidInput, match="fewer max_hops"):
        await falkor_graph.part(WALKS_PART).shortest_paths(hubs[0].uuid, hubs[1].uuid, FACTS, 4, 3)


async def test_a_filter_on_the_whole_path_is_applied_to_the_shortest_ones_only(
    falkor_socket: Path, falkor_graph: GraphStore
) -> None:
    """Why the condition stands on the edge: asked of the path, a longer way that fits is not found."""
    a, b, c = an_entity("A"), an_entity("B"), an_entity("C")
    ended = a_fact(a, c, valid_at=at(2024), invalid_at=at(2025), expired_at=at(2025))
    await falkor_graph.writer.apply(a_write(a, b, c, ended, a_fact(a, b), a_fact(b, c)), {})
    asked_of_the_path = (
        f"MATCH (a:Entity {{uuid: '{a.uuid}'}}), (c:Entity {{uuid: '{c.uuid}'}}) WITH a, c "
        "MATCH p = allShortestPaths((a)-[:RELATES_TO*..4]-(c)) "
        "WHERE all(e IN relationships(p) WHERE e.invalid_at IS NULL) RETURN length(p)"
    )
    with redis.Redis(unix_socket_path=str(falkor_socket)) as client:
        assert client.execute_command("GRAPH.QUERY", graph_name(falkor_graph), asked_of_the_path)[1] == []
    (path,) = await falkor_graph.part(WALKS_PART).shortest_paths(
        a.uuid, c.uuid, FACTS.model_copy(update={"only_current": True}), 4, 3
    )
    assert len(path) == 2


async def test_a_vector_without_direction_ends_no_page_of_sources(falkor_graph: GraphStore) -> None:
    """The cosine with it is -nan, which is neither more nor less than any score."""
    sarah, episode, other = an_entity("Sarah"), an_episode("x" * 20), an_episode("y" * 20)
    near, zero = a_passage(episode, 0, 9), a_passage(other, 10, 19)
    fact = a_fact(sarah, sarah, episodes=(episode.uuid, other.uuid))
    vectors = {near.uuid: vector(0.6, 0.8), zero.uuid: vector(0.8, 0.6), fact.uuid: vector(1.0, 0.0)}
    await falkor_graph.writer.apply(a_write(sarah, episode, other, fact, near, zero), vectors)
    database = await falkor_graph.database()
    for value in ("0", "vecf32([0.0, 0.0])"):  # at once, the new vector would count as equal to the old one
        spoil = f"MATCH (p:Passage {{uuid: $uuid}}) SET p.embedding = {value}"
        await database.write(queries_paths.Query("zero", spoil, {"uuid": zero.uuid}))
    first = await falkor_graph.part(WALKS_PART).fact_sources(fact, [GROUP], "quote", Window(limit=1))
    rest = await falkor_graph.part(WALKS_PART).fact_sources(
        fact, [GROUP], "quote", Window(limit=5, after=first.keys[-1])
    )
    assert [one.start for one in (*first.sources, *rest.sources)] == [0, 10]
    assert (rest.sources[0].cosine, rest.total) == (None, 2)


async def test_walks_start_at_an_index(falkor_socket: Path, falkor_graph: GraphStore) -> None:
    await falkor_graph.writer.apply(a_write(an_episode()), {})
    uuid, other = new_uuid(), new_uuid()
    sarah = an_entity()
    queries = [
        *queries_paths.fact_sources(a_fact(sarah, sarah), [GROUP], "paragraph", Window(limit=5)),
        queries_paths.degrees([uuid, other]),
        queries_paths.steps([uuid, other], FACTS, 3),
        queries_paths.fact_joining(uuid, other, FACTS),
        queries_paths.ring([uuid], [uuid], FACTS, 10),
        *queries_paths.facts_among([uuid, other], FACTS, 10),
    ]
    for query in queries:
        steps = plan(falkor_socket, falkor_graph, query)
        assert "Index Scan" in steps, query.name
        assert "Label Scan" not in steps, query.name
        assert "All Node Scan" not in steps, query.name
