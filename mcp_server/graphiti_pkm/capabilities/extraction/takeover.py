"""Takes over readings of servers that are gone, where several share a database."""

import logging
from asyncio import Event
from collections.abc import Callable, Sequence

from graphiti_pkm.core.ports.extraction import ExtractionQueue, ExtractionState
from graphiti_pkm.core.ports.takeover import Lease, SharedExtractionJob, SharedExtractionJobs
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import PkmError

_log = logging.getLogger(__name__)

TAKEN = "another server of this memory reads it, or has read it"
"""Why a job was cancelled here; if it comes back to this server it is queued again."""
_MOST_WAITING = 10
"""A server with more jobs of its own takes over none."""
_AT_ONCE = 5
_PAGE = 100
_ENDED: tuple[ExtractionState, ...] = ("failed", "cancelled")


class Takeover:
    """Reports that this server is running, and takes over from those that are not."""

    def __init__(
        self,
        readings: SharedExtractionJobs,
        queue: ExtractionQueue,
        notify: Callable[[], None],
        lease: Lease | None = None,
    ) -> None:
        """``notify`` informs this process's worker about a job."""
        self._readings = readings
        self._queue = queue
        self._notify = notify
        self._lease = lease or Lease()
        self._seen_until = 0

    async def run(self, stop: Event) -> None:
        """Run until ``stop`` is set. While the database is unavailable, nobody reports or takes over anything."""
        while not stop.is_set():
            try:
                await self.run_once()
            except PkmError as error:
                _log.info("the readings shared in this database cannot be read: %s", error.code)
            await wait_for_any(stop, seconds=self._lease.pause())

    async def run_once(self) -> None:
        """One turn. Raises Unavailable, DamagedStore."""
        await self._readings.heartbeat(self._lease.seconds)
        taken = await self._take_over()
        if taken:
            _log.warning("took over %d episode(s) of a server that is gone", len(taken))
        await self._settle([*taken, *await self._some_of_ours()])

    async def _take_over(self) -> list[SharedExtractionJob]:
        waiting = (await self._queue.sizes(None))["queued"]
        if waiting >= _MOST_WAITING or await self._queue.paused():
            return []
        return await self._readings.take_over(self._lease.seconds, _AT_ONCE)

    async def _some_of_ours(self) -> list[SharedExtractionJob]:
        """One page per turn, repeatedly."""
        found = await self._readings.own(self._seen_until, _PAGE)
        self._seen_until = found[-1].queued_at if len(found) == _PAGE else 0
        return found

    async def _settle(self, ours: Sequence[SharedExtractionJob]) -> None:
        """Queue readings of ours that are in no queue: just taken over, or left by a process that ended.

        A reading that ended here without a write, also by a command, ends for all servers; a write has reported that
        itself.
        """
        known = {one.job_uuid: one for one in await self._queue.of_jobs([one.job.uuid for one in ours])}
        ended: dict[ExtractionState, list[str]] = {state: [] for state in _ENDED}
        is_new = False
        for reading in ours:
            record = known.get(reading.job.uuid)
            if record is None:
                is_new |= await self._enqueue(reading)
            elif record.state == "cancelled" and record.reason == TAKEN:
                is_new |= bool(await self._queue.retry([record.id]))
            elif record.state in ended:
                ended[record.state].append(reading.job.uuid)
        for state, uuids in ended.items():
            if uuids:
                await self._readings.end(uuids, state)
        if is_new:
            self._notify()

    async def _enqueue(self, reading: SharedExtractionJob) -> bool:
        try:
            await self._queue.enqueue(reading.group_id, [reading.job])
        except ValueError:  # by another process of this server, just now
            return False
        return True
