"""What became of a plan is what a note or a reason says of it, and nothing where none does."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

from graphiti_pkm.capabilities.history.models import ChangedFactResponse
from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact
from graphiti_pkm.core.facts.outcomes import outcome_in
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.reading.views import what_became_of

NOW = at(2026, 6, 1, 12)
PROMISE: dict[str, Any] = {"source": "me", "relation": "PROMISED", "target": "Eva", "kind": "plan"}
VISIT = {**PROMISE, "fact": "I promised Eva to visit her"}
ON_A_DAY = {**VISIT, "valid_at": "2026-01-02"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


def plans(world: WritingWorld) -> list[tuple[str, str | None, str | None]]:
    """Each plan with its end, and what became of it; one that is open has "open"."""
    return [(fact.text, _end(fact), what_became_of(fact)) for fact in world.facts if fact.kind == "plan"]


def _end(fact: Fact) -> str | None:
    if fact.expired_at is None:
        return "open"
    return fact.invalid_at.date().isoformat() if fact.invalid_at else None


async def retire(world: WritingWorld, uuid: str, reason: str, **fields: Any) -> ChangedFactResponse:
    world.clock.advance(seconds=1)
    return await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=uuid, reason=reason, **fields))


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("promise kept: I baked the cake", "fulfilled"),
        ("Done.", "fulfilled"),
        ("Cleo call has status: kept", "fulfilled"),
        ("I kept my promise to Eva", "fulfilled"),
        ("She came, as promised", "fulfilled"),
        ("kept on 28 February", "fulfilled"),
        ("Cancelled, no time", "dropped"),
        ("We called off the trip", "dropped"),
        ("sabbatical has status: dropped", "dropped"),
        ("not kept", "dropped"),
        ("Too dear.", None),
        ("I was never done", None),
        ("The letter isn't finished", None),
        ("We wait until the roof is done", None),
        ("She finished school", None),
        ("I kept the old job", None),
        ("She is done with him", None),
        ("The first was kept, the second dropped", None),
        ("", None),
    ],
)
def test_only_plain_words_say_what_became_of_a_plan(text: str, outcome: str | None) -> None:
    assert outcome_in(text) == outcome


def test_words_of_the_plan_itself_say_nothing() -> None:
    assert outcome_in("I promised to have it done", "I promised to have it done") is None


@pytest.mark.parametrize("word", ["kept", "Done", "fulfilled"])
@pytest.mark.parametrize("dates", [{"invalid_at": "2026-01-02"}, {}])
async def test_a_promise_told_again_as_kept_is_fulfilled(world: WritingWorld, word: str, dates: dict[str, str]) -> None:
    await world.tell("I promised Eva a visit.", ON_A_DAY, reference_time="2026-01-01")
    again = {**VISIT, "value": word, **dates}
    answer = await world.tell("Visited Eva, promise kept.", again, reference_time="2026-01-02")
    assert plans(world) == [("I promised Eva to visit her", "2026-01-02", "fulfilled")]
    assert (attention(answer), [one.kind for one in answer.retired]) == ([], ["fulfilled"])
    assert "plans: 1 fulfilled" in answer.message
    assert [one.outcome for one in answer.facts] == ["updated"]


async def test_a_promise_told_again_as_dropped_is_dropped(world: WritingWorld) -> None:
    await world.tell("I promised Eva a visit.", ON_A_DAY, reference_time="2026-01-01")
    answer = await world.tell("Not going.", {**PROMISE, "value": "dropped"}, reference_time="2026-01-02")
    assert plans(world) == [("I promised Eva to visit her", "2026-01-02", "dropped")]
    assert (attention(answer), [one.kind for one in answer.retired]) == ([], ["retired"])


async def test_a_promise_kept_on_its_day_ends_on_it_and_is_not_doubled(world: WritingWorld) -> None:
    await world.tell("I promised Eva a visit.", ON_A_DAY, reference_time="2026-01-01")
    again = {**ON_A_DAY, "invalid_at": "2026-01-02", "value": "kept"}
    for _ in range(2):
        answer = await world.tell("I visited Eva.", again, reference_time="2026-01-02")
        assert attention(answer) in ([], ["same_text"])
        assert plans(world) == [("I promised Eva to visit her", "2026-01-02", "fulfilled")]


@pytest.mark.parametrize("named", ["current", "uuid"])
async def test_a_promise_that_is_replaced_by_its_being_kept_is_kept(world: WritingWorld, named: str) -> None:
    uuid = (await world.tell("I promised Eva a visit.", ON_A_DAY)).facts[0].uuid
    await world.tell("Kept.", {**VISIT, "value": "kept", "replaces": uuid if named == "uuid" else named})
    assert plans(world) == [("I promised Eva to visit her", "2026-06-01", "fulfilled")]


async def test_an_end_alone_says_nothing_and_asks_what_became_of_the_plan(world: WritingWorld) -> None:
    await world.tell("I promised Eva a visit.", ON_A_DAY, reference_time="2026-01-01")
    answer = await world.tell("I visited Eva.", {**VISIT, "invalid_at": "2026-01-02"}, reference_time="2026-01-03")
    assert plans(world) == [("I promised Eva to visit her", "2026-01-02", None)]
    world.clock.advance(seconds=1)
    assert await world.settle(the(answer, "possible_conflict")) == (1, set())
    assert plans(world) == [("I promised Eva to visit her", "2026-01-02", "fulfilled")]


@pytest.mark.parametrize(
    ("plan", "outcome"),
    [
        ({"valid_at": "2026-01-20"}, "dropped"),
        ({"valid_at": "by 2026-01-20"}, None),
        ({"valid_at": "2026-01-20", "value": "by 20 January"}, None),
        ({"valid_at": "January 2026"}, None),
        ({}, None),
    ],
)
async def test_what_is_over_before_its_day_was_dropped_and_what_had_a_last_day_may_have_been_kept(
    world: WritingWorld, plan: dict[str, str], outcome: str | None
) -> None:
    told = {**VISIT, **plan}
    for target in ("Eva", "Ben"):
        await world.tell("A promise.", {**told, "target": target}, reference_time="2026-01-01")
    await world.tell("Eva.", {**VISIT, "invalid_at": "2026-01-10"}, reference_time="2026-01-10")
    await retire(world, world.fact(_line("Ben", plan)).uuid, "Over.", invalid_at="2026-01-10")
    assert [(end, said) for _, end, said in plans(world)] == [("2026-01-10", outcome)] * 2


def _line(target: str, plan: dict[str, str]) -> str:
    value = next((f" [{fact}]" for fact in [plan.get("value")] if fact), "")
    return f"me PROMISED {target}{value}"


async def test_words_of_what_is_told_again_say_that_it_was_kept(world: WritingWorld) -> None:
    await world.tell("I promised Eva a visit.", ON_A_DAY, reference_time="2026-01-01")
    again = {**PROMISE, "fact": "I kept my promise to visit Eva", "invalid_at": "2026-01-02"}
    assert attention(await world.tell("I visited Eva.", again, reference_time="2026-01-03")) == []
    assert plans(world) == [("I promised Eva to visit her", "2026-01-02", "fulfilled")]


async def test_of_two_promises_to_one_person_the_sentence_tells_which_was_kept(world: WritingWorld) -> None:
    cake = {**PROMISE, "fact": "I promised Eva a cake"}
    await world.tell("I promised Eva a visit and a cake.", ON_A_DAY, cake, reference_time="2026-01-01")
    await world.tell("I baked the cake.", {**cake, "value": "kept"}, reference_time="2026-01-03")
    assert plans(world) == [
        ("I promised Eva to visit her", "open", None),
        ("I promised Eva a cake", "2026-01-03", "fulfilled"),
    ]


async def test_of_several_plans_that_may_be_meant_the_call_ends_the_chosen_one(world: WritingWorld) -> None:
    later = {**PROMISE, "fact": "I promised Eva a cake", "valid_at": "2026-02-02"}
    told = await world.tell("A visit and a cake.", ON_A_DAY, later, reference_time="2026-01-01")
    answer = await world.tell("Kept.", {**PROMISE, "value": "kept"}, reference_time="2026-02-03")
    world.clock.advance(seconds=1)
    assert await world.settle(the(answer, "possible_conflict"), chosen=told.facts[1].uuid) == (1, set())
    assert plans(world) == [
        ("I promised Eva to visit her", "open", None),
        ("I promised Eva a cake", "2026-02-03", "fulfilled"),
    ]


async def test_a_trip_that_took_place_keeps_its_last_day(world: WritingWorld) -> None:
    trip = {"source": "me", "relation": "TRAVELS_TO", "target": "Bergen", "kind": "plan"}
    dates = {"valid_at": "2026-05-02", "invalid_at": "2026-05-05"}
    await world.tell("A trip.", {**trip, **dates}, reference_time="2026-04-01")
    await world.tell("We were there.", {**trip, "value": "done"}, reference_time="2026-05-20")
    assert [(end, outcome) for _, end, outcome in plans(world)] == [("2026-05-05", "fulfilled")]


async def test_a_trip_whose_last_day_is_over_can_be_said_to_have_taken_place(world: WritingWorld) -> None:
    trip = {"source": "me", "relation": "TRAVELS_TO", "target": "Bergen", "kind": "plan"}
    dates = {"valid_at": "2026-05-02", "invalid_at": "2026-05-05"}
    uuid = (await world.tell("A trip.", {**trip, **dates}, reference_time="2026-04-01")).facts[0].uuid
    answer = await retire(world, uuid, "done")
    assert (answer.changed, answer.fact.outcome, answer.fact.status) == (True, "fulfilled", "ended")
    assert [(end, outcome) for _, end, outcome in plans(world)] == [("2026-05-05", "fulfilled")]


async def test_a_reason_says_what_became_of_a_plan_and_may_be_given_later(world: WritingWorld) -> None:
    uuid = (await world.tell("I promised Eva a visit.", ON_A_DAY, reference_time="2026-01-01")).facts[0].uuid
    first = await retire(world, uuid, "Over.", invalid_at="2026-01-02")
    assert (first.fact.outcome, '"kept" or "dropped"' in first.message) == (None, True)
    assert (await retire(world, uuid, "Over.")).changed is False
    second = await retire(world, uuid, "promise kept: I was there")
    assert (second.fact.outcome, second.fact.invalid_at) == ("fulfilled", "2026-01-02T00:00:00+00:00")
    assert "reason" not in second.message
    assert (await retire(world, uuid, "dropped")).changed is False
    world.clock.advance(seconds=1)
    back = await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=uuid, reason="A slip."))
    assert (back.fact.status, back.fact.outcome) == ("ended", None)
    world.clock.advance(seconds=1)
    back = await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=uuid, reason="A slip."))
    assert (back.fact.status, back.fact.outcome) == ("planned", None)
    assert (await retire(world, uuid, "Over.")).fact.outcome is None


async def test_a_word_that_is_the_value_of_a_plan_says_nothing_of_it(world: WritingWorld) -> None:
    shed = {"source": "me", "relation": "WANTS", "target": "shed", "kind": "plan", "value": "finished"}
    await world.tell("I want the shed finished.", shed)
    await world.tell("As said.", shed)
    assert [end for _, end, _ in plans(world)] == ["open"]


async def test_a_status_kept_of_what_was_promised_asks_about_the_promise(world: WritingWorld) -> None:
    await world.tell("I promised a call.", {**PROMISE, "target": "call"}, reference_time="2026-01-01")
    answer = await world.tell("Kept.", {"source": "call", "relation": "HAS_STATUS", "value": "kept"})
    world.clock.advance(seconds=1)
    assert await world.settle(the(answer, "possible_conflict")) == (1, set())
    assert [outcome for _, _, outcome in plans(world)] == ["fulfilled"]
