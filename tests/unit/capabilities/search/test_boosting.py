"""Fitness in search_nodes: what is counted, and the order with and without a boost."""

import pytest
from tests.builders import GROUP, a_quality, a_write, an_entity
from tests.worlds.reading_world import World

from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.core.model.answers import NodeSearchResponse
from graphiti_pkm.core.model.fitness import Fitness, Usage
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.core.reading.ranking import ranked

PIES = [an_entity(f"Apple pie {letter}") for letter in "abcdefghijklmnopqrst"]


async def a_world(fitness: str, *entities: Entity) -> World:
    world = World(default_group=GROUP, fitness=fitness)
    await world.given(a_write(*(entities or PIES)))
    return world


async def search(world: World, query: str | None = "apple pie", **fields: object) -> NodeSearchResponse:
    request = SearchNodes.model_validate({"query": query, **fields})
    return await world.searching.search_nodes(world.caller, request)


def uuids(answer: NodeSearchResponse) -> list[str]:
    return [node.uuid for node in answer.nodes]


def give(world: World, entity: Entity, hits: int, relevance: float) -> None:
    """What other searches counted."""
    counted = Usage(uuid=entity.uuid, group_id=entity.group_id, hits=hits, relevance=relevance)
    world.graph.tables.counters["elsewhere", entity.uuid] = counted


async def hits(world: World, *entities: Entity) -> list[int]:
    await world.usage.flush()
    found = await world.usage.fitness([one.uuid for one in entities], [GROUP])
    return [found.get(one.uuid, Fitness()).hits for one in entities]


async def test_three_searches_that_return_an_entity_count_three_and_what_the_limit_cuts_counts_nothing() -> None:
    world = await a_world("record")
    answers = [await search(world, max_nodes=5) for _ in range(3)]
    returned = [one for one in PIES if one.uuid in uuids(answers[0])]
    others = [one for one in PIES if one not in returned]
    assert (len(returned), answers[0].truncated) == (5, True)
    assert await hits(world, *returned) == [3] * 5
    assert await hits(world, *others) == [0] * 15
    await search(world, max_nodes=5, cursor=answers[0].next_cursor)
    assert sum(await hits(world, *others)) == 5


async def test_lists_and_names_and_searches_by_words_alone_count_nothing() -> None:
    world = await a_world("record")
    await search(world, None, names=[PIES[0].name])
    await search(world, None, entity_types=["Entity"])
    world.embedder.is_available = False
    assert (await search(world)).nodes
    assert await hits(world, *PIES) == [0] * len(PIES)


async def test_without_a_boost_answers_are_the_same_whatever_was_counted_and_set() -> None:
    plain = await a_world("off")
    recording = await a_world("record")
    await recording.given(a_write(a_quality(PIES[3], bias=1.0)))
    give(recording, PIES[4], 9, 9.0)
    for _ in range(2):
        asked = {"max_nodes": 20, "names": [PIES[7].name]}
        assert await search(recording, **asked) == await search(plain, **asked)
        await recording.usage.flush()
    assert await hits(plain, *PIES) == [0] * len(PIES)


async def test_a_boost_multiplies_scores_and_shows_both_and_their_difference() -> None:
    world = await a_world("boost")
    await world.given(a_write(a_quality(PIES[11], bias=0.5)))
    give(world, PIES[11], 4, 2.0)
    answer = await search(world, max_nodes=20)
    assert answer.nodes[0].uuid == PIES[11].uuid
    for node in answer.nodes:
        assert node.score is not None
        is_pushed = node.uuid == PIES[11].uuid
        assert node.boosted_score == pytest.approx(node.score * (2.0 if is_pushed else 1.0), abs=2e-3)
        assert node.query_count == (4 if is_pushed else 0)
        assert sum((node.why or {}).values()) == pytest.approx(node.boosted_score, abs=5e-3)


async def test_what_ranks_fifteenth_can_rise_into_the_first_ten() -> None:
    before = uuids(await search(await a_world("record"), max_nodes=20))
    assert len(before) == 20
    world = await a_world("boost")
    late = next(one for one in PIES if one.uuid == before[14])
    give(world, late, 1, 1.0)
    assert late.uuid in uuids(await search(world, max_nodes=10))


async def test_a_call_may_do_without_the_boost() -> None:
    world = await a_world("boost")
    give(world, PIES[9], 1, 1.0)
    plain = await search(await a_world("record"), max_nodes=20)
    answer = await search(world, max_nodes=20, boost=False)
    assert answer.nodes == plain.nodes
    assert uuids(await search(world, max_nodes=20))[0] == PIES[9].uuid


async def test_where_all_are_pushed_down_the_order_is_that_of_the_plain_scores() -> None:
    before = uuids(await search(await a_world("record"), max_nodes=20))
    world = await a_world("boost")
    await world.given(a_write(*(a_quality(one, bias=-1.0) for one in PIES)))
    answer = await search(world, max_nodes=20)
    assert uuids(answer) == before
    assert all(node.boosted_score for node in answer.nodes)


async def test_of_equal_boosted_scores_the_higher_plain_one_comes_first() -> None:
    better, worse = an_entity("Apple"), an_entity("Apple pie with cream")
    world = await a_world("boost", better, worse)
    plain = {node.uuid: node.score or 0.0 for node in (await search(world, "apple")).nodes}
    assert plain[better.uuid] > plain[worse.uuid]
    scores = {better.uuid: 1.0, worse.uuid: 1.0}
    assert [uuid for uuid, _ in ranked(scores, plain)] == [better.uuid, worse.uuid]


async def test_the_counted_match_is_never_the_boosted_one() -> None:
    world = await a_world("boost", an_entity("Apple"))
    (apple,) = world.graph.tables.entities.values()
    await world.given(a_write(a_quality(apple, bias=1.0)))
    for _ in range(3):
        await search(world, "apple")
        await world.usage.flush()
    found = (await world.usage.fitness([apple.uuid], [GROUP]))[apple.uuid]
    assert found.score <= 1.0
    assert found.relevance == pytest.approx(3 * found.score)


async def test_pages_of_a_boosted_search_neither_repeat_nor_lose_anything() -> None:
    world = await a_world("boost")
    for place, one in enumerate(PIES[::3]):
        give(world, one, 10, float(place))
    whole = uuids(await search(world, max_nodes=20))
    pages, cursor = [], None
    while True:
        page = await search(world, max_nodes=6, cursor=cursor)
        pages += uuids(page)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert pages == whole
