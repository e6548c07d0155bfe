"""Architecture decisions of five years, told as a model would: what held when, what replaced it, in which words."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.decisions import TOLD
from tests.acceptance.questions import day, facts_of
from tests.acceptance.shared_data import shared_data
from tests.e2e.support import Served, call, over_http

pytestmark = pytest.mark.timeout(180)

GROUP = "decisions"


@pytest.fixture(scope="module")
def answers(server: Served) -> dict[str, dict[str, Any]]:
    """What add_memory said to each decision, by its number, told in the order of their dates."""
    notes = sorted(
        map(read, shared_data("architecture-decisions").glob("[0-9]*.md")), key=lambda note: note["reference_time"]
    )

    async def tell() -> dict[str, dict[str, Any]]:
        async with over_http(server.endpoint) as client:
            return {
                note["name"][:4]: await call(
                    client, "add_memory", group_id=GROUP, **note, **TOLD.get(note["name"][:4], {})
                )
                for note in notes
            }

    return asyncio.run(tell())


def read(path: Path) -> dict[str, str]:
    """A decision as add_memory takes it."""
    body = path.read_text(encoding="utf-8")
    date = re.search(r"^Date: (\S+)", body, re.MULTILINE)
    assert date is not None
    return {"name": path.stem, "episode_body": body, "reference_time": date[1]}


async def held(server: Served, name: str, relation: str, moment: str) -> list[str]:
    """The targets, or values, of the facts that held then."""
    async with over_http(server.endpoint) as client:
        facts = await facts_of(client, name, relation, GROUP, as_of=moment)
    return [fact["value"] or fact["target_node_name"] for fact in facts if fact["status"] == "current"]


def test_every_decision_goes_in_and_hardly_anything_is_asked_back(answers: dict[str, dict[str, Any]]) -> None:
    assert len(answers) == 38
    assert len(TOLD) >= 11
    asked = [attention["what"] for number in TOLD for attention in answers[number]["needs_attention"]]
    assert {"quote_not_found", "ambiguous_replacement", "empty_interval"}.isdisjoint(asked)


@pytest.mark.parametrize(
    ("name", "relation", "moment", "expected"),
    [
        ("Terraform data", "LAID_OUT_BY", "2017-07-05", ["one directory per project"]),
        ("Terraform data", "LAID_OUT_BY", "2017-07-14", ["common, project and stack"]),
        ("GOV.UK databases", "RUNS_ON", "2017-08-01", ["RDS"]),
        ("GOV.UK VPCs", "HAS_ADDRESS_PLAN", "2018-09-25", ["address plan of ADR 3"]),
        ("GOV.UK VPCs", "HAS_ADDRESS_PLAN", "2018-09-26", ["address plan of ADR 33"]),
        ("ADR 4", "HAS_STATUS", "2018-03-05", ["accepted"]),
        ("ADR 4", "HAS_STATUS", "2018-03-06", ["superseded"]),
        ("ADR 3", "HAS_STATUS", "2019", ["partly superseded"]),
        # DocumentDB was decided, never said to be in use: the plan ends nothing.
        ("Content Store", "READS_FROM", "2020", ["mongo cluster"]),
    ],
)
async def test_what_held_on_a_date_is_answered(
    answers: dict[str, dict[str, Any]], server: Served, name: str, relation: str, moment: str, expected: list[str]
) -> None:
    assert answers
    assert await held(server, name, relation, moment) == expected


async def test_what_replaced_it_is_answered_with_the_day(answers: dict[str, dict[str, Any]], server: Served) -> None:
    async with over_http(server.endpoint) as client:
        new, old = await facts_of(client, "Terraform data", "LAID_OUT_BY", GROUP)
        assert (new["target_node_name"], new["status"]) == ("common, project and stack", "current")
        assert (old["target_node_name"], old["status"]) == ("one directory per project", "ended")
        assert day(new["valid_at"]) == day(old["invalid_at"]) == "2017-07-14"
        (retired,) = answers["0017"]["retired"]
        assert (retired["uuid"], retired["replaced_by"]) == (old["uuid"], new["uuid"])
        (supersedes,) = await facts_of(client, "ADR 15", "SUPERSEDES", GROUP)
        assert supersedes["target_node_name"] == "ADR 4"


@pytest.mark.parametrize(
    ("number", "name", "relation", "old"),
    [
        ("0018", "GOV.UK databases", "RUNS_ON", "VM instances managed with Puppet"),
        ("0025", "Redis", "RUNS_ON", "own Redis instances"),
        ("0028", "Content Store", "READS_FROM", "api-mongo cluster"),
        ("0029", "Rummager", "USES", "api-redis"),
    ],
)
async def test_an_old_state_never_told_is_recorded_as_ended_with_an_unknown_start(
    answers: dict[str, dict[str, Any]], server: Served, number: str, name: str, relation: str, old: str
) -> None:
    async with over_http(server.endpoint) as client:
        facts = await facts_of(client, name, relation, GROUP)
    (ended,) = [fact for fact in facts if fact["status"] == "ended"]
    assert (ended["target_node_name"], ended["valid_at"]) == (old, None)
    assert ended["episodes"] == [answers[number]["episode_uuid"]]
    (current,) = [fact for fact in facts if fact["status"] == "current"]
    assert day(current["valid_at"]) == day(ended["invalid_at"])


async def test_in_which_words_is_answered_from_the_fact_and_from_the_text(
    answers: dict[str, dict[str, Any]], server: Served
) -> None:
    words = "Update Rummager configuration so it uses backend-redis, and remove api-redis."
    async with over_http(server.endpoint) as client:
        facts = await facts_of(client, "Rummager", "USES", GROUP, include_invalidated=False)
        assert [fact["quote"] for fact in facts] == [words]
        assert facts[0]["episodes"] == [answers["0029"]["episode_uuid"]]
        (episode,) = (await call(client, "get_episodes", episode_uuids=facts[0]["episodes"]))["episodes"]
        assert words in episode["content"]

        page = await call(client, "search_episodes", query="why remove the Elasticsearch proxy", group_ids=GROUP)
        assert page["episodes"][0]["uuid"] == answers["0022"]["episode_uuid"]
        assert page["episodes"][0]["match"]


async def test_a_status_is_the_word_that_was_written(answers: dict[str, dict[str, Any]], server: Served) -> None:
    assert answers
    written = {
        "ADR 6": "pending",
        "ADR 33": "pending",
        "ADR 36": "proposed",
        "ADR 38": "approved",
        "ADR 25": "accepted",
    }
    async with over_http(server.endpoint) as client:
        for name, expected in written.items():
            (fact,) = await facts_of(client, name, "HAS_STATUS", GROUP, as_of="2020")
            assert (fact["value"], "word" in (fact.get("attributes") or {})) == (expected, False)
