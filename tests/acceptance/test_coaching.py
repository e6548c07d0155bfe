"""A coaching conversation: one add_memory a message, no search before it, and the record is right."""

import asyncio
from typing import Any

import pytest
from mcp.client import Client
from tests.acceptance.coaching import MESSAGES
from tests.acceptance.questions import day, entity, facts_of
from tests.e2e.support import Served, call, over_http

GROUP = "coaching"


@pytest.fixture(scope="module")
def answers(server: Served) -> list[dict[str, Any]]:
    """What add_memory said to each message."""

    async def tell() -> list[dict[str, Any]]:
        async with over_http(server.endpoint) as client:
            return [await call(client, "add_memory", group_id=GROUP, **message) for message in MESSAGES]

    return asyncio.run(tell())


async def managers(client: Client, **narrowed: Any) -> list[tuple[str, str, str | None, str | None]]:
    """(name, status, from, until) of each, plans included, by name."""
    facts = await facts_of(client, "me", "REPORTS_TO", GROUP, **narrowed)
    return sorted(
        (fact["target_node_name"], fact["status"], day(fact["valid_at"]), day(fact["invalid_at"])) for fact in facts
    )


async def series(client: Client, measure: str) -> list[tuple[str | None, str]]:
    """The dated values of a measure, oldest first, and that they all hang on one thing."""
    page = await call(client, "get_entity_connections", entity_uuid=await entity(client, "me", GROUP))
    readings = [fact for fact in page["facts"] if fact["measure"] == measure]
    assert {fact["status"] for fact in readings} == {"reading"}
    assert len({fact["target_node_uuid"] for fact in readings}) == 1
    return sorted((day(fact["valid_at"]), str(fact["value"])) for fact in readings)


async def test_the_last_manager_is_current_the_one_before_ended_and_the_wrong_one_void(
    answers: list[dict[str, Any]], server: Served
) -> None:
    assert len(answers) == len(MESSAGES)
    async with over_http(server.endpoint) as client:
        assert await managers(client) == [
            ("Henrik", "current", "2026-05-01", None),
            ("Henrik", "ended", "2026-05-01", None),
            ("Ines", "ended", None, "2026-05-01"),
            ("Priya", "voided", None, None),
        ]
        assert await managers(client, include_invalidated=False) == [("Henrik", "current", "2026-05-01", None)]


async def test_each_manager_is_answered_for_the_days_they_held(answers: list[dict[str, Any]], server: Served) -> None:
    assert answers
    async with over_http(server.endpoint) as client:
        for moment, name in (
            ("2026-04-15", "Ines"),
            ("2026-04-30", "Ines"),
            ("2026-05-01", "Henrik"),
            ("2026-06", "Henrik"),
        ):
            held = await managers(client, as_of=moment)
            assert [(manager, status) for manager, status, *_ in held] == [(name, "current")]


def test_a_correction_voids_and_a_change_retires(answers: list[dict[str, Any]]) -> None:
    retired = [[(day(fact["invalid_at"]), fact["kind"]) for fact in answer["retired"]] for answer in answers]
    assert retired[3] == [(None, "voided")]
    assert retired[6] == [("2026-05-01", "retired"), (None, "fulfilled")]
    assert retired[2] == [("2026-03-16", "retired")]
    assert [count for count, facts in enumerate(retired) if facts] == [2, 3, 6]


async def test_a_changed_deadline_keeps_its_history(answers: list[dict[str, Any]], server: Served) -> None:
    assert answers
    async with over_http(server.endpoint) as client:
        facts = await facts_of(client, "Heron", "HAS_DEADLINE", GROUP)
        told = [(fact["value"], fact["status"], day(fact["valid_at"]), day(fact["invalid_at"])) for fact in facts]
        assert told == [
            ("2026-05-29", "current", "2026-03-16", None),
            ("2026-04-30", "ended", None, "2026-03-16"),
        ]
        assert facts[1]["quote"] == "Project Heron is due on 30 April"


async def test_readings_of_one_measure_are_one_dated_series(answers: list[dict[str, Any]], server: Served) -> None:
    assert answers
    async with over_http(server.endpoint) as client:
        assert await series(client, "sleep") == [
            ("2026-03-02", "6.5"),
            ("2026-03-09", "4-5"),
            ("2026-04-20", "7"),
            ("2026-06-01", "8"),
        ]
        assert await series(client, "stress") == [("2026-03-09", "7/10"), ("2026-06-01", "3/10")]


def test_the_answer_to_a_reading_shows_the_last_three_of_its_series(answers: list[dict[str, Any]]) -> None:
    (sleep,) = [fact["series"] for fact in answers[-1]["facts"] if fact["series"] and "8" in fact["series"][-1]]
    assert [value in line for value, line in zip(("4-5", "7", "8"), sleep, strict=True)] == [True] * 3


async def test_a_conversation_makes_no_second_person_and_few_questions(
    answers: list[dict[str, Any]], server: Served
) -> None:
    asked = [attention["what"] for answer in answers for attention in answer["needs_attention"]]
    assert set(asked) <= {"undeclared_endpoint"}
    async with over_http(server.endpoint) as client:
        for alias in ("I", "the user", "user", "me"):
            assert await entity_of(client, alias) == await entity(client, "me", GROUP)


async def entity_of(client: Client, name: str) -> str:
    (node,) = (await call(client, "search_nodes", names=[name], group_ids=GROUP, max_nodes=1))["nodes"]
    return str(node["uuid"])


async def test_what_was_said_is_found_in_its_own_words(answers: list[dict[str, Any]], server: Served) -> None:
    async with over_http(server.endpoint) as client:
        page = await call(client, "search_episodes", query="how did the rehearsal go", group_ids=GROUP)
        assert page["episodes"][0]["uuid"] == answers[5]["episode_uuid"]
        assert page["episodes"][0]["match"] == "Heron's rehearsal worked."
        corrected = await call(client, "get_episodes", episode_uuids=[answers[0]["episode_uuid"]])
        assert corrected["episodes"][0]["corrected"] is True
