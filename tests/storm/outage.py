"""A database server that goes away under load: clients over HTTP go on calling, and keep what became of each call."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TypeAlias

import httpx2
from mcp.client import Client
from tests.e2e.support import Served, call, over_http, serving
from tests.neo4j_server import Neo4jServer, skip_without_tools
from tests.protocol.support import error_of

LONGEST_CALL = 55.0
"""Seconds after which a call counts as hanging: a client of MCP waits a minute."""
CLIENTS = 6
FIRST = "the first note"
_A_FEW = 3
_TICK = 0.05
_AFTER_A_REFUSAL = 0.5
"""Between two calls of a client, who would else only keep the machine from starting the database."""

STORED, READ, PENDING, NOT_KEPT, UNAVAILABLE = "stored", "read", "kept_but_pending", "not_kept", "unavailable"


Way: TypeAlias = Literal["killed", "frozen", "lost"]
"""How the database goes: at once, without a word, or with all its files."""


@dataclass
class Became:
    """One call and its end."""

    token: str
    """What its note says; empty for a read."""
    outcome: str
    message: str
    phase: str
    """In which the call began: before, away or back."""
    seconds: float


@dataclass
class Outage:
    """Clients that do not stop, around a database that does."""

    server: Served
    clients: int
    phase: str = "before"
    calls: list[Became] = field(default_factory=list)
    hanging: list[str] = field(default_factory=list)
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def outcomes(self, phase: str) -> "Counter[str]":
        return Counter(call.outcome for call in self.calls if call.phase == phase)

    def tokens(self, *outcomes: str) -> list[str]:
        """Of the notes of which that became."""
        return [call.token for call in self.calls if call.token and call.outcome in outcomes]

    def messages(self, outcome: str) -> set[str]:
        return {call.message for call in self.calls if call.outcome == outcome}

    def figures(self) -> str:
        """What came of all calls, in one line."""
        parts = []
        for phase in ("before", "away", "back"):
            longest = max((call.seconds for call in self.calls if call.phase == phase), default=0)
            parts.append(f"{phase}: {dict(self.outcomes(phase))}, longest {longest:.1f} s")
        return "; ".join(parts)

    @asynccontextmanager
    async def load(self) -> AsyncIterator[None]:
        """All clients at work; they end with the call they are in."""
        async with over_http(self.server.endpoint) as client:
            await call(client, "add_memory", **_note(FIRST))  # which builds indexes and loads the model
        async with asyncio.TaskGroup() as group:
            for number in range(self.clients):
                group.create_task(self._client(number))
            try:
                yield
            finally:
                self._stop.set()

    async def until_each_wrote(self, phase: str) -> None:
        """Until every client has had some notes of this phase stored; the test's own time limit ends it."""
        await self._until(lambda: all(self._stored(number, phase) >= _A_FEW for number in range(self.clients)))

    async def until_refused(self) -> None:
        """Until calls that began while the database was away have been answered, writes and reads."""
        refused = {NOT_KEPT, UNAVAILABLE}
        await self._until(lambda: refused <= self.outcomes("away").keys())

    def _stored(self, number: int, phase: str) -> int:
        return sum(
            call.phase == phase and call.outcome == STORED and call.token.startswith(f"outage-{number}-")
            for call in self.calls
        )

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with self._news:
            await self._news.wait_for(lambda: self.hanging or condition())
        assert self.hanging == []

    async def _client(self, number: int) -> None:
        async with over_http(self.server.endpoint) as client:
            turn = 0
            while not self._stop.is_set():
                token = f"outage-{number}-{turn}"
                stored = await self._call(client, token, "add_memory", _note(token))
                await self._call(client, "", *_reads(number)[turn % 3])
                turn += 1
                await asyncio.sleep(_TICK if stored else _AFTER_A_REFUSAL)

    async def _call(self, client: Client, token: str, tool: str, arguments: dict[str, Any]) -> bool:
        """Whether it was done."""
        phase, began = self.phase, monotonic()
        try:
            async with asyncio.timeout(LONGEST_CALL):
                result = await client.call_tool(tool, arguments)
        except (TimeoutError, httpx2.HTTPError) as error:
            self._stop.set()
            async with self._news:
                self.hanging.append(f"{tool}, begun {phase}: {type(error).__name__}")
                self._news.notify_all()
            return False
        answer = result.structured_content or {}
        outcome = answer["code"] if result.is_error else answer.get("status", READ)
        message = error_of(result) if result.is_error else ""
        async with self._news:
            self.calls.append(Became(token, outcome, message, phase, monotonic() - began))
            self._news.notify_all()
        return not result.is_error


@contextmanager
def running(directory: Path) -> Iterator[Neo4jServer]:
    """One of the test's own, as it is to be killed."""
    skip_without_tools()
    database = Neo4jServer(directory)
    database.start()
    try:
        yield database
    finally:
        database.kill()


async def storm(data_dir: Path, database: Neo4jServer, way: Way, seconds: float, clients: int = CLIENTS) -> Outage:
    """All clients at work while the database goes for so long and comes back; then look what is there."""
    with serving(data_dir, **database.product_settings()) as server:
        outage = Outage(server, clients)
        async with outage.load():
            await outage.until_each_wrote("before")
            outage.phase = "away"
            (database.freeze if way == "frozen" else database.kill)()
            await outage.until_refused()
            await asyncio.sleep(seconds)
            await asyncio.to_thread(_back, database, way)
            outage.phase = "back"
            await outage.until_each_wrote("back")
        async with over_http(server.endpoint) as client:
            there = await _what_is_there(client)
            assert (await call(client, "get_status"))["writes"]["failed"] == 0
        assert server.ready()
        log = server.log.read_text()
    assert outage.hanging == []
    kept = [FIRST, *outage.tokens(STORED, PENDING)]
    assert there == Counter(kept), "what was acknowledged is there once, and nothing that was refused"
    assert set(outage.outcomes("away")) <= {STORED, READ, PENDING, NOT_KEPT, UNAVAILABLE}
    assert outage.tokens(NOT_KEPT)
    assert all("does not answer" in message for message in outage.messages(NOT_KEPT) | outage.messages(UNAVAILABLE))
    if way == "lost":
        assert "writes from the journal" in log
    return outage


def _back(database: Neo4jServer, way: Way) -> None:
    if way == "frozen":
        database.thaw()
        return
    if way == "lost":
        database.lose()
    database.start()


async def _what_is_there(client: Client) -> "Counter[str]":
    """Names of all episodes, once every write of the journal has reached the database."""
    while (await call(client, "get_status"))["writes"]["waiting"]:
        pass
    heron = (await call(client, "search_nodes", names=["Heron"]))["nodes"]
    assert [node["name"] for node in heron] == ["Heron"]
    found: Counter[str] = Counter()
    cursor: dict[str, str] = {}
    while True:
        page = await call(client, "get_entity_timeline", entity_uuid=heron[0]["uuid"], max_episodes=100, **cursor)
        found.update(episode["name"] for episode in page["episodes"])
        if not page.get("next_cursor"):
            return found
        cursor = {"cursor": page["next_cursor"]}


def _note(token: str) -> dict[str, Any]:
    person = f"Person {token}"
    return {
        "name": token,
        "episode_body": f"{person} met Heron at the harbour.",
        "entities": [{"name": person, "type": "Person"}, {"name": "Heron"}],
        "facts": [{"source": person, "relation": "MET", "target": "Heron", "kind": "event"}],
    }


def _reads(number: int) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("search_nodes", {"query": f"Person outage-{number}"}),
        ("search_memory_facts", {"query": "who met Heron"}),
        ("get_episodes", {"max_episodes": 5}),
    ]
