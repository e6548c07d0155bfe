"""A note that is sent twice: it is stored, for it may be meant so, and the answer says that it is there already."""

import json
from datetime import timedelta
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

BODY = "Slept badly, then a good run with Sarah."
SARAH = {"source": "me", "relation": "RAN_WITH", "target": "Sarah", "kind": "event"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6, 1, 12))


@pytest.mark.parametrize(
    ("first", "second", "wait", "is_same"),
    [
        ({"reference_time": "2026-03-01"}, {"reference_time": "2026-03-01"}, timedelta(days=40), True),
        ({"reference_time": "2026-03-01"}, {"reference_time": "2026-03-02"}, timedelta(0), False),
        ({"reference_time": "2026-03-01T08:00"}, {"reference_time": "2026-03-01"}, timedelta(0), False),
        ({}, {}, timedelta(minutes=1), True),
        ({}, {}, timedelta(hours=1), False),
        ({"episode_body": "Corrected."}, {"episode_body": "Corrected."}, timedelta(minutes=1), False),
        (
            {"episode_body": "Ran.", "reference_time": "2026-03-01"},
            {"episode_body": "Ran.", "reference_time": "2026-03-01"},
            timedelta(0),
            False,
        ),
        ({"group_id": "work"}, {}, timedelta(minutes=1), False),
        ({}, {"episode_body": f"{BODY} "}, timedelta(minutes=1), False),
        ({}, {"uuid": "0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2a10"}, timedelta(minutes=1), False),
    ],
)
async def test_the_same_text_at_the_same_time_is_reported(
    world: WritingWorld, first: dict[str, Any], second: dict[str, Any], wait: timedelta, *, is_same: bool
) -> None:
    earlier = await world.send({"episode_body": BODY, **first})
    world.clock.instant += wait
    answer = await world.send({"episode_body": BODY, **second})
    assert answer.status == "stored"
    assert ("same_text" in attention(answer)) == is_same
    if is_same:
        report = the(answer, "same_text")
        assert report.candidates == [earlier.episode_uuid]
        assert json.loads(report.call.split("delete_episode ")[1]) == {"uuid": answer.episode_uuid}


async def test_of_two_notes_the_one_that_brings_facts_stays(world: WritingWorld) -> None:
    earlier = await world.tell(BODY, reference_time="2026-03-01")
    answer = await world.tell(BODY, SARAH, reference_time="2026-03-01")
    assert json.loads(the(answer, "same_text").call.split("delete_episode ")[1]) == {"uuid": earlier.episode_uuid}


async def test_a_note_with_facts_of_its_own_is_not_to_be_deleted(world: WritingWorld) -> None:
    sleep = {"source": "me", "relation": "SLEPT", "kind": "reading", "measure": "sleep", "value": "5", "unit": "h"}
    await world.tell(BODY, sleep, reference_time="2026-03-01")
    report = the(await world.tell(BODY, SARAH, reference_time="2026-03-01"), "same_text")
    assert ("delete_episode" in report.call, report.call.startswith("Delete neither")) == (False, True)


async def test_of_two_notes_with_the_same_facts_the_later_one_adds_nothing(world: WritingWorld) -> None:
    await world.tell(BODY, {**SARAH, "valid_at": "2026-03-01"}, reference_time="2026-03-01")
    answer = await world.tell(BODY, {**SARAH, "valid_at": "2026-03-01"}, reference_time="2026-03-01")
    assert json.loads(the(answer, "same_text").call.split("delete_episode ")[1]) == {"uuid": answer.episode_uuid}


async def test_a_note_without_facts_is_not_asked_for_again(world: WritingWorld) -> None:
    told = (await world.tell(BODY)).next_steps or ""
    assert "do not send it again" in told
    assert "add_memory again" not in told
