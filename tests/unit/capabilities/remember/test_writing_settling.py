"""The ready call of a report settles it when it is sent exactly as it stands."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, line, ready_calls, the

from graphiti_pkm.capabilities.history.requests import WhatChanged
from graphiti_pkm.core.model.access import LOCAL

ME_AT = {"source": "me", "relation": "WORKS_AT"}
DUE = {"source": "Heron", "relation": "HAS_DEADLINE"}
VISIT = {"source": "me", "relation": "VISITED"}
SLEEP = {"source": "me", "relation": "SLEEPS", "kind": "reading", "measure": "sleep", "unit": "h"}
MANAGES = {"relation": "MANAGES", "target": "me"}
NEW: dict[str, Any] = {**ME_AT, "target": "Zed"}


@pytest.fixture(params=["2026-06-01T12:00:00+00:00", None], ids=["dated", "now"])
def times(request: pytest.FixtureRequest) -> dict[str, str]:
    """When the notes are said: told, or the very moment of the call."""
    return {"reference_time": request.param} if request.param else {}


@pytest.fixture(params=["default", "work"])
def world(request: pytest.FixtureRequest) -> WritingWorld:
    world = WritingWorld(now=at(2026, 6), timezone="Europe/Berlin")
    world.clock.tick = timedelta(seconds=1.234567)
    world.group = request.param
    return world


async def settled(
    world: WritingWorld, earlier: Sequence[dict[str, Any]], told: dict[str, Any], times: dict[str, str]
) -> WritingWorld:
    """What is left after the first ready call of the report on the last note was sent."""
    for note in earlier:
        await world.tell("Earlier.", note, group_id=world.group)
    answer = await world.tell("Now.", told, group_id=world.group, **times)
    assert answer.retired == []
    retired, asked = await world.settle(the(answer, "ambiguous_replacement"))
    assert retired in {1, 2}
    assert asked <= {"undeclared_endpoint"}
    return world


@pytest.mark.parametrize(
    ("earlier", "told", "left"),
    [
        (
            [{**ME_AT, "target": "Acme"}, {**ME_AT, "target": "Beta"}],
            {**NEW, "replaces": "current"},
            ["me WORKS_AT Acme", "me WORKS_AT Zed"],
        ),
        (
            [{**ME_AT, "target": "Acme"}, {**ME_AT, "target": "Beta"}],
            {**NEW, "replaces": "current", "valid_at": "2026-07-01", "invalid_at": "2027"},
            ["me WORKS_AT Acme", "me WORKS_AT Zed"],
        ),
        ([{**ME_AT, "target": "Acme"}], {**NEW, "replaces": "Initech"}, ["me WORKS_AT Zed"]),
        ([{**ME_AT, "target": "Acme"}], {**NEW, "replaces": "0b9e3c1e-9f0a"}, ["me WORKS_AT Zed"]),
        ([{**ME_AT, "target": "Acme"}], {**NEW, "kind": "event", "replaces": "Initech"}, []),
        (
            [{**DUE, "value": "2026-08-01"}, {**DUE, "value": "2026-09-01"}],
            {**DUE, "value": "2026-10-01", "unit": "UTC", "replaces": "current"},
            ["Heron HAS_DEADLINE deadline [2026-08-01]", "Heron HAS_DEADLINE deadline [2026-10-01]"],
        ),
        ([{**MANAGES, "source": "Maria"}], {**MANAGES, "source": "Tom", "replaces": "current"}, ["Tom MANAGES me"]),
        ([{**MANAGES, "source": "Maria"}], {**MANAGES, "source": "Tom", "replaces": "Otto"}, ["Tom MANAGES me"]),
    ],
)
async def test_what_ends_is_the_first_candidate(
    world: WritingWorld, times: dict[str, str], earlier: list[dict[str, Any]], told: dict[str, Any], left: list[str]
) -> None:
    await settled(world, earlier, told, times)
    assert world.lines(now=at(2026, 8)) == left
    said = f"{told['source']} {told['relation']} {told.get('target', 'deadline')}"
    assert len([fact for fact in world.facts if line(fact).startswith(said) and is_last(fact, told)]) == 1


async def test_a_settled_ending_is_caused_by_the_note_that_told_the_new_fact(
    world: WritingWorld, times: dict[str, str]
) -> None:
    jobs = ({**ME_AT, "target": "Acme"}, {**ME_AT, "target": "Beta"})
    await world.tell("Earlier.", *jobs, group_id=world.group, reference_time="2026-01-10")
    told = {**NEW, "replaces": "current", "valid_at": "2026-05-04"}
    answer = await world.tell("It rained. Since May I work at Zed.", told, group_id=world.group, **times)
    episodes = len(world.graph.tables.episodes)
    await world.settle(the(answer, "ambiguous_replacement"))
    assert len(world.graph.tables.episodes) == episodes
    history = await world.changes.what_changed(LOCAL, WhatChanged(since="2026-01-01", group_ids=[world.group]))
    retired = history.changes[0]
    assert (retired.change, retired.replaced_by, retired.invalid_at) == (
        "retired",
        answer.facts[0].uuid,
        "2026-05-03T22:00:00+00:00",
    )
    assert (retired.words, retired.episode_uuid) == ("Since May I work at Zed.", answer.episode_uuid)


@pytest.mark.parametrize("start", ["2026-05-20", "2020"])
async def test_a_candidate_that_cannot_have_ended_then_is_not_retired(
    world: WritingWorld, times: dict[str, str], start: str
) -> None:
    earlier = [{**ME_AT, "target": city, "valid_at": "2026-05-20T12:00"} for city in ("Acme", "Beta")]
    await world.tell("Earlier.", *earlier, group_id=world.group)
    answer = await world.tell("Now.", {**NEW, "replaces": "current", "valid_at": start}, group_id=world.group, **times)
    assert "retire_fact" not in the(answer, "ambiguous_replacement").call


def is_last(fact: Any, told: dict[str, Any]) -> bool:
    return fact.value == told.get("value")


async def test_a_plan_takes_the_place_of_the_first_of_several(world: WritingWorld, times: dict[str, str]) -> None:
    plans = [{**VISIT, "kind": "plan", "target": city, "valid_at": "2026-09"} for city in ("Oslo", "Rome", "Lima")]
    await settled(world, plans[:2], {**plans[2], "replaces": "current"}, times)
    assert sorted(fact.target_name for fact in world.facts if fact.expired_at is None) == ["Lima", "Oslo"]


@pytest.mark.parametrize("told", [{"replaces": "current"}, {"replaces": "8"}, {"replaces": "Nowhere"}])
async def test_a_reading_that_ended_nothing_may_turn_out_to_be_a_correction(
    world: WritingWorld, times: dict[str, str], told: dict[str, str]
) -> None:
    earlier = [{**SLEEP, "value": 7, "valid_at": "2026-05-01"}, {**SLEEP, "value": 8, "valid_at": "2026-05-02"}]
    await settled(world, earlier, {**SLEEP, "value": 6, **told}, times)
    kept = [(fact.value, fact.valid_at) for fact in world.facts if not fact.voided]
    assert kept == [("7", at(2026, 4, 30, 22)), ("6", at(2026, 5, 1, 22))]


@pytest.mark.parametrize(
    ("earlier", "told"),
    [
        ({**SLEEP, "value": 7, "valid_at": "2026-05-24"}, {**SLEEP, "value": 6, "valid_at": "2026-05-17"}),
        (
            {**VISIT, "kind": "event", "target": "Oslo", "valid_at": "2026-05-24"},
            {**VISIT, "kind": "event", "target": "Rome", "valid_at": "2026-05-17"},
        ),
        (
            {**ME_AT, "target": "Acme", "valid_at": "2020", "invalid_at": "2027"},
            {**ME_AT, "target": "Zed", "valid_at": "2021", "invalid_at": "2028"},
        ),
        ({**ME_AT, "target": "Acme", "valid_at": "2020"}, {**ME_AT, "target": "Zed", "valid_at": "2021"}),
    ],
)
async def test_a_dated_correction_without_its_original_stays_as_it_was_stored(
    world: WritingWorld, times: dict[str, str], earlier: dict[str, Any], told: dict[str, Any]
) -> None:
    because = {"source": "me", "relation": "HAS_GOAL", "target": "rest"}
    await world.tell("Earlier.", because, {**earlier, "because_of": "rest"}, group_id=world.group)
    wrong = {**told, "change": "corrected", "replaces": "Nowhere"}
    answer = await world.tell("Now.", wrong, group_id=world.group, **times)
    report = the(answer, "ambiguous_replacement")
    (old,) = [fact for fact in world.facts if fact.cause_uuid]
    assert ready_calls(report)[0]["facts"][0]["replaces"] == [old.uuid]
    assert await world.settle(report) == (1, set())
    assert [fact.uuid for fact in world.facts if fact.voided] == [old.uuid]
    (kept,) = [fact for fact in world.facts if fact.cause_uuid and not fact.voided]
    assert kept.uuid == answer.facts[0].uuid
    assert kept.cause_uuid == old.cause_uuid


@pytest.mark.parametrize(
    "told",
    [
        {"target": "Zed", "change": "corrected", "replaces": "Nowhere"},
        {"target": "Zed", "change": "corrected", "replaces": "Nowhere", "invalid_at": "2030"},
        {"target": "Zed", "change": "corrected", "replaces": "current"},
    ],
)
async def test_a_correction_takes_the_place_of_the_first_candidate(
    world: WritingWorld, times: dict[str, str], told: dict[str, str]
) -> None:
    earlier = [{**ME_AT, "target": "Acme", "valid_at": "2020"}, {**ME_AT, "target": "Beta", "valid_at": "2021"}]
    await settled(world, earlier, {**ME_AT, **told}, times)
    (kept,) = [fact for fact in world.facts if fact.target_name == "Zed" and not fact.voided]
    assert kept.valid_at == at(2020, 12, 31, 23)
    assert (kept.invalid_at is not None) == ("invalid_at" in told)
    assert world.lines() == ["me WORKS_AT Acme", "me WORKS_AT Zed"]


async def test_a_known_fact_keeps_its_own_cause_when_a_correction_repeats_it(world: WritingWorld) -> None:
    jobs = [
        {**ME_AT, "target": city, "valid_at": "2020", "because_of": why} for city, why in (("Acme", "A"), ("Zed", "Z"))
    ]
    await world.tell("A and Z.", *jobs, entities=[{"name": "A"}, {"name": "Z"}], group_id=world.group)
    again = {**ME_AT, "target": "Zed", "valid_at": "2020", "replaces": "Acme", "change": "corrected"}
    answer = await world.tell("Zed it was.", again, group_id=world.group)
    assert [one.kind for one in answer.retired] == ["voided"]
    (kept,) = [fact for fact in world.facts if not fact.voided]
    assert kept.cause == "Z"


async def test_an_event_may_be_corrected_by_a_state(world: WritingWorld, times: dict[str, str]) -> None:
    event = {**VISIT, "kind": "event", "target": "Oslo", "valid_at": "2026-05-01"}
    await settled(world, [event], {**VISIT, "target": "Rome", "replaces": "Oslo"}, times)
    assert sorted((line(fact), fact.voided) for fact in world.facts if fact.kind == "event") == [
        ("me VISITED Oslo", True)
    ]
    assert world.lines() == ["me VISITED Rome"]


async def test_another_candidate_is_ended_by_its_shown_prefix(world: WritingWorld, times: dict[str, str]) -> None:
    await world.tell("Earlier.", {**ME_AT, "target": "Acme"}, {**ME_AT, "target": "Beta"}, group_id=world.group)
    answer = await world.tell("Now.", {**NEW, "replaces": "current"}, group_id=world.group, **times)
    report = the(answer, "ambiguous_replacement")
    for one in report.candidates:
        assert (await world.settle(report, one[:8]))[0] == 1
    assert world.lines(now=at(2026, 8)) == ["me WORKS_AT Zed"]


@pytest.mark.parametrize("wanted", ["current", "0b9e3c1e"])
async def test_without_a_candidate_the_ready_call_is_a_search(
    world: WritingWorld, times: dict[str, str], wanted: str
) -> None:
    answer = await world.tell("Now.", {**NEW, "replaces": wanted}, group_id=world.group, **times)
    report = the(answer, "ambiguous_replacement")
    assert (report.candidates, ready_calls(report)) == ([], [])
    group = "" if world.group == "default" else ',"group_ids":["work"]'
    assert f'search_memory_facts {{"query":"me works at Zed"{group}}}' in report.call


async def test_a_possible_conflict_is_settled_by_its_call(world: WritingWorld, times: dict[str, str]) -> None:
    await world.tell("Earlier.", {**ME_AT, "target": "Acme"}, group_id=world.group)
    answer = await world.tell("Now.", NEW, group_id=world.group, **times)
    assert (await world.settle(the(answer, "possible_conflict")))[0] == 1
    assert world.lines(now=at(2026, 8)) == ["me WORKS_AT Zed"]


async def test_more_candidates_than_are_shown_are_counted(world: WritingWorld, times: dict[str, str]) -> None:
    await world.tell("Earlier.", *({**ME_AT, "target": f"Job {letter}"} for letter in "ABCDEFG"), group_id=world.group)
    answer = await world.tell("Now.", {**NEW, "replaces": "current"}, group_id=world.group, **times)
    report = the(answer, "ambiguous_replacement")
    assert (len(report.candidates), report.detail[-14:]) == (5, "(5 of 7 shown)")
