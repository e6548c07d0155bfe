"""A server whose clock is set while it runs finds every acknowledged note, and says that times are ahead."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from tests.e2e.support import Served, call, over_http, over_stdio, run, serving
from tests.integration.faketime import TimeOfDay, time_of_day
from tests.neo4j_server import Neo4jServer, skip_without_tools
from tests.protocol.support import text

pytestmark = [pytest.mark.timeout(600), pytest.mark.storm]  # libfaketime makes a start several times as long

BEGAN = "2020-01-01"
YEAR = timedelta(days=365)
BACK = timedelta(days=2)
PATIENCE = 600
"""Seconds that a call may take: a process under libfaketime is slow, and the machine may be busy."""
AHEAD = "ahead of this machine's clock"


class Notes:
    """What was told, and that all of it is found."""

    def __init__(self) -> None:
        self.bodies: list[str] = []

    async def add(self, client: Client) -> None:
        number = len(self.bodies)
        body = f"Wilma met Colleague {number}."
        fact = {"source": "Wilma", "relation": "KNOWS", "target": f"Colleague {number}"}
        await call(client, "add_memory", episode_body=body, entities=[{"name": "Wilma"}], facts=[fact])
        self.bodies.append(body)

    async def found(self, client: Client) -> None:
        """By every search and in every list, as often as it was told."""
        (wilma,) = (await call(client, "search_nodes", names=["Wilma"]))["nodes"]
        wanted, uuid = sorted(self.bodies), wilma["uuid"]
        for tool, arguments in (
            ("get_episodes", {"max_episodes": 50}),
            ("search_episodes", {"query": "Wilma met Colleague", "max_episodes": 50}),
            ("get_entity_timeline", {"entity_uuid": uuid, "max_episodes": 50}),
        ):
            page = await call(client, tool, **arguments)
            assert sorted(one["content"] for one in page["episodes"]) == wanted, tool
        count = len(self.bodies)
        assert (await call(client, "get_entity_connections", entity_uuid=uuid))["total"] == count
        assert len((await call(client, "search_memory_facts", query="Wilma knows", max_facts=50))["facts"]) == count
        assert (await call(client, "what_changed", since=BEGAN))["total"] == count


async def failures(client: Client) -> str:
    return str((await call(client, "get_status"))["failures"])


async def started(client: Client) -> None:
    """However busy the machine is; the test's own time limit ends it."""
    while (result := await client.call_tool("get_episodes", {})).is_error:
        assert "still starting" in text(result) or "not answer" in text(result), text(result)


async def set_clock(time: TimeOfDay, server: Served, by: timedelta) -> None:
    """Returns when the server has seen it, which the dates of its answers show."""
    time.set(f"{by.days:+}d")
    async with httpx2.AsyncClient() as web:
        while True:
            date = parsedate_to_datetime((await web.get(f"{server.url}/health")).headers["date"])
            if abs(datetime.now(UTC) + by - date) < timedelta(hours=1):
                return
            await asyncio.sleep(0.05)


@contextmanager
def embedded(_directory: Path) -> Iterator[dict[str, Any]]:
    yield {}


@contextmanager
def neo4j(directory: Path) -> Iterator[dict[str, Any]]:
    """Its clock stays as it is."""
    skip_without_tools()
    server = Neo4jServer(directory)
    server.start()
    try:
        yield server.product_settings()
    finally:
        server.kill()


@pytest.mark.parametrize("kind", [embedded, neo4j])
async def test_what_was_acknowledged_is_found_however_the_clock_is_set(
    kind: Callable[[Path], AbstractContextManager[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, data_dir = Notes(), tmp_path / "data"
    with kind(tmp_path / "neo4j") as database, time_of_day(monkeypatch, tmp_path, at_once=False) as time:
        settings = {"call_seconds": PATIENCE, **database}
        with serving(data_dir, **settings) as server:
            async with over_http(server.endpoint) as client:
                await started(client)
                await notes.add(client)
                assert AHEAD not in await failures(client)
                for by in (-BACK, YEAR, timedelta()):
                    await set_clock(time, server, by)
                    assert (AHEAD in await failures(client)) == (by != YEAR)
                    await notes.add(client)
                    await notes.found(client)
                assert "364 days" in await failures(client) or "365 days" in await failures(client)
        time.set(f"-{BACK.days}d")
        async with over_stdio(data_dir, **settings) as client:
            await started(client)
            await notes.add(client)
            await notes.found(client)
            assert AHEAD in await failures(client)
        examined = run("doctor", data_dir=data_dir, **database)
        assert AHEAD in examined.stdout + examined.stderr
