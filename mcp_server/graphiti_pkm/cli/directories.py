"""Data directories: whether one holds a memory, and ones that are thrown away."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphiti_pkm.storage.graph.embedded import aof
from graphiti_pkm.storage.graph.embedded.watchdog import OWNER_LOCK
from graphiti_pkm.storage.graph.locks.flock import EXCLUSIVE, open_lock, try_lock
from graphiti_pkm.storage.journal.store import SqliteJournal

_DATABASE_ENDS_SECONDS = 10.0


def holds_memory(data_dir: Path) -> bool:
    """Whether anything was ever kept there. Raises OSError if that cannot be told."""
    return has_journal(data_dir) or _is_there(data_dir / aof.DIRECTORY)


def has_journal(data_dir: Path) -> bool:
    """Whether every write is there. Raises OSError if that cannot be told."""
    return _is_there(SqliteJournal(data_dir).path)


def no_memory(data_dir: Path) -> str:
    """What to tell, and to do: a mistyped directory must not become an empty memory, nor an empty backup."""
    return (
        f"There is no memory in {data_dir}. Name its directory with --data-dir; "
        "a first `graphiti-pkm serve` makes a new one there."
    )


@contextmanager
def throw_away(prefix: str) -> Iterator[Path]:
    """A directory for a memory in ``data`` that nobody wants to keep."""
    directory = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        yield directory
    finally:
        remove(directory)


def remove(directory: Path) -> None:
    """Wait until the database has left ``data`` in the directory, so that nothing of it remains, then remove all."""
    if (directory / "data").is_dir():
        owner = open_lock(directory / "data" / OWNER_LOCK)
        deadline = time.monotonic() + _DATABASE_ENDS_SECONDS
        while not try_lock(owner, EXCLUSIVE) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.close(owner)
    shutil.rmtree(directory, ignore_errors=True)


def _is_there(path: Path) -> bool:
    """``Path.exists``, which from one Python to the next hides more of what went wrong."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
