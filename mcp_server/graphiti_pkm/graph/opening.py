"""Which database the settings mean, and how it is opened."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from graphiti_pkm.config import Settings
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.graph.database import Database, OpenDatabase
from graphiti_pkm.graph.embedded import DatabaseInfo, EmbeddedDatabase

DEFAULT_GRAPH = "memory"


class Host(Protocol):
    """The machine's side of a database: its process and its files."""

    def is_whole(self) -> bool:
        """False from a repair of the files until ``made_whole``: any part of the graph may be missing."""
        ...

    def made_whole(self) -> None:
        """The graph was made anew since the repair."""
        ...

    def last_repair(self) -> str | None:
        """One line on the newest repair; None if there was none, or its original is gone."""
        ...

    async def sweep(self) -> bool:
        """Remove what a rewrite of the files has left over; False while older parts are there."""
        ...

    async def info(self) -> DatabaseInfo | None:
        """The process that runs here, None if none does."""
        ...

    async def memory_usage(self) -> int | None:
        """Bytes that it holds, None if it does not run here."""
        ...

    def release(self) -> None:
        """Give up our share."""
        ...


class RemoteHost:
    """Of a database that runs elsewhere, by somebody else's hand: nothing of it is ours to start, repair or sweep."""

    def is_whole(self) -> bool:
        return True

    def made_whole(self) -> None:
        return

    def last_repair(self) -> str | None:
        return None

    async def sweep(self) -> bool:
        return True

    async def info(self) -> DatabaseInfo | None:
        return None

    async def memory_usage(self) -> int | None:
        return None

    def release(self) -> None:
        return


@dataclass
class Opening:
    """A database that is opened on first use."""

    host: Host
    open_database: OpenDatabase
    on_restart: Callable[[], None] = lambda: None
    """Called when the database was started anew and may have lost writes."""


@dataclass(frozen=True)
class OpenFalkor:
    """Opens one graph of the FalkorDB behind a socket."""

    connect: Callable[[], Awaitable[Path]]
    """Gives the server's socket."""
    recover: Callable[[], Awaitable[Path | None]]
    """Brings the server back, and gives its socket if it is another."""
    graph_name: str = DEFAULT_GRAPH

    async def __call__(self) -> Database:
        path, module = await asyncio.gather(
            self.connect(), asyncio.to_thread(importlib.import_module, "graphiti_pkm.graph.falkor_database")
        )
        database: Database = module.FalkorDatabase(path, self.graph_name, self.recover)
        return database


def opening(settings: Settings) -> Opening:
    """What stands behind the graph. Connects to nothing yet. Raises ConfigurationError."""
    backend = getattr(settings, "effective_backend", "embedded")
    if backend == "neo4j":
        return _neo4j(settings)
    if backend == "falkordb":
        raise ConfigurationError("The backend falkordb is not built yet.")
    return _embedded(settings)


def _embedded(settings: Settings) -> Opening:
    database = EmbeddedDatabase(settings.data_dir, settings.idle_seconds)

    def started_anew() -> None:
        opened.on_restart()  # as it is by then

    connection = _Embedded(database, started_anew)
    opened = Opening(database, OpenFalkor(connection.connect, connection.recover))
    return opened


def _neo4j(settings: Settings) -> Opening:
    def is_back() -> None:
        opened.on_restart()  # as it is by then

    async def open_database() -> Database:
        module = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.graph.neo4j_database")
        database: Database = module.open_neo4j(settings, is_back)
        return database

    opened = Opening(RemoteHost(), open_database)
    return opened


class _Embedded:
    """Joins the embedded database and notices that it was started anew, so that lost writes are replayed."""

    def __init__(self, database: EmbeddedDatabase, on_restart: Callable[[], None]) -> None:
        self._database = database
        self._on_restart = on_restart
        self._seen: str | None = None

    async def connect(self) -> Path:
        path = await self._database.acquire()
        self._seen = self._database.incarnation
        return path

    async def recover(self) -> Path:
        path = await self._database.recover()
        if self._database.incarnation != self._seen:
            self._seen = self._database.incarnation
            self._on_restart()
        return path
