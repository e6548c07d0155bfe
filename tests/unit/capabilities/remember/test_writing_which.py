"""Which of several facts ``replaces`` means: told times choose, and what cannot be told apart is asked about."""

from datetime import datetime
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, line, ready_calls, the

from graphiti_pkm.core.model.answers import AddMemoryResponse

NOW = at(2026, 6, 15)
WORKS: dict[str, Any] = {"source": "Anna", "relation": "WORKS_AT"}
DUE: dict[str, Any] = {"source": "Heron", "relation": "HAS_DEADLINE"}
RENT: dict[str, Any] = {"source": "me", "relation": "HAS_RENT"}
LIVES: dict[str, Any] = {"source": "me", "relation": "LIVES_IN"}

JOBS = [
    {**WORKS, "target": "Acme", "valid_at": "2020-01-15"},
    {**WORKS, "target": "Globex", "valid_at": "2022-01-01", "replaces": "current"},
    {**WORKS, "target": "Acme", "valid_at": "2024-01-01", "replaces": "current"},
]
DEADLINES = [
    {**DUE, "value": "2026-05-01", "valid_at": "2026-01-01"},
    {**DUE, "value": "2026-06-01", "valid_at": "2026-02-10", "replaces": "current"},
    {**DUE, "value": "2026-05-01", "valid_at": "2026-03-10", "replaces": "current"},
]
RENTS = [
    {**RENT, "value": "900", "valid_at": "2025-10-01"},
    {**RENT, "value": "950", "valid_at": "2026-02-01", "replaces": "current"},
    {**RENT, "value": "900", "valid_at": "2026-04-01", "replaces": "current"},
]
HOMES = [
    {**LIVES, "target": "Bern", "valid_at": "2020"},
    {**LIVES, "target": "Rome", "valid_at": "2024", "replaces": "current"},
]

Interval = tuple[str, datetime | None, datetime | None]


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


async def told(world: WritingWorld, *notes: dict[str, Any]) -> AddMemoryResponse:
    """The answer to the last of several notes with one fact each."""
    answers = [await world.tell("A note.", fact) for fact in notes]
    return answers[-1]


def intervals(world: WritingWorld) -> list[Interval]:
    """What held by the record, in order of time."""
    kept = [
        (line(fact).split(maxsplit=2)[2], fact.valid_at, fact.invalid_at) for fact in world.facts if not fact.voided
    ]
    return sorted(kept, key=lambda one: one[1] or at(1900))


@pytest.mark.parametrize(
    ("times", "corrected"),
    [
        ({"valid_at": "2020-01-15", "invalid_at": "2022-01-01"}, ("Apex", at(2020, 1, 15), at(2022))),
        ({"valid_at": "2020-01-15"}, ("Apex", at(2020, 1, 15), at(2022))),
        ({"valid_at": "2020-03-01", "invalid_at": "2021-03-01"}, ("Apex", at(2020, 3), at(2021, 3))),
        ({"valid_at": "2019", "invalid_at": "2021"}, ("Apex", at(2019), at(2022))),
        ({"valid_at": "2020-06"}, ("Apex", at(2020, 6), at(2022))),
        ({"invalid_at": "2022-01-01"}, ("Apex", at(2020, 1, 15), at(2022))),
        ({"invalid_at": "2021"}, ("Apex", at(2020, 1, 15), at(2022))),
    ],
)
async def test_the_told_time_chooses_the_old_period_of_two(
    world: WritingWorld, times: dict[str, str], corrected: Interval
) -> None:
    answer = await told(world, *JOBS, {**WORKS, "target": "Apex", **times, "replaces": "Acme", "change": "corrected"})
    assert len(answer.retired) == 1
    assert intervals(world) == [corrected, ("Globex", at(2022), at(2024)), ("Acme", at(2024), None)]


@pytest.mark.parametrize(
    "times",
    [
        {},
        {"valid_at": "2024-01-01"},
        {"valid_at": "2025"},
        {"valid_at": "2023"},
        {"valid_at": "2025", "invalid_at": "2026"},
    ],
)
async def test_without_a_time_or_with_its_own_the_current_period_is_meant(
    world: WritingWorld, times: dict[str, str]
) -> None:
    await told(world, *JOBS, {**WORKS, "target": "Apex", **times, "replaces": "Acme", "change": "corrected"})
    assert [(fact.valid_at, fact.target_name) for fact in world.facts if fact.voided] == [(at(2024), "Acme")]


@pytest.mark.parametrize("times", [{"valid_at": "2019"}, {"valid_at": "2021", "invalid_at": "2025"}])
@pytest.mark.parametrize("target", ["Apex", "Acme"])
async def test_a_told_time_that_fits_two_periods_voids_neither(
    world: WritingWorld, times: dict[str, str], target: str
) -> None:
    wrong = {**WORKS, "target": target, **times, "replaces": "Acme", "change": "corrected"}
    answer = await told(world, *JOBS, wrong)
    report = the(answer, "ambiguous_replacement")
    assert (answer.retired, len(report.candidates)) == ([], 2)
    assert [fact for fact in world.facts if fact.voided] == []


async def test_two_periods_that_are_over_are_not_voided_together(world: WritingWorld) -> None:
    gone = {**WORKS, "target": "Initech", "valid_at": "2026-05-01", "replaces": "current"}
    answer = await told(world, *JOBS, gone, {**WORKS, "target": "Apex", "replaces": "Acme", "change": "corrected"})
    assert (answer.retired, len(the(answer, "ambiguous_replacement").candidates)) == ([], 2)


async def test_a_corrected_old_value_leaves_the_current_one(world: WritingWorld) -> None:
    wrong = {**DUE, "value": "2026-05-15", "valid_at": "2026-01-01", "invalid_at": "2026-02-01"}
    await told(world, *DEADLINES, {**wrong, "replaces": "2026-05-01", "change": "corrected"})
    assert world.lines() == ["Heron HAS_DEADLINE deadline [2026-05-01]"]
    assert intervals(world)[0] == ("deadline [2026-05-15]", at(2026), at(2026, 2))


async def test_a_corrected_old_value_takes_the_end_of_the_old_one(world: WritingWorld) -> None:
    wrong = {**RENT, "value": "890", "valid_at": "2026-01-01", "replaces": "900", "change": "corrected"}
    await told(world, *RENTS, wrong)
    assert world.lines() == ["me HAS_RENT rent [900]"]
    assert [fact.valid_at for fact in world.facts if fact.voided] == [at(2025, 10)]
    assert intervals(world)[0] == ("rent [890]", at(2026), at(2026, 2))


@pytest.mark.parametrize(("chosen", "interval"), [(0, (at(2026), None)), (1, (at(2026), at(2026, 2)))])
async def test_a_start_before_the_current_one_may_be_of_either(
    world: WritingWorld, chosen: int, interval: tuple[datetime, datetime | None]
) -> None:
    answer = await told(world, *RENTS, {**RENT, "value": "890", "valid_at": "2026-01-01", "change": "corrected"})
    report = the(answer, "ambiguous_replacement")
    assert (answer.retired, len(report.candidates)) == ([], 2)
    call = ready_calls(report)[0]
    call["facts"][0]["replaces"][0] = report.candidates[chosen][:8]
    await world.send(call)
    assert [(one.valid_at, one.invalid_at) for one in world.facts if one.value == "890" and not one.voided] == [
        interval
    ]


async def test_a_closed_period_before_the_current_one_is_not_the_current_one(world: WritingWorld) -> None:
    wrong = {**RENT, "value": "890", "valid_at": "2025-11", "invalid_at": "2026-01", "change": "corrected"}
    await told(world, *RENTS, {**wrong, "replaces": "current"})
    assert world.lines() == ["me HAS_RENT rent [900]"]
    assert intervals(world)[0] == ("rent [890]", at(2025, 11), at(2026, 2))


async def test_the_target_of_an_old_period_is_corrected_without_touching_the_current_one(world: WritingWorld) -> None:
    dates = {**WORKS, "target": "Acme", "valid_at": "2020-03", "invalid_at": "2022", "change": "corrected"}
    await told(world, *JOBS, dates)
    assert intervals(world)[0] == ("Acme", at(2020, 3), at(2023))
    assert world.lines() == ["Anna WORKS_AT Acme"]


def manages(source: str, target: str, **more: str) -> dict[str, Any]:
    return {"source": source, "relation": "MANAGES", "target": target, **more}


@pytest.mark.parametrize("teams", [["Red", "Blue"], ["Red", "Blue", "Green"]])
async def test_sources_that_change_places_in_one_note_end_their_own(world: WritingWorld, teams: list[str]) -> None:
    people = ["Fox", "Gil", "Hal"][: len(teams)]
    await world.tell("Then.", *(manages(*pair, valid_at="2025") for pair in zip(people, teams, strict=True)))
    moved = [*teams[1:], teams[0]]
    answer = await world.tell(
        "They changed places.",
        *(manages(*pair, replaces="current", valid_at="2026-05-01") for pair in zip(people, moved, strict=True)),
    )
    assert "ambiguous_replacement" not in attention(answer)
    assert len(answer.retired) == len(teams)
    assert world.lines() == [f"{who} MANAGES {team}" for who, team in zip(people, moved, strict=True)]


async def test_what_the_call_itself_tells_of_another_source_is_no_rival(world: WritingWorld) -> None:
    await world.tell("Then.", manages("Gil", "Blue"))
    answer = await world.tell("Both now.", manages("Fox", "Red"), manages("Gil", "Red", replaces="current"))
    assert [one.fact for one in answer.retired] == ["Gil manages Blue"]
    assert world.lines() == ["Fox MANAGES Red", "Gil MANAGES Red"]


async def test_a_rival_whose_source_gives_up_something_else_is_asked_about(world: WritingWorld) -> None:
    await world.tell("Then.", manages("Fox", "Red"), manages("Gil", "Blue"), manages("Gil", "Pink"))
    answer = await world.tell(
        "Now.", manages("Fox", "Blue", replaces="current"), manages("Gil", "Lime", replaces="Pink")
    )
    assert len(the(answer, "ambiguous_replacement").candidates) == 2
    assert [one.fact for one in answer.retired] == ["Gil manages Pink"]


async def test_a_late_change_takes_its_place_before_the_known_successor(world: WritingWorld) -> None:
    answer = await told(world, *HOMES, {**LIVES, "target": "Genf", "valid_at": "2022", "replaces": "Bern"})
    assert [one.fact for one in answer.retired] == ["me lives in Bern"]
    assert set(attention(answer)) <= {"undeclared_endpoint"}
    assert intervals(world) == [("Bern", at(2020), at(2022)), ("Genf", at(2022), at(2024)), ("Rome", at(2024), None)]
    assert world.lines() == ["me LIVES_IN Rome"]


async def test_a_late_change_without_a_known_successor_stays_open(world: WritingWorld) -> None:
    closed = {**LIVES, "target": "Bern", "valid_at": "2020", "invalid_at": "2024"}
    await told(world, closed, {**LIVES, "target": "Genf", "valid_at": "2022", "replaces": "Bern"})
    assert intervals(world) == [("Bern", at(2020), at(2022)), ("Genf", at(2022), None)]


async def test_a_late_change_before_a_known_start_ends_there(world: WritingWorld) -> None:
    await told(world, *HOMES, {**LIVES, "target": "Genf", "valid_at": "2019", "replaces": "Bern"})
    assert intervals(world)[:2] == [("Genf", at(2019), at(2020)), ("Bern", at(2020), at(2024))]


async def test_a_late_change_of_one_of_two_periods_is_put_into_it(world: WritingWorld) -> None:
    back = {**LIVES, "target": "Bern", "valid_at": "2025", "replaces": "current"}
    oslo = {**LIVES, "target": "Oslo", "valid_at": "2026", "replaces": "current"}
    await told(world, *HOMES, back, oslo, {**LIVES, "target": "Genf", "valid_at": "2022", "replaces": "Bern"})
    assert intervals(world)[:3] == [
        ("Bern", at(2020), at(2022)),
        ("Genf", at(2022), at(2024)),
        ("Rome", at(2024), at(2025)),
    ]
    assert world.lines() == ["me LIVES_IN Oslo"]


async def test_the_call_offered_for_a_late_change_settles_it(world: WritingWorld) -> None:
    other = {**LIVES, "target": "Bern", "valid_at": "2021", "invalid_at": "2023", "fact": "I have a flat in Bern too"}
    twice = {**other, "relation": "LIVES_IN", "value": "weekends"}
    answer = await told(world, *HOMES, twice, {**LIVES, "target": "Genf", "valid_at": "2022", "replaces": "Bern"})
    report = the(answer, "ambiguous_replacement")
    assert (answer.retired, len(report.candidates)) == ([], 2)
    settled = await world.send(ready_calls(report)[0])
    assert len(settled.retired) == 1


MOOD: dict[str, Any] = {"source": "me", "relation": "FEELS", "kind": "reading", "measure": "mood"}


@pytest.mark.parametrize(
    ("told", "nearest"),
    [
        ({"valid_at": "2026-06-02"}, "6/10 (on 2026-06-02)"),
        ({"valid_at": "2026-05-20"}, "5/10 (on 2026-06-01)"),
        ({}, "7/10 (on 2026-06-03)"),
    ],
)
async def test_a_correction_that_fits_no_reading_proposes_the_one_of_its_day(
    world: WritingWorld, told: dict[str, Any], nearest: str
) -> None:
    for day, value in enumerate(("5/10", "6/10", "7/10"), start=1):
        await world.tell(f"Mood {value}.", {**MOOD, "value": value}, reference_time=f"2026-06-{day:02}")
    wrong = {**MOOD, "value": "8/10", "replaces": "9/10", "change": "corrected", **told}
    answer = await world.tell("My mood was 8/10, not 9/10.", wrong, reference_time="2026-06-04")
    report = the(answer, "ambiguous_replacement")
    assert len(report.candidates) == 3
    assert report.candidates[0].endswith(f"me: mood {nearest}")
    assert report.call.startswith(f"If {report.candidates[0][:8]} is meant")


async def test_a_correction_does_not_repeat_the_series(world: WritingWorld) -> None:
    await world.tell("Mood 5/10.", {**MOOD, "value": "5/10"})
    answer = await world.tell("No, 6/10.", {**MOOD, "value": "6/10", "replaces": "5/10", "change": "corrected"})
    assert [fact.series for fact in answer.facts] == [None]


async def test_a_series_stands_at_its_last_new_reading_with_all_that_the_call_corrected(world: WritingWorld) -> None:
    await world.tell("Mood 4/10.", {**MOOD, "value": "4/10"}, reference_time="2026-06-01")
    new = [{**MOOD, "value": value, "valid_at": f"2026-06-{day:02}"} for day, value in ((2, "5/10"), (3, "6/10"))]
    right = {**MOOD, "value": "3/10", "valid_at": "2026-06-01", "replaces": "4/10", "change": "corrected"}
    answer = await world.tell("Mood 5/10, then 6/10. On the first it was 3/10.", *new, right)
    assert [fact.series for fact in answer.facts] == [
        None,
        ["3/10 (2026-06-01)", "5/10 (2026-06-02)", "6/10 (2026-06-03)"],
        None,
    ]
