"""Recent calls that all workers of a server know."""

import logging
import sqlite3
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.server.tools.recent_calls import HOUR, MOST, OwnRecentCalls, digest_of
from graphiti_pkm.server.worker_file import open_worker_file

_log = logging.getLogger(__name__)

_MINUTE = 60.0
_TABLE = "recent_calls (caller BLOB, tool TEXT, at REAL NOT NULL, PRIMARY KEY (caller, tool))"
_BEYOND = (
    "DELETE FROM recent_calls WHERE (caller, tool) IN "
    "(SELECT caller, tool FROM recent_calls ORDER BY at DESC LIMIT -1 OFFSET ?)"
)

T = TypeVar("T")


class SharedRecentCalls:
    """Calls that any worker answered. A process that cannot use their file knows its own."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time, most: int = MOST) -> None:
        self._path = path
        self._clock = clock
        self._most = most
        self._own = OwnRecentCalls(clock, most)
        self._connection: sqlite3.Connection | None = None

    def add(self, caller: Caller, tool: str) -> None:
        if 0 <= self._clock() - self._own.at(caller, tool) < _MINUTE:
            return  # a caller that searches all the time does not make each search write
        self._own.add(caller, tool)
        self._with_file(lambda connection: self._add(connection, caller, tool), None)

    def has_any(self, caller: Caller, tools: Collection[str]) -> bool:
        return self._own.has_any(caller, tools) or self._with_file(
            lambda connection: self._has_any(connection, caller, tools), otherwise=False
        )

    def _add(self, connection: sqlite3.Connection, caller: Caller, tool: str) -> None:
        now = self._clock()
        connection.execute("INSERT OR REPLACE INTO recent_calls VALUES (?, ?, ?)", (digest_of(caller), tool, now))
        connection.execute("DELETE FROM recent_calls WHERE at <= ?", (now - HOUR,))
        connection.execute(_BEYOND, (self._most,))

    def _has_any(self, connection: sqlite3.Connection, caller: Caller, tools: Collection[str]) -> bool:
        rows = connection.execute("SELECT tool, at FROM recent_calls WHERE caller = ?", (digest_of(caller),))
        return any(tool in tools and self._clock() - at < HOUR for tool, at in rows.fetchall())

    def _with_file(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        try:
            if self._connection is None:
                self._connection = open_worker_file(self._path, _TABLE)
            return work(self._connection)
        except sqlite3.Error as error:
            _log.warning("what callers did is known to this process alone: %s", type(error).__name__)
            self._connection = None
            return otherwise
