"""One SQLite connection to the journal file, with a thread of its own, and its errors in plain words."""

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from graphiti_pkm.errors import ConfigurationError, DamagedStore, PkmError, Unavailable
from graphiti_pkm.storage.journal.partial import sweep, sync_directory
from graphiti_pkm.storage.journal.schema import MIGRATIONS, Migration, migrate

T = TypeVar("T")

_BUSY_SECONDS = 20.0
_CHECKED_AT_OPEN = 64 * 2**20
"""Bytes; checking more than that after an unclean end would delay the first call: ``doctor`` does it."""

_LOOKED_THROUGH = 512 * 2**20
_LOOK_AGAIN_SECONDS = 600.0
_COARSE_NANOSECONDS = 50_000_000
"""Longer than two changes of a file may have the same time."""

_PRIMARY = 0xFF
"""SQLite's extended error codes hold the primary one in their low byte."""


FULL = "The disk of the data directory {data_dir} is full. Free some space, then try again."
FAILING = (
    "The journal in {data_dir} could not be read or written: the disk is full or failing. "
    "Check the disk, then try again."
)
_FULL = (Unavailable, FULL)
_FAILING = (Unavailable, FAILING)
_LOCKED = (Unavailable, "Another process kept the journal locked for {seconds:g} s. Try again.")
_CLOSED = (
    ConfigurationError,
    (
        "The journal in {data_dir} cannot be opened for writing. Nothing was stored. "
        "Make the directory writable, or choose another with --data-dir."
    ),
)
_PLAIN: Mapping[int, tuple[type[PkmError], str]] = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _FAILING,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _CLOSED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_PERM: _CLOSED,
}


class JournalFile:
    """The file itself: made, checked and migrated by whichever connection opens it first."""

    def __init__(self, data_dir: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
        self.data_dir = data_dir
        self.path = data_dir / "journal.sqlite3"
        self._migrations = migrations
        self._opening = threading.Lock()
        self._is_ready = False

    def open(self, synchronous: Literal["FULL", "NORMAL"]) -> sqlite3.Connection:
        """A new connection to a current, checked journal."""
        with self._opening:
            self.make()
            ended_badly = not self._is_ready and self._has_write_ahead_log()
            connection = connect(self.path)
            try:
                _use_write_ahead_log(connection)
                connection.execute(f"PRAGMA synchronous = {synchronous}")
                if ended_badly and self.path.stat().st_size <= _CHECKED_AT_OPEN:
                    check(connection)
                migrate(connection, self.path, self._migrations)
            except BaseException:
                connection.close()
                raise
            if not self._is_ready:
                sweep(self.data_dir)
            self._is_ready = True
            return connection

    def inode(self) -> int:
        """Which file the path leads to; 0 for none."""
        try:
            return self.path.stat().st_ino
        except FileNotFoundError:
            return 0

    def state(self) -> tuple[int, ...] | None:
        """Changes with every commit of any process; None if one is so recent that another may follow unnoticed."""
        found: list[int] = []
        for suffix in ("", "-wal"):
            try:
                part = self.path.with_name(self.path.name + suffix).stat()
            except FileNotFoundError:
                continue
            if abs(time.time_ns() - part.st_mtime_ns) < _COARSE_NANOSECONDS:
                return None
            found += [part.st_ino, part.st_size, part.st_mtime_ns]
        return tuple(found)

    def replace_damaged(self, whole: Path) -> Path:
        """Put a whole file in the place of a damaged one, which is kept with its log; no connection may be open here.

        The last step is one rename: until then the damaged journal stands.
        """
        kept = self.path.with_name(f"{self.path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        try:
            kept.hardlink_to(self.path)
        except OSError:  # a file system without hard links
            self.path.rename(kept)
        for suffix in ("-wal", "-shm"):
            part = self.path.with_name(self.path.name + suffix)
            if part.exists():
                part.rename(kept.with_name(kept.name + suffix))
        whole.replace(self.path)
        sync_directory(self.data_dir)
        self._is_ready = False
        return kept

    def make(self) -> None:
        """Make the directory and an empty file, if there is none."""
        if self.path.exists():
            return
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Readable by its owner only, as are the files SQLite puts beside it.
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            sync_directory(self.data_dir)
        except OSError as error:
            raise ConfigurationError(
                f"The data directory {self.data_dir} cannot be written ({error.strerror}). "
                "Nothing was stored. Choose another with --data-dir."
            ) from error

    def _has_write_ahead_log(self) -> bool:
        """The last connection removes the log: one that is left means a crash, or another process at work."""
        log = self.path.with_name(self.path.name + "-wal")
        return log.exists() and log.stat().st_size > 0


class Connection:
    """Runs functions on one connection in one thread; opened by the first call, and again if the file was replaced."""

    def __init__(self, file: JournalFile, synchronous: Literal["FULL", "NORMAL"]) -> None:
        self._file = file
        self._synchronous = synchronous
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"journal-{synchronous.lower()}")
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._is_closed = False

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What ``work`` returns. Raises PkmErrors in place of SQLite's."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    async def disconnect(self) -> None:
        """Close the connection; the next call opens it again."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)

    async def close(self) -> None:
        """Close for good; harmless when repeated."""
        if self._is_closed:
            return
        self._is_closed = True
        await self.disconnect()
        self._thread.shutdown(wait=False)

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with plain_errors(self._file):
            if self._connection is not None and self._inode != self._file.inode():
                self._disconnect()  # restore set a damaged file aside: what is written there would be lost
            if self._connection is None:
                self._connection = self._file.open(self._synchronous)
                self._inode = self._file.inode()
            return work(self._connection)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def connect(path: Path) -> sqlite3.Connection:
    """A connection with the pragmas every one of them needs; transactions are begun explicitly."""
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def check(connection: sqlite3.Connection, *, thorough: bool = False) -> None:
    """Raise DamagedStore if the structure of the file is broken."""
    answer = connection.execute("PRAGMA integrity_check(1)" if thorough else "PRAGMA quick_check(1)").fetchone()
    if answer[0] != "ok":
        raise sqlite3.DatabaseError("structure check failed")


class Look:
    """Looks through the file now and then, on a connection of its own."""

    def __init__(self, file: JournalFile) -> None:
        self._file = file
        self._inode = 0
        self._again_at = 0.0
        self.found: str | None = None
        """What the last look found broken."""

    def look(self) -> str | None:
        """What is broken. A file beyond ``_LOOKED_THROUGH`` is left to ``doctor``, as that takes too long here."""
        inode = self._file.inode()
        if inode == self._inode and time.monotonic() < self._again_at:
            return self.found
        try:
            with plain_errors(self._file), contextlib.closing(self._file.open("NORMAL")) as connection:
                if self._file.path.stat().st_size <= _LOOKED_THROUGH:
                    check(connection)
            self.found = None
        except DamagedStore as error:
            self.found = error.message
        self._inode, self._again_at = self._file.inode(), time.monotonic() + _LOOK_AGAIN_SECONDS
        return self.found


@contextlib.contextmanager
def plain_errors(file: JournalFile) -> Iterator[None]:
    """Turn SQLite's errors into ours; mistakes in our SQL stay what they are."""
    try:
        yield
    except sqlite3.Error as error:
        ours = _in_plain_words(error, file)
        if ours is None:
            raise
        raise ours from error


def _in_plain_words(error: sqlite3.Error, file: JournalFile) -> PkmError | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Raised by check(), or by Python on text that is not UTF-8: both mean damage, if they are about data.
        return damaged(file) if type(error) in {sqlite3.DatabaseError, sqlite3.OperationalError} else None
    primary = code & _PRIMARY
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return damaged(file)
    kind, text = _PLAIN.get(primary, (None, ""))
    return kind(text.format(data_dir=file.data_dir, seconds=_BUSY_SECONDS)) if kind else None


def is_about_the_disk(error: sqlite3.Error) -> bool:
    """Whether it says nothing about the content of a file: the disk is full or failing, or a file is locked."""
    return (getattr(error, "sqlite_errorcode", 0) & _PRIMARY) in _PLAIN


def damaged(file: JournalFile) -> DamagedStore:
    """What to say about a damaged journal."""
    return DamagedStore(
        f"The journal {file.path} is damaged. It was left as it is; a write is acknowledged only if it still takes it "
        "and gives it back. The graph holds what was written to it. "
        "`graphiti-pkm restore BACKUP --replace` puts a backup in its "
        "place, saves whatever of the damaged journal is newer and readable, and keeps the damaged file beside it."
    )


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to WAL; several processes that make the file at once get past the busy timeout here."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
