"""A whole memory of its own behind an MCP client in this process."""

import asyncio
import itertools
import sqlite3
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
from mcp.client import Client
from tests.protocol.support import answered

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.server.app import build_server
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
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
    """Empty; gone in the end with its files."""
    with tempfile.TemporaryDirectory(prefix="pkm-rows-") as name:
        async with open_memory(Settings(data_dir=Path(name), **settings)) as memory:

            @asynccontextmanager
            async def services() -> AsyncIterator[Services]:
                yield memory.services

            async with Client(build_server(memory.context.settings, services)) as client:
                yield World(memory, client)


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
    """A statement with the rows that were fetched of its answer."""

    text: str
    rows: list[dict[str, Any]]


class Spy:
    """Looks on while the file is read and written; every statement still runs."""

    def __init__(self, graph: SqliteGraph, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[Sent] = []
        self.steps = 0
        """Of SQLite's machine: how much work all that was."""
        self._counting = threading.Lock()
        file = graph._opened.file
        for name in ("_read", "_write", "within"):
            monkeypatch.setattr(file, name, self._watching(getattr(file, name)))

    def _watching(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any) -> Any:
            *before, act = given
            return run(*before, lambda connection: self._watched(connection, act))

        return watched

    def _watched(self, connection: sqlite3.Connection, act: Callable[[Any], Any]) -> Any:
        counted = itertools.count()
        connection.set_progress_handler(lambda: next(counted) < 0, 1)
        try:
            return act(_Watched(connection, self.sent))
        finally:
            connection.set_progress_handler(None, 1)
            with self._counting:
                self.steps += next(counted)

    def rows_with(self, column: str) -> int:
        """The largest number of rows with this column that were fetched of one answer."""
        return max((len(rows) for _, rows in self.sent if rows and column in rows[0]), default=0)


class _Watched:
    """A connection that keeps its statements."""

    def __init__(self, connection: sqlite3.Connection, sent: list[Sent]) -> None:
        self._connection = connection
        self._sent = sent

    def execute(self, text: str, parameters: Any = ()) -> sqlite3.Cursor:
        cursor = self._connection.execute(text, parameters)
        fetched: list[dict[str, Any]] = []
        self._sent.append(Sent(text, fetched))

        def keep(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> sqlite3.Row:
            row = sqlite3.Row(cursor, values)
            fetched.append(dict(row))
            return row

        cursor.row_factory = keep
        return cursor

    def executemany(self, text: str, parameters: Any) -> sqlite3.Cursor:
        self._sent.append(Sent(text, []))
        return self._connection.executemany(text, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)
