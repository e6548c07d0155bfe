"""Contract of ``Graph``: nearness is exact, inside the groups asked, by raw cosine."""

import math
import random
from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from tests.builders import a_fact, a_mention, a_passage, a_write, an_entity, an_episode, at

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.graph import Graph

NOW = at(2026, 6)
DIMENSION = 32
CLOSE = 1e-4


def unit(numbers: Sequence[float]) -> Vector:
    length = math.sqrt(sum(number * number for number in numbers))
    return array("f", [number / length for number in numbers])


def some_vectors(count: int, seed: int = 1) -> list[Vector]:
    source = random.Random(seed)  # noqa: S311 the same vectors in every run
    return [unit([source.gauss(0, 1) for _ in range(DIMENSION)]) for _ in range(count)]


def leaning(cosine: float) -> Vector:
    """A vector with this cosine to ``AHEAD``."""
    return unit([cosine, math.sqrt(1 - cosine * cosine), *[0.0] * (DIMENSION - 2)])


AHEAD = leaning(1.0)


def dot(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def entities(**fields: Any) -> EntityFilter:
    return EntityFilter(**{"group_ids": ("t1",), **fields})


def facts(**fields: Any) -> FactFilter:
    return FactFilter(**{"group_ids": ("t1",), "now": NOW, **fields})


def episodes(**fields: Any) -> EpisodeFilter:
    return EpisodeFilter(**{"group_ids": ("t1",), **fields})


async def test_the_nearest_entities_are_exactly_those_with_the_highest_cosine(graph: Graph) -> None:
    people = [an_entity(f"N{i}") for i in range(60)]
    vectors = dict(zip([one.uuid for one in people], some_vectors(60), strict=True))
    await graph.writer.apply(a_write(*people), vectors)
    query = some_vectors(1, seed=2)[0]
    expected = sorted(((dot(query, vector), uuid) for uuid, vector in vectors.items()), reverse=True)
    found = await graph.search.nearest_entities(query, entities(), 10)
    assert list(found) == [uuid for _, uuid in expected[:10]]
    assert list(found.values()) == pytest.approx([cosine for cosine, _ in expected[:10]], abs=CLOSE)
    assert len(await graph.search.nearest_entities(query, entities(), 100)) == 60


async def test_the_nearest_facts_are_exactly_those_with_the_highest_cosine(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    told = [a_fact(sarah, tom, text=str(i)) for i in range(40)]
    vectors = dict(zip([one.uuid for one in told], some_vectors(40), strict=True))
    await graph.writer.apply(a_write(sarah, tom, *told), vectors)
    query = some_vectors(1, seed=3)[0]
    expected = sorted(((dot(query, vector), uuid) for uuid, vector in vectors.items()), reverse=True)
    found = await graph.search.nearest_facts(query, facts(), 7)
    assert list(found) == [uuid for _, uuid in expected[:7]]
    assert list(found.values()) == pytest.approx([cosine for cosine, _ in expected[:7]], abs=CLOSE)


@pytest.mark.parametrize("cosine", [1.0, 0.5, 0.0, -0.5, -1.0])
async def test_scores_are_raw_cosines_also_negative_ones(graph: Graph, cosine: float) -> None:
    sarah = an_entity("Sarah")
    await graph.writer.apply(a_write(sarah), {sarah.uuid: leaning(cosine)})
    assert (await graph.search.nearest_entities(AHEAD, entities(), 5))[sarah.uuid] == pytest.approx(cosine, abs=CLOSE)


async def test_without_vectors_nothing_is_near(graph: Graph) -> None:
    sarah, episode = an_entity("Sarah"), an_episode()
    await graph.writer.apply(a_write(sarah, a_fact(sarah, sarah), episode, a_passage(episode)), {})
    assert await graph.search.nearest_entities(AHEAD, entities(), 5) == {}
    assert await graph.search.nearest_facts(AHEAD, facts(), 5) == {}
    assert await graph.search.nearest_episodes(AHEAD, episodes(), 5) == {}


async def test_an_episode_is_as_near_as_its_best_passage(graph: Graph) -> None:
    first, second, third = an_episode("One. Two. Three."), an_episode("Four."), an_episode("Five.")
    spans = [(0, 4), (5, 9), (10, 16)]
    passages = [a_passage(first, *span) for span in spans]
    middle, far = a_passage(second), a_passage(third)
    cosines = dict(zip([one.uuid for one in (*passages, middle, far)], [0.7, 0.9, 0.8, 0.5, 0.1], strict=True))
    write = a_write(first, second, third, *passages, middle, far)
    await graph.writer.apply(write, {uuid: leaning(cosine) for uuid, cosine in cosines.items()})
    found = await graph.search.nearest_episodes(AHEAD, episodes(), 2)
    assert list(found) == [first.uuid, second.uuid]
    best = found[first.uuid]
    assert (best.start, best.end) == (5, 9)
    assert best.cosine == pytest.approx(0.9, abs=CLOSE)
    asked = [third.uuid, first.uuid, "unknown", third.uuid]
    of_these = await graph.search.episode_cosines(AHEAD, asked, ["t1"])
    assert of_these == {first.uuid: pytest.approx(0.9, abs=CLOSE), third.uuid: pytest.approx(0.1, abs=CLOSE)}
    assert await graph.search.episode_cosines(AHEAD, asked, ["t2"]) == {}
    assert await graph.search.episode_cosines(AHEAD, [], ["t1"]) == {}


async def test_another_groups_vectors_do_not_crowd_out_ones_own(graph: Graph) -> None:
    own, others = an_entity("Sarah"), [an_entity(f"N{i}", group_id="t2") for i in range(100)]
    await graph.writer.apply(a_write(own), {own.uuid: leaning(0.1)})
    await graph.writer.apply(a_write(*others), {one.uuid: leaning(0.99) for one in others})
    assert list(await graph.search.nearest_entities(AHEAD, entities(), 5)) == [own.uuid]
    assert len(await graph.search.nearest_entities(AHEAD, entities(group_ids=("t1", "t2")), 200)) == 101
    assert await graph.search.nearest_entities(AHEAD, entities(group_ids=("t3",)), 5) == {}


async def test_near_entities_are_filtered_by_type_and_time(graph: Graph) -> None:
    person, place = an_entity("P", label="Person"), an_entity("Q", label="Place", created_at=at(2025))
    await graph.writer.apply(a_write(person, place), {person.uuid: leaning(0.9), place.uuid: leaning(0.8)})
    assert list(await graph.search.nearest_entities(AHEAD, entities(labels=("Place",)), 5)) == [place.uuid]
    assert list(await graph.search.nearest_entities(AHEAD, entities(recorded_until=at(2025)), 5)) == [place.uuid]


async def test_near_facts_are_filtered_inside_the_query(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    ended = [a_fact(sarah, tom, invalid_at=at(2025), expired_at=at(2025)) for _ in range(30)]
    now, relation = a_fact(sarah, tom, valid_at=at(2025)), a_fact(tom, sarah, "BUILDS", kind="event")
    vectors = {fact.uuid: leaning(0.99) for fact in ended} | {now.uuid: leaning(0.2), relation.uuid: leaning(0.1)}
    await graph.writer.apply(a_write(sarah, tom, *ended, now, relation), vectors)
    assert list(await graph.search.nearest_facts(AHEAD, facts(only_current=True), 3)) == [now.uuid]
    assert list(await graph.search.nearest_facts(AHEAD, facts(relations=("BUILDS",)), 3)) == [relation.uuid]
    assert list(await graph.search.nearest_facts(AHEAD, facts(valid_after=at(2025)), 3)) == [now.uuid]
    assert await graph.search.nearest_facts(AHEAD, facts(recorded_until=at(2020)), 3) == {}


async def test_near_episodes_are_filtered_inside_the_query(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    noise = [an_episode(f"Note {i}", valid_at=at(2024)) for i in range(30)]
    told = an_episode("ParsedRequest", valid_at=at(2025), created_at=at(2025, 5))
    passages = [a_passage(one) for one in noise]
    own = a_passage(told)
    vectors = {one.uuid: leaning(0.99) for one in passages} | {own.uuid: leaning(0.3)}
    await graph.writer.apply(a_write(sarah, *noise, told, *passages, own, a_mention(told, sarah)), vectors)
    filters = [episodes(entity_uuid=sarah.uuid), episodes(valid_after=at(2025)), episodes(recorded_until=at(2025, 5))]
    for asked in filters:
        assert list(await graph.search.nearest_episodes(AHEAD, asked, 3)) == [told.uuid]
    assert told.uuid not in await graph.search.nearest_episodes(AHEAD, episodes(valid_before=at(2025)), 50)


async def test_a_new_vector_takes_the_place_of_the_old_one(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    await graph.writer.apply(a_write(sarah, tom), {sarah.uuid: leaning(0.2), tom.uuid: leaning(0.5)})
    await graph.writer.apply(a_write(sarah.model_copy(update={"summary": "new"})), {sarah.uuid: leaning(0.8)})
    found = await graph.search.nearest_entities(AHEAD, entities(), 5)
    assert list(found) == [sarah.uuid, tom.uuid]
    assert found[sarah.uuid] == pytest.approx(0.8, abs=CLOSE)


async def test_changing_an_entity_or_a_fact_without_a_vector_keeps_the_one_it_has(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    fact = a_fact(sarah, sarah)
    await graph.writer.apply(a_write(sarah, fact), {sarah.uuid: leaning(0.6), fact.uuid: leaning(0.4)})
    changed = sarah.model_copy(update={"summary": "new", "label": "Person"})
    await graph.writer.apply(a_write(changed, fact.model_copy(update={"value": "new"})), {})
    assert (await graph.search.nearest_entities(AHEAD, entities(), 5))[sarah.uuid] == pytest.approx(0.6, abs=CLOSE)
    assert (await graph.search.nearest_facts(AHEAD, facts(), 5))[fact.uuid] == pytest.approx(0.4, abs=CLOSE)


async def test_what_was_deleted_is_near_to_nothing(graph: Graph) -> None:
    sarah, episode = an_entity("Sarah"), an_episode()
    fact, passage = a_fact(sarah, sarah), a_passage(episode)
    await graph.writer.apply(
        a_write(sarah, episode, fact, passage), {one.uuid: AHEAD for one in (sarah, fact, passage)}
    )
    gone = {"episodes": (episode.uuid,), "entities": (sarah.uuid,), "facts": (fact.uuid,)}
    await graph.writer.apply(a_write(deletions=gone), {})
    assert await graph.search.nearest_entities(AHEAD, entities(), 5) == {}
    assert await graph.search.nearest_facts(AHEAD, facts(), 5) == {}
    assert await graph.search.nearest_episodes(AHEAD, episodes(), 5) == {}


async def test_a_small_memory_has_no_index_to_wait_for(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    await graph.writer.apply(a_write(sarah), {sarah.uuid: AHEAD})
    assert await graph.vectors.vector_indexes() == ()
