"""A start that becomes known is an event: before it, the record did not know it."""

from tests.builders import at
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.history.requests import RetireFact, WhatChanged
from graphiti_pkm.core.model.access import LOCAL

ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "fact": "I work at Acme"}
TOM = {"source": "me", "relation": "WORKS_WITH", "target": "Tom", "fact": "I work with Tom"}


async def kinds(world: WritingWorld) -> list[str]:
    return [one.change for one in (await world.changes.what_changed(LOCAL, WhatChanged(since="2026-06-01"))).changes]


async def tell(world: WritingWorld, *facts: dict[str, str]) -> None:
    await world.tell("A note.", *facts, reference_time="2026-05-10")
    world.clock.advance(seconds=1)


async def test_a_start_told_later_is_recorded_with_what_was_known_before() -> None:
    world = WritingWorld(now=at(2026, 6, 1))
    await tell(world, ACME)
    await tell(world, {**ACME, "valid_at": "2019"})
    fact = world.fact("me WORKS_AT Acme")
    (event,) = (await world.graph.changes.fact_changes([fact.uuid], ["default"], 10))[fact.uuid]
    assert (event.kind, event.previous_valid_at, fact.valid_at) == ("dated", None, at(2019))
    assert await kinds(world) == ["dated", "added"]


async def test_no_event_tells_what_is_told_again_as_it_was_or_in_the_very_note() -> None:
    world = WritingWorld(now=at(2026, 6, 1))
    await tell(world, ACME, {**ACME, "valid_at": "2019"})
    await tell(world, {**ACME, "valid_at": "2019"})
    assert world.fact("me WORKS_AT Acme").valid_at == at(2019)
    assert await kinds(world) == ["added"]


async def test_a_proposal_stays_open_while_its_fact_gains_a_start() -> None:
    world = WritingWorld(now=at(2026, 6, 1))
    await tell(world, TOM)
    await tell(world, {**ACME, "replaces": "current"})
    await tell(world, {**TOM, "valid_at": "2024"})
    assert await kinds(world) == ["dated", "proposed", "added", "added"]
    answer = await world.retiring.retire_fact(
        LOCAL, RetireFact(fact_uuid=world.fact("me WORKS_WITH Tom").uuid, reason="He left.")
    )
    assert "as proposed" in answer.message


async def test_an_older_note_makes_a_fact_known_from_then_on() -> None:
    world = WritingWorld(now=at(2026, 6, 1))
    await tell(world, ACME)
    await world.tell("An older note.", ACME, reference_time="2026-01-05")
    world.clock.advance(seconds=1)
    fact = world.fact("me WORKS_AT Acme")
    (event,) = (await world.graph.changes.fact_changes([fact.uuid], ["default"], 10))[fact.uuid]
    assert (event.kind, event.previous_told_at, fact.reference_time) == ("dated", at(2026, 5, 10), at(2026, 1, 5))
    assert (fact.valid_at, len(fact.episodes)) == (None, 2)


async def test_a_newer_note_or_a_known_start_leaves_it_as_it_was() -> None:
    world = WritingWorld(now=at(2026, 6, 1))
    await tell(world, ACME, {**TOM, "valid_at": "2024"})
    await world.tell("A newer note.", ACME, reference_time="2026-05-20")
    await world.tell("An older note.", TOM, reference_time="2026-01-05")
    assert {fact.reference_time for fact in world.facts} == {at(2026, 5, 10)}
    assert await kinds(world) == ["added", "added"]
