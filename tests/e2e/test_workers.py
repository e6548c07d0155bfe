"""Two worker processes behind one port and on one data directory."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.e2e.support import (
    DEADLINE_SECONDS,
    Served,
    call,
    over_http,
    run,
    serving,
    until,
)
from tests.e2e.test_draining import Writer, stored

WORKERS = 2


def workers_of(served: Served) -> set[int]:
    """Process ids of the workers: the children of the process that was started."""
    listed = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text()
    return {int(pid) for pid in listed.split()}


def both(served: Served) -> set[int]:
    found = workers_of(served)
    return found if len(found) == WORKERS else set()


@pytest.fixture
def server(data_dir: Path) -> Iterator[Served]:
    with serving(data_dir, workers=WORKERS, drain_seconds=30) as served:
        until(served.ready, "the database")
        yield served


@pytest.mark.parametrize("transport", ["sse", "stdio"])
def test_workers_are_refused_where_a_connection_belongs_to_one_process(data_dir: Path, transport: str) -> None:
    refused = run("serve", "--transport", transport, "--workers", "2", data_dir=data_dir)
    assert refused.returncode == 2
    assert "can only answer over http" in refused.stderr
    assert not data_dir.exists()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_is_served_whichever_worker_its_requests_meet(server: Served, mode: Any) -> None:
    assert len(both(server)) == WORKERS
    for number in range(6):  # each connects anew
        async with over_http(server.endpoint, mode=mode) as client:
            told = await call(client, "add_memory", episode_body=f"Note {number}.")
            found = await call(client, "get_episodes", episode_uuids=[told["episode_uuid"]])
            assert [one["uuid"] for one in found["episodes"]] == [told["episode_uuid"]]


async def test_what_a_caller_searched_in_one_worker_the_others_know(server: Served) -> None:
    assert len(both(server)) == WORKERS
    async with over_http(server.endpoint) as client:
        assert "prerequisite_hint" in await call(client, "add_memory", episode_body="Before.")
        await call(client, "search_nodes", query="Tom")
    for number in range(8):  # each connects anew
        async with over_http(server.endpoint) as client:
            assert "prerequisite_hint" not in await call(client, "add_memory", episode_body=f"Note {number}.")


async def test_a_killed_worker_is_started_again_and_nothing_acknowledged_is_lost(server: Served) -> None:
    writers = [Writer(server) for _ in range(8)]
    tasks = [asyncio.create_task(writer.write()) for writer in writers]
    await asyncio.wait_for(asyncio.gather(*(writer.busy.wait() for writer in writers)), DEADLINE_SECONDS)
    before = both(server)
    killed = min(before)
    os.kill(killed, signal.SIGKILL)
    await asyncio.to_thread(until, lambda: both(server) and both(server) != before, "another worker")
    assert both(server) - before
    assert (before - {killed}) <= both(server)
    rounds = [Writer(server) for _ in range(4)]
    tasks += [asyncio.create_task(writer.write()) for writer in rounds]
    await asyncio.wait_for(asyncio.gather(*(writer.busy.wait() for writer in rounds)), DEADLINE_SECONDS)
    server.process.send_signal(signal.SIGTERM)
    await asyncio.gather(*tasks)
    assert await asyncio.to_thread(server.process.wait) == 0
    assert [cut for writer in rounds for cut in writer.cut] == []
    directory = server.log.parent / "data"
    with serving(directory) as second:
        assert {uuid for writer in (*writers, *rounds) for uuid in writer.told} <= await stored(second)


async def test_all_workers_end_with_the_one_that_started_them(data_dir: Path) -> None:
    with serving(data_dir, workers=WORKERS) as served:
        until(served.ready, "the database")
        workers = both(served)
        served.process.kill()
        await asyncio.to_thread(served.process.wait)
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), "the workers to end")


async def test_limits_and_revoked_tokens_hold_in_every_worker(data_dir: Path) -> None:
    made = run("tokens", "create", "anna", data_dir=data_dir)
    words = f"{made.stdout} {made.stderr}".split()
    token, token_id = words[0], words[words.index("Token") + 1]
    headers = {"authorization": f"Bearer {token}"}
    with serving(data_dir, workers=WORKERS, calls_per_minute=8) as served:
        until(served.ready, "the database")
        # Each connects anew, and opens no session: opening one would count as a call.
        asked = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "get_status", "arguments": {}},
        }
        accepted = {**headers, "accept": "application/json, text/event-stream"}
        answers = [httpx2.post(served.endpoint, headers=accepted, json=asked, timeout=40).text for _ in range(12)]
        assert ["at most 8 calls a minute" in answer for answer in answers] == [False] * 8 + [True] * 4
        assert all("uptime_seconds" in answer for answer in answers[:8])
        revoked = run("tokens", "revoke", token_id, data_dir=data_dir)
        assert revoked.returncode == 0, revoked.stderr
        codes = {
            httpx2.post(
                served.endpoint, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}
            ).status_code
            for _ in range(8)
        }
        assert codes == {httpx2.codes.UNAUTHORIZED}
