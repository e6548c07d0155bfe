"""The fact rules, told through add_memory."""

from datetime import datetime
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import TICK, WritingWorld, attention, ready_calls, the

NOW = at(2026, 6, 1)
ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "fact": "I work at Acme"}
BETA = {"source": "me", "relation": "WORKS_AT", "target": "Beta", "fact": "I work at Beta"}
SLEEP = {"source": "me", "relation": "SLEEPS", "kind": "reading", "measure": "sleep", "value": 6.5, "unit": "h"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


@pytest.mark.parametrize(
    ("told", "valid_at", "invalid_at", "interval"),
    [
        ({}, None, None, "since at least 2026-03-01, start unknown"),
        ({"valid_at": "2025"}, at(2025), None, "from 2025"),
        ({"valid_at": "2025-02"}, at(2025, 2), None, "from 2025-02"),
        ({"valid_at": "1660-02-01"}, at(1660, 2), None, "from 1660-02-01"),
        ({"invalid_at": "2025-02"}, None, at(2025, 3), "until 2025-02, start unknown"),
        ({"valid_at": "2024", "invalid_at": "2025"}, at(2024), at(2026), "from 2024 until 2025"),
        ({"replaces": "Old Ltd"}, at(2026, 3), None, "from 2026-03-01"),
        ({"replaces": "Old Ltd", "valid_at": "2026-02"}, at(2026, 2), None, "from 2026-02"),
        ({"kind": "event"}, None, None, "known from 2026-03-01, no date"),
        ({"kind": "event", "valid_at": "2026-02-14"}, at(2026, 2, 14), None, "on 2026-02-14"),
        ({"kind": "plan"}, None, None, "planned, no date"),
        ({"kind": "plan", "valid_at": "2026-09"}, at(2026, 9), None, "planned for 2026-09"),
    ],
)
async def test_times_are_honest_and_echoed(
    world: WritingWorld, told: dict[str, Any], valid_at: datetime | None, invalid_at: datetime | None, interval: str
) -> None:
    answer = await world.tell("I work at Acme.", {**ACME, **told}, reference_time="2026-03-01")
    fact = next(fact for fact in world.facts if fact.uuid == answer.facts[0].uuid)
    assert (fact.valid_at, fact.invalid_at, fact.reference_time) == (valid_at, invalid_at, at(2026, 3))
    assert answer.facts[0].interval == interval


async def test_an_end_before_the_start_is_reported_and_left_out(world: WritingWorld) -> None:
    answer = await world.tell("x", {**ACME, "valid_at": "2026-03-02", "invalid_at": "2026-03-01"})
    assert attention(answer) == ["empty_interval", "undeclared_endpoint"]
    assert (world.facts[0].valid_at, world.facts[0].invalid_at) == (at(2026, 3, 2), None)


async def test_input_without_offset_is_in_the_settings_zone() -> None:
    world = WritingWorld(now=NOW, timezone="Europe/Berlin")
    answer = await world.tell("x", {**ACME, "valid_at": "2026-03"}, reference_time="2026-03-01T10:00")
    assert world.facts[0].valid_at == at(2026, 2, 28, 23)
    assert answer.facts[0].interval == "from 2026-03"
    assert answer.valid_at == "2026-03-01T09:00:00+00:00"


async def test_a_fact_told_again_gains_the_episode(world: WritingWorld) -> None:
    first = await world.tell("one", ACME)
    again = await world.tell("two", {**ACME, "source": "I", "target": "acme", "fact": "I work at ACME."})
    assert (again.facts[0].uuid, again.facts[0].outcome) == (first.facts[0].uuid, "duplicate")
    assert world.facts[0].episodes == (first.episode_uuid, again.episode_uuid)
    assert attention(again) == []


async def test_a_fact_told_again_with_its_start_is_updated(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    again = await world.tell("two", {**ACME, "valid_at": "2024"})
    assert (again.facts[0].outcome, again.facts[0].interval) == ("updated", "from 2024")
    assert [fact.valid_at for fact in world.facts] == [at(2024)]


@pytest.mark.parametrize(
    "other",
    [
        {**ACME, "fact": "I was hired by Acme"},
        {**ACME, "kind": "event"},
        {**ACME, "kind": "plan"},
        {**ACME, "relation": "OWNS"},
        {**ACME, "valid_at": "2019", "invalid_at": "2020"},
    ],
)
async def test_another_text_kind_relation_or_time_is_another_fact(world: WritingWorld, other: dict[str, Any]) -> None:
    await world.tell("one", {**ACME, "valid_at": "2024"})
    assert (await world.tell("two", other)).facts[0].outcome == "created"


async def test_an_event_is_the_same_only_at_the_same_instant(world: WritingWorld) -> None:
    run = {"source": "me", "relation": "RAN", "target": "Marathon", "fact": "I ran", "kind": "event"}
    await world.tell("one", {**run, "valid_at": "2026-01-01"})
    assert (await world.tell("two", {**run, "valid_at": "2026-01-01"})).facts[0].outcome == "duplicate"
    assert (await world.tell("two", {**run, "valid_at": "2026-01-02"})).facts[0].outcome == "created"


async def test_what_is_told_again_after_its_end_is_a_new_fact(world: WritingWorld) -> None:
    await world.tell("one", ACME, reference_time="2026-01-01")
    await world.tell("two", {**BETA, "replaces": "current"}, reference_time="2026-02-01")
    again = await world.tell("three", {**ACME, "replaces": "current"}, reference_time="2026-03-01")
    assert again.facts[0].outcome == "created"
    assert world.lines() == ["me WORKS_AT Acme"]


async def test_telling_a_current_fact_with_its_end_closes_it(world: WritingWorld) -> None:
    first = await world.tell("one", ACME, reference_time="2026-03-01")
    closing = {**ACME, "fact": "I left Acme", "invalid_at": "2026-03-15"}
    answer = await world.tell("two", closing, reference_time="2026-04-01")
    assert (answer.facts[0].uuid, answer.facts[0].outcome) == (first.facts[0].uuid, "updated")
    assert [(one.fact, one.kind, one.replaced_by) for one in answer.retired] == [("I work at Acme", "retired", None)]
    assert [(fact.invalid_at, fact.expired_at) for fact in world.facts] == [(at(2026, 3, 15), NOW + TICK)]
    assert world.lines() == []


async def test_an_end_in_the_future_leaves_the_fact_current_until_then(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    await world.tell("two", {**ACME, "invalid_at": "2026-09"})
    assert [(fact.invalid_at, fact.expired_at) for fact in world.facts] == [(at(2026, 10), None)]
    assert world.lines() == world.lines(now=at(2026, 9, 30)) == ["me WORKS_AT Acme"]
    assert world.lines(now=at(2026, 10)) == []


async def test_an_earlier_period_does_not_close_the_present_one(world: WritingWorld) -> None:
    await world.tell("one", {**ACME, "valid_at": "2020"})
    answer = await world.tell("two", {**ACME, "valid_at": "2010", "invalid_at": "2012"})
    assert (answer.facts[0].outcome, answer.retired) == ("created", [])
    assert world.lines() == ["me WORKS_AT Acme"]


async def test_another_target_at_the_same_time_is_a_possible_conflict_with_the_call_that_settles_it(
    world: WritingWorld,
) -> None:
    old = await world.tell("one", ACME, reference_time="2026-01-01")
    new = await world.tell("two", BETA, reference_time="2026-02-01")
    conflict = the(new, "possible_conflict")
    assert conflict.candidates == [f"{old.facts[0].uuid[:8]} I work at Acme (since at least 2026-01-01, start unknown)"]
    assert world.lines() == ["me WORKS_AT Acme", "me WORKS_AT Beta"]
    settled = await world.tell("three", {**BETA, "replaces": old.facts[0].uuid[:8], "valid_at": "2026-02-01"})
    assert (settled.facts[0].uuid, settled.facts[0].outcome) == (new.facts[0].uuid, "updated")
    assert [(one.uuid, one.replaced_by) for one in settled.retired] == [(old.facts[0].uuid, new.facts[0].uuid)]
    assert old.facts[0].uuid in conflict.call
    assert world.lines() == ["me WORKS_AT Beta"]


async def test_a_conflict_of_what_was_told_with_its_end_alone_is_settled_without_telling_it_again(
    world: WritingWorld,
) -> None:
    """Sent again as what took the old one's place, it would begin at that moment and hold."""
    old = await world.tell("one", ACME, reference_time="2026-01-01")
    new = await world.tell("two", {**BETA, "invalid_at": "2026-05-10"}, reference_time="2026-06-01")
    call = the(new, "possible_conflict").call
    uuid = old.facts[0].uuid
    assert call.startswith(f'If {uuid[:8]} ended: retire_fact {{"fact_uuid":"{uuid}"')
    assert "add_memory" not in call


@pytest.mark.parametrize(
    "other",
    [
        {**BETA, "kind": "plan"},
        {**BETA, "kind": "event"},
        {**BETA, "invalid_at": "2024"},
        {**BETA, "source": "Tom"},
        {**BETA, "relation": "VISITED"},
        {**BETA, "replaces": "Acme"},
    ],
)
async def test_no_conflict_for(world: WritingWorld, other: dict[str, Any]) -> None:
    await world.tell("one", {**ACME, "valid_at": "2025"})
    assert "possible_conflict" not in attention(await world.tell("two", other))


async def test_another_value_of_the_same_state_is_a_possible_conflict(world: WritingWorld) -> None:
    due = {"source": "Heron", "relation": "HAS_DEADLINE"}
    await world.tell("one", {**due, "value": "2026-04-30"})
    answer = await world.tell("two", {**due, "value": "2026-05-29"})
    assert "possible_conflict" in attention(answer)


async def test_at_most_five_conflicts_are_listed_and_none_of_the_same_call(world: WritingWorld) -> None:
    homes = [{"source": "me", "relation": "LIVES_IN", "target": f"Town {letter}"} for letter in "ABCDEFG"]
    first = await world.tell("one", *homes)
    assert attention(first) == ["undeclared_endpoint"]
    answer = await world.tell("two", {"source": "me", "relation": "LIVES_IN", "target": "Zed"})
    assert len(the(answer, "possible_conflict").candidates) == 5


@pytest.mark.parametrize("relation", ["MANAGES", "LEADS", "IS_HEAD_OF", "MANAGER_OF", "IS_MANAGING"])
async def test_another_holder_of_what_one_holds_is_a_possible_conflict_that_its_call_settles(
    world: WritingWorld, relation: str
) -> None:
    holds = {"relation": relation, "target": "me"}
    await world.tell("one", {**holds, "source": "Tomas"}, reference_time="2026-01-01")
    answer = await world.tell("two", {**holds, "source": "Lise"}, reference_time="2026-03-01")
    report = the(answer, "possible_conflict")
    assert len(report.candidates) == 1
    assert "Tomas" in report.candidates[0]
    assert await world.settle(report) == (1, set())
    assert world.fact(f"Tomas {relation} me").invalid_at == at(2026, 3)
    assert world.lines() == [f"Lise {relation} me"]


@pytest.mark.parametrize("relation", ["USES", "KNOWS", "WORKS_AT", "PART_OF", "MANAGED_BY", "DEPENDS_ON", "LIKES"])
async def test_what_many_may_share_is_no_conflict(world: WritingWorld, relation: str) -> None:
    await world.tell("one", {"source": "Tomas", "relation": relation, "target": "Acme"})
    answer = await world.tell("two", {"source": "Lise", "relation": relation, "target": "Acme"})
    assert "possible_conflict" not in attention(answer)


@pytest.mark.parametrize(
    "change",
    [
        {"invalid_at": "2024"},
        {"kind": "event"},
        {"kind": "plan"},
        {"target": "Tom"},
        {"replaces": "Tomas"},
        {"replaces": "current"},
    ],
)
async def test_holders_that_do_not_hold_at_once_or_were_told_to_follow_are_no_conflict(
    world: WritingWorld, change: dict[str, str]
) -> None:
    holds = {"relation": "MANAGES", "target": "me"}
    await world.tell("one", {**holds, "source": "Tomas", "valid_at": "2025"})
    answer = await world.tell("two", {**holds, "source": "Lise", **change})
    assert "possible_conflict" not in attention(answer)


async def test_the_call_of_several_conflicts_ends_one_and_what_else_the_source_manages_is_none(
    world: WritingWorld,
) -> None:
    holders = [{"source": f"Boss {name}", "relation": "MANAGES", "target": "me"} for name in "ABCD"]
    teams = [{"source": "Lise", "relation": "MANAGES", "target": f"Team {name}"} for name in "ABCD"]
    await world.tell("one", *holders, *teams)
    answer = await world.tell("two", {"source": "Lise", "relation": "MANAGES", "target": "me"})
    held = the(answer, "possible_conflict")
    assert len(held.candidates) == 4
    assert await world.settle(held) == (1, set())
    (ended,) = (fact for fact in world.facts if fact.expired_at)
    assert held.candidates[0].startswith(f"{ended.uuid[:8]} {ended.text}")


async def test_facts_of_one_call_follow_each_other(world: WritingWorld) -> None:
    answer = await world.tell("one", {**ACME, "valid_at": "2024"}, {**BETA, "replaces": "current", "valid_at": "2025"})
    assert [one.outcome for one in answer.facts] == ["created", "created"]
    assert [one.uuid for one in answer.retired] == [answer.facts[0].uuid]
    assert world.lines() == ["me WORKS_AT Beta"]
    assert world.fact("me WORKS_AT Acme").invalid_at == at(2025)


@pytest.mark.parametrize(
    ("told", "said", "target"),
    [
        (
            {"source": "Heron", "relation": "HAS_DEADLINE", "value": "2026-05"},
            "Heron has deadline: 2026-05",
            "deadline",
        ),
        ({"source": "Tom", "relation": "is_a_vegan"}, "Tom is a vegan", "vegan"),
        ({"source": "Tom", "relation": "worksAt", "target": "Acme"}, "Tom works at Acme", "Acme"),
        ({"source": "I", "relation": "LIKES", "target": "Tea"}, "me likes Tea", "Tea"),
        ({**SLEEP}, "me: sleep 6.5 h", "sleep"),
        ({**SLEEP, "value": "4-5", "unit": None}, "me: sleep 4-5", "sleep"),
        ({"source": "me", "relation": "MOOD", "kind": "reading", "value": "6/10"}, "me: mood 6/10", "mood"),
        (
            {"source": "Heron", "relation": "HAS_BUDGET", "measure": "budget", "value": 7},
            "Heron has budget: 7",
            "budget",
        ),
    ],
)
async def test_what_was_left_out_is_made_up(world: WritingWorld, told: dict[str, Any], said: str, target: str) -> None:
    answer = await world.tell("x", told)
    assert (world.facts[0].text, world.facts[0].target_name, answer.facts[0].fact) == (said, target, said)


async def test_readings_are_never_told_again(world: WritingWorld) -> None:
    await world.tell("one", SLEEP)
    answer = await world.tell("two", SLEEP)
    assert answer.facts[0].outcome == "created"
    assert len(world.facts) == 2
    assert world.lines() == []


async def test_the_last_three_readings_of_a_series_are_answered_in_order_of_time(world: WritingWorld) -> None:
    for day, value in ((1, 5), (4, 8), (3, 7)):
        await world.tell("x", {**SLEEP, "value": value}, reference_time=f"2026-03-0{day}")
    answer = await world.tell("x", {**SLEEP, "value": 6}, reference_time="2026-03-02")
    assert answer.facts[0].series == ["6 h (2026-03-02)", "7 h (2026-03-03)", "8 h (2026-03-04)"]


async def test_readings_of_one_day_are_told_apart_by_time(world: WritingWorld) -> None:
    await world.tell("x", {**SLEEP, "value": 5}, reference_time="2026-03-01T08:00")
    answer = await world.tell("x", {**SLEEP, "value": 8}, reference_time="2026-03-01T20:30")
    assert answer.facts[0].series == ["5 h (2026-03-01 08:00)", "8 h (2026-03-01 20:30)"]


@pytest.mark.parametrize(
    ("measure", "series"),
    [
        *(("Sleep", "sleep"), ("hours of sleep", "sleep"), ("sleep duration", "sleep"), ("sleeep", "sleep")),
        ("sleep quality", "sleep quality"),
    ],
)
async def test_near_measures_join_a_series_and_are_reported_in_doubt(
    world: WritingWorld, measure: str, series: str
) -> None:
    await world.tell("one", SLEEP)
    answer = await world.tell("two", {**SLEEP, "measure": measure})
    told = next(fact for fact in world.facts if fact.uuid == answer.facts[0].uuid)
    assert (told.measure, told.target_name) == (series, series)
    assert world.entity("sleep")  # of which there is one
    reported = "near_measure" in attention(answer)
    assert reported == (measure == "sleeep")
    other_unit = await world.tell("three", {**SLEEP, "measure": "hours of sleep", "unit": "points"})
    assert "near_measure" in attention(other_unit)


MOOD = {"source": "me", "relation": "FEELS", "kind": "reading", "measure": "mood", "value": 4}
UNNAMED = {name: MOOD[name] for name in ("source", "relation", "kind", "value")}


async def test_a_reading_without_a_measure_joins_the_one_series_of_its_relation(world: WritingWorld) -> None:
    await world.tell("one", SLEEP, MOOD)
    answer = await world.tell("two", {**UNNAMED, "value": 3})
    assert answer.facts[0].series == ["4 (2026-06-01)", "3 (2026-06-01)"]
    assert world.entity("mood")  # of which there is one
    report = the(answer, "near_measure")
    assert report.detail.startswith("feels was added to the series mood: ")
    assert report.candidates == ["mood"]


@pytest.mark.parametrize(
    "before", [[SLEEP], [MOOD, {**MOOD, "measure": "energy"}], [{**MOOD, "unit": "%"}]], ids=["other", "two", "unit"]
)
async def test_a_reading_without_a_measure_that_fits_no_one_series_is_asked_about(
    world: WritingWorld, before: list[dict[str, Any]]
) -> None:
    await world.tell("one", *before)
    answer = await world.tell("two", {**UNNAMED, "unit": "points", "valid_at": "2026-05-03"})
    assert answer.facts[0].series == ["4 points (2026-05-03)"]
    report = the(answer, "near_measure")
    assert report.candidates == sorted({str(one["measure"]) for one in before})
    (call,) = ready_calls(report)
    assert answer.facts[0].uuid in report.call
    settled = await world.send(call)
    assert (settled.facts[0].series or [])[0] == "4 points (2026-05-03)"
    assert {fact.measure for fact in world.facts if fact.uuid == settled.facts[0].uuid} == {report.candidates[0]}
    again = await world.tell("three", UNNAMED)
    assert "near_measure" not in attention(again)


async def test_the_first_reading_of_all_and_one_that_names_its_target_need_no_measure(world: WritingWorld) -> None:
    first = await world.tell("one", UNNAMED)
    named = await world.tell("two", {**UNNAMED, "target": "tension"})
    assert "near_measure" not in [*attention(first), *attention(named)]
    assert {fact.measure for fact in world.facts} == {"feels", "tension"}


async def test_a_series_begun_in_the_same_call_is_found_too(world: WritingWorld) -> None:
    answer = await world.tell("one", MOOD, {**UNNAMED, "value": 3})
    assert {fact.measure for fact in world.facts} == {"mood"}
    assert "near_measure" in attention(answer)


async def test_a_reading_with_a_target_of_its_own_joins_the_series(world: WritingWorld) -> None:
    answer = await world.tell("one", {**MOOD, "value": 3}, {**MOOD, "value": 4, "target": "tension"})
    assert [len(fact.series or ()) for fact in answer.facts] == [0, 2]


async def test_each_person_has_their_own_series(world: WritingWorld) -> None:
    await world.tell("one", SLEEP)
    answer = await world.tell("two", {**SLEEP, "source": "Tom"})
    assert answer.facts[0].series == ["6.5 h (2026-06-01)"]


@pytest.mark.parametrize("relation", ["WORK_AT", "WORKSAT", "WORKS_FOR", "WROKS_AT", "WORKED_AT"])
async def test_a_relation_near_an_existing_one_is_reported_and_stored_as_sent(
    world: WritingWorld, relation: str
) -> None:
    await world.tell("one", ACME)
    answer = await world.tell("two", {**BETA, "source": "Tom", "relation": relation})
    assert the(answer, "near_relation").candidates == ["WORKS_AT"]
    assert {fact.relation for fact in world.facts} == {"WORKS_AT", relation}


@pytest.mark.parametrize(
    ("relation", "kind"), [("WILL_WORK_WITH", "state"), ("MANAGES", "state"), ("USE", "plan"), ("SUPERSEDED", "plan")]
)
async def test_other_relations_are_not_reported(world: WritingWorld, relation: str, kind: str) -> None:
    await world.tell("one", ACME, {**ACME, "relation": "USES"}, {**ACME, "relation": "SUPERSEDES"})
    answer = await world.tell("two", {**BETA, "relation": relation, "kind": kind})
    assert "near_relation" not in attention(answer)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("She said “no”", "She said “no”"),
        ('she said "no"', "She said “no”"),
        ("“no” —  and left", "“no” —\nand left"),
        ("...and left.", "and left."),
        ('"and left"', "and left"),
    ],
)
async def test_a_quote_is_kept_with_its_place(world: WritingWorld, quote: str, found: str) -> None:
    body = "😀 She said “no” —\nand left."
    answer = await world.tell(body, {**ACME, "quote": quote})
    fact = world.facts[0]
    assert (fact.quote, body[fact.quote_start : fact.quote_end]) == (found, found)
    assert fact.quote_episode_uuid == answer.episode_uuid


async def test_a_quote_that_is_not_there_is_reported_and_not_kept(world: WritingWorld) -> None:
    answer = await world.tell("I work there.", {**ACME, "quote": "I work elsewhere"})
    assert "quote_not_found" in attention(answer)
    assert world.facts[0].quote is None


async def test_a_later_state_or_event_fulfils_a_plan(world: WritingWorld) -> None:
    plan = await world.tell("one", {**ACME, "kind": "plan", "valid_at": "2026-05-10"}, reference_time="2026-03-01")
    done = await world.tell("two", {**ACME, "valid_at": "2026-05"})
    change = next(iter(world.graph.tables.changes.values()))
    assert (change.fact_uuid, change.replaced_by) == (plan.facts[0].uuid, done.facts[0].uuid)
    assert [(one.uuid, one.kind, one.replaced_by) for one in done.retired] == [
        (plan.facts[0].uuid, "fulfilled", done.facts[0].uuid)
    ]
    assert attention(done) == []
    assert "plans: 1 fulfilled" in done.message
    assert "old facts" not in done.message
    assert world.lines() == ["me WORKS_AT Acme"]


async def test_facts_are_found_by_meaning_at_once(world: WritingWorld) -> None:
    answer = await world.tell("I work at Acme. It is fun.", ACME)
    vectors = world.graph.tables.vectors
    passages = [passage.uuid for passage in world.graph.tables.passages.values()]
    assert vectors.keys() == {*passages, answer.facts[0].uuid, *world.graph.tables.entities}
    assert len(passages) == 2
    assert len(world.embedder.calls) == 1


async def test_one_date_written_in_two_ways_is_one_value(world: WritingWorld) -> None:
    deadline = {"source": "Orion", "relation": "HAS_DEADLINE", "value": "2026-07-01"}
    await world.tell("one", deadline)
    answer = await world.tell("two", {**deadline, "value": "1 July 2026"})
    assert (attention(answer), [one.outcome for one in answer.facts]) == ([], ["duplicate"])
    assert attention(await world.tell("three", {**deadline, "value": "2 July 2026"})) == ["possible_conflict"]
