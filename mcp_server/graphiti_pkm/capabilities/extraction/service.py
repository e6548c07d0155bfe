"""The background worker of a model that reads episodes: groups in parallel, one episode at a time within a group.

A job is leased, and the lease is renewed while the model works. A worker that loses it, through cancelling, forgetting
or another process, writes nothing. The job reports what went wrong and what to do about it.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import Protocol
from uuid import uuid4

from graphiti_pkm.capabilities.extraction.takeover import TAKEN
from graphiti_pkm.capabilities.extraction.writing import ExtractionWriting, FoundInEpisode, OutdatedError
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.extraction_answers import ExtractionAnswer
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.ports.extraction import Budget, ClaimedExtraction, ExtractionQueue, Extractor, ModelLedger
from graphiti_pkm.core.ports.takeover import SharedExtractionJobs
from graphiti_pkm.core.waiting import Signal
from graphiti_pkm.errors import (
    BudgetSpent,
    ModelError,
    ModelNonsense,
    ModelUnavailable,
    NotFound,
    PkmError,
    Unavailable,
)

_log = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
HEARTBEAT_SECONDS = 10.0
MAX_NONSENSE = 3
"""Attempts with unusable answers: a model that cannot answer in this form will not learn it."""
MAX_OUTDATED = 3
"""Readings outdated by changes of the graph before they count as failed: a group may change all the time."""
LONGEST_DELAY = 3_600.0
LONGEST_ASKED = 86_400.0
"""The longest delay accepted from a service."""
_POLL_SECONDS = 5.0
"""Seconds until jobs of other processes, and the database's return, are noticed."""
_FIRST_DELAY = 2.0
_FACTOR = 4.0
_GONE = "what it reads was deleted"
_CHANGED = "what the model was shown has changed; it reads again"
_STOPPED = "the server was stopped; it goes on with the next one"
_SEE_LOG = "See the server's log; then `graphiti-pkm queue retry --all`."


class _TakenError(Exception):
    """Another server has the job, or has done it."""


class SummaryJobRunner(Protocol):
    """Queued jobs without an episode: summaries of sagas, and communities."""

    async def work(
        self, group_id: str, job: ExtractJob, ledger: ModelLedger, may_write: Callable[[], Awaitable[bool]]
    ) -> None:
        """Run one job. Raises ModelError, Unavailable, WriteFailed; NotFound if its subject was deleted."""
        ...


@dataclass(frozen=True)
class Pace:
    """Waiting times; tests choose both."""

    heartbeat_seconds: float = HEARTBEAT_SECONDS
    jitter: Callable[[], float] = random.random
    """From 0 to 1."""

    def delay(self, attempts: int, retry_after: float | None = None) -> float:
        """Seconds before the next attempt: longer each time, randomised, and at least what the service asked for."""
        grown = min(_FIRST_DELAY * _FACTOR**attempts * (0.5 + self.jitter()), LONGEST_DELAY)
        return max(grown, min(retry_after or 0.0, LONGEST_ASKED))


class Extracting:
    """Works through the extraction queue with one model."""

    def __init__(
        self,
        context: Context,
        queue: ExtractionQueue,
        extractor: Extractor,
        writing: ExtractionWriting,
        pace: Pace | None = None,
        summary_jobs: SummaryJobRunner | None = None,
        shared: SharedExtractionJobs | None = None,
        changed: Signal | None = None,
    ) -> None:
        """``shared``: set if other servers may take over jobs. ``changed`` is sent whenever a job changes."""
        settings = context.settings
        self._now = context.now
        self._zone: tzinfo = settings.zone
        self._without_directory = settings.without_directory
        """A job's owner reads why it waits."""
        self._parallel = settings.extraction_parallel
        self._budget = Budget.of(settings)
        self._queue = queue
        self._extractor = extractor
        self._writing = writing
        self._pace = pace or Pace()
        self.summary_jobs = summary_jobs
        """Runs jobs without an episode; the capability sagas sets it."""
        self._shared = shared
        self._fresh = asyncio.Event()
        self._outdated: Counter[int] = Counter()
        """How often a job was read in vain because the graph had changed."""
        self.changed = changed or Signal()

    def notify(self) -> None:
        """Start at once because a job was enqueued. Call it on the event loop."""
        self._fresh.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; jobs in progress are then put back."""
        running: set[asyncio.Task[None]] = set()
        stopping = asyncio.ensure_future(stop.wait())
        try:
            while not stop.is_set():
                self._fresh.clear()
                while len(running) < self._parallel and (task := await self._start_one()):
                    running.add(task)
                fresh = asyncio.ensure_future(self._fresh.wait())
                await asyncio.wait(
                    {stopping, fresh, *running}, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                fresh.cancel()
                running = {task for task in running if not task.done()}
        finally:
            stopping.cancel()
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def run_once(self) -> bool:
        """Run the oldest job that may start, to its end; False if there is none."""
        task = await self._start_one()
        if task is None:
            return False
        await task
        return True

    async def _start_one(self) -> "asyncio.Task[None] | None":
        owner = str(uuid4())
        try:
            claimed = await self._queue.claim(owner, LEASE_SECONDS)
        except PkmError as error:  # the journal failed
            _log.warning("the queue of extractions cannot be used: %s", error.code)
            return None
        return asyncio.create_task(self._work(claimed, owner), name=f"extraction {claimed.id}") if claimed else None

    async def _work(self, claimed: ClaimedExtraction, owner: str) -> None:
        """Run one job under its lease; if the lease is lost, the work stops."""
        work = asyncio.create_task(self._attempt(claimed, owner))
        lease = asyncio.create_task(self._hold(claimed.id, owner))
        try:
            await asyncio.wait({work, lease}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            lease.cancel()
            work.cancel()
            results = await asyncio.gather(work, lease, return_exceptions=True)
            self.changed.send()
            self._fresh.set()
        if isinstance(results[0], Exception):  # the journal did not accept the outcome: the lease expires
            _log.warning("extraction %d ended without its outcome: %s", claimed.id, type(results[0]).__name__)

    async def _hold(self, job_id: int, owner: str) -> None:
        """Renew the lease until it is lost."""
        while True:
            await asyncio.sleep(self._pace.heartbeat_seconds)
            try:
                if not await self._queue.heartbeat(job_id, owner, LEASE_SECONDS):
                    return
            except PkmError as error:  # asked again before anything is written
                _log.warning("extraction %d could not renew its lease: %s", job_id, error.code)

    async def _attempt(self, claimed: ClaimedExtraction, owner: str) -> None:
        try:
            await self._extract(claimed, owner)
        except asyncio.CancelledError:
            await self._queue.put_back(claimed.id, owner, _STOPPED, 0.0, counts=False)
            raise
        except NotFound:
            await self._queue.drop(claimed.id, owner, _GONE)
        except _TakenError:
            _log.info("extraction %d is dropped: %s", claimed.id, TAKEN)
            await self._queue.drop(claimed.id, owner, TAKEN)
        except OutdatedError:
            self._outdated[claimed.id] += 1
            is_often = self._outdated[claimed.id] > MAX_OUTDATED
            delay = self._pace.delay(claimed.attempts) if is_often else 0.0
            await self._queue.put_back(claimed.id, owner, _CHANGED, delay, counts=is_often)
        except ModelError as error:
            _log.warning("extraction %d: %s", claimed.id, error.code)
            await self._model_failed(claimed, owner, error)
        except Unavailable as error:  # not the job's fault, so it keeps all its attempts
            reason = self._without_directory(error.message)
            await self._queue.put_back(claimed.id, owner, reason, _POLL_SECONDS, counts=False)
        except Exception as error:  # noqa: BLE001 a boundary: one broken job must not stop the others
            reason = error.message if isinstance(error, PkmError) else f"unexpected: {type(error).__name__}"
            _log.warning("extraction %d failed: %s", claimed.id, type(error).__name__)
            delay = self._pace.delay(claimed.attempts)
            reason = self._without_directory(reason)
            await self._queue.put_back(claimed.id, owner, reason, delay, counts=True, remedy=_SEE_LOG)
        else:
            self._outdated.pop(claimed.id, None)
            await self._queue.finish(claimed.id, owner)

    async def _extract(self, claimed: ClaimedExtraction, owner: str) -> None:
        """Read and write; returns once the journal has the job's write."""
        await self._writing.finish(claimed.group_id)
        if await self._writing.is_written(claimed.job):
            return
        shared = self._shared if claimed.job.task == "episode" else None
        if shared is not None and not await shared.begin(claimed.group_id, claimed.job, owner):
            raise _TakenError
        today = self._now().astimezone(self._zone).date().isoformat()
        ledger = self._queue.ledger(claimed.id, self._budget, today)

        async def may_write() -> bool:
            has_lease = await self._queue.heartbeat(claimed.id, owner, LEASE_SECONDS)
            return has_lease and (shared is None or await shared.holds(claimed.job.uuid, owner))

        if claimed.job.task != "episode" and self.summary_jobs is not None:
            await self.summary_jobs.work(claimed.group_id, claimed.job, ledger, may_write)
            return
        episode = await self._writing.episode(claimed.group_id, claimed.job.episode_uuid)
        if episode is None:
            raise NotFound(_GONE)
        task = await self._writing.task_of(claimed.group_id, claimed.job)
        found = await self._extractor.extract(task, ledger)
        former = await self._queue.former(claimed.id)
        given = FoundInEpisode(
            job=claimed.job,
            episode=episode,
            found=found,
            model=self._extractor.model,
            former=ExtractionAnswer.model_validate(former.answer) if former and former.answer else None,
        )
        await self._writing.store(given, may_write)

    async def _model_failed(self, claimed: ClaimedExtraction, owner: str, error: ModelError) -> None:
        reason, remedy = error.message, error.remedy
        if isinstance(error, BudgetSpent) and error.is_of_day:
            wait = _until_tomorrow(self._now(), self._zone)
            await self._queue.put_back(claimed.id, owner, reason, wait, counts=False, remedy=remedy)
            return
        is_worth_trying = isinstance(error, ModelUnavailable) or (
            isinstance(error, ModelNonsense) and claimed.attempts + 1 < MAX_NONSENSE
        )
        if not is_worth_trying:
            await self._queue.fail(claimed.id, owner, reason, remedy)
            return
        delay = self._pace.delay(claimed.attempts, error.retry_after if isinstance(error, ModelUnavailable) else None)
        await self._queue.put_back(claimed.id, owner, reason, delay, counts=True, remedy=remedy)
        if delay < _POLL_SECONDS:
            asyncio.get_running_loop().call_later(delay, self.notify)


def _until_tomorrow(now: datetime, zone: tzinfo) -> float:
    """Seconds to the next midnight of a zone."""
    here = now.astimezone(zone)
    midnight = datetime.combine(here.date() + timedelta(days=1), time(), zone)
    return (midnight - now).total_seconds()
