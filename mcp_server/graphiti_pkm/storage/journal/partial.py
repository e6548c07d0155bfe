"""Handles files in the making: never mistaken for finished ones, and removable if their process was killed.

A partial file is locked as long as its process lives, so ``sweep`` never removes one that is still being written.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from graphiti_pkm.core.operating_system import open_lock, try_lock

_SUFFIX = ".partial"
_NAME = re.compile(r"\..+\.[0-9]+-[0-9a-f]{8}\.partial")
"""What ``partial`` names a file; former versions gave other names, in the data directory only."""
_COMPANIONS = ("-journal", "-wal", "-shm")
"""Suffixes of the files that SQLite creates beside a file while it writes."""


@contextlib.contextmanager
def partial(directory: Path, name: str) -> Iterator[Path]:
    """An empty, locked file ``.NAME.….partial``, readable by its owner only; removed at the end, unless renamed.

    Close every SQLite connection to it before the end: closing the lock's descriptor would end their locks.
    """
    path, lock = _made(directory, name)
    try:
        yield path
    finally:
        _remove(path)
        os.close(lock)


def sweep(directory: Path, *, is_shared: bool = False) -> int:
    """Remove partial files whose process ended; returns how many.

    ``is_shared``: other programs may keep unfinished files there; only names that ``partial`` gives are looked at.
    """
    removed = 0
    for path in _unfinished(directory, is_shared=is_shared):
        try:
            lock = open_lock(path, 0)
        except OSError:  # removed meanwhile, or not ours
            continue
        try:
            if _locked(lock):
                _remove(path)
                removed += 1
        finally:
            os.close(lock)
    for companion in _COMPANIONS:
        for path in _unfinished(directory, companion, is_shared=is_shared):
            if not path.with_name(path.name.removesuffix(companion)).exists():
                path.unlink(missing_ok=True)
    return removed


def sweep_all(directory: Path) -> bool:
    """As ``sweep``; returns whether one is left that a running process still writes."""
    sweep(directory)
    return bool(_unfinished(directory))


def _unfinished(directory: Path, companion: str = "", *, is_shared: bool = False) -> list[Path]:
    found = directory.glob(f".*{_SUFFIX}{companion}")
    return [path for path in found if not is_shared or _NAME.fullmatch(path.name.removesuffix(companion))]


def remove_temporary_files(directory: Path) -> None:
    """Remove SQLite's own, which have a name only on Windows and stay there after a power loss."""
    for path in directory.glob("etilqs_*"):
        with contextlib.suppress(OSError):  # in use: removed when it is closed
            path.unlink()


def _made(directory: Path, name: str) -> tuple[Path, int]:
    while True:
        path = directory / f".{name}.{os.getpid()}-{uuid4().hex[:8]}{_SUFFIX}"
        lock = open_lock(path, os.O_CREAT | os.O_EXCL)
        if _locked(lock) and path.exists():  # otherwise a sweep removed it before it was locked
            return path, lock
        os.close(lock)


def _locked(descriptor: int) -> bool:
    try:
        return try_lock(descriptor, "exclusive")
    except OSError:
        return False


def _remove(path: Path) -> None:
    for companion in ("", *_COMPANIONS):
        path.with_name(path.name + companion).unlink(missing_ok=True)
