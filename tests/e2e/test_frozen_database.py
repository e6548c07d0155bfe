"""A database that stands still under a server: every call ends with an error, and the server when it is told to."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from tests.e2e.support import call, database_stopped, over_http, serving, until
from tests.integration.embedded_support import endpoint
from tests.neo4j_server import Neo4jServer, skip_without_tools

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


@dataclass(frozen=True)
class World:
    """A data directory, what its servers are started with, and the database's pauses."""

    data_dir: Path
    settings: dict[str, Any]
    freeze: Callable[[], None]
    thaw: Callable[[], None]


@contextmanager
def embedded(directory: Path) -> Iterator[World]:
    data_dir = directory / "data"

    def send(what: signal.Signals) -> None:
        os.kill(endpoint(data_dir).redis_pid, what)

    world = World(data_dir, {}, lambda: send(signal.SIGSTOP), lambda: send(signal.SIGCONT))
    yield world
    database_stopped(data_dir)


@contextmanager
def neo4j(directory: Path) -> Iterator[World]:
    skip_without_tools()
    server = Neo4jServer(directory / "neo4j")
    server.start()
    try:
        yield World(directory / "data", server.product_settings(), server.freeze, server.thaw)
    finally:
        server.kill()


async def outcome(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """What became of a call: the code of its error, or the state that it tells."""
    result = await client.call_tool(tool, arguments)
    answer = result.structured_content or {}
    return str(answer["code"] if result.is_error else answer.get("status", "answered"))


@pytest.mark.parametrize("kind", [embedded, neo4j])
async def test_every_call_ends_the_probes_answer_and_so_does_a_signal(
    kind: Callable[[Path], Any], tmp_path: Path
) -> None:
    notes = [f"Note {number} of Heron." for number in range(QUEUED)]
    with kind(tmp_path) as world:
        with serving(world.data_dir, drain_seconds=1, **world.settings) as server:
            async with over_http(server.endpoint) as client:
                await call(client, "add_memory", episode_body="Before.", entities=[{"name": "Heron"}])
                await asyncio.to_thread(until, server.ready, "the server to be ready")
                world.freeze()
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
                    world.thaw()
        kept = [note for note, one in zip(notes, outcomes[len(READS) :], strict=True) if one == "kept_but_pending"]
        async with asyncio.timeout(BOUND_SECONDS):
            with serving(world.data_dir, **world.settings) as server:
                async with over_http(server.endpoint) as client:
                    page = await call(client, "get_episodes", max_episodes=50)
                    assert {"Before.", *kept} <= {one["content"] for one in page["episodes"]}
