"""Vector indexes of large groups: built in the background, never another answer than an exact scan, never required."""

import asyncio
import math
from array import array
from collections.abc import AsyncIterator

import pytest
from tests.builders import a_fact, a_write, an_entity, at
from tests.integration.vector_world import (
    ALL_KINDS,
    FEW,
    LARGE,
    SIZE,
    SMALL,
    VectorWorld,
    all_built,
    entities,
    episodes,
    facts,
    until_built,
    watch,
)
from tests.integration.watched_database import watched
from tests.neo4j_server import Neo4jAddress, empty

from graphiti_pkm.core.model.records import NewVectors
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.opening import opening
from graphiti_pkm.storage.graph.queries import vectors as queries_vectors
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.graph.vector_indexes import ALL, ENTITIES, FACTS

QUERIES = 40


def another_store(first: GraphStore) -> GraphStore:
    """As the next process has it."""
    return GraphStore(first._opened.open_database)


@pytest.fixture(scope="module")
def kept(neo4j_server: Neo4jAddress) -> VectorWorld:
    """What the tests find that only read. They stand first: those that follow begin with an empty database."""

    async def fill() -> VectorWorld:
        made = await _filled(_store_on(neo4j_server))
        await _indexed(made)
        # A plan that another test had made of the same query, over less, would be kept.
        await (await made.store.database()).write(Query("plan anew", "CALL db.prepareForReplanning(60)", {}))
        await made.store.close()
        return made

    empty(neo4j_server)
    return asyncio.run(fill())


@pytest.fixture
async def large(kept: VectorWorld, neo4j_server: Neo4jAddress) -> AsyncIterator[VectorWorld]:
    """With indexes that are complete and known; only to be read."""
    kept.use(_store_on(neo4j_server))
    await kept.store.vectors.detect_vector_indexes()
    yield kept
    await kept.store.close()


@pytest.fixture
async def world(store: GraphStore) -> VectorWorld:
    return await _filled(store)


@pytest.fixture
async def indexed(world: VectorWorld) -> VectorWorld:
    """As ``large``, to be changed."""
    return await _indexed(world)


def _store_on(address: Neo4jAddress) -> GraphStore:
    settings = address.product_settings()
    return GraphStore(opening(Settings.model_validate(settings)).open_database)


async def _filled(store: GraphStore) -> VectorWorld:
    made = VectorWorld(store)
    await made.fill(LARGE, SIZE)
    await made.fill(SMALL, FEW)
    return made


async def _indexed(world: VectorWorld) -> VectorWorld:
    await world.store.vectors.tend_vector_indexes()
    await until_built(world.store, all_built)
    return world


async def test_searches_of_a_large_group_find_what_an_exact_search_finds(large: VectorWorld) -> None:
    hits = {ENTITIES: 0, FACTS: 0}
    for _ in range(QUERIES):
        query = large.vector()
        found = list(await large.store.search.nearest_entities(query, entities(), 10))
        hits[ENTITIES] += len({*found} & {*large.nearest(large.large(large.entities), query, 10)})
        told = list(await large.store.search.nearest_facts(query, facts(), 10))
        hits[FACTS] += len({*told} & {*large.nearest(large.large(large.facts), query, 10)})
    assert all(count >= 0.97 * 10 * QUERIES for count in hits.values())
    assert large.watched.answered == ["entities", "facts"] * QUERIES


async def test_hits_of_an_index_are_scored_exactly_and_ordered(large: VectorWorld) -> None:
    query = large.vector()
    found = await large.store.search.nearest_facts(query, facts(), 10)
    assert large.watched.answered == ["facts"]
    cosines = [sum(a * b for a, b in zip(query, large.vectors[uuid], strict=True)) for uuid in found]
    assert list(found.values()) == pytest.approx(cosines, abs=1e-4)
    assert list(found.values()) == sorted(found.values(), reverse=True)


async def test_an_episode_is_found_by_its_best_passage_through_an_index(large: VectorWorld) -> None:
    passage = large.passages[17]
    query = large.vectors[passage.uuid]
    found = await large.store.search.nearest_episodes(query, episodes(), 10)
    assert large.watched.answered == ["passages"]
    assert next(iter(found)) == passage.episode_uuid
    assert len(found) == 10


async def test_the_indexes_have_the_models_dimension_and_compare_by_cosine(large: VectorWorld) -> None:
    text = """SHOW VECTOR INDEXES YIELD labelsOrTypes, properties, options
      RETURN labelsOrTypes AS labels, properties, options.indexConfig AS config"""
    (found,) = await (await large.store.database()).read(Query("test", text, {}))
    configs = {(*row["labels"], *row["properties"]): row["config"] for row in found}
    config = configs["Passage", "embedding"]
    assert config["vector.dimensions"] == len(large.vector())
    assert str(config["vector.similarity_function"]).lower() == "cosine"


async def test_a_small_group_is_never_searched_through_an_index(large: VectorWorld) -> None:
    query = large.vector()
    own = [record for record in large.facts if record.group_id == SMALL]
    assert list(await large.store.search.nearest_facts(query, facts(SMALL), 10)) == large.nearest(own, query, 10)
    assert large.watched.answered == []


async def test_filters_count_before_the_limit_also_through_an_index(large: VectorWorld) -> None:
    query = large.vector()
    wanted = facts(valid_after=at(2022), valid_before=at(2023))
    fitting = [record for record in large.large(large.facts) if record.valid_at == at(2022)]  # type: ignore[union-attr]
    assert list(await large.store.search.nearest_facts(query, wanted, 10)) == large.nearest(fitting, query, 10)
    assert large.watched.answered == ["facts"]


async def test_what_a_filter_leaves_too_little_of_is_scanned(large: VectorWorld) -> None:
    far = large.nearest(large.large(large.facts), large.vector(), SIZE)[-1]
    (fact,) = await large.store.records.get_facts([far], [LARGE])
    wanted = facts(neighbour_uuid=fact.source_uuid)
    query = large.vector()
    expected = [one for one in large.facts if fact.source_uuid in {one.source_uuid, one.target_uuid}]
    assert list(await large.store.search.nearest_facts(query, wanted, 10)) == large.nearest(expected, query, 10)


async def test_an_exact_scan_starts_at_the_index_of_groups(large: VectorWorld) -> None:
    query, database = large.vector(), await watched(large.store)
    for asked in (
        queries_vectors.nearest_entities(query, entities(SMALL), 10),
        queries_vectors.nearest_facts(query, facts(SMALL), 10),
        queries_vectors.nearest_episodes(query, episodes(SMALL), 10),
    ):
        first = await database.profile(asked)
        while first.get("children"):
            first = first["children"][0]
        assert "IndexSeek" in first["operatorType"]
        assert first["rows"] == FEW


async def test_no_index_is_made_while_no_group_exceeds_the_threshold(store: GraphStore) -> None:
    world = VectorWorld(store)
    for i in range(3):
        await world.fill(f"g{i}", 1_500)  # more than the threshold together
    await store.vectors.tend_vector_indexes()
    assert await store.vectors.vector_indexes() == ()
    assert len(await store.search.nearest_facts(world.vector(), facts("g1"), 10)) == 10


async def test_as_soon_as_somebody_else_has_anything_no_index_decides_what_is_found(indexed: VectorWorld) -> None:
    """Which of the near ones an index gives depends on all that is in it."""
    query = indexed.vector()
    await indexed.store.search.nearest_facts(query, facts(), 10)
    assert indexed.watched.answered == ["facts"]
    somebody = an_entity("Eve", group_id=f"{'e' * 32}_default")
    await indexed.store.writer.apply(a_write(somebody), {somebody.uuid: indexed.vector()})
    expected = indexed.nearest(indexed.large(indexed.facts), query, 10)
    assert list(await indexed.store.search.nearest_facts(query, facts(), 10)) == expected
    assert indexed.watched.answered == ["facts"]


async def test_before_an_index_is_complete_searches_are_exact_and_the_memory_is_ready(world: VectorWorld) -> None:
    await world.store.vectors.tend_vector_indexes()
    assert {index.name for index in await world.store.vectors.vector_indexes()} == ALL_KINDS
    query = world.vector()
    expected = world.nearest(world.large(world.facts), query, 10)
    assert list(await world.store.search.nearest_facts(query, facts(), 10)) == expected
    assert await world.store.ready()
    assert len(await world.store.search.search_facts(["told"], facts(), SIZE)) == SIZE
    await until_built(world.store, all_built)


async def test_what_is_written_while_an_index_is_built_and_after_is_found(world: VectorWorld) -> None:
    await world.store.vectors.tend_vector_indexes()
    sarah = an_entity("Sarah", group_id=LARGE)
    first, second = (a_fact(sarah, sarah, text=text) for text in ("during", "after"))
    vectors = {one.uuid: world.vector() for one in (first, second)}
    await world.store.writer.apply(a_write(sarah, first, group_id=LARGE), vectors)
    await until_built(world.store, all_built)
    await world.store.writer.apply(a_write(second, group_id=LARGE), vectors)
    for one in (first, second):
        assert next(iter(await world.store.search.nearest_facts(vectors[one.uuid], facts(), 10))) == one.uuid
    assert world.watched.answered == ["facts", "facts"]


async def test_a_new_vector_takes_the_place_of_the_old_one_in_an_index(indexed: VectorWorld) -> None:
    entity = indexed.entities[5]
    old, new = indexed.vectors[entity.uuid], array("f", [-value for value in indexed.vectors[entity.uuid]])
    await indexed.store.writer.apply(a_write(entity, group_id=LARGE), {entity.uuid: new})
    assert next(iter(await indexed.store.search.nearest_entities(new, entities(), 10))) == entity.uuid
    assert entity.uuid not in await indexed.store.search.nearest_entities(old, entities(), 10)
    assert indexed.watched.answered == ["entities", "entities"]


async def test_after_many_deletions_all_that_is_left_is_found(indexed: VectorWorld) -> None:
    query = indexed.vector()
    kept = set(indexed.nearest(indexed.large(indexed.entities), query, SIZE)[SIZE - 100 :])
    gone = [one for one in indexed.large(indexed.entities) if one.uuid not in kept]
    text = "UNWIND $uuids AS u MATCH (n:Entity {uuid: u}) SET n.name_embedding = null"
    database = await indexed.store.database()
    await database.write(Query("test", text, {"uuids": [one.uuid for one in gone]}))
    left = [one for one in indexed.entities if one.uuid in kept]
    assert list(await indexed.store.search.nearest_entities(query, entities(), 10)) == indexed.nearest(left, query, 10)


async def test_an_index_that_another_process_dropped_is_not_missed(indexed: VectorWorld) -> None:
    database = await indexed.store.database()
    await database.drop_vector_index(FACTS)
    query = indexed.vector()
    expected = indexed.nearest(indexed.large(indexed.facts), query, 10)
    assert list(await indexed.store.search.nearest_facts(query, facts(), 10)) == expected
    assert indexed.watched.answered == []
    await indexed.store.vectors.tend_vector_indexes()
    await until_built(indexed.store, all_built)


async def test_processes_that_tend_together_build_each_index_once(
    world: VectorWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    stores = [world.store, *(another_store(world.store) for _ in range(3))]
    for store in stores[1:]:
        watch(store)
    await asyncio.gather(*(store.vectors.tend_vector_indexes() for store in stores))
    await until_built(world.store, all_built)
    assert sum("building a vector index" in record.message for record in caplog.records) == len(ALL)
    for store in stores[1:]:
        await store.vectors.detect_vector_indexes()
        assert len(await store.search.nearest_facts(world.vector(), facts(), 10)) == 10
        await store.close()


async def test_clearing_the_graph_forgets_its_indexes(indexed: VectorWorld) -> None:
    await indexed.store.clear()
    assert await indexed.store.vectors.vector_indexes() == ()
    assert await indexed.store.search.nearest_facts(indexed.vector(), facts(), 10) == {}
    assert indexed.watched.answered == []


async def test_another_dimension_gets_an_index_of_its_own(indexed: VectorWorld) -> None:
    store = indexed.store
    await store.embeddings.change_embedding("another model", 3)
    while await store.vectors.vector_indexes():
        pass
    while await store.embeddings.remove_vectors(5_000):
        pass
    uuids = [one.uuid for one in indexed.entities]
    angles = {uuid: 3.0 * place / len(uuids) for place, uuid in enumerate(uuids)}
    vectors = {uuid: array("f", [math.cos(angle), math.sin(angle), 0]) for uuid, angle in angles.items()}
    for start in range(0, len(uuids), 500):
        batch = uuids[start : start + 500]
        await store.writer.apply(
            a_write(new_vectors=NewVectors(entities=tuple(batch))), {one: vectors[one] for one in batch}
        )
    await store.vectors.tend_vector_indexes()
    await until_built(store, lambda percents: percents == {"entities": 100})
    found = await store.search.nearest_entities(array("f", [1, 0, 0]), entities(), 5)
    assert list(found) == uuids[:5]
    assert indexed.watched.answered == ["entities"]


async def test_the_keeper_builds_by_itself_and_ends_when_told(world: VectorWorld) -> None:
    stop = asyncio.Event()
    world.store.vectors.settle_seconds = 0.01
    keeping = asyncio.create_task(world.store.vectors.maintain_indexes(stop))
    await until_built(world.store, all_built)
    stop.set()
    await keeping
