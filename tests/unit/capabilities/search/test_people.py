"""People found as callers call them: by a first name that several have, by a role towards the user, now and before."""

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.search.assembly import FLAGS, NEIGHBOURS
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import NodeSearchResponse

JUDITH = {"name": "Judith Brandt", "type": "Person", "summary": "The user's coach."}
SISTER = {"name": "Lena Holm", "type": "Person", "aliases": ["my sister Lena"]}


@pytest.fixture
async def world() -> WritingWorld:
    world = WritingWorld(now=at(2026, 6))
    coach = {"source": "me", "relation": "HAS_COACH"}
    await world.tell("x", {**coach, "target": "Judith Brandt", "valid_at": "2026-01-12"}, entities=[JUDITH])
    await world.tell(
        "x", {**coach, "target": "Peter Aas", "valid_at": "2026-05-04", "replaces": "Judith Brandt"},
        entities=[{"name": "Peter Aas", "type": "Person"}],
    )  # fmt: skip
    await world.tell("x", {"source": "Lena", "relation": "WORKS_AT", "target": "Fjordbank"}, entities=[
        {"name": "Lena", "type": "Person"}])  # fmt: skip
    await world.tell("x", {"source": "Lena Holm", "relation": "IS_SISTER_OF", "target": "me"}, entities=[SISTER])
    await world.tell("x", {"source": "me", "relation": "HAS_FATHER", "target": "Arne"})
    world.clock.advance(seconds=60)
    return world


async def asked(world: WritingWorld, *names: str) -> NodeSearchResponse:
    groups = Groups(world.graph, world.context.settings)
    searching = Searching(world.context, groups, world.graph.part(NEIGHBOURS), world.graph.part(FLAGS))
    return await searching.search_nodes(LOCAL, SearchNodes(names=list(names)))


async def test_a_first_name_of_two_brings_both_and_what_tells_them_apart(world: WritingWorld) -> None:
    answer = await asked(world, "Lena")
    assert [node.name for node in answer.nodes] == ["Lena", "Lena Holm"]
    assert answer.ambiguous is not None
    colleague, sister = answer.ambiguous["Lena"]
    assert colleague.startswith(f"Lena ({world.entity('Lena').uuid[:8]}), Person: Lena works at Fjordbank")
    assert sister.startswith(f"Lena Holm ({world.entity('Lena Holm').uuid[:8]}), Person: Lena Holm is sister of")
    assert answer.not_found is None


async def test_a_whole_name_is_not_ambiguous(world: WritingWorld) -> None:
    answer = await asked(world, "Lena Holm", "Peter Aas")
    assert ([node.name for node in answer.nodes], answer.ambiguous, answer.roles) == (
        ["Lena Holm", "Peter Aas"], None, None,
    )  # fmt: skip


async def test_a_role_brings_who_holds_it_now_then_who_held_it_with_dates(world: WritingWorld) -> None:
    answer = await asked(world, "my coach")
    assert [node.name for node in answer.nodes] == ["Peter Aas", "Judith Brandt"]
    assert answer.roles is not None
    now, before = answer.roles["my coach"]
    assert now == f"now: Peter Aas ({world.entity('Peter Aas').uuid[:8]}), from 2026-05-04"
    assert (
        before == f"before: Judith Brandt ({world.entity('Judith Brandt').uuid[:8]}), from 2026-01-12 until 2026-05-04"
    )


@pytest.mark.parametrize("name", ["dad", "my dad", "Father"])
async def test_a_role_is_found_by_the_words_for_it(world: WritingWorld, name: str) -> None:
    assert [node.name for node in (await asked(world, name)).nodes] == ["Arne"]


async def test_whoever_has_only_ended_facts_says_so_and_the_summary_is_past(world: WritingWorld) -> None:
    (judith,) = (await asked(world, "Judith Brandt")).nodes
    assert (judith.facts, judith.ended_facts) == ([], 1)
    assert (judith.summary, judith.past_summary) == ("", "The user's coach.")
    (peter,) = (await asked(world, "Peter Aas")).nodes
    assert (peter.ended_facts, peter.past_summary) == (None, None)
