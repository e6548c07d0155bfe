"""The file that holds journal and graph: a connection for each thread, short transactions, no call on the event loop.

Reads run side by side, each in a snapshot of its own; writes one at a time, across processes too.
"""

import asyncio
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, TypeAlias, TypeVar

from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.ports.metrics import DATABASE_ERRORS, DATABASE_SECONDS, DATABASE_UNDER_WAY, UNCOUNTED, Metrics
from graphiti_pkm.core.threads import Threads
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.sqlite import schema
from graphiti_pkm.storage.journal.connection import SILENT, JournalFile, plain_errors
from graphiti_pkm.storage.journal.schema import transaction

Row: TypeAlias = sqlite3.Row
_T = TypeVar("_T")

_READERS = 4
FUNCTIONS: tuple[tuple[str, int, Callable[..., float]], ...] = (("ln", 1, math.log), ("pow", 2, math.pow))
"""Functions of SQLite that some builds of it leave out."""


class SqliteFile:
    """The graph's side of the file. Opened on first use; ``close`` waits for what runs."""

    def __init__(self, file: JournalFile, metrics: Metrics = UNCOUNTED) -> None:
        """``file`` makes, checks and migrates the file; the tables of the graph are made here."""
        self._file = file
        self._metrics = metrics
        self.silence = SILENT.format(data_dir=file.data_dir)
        """Why writes are refused if none comes back."""
        self._readers = Threads(_READERS, "sqlite-read")
        self._writer = Threads(1, "sqlite-write")
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._preparing = threading.Lock()
        self._prepared_inode = 0

    async def read(self, ask: Callable[[sqlite3.Connection], _T]) -> _T:
        """The result of ``ask``, read from one snapshot. Raises Unavailable, DamagedStore, NewerSchema."""
        return await self._readers.run(lambda: self._read(ask))

    async def write(self, change: Callable[[sqlite3.Connection], _T]) -> _T:
        """The result of ``change``, once it is durable; if it raises, nothing is kept. Raises as ``read``."""
        return await self._writer.run(lambda: self._write(change))

    async def outside(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        """Does what ``write`` does, without a transaction: for VACUUM and its like."""
        return await self._writer.run(lambda: self._outside(act))

    def within(self, connection: sqlite3.Connection, change: Callable[[sqlite3.Connection], _T]) -> _T:
        """The result of ``change``, run in a transaction that the journal began on its own connection."""
        if self._prepared_inode != self._file.inode():
            schema.prepare(connection)
        before = connection.row_factory
        connection.row_factory = sqlite3.Row
        try:
            with self._counted("write"):
                return change(connection)
        finally:
            connection.row_factory = before

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        for threads in (self._readers, self._writer):
            threads.close()
        for connection in self._opened:
            with suppress(sqlite3.Error):
                connection.close()

    def _read(self, ask: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._counted("read"), plain_errors(self._file):
            connection = self._connection(can_write=False)
            connection.execute("BEGIN")
            try:
                return ask(connection)
            finally:
                connection.execute("ROLLBACK")

    def _write(self, change: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._counted("write"), plain_errors(self._file):
            connection = self._connection()
            with transaction(connection):
                return change(connection)

    def _outside(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._counted("other"), plain_errors(self._file):
            return act(self._connection())

    @contextmanager
    def _counted(self, kind: Literal["read", "write", "other"]) -> Iterator[None]:
        """The time that SQLite works, without that in which a call waits for a thread."""
        self._metrics.add(DATABASE_UNDER_WAY, 1)
        began = time.perf_counter()
        try:
            yield
        except Unavailable:
            self._metrics.add(DATABASE_ERRORS, 1, kind, "unavailable")
            raise
        finally:
            self._metrics.add(DATABASE_UNDER_WAY, -1)
            self._metrics.observe(DATABASE_SECONDS, time.perf_counter() - began, kind)

    def _connection(self, *, can_write: bool = True) -> sqlite3.Connection:
        """The connection of this thread, which is one of the readers or the writer; a new one for another file."""
        inode = self._file.inode()
        if getattr(self._local, "inode", None) != inode:
            self._local.connection = self._connect(can_write=can_write)
            self._local.inode = self._file.inode()
        connection: sqlite3.Connection = self._local.connection
        return connection

    def _connect(self, *, can_write: bool) -> sqlite3.Connection:
        schema.require_sqlite()
        connection = self._file.open("FULL", any_thread=True)
        connection.row_factory = sqlite3.Row
        # SQLite's own lower() knows ASCII only.
        connection.create_function("lowered", 1, _lowered, deterministic=True)
        connection.create_function("normalised", 1, _normalised, deterministic=True)
        known = {row["name"] for row in connection.execute("SELECT name FROM pragma_function_list")}
        for name, arguments, function in FUNCTIONS:
            if name not in known:
                connection.create_function(name, arguments, function, deterministic=True)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute("PRAGMA temp_store = MEMORY")
        with self._preparing:
            self._opened.append(connection)
            if self._prepared_inode != self._file.inode():
                with transaction(connection):
                    schema.prepare(connection)
                self._prepared_inode = self._file.inode()
        if not can_write:
            connection.execute("PRAGMA query_only = ON")
        return connection


def _lowered(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _normalised(text: str | None) -> str | None:
    return None if text is None else normalise_name(text)
