"""A later end of a known fact, and an end told in its own period: what the answer says, and what it keeps."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

from graphiti_pkm.capabilities.history.requests import RetireFact, WhatChanged
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.toolkit.rendering import rendered

LEASE = {"source": "me", "relation": "RENTS", "target": "Studio"}
ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 11, 26))


async def told(world: WritingWorld, day: str, *facts: dict[str, Any]) -> Any:
    answer = await world.tell(f"Note of {day}.", *facts, reference_time=day)
    world.clock.advance(seconds=1)
    return answer


async def test_the_answer_and_the_changes_say_that_the_end_moved(world: WritingWorld) -> None:
    await told(world, "2025-03-10", {**LEASE, "invalid_at": "2027"})
    answer = await told(world, "2026-09-10", {**LEASE, "invalid_at": "2030", "replaces": ["current"]})
    assert [(one.outcome, one.interval) for one in answer.facts] == [("updated", "until 2030, start unknown")]
    assert "ends: 1 moved to later" in answer.message
    (moved,) = answer.retired
    ends = ("2028-01-01T00:00:00+00:00", "2031-01-01T00:00:00+00:00")
    assert (moved.kind, moved.former_invalid_at, moved.invalid_at) == ("moved", *ends)
    (change,) = (await world.changes.what_changed(LOCAL, WhatChanged(kinds=["retired"]))).changes
    assert (change.change, change.former_invalid_at, change.invalid_at) == ("moved", *ends)


async def test_the_changes_tell_a_later_end_from_an_ending(world: WritingWorld) -> None:
    plan = {**LEASE, "kind": "plan", "invalid_at": "2027"}
    studio, acme, other = (
        one.uuid
        for one in (
            await told(world, "2025-03-10", plan, {**ACME, "invalid_at": "2027"}, {**ACME, "target": "Beta"})
        ).facts
    )
    await told(world, "2025-03-11", {**plan, "invalid_at": "2028", "replaces": ["current"]})
    for uuid, end in ((acme, "2030"), (other, "2026-01-10"), (studio, "2029")):
        await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=uuid, reason="So it is.", invalid_at=end))
        world.clock.advance(seconds=1)
    answer = await world.changes.what_changed(LOCAL, WhatChanged(kinds=["retired"]))
    assert [(one.change, one.fact_uuid) for one in answer.changes] == [
        ("retired", studio),
        ("retired", other),
        ("moved", acme),
        ("moved", studio),
    ]
    text = rendered(answer)[1]
    assert (text.count('"moved"'), text.count('"retired"')) == (2, 2)


async def test_the_answer_shows_the_end_that_an_earlier_one_takes_the_place_of(world: WritingWorld) -> None:
    await told(world, "2026-01-10", {**LEASE, "invalid_at": "2030"}, ACME)
    answer = await told(
        world,
        "2026-09-10",
        {**LEASE, "invalid_at": "end of 2027"},
        {**ACME, "target": "Beta", "replaces": "Acme"},
    )
    assert [(one.kind, one.former_invalid_at, one.invalid_at) for one in answer.retired] == [
        ("retired", "2031-01-01T00:00:00+00:00", "2028-01-01T00:00:00+00:00"),
        ("retired", None, "2026-09-10T00:00:00+00:00"),
    ]


async def test_what_goes_on_is_not_reported_as_dropped(world: WritingWorld) -> None:
    await told(world, "2025-03-10", {**LEASE, "invalid_at": "2027"}, {**ACME, "because_of": "Studio"})
    assert attention(await told(world, "2026-09-10", {**LEASE, "invalid_at": "2030"})) == []


async def test_of_several_stays_the_last_one_is_prolonged(world: WritingWorld) -> None:
    await told(world, "2026-01-10", {**ACME, "valid_at": "2010", "invalid_at": "2012"})
    await told(world, "2026-01-11", {**ACME, "valid_at": "2015", "invalid_at": "2027"})
    await told(world, "2026-01-12", {**ACME, "invalid_at": "2030"})
    assert [fact.invalid_at for fact in world.facts] == [at(2013), at(2031)]


async def test_a_later_end_that_is_not_taken_is_settled_by_its_call(world: WritingWorld) -> None:
    await told(world, "2025-03-10", {**ACME, "invalid_at": "2020"})
    report = the(await told(world, "2019-03-10", {**ACME, "invalid_at": "2022"}), "possible_conflict")
    assert await world.settle(report) == (1, set())
    assert [fact.invalid_at for fact in world.facts] == [at(2023)]


async def test_an_end_of_the_day_of_the_note_where_it_was_written(world: WritingWorld) -> None:
    await told(world, "2024-02-10", ACME)
    await told(world, "2026-06-01T00:30+09:00", {**ACME, "invalid_at": "this month"})
    assert [fact.invalid_at for fact in world.facts] == [at(2026, 5, 31, 15, 30)]


async def test_a_fact_that_the_note_ends_is_not_shown_as_going_on(world: WritingWorld) -> None:
    answer = await told(world, "2026-01-05", {**ACME, "relation": "WORKED_AT", "invalid_at": "2026"})
    assert answer.facts[0].interval == "until 2026, ended by 2026-01-05, start unknown"


async def test_a_day_before_the_known_end_ends_it_then(world: WritingWorld) -> None:
    await told(world, "2026-01-05", {**ACME, "invalid_at": "October 2020"})
    answer = await told(world, "2026-01-06", {**ACME, "invalid_at": "2020-09-30"})
    assert answer.facts[0].outcome == "updated"
    assert [fact.invalid_at for fact in world.facts] == [at(2020, 9, 30)]


async def test_a_day_before_the_end_of_what_was_ended_is_settled_by_its_call(world: WritingWorld) -> None:
    await told(world, "2020-01-05", ACME)
    await told(world, "2026-01-05", {**ACME, "invalid_at": "October 2020"})
    report = the(await told(world, "2026-01-06", {**ACME, "invalid_at": "2020-09-30"}), "possible_conflict")
    assert [fact.invalid_at for fact in world.facts] == [at(2020, 11)]
    assert await world.settle(report) == (1, set())
    assert [fact.invalid_at for fact in world.facts] == [at(2020, 9, 30)]
