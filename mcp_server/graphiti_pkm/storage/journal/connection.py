"""A SQLite connection to the journal with its own thread, and plain error messages."""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from graphiti_pkm.core.operating_system import TIMES_SHOW_WRITES, is_pinned, publish, replace, sync_directory, sync_path
from graphiti_pkm.core.threads import Threads
from graphiti_pkm.errors import ConfigurationError, DamagedStore, PkmError, Unavailable
from graphiti_pkm.storage.journal.partial import partial, remove_temporary_files, sweep
from graphiti_pkm.storage.journal.schema import MIGRATIONS, Migration, migrate

T = TypeVar("T")

_BUSY_SECONDS, _STILL_BUSY_SECONDS = 8.0, 0.5
"""How long a call waits for another process's write, and how long once one has waited in vain."""
_CHECKED_AT_OPEN = 64 * 2**20
"""In bytes; checking more after an unclean end would delay the first call, so ``doctor`` does it."""

_LOOKED_THROUGH = 512 * 2**20
_LOOK_AGAIN_SECONDS = 600.0
_WRITTEN_KIBIBYTES = 16_000
"""Of pages that a connection keeps which writes to the graph as well."""
_COARSE_NANOSECONDS = 50_000_000
"""Two changes of a file within this time may have the same timestamp."""

_PRIMARY = 0xFF
"""SQLite's extended error codes contain the primary one in their low byte."""


JOURNAL = "journal.sqlite3"
MEMORY = "memory.sqlite3"

FULL = "The disk of the data directory {data_dir} is full. Free some space, then try again."
FAILING = (
    "The journal in {data_dir} could not be read or written: the disk is full or failing. "
    "Check the disk, then try again."
)
_FULL = (Unavailable, FULL)
_FAILING = (Unavailable, FAILING)
SILENT = (
    "The journal in {data_dir} takes no write now: another process keeps it locked, or the disk is full or failing. "
    "End a process that stands still, or check the disk, then try again."
)
_LOCKED = (
    Unavailable,
    (
        "Another process has kept the journal in {data_dir} locked for seconds. Try again; if that does not help, end "
        "the process that stands still."
    ),
)
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
    """The journal file: created, checked and migrated by the first connection."""

    def __init__(
        self,
        data_dir: Path,
        migrations: Sequence[Migration] = MIGRATIONS,
        name: str = JOURNAL,
        *,
        owns_directory: bool = True,
    ) -> None:
        """``name``: of the file; ``MEMORY`` where it holds the graph as well.

        ``owns_directory``: False where others have files in it, of which none may be swept away.
        """
        self.data_dir = data_dir
        self.path = data_dir / name
        self._log = self.path.with_name(f"{name}-wal")
        self._holds_graph = name == MEMORY
        self._migrations = migrations
        self._owns_directory = owns_directory
        self._opening = threading.RLock()
        self._ready_inode = self._log_inode = 0
        """Of the file that this process has opened, and of its write-ahead log."""

    def open(self, synchronous: Literal["FULL", "NORMAL"], *, any_thread: bool = False) -> sqlite3.Connection:
        """A new connection to a current, checked journal; ``any_thread``: another than this one may close it."""
        with self._opening:
            self.make()
            inode = self.inode()
            ended_badly = self._ready_inode != inode and self._has_write_ahead_log()
            connection = connect(self.path, any_thread=any_thread)
            try:
                if self._owns_directory:
                    _keep_temporary_files(connection, self.data_dir)
                use_write_ahead_log(connection, _BUSY_SECONDS)
                connection.execute(f"PRAGMA synchronous = {synchronous}")
                if self._holds_graph and synchronous == "FULL":
                    # Pages of a large write that do not fit are written to the log and read back several times.
                    connection.execute(f"PRAGMA cache_size = -{_WRITTEN_KIBIBYTES}")
                    # What undoes a single statement would be written to a file, ten times as much as is stored.
                    connection.execute("PRAGMA temp_store = MEMORY")
                connection.execute("PRAGMA fullfsync = ON")  # macOS only: else the drive may keep it in its cache
                if ended_badly and self.path.stat().st_size <= _CHECKED_AT_OPEN:
                    check(connection)
                migrate(connection, self.path, self._migrations)
            except BaseException:
                connection.close()
                raise
            if not self._ready_inode and self._owns_directory:
                sweep(self.data_dir)
                remove_temporary_files(self.data_dir)
            self._ready_inode = inode
            self.inode()
            return connection

    def inode(self) -> int:
        """The file's inode; 0 if there is no file.

        Raises:
            DamagedStore: it was emptied: ``make`` makes none that is empty.
            Unavailable: another file was put in its place, whose pages would be mixed with those in the log.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return 0
        if self._holds_graph:
            self._require_own(found)
        return found.st_ino

    def _require_own(self, found: os.stat_result) -> None:
        if not found.st_size:
            raise damaged(self)
        try:
            inode = self._log.stat().st_ino
        except FileNotFoundError:
            inode = 0
        if self._ready_inode in {0, found.st_ino}:
            self._log_inode = inode
        elif inode and inode == self._log_inode:
            raise Unavailable(
                f"Another file was put in the place of {self.path.name} in {self.data_dir} while this server was "
                f"running. Nothing was stored. Put the former back; or, to use the other, end all servers of that "
                f"directory, remove {self._log.name}, which belongs to the former, and start again. `graphiti-pkm "
                "restore` does not need that."
            )

    def state(self) -> tuple[int, ...] | None:
        """A value that changes with every commit of any process; None if that cannot be told."""
        if not TIMES_SHOW_WRITES:
            return None
        found: list[int] = []
        for path in (self.path, self._log):
            try:
                part = path.stat()
            except FileNotFoundError:
                continue
            if abs(time.time_ns() - part.st_mtime_ns) < _COARSE_NANOSECONDS:
                return None
            found += [part.st_ino, part.st_size, part.st_mtime_ns]
        return tuple(found)

    def replace_damaged(self, whole: Path) -> Path:
        """Replace a damaged file, which is kept with its log; no connection may be open here.

        The last step is a single rename: until then the damaged journal stays in place.

        Raises:
            Unavailable: another process has it open, on Windows; nothing was changed.
        """
        if any(is_pinned(self.path.with_name(self.path.name + suffix)) for suffix in ("", "-wal", "-shm")):
            raise Unavailable(
                f"Another process has the journal in {self.data_dir} open. Nothing was changed. End the servers on it, "
                "then try again."
            )
        kept = self.path.with_name(f"{self.path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        try:
            kept.hardlink_to(self.path)
        except OSError:  # a file system without hard links
            self.path.rename(kept)
        for suffix in ("-wal", "-shm"):
            part = self.path.with_name(self.path.name + suffix)
            if part.exists():
                part.rename(kept.with_name(kept.name + suffix))
        replace(whole, self.path)
        sync_directory(self.data_dir)
        self._ready_inode = 0
        return kept

    def make(self) -> None:
        """Create the directory and a file without tables, if necessary.

        Raises:
            ConfigurationError: the directory cannot be written.
            Unavailable: the file is gone that this process has opened; an empty one would hide that.
        """
        with self._opening:
            if self.path.exists():
                return
            if self._ready_inode and self._holds_graph:
                raise Unavailable(
                    f"{self.path.name} was removed from {self.data_dir} while this server was running. Nothing was "
                    "stored. Put it back; or restart the server to begin an empty memory."
                )
            try:
                self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
                # Readable by its owner only, as are the files that SQLite creates beside it.
                with partial(self.data_dir, self.path.name) as new:
                    with contextlib.closing(sqlite3.connect(new)) as connection:
                        connection.execute("PRAGMA user_version = 0")  # which writes the header
                    with contextlib.suppress(FileExistsError):  # another process was quicker
                        publish(new, self.path)
                sync_path(self.data_dir)
            except (OSError, sqlite3.OperationalError) as error:
                reason = error.strerror if isinstance(error, OSError) else "the disk is full or failing"
                raise ConfigurationError(
                    f"The data directory {self.data_dir} cannot be written ({reason}). "
                    "Nothing was stored. Choose another with --data-dir."
                ) from error

    def _has_write_ahead_log(self) -> bool:
        """Whether there is a log. The last connection removes it: a log means a crash, or another process."""
        log = self.path.with_name(self.path.name + "-wal")
        return log.exists() and log.stat().st_size > 0


class Connection:
    """Runs functions on one connection in one thread; opens it when needed, and again if the file was replaced."""

    def __init__(self, file: JournalFile, synchronous: Literal["FULL", "NORMAL"]) -> None:
        self._file = file
        self._synchronous = synchronous
        self._thread = Threads(1, f"journal-{synchronous.lower()}")
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._is_closed = False
        self._found_locked = False
        """Whether the last call waited for another process in vain: then those behind it would wait in turn."""

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` and return its result. Raises PkmErrors instead of SQLite's errors."""
        return await self._thread.run(lambda: self._do(work))

    async def disconnect(self) -> None:
        """Close the connection; the next call opens it again."""
        await self._thread.run(self._disconnect)

    async def close(self) -> None:
        """Close for good; harmless when repeated."""
        if self._is_closed:
            return
        self._is_closed = True
        await self.disconnect()
        self._thread.close(wait=False)

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with plain_errors(self._file):
            if self._connection is not None and self._inode != self._file.inode():
                self._file.make()  # which refuses if the file is gone
                self._disconnect()  # restore set a damaged file aside: writes to it would be lost
            if self._connection is None:
                self._connection = self._file.open(self._synchronous)
                self._inode = self._file.inode()
            patience = _STILL_BUSY_SECONDS if self._found_locked else _BUSY_SECONDS
            self._connection.execute(f"PRAGMA busy_timeout = {int(1000 * patience)}")
            self._found_locked = False
            try:
                return work(self._connection)
            except sqlite3.OperationalError as error:
                self._found_locked = error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY
                raise

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def connect(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """A connection with all pragmas; transactions are begun explicitly."""
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=512, check_same_thread=not any_thread
    )
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


@contextlib.contextmanager
def large_statements(connection: sqlite3.Connection) -> Iterator[None]:
    """Within it, what undoes a statement is kept in a file: one that removes a group may touch every page."""
    (before,) = connection.execute("PRAGMA temp_store").fetchone()
    connection.execute("PRAGMA temp_store = FILE")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA temp_store = {int(before)}")


def check(connection: sqlite3.Connection, *, thorough: bool = False) -> None:
    """Raise DamagedStore if the structure of the file is broken."""
    answer = connection.execute("PRAGMA integrity_check(1)" if thorough else "PRAGMA quick_check(1)").fetchone()
    if answer[0] != "ok":
        raise sqlite3.DatabaseError("structure check failed")


class Look:
    """Checks the file periodically, on a connection of its own."""

    def __init__(self, file: JournalFile) -> None:
        self._file = file
        self._inode = 0
        self._again_at = 0.0
        self.found: str | None = None
        """The damage found by the last check."""

    def look(self) -> str | None:
        """Check the file and return the damage. Files beyond ``_LOOKED_THROUGH`` are left to ``doctor``."""
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
    """Turn SQLite's errors into ours; mistakes in our own SQL are not caught."""
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
        # Raised by check(), or by Python for text that is not UTF-8: both mean damaged data.
        return damaged(file) if type(error) in {sqlite3.DatabaseError, sqlite3.OperationalError} else None
    primary = code & _PRIMARY
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return damaged(file)
    kind, text = _PLAIN.get(primary, (None, ""))
    return kind(text.format(data_dir=file.data_dir)) if kind else None


def is_about_the_disk(error: sqlite3.Error) -> bool:
    """Whether the error is about the disk (full, failing, locked file), not about the content of the file."""
    return (getattr(error, "sqlite_errorcode", 0) & _PRIMARY) in _PLAIN


def damaged(file: JournalFile) -> DamagedStore:
    """The error for a damaged journal."""
    graph = "" if file.path.name == MEMORY else "The graph holds what was written to it. "
    return DamagedStore(
        f"The journal {file.path} is damaged. It was left as it is; a write is acknowledged only if it still takes it "
        f"and gives it back. {graph}"
        "`graphiti-pkm restore BACKUP --replace` puts a backup in its "
        "place, saves whatever of the damaged journal is newer and readable, and keeps the damaged file beside it."
    )


def _keep_temporary_files(connection: sqlite3.Connection, directory: Path) -> None:
    """Have SQLite make its temporary files in ``directory``, for the whole process, unless the environment says where.

    They hold what the memory holds; the system's directory for them may be on a disk that is not encrypted, or in
    memory. SQLite removes their names when it has opened them, on Windows when it closes them.
    """
    is_set = connection.execute("PRAGMA temp_store_directory").fetchone() is not None
    if is_set or "SQLITE_TMPDIR" in os.environ:  # set once: another thread may be reading it
        return
    quoted = str(directory.absolute()).replace("'", "''")
    with contextlib.suppress(sqlite3.OperationalError):  # a directory that cannot be written
        connection.execute(f"PRAGMA temp_store_directory = '{quoted}'")


def use_write_ahead_log(connection: sqlite3.Connection, wait_seconds: float) -> None:
    """Switch to WAL. SQLite itself does not wait for another process that does so, as when both create the file."""
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
