"""Calls that may be made at once, which fill up again over a minute: counted in one process, or for several."""

import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_log = logging.getLogger(__name__)

MINUTE = 60.0
_MOST_KNOWN = 10_000
_BUSY_SECONDS = 1.0


@dataclass
class Bucket:
    """How many calls are left, as of a moment."""

    left: float
    at: float

    def take(self, most: int, now: float) -> float:
        """Take one; seconds until there is one if there is none."""
        rate = most / MINUTE
        # The clock of several processes may be set back.
        self.left = min(most, self.left + max(0.0, now - self.at) * rate)
        self.at = now
        if self.left < 1:
            return (1 - self.left) / rate
        self.left -= 1
        return 0.0


class Buckets(Protocol):
    """Where calls are counted."""

    def take(self, principal: str, what: str, most: int) -> float:
        """Take one of the principal's calls; seconds to wait if there is none, else 0."""
        ...


class OwnBuckets:
    """Counted in this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], Bucket] = {}

    def __len__(self) -> int:
        return len(self._known)

    def take(self, principal: str, what: str, most: int) -> float:
        now = self._clock()
        self._forget_idle(now)
        return self._known.setdefault((principal, what), Bucket(most, now)).take(most, now)

    def _forget_idle(self, now: float) -> None:
        """Whoever has not called for a minute has all calls left, which need not be kept."""
        if len(self._known) >= _MOST_KNOWN:
            self._known = {key: one for key, one in self._known.items() if now - one.at < MINUTE}


class SharedBuckets:
    """Counted in a small file for all processes on a data directory; one that cannot be used counts by itself.

    A file of its own: a count must not wait for a write to the journal, nor for the disk. What a crash of the machine
    takes of it is a minute's count.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._own = OwnBuckets(clock)
        self._connection: sqlite3.Connection | None = None

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
            connection.execute("DELETE FROM buckets WHERE at < ?", (self._clock() - MINUTE,))
            self._connection = connection
        return self._connection

    def _take(self, connection: sqlite3.Connection, principal: str, what: str, most: int) -> float:
        with contextlib.ExitStack() as stack:
            connection.execute("BEGIN IMMEDIATE")
            stack.callback(connection.execute, "COMMIT")
            now = self._clock()
            found = connection.execute(
                "SELECT left_, at FROM buckets WHERE principal = ? AND what = ?", (principal, what)
            ).fetchone()
            bucket = Bucket(*found) if found else Bucket(most, now)
            wait = bucket.take(most, now)
            connection.execute(
                "INSERT OR REPLACE INTO buckets VALUES (?, ?, ?, ?)", (principal, what, bucket.left, bucket.at)
            )
            return wait
