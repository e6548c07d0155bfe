"""FalkorDB answers some natural queries wrongly and silently; each test here fails if our store asked that way.

The notes on it are in the docstring of ``storage/graph/queries/parts.py``; what concerns HNSW indexes is in
``test_store_vectors.py``.
"""

from array import array
from collections.abc import Sequence
from datetime import UTC, timedelta
from pathlib import Path

import pytest
import redis
from tests.builders import (
    GROUP,
    OTHER_GROUP,
    RECORDED,
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
from tests.falkor import graph_name

from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.places import Stretch
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Vector
from graphiti_pkm.errors import EmbeddingMismatch, InvalidInput, WriteFailed
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.queries import changes as queries_changes
from graphiti_pkm.storage.graph.queries import episodes as queries_episodes
from graphiti_pkm.storage.graph.queries import neighbours as queries_neighbours
from graphiti_pkm.storage.graph.queries import read as queries_read
from graphiti_pkm.storage.graph.queries import sagas as queries_sagas
from graphiti_pkm.storage.graph.queries import search as queries_search
from graphiti_pkm.storage.graph.queries import write as queries_write
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore

NOW = at(2026, 6)
FACTS = FactFilter(group_ids=(GROUP,), now=NOW)
EPISODES = EpisodeFilter(group_ids=(GROUP,))
ENTITIES = EntityFilter(group_ids=(GROUP,))
CHANGES = ChangeFilter(group_ids=(GROUP,), recorded_until=NOW, since=at(2026))
PAGE = Window(limit=100)


def vector(*values: float) -> Vector:
    return array("f", values)


async def a_hub(store: GraphStore, facts_each_way: int) -> Entity:
    hub, others = an_entity("Hub"), [an_entity(f"Person {i}") for i in range(facts_each_way)]
    out = [a_fact(hub, other, valid_at=at(2025)) for other in others]
    into = [a_fact(other, hub, valid_at=at(2025)) for other in others]
    await store.writer.apply(a_write(hub, *others, *out, *into), {})
    return hub


def plan(socket: Path, store: GraphStore, query: Query) -> str:
    with redis.Redis(unix_socket_path=str(socket), decode_responses=True) as client:
        lines: Sequence[str] = client.execute_command("GRAPH.EXPLAIN", graph_name(store), query.command())
        return "\n".join(lines)


async def test_incoming_facts_are_not_lost_to_the_index_of_group_ids(falkor_graph: GraphStore) -> None:
    hub = await a_hub(falkor_graph, 10)
    page = await falkor_graph.facts.connections(hub.uuid, FACTS, PAGE)
    assert (page.total, len(page.facts)) == (20, 20)
    assert sum(fact.target_uuid == hub.uuid for fact in page.facts) == 10
    counts = await falkor_graph.facts.neighbour_counts(hub.uuid, FACTS, 100)
    assert sum(count.facts for count in counts) == 20
    assert len((await falkor_graph.facts.newest_facts([hub.uuid], [GROUP], NOW, 50))[hub.uuid]) == 20
    assert await falkor_graph.records.entity_support([hub.uuid]) == {hub.uuid: (0, 20)}


async def test_incoming_facts_are_not_lost_to_the_indexes_of_names_and_times(falkor_graph: GraphStore) -> None:
    hub = await a_hub(falkor_graph, 10)
    wanted = FACTS.model_copy(
        update={"relations": ("KNOWS",), "valid_after": at(2024), "valid_before": at(2026), "as_of": at(2026)}
    )
    assert (await falkor_graph.facts.connections(hub.uuid, wanted, PAGE)).total == 20
    current = FACTS.model_copy(update={"only_current": True})
    assert (await falkor_graph.facts.connections(hub.uuid, current, PAGE)).total == 20


async def test_a_comparison_with_an_indexed_string_does_not_match_everything(falkor_graph: GraphStore) -> None:
    hub = an_entity("Hub")
    episodes = [an_episode(f"Day {i}", valid_at=at(2025, 1, i)) for i in range(1, 21)]
    facts = [a_fact(hub, hub, text=f"Fact {i}", valid_at=at(2025, 1, i)) for i in range(1, 21)]
    passages = [a_passage(episode) for episode in episodes]
    uuids = [*(fact.uuid for fact in facts), *(passage.uuid for passage in passages)]
    vectors = dict.fromkeys(uuids, vector(1.0, 0.0))
    mentions = [a_mention(episode, hub) for episode in episodes]
    await falkor_graph.writer.apply(a_write(hub, *episodes, *facts, *passages, *mentions), vectors)

    early = {"valid_before": at(2025, 1, 6)}
    some_episodes, some_facts = EPISODES.model_copy(update=early), FACTS.model_copy(update=early)
    assert (await falkor_graph.episodes.recent_episodes(some_episodes, PAGE)).total == 5
    assert (await falkor_graph.episodes.timeline(hub.uuid, some_episodes, PAGE)).total == 5
    assert len(await falkor_graph.search.search_episodes(["day"], some_episodes, 100)) == 5
    assert len(await falkor_graph.search.nearest_episodes(vector(1.0, 0.0), some_episodes, 100)) == 5
    assert (await falkor_graph.facts.connections(hub.uuid, some_facts, PAGE)).total == 5
    assert len(await falkor_graph.search.search_facts(["fact"], some_facts, 100)) == 5
    assert len(await falkor_graph.search.nearest_facts(vector(1.0, 0.0), some_facts, 100)) == 5
    before_all = EPISODES.model_copy(update={"recorded_until": RECORDED - timedelta(seconds=1)})
    assert (await falkor_graph.episodes.recent_episodes(before_all, PAGE)).total == 0


async def test_uuids_by_prefix_are_those_with_the_prefix(falkor_graph: GraphStore) -> None:
    episodes = [an_episode(uuid=f"{i:08x}-0000-4000-8000-{i:012x}") for i in range(0, 4096, 16)]
    await falkor_graph.writer.apply(a_write(*episodes), {})
    for prefix in ("00000", "00000f", "00000f0", "00000ff0", "ffffffff", "0"):
        wanted = sorted(episode.uuid for episode in episodes if episode.uuid.startswith(prefix))
        assert await falkor_graph.records.find_uuids("episode", prefix, [GROUP], 1_000) == wanted
    whole = episodes[7].uuid
    assert await falkor_graph.records.find_uuids("episode", whole, [GROUP], 10) == [whole]
    assert await falkor_graph.records.find_uuids("episode", whole, [OTHER_GROUP], 10) == []


async def test_a_unit_vector_over_another_one_replaces_it(falkor_graph: GraphStore) -> None:
    """Vectors compare truncated to integers: to FalkorDB these two are equal, and SET would change nothing."""
    old, new = vector(0.6, 0.8), vector(0.8, -0.6)
    entity, episode = an_entity("Sarah"), an_episode()
    fact, passage = a_fact(entity, entity), a_passage(episode)
    records = (entity, episode, fact, passage)
    embedded = [record.uuid for record in (entity, fact, passage)]
    await falkor_graph.writer.apply(a_write(*records), dict.fromkeys(embedded, old))
    await falkor_graph.writer.apply(a_write(*records), dict.fromkeys(embedded, new))

    entities = await falkor_graph.search.nearest_entities(new, ENTITIES, 10)
    facts = await falkor_graph.search.nearest_facts(new, FACTS, 10)
    episodes = await falkor_graph.search.nearest_episodes(new, EPISODES, 10)
    assert entities == {entity.uuid: pytest.approx(1, abs=1e-5)}
    assert facts == {fact.uuid: pytest.approx(1, abs=1e-5)}
    assert episodes[episode.uuid].cosine == pytest.approx(1, abs=1e-5)


async def test_a_record_saved_again_without_a_vector_keeps_the_one_it_has(falkor_graph: GraphStore) -> None:
    entity, episode = an_entity("Sarah"), an_episode()
    fact, passage = a_fact(entity, entity), a_passage(episode)
    unit = vector(0.6, 0.8)
    uuids = [record.uuid for record in (entity, fact, passage)]
    await falkor_graph.writer.apply(a_write(entity, episode, fact, passage), dict.fromkeys(uuids, unit))
    await falkor_graph.writer.apply(a_write(entity, episode, fact, passage), {})
    assert await falkor_graph.search.nearest_entities(unit, ENTITIES, 10) == {entity.uuid: pytest.approx(1, abs=1e-5)}
    assert await falkor_graph.search.nearest_facts(unit, FACTS, 10) == {fact.uuid: pytest.approx(1, abs=1e-5)}
    assert await falkor_graph.episodes.passages(episode.uuid, without_vector=True, limit=10) == []


async def test_an_empty_list_does_not_end_a_write_or_a_read(falkor_graph: GraphStore) -> None:
    episode, entity = an_episode(), an_entity("Sarah")
    only_an_episode, only_an_entity, nothing = a_write(episode), a_write(entity), a_write()
    for write in (only_an_episode, only_an_entity, nothing):
        await falkor_graph.writer.apply(write, {})
    uuids = [write.uuid for write in (only_an_episode, only_an_entity, nothing)]
    assert await falkor_graph.writer.applied(uuids) == set(uuids)
    assert await falkor_graph.records.get_episodes([episode.uuid], [GROUP]) == [episode]
    assert await falkor_graph.records.get_entities([], [GROUP]) == []
    assert await falkor_graph.records.get_entities([entity.uuid], []) == []
    assert await falkor_graph.facts.facts_between(GROUP, [], 5) == []
    assert await falkor_graph.records.get_names([]) == {}
    assert await falkor_graph.episodes.episode_entities([], [GROUP], PAGE) == ([], 0)
    assert await falkor_graph.writer.applied([]) == set()


async def test_a_part_that_matches_nothing_does_not_end_the_write(falkor_graph: GraphStore) -> None:
    """A fact between entities that are not there, an update of no fact, and after them what must be written."""
    ghost, episode = an_entity("Ghost"), an_episode()
    missing = a_fact(ghost, ghost)
    write = a_write(missing, an_update(missing, voided=True), a_mention(episode, ghost), episode, a_passage(episode))
    await falkor_graph.writer.apply(write, {})
    assert await falkor_graph.writer.applied([write.uuid]) == {write.uuid}
    assert len(await falkor_graph.episodes.passages(episode.uuid, without_vector=False, limit=10)) == 1
    assert await falkor_graph.records.get_entities([ghost.uuid], [GROUP]) == []


async def test_a_vector_of_another_dimension_is_refused_before_it_breaks_every_search(
    falkor_graph: GraphStore,
) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await falkor_graph.embeddings.record_embedding("model", 2)
    await falkor_graph.writer.apply(a_write(sarah), {sarah.uuid: vector(0.6, 0.8)})
    with pytest.raises(WriteFailed, match="2 dimensions"):
        await falkor_graph.writer.apply(a_write(tom), {tom.uuid: vector(0.6, 0.8, 0.0)})
    assert await falkor_graph.records.get_entities([tom.uuid], [GROUP]) == []
    assert list(await falkor_graph.search.nearest_entities(vector(0.6, 0.8), ENTITIES, 10)) == [sarah.uuid]
    with pytest.raises(EmbeddingMismatch):
        await falkor_graph.search.nearest_entities(vector(0.6, 0.8, 0.0), ENTITIES, 10)


async def test_a_zero_vector_is_refused_and_is_near_to_nothing(falkor_graph: GraphStore) -> None:
    sarah = an_entity("Sarah")
    await falkor_graph.writer.apply(a_write(sarah), {sarah.uuid: vector(0.6, 0.8)})
    with pytest.raises(WriteFailed):
        await falkor_graph.writer.apply(a_write(sarah), {sarah.uuid: vector(0.0, 0.0)})
    assert await falkor_graph.search.nearest_entities(vector(0.0, 0.0), ENTITIES, 10) == {}
    assert await falkor_graph.search.nearest_facts(vector(0.0, 0.0), FACTS, 10) == {}
    assert await falkor_graph.search.nearest_episodes(vector(0.0, 0.0), EPISODES, 10) == {}


async def test_a_zero_vector_of_other_software_is_left_out_of_the_ranking(falkor_graph: GraphStore) -> None:
    sarah, zero = an_entity("Sarah"), an_entity("Zero")
    await falkor_graph.writer.apply(a_write(sarah, zero), {sarah.uuid: vector(0.6, 0.8)})
    await (await falkor_graph.database()).write(
        Query("zero", "MATCH (n:Entity {uuid: $uuid}) SET n.name_embedding = vecf32([0.0, 0.0])", {"uuid": zero.uuid})
    )
    assert list(await falkor_graph.search.nearest_entities(vector(0.6, 0.8), ENTITIES, 10)) == [sarah.uuid]


@pytest.mark.parametrize("text", ["be\x00fore", "\x00", "half \ud800 pair"])
async def test_nul_and_lone_surrogates_are_refused_not_dropped(falkor_graph: GraphStore, text: str) -> None:
    write = a_write(an_episode(text), an_entity("Sarah"))
    with pytest.raises(WriteFailed):
        await falkor_graph.writer.apply(write, {})
    assert await falkor_graph.writer.applied([write.uuid]) == set()
    assert await falkor_graph.records.groups() == []
    with pytest.raises(InvalidInput):
        await falkor_graph.records.find_uuids("entity", text, [GROUP], 5)


KINDS: tuple[queries_search.ScopeKind, ...] = ("fact", "entity", "episode")


async def test_no_hit_is_looked_up_by_property_after_a_search(falkor_socket: Path, falkor_graph: GraphStore) -> None:
    """MATCH by property after YIELD, once a hit, took 4.8 s at 70,000 facts; along an edge it does not matter."""
    await falkor_graph.writer.apply(a_write(an_episode()), {})
    of_entity = EPISODES.model_copy(update={"entity_uuid": new_uuid()})
    words = {
        kind: queries_search.weighed(queries_search.asked_words(["berlin"], [GROUP], kind), {0: 1}) for kind in KINDS
    }
    for query in (
        queries_search.search_facts(words["fact"], FACTS, 10),
        queries_search.search_entities(words["entity"], ENTITIES, 10),
        queries_search.search_episodes(words["episode"], EPISODES, 10),
        queries_search.search_episodes(words["episode"], of_entity, 10),
        queries_search.episodes_naming(GROUP, "Berlin", NOW, None, 10),
    ):
        steps = plan(falkor_socket, falkor_graph, query)
        assert "ProcedureCall" in steps
        assert "Scan" not in steps


async def test_reads_around_one_record_start_at_its_index(falkor_socket: Path, falkor_graph: GraphStore) -> None:
    """A label too many, or a filter in the wrong place, and every node of the label is tried first."""
    await falkor_graph.writer.apply(a_write(an_episode()), {})
    uuid = new_uuid()
    of_entity = CHANGES.model_copy(update={"entity_uuid": uuid, "kinds": ("retired", "added")})
    queries = [
        *queries_read.connections(uuid, FACTS, PAGE),
        *queries_episodes.timeline(uuid, EPISODES, PAGE),
        queries_episodes.months_in_utc(uuid, EPISODES),
        queries_episodes.months_in_any_zone(uuid, EPISODES),
        *queries_episodes.episode_entities([uuid], [GROUP], PAGE),
        *queries_read.distances(uuid, [uuid]),
        queries_read.neighbour_counts(uuid, FACTS, 10),
        queries_read.facts([uuid], [GROUP]),
        queries_read.entities([uuid], [GROUP]),
        queries_read.episodes([uuid], [GROUP]),
        queries_read.facts_with_relation(GROUP, uuid, "KNOWS", 5),
        queries_read.facts_between(GROUP, uuid, uuid, 5),
        queries_episodes.episode_facts(uuid, [GROUP], 5),
        queries_read.entity_support([uuid]),
        queries_neighbours.own_mentions([uuid], 5),
        queries_neighbours.saga_steps([uuid], [GROUP]),
        queries_sagas.find(GROUP, uuid, "x"),
        queries_sagas.latest(uuid),
        queries_sagas.episodes(uuid, at(2026), 5),
        queries_sagas.holding([uuid], [GROUP], [uuid]),
        queries_sagas.links([uuid]),
        queries_sagas.joined(GROUP, 5),
        queries_neighbours.same_text(Stretch(group_id=GROUP, start=at(2026), end=at(2027)), "x"),
        queries_episodes.passages(uuid, 5, without_vector=True),
        queries_read.names([uuid]),
        queries_read.aliases(uuid, 5),
        queries_changes.retired_by_episode(uuid, [GROUP], 5),
        queries_changes.retired_by_fact(uuid, [GROUP], 5),
        queries_changes.fact_changes(uuid, [GROUP], 5),
        queries_changes.openings([uuid], [GROUP], 5),
        queries_changes.replacements([uuid], [GROUP]),
        queries_read.voided([uuid], [GROUP]),
        queries_changes.nearest_sentences([(uuid, uuid)], [GROUP], 5),
        *(query for source in queries_changes.changes(CHANGES, PAGE) for query in source),
        *(query for source in queries_changes.changes(of_entity, PAGE) for query in source),
    ]
    for query in queries:
        steps = plan(falkor_socket, falkor_graph, query)
        assert "Index Scan" in steps, query.name
        assert "Label Scan" not in steps, query.name
        assert "All Node Scan" not in steps, query.name


@pytest.mark.parametrize(
    "query", ["adr-12", "ADR-12?", "15.2", 'state-of-the-art "x"', "a:b @name (c|d) -berlin ~e* %f% {g} [h] \\ $i"]
)
async def test_hyphens_and_query_syntax_are_words(falkor_graph: GraphStore, query: str) -> None:
    """``-`` negates and ``:``, ``@``, ``(`` are errors to the full-text index."""
    sarah = an_entity("Sarah", summary=query)
    episode, fact = an_episode(query), a_fact(sarah, sarah, text=query)
    await falkor_graph.writer.apply(a_write(episode, sarah, fact), {})
    terms = search_terms(query)
    assert list(await falkor_graph.search.search_episodes(terms, EPISODES, 10)) == [episode.uuid]
    assert list(await falkor_graph.search.search_facts(terms, FACTS, 10)) == [fact.uuid]
    assert list(await falkor_graph.search.search_entities(terms, ENTITIES, 10)) == [sarah.uuid]
    assert list(await falkor_graph.search.search_episodes([query], EPISODES, 10)) == [episode.uuid]


@pytest.mark.parametrize("word", ["will", "may", "the", "a", "to", "not", "and", "or"])
async def test_stop_words_are_found(falkor_graph: GraphStore, word: str) -> None:
    sarah = an_entity(word.title())
    episode, fact = an_episode(f"So {word} came."), a_fact(sarah, sarah, text=f"{word} comes")
    await falkor_graph.writer.apply(a_write(episode, sarah, fact), {})
    assert list(await falkor_graph.search.search_episodes([word], EPISODES, 10)) == [episode.uuid]
    assert list(await falkor_graph.search.search_facts([word], FACTS, 10)) == [fact.uuid]
    assert list(await falkor_graph.search.search_entities([word], ENTITIES, 10)) == [sarah.uuid]


async def test_a_word_longer_than_the_index_can_find_is_found(falkor_graph: GraphStore) -> None:
    for word in ("x" * 128, "x" * 129, "ё" * 100, "x" * 5_000):
        episode = an_episode(f"{word} {new_uuid()}", group_id=new_uuid())
        await falkor_graph.writer.apply(a_write(episode), {})
        wanted = EpisodeFilter(group_ids=(episode.group_id,))
        assert list(await falkor_graph.search.search_episodes([word], wanted, 10)) == [episode.uuid]


@pytest.mark.parametrize("group", ["with-hyphen", "550e8400-e29b-41d4-a716-446655440000", "the", "a_b", "x" * 64])
async def test_groups_of_any_spelling_are_searched_and_kept_apart(falkor_graph: GraphStore, group: str) -> None:
    ours, theirs = (an_episode("Berlin", group_id=one) for one in (group, f"{group}2"))
    await falkor_graph.writer.apply(a_write(ours), {})
    await falkor_graph.writer.apply(a_write(theirs), {})
    wanted = EpisodeFilter(group_ids=(group,))
    assert list(await falkor_graph.search.search_episodes(["berlin"], wanted, 10)) == [ours.uuid]
    assert (await falkor_graph.episodes.recent_episodes(wanted, PAGE)).total == 1


@pytest.mark.parametrize("text", ["a\x01b", "\x01", "  padded  ", " ", "", "tab\t", "\x1f\x1f"])
async def test_names_that_the_index_cannot_hold_are_merged_and_found(falkor_graph: GraphStore, text: str) -> None:
    """An indexed value is trimmed and split at U+0001; a unique constraint on one that is lost ends the server."""
    sarah = an_entity("Sarah")
    name = a_name(sarah, "Sal").model_copy(update={"key": f"{GROUP}\x1f{text}", "text": text})
    for _ in range(2):
        await falkor_graph.writer.apply(a_write(sarah, name), {})
    assert await falkor_graph.records.get_names([name.key]) == {name.key: name}
    book = await falkor_graph.records.name_book(GROUP, None)
    assert book is not None
    assert book.names == (name,)


async def test_a_write_whose_marker_is_there_is_not_done_again(falkor_graph: GraphStore) -> None:
    """``OPTIONAL MATCH … WHERE x IS NULL`` filters before it matches, and would let everything through."""
    sarah = an_entity("Sarah", summary="old")
    first = a_write(sarah)
    await falkor_graph.writer.apply(first, {})
    newer = sarah.model_copy(update={"summary": "new"})
    await falkor_graph.writer.apply(a_write(newer), {})
    await falkor_graph.writer.apply(first, {})
    assert await falkor_graph.records.get_entities([sarah.uuid], [GROUP]) == [newer]


async def test_a_query_that_fails_halfway_leaves_nothing(falkor_graph: GraphStore) -> None:
    """MULTI does not roll back; a single query does, and a write is a single query."""
    database = await falkor_graph.database()
    episode = {"uuid": new_uuid(), "group_id": GROUP}
    rows = [{"uuid": episode["uuid"], "properties": episode, "scope": "x0", "text": "berlin", "corrected": False}]
    broken = queries_write.write(
        new_uuid(),
        [(queries_write.EPISODES, rows), ("CREATE (:Passage {embedding: vecf32(r)})", ["no vector"])],
        {},
        None,
    )
    with pytest.raises(Refused):
        await database.write(broken)
    (found,) = await database.read(Query("count", "MATCH (n) WHERE n.uuid = $uuid RETURN n.uuid AS uuid", episode))
    assert found == []


async def test_what_is_deleted_is_found_no_more(falkor_graph: GraphStore) -> None:
    sarah, episode = an_entity("Sarah"), an_episode("Sarah in Berlin")
    fact, passage = a_fact(sarah, sarah, text="Sarah likes Berlin"), a_passage(episode)
    embedded = {record.uuid: vector(1.0, 0.0) for record in (sarah, fact, passage)}
    await falkor_graph.writer.apply(
        a_write(sarah, a_name(sarah), a_name(sarah, "Sal"), episode, fact, passage), embedded
    )
    gone = {"facts": (fact.uuid,), "entities": (sarah.uuid,), "episodes": (episode.uuid,)}
    await falkor_graph.writer.apply(a_write(deletions=gone), {})
    terms = ["sarah", "sal", "berlin"]
    assert await falkor_graph.search.search_episodes(terms, EPISODES, 10) == {}
    assert await falkor_graph.search.search_facts(terms, FACTS, 10) == {}
    assert await falkor_graph.search.search_entities(terms, ENTITIES, 10) == {}
    assert await falkor_graph.search.nearest_episodes(vector(1.0, 0.0), EPISODES, 10) == {}
    assert await falkor_graph.records.groups() == []
    (left,) = await (await falkor_graph.database()).read(
        Query("left", "MATCH (n) WHERE NOT n:Write AND NOT n:Meta RETURN labels(n)[0] AS label, n.id AS id", {})
    )
    assert sorted((row["label"], row["id"]) for row in left) == [("Group", GROUP), ("SearchText", "canary")]


async def test_an_episode_joined_twice_to_an_entity_is_counted_once(
    falkor_socket: Path, falkor_graph: GraphStore
) -> None:
    episode, sarah = an_episode(), an_entity("Sarah")
    await falkor_graph.writer.apply(a_write(episode, sarah, a_mention(episode, sarah)), {})
    with redis.Redis(unix_socket_path=str(falkor_socket)) as client:
        client.execute_command(
            "GRAPH.QUERY", graph_name(falkor_graph), "MATCH (e:Episodic), (n:Entity) CREATE (e)-[:MENTIONS]->(n)"
        )
    page = await falkor_graph.episodes.timeline(sarah.uuid, EPISODES, PAGE)
    assert (page.total, len(page.episodes)) == (1, 1)
    assert (await falkor_graph.episodes.timeline_summary(sarah.uuid, EPISODES, UTC)).total == 1
