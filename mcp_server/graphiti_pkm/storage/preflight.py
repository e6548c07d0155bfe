"""What a memory needs of its data directory and of Python's SQLite, checked before a start and by ``doctor``."""

import logging
import os
import shutil
import sqlite3
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from graphiti_pkm.core.operating_system import HAS_FILE_MODES, command_line, network_file_system, try_lock
from graphiti_pkm.errors import ConfigurationError, UnsupportedPlatform

_log = logging.getLogger(__name__)

DIRECTORY_REMEDY = "make it writable for this user, or choose another with --data-dir"
MIN_FREE_BYTES = 100 * 1024 * 1024
OLDEST_SQLITE = (3, 37)
"""The first with STRICT tables."""


@dataclass(frozen=True)
class Check:
    """One line of ``doctor``."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    """What to do; empty if ok."""
    stops: bool = True
    """Whether a failure keeps the memory from starting at all."""


def preflight(data_dir: Path) -> list[Check]:
    """Everything ``doctor`` says about this machine; changes nothing."""
    return [
        sqlite_check(),
        directory_check(data_dir),
        access_check(data_dir),
        file_system_check(network_file_system(data_dir)),
        space_check(free_bytes(data_dir)),
    ]


def require(data_dir: Path) -> None:
    """Create the data directory, and check what is quick to check, before each start.

    Raises:
        UnsupportedPlatform: Python's SQLite is too old.
        ConfigurationError: the data directory cannot be used.
    """
    library = sqlite_check()
    if not library.ok:
        raise UnsupportedPlatform(f"The memory cannot be opened here: {library.detail}. To do: {library.remedy}.")
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        making = None
    except OSError as error:
        making = Check("data directory", ok=False, detail=f"{data_dir}: {error.strerror}", remedy=DIRECTORY_REMEDY)
    found = directory_check(data_dir)  # knows better why not, except that some file systems refuse even root
    directory = making if making and found.ok else found
    if not directory.ok:
        raise ConfigurationError(f"The data directory cannot be used: {directory.detail}. To do: {directory.remedy}.")
    for check in (access_check(data_dir), file_system_check(network_file_system(data_dir))):
        if not check.ok:
            _log.warning("%s. To do: %s.", check.detail, check.remedy)


def sqlite_check(version: str = sqlite3.sqlite_version) -> Check:
    """Whether Python's SQLite is recent enough and has full-text search."""
    numbers = tuple(map(int, version.split(".")[:2]))
    remedy = "use a Python with a newer SQLite, such as those of uv or python.org"
    if numbers < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        return Check("SQLite", ok=False, detail=f"SQLite {version} is older than {oldest}", remedy=remedy)
    if not _has_full_text():
        return Check("SQLite", ok=False, detail=f"SQLite {version} was built without FTS5", remedy=remedy)
    return Check("SQLite", ok=True, detail=f"version {version}, with full-text search")


def _has_full_text() -> bool:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


def directory_check(data_dir: Path) -> Check:
    """Whether files can be made and locked there, or the directory itself can be made."""
    name, remedy = "data directory", DIRECTORY_REMEDY
    if not data_dir.exists():
        parent = next(above for above in data_dir.absolute().parents if above.exists())
        ok = parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)
        return Check(name, ok, f"{data_dir} " + ("will be made" if ok else "cannot be made"), "" if ok else remedy)
    if not data_dir.is_dir():
        return Check(name, ok=False, detail=f"{data_dir} is not a directory", remedy=remedy)
    try:
        _write_and_lock(data_dir)
    except OSError as error:
        return Check(name, ok=False, detail=f"{data_dir}: {error.strerror}", remedy=remedy)
    return Check(name, ok=True, detail=str(data_dir))


def access_check(data_dir: Path) -> Check:
    """Whether nobody but its owner may put files there: whoever may can replace the journal, the tokens or both."""
    name = "directory access"
    if not HAS_FILE_MODES:
        return Check(name, ok=True, detail="not checked: access control lists say who may write there")
    try:
        mode = data_dir.stat().st_mode
    except OSError:
        mode = 0  # not there yet, or out of reach: directory_check says so
    who = "any user of this machine" if mode & stat.S_IWOTH else "its group" if mode & stat.S_IWGRP else None
    if who is None:
        return Check(name, ok=True, detail="nobody but its owner may write to the data directory")
    detail = f"{who} may write to the data directory {data_dir}, and so replace what is kept there"
    return Check(name, ok=False, detail=detail, remedy=command_line(("chmod", "go-w", str(data_dir))), stops=False)


def file_system_check(network: str) -> Check:
    """Whether the files are on this machine. ``network``: the kind of the network file system that holds them."""
    name = "file system"
    if not network:
        return Check(name, ok=True, detail="the data directory is on this machine")
    detail = (
        f"the data directory is on a network file system ({network}), where SQLite can lose or damage what it stores"
    )
    remedy = "choose a directory on a disk of this machine with --data-dir; backups may go to the network"
    return Check(name, ok=False, detail=detail, remedy=remedy, stops=False)


def _write_and_lock(directory: Path) -> None:
    """Raises OSError on a read-only or foreign directory, and on a file system without locks."""
    with tempfile.TemporaryFile(dir=directory) as file:
        try_lock(file.fileno(), "exclusive")


def free_bytes(data_dir: Path) -> int:
    """Free space of the file system that holds the directory or would hold it."""
    there = next(path for path in (data_dir.absolute(), *data_dir.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


def space_check(free: int) -> Check:
    """Whether there is room to write; with less the memory can still be read."""
    ok = free >= MIN_FREE_BYTES
    remedy = "" if ok else "free some space on this disk, or choose another with --data-dir"
    return Check("disk space", ok, f"{free // (1024 * 1024)} MiB free", remedy, stops=False)
