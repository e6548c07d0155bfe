"""``replaces`` that names nothing recorded: nothing is ended that was not meant, nothing invented that was not said."""

import json
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

NOW = at(2026, 6, 1)
ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme Works", "fact": "I work at Acme Works"}
BETA = {"source": "me", "relation": "WORKS_AT", "target": "Beta", "fact": "I work at Beta"}
DUE = {"source": "Heron", "relation": "HAS_DEADLINE"}
MANAGES = {"relation": "MANAGES", "target": "me"}

UUIDS = [
    "0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2a10",
    "0b9e3c1e9f0a4d558a0e6f3f3f1f2a10",
    "0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2aI0",
    "0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2a100",
    "0b9e3c-1e9f0a-4d55",
    "0b9e3c1e-9f0",
    "0B9E3C1E",
    "deadbeef-",
    "{0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2a10}",
    "12345678",
]


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


def entities(world: WritingWorld) -> list[str]:
    return sorted(entity.name for entity in world.graph.tables.entities.values())


@pytest.mark.parametrize("wanted", UUIDS)
@pytest.mark.parametrize("body", ["Now at Beta.", "{0} and {0}"])
async def test_what_looks_like_a_uuid_is_never_a_name(world: WritingWorld, wanted: str, body: str) -> None:
    for target in ("Beta", "Zed"):
        answer = await world.tell(body.format(wanted), {**BETA, "target": target, "replaces": wanted})
        assert (answer.retired, attention(answer).count("ambiguous_replacement")) == ([], 1)
        assert "nothing was ended" in the(answer, "ambiguous_replacement").detail
    assert entities(world) == ["Beta", "Zed", "me"]
    assert world.lines() == ["me WORKS_AT Beta", "me WORKS_AT Zed"]


async def test_what_looks_like_a_uuid_is_no_old_value_either(world: WritingWorld) -> None:
    answer = await world.tell("x", {**DUE, "value": "2026-05-29", "replaces": "0b9e3c1e-9f0a"})
    assert (answer.retired, len(world.facts)) == ([], 1)


@pytest.mark.parametrize("wanted", ["2026-04-30", "2026-04", "5000-6000", "10-20", "20260430", "4915112345678"])
async def test_dates_and_amounts_are_no_uuids(world: WritingWorld, wanted: str) -> None:
    answer = await world.tell("x", {**DUE, "value": "2026-05-29", "replaces": wanted})
    assert [one.fact for one in answer.retired] == [f"Heron has deadline: {wanted}"]


async def test_a_uuid_is_known_without_its_hyphens(world: WritingWorld) -> None:
    first = await world.tell("one", ACME)
    await world.tell("two", {**BETA, "replaces": first.facts[0].uuid.replace("-", "")})
    assert world.lines() == ["me WORKS_AT Beta"]


@pytest.mark.parametrize("wanted", ["Initech", "the old job", "Acme Werks", "Acme"])
async def test_a_wrong_name_invents_no_history_beside_what_is_current(world: WritingWorld, wanted: str) -> None:
    first = await world.tell("one", ACME)
    answer = await world.tell("Now at Beta.", {**BETA, "replaces": wanted}, reference_time="2026-03-01")
    report = the(answer, "ambiguous_replacement")
    assert answer.retired == []
    assert "nothing was ended" in report.detail
    assert [one[:8] for one in report.candidates] == [first.facts[0].uuid[:8]]
    assert entities(world) == ["Acme Works", "Beta", "me"]
    assert "possible_conflict" not in attention(answer)
    assert world.fact("me WORKS_AT Beta").valid_at == at(2026, 3)


async def test_what_was_never_recorded_is_told_by_the_second_call_of_the_report(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    answer = await world.tell("Now at Beta.", {**BETA, "replaces": "Initech"}, reference_time="2026-03-01")
    *_, last = the(answer, "ambiguous_replacement").call.split("add_memory ")
    arguments, _ = json.JSONDecoder().raw_decode(last)
    await world.tell(arguments["episode_body"], *arguments["facts"])
    old = world.fact("me WORKS_AT Initech")
    assert (old.valid_at, old.invalid_at) == (None, at(2026, 3))
    assert world.lines() == ["me WORKS_AT Acme Works", "me WORKS_AT Beta"]


async def test_an_old_state_that_was_said_is_recorded_beside_what_is_current(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    answer = await world.tell("I left initech for Beta.", {**BETA, "replaces": "Initech"})
    assert [one.fact for one in answer.retired] == ["me works at Initech"]
    assert "me WORKS_AT Acme Works" in world.lines()


async def test_a_slip_that_was_said_is_still_asked_about(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    answer = await world.tell("I left Acme Werks for Beta.", {**BETA, "replaces": "Acme Werks"})
    assert (answer.retired, entities(world)) == ([], ["Acme Works", "Beta", "me"])
    assert "ambiguous_replacement" in attention(answer)


@pytest.mark.parametrize(("current", "is_asked"), [("2026-05-15", True), (None, False)])
async def test_an_unknown_old_value_is_recorded_only_where_no_other_is_current(
    world: WritingWorld, current: str | None, *, is_asked: bool
) -> None:
    if current:
        await world.tell("one", {**DUE, "value": current})
    answer = await world.tell("x", {**DUE, "value": "2026-05-29", "replaces": "2026-04-30"})
    assert ("ambiguous_replacement" in attention(answer)) == is_asked
    assert bool(answer.retired) != is_asked


@pytest.mark.parametrize(
    "earlier",
    [
        {**BETA, "target": "Old Ltd", "invalid_at": "2024"},
        {**BETA, "target": "Plan Ltd", "kind": "plan"},
        {**BETA, "source": "Tom"},
        {**BETA, "relation": "LIVES_IN"},
        {**BETA, "fact": "Beta employs me"},
    ],
)
async def test_nothing_else_is_current_where_only_this_was_told(world: WritingWorld, earlier: dict[str, Any]) -> None:
    await world.tell("one", earlier)
    answer = await world.tell("two", {**BETA, "replaces": "Initech"})
    assert [one.fact for one in answer.retired if one.kind == "retired"] == ["me works at Initech"]


@pytest.mark.parametrize("wanted", ["Marja", "Otto"])
async def test_an_unknown_old_source_is_asked_about_where_another_is_current(world: WritingWorld, wanted: str) -> None:
    first = await world.tell("one", {**MANAGES, "source": "Maria"})
    answer = await world.tell("two", {**MANAGES, "source": "Tom", "replaces": wanted})
    assert answer.retired == []
    assert the(answer, "ambiguous_replacement").candidates[0].startswith(first.facts[0].uuid[:8])
    assert entities(world) == ["Maria", "Tom", "me"]


@pytest.mark.parametrize("told", [{**BETA, "replaces": "beta"}, {**DUE, "value": "5 May", "replaces": "5 may"}])
async def test_nothing_replaces_itself(world: WritingWorld, told: dict[str, Any]) -> None:
    answer = await world.tell("one", told)
    assert (answer.retired, len(world.facts)) == ([], 1)


async def test_an_old_fact_is_found_behind_hundreds_of_newer_ones(world: WritingWorld) -> None:
    first = await world.tell("one", {"source": "me", "relation": "USES", "target": "Emacs"})
    world.clock.advance(days=1)
    await world.tell("two", *({"source": "me", "relation": "USES", "target": f"Tool {i}"} for i in range(201)))
    world.clock.advance(days=1)
    answer = await world.tell("three", {"source": "me", "relation": "USES", "target": "Vim", "replaces": "Emacs"})
    assert [one.uuid for one in answer.retired] == [first.facts[0].uuid]
