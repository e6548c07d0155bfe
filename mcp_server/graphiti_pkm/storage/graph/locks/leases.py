"""Serialises writes within a group across hosts on one database: a file lock on this host, a lease in the database.

A lease expires if its holder does not renew it, by the clock of the database. A holder that was paused meanwhile
notices by its next write, which carries the number of its lease and does nothing once a newer one was issued.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from graphiti_pkm.core.ports.group_locks import GroupLocks
from graphiti_pkm.errors import PkmError, Unavailable
from graphiti_pkm.storage.graph.database import Database, Refused
from graphiti_pkm.storage.graph.queries import locks as queries_locks
from graphiti_pkm.storage.graph.queries.values import Query, Row

_log = logging.getLogger(__name__)

LEASE_SECONDS = 10.0
"""How long the groups of a dead host stay locked."""
PATIENCE_SECONDS = 40.0
"""How long a write waits for another host: less than a client waits for an answer."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.1


@dataclass(frozen=True)
class Fence:
    """The number of a lease, carried by each write."""

    lock: str
    number: int


class Fences:
    """The leases of this process, by group; a write uses that of its group."""

    def __init__(self) -> None:
        self._held: dict[str, Fence] = {}

    def of(self, group_id: str) -> Fence | None:
        """The newest lease that covers the group; None if there is none."""
        return self._held.get(queries_locks.lock_of(group_id)) or self._held.get(queries_locks.ALL)

    async def restore(self, database: Database) -> None:
        """Restore the leases of this process after the whole graph was cleared. Raises Unavailable."""
        for fence in tuple(self._held.values()):
            if self._held.get(fence.lock) != fence:  # given back while others were restored
                continue
            try:
                await database.write(queries_locks.restore(fence.lock, fence.number, round(LEASE_SECONDS * 1_000)))
            except Refused:
                raise Unavailable("The cleared database takes no writes now.") from None

    def add(self, fence: Fence) -> None:
        self._held[fence.lock] = fence

    def remove(self, fence: Fence) -> None:
        self._held.pop(fence.lock, None)


class LeasedGroupLocks:
    """Implements GroupLocks."""

    def __init__(
        self,
        local: GroupLocks,
        holder: str,
        database: Callable[[], Awaitable[Database]],
        fences: Fences,
        lease_seconds: float = LEASE_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """``local`` serialises the processes of this host, so that one at a time asks the database.

        ``holder`` identifies all of them: locks of a killed process are taken over by the next at once.
        """
        self._local = local
        self._holder = holder
        self._database = database
        self._fences = fences
        self._milliseconds = round(lease_seconds * 1_000)
        self._heartbeat_seconds = lease_seconds / 3
        self._patience_seconds = patience_seconds

    @asynccontextmanager
    async def hold(self, group_id: str) -> AsyncIterator[None]:
        """Exclude other writers of this group on all hosts.

        Raises:
            Unavailable: the database does not answer, or another host holds it for long. Nothing was done.
        """
        async with self._local.hold(group_id), self._leased(queries_locks.lock_of(group_id)):
            yield

    @asynccontextmanager
    async def hold_all(self) -> AsyncIterator[None]:
        """Exclude every writer of every group on all hosts. Raises Unavailable."""
        async with self._local.hold_all(), self._leased(queries_locks.ALL):
            await self._until(self._no_group_locked)
            yield

    def is_closed(self) -> bool:
        """Whether this host excludes all writers; other hosts set no mark in this journal."""
        return self._local.is_closed()

    @asynccontextmanager
    async def _leased(self, lock: str) -> AsyncIterator[None]:
        taken: list[Fence] = []

        async def take() -> bool:
            rows = await self._write(queries_locks.take(lock, self._holder, self._milliseconds))
            taken.extend(Fence(lock, row["fence"]) for row in rows)
            return bool(rows)

        try:
            await self._until(take)
            fence = taken[-1]
            self._fences.add(fence)
            renewing = asyncio.create_task(self._renew(fence))
            try:
                yield
            finally:
                renewing.cancel()
                self._fences.remove(fence)
        finally:
            for fence in taken[-1:]:
                await asyncio.shield(self._release(fence))

    async def _until(self, succeeds: Callable[[], Awaitable[bool]]) -> None:
        """Retry with growing pauses. Raises Unavailable when it takes too long."""
        clock = asyncio.get_running_loop().time
        deadline, pause = clock() + self._patience_seconds, _FIRST_PAUSE
        while not await succeeds():
            if clock() > deadline:
                raise Unavailable("Another server has been writing into this group for long. Try again.")
            await asyncio.sleep(pause * (0.5 + random.random()))  # noqa: S311 so that hosts do not ask in step
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _no_group_locked(self) -> bool:
        return [row["held"] for row in await self._write(queries_locks.held())] == [0]

    async def _renew(self, fence: Fence) -> None:
        while True:
            await asyncio.sleep(self._heartbeat_seconds)
            try:
                if not await self._write(queries_locks.renew(fence.lock, fence.number, self._milliseconds)):
                    _log.warning("the lease of a group went to another server")
                    return
            except PkmError as error:  # its writes fail as well; asked again while there may be time
                _log.warning("a lease could not be renewed: %s", error.code)

    async def _release(self, fence: Fence) -> None:
        try:
            await self._write(queries_locks.release(fence.lock, fence.number))
        except PkmError as error:
            _log.warning("a lease could not be released and will expire: %s", error.code)

    async def _write(self, query: Query) -> list[Row]:
        """Run the query; no row, as if locked, if a long write blocks its node."""
        try:
            return await (await self._database()).write(query)
        except Refused as refused:
            _log.warning("%s", refused)
            if refused.is_transient:
                return []
            raise Unavailable("The database takes no writes now. Try again.") from None
