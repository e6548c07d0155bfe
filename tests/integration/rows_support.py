"""A whole memory of its own, journal and FalkorDB included, behind an MCP client in this process."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
from mcp.client import Client
from tests.integration.embedded_support import end_database
from tests.protocol.support import answered

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.server.app import build_server
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.falkordb.database import FalkorDatabase
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.toolkit.services import Services

_T = TypeVar("_T")


@dataclass(frozen=True)
class World:
    """The memory and the client."""

    memory: Memory
    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that is no error."""
        return answered(await self.client.call_tool(tool, arguments))


@asynccontextmanager
async def a_world(**settings: Any) -> AsyncIterator[World]:
    """Empty; gone in the end with its database."""
    with tempfile.TemporaryDirectory(prefix="pkm-rows-") as name:
        try:
            async with open_memory(Settings(data_dir=Path(name), idle_seconds=0.3, **settings)) as memory:

                @asynccontextmanager
                async def services() -> AsyncIterator[Services]:
                    yield memory.services

                async with Client(build_server(memory.context.settings, services)) as client:
                    yield World(memory, client)
        finally:
            await end_database(Path(name))


@asynccontextmanager
async def in_one_task(context: AbstractAsyncContextManager[_T]) -> AsyncIterator[_T]:
    """The context, entered and left by the same task: a client must be, and pytest has two for a fixture."""
    entered: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def hold() -> None:
        try:
            async with context as value:
                entered.set_result(value)
                await done.wait()
        except BaseException as error:
            if entered.done():
                raise
            entered.set_exception(error)

    task = asyncio.create_task(hold())
    try:
        yield await entered
    finally:
        done.set()
        await task


class Sent(NamedTuple):
    """A query with what came back."""

    query: Query
    rows: list[Row]


class Spy:
    """Looks on while the database is asked; every query still runs."""

    def __init__(self, database: FalkorDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[Sent] = []
        self._attempt = database.attempt
        monkeypatch.setattr(database, "attempt", self.attempt)

    async def attempt(self, *queries: Query, writing: bool = False) -> list[list[Row]]:
        answers = await self._attempt(*queries, writing=writing)
        self.sent += map(Sent, queries, answers)
        return answers

    def rows_with(self, column: str) -> int:
        """The largest number of rows with this column that one query brought."""
        return max((len(rows) for _, rows in self.sent if rows and column in rows[0]), default=0)
