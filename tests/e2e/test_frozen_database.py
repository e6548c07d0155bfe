"""What stands still under a server: every call ends, with an error or without, and the server when it is told to."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from tests.e2e.support import call, environment, over_http, serving, until
from tests.e2e.test_killed_rebuild import stands
from tests.e2e.test_stdio_server import HELLO, tool_call
from tests.neo4j_server import Neo4jServer, skip_without_tools
from tests.protocol.support import error_of

pytestmark = pytest.mark.timeout(240)

BOUND_SECONDS = 45.0
"""Within which every call is answered on a machine that is busy with other tests; on a calm one it is 20."""
QUEUED = 6
READS: dict[str, dict[str, Any]] = {
    "search_nodes": {"query": "Heron"},
    "search_memory_facts": {"query": "Heron"},
    "search_episodes": {"query": "Heron"},
    "get_episodes": {},
    "what_changed": {"since": "2020"},
}


async def outcome(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """What became of a call: the code of its error, or the state that it tells."""
    result = await client.call_tool(tool, arguments)
    answer = result.structured_content or {}
    return str(answer["code"] if result.is_error else answer.get("status", "answered"))


@pytest.fixture
def neo4j(tmp_path: Path) -> Iterator[Neo4jServer]:
    skip_without_tools()
    server = Neo4jServer(tmp_path / "neo4j")
    server.start()
    yield server
    server.kill()


@pytest.mark.storm
async def test_every_call_ends_the_probes_answer_and_so_does_a_signal(neo4j: Neo4jServer, data_dir: Path) -> None:
    notes = [f"Note {number} of Heron." for number in range(QUEUED)]
    with serving(data_dir, drain_seconds=1, **neo4j.product_settings()) as server:
        async with over_http(server.endpoint) as client:
            await call(client, "add_memory", episode_body="Before.", entities=[{"name": "Heron"}])
            await asyncio.to_thread(until, server.ready, "the server to be ready")
            neo4j.freeze()
            try:
                asked = list(READS.items())
                asked += [("add_memory", {"episode_body": note}) for note in notes]
                calls = [asyncio.create_task(outcome(client, *one)) for one in asked]
                status = asyncio.create_task(outcome(client, "get_status", {}))
                async with httpx2.AsyncClient(timeout=10) as web:
                    assert (await web.get(f"{server.url}/health")).json() == {"status": "alive"}
                    answer = await web.get(f"{server.url}/ready")
                    while answer.status_code == httpx2.codes.OK:  # as of a moment ago
                        answer = await web.get(f"{server.url}/ready")
                    assert answer.json()["reason"] == "unavailable"
                async with asyncio.timeout(BOUND_SECONDS):
                    outcomes = await asyncio.gather(*calls)
                    assert await status == "unavailable"
                assert set(outcomes[: len(READS)]) == {"unavailable"}
                assert set(outcomes[len(READS) :]) <= {"unavailable", "not_kept", "kept_but_pending"}
                # While it is known to be away nobody waits in vain, and the end does not wait either.
                under_way = asyncio.create_task(outcome(client, "get_episodes", {}))
                server.process.send_signal(signal.SIGTERM)
                await asyncio.to_thread(server.process.wait, BOUND_SECONDS)
                await asyncio.gather(under_way, return_exceptions=True)
            finally:
                neo4j.thaw()
    kept = [note for note, one in zip(notes, outcomes[len(READS) :], strict=True) if one == "kept_but_pending"]
    async with asyncio.timeout(BOUND_SECONDS):
        with serving(data_dir, **neo4j.product_settings()) as server:
            async with over_http(server.endpoint) as client:
                page = await call(client, "get_episodes", max_episodes=50)
                assert {"Before.", *kept} <= {one["content"] for one in page["episodes"]}


@contextmanager
def writing(data_dir: Path, step: str, note: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A server on the same file that stands still at that step of storing the note."""
    messages = [*HELLO, tool_call(2, "add_memory", episode_body=note)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.killed", "stop", step, "1", "serve"],
        env=environment(data_dir=data_dir),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages))
        process.stdin.flush()
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("step", "goes_on"), [("storage.journal.rows:insert", True), ("storage.graph.sqlite.writing:apply", False)]
)
async def test_a_writer_that_stands_still_holds_up_writes_only_and_nothing_is_lost(
    data_dir: Path, step: str, goes_on: bool
) -> None:
    kept = {"Before.", "After."}
    with serving(data_dir, call_seconds=20) as server:
        async with over_http(server.endpoint) as client:
            await call(client, "add_memory", episode_body="Before.", entities=[{"name": "Heron"}])
            await asyncio.to_thread(until, server.ready, "the server to be ready")
            with writing(data_dir, step, "Written late.") as other:
                await stands(other.pid)
                async with asyncio.timeout(BOUND_SECONDS):
                    assert {await outcome(client, *read) for read in READS.items()} == {"answered"}
                    elsewhere = {"episode_body": "In vain.", "group_id": "elsewhere"}
                    refused = [client.call_tool("add_memory", elsewhere) for _ in range(3)]
                    same = asyncio.create_task(outcome(client, "add_memory", {"episode_body": "In vain."}))
                    for result in await asyncio.gather(*refused):
                        assert "Nothing was stored" in error_of(result)
                        assert "Another process has kept the journal" in error_of(result)
                    assert await same == "not_kept"
                    status = await call(client, "get_status")
                    assert status["status"] == "degraded"
                    assert "another process" in status["failures"][0].casefold()
                    assert httpx2.get(f"{server.url}/ready").json()["reason"] == "not_writable"
                other.send_signal(signal.SIGCONT if goes_on else signal.SIGKILL)
                if goes_on:
                    assert other.stdout is not None
                    answers = [json.loads(await asyncio.to_thread(other.stdout.readline)) for _ in range(2)]
                    assert answers[-1]["result"]["structuredContent"]["status"] == "stored"
                    kept.add("Written late.")
                await call(client, "add_memory", episode_body="After.")
                page = await call(client, "get_episodes", group_ids=["default", "elsewhere"])
                assert {one["content"] for one in page["episodes"]} == kept
