"""A database that dies or fails under a call: what was acknowledged is there, and no text is in any log."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.e2e.support import Served, call, over_http, serving
from tests.integration.embedded_support import endpoint
from tests.protocol.support import error_of
from tests.requirements import requirement

from graphiti_pkm.storage.graph.embedded.redis_socket import command

CALLS = 24
PLANTED = "xylophonist"


async def outcomes(client: Client, *victims: int) -> dict[str, str]:
    """What became of each of many writes at once, in whose midst these processes are killed."""
    answered = asyncio.Event()
    became: dict[str, str] = {}

    async def tell(note: str) -> None:
        result = await client.call_tool("add_memory", {"episode_body": note, "entities": [{"name": "Heron"}]})
        answer = result.structured_content or {}
        became[note] = answer["code"] if result.is_error else answer["status"]
        answered.set()

    async def kill() -> None:
        await answered.wait()
        for victim in victims:
            os.kill(victim, signal.SIGKILL)

    await asyncio.gather(kill(), *(tell(f"Note {number}.") for number in range(CALLS)))
    return became


@requirement("T24")
@pytest.mark.parametrize("victims", [("redis",), ("watchdog",), ("redis", "watchdog")], ids="-".join)
async def test_what_was_acknowledged_around_a_kill_is_there_once(victims: tuple[str, ...], data_dir: Path) -> None:
    with serving(data_dir) as server:
        async with over_http(server.endpoint) as client:
            await call(client, "add_memory", episode_body="Before.")
            known = endpoint(data_dir)
            pids = {"redis": known.redis_pid, "watchdog": known.watchdog_pid}
            became = await outcomes(client, *(pids[victim] for victim in victims))
            assert set(became.values()) <= {"stored", "kept_but_pending", "not_kept"}
            assert "stored" in became.values()

            # A later write of the group puts whatever was left pending before itself.
            await call(client, "add_memory", episode_body="After.")
            page = await call(client, "get_episodes", max_episodes=100)
            kept = [note for note, outcome in became.items() if outcome != "not_kept"]
            assert sorted(episode["content"] for episode in page["episodes"]) == sorted([*kept, "Before.", "After."])
            nodes = (await call(client, "search_nodes", names=["Heron"]))["nodes"]
            assert [node["name"] for node in nodes] == ["Heron"]
            timeline = await call(client, "get_entity_timeline", entity_uuid=nodes[0]["uuid"], max_episodes=100)
            assert timeline["total"] == len(kept)


def logs(server: Served, data_dir: Path) -> str:
    """Everything written beside the data by the server and its database."""
    files = [server.log, *data_dir.glob("*.log*"), *data_dir.glob("*.json")]
    return "\n".join(file.read_text(errors="replace") for file in files)


@requirement("T35")
async def test_a_query_that_fails_puts_no_text_into_an_answer_or_a_log(data_dir: Path) -> None:
    with serving(data_dir, log_level="debug", log_format="json") as server:
        async with over_http(server.endpoint) as client:
            await call(client, "add_memory", episode_body=f"The {PLANTED} plays.", entities=[{"name": PLANTED}])
            socket = endpoint(data_dir).socket
            command(socket, "DEL", "memory")
            command(socket, "SET", "memory", "no graph")
            failing: dict[str, dict[str, Any]] = {
                "search_nodes": {"query": PLANTED},
                "search_episodes": {"query": PLANTED},
                "search_memory_facts": {"query": PLANTED},
                "get_episodes": {},
                "add_memory": {"episode_body": f"Another {PLANTED}.", "entities": [{"name": f"{PLANTED} II"}]},
            }
            for tool, arguments in failing.items():
                message = error_of(await client.call_tool(tool, arguments))
                assert PLANTED not in message
                assert "GRAPH" not in message
                assert "MATCH" not in message
    written = logs(server, data_dir)
    assert '"tool":"add_memory"' in written
    assert PLANTED not in written
