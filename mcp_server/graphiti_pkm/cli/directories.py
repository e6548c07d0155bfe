"""Data directories: whether one contains a memory, and temporary ones."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.embedded import aof
from graphiti_pkm.storage.graph.embedded.watchdog import OWNER_LOCK
from graphiti_pkm.storage.graph.locks.flock import EXCLUSIVE, open_lock, try_lock
from graphiti_pkm.storage.journal.opening import journal_file

_DATABASE_ENDS_SECONDS = 10.0


def holds_memory(settings: Settings) -> bool:
    """Whether the data directory contains a journal or a database. Raises OSError if it cannot be read."""
    return has_journal(settings) or _is_there(settings.data_dir / aof.DIRECTORY)


def has_journal(settings: Settings) -> bool:
    """Whether the data directory contains a journal. Raises OSError if it cannot be read."""
    return _is_there(journal_file(settings).path)


def no_memory(data_dir: Path) -> str:
    """The error for a directory without a memory; a mistyped one must not become an empty memory or backup."""
    return (
        f"There is no memory in {data_dir}. Use --data-dir to name another directory, "
        "or `graphiti-pkm serve` to create a memory there."
    )


@contextmanager
def throw_away(prefix: str) -> Iterator[Path]:
    """A temporary directory for a memory in ``data``."""
    directory = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        yield directory
    finally:
        remove(directory)


def remove(directory: Path) -> None:
    """Wait until the database of the memory in ``data`` has stopped, then remove the directory."""
    if (directory / "data").is_dir():
        owner = open_lock(directory / "data" / OWNER_LOCK)
        deadline = time.monotonic() + _DATABASE_ENDS_SECONDS
        while not try_lock(owner, EXCLUSIVE) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.close(owner)
    shutil.rmtree(directory, ignore_errors=True)


def _is_there(path: Path) -> bool:
    """Like ``Path.exists``, but other errors than a missing path are raised in every version of Python."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
