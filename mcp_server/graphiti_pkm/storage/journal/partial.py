"""Handles files in the making: never mistaken for finished ones, and removable if their process was killed.

A partial file is locked as long as its process lives, so ``sweep`` never removes one that is still being written.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

if sys.platform != "win32":  # importable there, so that preflight can say that the platform is not supported
    import fcntl

_SUFFIX = ".partial"
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


def publish(finished: Path, path: Path) -> bool:
    """Give a finished file its name, never replacing another; False if there is one by now."""
    try:
        path.hardlink_to(finished)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if path.exists():
            return False
        finished.rename(path)
    return True


def sweep(directory: Path) -> int:
    """Remove partial files whose process ended; returns how many."""
    removed = 0
    for path in directory.glob(f".*{_SUFFIX}"):
        try:
            lock = os.open(path, os.O_RDWR)
        except OSError:  # removed meanwhile, or not ours
            continue
        try:
            if _is_locked_now(lock):
                _remove(path)
                removed += 1
        finally:
            os.close(lock)
    for companion in _COMPANIONS:
        for path in directory.glob(f".*{_SUFFIX}{companion}"):
            if not path.with_name(path.name.removesuffix(companion)).exists():
                path.unlink(missing_ok=True)
    return removed


def sweep_all(directory: Path) -> bool:
    """As ``sweep``; returns whether one is left that a running process still writes."""
    sweep(directory)
    return any(directory.glob(f".*{_SUFFIX}"))


def sync_directory(directory: Path) -> None:
    """Sync a directory: returns once its entries are on disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _made(directory: Path, name: str) -> tuple[Path, int]:
    while True:
        path = directory / f".{name}.{os.getpid()}-{uuid4().hex[:8]}{_SUFFIX}"
        lock = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        if _is_locked_now(lock) and path.exists():  # otherwise a sweep removed it before it was locked
            return path, lock
        os.close(lock)


def _is_locked_now(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    for companion in ("", *_COMPANIONS):
        path.with_name(path.name + companion).unlink(missing_ok=True)
