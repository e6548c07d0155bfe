"""``replaces`` that names what is known under another relation: asked about, never invented a second time."""

import json
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

NOW = at(2026, 6, 1)
RACE = {"source": "me", "relation": "PLANS", "target": "Gothenburg half marathon", "kind": "plan"}
SWIMMING = {"source": "me", "relation": "PRACTISES", "target": "swimming", "replaces": "Gothenburg half marathon"}
DENTIST = {"source": "me", "relation": "HAS_APPOINTMENT", "target": "dentist visit", "kind": "plan"}
VISITED = {"source": "me", "relation": "VISITED", "target": "dentist visit", "kind": "event"}
VISITED |= {"valid_at": "2026-05-12", "replaces": "dentist visit"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


def open_facts(world: WritingWorld) -> list[str]:
    return sorted(fact.text for fact in world.facts if fact.expired_at is None and not fact.voided)


@pytest.mark.parametrize(
    "known",
    [RACE, {**RACE, "kind": "state"}, {**RACE, "relation": "TRAINS_FOR", "kind": "state", "value": "daily"}],
)
@pytest.mark.parametrize("told", [SWIMMING, {**SWIMMING, "kind": "event"}])
@pytest.mark.parametrize("body", ["I swim now.", "I swim now, no more Gothenburg half marathon."])
async def test_what_is_known_otherwise_is_asked_about(
    world: WritingWorld, known: dict[str, Any], told: dict[str, Any], body: str
) -> None:
    old = (await world.tell("one", known)).facts[0].uuid
    answer = await world.tell(body, told)
    report = the(answer, "ambiguous_replacement")
    assert answer.retired == []
    assert "another relation" in report.detail
    assert [one[:8] for one in report.candidates] == [old[:8]]
    assert old in report.call
    assert len(open_facts(world)) == len(world.facts) == 2


async def test_a_plan_of_a_near_relation_is_ended(world: WritingWorld) -> None:
    old = (await world.tell("one", {**RACE, "relation": "PRACTISE"})).facts[0].uuid
    answer = await world.tell("two", SWIMMING)
    assert ([one.uuid for one in answer.retired], attention(answer).count("ambiguous_replacement")) == ([old], 0)


@pytest.mark.parametrize(
    "known",
    [
        {**RACE, "kind": "event", "valid_at": "2025-05-17"},
        {**RACE, "kind": "state", "invalid_at": "2025"},
    ],
)
async def test_of_what_cannot_end_nothing_ends_and_the_untold_state_is_recorded_by_the_call(
    world: WritingWorld, known: dict[str, Any]
) -> None:
    await world.tell("one", known)
    answer = await world.tell("two", SWIMMING)
    assert (answer.retired, len(world.facts)) == ([], 2)
    call = the(answer, "ambiguous_replacement").call
    arguments, _ = json.JSONDecoder().raw_decode(call.split("add_memory ")[1])
    await world.send(arguments)
    assert world.fact("me PRACTISES Gothenburg half marathon").invalid_at == NOW


async def test_a_corrected_fact_is_as_if_never_told(world: WritingWorld) -> None:
    old = (await world.tell("one", RACE)).facts[0].uuid
    await world.tell("two", {**RACE, "target": "Malmo run", "replaces": old, "change": "corrected"})
    answer = await world.tell("three", SWIMMING)
    assert [one.fact for one in answer.retired] == ["me practises Gothenburg half marathon"]


async def test_a_source_that_is_known_otherwise_is_asked_about(world: WritingWorld) -> None:
    old = (await world.tell("one", {"source": "Maria", "relation": "SUPERVISES", "target": "me"})).facts[0].uuid
    answer = await world.tell("two", {"source": "Tom", "relation": "MANAGES", "target": "me", "replaces": "Maria"})
    assert (answer.retired, len(world.facts)) == ([], 2)
    assert [one[:8] for one in the(answer, "ambiguous_replacement").candidates] == [old[:8]]


async def test_what_joins_the_old_and_the_new_target_is_another_matter(world: WritingWorld) -> None:
    await world.tell("one", {"source": "Acme", "relation": "OWNS", "target": "Beta"})
    told = {"source": "me", "relation": "WORKS_AT", "target": "Beta", "replaces": "Acme"}
    assert [one.fact for one in (await world.tell("two", told)).retired] == ["me works at Acme"]


@pytest.mark.parametrize("told", [VISITED, {**VISITED, "kind": "state"}])
@pytest.mark.parametrize("visited_before", [False, True])
async def test_a_plan_between_the_same_ends_is_what_came_about(
    world: WritingWorld, told: dict[str, Any], *, visited_before: bool
) -> None:
    if visited_before:
        await world.tell("zero", {**VISITED, "valid_at": "2025-05-12", "replaces": []})
    plan = (await world.tell("one", DENTIST, reference_time="2026-04-01")).facts[0].uuid
    answer = await world.tell("two", told)
    assert [(one.uuid, one.kind) for one in answer.retired] == [(plan, "fulfilled")]
    assert "ambiguous_replacement" not in attention(answer)


async def test_of_two_plans_between_the_same_ends_the_date_chooses(world: WritingWorld) -> None:
    may = (await world.tell("one", {**DENTIST, "valid_at": "2026-05-12"}, reference_time="2026-04-01")).facts[0].uuid
    other = {**DENTIST, "valid_at": "2026-11-12", "fact": "I see the dentist again"}
    november = (await world.tell("two", other, reference_time="2026-04-01")).facts[0].uuid
    asked = await world.tell("three", {**VISITED, "valid_at": "2026-05-20"})
    assert asked.retired == []
    assert {one[:8] for one in the(asked, "ambiguous_replacement").candidates} == {may[:8], november[:8]}
    assert [one.uuid for one in (await world.tell("four", VISITED)).retired] == [may]


async def test_what_was_planned_only_after_it_happened_is_asked_about(world: WritingWorld) -> None:
    plan = (await world.tell("one", {**DENTIST, "valid_at": "2026-11-12"}, reference_time="2026-05-30")).facts[0].uuid
    answer = await world.tell("two", VISITED)
    assert answer.retired == []
    assert [one[:8] for one in the(answer, "ambiguous_replacement").candidates] == [plan[:8]]


async def test_a_plan_ends_no_state_of_another_relation(world: WritingWorld) -> None:
    await world.tell("one", {**RACE, "kind": "state"})
    answer = await world.tell("two", {**SWIMMING, "kind": "plan"})
    assert (answer.retired, "ends nothing" in the(answer, "ambiguous_replacement").detail) == ([], True)
