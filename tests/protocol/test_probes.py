"""What a supervisor, or anybody else, may ask without a token, and that nothing else is reached that way."""

import asyncio

import httpx2
import pytest
from pydantic import ValidationError
from tests.fakes import FakeGraph
from tests.protocol.access import ACCEPT, PING, Doors, a_world
from tests.protocol.serving import connected, served
from tests.protocol.support import World, answered

from graphiti_pkm.server.app import build_server
from graphiti_pkm.server.transports.draining import Draining
from graphiti_pkm.server.transports.probes import Readiness
from graphiti_pkm.settings.loader import Settings

TAKEN = ["/health", "/ready", "/metrics", "/sse", "/messages", "/register", "/authorize", "/token"]
TAKEN += ["/health/", "//ready", "/messages/mcp"]


class SlowGraph(FakeGraph):
    """One whose database says whether it is there when ``answers`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = asyncio.Event()
        self.asked = 0

    async def ready(self) -> bool:
        self.asked += 1
        await self.answers.wait()
        return await super().ready()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def started(world: World) -> tuple[Readiness, Clock]:
    """What answers /ready, over services that are up."""
    server, clock = build_server(world.settings, world.start), Clock()
    await server.backend.services()
    return Readiness(server.backend, server.draining, clock=clock, patience=0.05), clock


async def test_ready_says_yes_or_no_and_nothing_of_what_is_kept(doors: Doors) -> None:
    world = a_world(doors)
    async with served(doors.settings, world.start) as url, httpx2.AsyncClient() as web:
        async with connected(f"{url}/mcp", "auto", **doors.add("anna")) as client:
            answered(await client.call_tool("get_status", {}))
        ready = await web.get(f"{url}/ready")
        assert (ready.status_code, ready.json()) == (200, {"ready": True})


async def test_ready_asks_the_database_once_a_second_however_often_it_is_asked() -> None:
    graph = SlowGraph()
    graph.answers.set()
    readiness, clock = await started(World(graph=graph))
    assert {await readiness.reason() for _ in range(200)} == {None}
    assert await asyncio.gather(*(readiness.reason() for _ in range(200))) == [None] * 200
    assert graph.asked == 1
    graph.is_down = True
    clock.now = 1.5
    assert await readiness.reason() == "unavailable"
    assert graph.asked == 2


async def test_a_database_that_does_not_answer_is_not_ready_and_is_asked_once() -> None:
    graph = SlowGraph()
    readiness, clock = await started(World(graph=graph))
    assert await readiness.reason() == "unavailable"
    clock.now = 60.0
    assert await readiness.reason() == "unavailable"
    assert graph.asked == 1
    graph.answers.set()
    await asyncio.sleep(0)
    while await readiness.reason() is not None:
        clock.now += 2.0
    assert graph.asked <= 3


async def test_a_server_that_stops_says_so_at_once() -> None:
    server = build_server(Settings(), World().start)
    draining = Draining()
    draining.begin()
    assert await Readiness(server.backend, draining).reason() == "stopping"


@pytest.mark.parametrize("path", TAKEN)
def test_a_path_that_another_endpoint_has_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="choose another"):
        Settings(path=path)


@pytest.mark.parametrize("path", ["/", "/mcp", "/memory/health", "/healthy", "/Health"])
def test_any_other_path_is_taken(path: str) -> None:
    assert Settings(path=path).path == path


@pytest.mark.parametrize("path", ["/health", "/ready", "/metrics", "/", "/%68ealth", "/health/", "//health"])
async def test_whatever_the_path_no_call_is_answered_without_a_token(path: str, doors: Doors) -> None:
    """Also where a setting that is refused today has come through."""
    doors.add("anna")
    settings = doors.settings.model_copy(update={"path": "/health" if "ealth" in path else path, "metrics": True})
    world = a_world(doors)
    async with served(settings, world.start) as url, httpx2.AsyncClient() as web:
        for headers in ({}, {"host": "evil.example"}):
            answer = await web.post(f"{url}{path}", json=PING, headers={"accept": ACCEPT, **headers})
            assert answer.status_code in {401, 405, 421}, answer.text
            assert "result" not in answer.text
