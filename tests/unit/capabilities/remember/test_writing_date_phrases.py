"""Dates keep the precision in which they are told, and a more precise one refines them."""

import json
from datetime import datetime
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, ready_calls, the

from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS
from graphiti_pkm.errors import InvalidInput

NOW = at(2026, 3, 10)
ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "fact": "I work at Acme"}
BETA = {**ACME, "target": "Beta", "fact": "I work at Beta"}
RUN = {"source": "me", "relation": "RAN", "target": "Marathon", "kind": "event"}
TRIP = {"source": "me", "relation": "VISITS", "target": "Rome", "kind": "plan"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


async def told(world: WritingWorld, *facts: dict[str, Any], **fields: Any) -> list[str | None]:
    """The intervals in the answer to facts that may ask nothing."""
    answer = await world.tell(f"Note {len(world.graph.tables.episodes)}.", *facts, **fields)
    assert set(attention(answer)) <= {"undeclared_endpoint"}
    return [one.interval for one in answer.facts]


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        ({**ACME, "valid_at": "2017"}, "from 2017"),
        (
            {**ACME, "valid_at": "May 2017", "invalid_at": "end of March 2020"},
            "from May 2017 until the end of March 2020",
        ),
        ({**ACME, "valid_at": "last week"}, "from the week of 2026-03-02"),
        ({**ACME, "valid_at": "yesterday"}, "from 2026-03-09"),
        ({**ACME, "invalid_at": "by autumn 2027"}, "until autumn 2027, start unknown"),
        ({**ACME, "invalid_at": "until autumn"}, "until autumn 2026, start unknown"),
        ({**ACME, "invalid_at": "until 31 December"}, "until the end of 2026-12-31, start unknown"),
        ({**ACME, "valid_at": "by 2017-05-03"}, "from 2017-05-03"),
        ({**ACME, "valid_at": "since 2017"}, "from 2017"),
        ({**ACME, "valid_at": "From 2017-05"}, "from 2017-05"),
        ({**ACME, "valid_at": "since 2017-05-03T08:00Z"}, "from 2017-05-03 08:00"),
        ({**ACME, "invalid_at": "until 2027"}, "until 2027, start unknown"),
        ({**ACME, "invalid_at": "through 2027-05"}, "until 2027-05, start unknown"),
        ({**RUN, "valid_at": "in 2017"}, "in 2017"),
        ({**RUN, "valid_at": "autumn"}, "in autumn 2025"),
        ({**TRIP, "valid_at": "autumn"}, "planned for autumn 2026"),
        ({**TRIP, "valid_at": "by autumn 2027"}, "planned by autumn 2027"),
        ({**TRIP, "valid_at": "by 31 December"}, "planned by 2026-12-31"),
    ],
)
async def test_a_date_is_shown_as_told(world: WritingWorld, fact: dict[str, Any], shown: str) -> None:
    assert await told(world, fact) == [shown]


@pytest.mark.parametrize(
    ("words", "start", "begins", "end", "ends"),
    [
        ("end of next month", "from the end of April 2026", at(2026, 4, 24), "the end of April 2026", at(2026, 5)),
        ("the end of the month", "from the end of March 2026", at(2026, 3, 25), "the end of March 2026", at(2026, 4)),
        (
            "end of last month",
            "from the end of February 2026",
            at(2026, 2, 22),
            "the end of February 2026",
            at(2026, 3),
        ),
        ("end of this year", "from the end of 2026", at(2026, 12), "the end of 2026", at(2027)),
        ("end of next year", "from the end of 2027", at(2027, 12), "the end of 2027", at(2028)),
        ("end of last year", "from the end of 2025", at(2025, 12), "the end of 2025", at(2026)),
        (
            "end of this week",
            "from the end of the week of 2026-03-09",
            at(2026, 3, 13),
            "the end of the week of 2026-03-09",
            at(2026, 3, 16),
        ),
        ("next Friday", "from 2026-03-13", at(2026, 3, 13), "the end of 2026-03-13", at(2026, 3, 14)),
        ("last Friday", "from 2026-03-06", at(2026, 3, 6), "the end of 2026-03-06", at(2026, 3, 7)),
    ],
)
async def test_words_that_count_from_the_note_date_a_start_and_an_end(
    world: WritingWorld, words: str, start: str, begins: datetime, end: str, ends: datetime
) -> None:
    """A told period is ended with its last day, and so is what ends "until Friday"."""
    assert await told(world, {**ACME, "valid_at": words}, {**BETA, "invalid_at": f"until {words}"}) == [
        start,
        f"until {end}, start unknown",
    ]
    assert [fact.valid_at for fact in world.facts] == [begins, None]
    assert [fact.invalid_at for fact in world.facts] == [None, ends]


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        ({**RUN, "valid_at": "on Sunday"}, "on 2026-03-08"),
        ({**TRIP, "valid_at": "on Sunday"}, "planned for 2026-03-15"),
        ({**RUN, "valid_at": "end of last week"}, "at the end of the week of 2026-03-02"),
        ({**ACME, "valid_at": "since Sunday"}, "from 2026-03-08"),
        ({**ACME, "invalid_at": "until Sunday"}, "until the end of 2026-03-15, start unknown"),
    ],
)
async def test_a_weekday_is_read_as_a_day_without_a_year_is(
    world: WritingWorld, fact: dict[str, Any], shown: str
) -> None:
    assert await told(world, fact) == [shown]


@pytest.mark.parametrize("field", ["valid_at", "invalid_at"])
async def test_a_bare_weekday_of_a_state_is_refused(world: WritingWorld, field: str) -> None:
    with pytest.raises(InvalidInput, match=rf"facts\[0\]\.{field}: 'on Sunday': say the date, or last or next Sunday"):
        await world.tell("A note.", {**ACME, field: "on Sunday"})
    assert world.facts == []


async def test_a_series_shows_dates_as_told(world: WritingWorld) -> None:
    sleep = {"source": "me", "relation": "SLEEPS", "kind": "reading", "measure": "sleep", "value": "7"}
    await told(world, {**sleep, "valid_at": "May 2017"})
    answer = await world.tell("Slept.", {**sleep, "value": "6", "valid_at": "2017-06-01"})
    assert answer.facts[0].series == ["7 (May 2017)", "6 (2017-06-01)"]


async def test_relative_words_count_from_the_note(world: WritingWorld) -> None:
    assert await told(world, {**RUN, "valid_at": "last month"}, reference_time="2020-01-15") == ["in 2019-12"]


@pytest.mark.parametrize("exact", ["2017-05-03", "May 2017"])
@pytest.mark.parametrize("fact", [ACME, RUN])
async def test_a_more_precise_date_refines_the_one_that_holds_it(
    world: WritingWorld, fact: dict[str, Any], exact: str
) -> None:
    await told(world, {**fact, "valid_at": "2017"})
    (shown,) = await told(world, {**fact, "valid_at": exact})
    assert shown is not None
    assert shown.split(" ", 1)[1] == exact
    assert len(world.facts) == 1
    changes = [one.kind for one in world.graph.tables.changes.values()]
    assert changes == ["dated"]


async def test_a_refined_plan_keeps_no_stale_words(world: WritingWorld) -> None:
    await told(world, {**TRIP, "valid_at": "by autumn 2027"})
    assert await told(world, {**TRIP, "valid_at": "2027-10-05"}) == ["planned for 2027-10-05"]
    (plan,) = world.facts
    assert START_WORDS not in plan.attributes


@pytest.mark.parametrize("fact", [ACME, RUN])
@pytest.mark.parametrize("vague", ["2017", "spring 2017", "May 2017"])
async def test_a_vaguer_date_that_holds_the_known_one_changes_nothing(
    world: WritingWorld, fact: dict[str, Any], vague: str
) -> None:
    (known,) = await told(world, {**fact, "valid_at": "2017-05-03"})
    assert await told(world, {**fact, "valid_at": vague}) == [known]
    assert len(world.facts) == 1


async def test_another_date_asks_in_the_words_in_which_it_was_told(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2017"})
    report = the(await world.tell("Again.", {**ACME, "valid_at": "May 2018"}), "possible_conflict")
    (call,) = ready_calls(report)
    assert call["facts"][0]["valid_at"] == "May 2018"
    assert "(from 2017)" in report.candidates[0]


async def test_events_of_other_months_are_others(world: WritingWorld) -> None:
    await told(world, {**RUN, "valid_at": "May 2017"})
    await told(world, {**RUN, "valid_at": "June 2017"})
    await told(world, {**RUN, "valid_at": "2017-07-01"})
    assert len(world.facts) == 3


async def test_what_a_fact_ended_ends_as_precisely_and_follows_it(world: WritingWorld) -> None:
    await told(world, ACME, reference_time="2010-01-01")
    await told(world, {**BETA, "valid_at": "2017", "replaces": "Acme"})
    old = world.fact("me WORKS_AT Acme")
    assert (old.invalid_at, old.attributes.get(END_WORDS)) == (at(2017), "2017")
    await told(world, {**BETA, "valid_at": "2017-05-03"})
    assert world.fact("me WORKS_AT Acme").invalid_at == at(2017, 5, 3)


async def test_a_correction_keeps_the_words_of_the_date_that_stays(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2017"})
    assert await told(world, {**BETA, "replaces": "Acme", "change": "corrected"}) == ["from 2017"]


async def test_a_correction_finds_the_period_by_a_vaguer_date(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2012-05-03", "invalid_at": "2013-01-01"})
    await told(world, {**ACME, "valid_at": "2017-05-03", "invalid_at": "2018-01-01"})
    await told(world, {**BETA, "valid_at": "2017", "replaces": "Acme", "change": "corrected"})
    assert [fact.valid_at for fact in world.facts if fact.voided] == [at(2017, 5, 3)]


@pytest.mark.parametrize("date", ["31 November", "autumn", "in 3 months"])
async def test_what_is_not_understood_stores_nothing(world: WritingWorld, date: str) -> None:
    with pytest.raises(InvalidInput, match="Nothing was stored"):
        await world.tell("x", {**ACME, "valid_at": date}, reference_time="1850-04-01")
    assert (world.facts, json.dumps(list(world.graph.tables.episodes))) == ([], "[]")


async def test_an_end_told_more_precisely_replaces_the_words_of_the_known_one(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2020", "invalid_at": "2025"})
    assert await told(world, {**ACME, "invalid_at": "May 2025"}) == ["from 2020 until May 2025"]
    assert await told(world, {**ACME, "invalid_at": "2025-05-07"}) == ["from 2020 until 2025-05-07"]
    assert [(fact.invalid_at, fact.attributes) for fact in world.facts] == [(at(2025, 5, 7), {"told_start": "2020"})]


async def test_what_is_told_of_one_period_is_shown_as_told(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2025"})
    beta = {**ACME, "target": "Beta", "valid_at": "2025", "replaces": ["Acme"]}
    assert await told(world, beta) == ["from 2025"]
    assert [(fact.attributes.get("told_start"), fact.attributes.get("told_end")) for fact in world.facts] == [
        ("2025", "2025"),
        ("2025", None),
    ]
    old, new = world.facts
    assert (old.invalid_at, new.valid_at) == (at(2025, 1, 2), at(2025, 1, 2))


async def test_a_month_on_whose_last_day_something_began_is_not_left(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2025-05-31"})
    await told(world, {**ACME, "target": "Beta", "valid_at": "May 2025", "replaces": ["Acme"]})
    old, new = world.facts
    assert old.valid_at is not None
    assert old.valid_at < new.valid_at == old.invalid_at < at(2025, 6)
    assert new.attributes == {"told_start": "May 2025"}
