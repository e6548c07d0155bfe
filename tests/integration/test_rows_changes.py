"""What became of facts, through the tools, on the real stores: from the text of the answers alone."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.integration.rows_support import World, a_world, in_one_task
from tests.protocol.support import error_of, told

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

WITH_TOM = {"source": "me", "relation": "WORKS_WITH", "target": "Tom", "quote": "I work with Tom"}
AT_ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "replaces": "current", "quote": "now at Acme"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world()) as entered:
        yield entered


async def ask(world: World, tool: str, **arguments: Any) -> dict[str, Any]:
    """The text of an answer: it is all that some clients show their model."""
    result = await world.client.call_tool(tool, arguments)
    assert not result.is_error, told(result)
    return told(result)


async def changes(world: World, group: str, **arguments: Any) -> list[dict[str, Any]]:
    page = await ask(world, "what_changed", since="2020", group_ids=group, **arguments)
    assert page["total"] == page["returned"]
    return of_notes(page)


def of_notes(page: dict[str, Any]) -> list[dict[str, Any]]:
    """The changes of a page, which its text lists by note."""
    return [{**note, **change} for note in page.get("changes", []) for change in note["facts"]]


async def current(world: World, group: str) -> list[str]:
    (node,) = (await ask(world, "search_nodes", names=["me"], group_ids=[group], max_nodes=1))["nodes"]
    page = await ask(world, "get_entity_connections", entity_uuid=node["uuid"], include_invalidated=False)
    return sorted(fact["fact"].split()[-1].rstrip(".") for fact in page["facts"])


def calls_of(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The calls that a report offers, as they stand."""
    decode = json.JSONDecoder().raw_decode
    return {
        tool: decode(report["call"][report["call"].index(tool) + len(tool) + 1 :])[0]
        for tool in ("retire_fact", "restore_fact")
    }


async def proposed(world: World, group: str) -> dict[str, dict[str, Any]]:
    """The calls that settle what an unrelated newer fact proposes."""
    await ask(world, "add_memory", group_id=group, episode_body="I work with Tom.", facts=[WITH_TOM])
    answer = await ask(world, "add_memory", group_id=group, episode_body="Since May I am now at Acme.", facts=[AT_ACME])
    (report,) = [one for one in answer["needs_attention"] if one["what"] == "proposed_ending"]
    return calls_of(report)


async def test_a_proposal_is_visible_undone_by_one_call_and_leaves_both_facts_valid(world: World) -> None:
    calls = await proposed(world, "rejected")
    assert await current(world, "rejected") == ["Acme", "Tom"]
    (proposal,) = await changes(world, "rejected", kinds="proposed")
    assert (proposal["open"], proposal["words"]) == (True, "now at Acme")
    assert calls["restore_fact"]["fact_uuid"].startswith(proposal["fact_uuid"])
    await ask(world, "restore_fact", **calls["restore_fact"])
    assert await current(world, "rejected") == ["Acme", "Tom"]
    kinds = [(one["change"], one.get("open")) for one in await changes(world, "rejected")]
    assert kinds == [("rejected", None), ("proposed", False), ("added", None), ("added", None)]


async def test_a_proposal_is_accepted_by_one_call_and_that_is_undone_by_another(world: World) -> None:
    calls = await proposed(world, "accepted")
    accepted = await ask(world, "retire_fact", **calls["retire_fact"])
    assert "as proposed" in accepted["message"]
    assert await current(world, "accepted") == ["Acme"]
    newest = (await changes(world, "accepted"))[0]
    assert newest["change"] == "retired"
    assert newest["reason"].endswith("works at Acme")
    await ask(world, "restore_fact", fact_uuid=newest["fact_uuid"], reason="He is still here.")
    assert await current(world, "accepted") == ["Acme", "Tom"]


async def test_rounds_of_retiring_and_restoring_come_back_from_the_journal_as_they_were(world: World) -> None:
    group = "rounds"
    told_fact = {**WITH_TOM, "valid_at": "2024-01-01"}
    await ask(world, "add_memory", group_id=group, episode_body="I work with Tom.", facts=[told_fact])
    (added,) = await changes(world, group)
    uuid = added["fact_uuid"]
    before = await ask(world, "get_entity_edge", uuid=uuid)
    for end in ("2025-01-01", "2024-06-01"):
        ended = await ask(world, "retire_fact", fact_uuid=uuid, reason="He left.", invalid_at=end)
        assert (ended["fact"]["status"], ended["fact"]["invalid_at"][:10]) == ("ended", end)
        assert (await ask(world, "retire_fact", fact_uuid=uuid, reason="Again."))["changed"] is False
        await ask(world, "restore_fact", fact_uuid=uuid, reason="No.")
        assert await ask(world, "get_entity_edge", uuid=uuid) == before
    wrong = {**WITH_TOM, "target": "Ann", "replaces": uuid, "change": "corrected", "quote": "Ann"}
    answer = await ask(world, "add_memory", group_id=group, episode_body="It was Ann.", facts=[wrong])
    await ask(world, "delete_entity_edge", uuid=answer["facts"][0]["uuid"])
    listed = await changes(world, group)
    assert [one["change"] for one in listed] == ["deleted", "voided", *["restored", "retired"] * 2, "added"]
    assert not {"fact", "words", "reason"} & listed[0].keys()
    await world.memory.recovery.rebuilding.rebuild(lambda *_: None)
    assert await changes(world, group) == listed
    await ask(world, "restore_fact", fact_uuid=uuid, reason="It was Tom.")
    assert await ask(world, "get_entity_edge", uuid=uuid) == before
    episodes = await ask(world, "get_episodes", group_ids=group)
    assert not any(episode.get("corrected") for episode in episodes["episodes"])


async def test_a_corrected_episode_says_which_of_its_facts_was_wrong(world: World) -> None:
    group = "corrected"
    met = {"source": "me", "relation": "MET", "target": "Eve", "quote": "met Eve"}
    body = "I work with Tom and met Eve."
    first = await ask(world, "add_memory", group_id=group, episode_body=body, facts=[WITH_TOM, met])
    wrong = {**WITH_TOM, "target": "Ann", "replaces": "Tom", "change": "corrected", "quote": "with Ann"}
    await ask(world, "add_memory", group_id=group, episode_body="No, I work with Ann.", facts=[wrong])
    (tom,) = (await ask(world, "search_nodes", names=["Tom"], group_ids=group))["nodes"]
    for page in (
        await ask(world, "get_episodes", group_ids=group),
        await ask(world, "search_episodes", query="work with Tom", group_ids=group),
        await ask(world, "get_entity_timeline", entity_uuid=tom["uuid"]),
    ):
        told_wrong = {one["uuid"]: one.get("corrected_facts") for one in page["episodes"]}
        (fact,) = told_wrong.pop(first["episode_uuid"]) or ()
        assert "Tom" in fact
        assert fact.endswith("voided)")
        assert set(told_wrong.values()) <= {None}


async def test_the_history_of_a_status_is_in_what_changed(world: World) -> None:
    group = "statuses"
    for day, word in (("2026-01-10", "draft"), ("2026-02-10", "approved"), ("2026-03-10", "deprecated")):
        fact = {"source": "ADR 7", "relation": "HAS_STATUS", "value": word}
        await ask(world, "add_memory", group_id=group, episode_body=f"{word}.", facts=[fact], reference_time=day)
    (node,) = (await ask(world, "search_nodes", names=["ADR 7"], group_ids=group, max_nodes=1))["nodes"]
    page = await ask(world, "what_changed", since="2020", entity_uuid=node["uuid"], kinds=["added", "retired"])
    says = [[str(one.get(key)).split(" (")[0] for key in ("change", "fact", "replacement")] for one in of_notes(page)]
    assert says == [
        ["retired", "ADR 7 has status: approved", "ADR 7 has status: deprecated"],
        ["retired", "ADR 7 has status: draft", "ADR 7 has status: approved"],
        ["added", "ADR 7 has status: draft", "None"],
    ]
    assert [note["told_at"][:10] for note in page["changes"]] == ["2026-03-10", "2026-02-10", "2026-01-10"]
    edge = await ask(world, "get_entity_edge", uuid=page["changes"][0]["facts"][0]["replaced_by"])
    assert (edge["fact"]["value"], edge["fact"].get("attributes") or {}) == ("deprecated", {})
    connections = await ask(world, "get_entity_connections", entity_uuid=node["uuid"], as_of="2026-02-20")
    assert [fact["value"] for fact in connections["facts"] if fact["status"] == "current"] == ["approved"]


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("retire_fact", {"fact_uuid": "00000000-0000-4000-8000-000000000000", "reason": "x"}, "search_memory_facts"),
        ("restore_fact", {"fact_uuid": "Tom", "reason": "x"}, "not a uuid"),
        ("retire_fact", {"fact_uuid": "00000000"}, "reason"),
        ("what_changed", {"since": "lately"}, "is not a date"),
        ("what_changed", {"since": "2026", "kinds": ["merged"]}, "kinds"),
        ("what_changed", {"since": "2026", "cursor": "x"}, "cursor"),
    ],
)
async def test_an_error_says_what_is_wrong(world: World, tool: str, arguments: dict[str, Any], says: str) -> None:
    assert says in error_of(await world.client.call_tool(tool, arguments))
