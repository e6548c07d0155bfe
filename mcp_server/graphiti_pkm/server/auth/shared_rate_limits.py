"""Rate limits shared by all workers of a server."""

import contextlib
import logging
import math
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from graphiti_pkm.server.auth.rate_limits import MINUTE, Bucket, OwnBuckets

_log = logging.getLogger(__name__)

_BUSY_SECONDS = 1.0


class SharedBuckets:
    """Rate limits in a small SQLite file, shared by all processes that use a data directory.

    It is a separate file because counting must not wait for a write to the journal, nor for the disk: a crash of the
    machine loses the counts of one minute at most. A process that cannot use the file counts by itself.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._own = OwnBuckets(clock)
        self._connection: sqlite3.Connection | None = None
        self._swept = -math.inf
        """When idle buckets were last removed."""

    def take(self, principal: str, what: str, most: int) -> float:
        try:
            return self._take(self._connected(), principal, what, most)
        except sqlite3.Error as error:
            _log.warning("calls are counted in this process alone: %s", type(error).__name__)
            self._connection = None
            return self._own.take(principal, what, most)

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
            self._path.chmod(0o600)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS buckets (principal TEXT, what TEXT, left_ REAL NOT NULL, at REAL NOT NULL, "
                "PRIMARY KEY (principal, what)) WITHOUT ROWID"
            )
            self._swept = -math.inf
            self._connection = connection
        return self._connection

    def _take(self, connection: sqlite3.Connection, principal: str, what: str, most: int) -> float:
        with contextlib.ExitStack() as stack:
            connection.execute("BEGIN IMMEDIATE")
            stack.callback(connection.execute, "COMMIT")
            now = self._clock()
            if abs(now - self._swept) >= MINUTE:  # the clock may have been set back
                connection.execute("DELETE FROM buckets WHERE at < ?", (now - MINUTE,))
                self._swept = now
            found = connection.execute(
                "SELECT left_, at FROM buckets WHERE principal = ? AND what = ?", (principal, what)
            ).fetchone()
            bucket = Bucket(*found) if found else Bucket(most, now)
            wait = bucket.take(most, now)
            connection.execute(
                "INSERT OR REPLACE INTO buckets VALUES (?, ?, ?, ?)", (principal, what, bucket.left, bucket.at)
            )
            return wait
