"""A snapshot in a file: the writes of one group with their vectors, in order, with a checksum over all of it.

It is a SQLite file whatever database the memory has, so that it moves between them.
"""

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from graphiti_pkm.core.model.records import Vectors, WriteIntent
from graphiti_pkm.core.model.snapshots import SnapshotHeader
from graphiti_pkm.core.operating_system import publish, replace, sync_directory, sync_file
from graphiti_pkm.errors import DamagedStore, InvalidInput, NewerSchema, Unavailable
from graphiti_pkm.storage.journal.connection import is_about_the_disk
from graphiti_pkm.storage.journal.copies import read_only
from graphiti_pkm.storage.journal.partial import partial, sweep
from graphiti_pkm.storage.journal.rows import Row, decode, encode

FORMAT = 1
"""Of the file; raised when a write holds what this version does not know."""
_APPLICATION_ID = 0x504B4D53
"""Marks the file as ours: "PKMS"."""
_DIRECTORY = "snapshots"
_SUFFIX = ".snapshot"
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHOWN = 60
_TABLES = (
    """
    CREATE TABLE header (
        only INTEGER PRIMARY KEY CHECK (only = 1), content TEXT NOT NULL, redacted_until TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE writes (
        place INTEGER PRIMARY KEY,
        intent TEXT NOT NULL,
        vector_uuids TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        vectors BLOB NOT NULL
    )
    """,
)
_COLUMNS = "place, intent, vector_uuids, dimension, vectors"
_UNREADABLE = (sqlite3.DatabaseError, ValidationError, ValueError, TypeError)


def snapshot_path(data_dir: Path, group_id: str, tag: str) -> Path:
    """Where the snapshot of a stored group with this tag lies. Raises InvalidInput for what is no tag."""
    if not _TAG.fullmatch(tag):
        raise InvalidInput(
            f"{tag[:_SHOWN]!a} is not a tag: use 1 to 64 letters, digits, '.', '-' or '_', for example 'before-import'."
        )
    return data_dir / _DIRECTORY / group_id / f"{tag}{_SUFFIX}"


def snapshots_in(data_dir: Path, group_id: str = "*") -> list[Path]:
    """The snapshots of a group, or of all, the oldest tag first by name."""
    return sorted((data_dir / _DIRECTORY).glob(f"{group_id}/*{_SUFFIX}"))


def snapshot_directories(data_dir: Path, group_id: str = "*") -> list[Path]:
    """The directories of groups that have, or had, snapshots."""
    return sorted((data_dir / _DIRECTORY).glob(group_id))


class SnapshotWriter:
    """A snapshot in the making; nothing has its name before it is whole."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"application_id = {_APPLICATION_ID}"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.execute("BEGIN")
        for table in _TABLES:
            self._connection.execute(table)
        self._checksum = hashlib.sha256()
        self.writes = 0

    def add(self, intent: WriteIntent, vectors: Vectors) -> None:
        """Add the next write."""
        self.writes += 1
        row = encode(intent, vectors, {})
        columns = (row.intent, row.vector_uuids, row.dimension, row.vectors)
        self._connection.execute("INSERT INTO writes VALUES (?, ?, ?, ?, ?)", (self.writes, *columns))
        _digest(self._checksum, columns)

    def finish(self, header: SnapshotHeader, redacted_until: datetime) -> SnapshotHeader:
        """Write what the snapshot says of itself; returns it with count and checksum.

        ``redacted_until``: the time of the last write whose forgettings are applied.
        """
        header = header.model_copy(update={"writes": self.writes, "checksum": ""})
        self._checksum.update(header.model_dump_json().encode())
        header = header.model_copy(update={"checksum": self._checksum.hexdigest()})
        self._connection.execute(
            "INSERT INTO header VALUES (1, ?, ?)", (header.model_dump_json(), redacted_until.isoformat())
        )
        self._connection.execute("COMMIT")
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")
        return header

    def close(self) -> None:
        self._connection.close()


@contextlib.contextmanager
def writing(path: Path, *, replaces: bool = False, is_temporary: bool = False) -> Iterator[SnapshotWriter]:
    """Write a snapshot; it gets its name at the end, if nothing failed.

    ``is_temporary``: the path is one of ``temporary``, which exists already.

    Raises:
        InvalidInput: there is one of that name, and ``replaces`` is not given; nothing was written.
        Unavailable: the directory is read-only or its disk full; nothing is left behind.
    """
    if path.exists() and not replaces and not is_temporary:
        raise _taken(path)
    try:
        if is_temporary:
            with contextlib.closing(SnapshotWriter(path)) as writer:
                yield writer
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep(path.parent, is_shared=True)
        with partial(path.parent, path.name) as file:
            with contextlib.closing(SnapshotWriter(file)) as writer:
                yield writer
            sync_file(file)
            if replaces:
                replace(file, path)
            else:
                publish(file, path)
            sync_directory(path.parent)
    except FileExistsError:
        raise _taken(path) from None
    except (OSError, sqlite3.OperationalError) as error:
        raise Unavailable(
            f"The snapshot {path.name} could not be written (directory read-only, or disk full). Nothing was left "
            "behind; the memory is unchanged."
        ) from error


@contextlib.contextmanager
def temporary(data_dir: Path, group_id: str) -> Iterator[Path]:
    """A file for a snapshot that is gone in the end; one of a killed process is removed by the next of its group."""
    directory = data_dir / _DIRECTORY / group_id
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep(directory, is_shared=True)
    with partial(directory, "temporary") as path:
        yield path


def program() -> str:
    """The version of this program, for headers."""
    return version("graphiti-pkm")


def header_of(path: Path) -> SnapshotHeader:
    """What a snapshot says of itself. Raises as ``verified``, but looks at no write."""
    with _opened(path) as connection:
        return _header(connection)


def redacted_until(path: Path) -> datetime:
    """The time of the last write whose forgettings are applied."""
    with _opened(path) as connection:
        return datetime.fromisoformat(connection.execute("SELECT redacted_until FROM header").fetchone()[0])


def mark_redacted(path: Path, until: datetime) -> None:
    """Note that the forgettings until then concern nothing in it; the checksum does not cover that."""
    try:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("UPDATE header SET redacted_until = ?", (until.isoformat(),))
    except sqlite3.Error as error:
        raise Unavailable(f"The snapshot {path.name} cannot be written now.") from error


def verified(path: Path) -> SnapshotHeader:
    """Check a snapshot from its first to its last byte.

    Raises:
        InvalidInput: there is no such file, or it is no snapshot.
        DamagedStore: it is not what was written, for instance cut.
        NewerSchema: a newer version wrote it.
    """
    with _opened(path) as connection:
        header = _header(connection)
        checksum, writes = hashlib.sha256(), 0
        for place, *columns in connection.execute(f"SELECT {_COLUMNS} FROM writes ORDER BY place"):  # noqa: S608 ours
            writes += 1
            if place != writes:
                raise ValueError("a write is missing")
            _digest(checksum, columns)
        checksum.update(header.model_copy(update={"checksum": ""}).model_dump_json().encode())
        if (writes, checksum.hexdigest()) != (header.writes, header.checksum):
            raise ValueError("the checksum is another one")
        return header


def rows_after(path: Path, place: int, limit: int) -> Sequence[Row]:
    """The next writes; ``seq`` is the place of each. Raises as ``verified``."""
    with _opened(path) as connection:
        found = connection.execute(
            f"SELECT {_COLUMNS} FROM writes WHERE place > ? ORDER BY place LIMIT ?",  # noqa: S608 our own names
            (place, limit),
        )
        return [decode(*columns) for columns in found]


def texts_after(path: Path, place: int, limit: int) -> list[tuple[int, str]]:
    """Place and JSON of the next writes, without vectors."""
    with _opened(path) as connection:
        return connection.execute(
            "SELECT place, intent FROM writes WHERE place > ? ORDER BY place LIMIT ?", (place, limit)
        ).fetchall()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise InvalidInput(f"There is no snapshot {path.name.removesuffix(_SUFFIX)}. Nothing was changed.")
    try:
        with contextlib.closing(sqlite3.connect(read_only(path.absolute()), uri=True)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
                raise InvalidInput(f"{path.name} is no snapshot of a group. Nothing was changed.")
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found > FORMAT:
                raise NewerSchema(
                    f"The snapshot {path.name} has format {found}, this version of graphiti-pkm knows {FORMAT}: "
                    "install the version that wrote it. Nothing was changed."
                )
            yield connection
    except _UNREADABLE as error:
        if isinstance(error, sqlite3.Error) and is_about_the_disk(error):
            raise Unavailable(f"The snapshot {path.name} cannot be read now. Nothing was changed.") from error
        raise DamagedStore(
            f"The snapshot {path.name} is damaged, or was cut or changed since it was written. Nothing was changed."
        ) from error


def _header(connection: sqlite3.Connection) -> SnapshotHeader:
    return SnapshotHeader.model_validate_json(connection.execute("SELECT content FROM header").fetchone()[0])


def _digest(checksum: "hashlib._Hash", columns: Sequence[object]) -> None:
    """Lengths too, so that no two series of columns give the same bytes."""
    for column in columns:
        data = column if isinstance(column, bytes) else str(column).encode()
        checksum.update(len(data).to_bytes(8, "big"))
        checksum.update(data)


def _taken(path: Path) -> InvalidInput:
    return InvalidInput(
        f"There is a snapshot {path.name.removesuffix(_SUFFIX)} already; it was not overwritten. Choose another tag."
    )
