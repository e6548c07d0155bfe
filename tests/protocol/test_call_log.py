"""One log line a call, without content."""

import json
import logging

import pytest
from mcp.client import Client
from tests.builders import GROUP
from tests.corpus import DJANGO, load, weeks
from tests.protocol.support import World

from graphiti_pkm.server.observability.logging import JsonLines

SECRET = "planted-words-nobody-logs"  # noqa: S105  (a marker, no password)


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    return [json.loads(JsonLines().format(record)) for record in caplog.records]


async def test_a_call_is_logged_with_tool_duration_counts_and_groups(
    client: Client, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await load(world.graph, weeks(), world.embedder)
    await client.call_tool("get_entity_timeline", {"entity_uuid": DJANGO, "group_ids": GROUP})
    line = next(line for line in lines(caplog) if line["message"] == "call")
    assert line["tool"] == "get_entity_timeline"
    assert isinstance(line["ms"], float)
    assert (line["total"], line["returned"], line["groups"]) == (25, 20, [GROUP])


async def test_no_argument_and_no_content_is_ever_logged(
    client: Client, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await client.call_tool("add_memory", {"episode_body": SECRET, "name": SECRET})
    await client.call_tool("search_nodes", {"query": SECRET})
    await client.call_tool(SECRET, {SECRET: SECRET})
    world.graph.is_down = True
    await client.call_tool("search_nodes", {"query": SECRET})
    assert SECRET not in json.dumps(lines(caplog))


def test_a_library_that_quotes_a_query_is_kept_out_of_the_log() -> None:
    record = logging.LogRecord("neo4j", logging.ERROR, "/x/driver.py", 7, f"query failed: {SECRET}", (), None)
    line = json.loads(JsonLines().format(record))
    assert line["where"] == "driver.py:7"
    assert SECRET not in json.dumps(line)


def test_an_exception_is_logged_by_types_and_places_only() -> None:
    error = RuntimeError(SECRET)
    error.__cause__ = KeyError(SECRET)
    with pytest.raises(RuntimeError) as caught:
        raise error
    info = (caught.type, caught.value, caught.tb)
    record = logging.LogRecord("graphiti_pkm.x", logging.ERROR, __file__, 1, "failed", (), info)
    line = JsonLines().format(record)
    assert SECRET not in line
    assert "RuntimeError" in line
    assert "KeyError" in line
    assert "test_call_log.py" in line
