"""A clock for leases and waits in the journal that cannot be set and is shared by all processes of the machine.

It starts from the time of day when the machine was started and the journal first used. So a lease neither hangs nor
ends early when the time of day is set. After a restart of the machine it starts again.
"""

import sqlite3
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from graphiti_pkm.storage.journal.schema import transaction

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

SinceBoot = Callable[[], tuple[str, float]]
"""An id of the machine's start, and seconds since some instant of it."""


class SteadyClock:
    """Reads the journal once; any connection to the same journal will do."""

    def __init__(self, now: Callable[[], datetime], since_boot: SinceBoot | None = None) -> None:
        self._now = now
        self._since_boot = since_boot or _since_boot
        self._boot = ""
        self._anchor: float | None = None

    def seconds(self, connection: sqlite3.Connection) -> float:
        """Approximately seconds since the epoch."""
        boot, elapsed = self._since_boot()
        if self._anchor is None or self._boot != boot:
            self._boot, self._anchor = boot, self._anchored(connection, boot, elapsed)
        return self._anchor + elapsed

    def _anchored(self, connection: sqlite3.Connection, boot: str, elapsed: float) -> float:
        if not boot:  # the machine does not report its uptime
            return self._now().timestamp() - elapsed
        found = connection.execute("SELECT boot, anchor FROM clock").fetchone()
        if found is not None and found[0] == boot:
            return float(found[1])
        with transaction(connection):
            found = connection.execute("SELECT boot, anchor FROM clock").fetchone()
            if found is not None and found[0] == boot:  # another process was first
                return float(found[1])
            anchor = self._now().timestamp() - elapsed
            connection.execute("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)", (boot, anchor))
            if found is not None:
                _begin_anew(connection, anchor + elapsed)
        return anchor


def _begin_anew(connection: sqlite3.Connection, now: float) -> None:
    """Start again: holders of leases ended with the machine, and waits for the old clock are over."""
    for table in ("jobs", "extractions"):
        connection.execute(f"UPDATE {table} SET lease_until = ? WHERE state = 'running'", (now,))  # noqa: S608 our names
        connection.execute(
            f"UPDATE {table} SET not_before = ? WHERE state = 'queued' AND not_before > ?",  # noqa: S608 same
            (now, now),
        )


def _since_boot() -> tuple[str, float]:
    try:
        return _BOOT_ID.read_text().strip(), time.monotonic()
    except OSError:
        return "", time.monotonic()
