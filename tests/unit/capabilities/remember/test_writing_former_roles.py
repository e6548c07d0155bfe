"""Who is "my coach" once somebody else is."""

import pytest
from tests.builders import at
from tests.worlds.told_world import ToldWorld
from tests.worlds.writing_world import attention, the

from graphiti_pkm.capabilities.history.requests import UpdateEntity
from graphiti_pkm.core.model.access import LOCAL

JUDITH = {"name": "Judith Brandt", "type": "Person", "aliases": ["my coach", "Judith"]}
COACH = {"source": "me", "relation": "HAS_COACH"}


@pytest.fixture
def world() -> ToldWorld:
    return ToldWorld(now=at(2026, 6))


async def test_the_alias_of_a_former_coach_is_reported_with_the_call_that_moves_it(world: ToldWorld) -> None:
    await world.tell("Judith Brandt coaches me.", {**COACH, "target": "Judith Brandt"}, entities=[JUDITH])
    answer = await world.tell("Paul Weber now.", {**COACH, "target": "Paul Weber", "replaces": ["current"]})
    report = the(answer, "alias_taken")
    assert report.detail.startswith("my coach stays the name of Judith Brandt, though this ended: ")
    judith, paul = world.entity("Judith Brandt").uuid, world.entity("Paul Weber").uuid
    assert report.call == (
        f'If it means "Paul Weber" now: update_entity {{"entity_uuid":"{judith[:8]}","remove_aliases":["my coach"]}}, '
        f'then update_entity {{"entity_uuid":"{paul}","add_aliases":["my coach"]}}'
    )
    await world.updating.update_entity(LOCAL, UpdateEntity(entity_uuid=judith[:8], remove_aliases=["my coach"]))
    await world.updating.update_entity(LOCAL, UpdateEntity(entity_uuid=paul, add_aliases=["my coach"]))
    advised = {"source": "my coach", "relation": "ADVISED", "target": "running", "kind": "event"}
    answer = await world.tell("My coach said I should run.", advised)
    assert "Paul Weber" in [one.name for one in answer.entities]
    assert attention(answer) == []


async def test_only_a_role_of_the_user_that_ended_is_reported(world: ToldWorld) -> None:
    friend = {"source": "me", "relation": "VISITS", "target": "Judith Brandt"}
    await world.tell("one", {**COACH, "target": "Judith Brandt"}, friend, entities=[JUDITH])
    assert attention(await world.tell("two", {**friend, "invalid_at": "2026-06-01"})) == []
    assert attention(await world.tell("three", {**COACH, "target": "Judith Brandt", "invalid_at": "2026-06-01"})) == [
        "alias_taken"
    ]


async def test_whoever_manages_the_user_is_their_boss_and_manager(world: ToldWorld) -> None:
    karl = [{"name": "Karl Otto", "type": "Person", "aliases": ["my boss"]}]
    await world.tell(
        "Karl Otto manages me.", {"source": "Karl Otto", "relation": "MANAGES", "target": "me"}, entities=karl
    )
    ida = {"source": "Ida", "relation": "MANAGES", "target": "me", "replaces": ["Karl Otto"]}
    answer = await world.tell("Ida now.", ida, entities=[{"name": "Ida", "type": "Person"}])
    assert the(answer, "alias_taken").detail.startswith("my boss stays the name of Karl Otto")
    for name in ("my boss", "my manager"):
        found = await world.nodes_found(names=[name])
        assert {one.name for one in found.nodes} == {"Ida", "Karl Otto"}
        assert [line.split(" (")[0] for line in (found.roles or {})[name]] == ["now: Ida", "before: Karl Otto"]


PAUL = {"name": "Paul Weber", "type": "Person", "aliases": ["My coach"]}


async def holder(world: ToldWorld) -> list[str]:
    answer = await world.tell("x", {"source": "my coach", "relation": "ADVISED", "target": "running", "kind": "event"})
    return [one.name for one in answer.entities if one.name != "running"]


@pytest.mark.parametrize("is_known", [True, False])
async def test_of_two_that_one_note_declares_the_alias_is_that_of_who_has_the_role_now(
    world: ToldWorld, *, is_known: bool
) -> None:
    if is_known:
        await world.tell("Judith Brandt came.", entities=[{"name": "Judith Brandt", "type": "Person"}])
    past = {**COACH, "target": "Judith Brandt", "invalid_at": "2026-05-01"}
    answer = await world.tell(
        "Judith Brandt was my coach until May, now it is Paul Weber.",
        past,
        {**COACH, "target": "Paul Weber", "valid_at": "2026-05-01"},
        entities=[JUDITH, PAUL],
    )
    assert attention(answer) == []
    aliases = {one.name: one.aliases for one in answer.entities}
    assert (aliases["Judith Brandt"], aliases["Paul Weber"]) == (["Judith"], ["My coach"])
    assert await holder(world) == ["Paul Weber"]


async def test_the_former_holder_may_be_declared_with_the_alias_once_more(world: ToldWorld) -> None:
    await world.tell("Judith Brandt coaches me.", {**COACH, "target": "Judith Brandt"}, entities=[JUDITH])
    again = {**JUDITH, "aliases": ["MY COACH"]}
    answer = await world.tell(
        "Paul Weber now.", {**COACH, "target": "Paul Weber", "replaces": ["current"]}, entities=[again, PAUL]
    )
    assert attention(answer) == []
    assert await holder(world) == ["Paul Weber"]
