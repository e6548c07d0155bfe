"""Real processes around one data directory, and events to wait for instead of time."""

# ruff: noqa: ASYNC240 - a test may block its own loop for a file

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis.asyncio

from graphiti_pkm.storage.graph.embedded.redis_process import names_database
from graphiti_pkm.storage.graph.embedded.redis_socket import Endpoint, read_endpoint
from graphiti_pkm.storage.graph.locks.flock import EXCLUSIVE, open_lock, wait_for_lock

ROOT = Path(__file__).resolve().parents[2]


class Client:
    """Another process with its own share in the database: one line in, one line of JSON out."""

    def __init__(self, data_dir: Path, idle_seconds: float = 0.1) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.embedded_client", str(data_dir), str(idle_seconds)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def tell(self, word: str) -> None:
        """Send a word without waiting for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    async def heard(self) -> Any:
        """The next answer."""
        assert self.process.stdout is not None
        return json.loads(await asyncio.to_thread(self.process.stdout.readline))

    async def ask(self, word: str) -> Any:
        """Send a word and wait for the answer."""
        self.tell(word)
        return await self.heard()


def endpoint(data_dir: Path) -> Endpoint:
    """The database as recorded; it must be."""
    found = read_endpoint(data_dir)
    assert found is not None
    return found


async def query(socket: Path, text: str) -> Any:
    """One query on the graph ``g``."""
    client = redis.asyncio.Redis(unix_socket_path=str(socket), protocol=2, decode_responses=True)
    try:
        return await client.execute_command("GRAPH.QUERY", "g", text)  # type: ignore[no-untyped-call]
    finally:
        await client.aclose()


async def count(socket: Path) -> int:
    """How many nodes there are."""
    return int((await query(socket, "MATCH (n) RETURN count(n)"))[1][0][0])


async def until(condition: Callable[[], object]) -> None:
    """Wait for what another process does to a file; the test's own time limit ends it."""
    while not condition():  # noqa: ASYNC110 no event crosses the processes
        await asyncio.sleep(0)


async def stopped(data_dir: Path) -> None:
    """Wait until neither watchdog nor redis-server holds the directory."""
    fd = open_lock(data_dir / "owner.lock")
    try:
        await asyncio.to_thread(wait_for_lock, fd, EXCLUSIVE)
    finally:
        os.close(fd)


async def end_database(data_dir: Path) -> None:
    """Leave no process behind, whatever a test did."""
    known = read_endpoint(data_dir)
    if known is None:
        return
    for pid in (known.watchdog_pid, known.redis_pid):
        command = Path(f"/proc/{pid}/cmdline")
        ours = names_database(pid, known.socket) or (command.exists() and os.fsencode(data_dir) in command.read_bytes())
        if ours:
            os.kill(pid, signal.SIGTERM)
    await stopped(data_dir)
    Path(known.socket).unlink(missing_ok=True)
