"""The fake queue of extractions: jobs in a dictionary, in the states of the real one."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.extraction import (
    LOST,
    LOST_REMEDY,
    MAX_ATTEMPTS,
    Budget,
    ClaimedExtraction,
    ExtractionRecord,
    ExtractionState,
    ModelLedger,
    Usage,
)


@dataclass(frozen=True)
class FakeExtraction:
    """One job; ``waits_until`` is the end of its lease or of its delay."""

    id: int
    group_id: str
    job: ExtractJob
    queued_at: datetime
    waits_until: datetime
    write_uuid: str | None = None
    """The write that brought it; None: enqueued later."""
    state: ExtractionState = "queued"
    attempts: int = 0
    owner: str | None = None
    reason: str = ""
    remedy: str = ""
    finished_at: datetime | None = None
    usage: Usage = field(default_factory=Usage)
    answers: dict[str, str] = field(default_factory=dict)


class FakeExtractionQueue:
    """The port ``ExtractionQueue`` in memory; ``check`` raises while the journal is down.

    ``answer_of`` gives what a write stored, None if there is no such write.
    """

    def __init__(
        self,
        now: Callable[[], datetime],
        check: Callable[[], None] = lambda: None,
        answer_of: Callable[[str], dict[str, object] | None] = lambda _: None,
    ) -> None:
        self.table: dict[int, FakeExtraction] = {}
        """Jobs by id."""
        self.usage: dict[str, Usage] = {}
        """By day."""
        self.is_paused = False
        self._now = now
        self._check = check
        self._answer_of = answer_of
        self._last_id = 0
        self._under_way: Counter[tuple[int, str]] = Counter()
        """Calls that were allowed and not recorded yet, by job and owner."""

    def add(self, group_id: str, jobs: Sequence[ExtractJob], write_uuid: str | None = None) -> list[int]:
        """What ``Journal.append`` does with the jobs of a write."""
        known = {row.job.uuid for row in self.table.values()}
        if len(known | {job.uuid for job in jobs}) < len(known) + len(jobs):
            raise ValueError("a job of this uuid is queued already")
        ids = []
        for job in jobs:
            self._last_id += 1
            row = FakeExtraction(self._last_id, group_id, job, self._now(), self._now(), write_uuid)
            self.table[row.id] = row
            ids.append(row.id)
        return ids

    def is_cancelled(self, job_uuid: str) -> bool:
        return any(row.job.uuid == job_uuid and row.state == "cancelled" for row in self.table.values())

    def withdraw(self, write_uuid: str) -> None:
        """What ``Journal.withdraw`` does."""
        self.table = {id_: row for id_, row in self.table.items() if row.write_uuid != write_uuid}

    def forget(self, forgetting: WriteIntent) -> None:
        """What ``Journal.append`` does of a write that forgets."""
        told, gone = forgetting.forgets, forgetting.deletions
        texts = {text.uuid for text in told.episodes} if told is not None else set()
        for row in self.table.values():
            is_gone = row.job.episode_uuid in gone.episodes or row.group_id in gone.groups
            left = row
            if row.group_id == forgetting.group_id:
                left = replace(left, answers={})
                if row.state == "running":
                    left = replace(left, state="queued", owner=None, waits_until=self._now())
            if is_gone or row.job.episode_uuid in texts:
                left = replace(left, job=row.job.model_copy(update={"instructions": ""}))
            if is_gone and left.state == "queued":
                left = self._ended(left, "cancelled", "", "")
            self.table[row.id] = left

    async def enqueue(self, group_id: str, jobs: Sequence[ExtractJob]) -> list[int]:
        self._check()
        return self.add(group_id, jobs)

    async def claim(self, owner: str, lease_seconds: float) -> ClaimedExtraction | None:
        self._check()
        if self.is_paused:
            return None
        for row in list(self.table.values()):
            if row.state == "running" and row.waits_until <= self._now():
                self._put_back(row, LOST, 0, counts=True, remedy=LOST_REMEDY, is_kept=False)
        busy = {row.group_id for row in self.table.values() if row.state == "running"}
        for row in sorted(self.table.values(), key=lambda row: row.id):
            if row.state != "queued" or row.group_id in busy:
                continue
            busy.add(row.group_id)
            if row.waits_until <= self._now():
                until = self._now() + timedelta(seconds=lease_seconds)
                self.table[row.id] = replace(row, state="running", owner=owner, waits_until=until)
                return ClaimedExtraction(id=row.id, group_id=row.group_id, job=row.job, attempts=row.attempts)
        return None

    async def heartbeat(self, job_id: int, owner: str, lease_seconds: float) -> bool:
        row = self._held(job_id, owner)
        if row is None:
            self._end(job_id, owner)
            return False
        self.table[job_id] = replace(row, waits_until=self._now() + timedelta(seconds=lease_seconds))
        return True

    async def finish(self, job_id: int, owner: str) -> bool:
        row = self._leave(job_id, owner)
        if row is not None:
            job = row.job.model_copy(update={"instructions": ""})
            self.table[job_id] = replace(self._ended(row, "done", "", ""), job=job, answers={})
        return row is not None

    async def put_back(
        self, job_id: int, owner: str, reason: str, delay_seconds: float, *, counts: bool, remedy: str = ""
    ) -> bool:
        row = self._leave(job_id, owner)
        if row is not None:
            self._put_back(row, reason, delay_seconds, counts=counts, remedy=remedy)
        return row is not None

    async def fail(self, job_id: int, owner: str, reason: str, remedy: str) -> bool:
        row = self._leave(job_id, owner)
        if row is not None:
            self.table[job_id] = replace(self._ended(row, "failed", reason, remedy), attempts=row.attempts + 1)
        return row is not None

    async def drop(self, job_id: int, owner: str, reason: str) -> bool:
        row = self._leave(job_id, owner)
        if row is not None:
            self.table[job_id] = replace(self._ended(row, "cancelled", reason, ""), answers={})
        return row is not None

    async def find(self, job_ids: Sequence[int]) -> list[ExtractionRecord]:
        self._check()
        return [self._shown(row) for row in self.table.values() if row.id in job_ids]

    async def former(self, job_id: int) -> ExtractionRecord | None:
        self._check()
        episode = self.table[job_id].job.episode_uuid if job_id in self.table else None
        rows = (row for row in self.table.values() if row.job.episode_uuid == episode and row.id < job_id)
        done = [row for row in rows if row.state == "done"]
        return self._shown(max(done, key=lambda row: row.id)) if done else None

    async def of_episodes(self, episode_uuids: Sequence[str]) -> list[ExtractionRecord]:
        self._check()
        latest = {row.job.episode_uuid: row for row in self.table.values()}
        found = [row for uuid, row in latest.items() if uuid in episode_uuids]
        return [self._shown(row) for row in sorted(found, key=lambda row: row.id)]

    async def of_jobs(self, job_uuids: Sequence[str]) -> list[ExtractionRecord]:
        self._check()
        return [self._shown(row) for row in self.table.values() if row.job.uuid in job_uuids]

    async def page(
        self, states: Sequence[ExtractionState], group_ids: Sequence[str] | None, limit: int, before_id: int | None
    ) -> list[ExtractionRecord]:
        self._check()
        found = [
            row
            for row in self.table.values()
            if row.state in states
            and (group_ids is None or row.group_id in group_ids)
            and (before_id is None or row.id < before_id)
        ]
        return [self._shown(row) for row in sorted(found, key=lambda row: -row.id)[:limit]]

    async def sizes(self, group_ids: Sequence[str] | None) -> dict[ExtractionState, int]:
        self._check()
        rows = [row for row in self.table.values() if group_ids is None or row.group_id in group_ids]
        found = Counter(row.state for row in rows)
        return {state: found[state] for state in get_args(ExtractionState)}

    async def retry(self, job_ids: Sequence[int]) -> int:
        self._check()
        now = self._now()
        again = [
            row
            for row in self.table.values()
            if row.id in job_ids
            and (row.state in {"failed", "cancelled"} or (row.state == "queued" and row.waits_until > now))
        ]
        for row in again:
            fresh = replace(row, state="queued", attempts=0, waits_until=now, finished_at=None, reason="", remedy="")
            self.table[row.id] = fresh
        return len(again)

    async def cancel(self, job_ids: Sequence[int]) -> int:
        self._check()
        gone = [
            row
            for row in self.table.values()
            if row.id in job_ids and row.state in {"queued", "running"} and self._answer_of(row.job.uuid) is None
        ]
        for row in gone:
            self.table[row.id] = replace(self._ended(row, "cancelled", "", ""), answers={})
        return len(gone)

    async def pause(self, *, paused: bool) -> None:
        self._check()
        self.is_paused = paused

    async def paused(self) -> bool:
        self._check()
        return self.is_paused

    async def spent(self, day: str | None) -> Usage:
        self._check()
        return sum(self.usage.values(), Usage()) if day is None else self.usage.get(day, Usage())

    def ledger(self, job_id: int, budget: Budget, day: str) -> ModelLedger:
        return _FakeLedger(self, job_id, budget, day)

    def save(self) -> list[dict[str, Any]]:
        """All jobs as JSON, for the fake journal's backups."""
        columns = ("id", "group_id", "write_uuid", "state", "attempts", "reason", "remedy", "answers")
        return [
            {name: getattr(row, name) for name in columns}
            | {"job": row.job.model_dump(mode="json"), "usage": row.usage.model_dump()}
            | {name: value.isoformat() for name in _TIMES if (value := getattr(row, name)) is not None}
            for row in self.table.values()
        ]

    def load(self, saved: Sequence[dict[str, Any]]) -> None:
        """In the place of all that is there; what ran then is queued again."""
        rows = [
            FakeExtraction(
                **{
                    **row,
                    "job": ExtractJob.model_validate(row["job"]),
                    "usage": Usage.model_validate(row["usage"]),
                    "state": "queued" if row["state"] == "running" else row["state"],
                }
                | {name: datetime.fromisoformat(row[name]) for name in _TIMES if name in row}
            )
            for row in json.loads(json.dumps(saved))
        ]
        self.table = {row.id: row for row in rows}
        self._last_id = max(self.table, default=0)

    def _held(self, job_id: int, owner: str) -> FakeExtraction | None:
        self._check()
        row = self.table.get(job_id)
        return row if row is not None and row.state == "running" and row.owner == owner else None

    def _leave(self, job_id: int, owner: str) -> FakeExtraction | None:
        self._end(job_id, owner)
        return self._held(job_id, owner)

    def _end(self, job_id: int, owner: str) -> None:
        self._under_way.pop((job_id, owner), None)

    def _ended(self, row: FakeExtraction, state: ExtractionState, reason: str, remedy: str) -> FakeExtraction:
        return replace(row, state=state, reason=reason, remedy=remedy, owner=None, finished_at=self._now())

    def _put_back(
        self, row: FakeExtraction, reason: str, delay_seconds: float, *, counts: bool, remedy: str, is_kept: bool = True
    ) -> None:
        """``is_kept``: the remedy is told while it waits, too."""
        attempts = row.attempts + counts
        if counts and attempts >= MAX_ATTEMPTS:
            self.table[row.id] = replace(self._ended(row, "failed", reason, remedy), attempts=attempts)
            return
        later = self._now() + timedelta(seconds=delay_seconds)
        back = replace(row, state="queued", owner=None, attempts=attempts, reason=reason, waits_until=later)
        self.table[row.id] = replace(back, remedy=remedy if is_kept else "")

    def _shown(self, row: FakeExtraction) -> ExtractionRecord:
        return ExtractionRecord(
            id=row.id,
            group_id=row.group_id,
            episode_uuid=row.job.episode_uuid,
            job_uuid=row.job.uuid,
            task=row.job.task,
            state=row.state,
            attempts=row.attempts,
            reason=row.reason,
            remedy=row.remedy,
            queued_at=row.queued_at,
            not_before=row.waits_until if row.state == "queued" else row.queued_at,
            finished_at=row.finished_at,
            usage=row.usage,
            answer=(self._answer_of(row.job.uuid) or {}) if row.state == "done" else {},
        )


_TIMES = ("queued_at", "waits_until", "finished_at")


class _FakeLedger:
    """The port ``ModelLedger`` of one claim."""

    def __init__(self, queue: FakeExtractionQueue, job_id: int, budget: Budget, day: str) -> None:
        row = queue.table.get(job_id)
        self._queue = queue
        self._job_id = job_id
        self._owner = (row.owner if row is not None else None) or ""
        self._budget = budget
        self._day = day

    async def recorded(self, request_hash: str) -> str | None:
        self._queue._check()
        row = self._queue.table.get(self._job_id)
        return None if row is None else row.answers.get(request_hash)

    async def allow(self) -> None:
        self._queue._check()
        of_day = self._queue.usage.get(self._day, Usage())
        of_job = self._queue.table[self._job_id].usage
        under_way = self._queue._under_way
        mine = (self._job_id, self._owner)
        self._budget.check(of_day + Usage(calls=under_way.total()), of_job + Usage(calls=under_way[mine]))
        under_way[mine] += 1

    async def record(self, request_hash: str, answer: str | None, usage: Usage) -> None:
        self._queue._check()
        mine = (self._job_id, self._owner)
        self._queue._under_way[mine] = max(0, self._queue._under_way[mine] - usage.calls)
        self._queue.usage[self._day] = self._queue.usage.get(self._day, Usage()) + usage
        row = self._queue.table.get(self._job_id)
        if row is None:
            return
        row = replace(row, usage=row.usage + usage)
        if answer is not None and row.state == "running" and row.owner == self._owner:
            row = replace(row, answers={**row.answers, request_hash: answer})
        self._queue.table[self._job_id] = row
