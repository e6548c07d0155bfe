"""Errors: one shape, a message for the model, and nothing of what was sent or stored."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from tests.corpus import HUB
from tests.protocol.support import DEFAULT_TOOLS, FailingStart, Mode, World, answered, error_of, text

from graphiti_pkm.errors import ConfigurationError, Unavailable, WritePending
from graphiti_pkm.server.app import build_server
from graphiti_pkm.server.observability.logging import JsonLines
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services

SECRET = "the-planted-secret"  # noqa: S105  (a marker, no password)


def code_of(result: Any) -> str:
    return str(result.structured_content["code"])


@pytest.mark.parametrize("tool", ["get_entity_connections", "get_entity_timeline"])
async def test_a_missing_parameter_is_named(client: Client, tool: str) -> None:
    message = error_of(await client.call_tool(tool, {}))
    assert "entity_uuid is missing" in message
    assert message.startswith(f"Error {tool.replace('get_', 'getting ').replace('_', ' ')}: ")


@pytest.mark.parametrize(
    ("tool", "limit", "accepts"),
    [
        ("get_entity_connections", "max_connections", "from 1 to 200 (default 50)"),
        ("what_changed", "limit", "from 1 to 100 (default 20)"),
    ],
)
@pytest.mark.parametrize("value", [0, -1, 201, "many", 1.5, [1]])
async def test_a_limit_out_of_range_is_refused_with_the_range(
    client: Client, tool: str, limit: str, accepts: str, value: object
) -> None:
    message = error_of(await client.call_tool(tool, {"entity_uuid": HUB, limit: value}))
    assert f"{limit} must be an integer {accepts}" in message


@pytest.mark.parametrize(
    ("tool", "given", "named"),
    [
        ("what_changed", "group_id", "group_ids"),
        ("get_entity_timeline", "group_id", "group_ids"),
        ("add_memory", "group_ids", "group_id"),
    ],
)
async def test_a_parameter_in_the_wrong_number_is_named_as_the_tool_has_it(
    client: Client, tool: str, given: str, named: str
) -> None:
    message = error_of(await client.call_tool(tool, {given: "work"}))
    assert f"{tool} has no parameter {given}, but {named}; it takes " in message


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("add_memory", {"episode_body": {"a": SECRET}}),
        ("add_memory", {"episode_body": "x", "source": SECRET}),
        ("add_memory", {"episode_body": "x", "facts": [{"source": "a", "relation": "R", f"{SECRET} words": 1}]}),
        ("add_memory", {"episode_body": "x", "facts": [{"source": "a", "relation": "R", "replaces": [{"x": SECRET}]}]}),
        ("add_memory", {"episode_body": "x", "entities": SECRET}),
        ("search_nodes", {"query": "x", f"no {SECRET}": 1}),
        ("search_nodes", {"query": f"\x00{SECRET}"}),
        ("search_nodes", {"query": "x", "names": json.dumps([f"{SECRET}\x00"])}),
        ("get_entity_timeline", {"entity_uuid": HUB, "order": SECRET}),
    ],
)
async def test_bad_arguments_are_explained_without_repeating_them(
    client: Client, world: World, caplog: pytest.LogCaptureFixture, tool: str, arguments: dict[str, object]
) -> None:
    result = await client.call_tool(tool, arguments)
    message = error_of(result)
    assert code_of(result) == "invalid_input"
    assert SECRET not in message
    assert "pydantic" not in message
    assert "Bad arguments" in message
    assert ("Nothing was stored." in message) == (tool == "add_memory")
    assert not world.writing.requests
    assert SECRET not in caplog.text


async def test_a_nested_mistake_is_located_and_told_once(client: Client) -> None:
    facts = [{"source": "a", "relation": "R"}, {"source": "a", "replaces": {"x": 1}, "foo": 1}]
    message = error_of(await client.call_tool("add_memory", {"episode_body": "x", "facts": facts}))
    assert "facts[1].relation is missing" in message
    assert message.count("facts[1].replaces") == 1
    assert "facts[1].foo is unknown; the fields are source, relation, target" in message


async def test_an_unknown_tool_is_answered_with_the_known_ones(client: Client) -> None:
    result = await client.call_tool("clear_graph", {})
    assert "search_nodes" in error_of(result)
    assert code_of(result) == "unknown_tool"


@pytest.mark.parametrize("tool", ["get_entity_connections", "get_entity_timeline"])
async def test_a_database_that_is_down_gives_the_specified_prefix(
    client: Client, world: World, caplog: pytest.LogCaptureFixture, tool: str
) -> None:
    world.graph.is_down = True
    result = await client.call_tool(tool, {"entity_uuid": HUB})
    assert error_of(result).startswith(f"Error {tool.replace('get_', 'getting ').replace('_', ' ')}: ")
    assert code_of(result) == "unavailable"
    assert any(record.levelno == logging.ERROR for record in caplog.records)


async def test_an_unexpected_exception_reaches_neither_the_model_nor_the_log_with_its_text(
    client: Client, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.writing.error = RuntimeError(SECRET)
    result = await client.call_tool("add_memory", {"episode_body": SECRET})
    assert code_of(result) == "internal"
    assert SECRET not in error_of(result)
    assert "get_episodes" in error_of(result)
    lines = [JsonLines().format(record) for record in caplog.records]
    assert any("RuntimeError" in line for line in lines)
    assert not any(SECRET in line for line in lines)


async def test_a_write_that_is_kept_but_pending_says_so(client: Client, world: World) -> None:
    world.writing.error = WritePending("Kept as 1234, do not send it again.")
    result = await client.call_tool("add_memory", {"episode_body": "x"})
    assert error_of(result) == "Kept as 1234, do not send it again."
    assert code_of(result) == "kept_but_pending"


@pytest.mark.parametrize("tool", ["get_entity_connections", "get_entity_timeline"])
async def test_a_malformed_uuid_is_an_error_that_says_where_uuids_come_from(client: Client, tool: str) -> None:
    assert "search_nodes" in error_of(await client.call_tool(tool, {"entity_uuid": "invalid-uuid"}))


async def test_a_resource_that_does_not_exist_is_an_error_of_the_request(client: Client) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource("pkm://entity/11111111-1111-4111-8111-111111111111")
    assert caught.value.error.code == -32602


async def test_a_prompt_without_its_argument_is_an_error_of_the_request(client: Client) -> None:
    with pytest.raises(MCPError, match="record_decision needs decision"):
        await client.get_prompt("record_decision", {})
    with pytest.raises(MCPError, match="Prompts: journal_session"):
        await client.get_prompt("no_such_prompt", {})
    with pytest.raises(MCPError, match=r"record_decision: decision has 50,001 characters, at most 50,000 are allowed"):
        await client.get_prompt("record_decision", {"decision": "x" * 50_001})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConfigurationError("SQLite is too old here."), ": SQLite is too old here."),
        (RuntimeError(SECRET), ": an unexpected error"),
    ],
)
async def test_a_failed_start_is_told_at_each_call_while_tools_are_still_listed(
    mode: Mode, error: Exception, reason: str
) -> None:
    async with Client(build_server(Settings(), FailingStart(error)), mode=mode) as client:
        assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
        message = error_of(await client.call_tool("get_entity_connections", {"entity_uuid": HUB}))
        assert message.startswith("Graphiti service not initialized" + reason)
        assert SECRET not in message


async def test_a_start_that_failed_is_tried_again_at_the_next_call(world: World) -> None:
    attempts: list[int] = []

    @asynccontextmanager
    async def second_time() -> AsyncIterator[Services]:
        attempts.append(1)
        if len(attempts) == 1:
            raise Unavailable("The disk is full.")
        yield world.services()

    async with Client(build_server(world.settings, second_time)) as client:
        assert "The disk is full." in error_of(await client.call_tool("get_status", {}))
        answered(await client.call_tool("get_status", {}))


async def test_calls_wait_for_a_start_that_is_under_way_and_share_it(world: World) -> None:
    go = asyncio.Event()
    starts: list[int] = []

    @asynccontextmanager
    async def slow() -> AsyncIterator[Services]:
        starts.append(1)
        await go.wait()
        yield world.services()

    async with Client(build_server(world.settings, slow)) as client:
        calls = [asyncio.create_task(client.call_tool("get_status", {})) for _ in range(3)]
        assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
        go.set()
        assert all(not result.is_error for result in await asyncio.gather(*calls))
    assert len(starts) == 1


async def test_services_are_left_in_the_end(world: World) -> None:
    left: list[bool] = []

    @asynccontextmanager
    async def start() -> AsyncIterator[Services]:
        yield world.services()
        left.append(True)

    async with Client(build_server(world.settings, start)) as client:
        assert not text(await client.call_tool("get_status", {})).startswith("Graphiti")
        assert not left
    assert left == [True]
