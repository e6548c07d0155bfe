"""A server that is told to stop: what is under way is answered, nothing acknowledged is lost, and it ends by itself."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.e2e.support import (
    COMMAND,
    DEADLINE_SECONDS,
    Served,
    call,
    environment,
    over_http,
    over_sse,
    over_stdio,
    run,
    serving,
    until,
)
from tests.scripted_model import FaultPlan, PermanentFault, ScriptedModel

from graphiti_pkm.core.operating_system import open_lock, wait_for_lock

GATE = "gate.lock"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}


@contextmanager
def writers_held(data_dir: Path) -> Iterator[None]:
    """Every write of the servers on the directory waits as long as this lasts: it is under way."""
    fd = open_lock(data_dir / "locks" / GATE)
    wait_for_lock(fd, "exclusive")
    try:
        yield
    finally:
        os.close(fd)


def state(served: Served) -> dict[str, Any]:
    """What /ready says."""
    return dict(httpx2.get(f"{served.url}/ready").json())


def is_stopping(served: Served) -> bool:
    answer = httpx2.get(f"{served.url}/ready")
    return answer.status_code == httpx2.codes.SERVICE_UNAVAILABLE and answer.json()["reason"] == "stopping"


@dataclass
class Writer:
    """A client that writes note after note over one connection until it is turned away."""

    served: Served
    told: list[str] = field(default_factory=list)
    """Uuids that were acknowledged."""
    cut: list[str] = field(default_factory=list)
    """Calls that were sent and not answered."""
    busy: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a few were acknowledged."""

    async def write(self) -> None:
        headers = {"accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(headers=headers, timeout=DEADLINE_SECONDS) as web:
            hello = await self.post(web, "initialize", HELLO)
            session = {"mcp-session-id": hello.headers["mcp-session-id"]} if "mcp-session-id" in hello.headers else {}
            web.headers.update(session)
            while await self.one(web):
                pass

    async def post(self, web: httpx2.AsyncClient, method: str, params: dict[str, Any]) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await web.post(self.served.endpoint, json=body)

    async def one(self, web: httpx2.AsyncClient) -> bool:
        """Another note; False once the server takes no more."""
        uuid = str(uuid4())
        arguments = {"uuid": uuid, "episode_body": f"Note {uuid}.", "facts": [{"source": "Ann", "relation": "LIKES"}]}
        try:
            answer = await self.post(web, "tools/call", {"name": "add_memory", "arguments": arguments})
        except httpx2.ConnectError:
            return False  # nothing was sent
        except httpx2.TransportError as error:
            self.cut.append(repr(error))
            return False
        if answer.status_code == httpx2.codes.SERVICE_UNAVAILABLE:
            assert answer.headers["retry-after"] == "1"
            return False
        found = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if "jsonrpc" in line]
        if [one["result"]["structuredContent"]["episode_uuid"] for one in found if "result" in one] == [uuid]:
            self.told.append(uuid)
            if len(self.told) == 3:
                self.busy.set()
            return True
        self.cut.append(answer.text)
        return False


async def stored(served: Served) -> set[str]:
    """Uuids of all episodes."""
    found: set[str] = set()
    async with over_http(served.endpoint) as client:
        cursor: dict[str, str] = {}
        while True:
            page = await call(client, "get_episodes", max_episodes=50, **cursor)
            found.update(one["uuid"] for one in page["episodes"])
            if not page.get("next_cursor"):
                return found
            cursor = {"cursor": page["next_cursor"]}


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
async def test_under_load_no_call_is_cut_off_and_every_acknowledged_write_is_there(
    data_dir: Path, ending: signal.Signals
) -> None:
    with serving(data_dir, drain_seconds=30) as first:
        await asyncio.to_thread(until, first.ready, "the database")
        writers = [Writer(first) for _ in range(8)]
        tasks = [asyncio.create_task(writer.write()) for writer in writers]
        await asyncio.wait_for(asyncio.gather(*(writer.busy.wait() for writer in writers)), DEADLINE_SECONDS)
        first.process.send_signal(ending)
        await asyncio.gather(*tasks)
        assert await asyncio.to_thread(first.process.wait) == 0
    assert [cut for writer in writers for cut in writer.cut] == []
    with serving(data_dir) as second:
        assert {uuid for writer in writers for uuid in writer.told} <= await stored(second)


async def test_a_draining_server_refuses_new_calls_and_says_that_it_is_not_ready(data_dir: Path) -> None:
    with serving(data_dir, drain_seconds=DEADLINE_SECONDS) as server:
        async with over_http(server.endpoint) as client:
            await call(client, "add_memory", episode_body="One note.")
            with writers_held(data_dir):
                under_way = asyncio.create_task(call(client, "add_memory", episode_body="Another note."))
                await asyncio.to_thread(until, lambda: waits_for_lock(data_dir), "the call to wait")
                server.process.send_signal(signal.SIGTERM)
                await asyncio.to_thread(until, lambda: is_stopping(server), "the server to refuse")
                assert httpx2.get(f"{server.url}/health").json() == {"status": "alive"}
                refused = httpx2.post(server.endpoint, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
                assert refused.status_code == httpx2.codes.SERVICE_UNAVAILABLE
                assert "Nothing was done" in refused.json()["error"]
                assert not under_way.done()
            assert (await under_way)["status"] == "stored"
        assert await asyncio.to_thread(server.process.wait) == 0


def waits_for_lock(data_dir: Path) -> bool:
    """Whether a process waits for the gate: the kernel lists who waits with an arrow."""
    inode = f":{(data_dir / 'locks' / GATE).stat().st_ino} "
    return any("->" in line and inode in line for line in Path("/proc/locks").read_text().splitlines())


async def test_a_second_signal_ends_the_server_at_once(data_dir: Path) -> None:
    with serving(data_dir, drain_seconds=DEADLINE_SECONDS) as server:
        (data_dir / "locks").mkdir(parents=True, exist_ok=True)
        with writers_held(data_dir):
            writer = Writer(server)
            under_way = asyncio.create_task(writer.write())
            await asyncio.to_thread(until, lambda: waits_for_lock(data_dir), "the call to wait")
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(until, lambda: is_stopping(server), "the server to refuse")
            server.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(server.process.wait) == -signal.SIGTERM
            await under_way
        assert (len(writer.told), len(writer.cut)) == (0, 1)


async def test_what_outlasts_the_bound_does_not_keep_the_server(data_dir: Path) -> None:
    with serving(data_dir, drain_seconds=0.1) as server:
        (data_dir / "locks").mkdir(parents=True, exist_ok=True)
        with writers_held(data_dir):
            writer = Writer(server)
            under_way = asyncio.create_task(writer.write())
            await asyncio.to_thread(until, lambda: waits_for_lock(data_dir), "the call to wait")
            server.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(server.process.wait) == 0
            await under_way
        assert (len(writer.told), len(writer.cut)) == (0, 1)


STUCK = """
import asyncio, sys, threading, time
from graphiti_pkm.server.transports import draining

draining.CLOSING_SECONDS = 0.1

async def serve():
    ended = draining.Draining()
    with draining.on_signal(ended.begin, drain_seconds=0.1):
        print("ready", flush=True)
        if sys.argv[1] == "loop":
            while True:
                time.sleep(0.01)
        await ended.begun.wait()
        await asyncio.to_thread(threading.Event().wait)

asyncio.run(serve())
"""


@pytest.mark.parametrize("stuck", ["loop", "thread"])
def test_a_server_with_something_stuck_in_it_ends_and_prints_where(stuck: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK, stuck], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_SECONDS) == 1
        assert "most recent call first" in process.stderr.read()


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_stream_that_a_client_keeps_open_does_not_keep_the_server(data_dir: Path, transport: str) -> None:
    with serving(data_dir, "sse" if transport == "sse" else "http", drain_seconds=10_000) as server:
        opened = over_sse(server.url) if transport == "sse" else over_http(server.endpoint, mode="legacy")
        async with opened as client:
            await call(client, "add_memory", episode_body="One note.")
            server.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(server.process.wait) == 0


class Pipe:
    """A stdio server, spoken to by hand."""

    def __init__(self, data_dir: Path, **settings: object) -> None:
        self.process = subprocess.Popen(
            [COMMAND, "serve"],
            env=environment(data_dir=data_dir, **settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0

    def send(self, method: str, params: dict[str, Any]) -> None:
        self._number += 1
        assert self.process.stdin is not None
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def add(self, body: str) -> None:
        self.send("tools/call", {"name": "add_memory", "arguments": {"episode_body": body}})

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "closed without an answer"
        return dict(json.loads(line))

    def end(self) -> int:
        """The exit code; stdin is left open by then."""
        code = self.process.wait(DEADLINE_SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        return code


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, None])
def test_over_stdio_a_call_under_way_is_answered_at_a_signal_and_at_the_end_of_stdin(
    data_dir: Path, ending: signal.Signals | None
) -> None:
    client = Pipe(data_dir, drain_seconds=DEADLINE_SECONDS)
    client.send("initialize", HELLO)
    client.add("One note.")
    assert {client.answer()["id"], client.answer()["id"]} == {1, 2}
    with writers_held(data_dir):
        client.add("Another note.")
        until(lambda: waits_for_lock(data_dir), "the call to wait")
        if ending is None:
            assert client.process.stdin is not None
            client.process.stdin.close()
        else:
            client.process.send_signal(ending)
    answer = client.answer()
    assert (answer["id"], answer["result"]["structuredContent"]["status"]) == (3, "stored")
    assert client.end() == 0


def test_stdio_ends_at_a_signal_although_its_client_stays(data_dir: Path) -> None:
    client = Pipe(data_dir)
    client.send("initialize", HELLO)
    client.answer()
    client.process.send_signal(signal.SIGTERM)
    assert client.end() == 0


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_a_job_goes_back_to_the_queue_without_an_attempt_and_who_waits_for_it_is_answered(
    data_dir: Path, scripted_model: ScriptedModel, transport: str
) -> None:
    settings: dict[str, Any] = {
        "llm_model": "scripted",
        "llm_base_url": scripted_model.url,
        "llm_api_key": "sk-x",
        "drain_seconds": DEADLINE_SECONDS,
    }
    scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind="hang", contains="Anna"),)))
    arguments = {"episode_body": "Anna Berg WORKS_AT Acme.", "wait_seconds": 40}
    if transport == "http":
        with serving(data_dir, **settings) as server:
            async with over_http(server.endpoint) as client:
                await client.list_tools()  # which the client checks answers against
                waiting = asyncio.create_task(call(client, "add_memory", **arguments))
                await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.faults.get("hang", 0) >= 1)
                server.process.send_signal(signal.SIGTERM)
                answer = await waiting
            assert await asyncio.to_thread(server.process.wait) == 0
    else:
        pipe = Pipe(data_dir, **settings)
        pipe.send("initialize", HELLO)
        pipe.answer()
        pipe.send("tools/call", {"name": "add_memory", "arguments": arguments})
        await asyncio.to_thread(scripted_model.wait_for, lambda stats: stats.faults.get("hang", 0) >= 1)
        pipe.process.send_signal(signal.SIGTERM)
        answer = (await asyncio.to_thread(pipe.answer))["result"]["structuredContent"]
        assert await asyncio.to_thread(pipe.end) == 0
    assert answer["extraction"]["state"] == "running"
    listed = await asyncio.to_thread(run, "queue", "list", "--json", data_dir=data_dir)
    jobs = json.loads(listed.stdout)["jobs"]
    assert [(one["state"], one.get("attempts", 0)) for one in jobs] == [("queued", 0)]
    scripted_model.change(faults=FaultPlan())
    scripted_model.release()
    async with over_stdio(data_dir, **settings) as client:
        again = await call(client, "add_memory", uuid=answer["episode_uuid"], **arguments)
    assert again["extraction"]["state"] == "done"
