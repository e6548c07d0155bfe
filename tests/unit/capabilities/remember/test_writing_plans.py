"""Plans that are moved to another date; events and readings of the same words at other dates."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, ready_calls, the

from graphiti_pkm.capabilities.history.requests import WhatChanged
from graphiti_pkm.core.model.access import LOCAL

NOW = at(2026, 6, 1)
LIVE = {"source": "Atlas", "relation": "GOES_LIVE", "kind": "plan", "valid_at": "2026-09-30"}
LATER = {**LIVE, "valid_at": "2026-11-15"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


def plans(world: WritingWorld) -> list[tuple[int, bool]]:
    """Month planned for, and whether the plan is still open."""
    return sorted((fact.valid_at.month if fact.valid_at else 0, fact.expired_at is None) for fact in world.facts)


@pytest.mark.parametrize("wanted", ["current", "uuid", "goes live"])
@pytest.mark.parametrize("words", [{}, {"fact": "Atlas goes live later than we thought"}])
async def test_a_postponed_plan_takes_the_place_of_the_old_one(
    world: WritingWorld, wanted: str, words: dict[str, str]
) -> None:
    old = (await world.tell("one", LIVE)).facts[0].uuid
    answer = await world.tell("two", {**LATER, **words, "replaces": old if wanted == "uuid" else wanted})
    (told,) = answer.facts
    assert (told.outcome, told.interval) == ("created", "planned for 2026-11-15")
    assert [(one.uuid, one.kind, one.replaced_by) for one in answer.retired] == [(old, "retired", told.uuid)]
    assert plans(world) == [(9, False), (11, True)]
    history = await world.changes.what_changed(
        LOCAL, WhatChanged(since="2026-01-01", entity_uuid=world.entity("Atlas").uuid)
    )
    assert [one.change for one in history.changes] == ["retired", "added", "added"]


async def test_a_plan_in_other_words_takes_the_place_of_the_old_one(world: WritingWorld) -> None:
    await world.tell("one", LIVE)
    answer = await world.tell("two", {**LIVE, "fact": "Atlas goes live, in two steps", "replaces": "current"})
    assert [one.kind for one in answer.retired] == ["retired"]
    assert plans(world) == [(9, False), (9, True)]


@pytest.mark.parametrize("change", [{"invalid_at": "2026-10-15"}, {"valid_at": "2026-09-30T09:30"}])
async def test_a_longer_plan_and_an_exact_time_are_other_plans_too(world: WritingWorld, change: dict[str, str]) -> None:
    await world.tell("one", {**LIVE, "invalid_at": "2026-10-10"})
    answer = await world.tell("two", {**LIVE, **change, "replaces": "current"})
    assert (answer.facts[0].outcome, len(answer.retired)) == ("created", 1)


async def test_the_same_plan_told_again_as_its_own_replacement_stays(world: WritingWorld) -> None:
    await world.tell("one", LIVE)
    answer = await world.tell("two", {**LIVE, "replaces": "current"})
    assert (answer.facts[0].outcome, answer.retired) == ("duplicate", [])
    assert plans(world) == [(9, True)]


async def test_without_replaces_the_known_date_stays_and_the_call_that_moves_it_is_told(world: WritingWorld) -> None:
    await world.tell("one", LIVE)
    answer = await world.tell("two", LATER)
    assert answer.facts[0].outcome == "duplicate"
    assert plans(world) == [(9, True)]
    (call,) = ready_calls(the(answer, "possible_conflict"))
    assert [one.kind for one in (await world.send(call)).retired] == ["retired"]
    assert plans(world) == [(9, False), (11, True)]


async def test_of_two_open_plans_one_is_moved_and_the_other_stays(world: WritingWorld) -> None:
    old = (await world.tell("one", LIVE)).facts[0].uuid
    await world.tell("two", {**LIVE, "valid_at": "2026-10-20", "fact": "Atlas goes live for guests"})
    moved = {**LATER, "replaces": "current"}
    answer = await world.tell("three", moved)
    assert (answer.facts[0].outcome, answer.retired) == ("created", [])
    assert "ambiguous_replacement" in attention(answer)
    await world.tell("four", {**moved, "replaces": old})
    assert plans(world) == [(9, False), (10, True), (11, True)]


@pytest.mark.parametrize("kind", [{"kind": "event"}, {"kind": "reading", "value": 3}])
@pytest.mark.parametrize("extra", [{}, {"replaces": "current"}])
async def test_events_and_readings_of_the_same_words_at_other_dates_are_others(
    world: WritingWorld, kind: dict[str, Any], extra: dict[str, str]
) -> None:
    await world.tell("one", {**LIVE, **kind, "valid_at": "2026-04-01"})
    answer = await world.tell("two", {**LIVE, **kind, **extra, "valid_at": "2026-05-01"})
    assert answer.facts[0].outcome == "created"
    assert plans(world) == [(4, True), (5, True)]


async def test_what_fulfils_a_plan_and_replaces_the_current_one_is_not_asked_about(world: WritingWorld) -> None:
    visit = {"source": "me", "relation": "VISITS", "target": "Cy"}
    await world.tell("one", {**visit, "kind": "plan", "valid_at": "2026-06-05"})
    world.clock.instant = at(2026, 7)
    answer = await world.tell("two", {**visit, "valid_at": "2026-06-05", "replaces": "current"})
    assert ([one.kind for one in answer.retired], attention(answer)) == (["fulfilled"], [])
    stated = {"source": "me", "relation": "SEES", "target": "Cy", "replaces": "current"}
    await world.tell("three", {**visit, "kind": "plan", "valid_at": "2026-07-08"})
    world.clock.instant = at(2026, 8)
    visited = {**visit, "kind": "event", "valid_at": "2026-07-08"}
    answer = await world.tell("four", visited, stated)
    assert ([one.kind for one in answer.retired], attention(answer)) == (["fulfilled"], [])
    assert attention(await world.tell("five", {**stated, "relation": "KNOWS"})) == ["ambiguous_replacement"]


@pytest.mark.parametrize(
    ("value", "unit", "interval"),
    [
        ("2026-06-20", None, "planned for 2026-06-20"),
        ("20 June", None, "planned for 2026-06-20"),
        ("2030", None, "planned, no date"),
        ("12 people", None, "planned, no date"),
        ("May", "people", "planned, no date"),
    ],
)
async def test_a_plan_is_for_the_date_that_is_its_value(
    world: WritingWorld, value: str, unit: str | None, interval: str
) -> None:
    plan = {"source": "review", "relation": "SCHEDULED_FOR", "kind": "plan", "value": value, "unit": unit}
    assert (await world.tell("one", plan)).facts[0].interval == interval


async def test_changes_of_some_kinds_are_listed_from_the_beginning(world: WritingWorld) -> None:
    old = (await world.tell("one", LIVE)).facts[0].uuid
    await world.tell("two", {**LATER, "replaces": old})
    page = await world.changes.what_changed(LOCAL, WhatChanged(kinds=["retired"]))
    assert (page.total, page.scope.note) == (1, None)
    assert page.message.endswith("since the record began")
    assert (await world.changes.what_changed(LOCAL, WhatChanged(kinds=["proposed"]))).total == 0
