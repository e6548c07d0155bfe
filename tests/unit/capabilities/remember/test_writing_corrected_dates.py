"""A corrected start names what else the same note dated by it; a correction keeps what was told before."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, ready_calls, the

ACCEPTED = {
    "source": "ADR 10",
    "relation": "ACCEPTED_BY",
    "target": "Board",
    "fact": "The board accepted ADR 10",
    "kind": "event",
    "valid_at": "2018-04-10",
}
CORRECTED = {**ACCEPTED, "valid_at": "2018-04-12", "replaces": "Board", "change": "corrected"}
BINDS = {"source": "ADR 10", "relation": "BINDS", "target": "Heron", "valid_at": "2018-04-10"}
BUDGET = {"source": "Heron", "relation": "HAS_BUDGET", "value": "5000", "unit": "EUR", "valid_at": "2018-04-10"}
OTHER_DAY = {"source": "Heron", "relation": "LED_BY", "target": "Ann", "valid_at": "2018-04-11"}
UNDATED = {"source": "Heron", "relation": "USES", "target": "Python"}
READING = {
    "source": "me",
    "relation": "SLEEPS",
    "kind": "reading",
    "measure": "sleep",
    "value": "7",
    "valid_at": "2018-04-10",
}


@pytest.fixture
async def world() -> WritingWorld:
    world = WritingWorld(now=at(2018, 9, 10))
    await world.tell("Minutes.", ACCEPTED, BINDS, BUDGET, OTHER_DAY, UNDATED, READING, reference_time="2018-04-11")
    await world.tell("Another note.", {**BINDS, "target": "Kestrel"}, reference_time="2018-04-11")
    return world


async def test_a_corrected_date_names_the_facts_that_the_note_dated_by_it(world: WritingWorld) -> None:
    report = the(await world.tell("It was on 12 April.", CORRECTED), "same_date")
    assert report.detail == "2 more facts start on 2018-04-10 by the same note"
    assert sorted(line.split(" ", 1)[1] for line in report.candidates) == [
        "ADR 10 binds Heron (from 2018-04-10)",
        "Heron has budget: 5000 EUR (from 2018-04-10)",
    ]


async def test_the_call_moves_them_and_asks_nothing_more(world: WritingWorld) -> None:
    report = the(await world.tell("It was on 12 April.", CORRECTED), "same_date")
    (call,) = ready_calls(report)
    assert call["episode_body"] == ACCEPTED["fact"]
    answer = await world.send(call)
    assert (attention(answer), [one.kind for one in answer.retired]) == ([], ["voided", "voided"])
    moved = [fact for fact in world.facts if fact.valid_at == at(2018, 4, 12)]
    assert sorted(fact.relation for fact in moved) == ["ACCEPTED_BY", "BINDS", "HAS_BUDGET"]
    budgets = [fact for fact in world.facts if fact.relation == "HAS_BUDGET"]
    assert len({fact.target_uuid for fact in budgets}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"valid_at": "2018-04-10", "target": "Committee"},  # another target, the same day
        {"valid_at": None, "target": "Committee"},
    ],
)
async def test_nothing_is_named_where_the_date_stays(world: WritingWorld, change: dict[str, Any]) -> None:
    assert "same_date" not in attention(await world.tell("Not the board.", {**CORRECTED, **change}))


async def test_nothing_is_named_where_nothing_else_has_the_date(world: WritingWorld) -> None:
    moved = {**OTHER_DAY, "valid_at": "2018-04-09", "replaces": "Ann", "change": "corrected"}
    assert "same_date" not in attention(await world.tell("Since the 9th.", moved))


async def test_what_the_call_corrects_itself_is_not_named(world: WritingWorld) -> None:
    both = ({**one, "valid_at": "2018-04-12", "replaces": "current", "change": "corrected"} for one in (BINDS, BUDGET))
    assert "same_date" not in attention(await world.tell("All of it was on 12 April.", CORRECTED, *both))


async def test_of_many_five_are_shown_and_moved() -> None:
    world = WritingWorld(now=at(2018, 9, 10))
    await world.tell("Minutes.", ACCEPTED, *({**BINDS, "target": f"Team {letter}"} for letter in "ABCDEFG"))
    report = the(await world.tell("It was on 12 April.", CORRECTED), "same_date")
    assert report.detail.startswith("7 more facts start on 2018-04-10 by the same note (5 shown)")
    (call,) = ready_calls(report)
    assert len(report.candidates) == len(call["facts"]) == 5


async def test_a_dated_correction_has_the_time_of_its_own_note(world: WritingWorld) -> None:
    answer = await world.tell("It was on 12 April.", CORRECTED, reference_time="2018-09-10")
    right = next(fact for fact in world.facts if fact.uuid == answer.facts[0].uuid)
    assert right.reference_time == at(2018, 9, 10)


async def test_an_undated_correction_is_known_from_when_it_was_first_told(world: WritingWorld) -> None:
    rust = {**UNDATED, "target": "Rust", "replaces": "Python", "change": "corrected"}
    answer = await world.tell("It uses Rust.", rust, reference_time="2018-09-10")
    assert answer.facts[0].interval == "since at least 2018-04-11, start unknown"
