"""Chooses the database from the settings, and opens it."""

import asyncio
import importlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.database import Database, Note, OpenDatabase
from graphiti_pkm.storage.graph.embedded.embedded import DatabaseInfo, EmbeddedDatabase
from graphiti_pkm.storage.graph.falkordb.address import Address

if TYPE_CHECKING:
    from graphiti_pkm.storage.graph.falkordb.database import FalkorDatabase
    from graphiti_pkm.storage.graph.falkordb.link import FalkorLink

_log = logging.getLogger(__name__)

DEFAULT_GRAPH = "memory"
_NEO4J, _FALKORDB = "Neo4j", "FalkorDB server"
_KEPT_BY = {
    _FALKORDB: " Other servers on this database have journals of their own.",
    _NEO4J: " Neo4j writes over the space that they took and prunes its transaction logs in its own time; other "
    "servers on this database have journals of their own.",
}
DATABASE_CONNECTIONS = 24


class Host(Protocol):
    """The machine's side of a database: its process and its files."""

    @property
    def backend(self) -> str:
        """The name of the database in get_status."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether servers with other journals may write to it."""
        ...

    def attention(self) -> Sequence[str]:
        """Notes for get_status, one sentence each."""
        ...

    def is_whole(self) -> bool:
        """False from a repair of the files until ``made_whole``: any part of the graph may be missing."""
        ...

    def made_whole(self) -> None:
        """Note that the graph was rebuilt since the repair."""
        ...

    def last_repair(self) -> str | None:
        """One line on the newest repair; None if there was none, or its original is gone."""
        ...

    async def sweep(self) -> bool:
        """Remove leftovers of a rewrite of the files; False while older ones remain."""
        ...

    def remainder(self) -> str:
        """What deleted data cannot be erased from here: a sentence with a leading space; empty if nothing."""
        ...

    async def info(self) -> DatabaseInfo | None:
        """The process that runs here, or None."""
        ...

    async def memory_usage(self) -> int | None:
        """Its memory in bytes; None if it does not run here."""
        ...

    def release(self) -> None:
        """Release the database."""
        ...


class IdleHost:
    """A host with nothing to do: no process of ours to start, no files of ours to repair or sweep."""

    def attention(self) -> Sequence[str]:
        return ()

    def is_whole(self) -> bool:
        return True

    def made_whole(self) -> None:
        return

    def last_repair(self) -> str | None:
        return None

    async def sweep(self) -> bool:
        return True

    def remainder(self) -> str:
        return ""

    async def info(self) -> DatabaseInfo | None:
        return None

    async def memory_usage(self) -> int | None:
        return None

    def release(self) -> None:
        return


class SqliteHost(IdleHost):
    """An embedded memory: one file, no process of its own."""

    backend = "SQLite"
    is_shared = False


class RemoteHost(IdleHost):
    """A database that someone else runs elsewhere: we neither start, repair nor clean it."""

    is_shared = True

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self._notes: list[str] = []

    def note(self, text: str, *, holds: bool = True) -> None:
        """Add the note to get_status from now on, or remove it."""
        if not holds:
            self._notes = [note for note in self._notes if note != text]
        elif text not in self._notes:
            _log.warning("%s", text)
            self._notes.append(text)

    def attention(self) -> Sequence[str]:
        return self._notes

    def remainder(self) -> str:
        return _KEPT_BY.get(self.backend, "")


@dataclass
class Opening:
    """A database that is opened on first use."""

    host: Host
    open_database: OpenDatabase
    on_restart: Callable[[], None] = lambda: None
    """Called when the database was restarted and may have lost writes."""


@dataclass(frozen=True)
class OpenFalkor:
    """Opens one graph of the embedded FalkorDB, or of any whose life is in our hands."""

    connect: Callable[[], Awaitable[Path]]
    """Returns the server's socket."""
    recover: Callable[[], Awaitable[Path | None]]
    """Restores the server, and returns its socket if it changed."""
    graph_name: str = DEFAULT_GRAPH
    on_restart: Callable[[], None] = lambda: None
    connections: int = DATABASE_CONNECTIONS

    async def __call__(self) -> Database:
        path, (link, database) = await asyncio.gather(self.connect(), _falkor())
        address = Address.of_socket(path)
        return database(link(address, self._recover, None, self.connections, self.on_restart), self.graph_name)

    async def _recover(self) -> Address | None:
        path = await self.recover()
        return None if path is None else Address.of_socket(path)


@dataclass(frozen=True)
class OpenFalkorServer:
    """Opens one graph of a FalkorDB that runs without us: all we can do for it is to connect again."""

    address: Address
    graph_name: str
    reader: Address | None = None
    """As whom reads connect, if not as the writer."""
    on_restart: Callable[[], None] = lambda: None
    note: Note | None = None
    """Receives notes for the operator of the server."""
    connections: int = DATABASE_CONNECTIONS

    async def __call__(self) -> Database:
        link, database = await _falkor()
        connected = link(self.address, _reconnect, self.reader, self.connections, self.on_restart)
        return database(connected, self.graph_name, self.note)


async def _reconnect() -> None:
    return None


async def _falkor() -> "tuple[type[FalkorLink], type[FalkorDatabase]]":
    """Imports take most of a second, so it runs in a thread."""
    module = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.storage.graph.falkordb.database")
    return module.FalkorLink, module.FalkorDatabase


def opening(settings: Settings) -> Opening:
    """The database as configured; it does not connect yet. Raises ConfigurationError."""
    match settings.effective_backend:
        case "neo4j":
            return _neo4j(settings)
        case "falkordb":
            return _falkor_server(settings)
        case _:
            return _embedded(settings)


def _embedded(settings: Settings) -> Opening:
    def started_anew() -> None:
        opened.on_restart()  # as it is by then

    database = EmbeddedDatabase(settings.data_dir, settings.idle_seconds)
    connections = settings.database_connections
    opened = Opening(
        database,
        OpenFalkor(database.acquire, database.recover, on_restart=started_anew, connections=connections),
    )
    return opened


def _falkor_server(settings: Settings) -> Opening:
    def started_anew() -> None:
        opened.on_restart()

    assert settings.falkordb_uri is not None  # noqa: S101 the settings see to it
    writer = Address(settings.falkordb_uri, settings.falkordb_username, settings.falkordb_password)
    writer.check()
    reader = (
        Address(settings.falkordb_uri, settings.falkordb_reader_username, settings.falkordb_reader_password)
        if settings.falkordb_reader_username
        else None
    )
    host = RemoteHost(_FALKORDB)
    opens = OpenFalkorServer(
        writer, settings.falkordb_database, reader, started_anew, host.note, settings.database_connections
    )
    opened = Opening(host, opens)
    return opened


def _neo4j(settings: Settings) -> Opening:
    def is_back() -> None:
        opened.on_restart()  # as it is by then

    async def open_database() -> Database:
        module = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.storage.graph.neo4j.database")
        database: Database = module.open_neo4j(settings, is_back)
        return database

    opened = Opening(RemoteHost(_NEO4J), open_database)
    return opened
