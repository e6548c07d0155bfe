"""Advisory file locks between processes; the kernel frees them when their holder dies."""

import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl

    EXCLUSIVE = fcntl.LOCK_EX
    SHARED = fcntl.LOCK_SH
else:  # importable, so that preflight can say that the platform is not supported
    EXCLUSIVE, SHARED = 2, 1


def open_lock(path: Path) -> int:
    """Open a lock file, created if necessary; closing the descriptor releases the lock.

    The descriptor is not inherited by programs we start, so that only we keep the lock alive.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def try_lock(fd: int, mode: int) -> bool:
    """Take the lock if it is free now."""
    try:
        fcntl.flock(fd, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(fd: int, mode: int) -> None:
    """Take the lock, blocking this thread until it is free."""
    fcntl.flock(fd, mode)


def unlock(fd: int) -> None:
    """Release the lock and keep the file open."""
    fcntl.flock(fd, fcntl.LOCK_UN)


def is_current(fd: int, path: Path) -> bool:
    """Whether the open file is still the one at ``path`` (not removed or replaced)."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(fd), there)
