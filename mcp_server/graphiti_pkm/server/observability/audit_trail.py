"""The audit log as a table: a small SQLite file beside the memory, which outlives a restore and is in no backup.

It is a separate file because a refused request must not wait for a write to the journal, and because it says who used a
memory, not what is in it.
"""

import contextlib
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, Full, Queue

from graphiti_pkm.core.model.record import Record
from graphiti_pkm.errors import DamagedStore, NewerSchema, NotFound
from graphiti_pkm.storage.journal.connection import use_write_ahead_log

_log = logging.getLogger(__name__)

_VERSION = 1
_BUSY_SECONDS = 5.0
_MOST_WAITING = 10_000
"""Lines that wait for the disk; beyond it they are in the log alone."""
_BATCH = 500
_ALIKE, _MINUTE, _DAY = 10, 60, 86_400
_FIELDS = ("kind", "principal", "token", "action", "outcome", "ms", "request")
_TABLE = """
CREATE TABLE IF NOT EXISTS audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at REAL NOT NULL,
  kind TEXT NOT NULL,
  principal TEXT,
  token TEXT,
  action TEXT NOT NULL,
  outcome TEXT NOT NULL,
  ms REAL,
  request TEXT,
  targets TEXT NOT NULL,
  groups TEXT NOT NULL,
  times INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX IF NOT EXISTS audit_at ON audit (at);
CREATE INDEX IF NOT EXISTS audit_principal ON audit (principal, at);
CREATE INDEX IF NOT EXISTS audit_action ON audit (action, at);
"""


class AuditLine(Record):
    """One write, or one or more equal refusals."""

    at: datetime
    kind: str
    """``write`` or ``refused``."""
    principal: str | None = None
    token: str | None = None
    action: str
    outcome: str
    ms: float | None = None
    request: str | None = None
    targets: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    times: int = 1
    """How often it happened within a minute, of refusals that were written ten times before."""


class AuditTrail:
    """Keeps lines for some days. A thread writes them, so that no call waits for the disk."""

    def __init__(self, path: Path, days: int, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._days = days
        self._clock = clock
        self._waiting: Queue[tuple[float, Mapping[str, object]] | None] = Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def keep(self, event: Mapping[str, object]) -> None:
        """Keep the fields of a line of the audit log; returns at once."""
        if self._thread is None:  # not before, because a worker is forked and has no threads of its parent
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._write, name="audit", daemon=True)
                    self._thread.start()
        with contextlib.suppress(Full):
            self._waiting.put_nowait((self._clock(), event))

    def close(self) -> None:
        """Write what waits."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None

    def _write(self) -> None:
        writer = _Writer(self._path, self._days)
        is_open, has_failed = True, False
        with contextlib.closing(writer):
            while is_open:
                batch = self._next()
                is_open = batch[-1] is not None
                try:
                    writer.write([line for line in batch if line is not None], self._clock())
                except (OSError, sqlite3.Error, NewerSchema) as error:
                    if not has_failed:
                        _log.warning("the audit log is kept in this log alone: %s", type(error).__name__)
                    has_failed = True
                    writer.close()

    def _next(self) -> list[tuple[float, Mapping[str, object]] | None]:
        """What waits, at least one; the end comes last."""
        batch = [self._waiting.get()]
        with contextlib.suppress(Empty):
            while batch[-1] is not None and len(batch) < _BATCH:
                batch.append(self._waiting.get_nowait())
        return batch


class _Writer:
    """Used by one thread."""

    def __init__(self, path: Path, days: int) -> None:
        self._path = path
        self._days = days
        self._connection: sqlite3.Connection | None = None
        self._swept = 0.0
        self._minute = 0
        self._alike: dict[tuple[object, ...], tuple[int, int]] = {}
        """Of each kind of refusal in this minute: how many, and the row of the last."""

    def write(self, lines: Sequence[tuple[float, Mapping[str, object]]], now: float) -> None:
        connection = self._connected()
        connection.execute("BEGIN IMMEDIATE")
        try:
            for at, event in lines:
                self._add(connection, at, event)
            if abs(now - self._swept) >= _DAY / 24:
                connection.execute("DELETE FROM audit WHERE at < ?", (now - self._days * _DAY,))
                self._swept = now
        except BaseException:
            self._alike.clear()
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _add(self, connection: sqlite3.Connection, at: float, event: Mapping[str, object]) -> None:
        alike = ("refused", *(event.get(name) for name in ("principal", "token", "action", "outcome")))
        is_refused = event["audit"] == "refused"
        if int(at // _MINUTE) != self._minute:
            self._minute = int(at // _MINUTE)
            self._alike.clear()
        count, row = self._alike.get(alike, (0, 0))
        if is_refused and count >= _ALIKE:  # anybody can cause any number of them
            connection.execute("UPDATE audit SET times = times + 1 WHERE id = ?", (row,))
            return
        added = connection.execute(
            "INSERT INTO audit (at, kind, principal, token, action, outcome, ms, request, targets, groups)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                at,
                event["audit"],
                *(event.get(name) for name in _FIELDS[1:]),
                *(json.dumps(event.get(name) or []) for name in ("targets", "groups")),
            ),
        )
        if is_refused:
            self._alike[alike] = (count + 1, added.lastrowid or 0)

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
            try:
                self._path.chmod(0o600)
                use_write_ahead_log(connection, _BUSY_SECONDS)
                connection.execute("PRAGMA synchronous = NORMAL")
                _refuse_newer(connection)
                connection.executescript(_TABLE)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


class AuditFilter(Record):
    """None means no restriction."""

    since: datetime | None = None
    principal: str | None = None
    action: str | None = None


def read_audit(path: Path, wanted: AuditFilter, limit: int) -> tuple[list[AuditLine], int]:
    """The newest lines under the filter, newest first, and how many there are.

    Raises NotFound, NewerSchema, DamagedStore.
    """
    if not path.is_file():
        raise NotFound(
            f"There is no audit log at {path}. A server keeps one from its first write on, unless audit_days is 0."
        )
    since = None if wanted.since is None else wanted.since.timestamp()
    given = {"at >= ?": since, "principal = ?": wanted.principal, "action = ?": wanted.action}
    given = {part: value for part, value in given.items() if value is not None}
    filters, parameters = " AND ".join(("1", *given)), tuple(given.values())
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
            _refuse_newer(connection)
            connection.execute("BEGIN")
            # The texts are our own; the values are parameters.
            found = connection.execute(
                f"SELECT {', '.join(_FIELDS)}, at, targets, groups, times FROM audit WHERE {filters}"  # noqa: S608
                " ORDER BY at DESC, id DESC LIMIT ?",
                (*parameters, limit),
            )
            lines = list(_lines(found))
            (total,) = connection.execute(f"SELECT count(*) FROM audit WHERE {filters}", parameters).fetchone()  # noqa: S608
    except sqlite3.DatabaseError as error:
        raise DamagedStore(
            f"The audit log at {path} cannot be read ({type(error).__name__}). It was left as it is; the memory is not "
            "concerned. Move it away, and servers start a new one."
        ) from error
    return lines, total


def _lines(cursor: sqlite3.Cursor) -> Iterator[AuditLine]:
    for row in cursor:
        *fields, at, targets, groups, times = row
        yield AuditLine(
            **dict(zip(_FIELDS, fields, strict=True)),
            at=datetime.fromtimestamp(at, UTC),
            targets=json.loads(targets),
            groups=json.loads(groups),
            times=times,
        )


def _refuse_newer(connection: sqlite3.Connection) -> None:
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > _VERSION:
        raise NewerSchema(
            f"The audit log has schema version {found}, written by a newer graphiti-pkm; this one knows {_VERSION}. "
            "Nothing was changed. Install the newer version again."
        )
