"""Many people on one server over HTTP: each calls once a second, reads and writes mixed, against one person alone.

The server is the real command in a process of its own, with one token of a service that names its user in each request,
as LibreChat does. Calls are made by a plan that depends on nothing but the number of the person, so that every run asks
the same. A call's time counts from when it was due: who has to wait for an answer is late with the next call.
"""

import asyncio
import random
import statistics
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias

from tests.benchmarks.lean_client import LeanClient, lean_client
from tests.benchmarks.measuring import Figure, Target, ms
from tests.benchmarks.texts import journal
from tests.benchmarks.world import NUMPY
from tests.e2e.support import Served, serving
from tests.neo4j_server import Neo4jServer

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens

Backend: TypeAlias = Literal["embedded", "neo4j"]

_NOTE = 350
"""Characters of a note, about three sentences."""
_KNOWN = 4
"""Notes that a person has before it begins."""
_WRITES = 0.3
_UNLIMITED = {"calls_per_minute": 1_000_000, "writes_per_minute": 1_000_000}
"""Each of a few people at full speed would be held back otherwise."""
_START_SECONDS = 180.0
_LONGEST = 5.0
"""Seconds that no call may take."""
_RATES = {1: 200, 2: 300}
"""Calls a second that are aimed at, by workers."""
_PLACES = ("Office", "Westminster", "Deptford", "Whitehall", "the Tower", "Woolwich", "Chatham", "Greenwich")
_FRIENDS = ("Mr Creed", "Mr Moore", "Mr Hewer", "Mrs Pierce", "Mr Coventry", "Mr Povy", "Mr Gauden", "Mrs Knipp")


@dataclass(frozen=True)
class Size:
    """How much is done."""

    people: int = 50
    seconds: int = 120
    alone: int = 60
    """Seconds of the one person."""
    at_full_speed: int = 30


QUICK = Size(people=10, seconds=10, alone=10, at_full_speed=5)


@dataclass
class Load:
    """What came of it."""

    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    """By tool."""
    took: float = 0.0

    def add(self, tool: str, seconds: float, error: str | None) -> None:
        self.seconds.append(seconds)
        self.slowest[tool] = max(seconds, self.slowest.get(tool, 0.0))
        if error is not None:
            self.errors[f"{tool}: {error}"] += 1

    @property
    def p50(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.seconds, n=20, method="inclusive")[-1]

    def __str__(self) -> str:
        told = f"p50 {ms(1000 * self.p50)}, p95 {ms(1000 * self.p95)}, slowest {ms(1000 * max(self.seconds))}"
        errors = f", errors: {dict(self.errors)}" if self.errors else ", no error"
        return f"{told} of {len(self.seconds):,} calls{errors}"


async def figures(*, quick: bool = False, backend: Backend = "embedded") -> list[Figure]:
    """First one person, then many, on the same server; then as fast as it goes with one worker and with two."""
    size = QUICK if quick else Size()
    with a_place(backend) as settings:
        async with a_server(count=size.people + 1, **settings) as crowd:
            alone = await each_second(crowd[:1], size.alone)
            many = await each_second(crowd[1:], size.seconds)
    speeds = {}
    for workers in (1, 2):
        with a_place(backend) as settings:
            async with a_server(count=size.people, workers=workers, **_UNLIMITED, **settings) as crowd:
                speeds[workers] = await at_full_speed(crowd, size.at_full_speed)
    return _told(size, backend, alone, many, speeds)


def _told(size: Size, backend: Backend, alone: Load, many: Load, speeds: dict[int, Load]) -> list[Figure]:
    what = f"{size.people} people, a call a second over HTTP for {size.seconds} s, {_WRITES:.0%} writes, {backend}"
    slowest = max(many.slowest.items(), key=lambda one: one[1])
    rates = {workers: len(load.seconds) / load.took for workers, load in speeds.items()}
    shown = {workers: f"{rates[workers]:.0f} calls/s, {load}" for workers, load in speeds.items()}
    return [
        Figure(f"{what}; p95 against one person's", str(many), str(alone), many.p95 / alone.p95, Target("<=", 2)),
        Figure(
            f"the slowest of these calls ({slowest[0]})",
            f"{slowest[1]:.2f} s",
            f"{_LONGEST:g} s",
            slowest[1] / _LONGEST,
            Target("<=", 1),
        ),
        Figure("errors of these calls", f"{many.errors.total()}", "0", float(many.errors.total()), Target("<=", 0)),
        Figure(
            f"{size.people} people as fast as they are answered, 2 workers against 1, {backend}",
            shown[2],
            shown[1],
            rates[2] / rates[1],
        ),
        *(
            Figure(
                f"{size.people} people as fast as they are answered, calls a second, {workers} worker(s), {backend}",
                f"{rate:.0f}",
                f"{_RATES[workers]}",
                rate,
                Target(">=", _RATES[workers]),
            )
            for workers, rate in rates.items()
        ),
    ]


@dataclass
class Person:
    """Someone with a memory, a client, and a plan."""

    number: int
    client: LeanClient
    notes: Iterator[str]
    entities: list[str] = field(default_factory=list)
    """Uuids they were told."""
    day: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.number)  # noqa: S311  (a plan, no secret)

    async def prepare(self) -> None:
        """Tell the notes before, and ask everything once: the first of its kind is compiled by the database."""
        for _ in range(_KNOWN):
            self._must("add_memory", await self.write())
        for tool, arguments in self._reads().items():
            self._must(tool, _error(await self.client.call(tool, arguments)))

    def _must(self, tool: str, error: str | None) -> None:
        if error is not None:
            raise RuntimeError(f"{tool} before the beginning failed: {error}")

    async def call(self) -> tuple[str, str | None]:
        """The next call of the plan: its tool, and the code of its error."""
        if self._random.random() < _WRITES or not self.entities:
            return "add_memory", await self.write()
        tool = self._random.choice(tuple(self._reads()))
        return tool, _error(await self.client.call(tool, self._reads()[tool]))

    async def write(self) -> str | None:
        """Tell the next note, and of every other whom it was with and where."""
        self.day += 1
        at = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=self.day)
        arguments: dict[str, Any] = {"episode_body": next(self.notes), "reference_time": at.isoformat()}
        if self.day % 2:
            friend, place = self._random.choice(_FRIENDS), self._random.choice(_PLACES)
            arguments["entities"] = [{"name": friend}, {"name": place}]
            arguments["facts"] = [
                {"source": friend, "relation": "MET_AT", "target": place, "fact": f"{friend} was met at {place}."}
            ]
        answer = await self.client.call("add_memory", arguments)
        for entity in answer.get("entities", []):
            if entity["uuid"] not in self.entities:
                self.entities.append(entity["uuid"])
        return _error(answer)

    def _reads(self) -> dict[str, dict[str, Any]]:
        friend, entity = self._random.choice(_FRIENDS), self._random.choice(self.entities or [""])
        return {
            "search_nodes": {"query": f"who is {friend}"},
            "search_memory_facts": {"query": f"where was {friend} met in week {self.day}"},
            "search_episodes": {"query": f"dinner with {friend} on day {self.day}"},
            "get_entity_connections": {"entity_uuid": entity},
            "get_entity_timeline": {"entity_uuid": entity},
            "get_episodes": {},
            "what_changed": {"since": "2020-01-01"},
        }


async def each_second(people: Sequence[Person], seconds: int) -> Load:
    """Everybody calls once a second, not all in the same instant."""
    load = Load()
    begun = perf_counter()

    async def live(person: Person, first: float) -> None:
        for number in range(seconds):
            due = begun + first + number
            await asyncio.sleep(max(0.0, due - perf_counter()))
            tool, error = await _called(person)
            load.add(tool, perf_counter() - due, error)

    await asyncio.gather(*(live(person, place / len(people)) for place, person in enumerate(people)))
    load.took = perf_counter() - begun
    return load


async def at_full_speed(people: Sequence[Person], seconds: int) -> Load:
    """Everybody calls again as soon as they are answered."""
    load = Load()
    begun = perf_counter()

    async def live(person: Person) -> None:
        while (due := perf_counter()) < begun + seconds:
            tool, error = await _called(person)
            load.add(tool, perf_counter() - due, error)

    await asyncio.gather(*map(live, people))
    load.took = perf_counter() - begun
    return load


async def _called(person: Person) -> tuple[str, str | None]:
    try:
        return await person.call()
    except Exception as error:  # noqa: BLE001  (whatever a client meets is an error of the server's, to be counted)
        return "any", type(error).__name__


@contextmanager
def a_place(backend: Backend) -> Iterator[dict[str, Any]]:
    """An empty memory with one token; settings for it."""
    with tempfile.TemporaryDirectory(prefix="graphiti-pkm-people-") as name:
        directory = Path(name)
        settings: dict[str, Any] = {"data_dir": directory / "data", "backend": backend}
        if backend == "embedded":
            yield settings
            return
        server = Neo4jServer(directory / "neo4j", heap="1g", java=[])
        server.start()
        try:
            yield {**settings, "neo4j_uri": server.uri, "neo4j_password": server.password}
        finally:
            server.stop()


@asynccontextmanager
async def a_server(data_dir: Path, count: int, **settings: Any) -> AsyncIterator[list[Person]]:
    """People with a client each of a server that is up, who have told a few notes each."""
    secret = new_secret()
    token = Token(
        hash=hash_of(secret), principal="service", created=datetime.now(UTC) - timedelta(days=1), may_impersonate=True
    )
    write_tokens(data_dir / "tokens.json", [token])
    notes = iter(_notes())
    async with AsyncExitStack() as stack:
        server: Served = stack.enter_context(serving(data_dir, log_level="warning", **NUMPY, **settings))
        await _opened(server)
        people = []
        for number in range(count):
            headers = {"Authorization": f"Bearer {secret}", "X-User-ID": f"user{number}"}
            people.append(
                Person(number, await stack.enter_async_context(lean_client(server.endpoint, **headers)), notes)
            )
        await asyncio.gather(*(person.prepare() for person in people))
        yield people


async def _opened(server: Served) -> None:
    """Wait for it; on a machine that is busy with something else a Neo4j takes a minute."""
    deadline = perf_counter() + _START_SECONDS
    while not await asyncio.to_thread(server.ready):
        if perf_counter() > deadline:
            raise RuntimeError(f"the server does not become ready:\n{server.log.read_text()[-2000:]}")
        await asyncio.sleep(0.2)


def _notes() -> Iterator[str]:
    """The journal in pieces, each told once until there are no more: no text is in the embedder's cache already."""
    pieces = list(_pieces())
    yield from pieces
    for round_ in count(1):
        for piece in pieces:
            yield f"{piece} ({round_})"


def _pieces() -> Iterator[str]:
    for entry in journal():
        piece = ""
        for span in split_passages(entry.text):
            piece += entry.text[span.start : span.end] + " "
            if len(piece) >= _NOTE:
                yield piece.strip()
                piece = ""


def _error(answer: dict[str, Any]) -> str | None:
    return str(answer["code"]) if "code" in answer else None
