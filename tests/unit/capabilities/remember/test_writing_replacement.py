"""``replaces`` in all its forms, and ``change``."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import TICK, WritingWorld, attention, the

NOW = at(2026, 6, 1)
ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "fact": "I work at Acme"}
BETA = {"source": "me", "relation": "WORKS_AT", "target": "Beta", "fact": "I work at Beta"}
ZED = {"source": "me", "relation": "WORKS_AT", "target": "Zed", "fact": "I work at Zed"}
DUE = {"source": "Heron", "relation": "HAS_DEADLINE"}
SLEEP = {"source": "me", "relation": "SLEEPS", "kind": "reading", "measure": "sleep"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


@pytest.mark.parametrize("wanted", ["current", "CURRENT", "Acme", "ACME", "acme", ["Acme"], ["Acme", "current"]])
async def test_the_old_fact_ends_where_the_new_one_starts(world: WritingWorld, wanted: str | list[str]) -> None:
    await world.tell("one", {**ACME, "valid_at": "2024"})
    answer = await world.tell("two", {**BETA, "replaces": wanted}, reference_time="2026-03-01")
    old, new = world.fact("me WORKS_AT Acme"), world.fact("me WORKS_AT Beta")
    assert (old.invalid_at, old.expired_at, new.valid_at) == (at(2026, 3), NOW + TICK, at(2026, 3))
    change = next(iter(world.graph.tables.changes.values()))
    assert (change.fact_uuid, change.replaced_by, change.kind) == (old.uuid, new.uuid, "retired")
    assert (change.episode_uuid, change.recorded_at) == (answer.episode_uuid, NOW + TICK)
    assert (change.previous_valid_at, change.previous_invalid_at) == (at(2024), None)
    assert world.lines() == ["me WORKS_AT Beta"]


@pytest.mark.parametrize("length", [8, 13, 36])
async def test_an_old_fact_can_be_named_by_uuid_whatever_its_relation(world: WritingWorld, length: int) -> None:
    first = await world.tell("one", {**ACME, "relation": "EMPLOYED_BY"})
    await world.tell("two", {**BETA, "replaces": first.facts[0].uuid[:length]})
    assert world.lines() == ["me WORKS_AT Beta"]


@pytest.mark.parametrize("wanted", ["2026-04-30", "current", "deadline", "10 days", "10"])
async def test_a_state_with_a_value_is_named_by_value(world: WritingWorld, wanted: str) -> None:
    value = {"value": 10, "unit": "days"} if wanted.startswith("10") else {"value": "2026-04-30"}
    await world.tell("one", {**DUE, **value})
    answer = await world.tell("two", {**DUE, "value": "2026-05-29", "replaces": wanted})
    assert len(answer.retired) == 1
    assert world.lines() == ["Heron HAS_DEADLINE deadline [2026-05-29]"]


async def test_an_old_fact_is_found_by_an_alias_of_its_target(world: WritingWorld) -> None:
    await world.tell("one", ACME, entities=[{"name": "Acme", "aliases": ["Roadrunner Ltd"]}])
    await world.tell("two", {**BETA, "replaces": "roadrunner ltd"})
    assert world.lines() == ["me WORKS_AT Beta"]


async def test_an_old_fact_is_found_under_a_near_relation(world: WritingWorld) -> None:
    await world.tell("one", {**ACME, "relation": "WORK_AT"})
    answer = await world.tell("two", {**BETA, "replaces": "current"})
    assert world.lines() == ["me WORKS_AT Beta"]
    assert "near_relation" in attention(answer)


async def test_several_may_be_replaced_at_once(world: WritingWorld) -> None:
    await world.tell("one", ACME, BETA)
    answer = await world.tell("two", {**ZED, "replaces": ["Acme", "Beta"]})
    assert len(answer.retired) == 2
    assert world.lines() == ["me WORKS_AT Zed"]


async def test_what_was_told_twice_in_other_words_is_one_current_fact(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    await world.tell("two", {**ACME, "fact": "Acme employs me"})
    answer = await world.tell("three", {**BETA, "replaces": "current"})
    assert len(answer.retired) == 2
    assert world.lines() == ["me WORKS_AT Beta"]


async def test_current_is_ambiguous_among_several_and_nothing_ends(world: WritingWorld) -> None:
    first = await world.tell("one", ACME, BETA)
    answer = await world.tell("two", {**ZED, "replaces": "current"})
    report = the(answer, "ambiguous_replacement")
    assert {one[:8] for one in report.candidates} == {fact.uuid[:8] for fact in first.facts}
    assert answer.retired == []
    assert world.lines() == ["me WORKS_AT Acme", "me WORKS_AT Beta", "me WORKS_AT Zed"]
    await world.tell("three", {**ZED, "replaces": [fact.uuid for fact in first.facts], "valid_at": "2026-06-01"})
    assert world.lines() == ["me WORKS_AT Zed"]


async def test_current_without_any_current_fact_is_reported_and_the_new_one_starts_there(world: WritingWorld) -> None:
    answer = await world.tell("one", {**ACME, "replaces": "current"}, reference_time="2026-03-01")
    assert the(answer, "ambiguous_replacement").candidates == []
    assert world.fact("me WORKS_AT Acme").valid_at == at(2026, 3)


async def test_naming_itself_as_current_tells_it_again(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    answer = await world.tell("two", {**ACME, "replaces": "current"})
    assert (answer.facts[0].outcome, answer.retired) == ("duplicate", [])
    assert world.lines() == ["me WORKS_AT Acme"]


async def test_a_named_old_target_never_recorded_is_recorded_and_ended(world: WritingWorld) -> None:
    answer = await world.tell("one", {**BETA, "replaces": "Acme"}, reference_time="2026-03-01")
    old = world.fact("me WORKS_AT Acme")
    assert (old.valid_at, old.invalid_at, old.expired_at) == (None, at(2026, 3), NOW)
    assert old.text == "me works at Acme"
    assert [(one.uuid, one.replaced_by) for one in answer.retired] == [(old.uuid, answer.facts[0].uuid)]
    assert len(answer.facts) == 1
    assert world.mentions("Acme") == 1
    assert {old.uuid, old.target_uuid} <= world.graph.tables.vectors.keys()
    assert the(answer, "undeclared_endpoint").candidates == ["Beta"]


async def test_a_named_old_value_never_recorded_is_recorded_and_ended(world: WritingWorld) -> None:
    await world.tell("one", {**DUE, "value": "2026-05-29", "replaces": "2026-04-30"})
    old = world.fact("Heron HAS_DEADLINE deadline [2026-04-30]")
    assert (old.text, old.invalid_at) == ("Heron has deadline: 2026-04-30", NOW)
    assert world.lines() == ["Heron HAS_DEADLINE deadline [2026-05-29]"]


async def test_an_old_fact_that_ended_before_stays_as_it_is(world: WritingWorld) -> None:
    await world.tell("one", {**ACME, "valid_at": "2020", "invalid_at": "2022"})
    answer = await world.tell("two", {**BETA, "replaces": "Acme"})
    assert (answer.retired, attention(answer)) == ([], ["undeclared_endpoint"])
    assert world.fact("me WORKS_AT Acme").invalid_at == at(2023)


async def test_a_start_in_the_future_leaves_the_old_fact_current_until_then(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    await world.tell("two", {**BETA, "replaces": "current", "valid_at": "2026-09"})
    old = world.fact("me WORKS_AT Acme")
    assert (old.invalid_at, old.expired_at) == (at(2026, 9), None)
    assert world.lines() == ["me WORKS_AT Acme"]
    assert world.lines(now=at(2026, 10)) == ["me WORKS_AT Beta"]


@pytest.mark.parametrize(
    ("start", "is_ended"),
    [("2026-03-01", True), ("2026-02-01", False)],
)
async def test_an_old_fact_without_time_left_is_reported(world: WritingWorld, start: str, *, is_ended: bool) -> None:
    await world.tell("one", {**ACME, "valid_at": "2026-03-01"})
    answer = await world.tell("two", {**BETA, "valid_at": start, "replaces": "current"})
    assert "empty_interval" in attention(answer)
    assert bool(answer.retired) == is_ended
    assert ("me WORKS_AT Acme" in world.lines()) != is_ended


async def test_a_plan_ends_nothing(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    for wanted in ("current", "Acme", "Nowhere Ltd"):
        answer = await world.tell("two", {**BETA, "kind": "plan", "replaces": wanted, "fact": f"I may, {wanted}"})
        assert (answer.retired, attention(answer).count("ambiguous_replacement")) == ([], 1)
    assert world.lines() == ["me WORKS_AT Acme"]
    assert "Nowhere Ltd" not in [entity.name for entity in world.graph.tables.entities.values()]


async def test_a_plan_replaces_a_plan(world: WritingWorld) -> None:
    plan = await world.tell("one", {**ACME, "kind": "plan"})
    answer = await world.tell("two", {**BETA, "kind": "plan", "replaces": "Acme"})
    assert [one.uuid for one in answer.retired] == [plan.facts[0].uuid]


async def test_a_reading_ends_nothing_unless_it_corrects(world: WritingWorld) -> None:
    await world.tell("one", {**SLEEP, "value": 8})
    answer = await world.tell("two", {**SLEEP, "value": 6, "replaces": "8"})
    assert (answer.retired, attention(answer)) == ([], ["ambiguous_replacement"])
    assert '"change":"corrected"' in the(answer, "ambiguous_replacement").call


async def test_a_corrected_fact_is_voided_and_the_new_one_takes_its_interval(world: WritingWorld) -> None:
    first = await world.tell("one", {**ACME, "valid_at": "2024"}, reference_time="2026-01-01")
    second = await world.tell("two", {**BETA, "replaces": "Acme", "change": "corrected"}, reference_time="2026-03-01")
    old, new = world.fact("me WORKS_AT Acme"), world.fact("me WORKS_AT Beta")
    assert (old.voided, old.expired_at, old.valid_at, old.invalid_at) == (True, NOW + TICK, at(2024), None)
    assert (new.valid_at, new.invalid_at, new.reference_time) == (at(2024), None, at(2026, 3))
    assert [(one.uuid, one.kind, one.replaced_by) for one in second.retired] == [(old.uuid, "voided", new.uuid)]
    episodes = world.graph.tables.episodes
    assert (episodes[first.episode_uuid].corrected, episodes[second.episode_uuid].corrected) == (True, False)


async def test_an_ended_fact_can_be_corrected(world: WritingWorld) -> None:
    await world.tell("one", {**ACME, "valid_at": "2020"})
    await world.tell("two", {**BETA, "valid_at": "2024", "replaces": "current"})
    await world.tell("three", {**ZED, "replaces": "Acme", "change": "corrected"})
    new = world.fact("me WORKS_AT Zed")
    assert (new.valid_at, new.invalid_at) == (at(2020), at(2024))
    assert world.lines() == ["me WORKS_AT Beta"]


@pytest.mark.parametrize("wanted", [None, "current", "London"])
async def test_an_event_can_be_corrected(world: WritingWorld, wanted: str | None) -> None:
    trip = {"source": "me", "relation": "TRAVELLED_TO", "kind": "event"}
    await world.tell("one", {**trip, "target": "London", "valid_at": "2026-02-02"})
    await world.tell("two", {**trip, "target": "Paris", "change": "corrected", "replaces": wanted})
    assert world.fact("me TRAVELLED_TO London").voided
    assert world.fact("me TRAVELLED_TO Paris").valid_at == at(2026, 2, 2)


@pytest.mark.parametrize(("wanted", "left"), [("8", ["7", "6"]), ("current", ["8", "6"])])
async def test_a_reading_is_corrected_by_value_or_as_the_newest(
    world: WritingWorld, wanted: str, left: list[str]
) -> None:
    await world.tell("one", {**SLEEP, "value": 8}, reference_time="2026-03-01")
    await world.tell("two", {**SLEEP, "value": 7}, reference_time="2026-03-02")
    answer = await world.tell("three", {**SLEEP, "value": 6, "replaces": wanted, "change": "corrected"})
    assert sorted(fact.value or "" for fact in world.facts if not fact.voided) == sorted(left)
    assert answer.facts[0].interval == ("on 2026-03-01" if wanted == "8" else "on 2026-03-02")


async def test_a_date_alone_can_be_corrected(world: WritingWorld) -> None:
    await world.tell("one", {**ACME, "valid_at": "2024"})
    await world.tell("two", {**ACME, "valid_at": "2023", "change": "corrected"})
    assert [(fact.valid_at, fact.voided) for fact in world.facts] == [(at(2024), True), (at(2023), False)]


async def test_a_correction_of_nothing_recorded_is_reported(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    answer = await world.tell("two", {**BETA, "replaces": "Nowhere", "change": "corrected"})
    assert len(the(answer, "ambiguous_replacement").candidates) == 1
    assert (answer.retired, world.fact("me WORKS_AT Beta").valid_at) == ([], None)


@pytest.mark.parametrize("wanted", ["0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2a10"])
async def test_an_unknown_uuid_ends_nothing_and_records_nothing(world: WritingWorld, wanted: str) -> None:
    await world.tell("one", ACME)
    answer = await world.tell("two", {**BETA, "replaces": wanted})
    assert "ambiguous_replacement" in attention(answer)
    assert len(world.graph.tables.entities) == 3


async def test_digits_that_look_like_a_uuid_are_a_value(world: WritingWorld) -> None:
    told: dict[str, Any] = {"source": "Heron", "relation": "HAS_NUMBER"}
    await world.tell("one", {**told, "value": "20260430"})
    await world.tell("two", {**told, "value": "20260529", "replaces": "20260430"})
    assert world.lines() == ["Heron HAS_NUMBER number [20260529]"]


async def test_facts_of_other_groups_are_out_of_reach(world: WritingWorld) -> None:
    other = await world.tell("one", ACME, group_id="work")
    await world.tell("two", {**BETA, "replaces": other.facts[0].uuid}, group_id="home")
    await world.tell("two", {**BETA, "replaces": "current"}, group_id="home")
    assert world.fact("me WORKS_AT Acme").expired_at is None
