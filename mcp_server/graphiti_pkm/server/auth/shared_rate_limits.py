"""Rate limits shared by all workers of a server."""

import contextlib
import logging
import math
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from graphiti_pkm.server.auth.rate_limits import MINUTE, Bucket, OwnBuckets
from graphiti_pkm.server.worker_file import open_worker_file

_log = logging.getLogger(__name__)

_TABLE = "buckets (principal TEXT, what TEXT, left_ REAL NOT NULL, at REAL NOT NULL, PRIMARY KEY (principal, what))"


class SharedBuckets:
    """Rate limits in the file that the workers share. A process that cannot use it counts by itself."""

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
            self._connection = open_worker_file(self._path, _TABLE)
            self._swept = -math.inf
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
