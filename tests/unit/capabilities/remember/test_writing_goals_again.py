"""A goal that was dropped or reached, and whose target is taken up again: a call makes it a goal again."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

GOAL: dict[str, Any] = {"source": "me", "relation": "HAS_GOAL", "target": "learn Spanish"}
STATUS: dict[str, Any] = {"source": "learn Spanish", "relation": "HAS_STATUS"}
MINE: dict[str, Any] = {"source": "me", "relation": "HAS_STATUS", "target": "learn Spanish"}
LINE = "me HAS_GOAL learn Spanish"


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


async def had(world: WritingWorld, word: str, status: dict[str, Any], **goal: str) -> None:
    await world.tell("I want to learn Spanish.", {**GOAL, **goal}, reference_time="2026-01-01")
    await world.tell("It is over.", {**status, "value": word}, reference_time="2026-02-01")


@pytest.mark.parametrize("status", [STATUS, MINE])
@pytest.mark.parametrize(
    ("before", "now"), [("dropped", "active"), ("dropped", "taken up again"), ("done", "reopened")]
)
async def test_what_is_taken_up_again_gives_the_call_that_makes_it_a_goal_again(
    world: WritingWorld, status: dict[str, Any], before: str, now: str
) -> None:
    await had(world, before, status)
    answer = await world.tell("Again.", {**status, "value": now}, reference_time="2026-03-01")
    report = the(answer, "possible_conflict")
    assert "learn Spanish" in report.candidates[0]
    ended, asks = await world.settle(report)
    assert (ended, asks) == (0, set())
    goals = [(one.valid_at, one.invalid_at) for one in world.facts if one.relation == "HAS_GOAL"]
    assert goals == [(None, at(2026, 2)), (at(2026, 3), None)]
    assert attention(await world.tell("Still.", {**status, "value": "in progress"}, reference_time="2026-04-01")) == []


@pytest.mark.parametrize(("deadline", "kept"), [("by 2026-12-01", True), ("by 2026-02-10", False)])
async def test_a_deadline_that_is_over_is_not_the_deadline_again(
    world: WritingWorld, deadline: str, kept: bool
) -> None:
    await had(world, "dropped", STATUS, value=deadline)
    answer = await world.tell("Again.", {**STATUS, "value": "active"}, reference_time="2026-03-01")
    await world.settle(the(answer, "possible_conflict"))
    (again,) = [one for one in world.facts if one.relation == "HAS_GOAL" and one.expired_at is None]
    assert again.value == (deadline if kept else None)


async def test_a_goal_told_again_in_the_same_note_is_not_asked_about(world: WritingWorld) -> None:
    await had(world, "dropped", STATUS)
    again = ({**STATUS, "value": "active"}, GOAL)
    for facts in (again, again[::-1]):
        assert attention(await world.tell("Again.", *facts, reference_time="2026-03-01")) in ([], ["same_text"])


@pytest.mark.parametrize(("before", "now"), [("done", "published"), ("dropped", "abandoned"), ("dropped", "finished")])
async def test_what_stays_over_is_not_asked_about(world: WritingWorld, before: str, now: str) -> None:
    await had(world, before, STATUS)
    answer = await world.tell("Later.", {**STATUS, "value": now}, reference_time="2026-03-01")
    assert attention(answer) == []
