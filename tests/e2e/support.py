"""The real command in processes of its own, and what the tests ask of it."""

import asyncio
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import httpx2
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.ports import free_port
from tests.protocol.support import Mode, answered

from graphiti_pkm.settings.loader import ENV_PREFIX, Settings
from graphiti_pkm.settings.names import variables_of
from graphiti_pkm.storage.journal.opening import journal_of

COMMAND = str(Path(sys.executable).with_name("graphiti-pkm"))
DEADLINE_SECONDS = 40.0
CALL_SECONDS = 100.0
"""How long a call may take where its bound is not what is tested: a busy machine answers late, and not otherwise."""

Transport: TypeAlias = Literal["stdio", "http", "sse"]


def unpack(archive: Path, into: Path) -> None:
    """Extract a tar file; Python 3.11.2, which Debian 12 has, knows no filters of what is extracted."""
    with tarfile.open(archive) as kept:
        kept.extraction_filter = getattr(tarfile, "data_filter", None)
        kept.extractall(into)  # noqa: S202 an archive of this repository


def environment(**settings: object) -> dict[str, str]:
    """This process's environment with these settings of ours and no others."""
    ours = {name for setting in Settings.model_fields for name in variables_of(setting)}
    inherited = {
        name: value for name, value in os.environ.items() if name not in ours and not name.startswith(ENV_PREFIX)
    }
    return inherited | {ENV_PREFIX + name.upper(): str(value) for name, value in settings.items()}


def until(condition: Callable[[], object], what: str, seconds: float = DEADLINE_SECONDS) -> None:
    """Wait for what another process does and no event tells of."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"still waiting for {what}"
        time.sleep(0.02)


def started_once(data_dir: Path) -> None:
    """An empty memory: what status and doctor look for before they start anything."""

    async def make() -> None:
        journal = journal_of(Settings(data_dir=data_dir))
        await journal.counts()
        await journal.close()

    asyncio.run(make())


def scramble(memory: Path, name: str) -> None:
    """Damage the first page of a table or an index, the same way each time."""
    with closing(sqlite3.connect(memory)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    with memory.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(random.Random(3).randbytes(4096))  # noqa: S311


def processes_naming(data_dir: Path) -> list[str]:
    """Command lines of all processes that have the directory in their environment, as servers and their children."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if os.fsencode(data_dir) in entry.read_bytes():
                found.append(entry.with_name("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # it ended meanwhile, or is another user's
            continue
    return found


def run(*arguments: str, seconds: float = 50, **settings: object) -> "subprocess.CompletedProcess[str]":
    """A command to its end, which has to come within some seconds."""
    return subprocess.run(
        [COMMAND, *arguments], env=environment(**settings), capture_output=True, text=True, check=False, timeout=seconds
    )


@dataclass(frozen=True)
class Served:
    """A server process with a port."""

    process: "subprocess.Popen[bytes]"
    url: str
    log: Path

    @property
    def endpoint(self) -> str:
        return f"{self.url}/mcp"

    def ready(self) -> bool:
        """Whether /ready says so."""
        return httpx2.get(f"{self.url}/ready").status_code == httpx2.codes.OK


@contextmanager
def serving(
    data_dir: Path, transport: Transport = "http", within: Sequence[str] = (), **settings: object
) -> Iterator[Served]:
    """A server process with a port, alive; gone in the end.

    ``within``: a command that becomes the one that it is given.
    """
    port = free_port()
    log = data_dir.parent / f"{data_dir.name}-{transport}-{port}.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*within, COMMAND, "serve", "--transport", transport, "--port", str(port)],
            env=environment(data_dir=data_dir, **settings),
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
        )
    served = Served(process, f"http://127.0.0.1:{port}", log)
    try:
        until(lambda: _alive(served), "the server to listen")
        yield served
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


@asynccontextmanager
async def over_stdio(
    data_dir: Path, mode: Mode = "auto", log: Path | None = None, **settings: object
) -> AsyncIterator[Client]:
    """A client with a server process of its own."""
    parameters = StdioServerParameters(
        command=COMMAND, args=["serve"], env=environment(data_dir=data_dir, **settings), cwd=tempfile.gettempdir()
    )
    with (log or data_dir.parent / f"{data_dir.name}-stdio.log").open("a") as stderr:
        async with Client(stdio_client(parameters, errlog=stderr), mode=mode) as client:
            yield client


@asynccontextmanager
async def over_http(url: str, mode: Mode = "auto", **headers: str) -> AsyncIterator[Client]:
    """A client of a server process over streamable HTTP; headers as ``x_user_id="eve"``."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=named, timeout=CALL_SECONDS) as web,
        Client(streamable_http_client(url, http_client=web), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_sse(url: str) -> AsyncIterator[Client]:
    """A client of a server process over SSE, which only the older protocol has."""
    async with Client(sse_client(f"{url}/sse"), mode="legacy") as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a call that is no error."""
    return answered(await client.call_tool(tool, arguments))


def listens(host: str, port: int) -> bool:
    """Whether anybody takes connections there."""
    with socket.socket() as client:
        return client.connect_ex((host, port)) == 0


def _alive(served: Served) -> bool:
    assert served.process.poll() is None, served.log.read_text()[-2000:]
    try:
        return httpx2.get(f"{served.url}/health").status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False
