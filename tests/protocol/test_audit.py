"""One line for every write and every refusal, over real HTTP: who, which tool, which records, when, how it ended."""

import json
import logging
from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from typing import Any

import httpx2
import pytest
from tests.protocol.access import ACCEPT, NOW, Doors, a_world, post
from tests.protocol.serving import connected, served
from tests.protocol.support import EVERYTHING, World, answered

from graphiti_pkm.server.observability.logging import JsonLines

PLANTED = "planted-words-nobody-logs"
EPISODE = "11111111-1111-4111-8111-111111111111"


class Log:
    """What stderr would get of the loggers of the edge."""

    def __init__(self) -> None:
        self.stream = StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(JsonLines())

    def lines(self, message: str) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        return [line for line in found if line["message"] == message]

    def refusals(self) -> list[tuple[Any, ...]]:
        """Principal, action and outcome of each."""
        return [
            (line.get("principal"), line["action"], line["outcome"])
            for line in self.lines("audit")
            if line["audit"] == "refused"
        ]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[Log]:
    caplog.set_level(logging.INFO, "graphiti_pkm")
    log = Log()
    logging.getLogger("graphiti_pkm").addHandler(log.handler)
    yield log
    logging.getLogger("graphiti_pkm").removeHandler(log.handler)
    assert PLANTED not in log.stream.getvalue()


async def test_a_write_is_told_with_who_tool_targets_time_outcome_and_duration(doors: Doors, log: Log) -> None:
    anna = doors.add("anna", tier="curator")
    async with (
        served(doors.settings, a_world(doors).start) as url,
        connected(f"{url}/mcp", "auto", **anna) as client,
    ):
        stored = answered(await client.call_tool("add_memory", {"episode_body": PLANTED, "group_id": "work"}))
        await client.call_tool("delete_episode", {"uuid": stored["episode_uuid"]})
        await client.call_tool("delete_episode", {"uuid": EPISODE})
        await client.call_tool("search_nodes", {"query": PLANTED})
    lines = log.lines("audit")
    assert [(line["action"], line["outcome"]) for line in lines] == [
        ("add_memory", "ok"),
        ("delete_episode", "ok"),
        ("delete_episode", "not_found"),
    ]
    for line in lines:
        assert (line["audit"], line["principal"], line["token"]) == ("write", "anna", doors.tokens[0].id)
        assert datetime.fromisoformat(line["time"]).tzinfo is not None
        assert line["ms"] > 0
    assert [line["targets"] for line in lines] == [[stored["episode_uuid"]]] * 2 + [[EPISODE]]
    calls = {line["request"]: line["tool"] for line in log.lines("call")}
    assert [calls[line["request"]] for line in lines] == [line["action"] for line in lines]
    assert len(calls) == 4


async def test_what_a_tier_a_group_a_user_header_or_a_limit_refuses_is_told(doors: Doors, log: Log) -> None:
    reader, held = doors.add("ben", tier="reader"), doors.add("eve", groups=("work",))
    service, often = doors.add("librechat", may_impersonate=True), doors.add("zoe")
    doors.settings = doors.settings.model_copy(update={"calls_per_minute": 2, "characters_per_call": 1_000})
    async with served(doors.settings, a_world(doors).start) as url:
        async with connected(f"{url}/mcp", "auto", **reader) as client:
            await client.call_tool("add_memory", {"episode_body": PLANTED})
        async with connected(f"{url}/mcp", "auto", **held) as client:
            await client.call_tool("search_nodes", {"query": PLANTED, "group_ids": ["private"]})
        for user in (PLANTED + "{{}}", ""):
            async with connected(f"{url}/mcp", "auto", **service, **{"X-User-ID": user}) as client:
                await client.call_tool("get_episodes", {})
        async with connected(f"{url}/mcp", "auto", **often) as client:
            await client.call_tool("search_nodes", {"query": PLANTED * 50})
            for _ in range(3):
                await client.call_tool("get_status", {})
            with pytest.raises(Exception, match="Nothing was done"):
                await client.read_resource(f"pkm://episode/{EPISODE}")
    assert log.refusals() == [
        ("ben", "add_memory", "permission_denied"),
        ("eve", "search_nodes", "not_allowed"),
        (None, "get_episodes", "not_allowed"),
        (None, "get_episodes", "not_allowed"),
        ("zoe", "search_nodes", "too_large"),
        ("zoe", "get_status", "too_many_calls"),
        ("zoe", "resources/read", "too_many_calls"),
    ]
    assert all(line["token"] in {token.id for token in doors.tokens} for line in log.lines("audit"))


async def test_a_tool_that_is_not_offered_is_a_refusal_and_one_that_does_not_exist_is_none(
    doors: Doors, log: Log
) -> None:
    settings = EVERYTHING.model_copy(update={"read_only": True})
    async with World(settings).connect() as client:
        await client.call_tool("add_memory", {"episode_body": PLANTED})
        await client.call_tool("no_such_tool", {"episode_body": PLANTED})
    anna = doors.add("anna")
    settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets})
    async with (
        served(settings, a_world(doors).start) as url,
        connected(f"{url}/mcp", "auto", **anna, **{"X-MCP-Toolsets": "memory"}) as client,
    ):
        await client.call_tool("clear_graph", {"group_ids": ["work"]})
    assert log.refusals() == [("local", "add_memory", "unknown_tool"), ("anna", "clear_graph", "unknown_tool")]


async def test_whoever_is_turned_away_at_the_door_is_told(doors: Doors, log: Log) -> None:
    anna = doors.add("anna")
    old, gone = doors.add("ben", expires=NOW), doors.add("eve", revoked=NOW)
    async with served(doors.settings, a_world(doors).start) as url:
        for headers in ({}, old, gone, {"Authorization": f"Bearer {PLANTED}"}):
            assert (await post(url, headers)).status_code == 401
        assert (await post(url, {**anna, "host": PLANTED})).status_code == 421
        assert (await post(url, {**anna, "origin": f"http://{PLANTED}"})).status_code == 403
        async with httpx2.AsyncClient(headers={**anna, "accept": ACCEPT}) as web:
            body = b'{"planted": "%s"}' % (b"x" * 5_000_000)
            headers = {"content-type": "application/json"}
            assert (await web.post(f"{url}/mcp", content=body, headers=headers)).status_code == 413
        assert (await post(url, {**anna, "mcp-session-id": PLANTED})).status_code == 404
    assert [outcome for _, _, outcome in log.refusals()] == [
        "token_missing",
        "token_expired",
        "token_revoked",
        "token_unknown",
        "unknown_host",
        "foreign_origin",
        "too_large",
        "unknown_session",
    ]
    assert {action for _, action, _ in log.refusals()} == {"connect"}
    assert [line.get("token") for line in log.lines("audit")][-2:] == [doors.tokens[0].id] * 2


async def test_a_merge_is_told_with_both_entities(doors: Doors, log: Log) -> None:
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets, "writes_per_minute": 100})
    anna = doors.add("anna", tier="librarian")
    named = [{"name": name, "type": "Tool", "summary": f"{PLANTED} of rows."} for name in ("The rows", "The rows db")]
    async with (
        served(doors.settings, a_world(doors).start) as url,
        connected(f"{url}/mcp", "auto", **anna) as client,
    ):
        told = answered(await client.call_tool("add_memory", {"episode_body": "Rows.", "entities": named}))
        keep, remove = (one["uuid"] for one in told["entities"])
        asked = {"keep_uuid": keep, "remove_uuid": remove, "reason": PLANTED}
        await client.call_tool("flag_for_review", {"entity_uuid": keep, "reason": PLANTED})
        preview = answered(await client.call_tool("merge_entities", asked))
        answered(await client.call_tool("merge_entities", {**asked, "confirm": preview["confirm"]}))
        answered(await client.call_tool("unmerge_entities", {"remove_uuid": remove, "reason": PLANTED}))
    lines = {line["action"]: line for line in log.lines("audit")}
    assert (lines["merge_entities"]["outcome"], lines["merge_entities"]["targets"]) == ("ok", [keep, remove])
    assert (lines["unmerge_entities"]["principal"], lines["unmerge_entities"]["targets"]) == ("anna", [remove])
