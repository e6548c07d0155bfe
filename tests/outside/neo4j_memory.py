"""A pytest plugin: what mcp-neo4j-memory's integration tests import, as a client of our server.

Their ``Neo4jMemory`` calls our tools; their ``Neo4jContainer`` starts our server; every driver has a group of its own,
so that a test begins with an empty memory. Over HTTP they send a session id that was never opened. Ours opens one.
"""

import importlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from types import ModuleType, SimpleNamespace
from typing import Any, Self

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
STARTED_SECONDS = 60
OPENING = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "outside", "version": "1"}},
}


def _post(url: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[Any, str]:
    request = urllib.request.Request(url, json.dumps(body).encode(), HEADERS | headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return answer.headers, answer.read().decode()


def opened(url: str, host: str | None = None) -> str:
    """A session with the server at this address, which may be starting."""
    extra = {} if host is None else {"Host": host}
    until = time.monotonic() + STARTED_SECONDS
    while True:
        try:
            session = str(_post(url, OPENING, extra)[0]["mcp-session-id"])
            break
        except urllib.error.HTTPError:
            raise
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
    _post(url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, extra | {"mcp-session-id": session})
    return session


class Neo4jContainer:
    """Starts our server in the place of a database."""

    username = password = ""

    def __init__(self, _: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    def with_env(self, *_: str) -> "Neo4jContainer":
        return self

    def start(self) -> None:
        command, data = os.environ["OUTSIDE_COMMAND"], os.environ["OUTSIDE_DATA"]
        self._process = subprocess.Popen(
            [
                *(command, "serve", "--toolsets", "compat", "--data-dir", data),
                *("--transport", "http", "--port", str(self._port)),
            ],
            env={name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")},
            stderr=subprocess.DEVNULL,
        )
        opened(self.get_connection_url())

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def get_driver(self) -> Any:
        return SimpleNamespace(close=lambda: None)

    def get_connection_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/mcp"

    def get_container_host_ip(self) -> str:
        return "127.0.0.1"

    def get_exposed_port(self, _: int) -> str:
        return str(self._port)


class Driver:
    """An empty group of the memory, in the place of a driver."""

    def __init__(self, url: str, **_: Any) -> None:
        self._url, self._group, self._session = url, f"t-{uuid.uuid4().hex}", opened(url)

    async def verify_connectivity(self) -> None: ...

    async def close(self) -> None: ...

    def session(self) -> "Driver":
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def run(self, _: str) -> None: ...

    def call(self, tool: str, **arguments: Any) -> Any:
        """The answer of a tool, with its fields as attributes."""
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments | {"group_id": self._group}},
        }
        text = _post(self._url, body, {"mcp-session-id": self._session})[1]
        line = next((one[6:] for one in text.splitlines() if one.startswith("data: {")), text)
        result = json.loads(line)["result"]
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return json.loads(json.dumps(result["structuredContent"]), object_hook=lambda fields: SimpleNamespace(**fields))


class Neo4jMemory:
    """Their class, each method a call of our tool of that name."""

    def __init__(self, driver: Driver) -> None:
        self._driver, self._names = driver, list[str]()

    async def create_fulltext_index(self) -> None: ...

    async def create_entities(self, entities: list[Any]) -> Any:
        self._names += [one.name for one in entities]
        return self._driver.call("create_entities", entities=[vars(one) for one in entities]).result

    async def create_relations(self, relations: list[Any]) -> Any:
        return self._driver.call("create_relations", relations=[vars(one) for one in relations]).result

    async def add_observations(self, observations: list[Any]) -> Any:
        return self._driver.call("add_observations", observations=[vars(one) for one in observations]).result

    async def delete_entities(self, names: list[str]) -> None:
        self._driver.call("delete_entities", entityNames=names)

    async def delete_relations(self, relations: list[Any]) -> None:
        self._driver.call("delete_relations", relations=[vars(one) for one in relations])

    async def delete_observations(self, deletions: list[Any]) -> None:
        self._driver.call("delete_observations", deletions=[vars(one) for one in deletions])

    async def search_memories(self, query: str) -> Any:
        return self._driver.call("search_memories", query=query)

    async def find_memories_by_name(self, names: list[str]) -> Any:
        return self._driver.call("find_memories_by_name", names=names)

    async def read_graph(self) -> Any:
        """There is none: all that the test made, by name."""
        return await self.find_memories_by_name(self._names)


def _module(name: str, **attributes: Any) -> None:
    module = ModuleType(name)
    module.__dict__.update(attributes)
    sys.modules[name] = module


def _opens_sessions() -> None:
    """Their calls as they are, under a session that is open."""
    aiohttp = importlib.import_module("aiohttp")
    post = aiohttp.ClientSession.post

    def posted(self: Any, url: str, **sent: Any) -> Any:
        headers = sent.get("headers", {})
        try:
            session = opened(url, headers.get("Host"))
        except urllib.error.HTTPError:  # what refuses the call refuses the opening
            return post(self, url, **sent)
        return post(self, url, **sent | {"headers": headers | {"mcp-session-id": session}})

    aiohttp.ClientSession.post = posted


_module("testcontainers")
_module("testcontainers.neo4j", Neo4jContainer=Neo4jContainer)
_module("neo4j", GraphDatabase=None, AsyncGraphDatabase=SimpleNamespace(driver=lambda url, **_: Driver(url)))
_module("mcp_neo4j_memory")
_module(
    "mcp_neo4j_memory.server",
    Neo4jMemory=Neo4jMemory,
    create_mcp_server=None,
    **dict.fromkeys(
        ("Entity", "Relation", "ObservationAddition", "ObservationDeletion", "KnowledgeGraph"), SimpleNamespace
    ),
)
_opens_sessions()
