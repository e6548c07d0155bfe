"""A memory of version 0.1, whose graph an embedded FalkorDB kept: the first start brings it into the SQLite file.

That version's journal holds every write in full, so the graph is built from it. What it wrote is kept in a directory of
its own, until something is forgotten or its owner removes it.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from graphiti_pkm.core.operating_system import Mode, command_line, open_lock, sync_directory, try_lock
from graphiti_pkm.core.ports.group_locks import GroupLocks
from graphiti_pkm.core.ports.ports import Journal
from graphiti_pkm.errors import ConfigurationError, DamagedStore, InvalidInput, Unavailable
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import MAX_REFUSALS
from graphiti_pkm.storage.journal.connection import JOURNAL, MEMORY, JournalFile, connect, plain_errors
from graphiti_pkm.storage.journal.redaction import FORMER
from graphiti_pkm.storage.journal.server_id import SERVER_ID
from graphiti_pkm.storage.rebuilding import Rebuilding

_log = logging.getLogger(__name__)

_GRAPH = "appendonlydir*"
"""Its graph, also as a repair left it."""
_WITH_WORDS = ("appendonly*", "temp-*.aof", "temp-*.rdb", "aof-repair-*", "database.log*")
"""What holds words besides its journal: the graph, unfinished rewrites, repairs and the log."""
_USERS, _OWNER = "users.lock", "owner.lock"
"""Every server of that version holds the first, its database the second."""
_OTHERS = ("database.json", "start.lock", _USERS, _OWNER)
_OTHERWISE = "To bring that memory to Neo4j, {}; to leave it where it is, set another --data-dir."
_PROGRESS_SECONDS = 5.0
_LOOK_AGAIN_SECONDS = 0.05
_SERVER_ENDS_SECONDS, _DATABASE_ENDS_SECONDS = 5.0, 60.0
"""Its database outlives its last server for half a minute."""


def is_former(data_dir: Path) -> bool:
    """Whether the directory holds such a memory, not yet brought over. A journal of servers on Neo4j is none."""
    has_both = (data_dir / JOURNAL).exists() and any(data_dir.glob(_GRAPH))
    return has_both and not (data_dir / SERVER_ID).exists()


def kept_bytes(data_dir: Path) -> int | None:
    """The size of what was kept of it; None if there is nothing."""
    kept = data_dir / FORMER
    return sum(part.stat().st_size for part in kept.rglob("*") if part.is_file()) if kept.is_dir() else None


def must_fit(settings: Settings) -> None:
    """Refuse to start an empty memory beside one that another kind of database keeps, or kept.

    Raises:
        ConfigurationError: says how to go on.
    """
    data_dir, is_embedded = settings.data_dir, settings.effective_backend == "embedded"
    ours, theirs = (data_dir / name for name in ((MEMORY, JOURNAL) if is_embedded else (JOURNAL, MEMORY)))
    if is_former(data_dir):
        if is_embedded:
            return
        why = f"{data_dir} holds an embedded memory of version 0.1, and Neo4j is configured. " + _OTHERWISE.format(
            f"run `graphiti-pkm status --backend embedded --data-dir {data_dir}` once, which brings it into {MEMORY}; "
            "the next start says how to go on"
        )
    elif _holds_something(ours):
        return
    elif is_embedded and _holds_something(data_dir / FORMER / JOURNAL):
        why = (
            f"{data_dir} has no {MEMORY} any more, only what version 0.1 wrote before. Put that file back; or go on "
            f"from there with `graphiti-pkm restore {data_dir / FORMER / JOURNAL} --data-dir {data_dir}`; or remove "
            f"{FORMER} there to begin an empty memory."
        )
    elif is_embedded and not theirs.exists() and any(data_dir.glob(_GRAPH)):
        why = (
            f"{data_dir} holds the graph of version 0.1 without its journal, {JOURNAL}, from which alone it can be "
            f"brought over. Put that file back, or bring in a backup of it with `graphiti-pkm restore BACKUP "
            f"--data-dir {data_dir}`."
        )
    elif not _holds_something(theirs):
        return
    elif is_embedded:
        why = (
            f"{data_dir} holds the journal of a memory on a database server, and no server is configured. Set "
            "neo4j_uri; or, to keep that memory in one file here from now on, run "
            f"`{_restoring(theirs)}` once."
        )
    else:
        why = f"{data_dir} holds an embedded memory, and Neo4j is configured. " + _OTHERWISE.format(
            f"run `{_restoring(theirs)}` once"
        )
    raise ConfigurationError(f"{why} Nothing was changed.")


def _holds_something(journal: Path) -> bool:
    """Whether it has a write or a saved graph, or cannot be read: who opens it then says why."""
    try:
        with contextlib.closing(sqlite3.connect(f"{journal.absolute().as_uri()}?mode=rw", uri=True)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
            return any(
                connection.execute(f"SELECT 1 FROM {one} LIMIT 1").fetchone()  # noqa: S608 our own names
                for one in ("writes", "saved_graphs")
                if one in tables
            )
    except sqlite3.Error:
        return journal.exists() and journal.stat().st_size > 0


def _restoring(journal: Path) -> str:
    return command_line(("graphiti-pkm", "restore", str(journal), "--data-dir", str(journal.parent)))


async def convert(data_dir: Path, journal: Journal, rebuilding: Rebuilding, locks: GroupLocks) -> None:
    """Bring a former memory over, if there is one; continues if it was interrupted.

    Raises:
        ConfigurationError: version 0.1 was used here again after the memory was brought over.
        Unavailable: version 0.1 is running here, or this does not succeed now.
        DamagedStore: its journal is damaged.
    """
    if not is_former(data_dir) and not _left_over(data_dir, _WITH_WORDS):
        return
    async with _alone(data_dir):
        if is_former(data_dir):  # else another process was first, or one was killed while it set the files aside
            if await _is_to_be_read(data_dir, journal):
                _log.warning("bringing the memory of version 0.1 in %s into %s", data_dir, MEMORY)
                async with locks.hold_all():
                    await _read(data_dir, journal)
            await _build(rebuilding)
            _log.warning("done; what version 0.1 wrote is kept in %s", data_dir / FORMER)
        await asyncio.to_thread(_set_aside, data_dir)


@contextlib.asynccontextmanager
async def in_place_of_former(data_dir: Path) -> AsyncIterator[None]:
    """For a restore over a former memory, which is set aside once that succeeded. Raises as ``convert``."""
    async with _alone(data_dir):
        _refuse_second(data_dir)
        yield
        await asyncio.to_thread(_set_aside, data_dir)


async def _is_to_be_read(data_dir: Path, journal: Journal) -> bool:
    """False if an earlier start has read it whole. Raises ConfigurationError if it is another one by now."""
    _refuse_second(data_dir)
    if not await asyncio.to_thread(_holds_something, data_dir / MEMORY):
        return True
    await journal.counts()  # so that the file has all tables
    if not await asyncio.to_thread(_holds_more, data_dir):
        return False
    rebuild = await journal.rebuild_in_progress()
    if rebuild is None or rebuild.command != "conversion":
        raise _second(data_dir)
    return True  # version 0.1 was used after an attempt was killed, since when nothing else could be stored


def _refuse_second(data_dir: Path) -> None:
    if (data_dir / FORMER / JOURNAL).exists():
        raise _second(data_dir)


def _second(data_dir: Path) -> ConfigurationError:
    return ConfigurationError(
        f"Version 0.1 of graphiti-pkm was used in {data_dir} after its memory had been brought to {MEMORY}. What it "
        f"stored then is in {JOURNAL} there, and not in this memory. Nothing was changed. Move {JOURNAL} and all "
        "appendonlydir to a directory of their own, and start with that one as --data-dir to see them."
    )


def _holds_more(data_dir: Path) -> bool:
    """Whether the former journal has a write or a saved graph that ours has not."""
    former = JournalFile(data_dir, name=JOURNAL)
    with plain_errors(former), contextlib.closing(connect(data_dir / MEMORY)) as connection:
        connection.execute("ATTACH DATABASE ? AS former", (str(former.path),))
        tables = {name for (name,) in connection.execute("SELECT name FROM former.sqlite_schema")}
        return any(
            connection.execute(f"SELECT uuid FROM former.{one} EXCEPT SELECT uuid FROM main.{one}").fetchone()  # noqa: S608
            for one in ("writes", "saved_graphs")
            if one in tables
        )


async def _read(data_dir: Path, journal: Journal) -> None:
    try:
        await asyncio.to_thread(_empty_log, JournalFile(data_dir, name=JOURNAL))
        await journal.restore(data_dir / JOURNAL, drops_unknown=True, command="conversion")
    except (DamagedStore, InvalidInput) as error:
        raise DamagedStore(
            f"The memory of version 0.1 in {data_dir} cannot be brought over, as {JOURNAL} is damaged. Nothing was "
            "changed. With a backup, `graphiti-pkm restore BACKUP --replace` of version 0.1 also saves what is newer "
            "and readable; that of this version brings in the backup alone and keeps the other files."
        ) from error


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


@contextlib.asynccontextmanager
async def _alone(data_dir: Path) -> AsyncIterator[None]:
    """One process at a time, and none of version 0.1, whose database may still have to end. Raises Unavailable."""
    users, owner = data_dir / _USERS, data_dir / _OWNER
    with contextlib.ExitStack() as stack:
        conversion = _opened(stack, data_dir / "locks" / "conversion.lock")
        while not try_lock(conversion, "exclusive"):  # noqa: ASYNC110 another process's lock
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        began = time.monotonic()
        while not _taken(stack, users, owner):
            # Servers share the lock of users; only the database, while it ends, takes it alone.
            has_server = not _is_free(users, "exclusive") and _is_free(users, "shared")
            if time.monotonic() - began > (_SERVER_ENDS_SECONDS if has_server else _DATABASE_ENDS_SECONDS):
                raise Unavailable(
                    f"Version 0.1 is still running on {data_dir}. Nothing was changed. End it (close the programs that "
                    "use it), then start again: this version brings the memory over first."
                )
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        yield


def _taken(stack: contextlib.ExitStack, *paths: Path) -> bool:
    """Take all locks until the end of the stack, or none: then the database sees that nobody uses it."""
    with contextlib.ExitStack() as attempt:
        if all(try_lock(_opened(attempt, path), "exclusive") for path in paths):
            stack.push(attempt.pop_all())
            return True
    return False


def _is_free(path: Path, mode: Mode) -> bool:
    with contextlib.ExitStack() as stack:
        return try_lock(_opened(stack, path), mode)


def _opened(stack: contextlib.ExitStack, path: Path) -> int:
    descriptor = open_lock(path)
    stack.callback(os.close, descriptor)
    return descriptor


def _empty_log(journal: JournalFile) -> None:
    """Put the write-ahead log into the file: its last process may have been killed."""
    with plain_errors(journal), contextlib.closing(connect(journal.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _left_over(data_dir: Path, patterns: Iterable[str]) -> list[Path]:
    """Files of version 0.1; its journal, first of all, unless it is one of servers on Neo4j."""
    if is_former(data_dir):
        patterns = (JOURNAL, *patterns)
    if is_former(data_dir) or not (data_dir / JOURNAL).exists():
        patterns = (*patterns, f"{JOURNAL}-*")
    return [path for pattern in patterns for path in sorted(data_dir.glob(pattern))]


def _set_aside(data_dir: Path) -> None:
    """The journal first: without it there is nothing left to convert. Continues if it was interrupted."""
    if paths := _left_over(data_dir, (*_WITH_WORDS, *_OTHERS)):
        kept = data_dir / FORMER
        kept.mkdir(mode=0o700, exist_ok=True)
        for path in paths:
            shutil.move(path, kept / path.name)
        sync_directory(kept)
        sync_directory(data_dir)
