"""The installed command in processes of its own, and calls to it that are recorded."""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from mcp import MCPError, StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.recording.normalise import Normaliser

Record = dict[str, Any]
SETTINGS = {
    "TOOLSETS": "memory,graph,reasoning",
    "CALLS_PER_MINUTE": "1000000",
    "WRITES_PER_MINUTE": "1000000",
}
LONG = 200


@dataclass
class Recording:
    """Makes calls and keeps their normalised answers; those beyond ``limit`` are not made."""

    command: Path
    data_dir: Path
    normaliser: Normaliser
    limit: int | None = None
    records: list[Record] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return self.limit is not None and len(self.records) >= self.limit

    def keep(self, transport: str, call: list[Any], answer: Any) -> None:
        """Add a call that was made, long arguments cut."""
        if not self.full:
            record = self.normaliser.of({"transport": transport, "call": call, "answer": answer})
            self.records.append(record | {"call": _cut(record["call"])})

    def environment(self) -> dict[str, str]:
        """No setting of this machine's own."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        ours = {f"GRAPHITI_PKM_{name}": value for name, value in SETTINGS.items()}
        own = {"PYTHONPATH": str(Path(__file__).with_name("ids")), "PYTHONHASHSEED": "0", "COLUMNS": "100"}
        return kept | ours | own | {"GRAPHITI_PKM_DATA_DIR": str(self.data_dir)}

    def run(self, *arguments: str) -> str:
        """Record a command to its end; gives what it prints."""
        if self.full:
            return ""
        done = subprocess.run(
            [self.command, *arguments],
            env=self.environment(),
            cwd=self.data_dir.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        lines = {"stdout": done.stdout, "stderr": done.stderr}
        self.keep("command", list(arguments), {"code": done.returncode, **lines})
        return done.stdout

    def fetch(self, url: str, path: str, headers: dict[str, str], body: str | None = None) -> None:
        """Record a bare HTTP request."""
        if self.full:
            return
        request = urllib.request.Request(url + path, body.encode() if body else None, headers)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
                answer = {"code": response.status, "body": response.read().decode()}
        except urllib.error.HTTPError as error:
            named = {name: error.headers[name] for name in ("WWW-Authenticate", "Allow") if name in error.headers}
            answer = {"code": error.code, "body": error.read().decode(), **named}
        shown = sorted(f"{name}: {value}" for name, value in headers.items())
        self.keep("http", [path, *shown, body], answer)


@dataclass(frozen=True)
class AccessGate:
    """One connection of a client."""

    recording: Recording
    transport: str
    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Record a call of a tool; gives its structured answer, empty beyond the limit."""
        answer = await self.ask([tool, arguments], lambda: self.client.call_tool(tool, arguments))
        structured = answer.get("structuredContent")
        return structured if isinstance(structured, dict) else {}

    async def pages(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Record up to four pages; gives the first."""
        first = page = await self.call(tool, **arguments)
        for _ in range(3):
            if page.get("next_cursor"):
                page = await self.call(tool, **arguments, cursor=page["next_cursor"])
        return first

    async def ask(self, call: list[Any], asked: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
        """Record any request of the protocol."""
        if self.recording.full:
            return {}
        try:
            result = await asked()
            answer = result.model_dump(mode="json", by_alias=True, exclude_none=False)
        except MCPError as error:
            answer = {"MCPError": error.error.model_dump(mode="json")}
        self.recording.keep(self.transport, call, answer)
        return answer


@asynccontextmanager
async def over_stdio(recording: Recording, mode: Any = "auto") -> AsyncIterator[AccessGate]:
    """A server of its own."""
    parameters = StdioServerParameters(
        command=str(recording.command), args=["serve"], env=recording.environment(), cwd=recording.data_dir.parent
    )
    with (recording.data_dir.parent / "stdio.log").open("a") as log:
        async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:
            yield AccessGate(recording, f"stdio {mode}", client)


@asynccontextmanager
async def over_http(recording: Recording, url: str, token: str, mode: Any = "auto") -> AsyncIterator[AccessGate]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as web,
        Client(streamable_http_client(f"{url}/mcp", http_client=web), mode=mode) as client,
    ):
        yield AccessGate(recording, f"http {mode}", client)


@contextmanager
def serving(recording: Recording, port: int) -> Iterator[str]:
    """A server over HTTP; gives its address."""
    with (recording.data_dir.parent / "http.log").open("wb") as log:
        process = subprocess.Popen(
            [recording.command, "serve", "--transport", "http", "--port", str(port)],
            env=recording.environment(),
            cwd=recording.data_dir.parent,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        while not _ready(port):
            assert process.poll() is None, Path(log.name).read_text(encoding="utf-8")[-2000:]
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def _ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=30):
            return True
    except OSError:  # it does not listen yet, or starts
        return False


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(part) for name, part in value.items()}
    if isinstance(value, list | str) and len(json.dumps(value)) > LONG and not _short_parts(value):
        return f"{json.dumps(value[:1] if isinstance(value, list) else value[:40])[:90]} … {len(value)} of these"
    return [_cut(part) for part in value] if isinstance(value, list) else value


def _short_parts(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= 20
