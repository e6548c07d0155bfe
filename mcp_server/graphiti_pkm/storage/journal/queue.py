"""The port ExtractionQueue on the journal's file and connections."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.ports.extraction import Budget, ClaimedExtraction, ExtractionRecord, ExtractionState, Usage
from graphiti_pkm.storage.journal import extraction_reads, extractions, model_answers
from graphiti_pkm.storage.journal.connection import Connection
from graphiti_pkm.storage.journal.schema import transaction
from graphiti_pkm.storage.journal.steady import SteadyClock

T = TypeVar("T")


class SqliteExtractionQueue:
    """Durable jobs for any number of concurrent processes.

    Requests and paid answers are synced to disk. Leases and ends need not be: a job whose end was lost is claimed again
    and finds its write.
    """

    def __init__(self, durable: Connection, quick: Connection, steady: SteadyClock) -> None:
        self._durable = durable
        self._quick = quick
        self._steady = steady
        self._claims: dict[int, _Claim] = {}
        """By job: the claims of this process that have not ended."""
        self._counting = asyncio.Lock()
        """Prevents concurrent calls from exceeding the budget together."""

    async def enqueue(self, group_id: str, jobs: Sequence[ExtractJob]) -> list[int]:
        at = await self._seconds()
        try:
            return await _in_transaction(self._durable, lambda c: extractions.enqueue(c, None, group_id, jobs, at))
        except sqlite3.IntegrityError as error:
            raise ValueError("a job of this uuid is queued already") from error

    async def claim(self, owner: str, lease_seconds: float) -> ClaimedExtraction | None:
        now = await self._seconds()
        if not await self._quick.run(lambda c: extractions.may_claim(c, now)):
            return None
        found = await _in_transaction(self._quick, lambda c: extractions.claim(c, owner, now, now + lease_seconds))
        if found is None:
            return None
        self._claims[found[0]] = _Claim(owner)
        return await self._quick.run(lambda _: extractions.decode(*found))

    async def heartbeat(self, job_id: int, owner: str, lease_seconds: float) -> bool:
        until = await self._seconds() + lease_seconds
        has_lease = await self._quick.run(lambda c: extractions.heartbeat(c, job_id, owner, until))
        if not has_lease:
            self._end(job_id, owner)
        return has_lease

    async def finish(self, job_id: int, owner: str) -> bool:
        now = await self._seconds()
        return await self._leave(job_id, owner, lambda c: extractions.finish(c, job_id, owner, now))

    async def put_back(
        self, job_id: int, owner: str, reason: str, delay_seconds: float, *, counts: bool, remedy: str = ""
    ) -> bool:
        now = await self._seconds()

        def work(connection: sqlite3.Connection) -> bool:
            return extractions.put_back(connection, job_id, owner, now, delay_seconds, reason, remedy, counts=counts)

        return await self._leave(job_id, owner, work)

    async def fail(self, job_id: int, owner: str, reason: str, remedy: str) -> bool:
        now = await self._seconds()
        return await self._leave(job_id, owner, lambda c: extractions.fail(c, job_id, owner, now, reason, remedy))

    async def drop(self, job_id: int, owner: str, reason: str) -> bool:
        now = await self._seconds()
        return await self._leave(job_id, owner, lambda c: extractions.drop(c, job_id, owner, now, reason))

    async def find(self, job_ids: Sequence[int]) -> list[ExtractionRecord]:
        return await self._quick.run(lambda c: extraction_reads.find(c, job_ids))

    async def of_episodes(self, episode_uuids: Sequence[str]) -> list[ExtractionRecord]:
        return await self._quick.run(lambda c: extraction_reads.of_episodes(c, episode_uuids))

    async def former(self, job_id: int) -> ExtractionRecord | None:
        return await self._quick.run(lambda c: extraction_reads.former(c, job_id))

    async def of_jobs(self, job_uuids: Sequence[str]) -> list[ExtractionRecord]:
        return await self._quick.run(lambda c: extraction_reads.of_jobs(c, job_uuids))

    async def page(
        self, states: Sequence[ExtractionState], group_ids: Sequence[str] | None, limit: int, before_id: int | None
    ) -> list[ExtractionRecord]:
        return await self._quick.run(lambda c: extraction_reads.page(c, states, group_ids, limit, before_id))

    async def sizes(self, group_ids: Sequence[str] | None) -> dict[ExtractionState, int]:
        return await self._quick.run(lambda c: extraction_reads.sizes(c, group_ids))

    async def retry(self, job_ids: Sequence[int]) -> int:
        now = await self._seconds()
        return await _in_transaction(self._durable, lambda c: extractions.retry(c, job_ids, now))

    async def cancel(self, job_ids: Sequence[int]) -> int:
        now = await self._seconds()
        return await _in_transaction(self._durable, lambda c: extractions.cancel(c, job_ids, now))

    async def pause(self, *, paused: bool) -> None:
        await _in_transaction(self._durable, lambda c: extractions.set_paused(c, paused=paused))

    async def paused(self) -> bool:
        return await self._quick.run(extractions.is_paused)

    async def spent(self, day: str | None) -> Usage:
        if day is None:
            return await self._quick.run(model_answers.spent_in_all)
        return await self._quick.run(lambda c: model_answers.spent_on(c, day))

    def ledger(self, job_id: int, budget: Budget, day: str) -> "_Ledger":
        return _Ledger(self, job_id, self._claims.get(job_id) or _Claim(""), budget, day)

    async def recorded(self, job_id: int, request_hash: str) -> str | None:
        """A kept answer."""
        return await self._quick.run(lambda c: model_answers.find(c, job_id, request_hash))

    async def allow(self, job_id: int, claim: "_Claim", budget: Budget, day: str) -> None:
        """Count a call before it is made. Raises BudgetSpent."""
        async with self._counting:
            of_day, of_job = await self._quick.run(
                lambda c: (model_answers.spent_on(c, day), model_answers.spent_by(c, job_id))
            )
            under_way = sum(one.under_way for one in self._claims.values())
            budget.check(of_day + Usage(calls=under_way), of_job + Usage(calls=claim.under_way))
            claim.under_way += 1

    async def record(
        self, job_id: int, claim: "_Claim", request_hash: str, answer: str | None, usage: Usage, day: str
    ) -> None:
        """Count the cost of a call, and keep its answer while the claim lasts."""

        def work(connection: sqlite3.Connection) -> None:
            model_answers.count(connection, job_id, day, usage)
            if answer is not None:
                model_answers.keep(connection, job_id, claim.owner, request_hash, answer)

        async with self._counting:
            await _in_transaction(self._durable, work)
            claim.under_way = max(0, claim.under_way - usage.calls)

    async def _leave(self, job_id: int, owner: str, work: Callable[[sqlite3.Connection], bool]) -> bool:
        has_lease = await _in_transaction(self._quick, work)
        self._end(job_id, owner)
        return has_lease

    def _end(self, job_id: int, owner: str) -> None:
        claim = self._claims.get(job_id)
        if claim is not None and claim.owner == owner:
            del self._claims[job_id]

    async def _seconds(self) -> float:
        return await self._quick.run(self._steady.seconds)


class _Claim:
    """One lease of one job, with calls that were allowed and not recorded yet."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.under_way = 0


class _Ledger:
    """The port ModelLedger of one claim."""

    def __init__(self, queue: SqliteExtractionQueue, job_id: int, claim: _Claim, budget: Budget, day: str) -> None:
        self._queue = queue
        self._job_id = job_id
        self._claim = claim
        self._budget = budget
        self._day = day

    async def recorded(self, request_hash: str) -> str | None:
        return await self._queue.recorded(self._job_id, request_hash)

    async def allow(self) -> None:
        await self._queue.allow(self._job_id, self._claim, self._budget, self._day)

    async def record(self, request_hash: str, answer: str | None, usage: Usage) -> None:
        await self._queue.record(self._job_id, self._claim, request_hash, answer, usage, self._day)


async def _in_transaction(connection: Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    def run(file: sqlite3.Connection) -> T:
        with transaction(file):
            return work(file)

    return await connection.run(run)
