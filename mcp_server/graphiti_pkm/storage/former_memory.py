"""A memory of version 0.1, whose graph an embedded FalkorDB kept: the first start brings it into the SQLite file.

That version's journal holds every write in full, so the graph is built from it. What it wrote is kept in a directory of
its own, until something is forgotten or its owner removes it.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from graphiti_pkm.core.ports.group_locks import GroupLocks
from graphiti_pkm.core.ports.ports import Journal
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import MAX_REFUSALS
from graphiti_pkm.storage.graph.locks.flock import EXCLUSIVE, open_lock, try_lock
from graphiti_pkm.storage.journal.connection import JOURNAL, MEMORY, connect
from graphiti_pkm.storage.journal.partial import sync_directory
from graphiti_pkm.storage.journal.redaction import FORMER
from graphiti_pkm.storage.journal.server_id import SERVER_ID
from graphiti_pkm.storage.rebuilding import Rebuilding

_log = logging.getLogger(__name__)

_GRAPH = "appendonlydir"
_OTHERS = ("appendonly*", "aof-repair-*.json", "database.json", "database.log*", "*.lock")
"""Besides its journal: the graph, repairs, process, log and locks."""
_USERS = "users.lock"
"""Every process of that version holds it."""
_PROGRESS_SECONDS = 5.0


def is_former(data_dir: Path) -> bool:
    """Whether the directory holds such a memory, not yet brought over. A journal of servers on Neo4j is none."""
    return all((data_dir / name).exists() for name in (JOURNAL, _GRAPH)) and not (data_dir / SERVER_ID).exists()


def kept_bytes(data_dir: Path) -> int | None:
    """The size of what was kept of it; None if there is nothing."""
    kept = data_dir / FORMER
    return sum(part.stat().st_size for part in kept.rglob("*") if part.is_file()) if kept.is_dir() else None


def must_fit(settings: Settings) -> None:
    """Refuse to start an empty memory beside the journal of another kind of database.

    Raises:
        ConfigurationError: says how to go on.
    """
    data_dir, is_embedded = settings.data_dir, settings.effective_backend == "embedded"
    ours, theirs = (MEMORY, JOURNAL) if is_embedded else (JOURNAL, MEMORY)
    if (data_dir / ours).exists() or not (data_dir / theirs).exists() or (is_embedded and is_former(data_dir)):
        return
    if is_embedded:
        raise ConfigurationError(
            f"{data_dir} holds the journal of a memory on a database server, and no server is configured. Set "
            "neo4j_uri; or, to keep that memory in one file here from now on, run "
            f"`graphiti-pkm restore {data_dir / JOURNAL} --data-dir {data_dir}` once. Nothing was changed."
        )
    raise ConfigurationError(
        f"{data_dir} holds an embedded memory, and Neo4j is configured. To bring that memory to Neo4j, run "
        f"`graphiti-pkm restore {data_dir / MEMORY} --data-dir {data_dir}` once; to leave it where it is, set another "
        "--data-dir. Nothing was changed."
    )


async def convert(data_dir: Path, journal: Journal, rebuilding: Rebuilding, locks: GroupLocks) -> None:
    """Bring a former memory over, if there is one; continues if it was interrupted.

    Raises:
        ConfigurationError: version 0.1 was used here again after the memory was brought over.
        Unavailable: a server of version 0.1 is running here, or this does not succeed now.
        DamagedStore: its journal is damaged.
    """
    if not is_former(data_dir):
        if (data_dir / FORMER).is_dir() and (data_dir / _GRAPH).exists():
            await asyncio.to_thread(_set_aside, data_dir)  # a start was killed while it did that
        return
    if (data_dir / FORMER / JOURNAL).exists():
        raise ConfigurationError(
            f"Version 0.1 of graphiti-pkm was used in {data_dir} after its memory had been brought to {MEMORY}. What "
            f"it stored then is in {JOURNAL} there, and not in this memory. Nothing was changed. Move {JOURNAL} and "
            f"{_GRAPH} to a directory of their own, and start with that one as --data-dir to see them."
        )
    with contextlib.ExitStack() as stack:
        async with locks.hold_all():
            if is_former(data_dir) and not await journal.rows(0, 1):
                stack.enter_context(_alone(data_dir))
                _log.warning("bringing the memory of version 0.1 in %s into %s", data_dir, MEMORY)
                await asyncio.to_thread(_empty_log, data_dir / JOURNAL)
                await journal.restore(data_dir / JOURNAL, drops_unknown=True, command="conversion")
        await _build(rebuilding)
        async with locks.hold_all():
            if is_former(data_dir):
                await asyncio.to_thread(_set_aside, data_dir)
                _log.warning("done; what version 0.1 wrote is kept in %s", data_dir / FORMER)


async def _build(rebuilding: Rebuilding) -> None:
    """Build the graph; a write that is refused repeatedly is set aside and shown by get_status."""
    shown_at = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal shown_at
        if time.monotonic() - shown_at > _PROGRESS_SECONDS:
            shown_at = time.monotonic()
            _log.warning("%d of %d writes brought over", done, total)

    for attempts_left in reversed(range(MAX_REFUSALS)):
        try:
            await rebuilding.finish(show)
        except Unavailable:
            if not attempts_left:
                raise
        else:
            return


@contextlib.contextmanager
def _alone(data_dir: Path) -> Iterator[None]:
    """Keep servers of that version away. Raises Unavailable if one is running."""
    users = open_lock(data_dir / _USERS)
    try:
        if not try_lock(users, EXCLUSIVE):
            raise Unavailable(
                f"A server of version 0.1 is still running on {data_dir}. Nothing was changed. End it (close the "
                "programs that use it), then start again: this version brings the memory over first."
            )
        yield
    finally:
        os.close(users)


def _empty_log(journal: Path) -> None:
    """Put the write-ahead log into the file: its last process may have been killed."""
    with contextlib.closing(connect(journal)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _set_aside(data_dir: Path) -> None:
    """The journal first: without it there is nothing left to convert."""
    kept = data_dir / FORMER
    kept.mkdir(mode=0o700, exist_ok=True)
    for pattern in (f"{JOURNAL}*", *_OTHERS):
        for path in sorted(data_dir.glob(pattern)):
            shutil.move(path, kept / path.name)
    sync_directory(data_dir)
