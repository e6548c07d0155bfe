"""The fake journal: rows and jobs in lists, in the states of the real one."""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter
from tests.fakes.backlog import backlog_of
from tests.fakes.compared import Compared, FakeRow
from tests.fakes.extractions import FakeExtractionQueue
from tests.fakes.rebuilds import Rebuilds
from tests.fakes.saved_graphs import FakeSavedGraphs
from tests.fakes.usage import FakeUsageCounts

from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedMissingJob, EraseJob, Job
from graphiti_pkm.core.model.records import ADDING, Vectors, WriteIntent, WriteKind
from graphiti_pkm.core.model.redaction import redacted, redacted_job, redacted_receipt, remaining_names
from graphiti_pkm.core.ports.effects import Effect
from graphiti_pkm.core.ports.embedding import RecordedEmbedding
from graphiti_pkm.core.ports.erasing import RowContent
from graphiti_pkm.core.ports.metrics import Backlog
from graphiti_pkm.core.ports.ports import JournalRow
from graphiti_pkm.core.ports.rebuilding import RebuildInProgress
from graphiti_pkm.core.ports.saved_graphs import SavedGraphContent
from graphiti_pkm.errors import ConflictingContent, DamagedStore, InvalidInput, PkmError, Unavailable, WriteFailed

MAX_ATTEMPTS = 8
ERASE_DELAY = timedelta(seconds=30)
_JOB: TypeAdapter[Job] = TypeAdapter(Job)


@dataclass(frozen=True)
class FakeJob:
    """One job; ``waits_until`` is the end of its lease or of its delay."""

    id: int
    write_uuid: str
    group_id: str
    job: Job
    waits_until: datetime
    state: Literal["queued", "running", "failed"] = "queued"
    attempts: int = 0
    owner: str = ""
    reason: str = ""


class FakeJournal(Rebuilds, Compared):
    """The port ``Journal`` in memory; ``is_down`` makes every call raise, ``fail_next_append`` the next append."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.now = now
        self.is_down = False
        self.is_read = False
        """Another process holds the log, so that ``erase`` cannot cut it."""
        self.table: dict[str, FakeRow] = {}
        """Rows by write uuid, in order; withdrawn ones are gone."""
        self.jobs: dict[int, FakeJob] = {}
        """Jobs by id; finished ones are gone."""
        self.extractions = FakeExtractionQueue(self.now, self._check, self._answer_of)
        self.saved_graphs = FakeSavedGraphs()
        self.usage = FakeUsageCounts(lambda: self.rebuild is not None)
        self.found: str | None = None
        """What ``damage`` answers."""
        self.refuses: str | None = None
        """What ``refusal`` answers."""
        self.recorded: RecordedEmbedding | None = None
        """Of which model its vectors are."""
        self._faults: list[PkmError] = []
        self._last_seq = 0
        self._last_job = 0

    def fail_next_append(self, error: PkmError | None = None) -> None:
        """The next append raises and keeps nothing."""
        self._faults.append(error or WriteFailed("Nothing was stored. The journal cannot be written."))

    async def append(
        self,
        intent: WriteIntent,
        vectors: Vectors,
        request_hash: str,
        answer: Mapping[str, object],
        effect: Effect | None = None,  # noqa: ARG002 no graph lies in here
    ) -> int:
        self._check()
        if self._faults:
            raise self._faults.pop(0)
        self._refuse_while_rebuilding()
        if intent.uuid in self.table:
            raise ValueError(f"write {intent.uuid} is journalled already")
        if intent.kind in ADDING and any(self._receipt(one.uuid) for one in intent.episodes):
            raise ConflictingContent("The uuid was used for another memory; this one was not stored.")
        if intent.kind is WriteKind.EXTRACT and self.extractions.is_cancelled(intent.uuid):
            raise WriteFailed("Nothing was stored. The job was cancelled while its result was about to be written.")
        self._last_seq += 1
        if intent.forgets is not None:
            self._redact(intent)
        self.usage.forget(intent)
        self.table[intent.uuid] = FakeRow(self._last_seq, intent, dict(vectors), request_hash, dict(answer))
        for job in intent.jobs:
            if isinstance(job, EmbedMissingJob) and any(
                (one.group_id, one.state, one.job) == (intent.group_id, "queued", job) for one in self.jobs.values()
            ):
                continue
            self._last_job += 1
            start = self.now() + (ERASE_DELAY if isinstance(job, EraseJob) else timedelta())
            self.jobs[self._last_job] = FakeJob(self._last_job, intent.uuid, intent.group_id, job, start)
        self.extractions.add(intent.group_id, intent.extractions, intent.uuid)
        return self._last_seq

    async def written(self, write_uuid: str) -> None:
        self._move({write_uuid}, {"intent"}, "written")

    async def withdraw(self, write_uuid: str) -> None:
        self._check()
        self.table.pop(write_uuid, None)
        self.extractions.withdraw(write_uuid)
        self.jobs = {id_: job for id_, job in self.jobs.items() if job.write_uuid != write_uuid}

    async def fail(self, write_uuid: str, reason: str) -> None:
        self._move({write_uuid}, {"intent"}, "failed", reason)

    async def set_aside(self, write_uuid: str, reason: str) -> None:
        self._move({write_uuid}, {"intent", "written", "applied"}, "failed", reason)

    async def begin_attempt(self, write_uuid: str) -> int:
        self._check()
        if write_uuid not in self.table:
            return 0
        row = self.table[write_uuid]
        self.table[write_uuid] = replace(row, attempts=row.attempts + 1)
        return row.attempts + 1

    async def end_attempt(self, write_uuid: str) -> None:
        self._check()
        if write_uuid in self.table:
            self.table[write_uuid] = replace(self.table[write_uuid], attempts=0)

    async def unfinished(self, group_id: str | None) -> Sequence[JournalRow]:
        return [row for row in self._in("intent") if group_id in {None, row.intent.group_id}]

    async def written_until_now(self) -> list[str]:
        return [row.intent.uuid for row in self._in("written")][:1000]

    async def applied(self, write_uuids: Sequence[str]) -> None:
        self._move(set(write_uuids), {"written"}, "applied")

    async def newest_uuids(self, limit: int) -> list[str]:
        return [row.intent.uuid for row in reversed(self._in("written", "applied"))][:limit]

    async def find(self, write_uuids: Sequence[str]) -> Sequence[JournalRow]:
        return [row for row in self._in("intent", "written", "applied") if row.intent.uuid in write_uuids]

    async def rows(self, after_seq: int, limit: int) -> Sequence[JournalRow]:
        return [row for row in self._in("intent", "written", "applied") if row.seq > after_seq][:limit]

    async def stored_answer(self, episode_uuid: str) -> tuple[str, dict[str, object]] | None:
        self._check()
        row = self._receipt(episode_uuid)
        return None if row is None else (row.request_hash, row.answer)

    async def steering(self, episode_uuid: str) -> dict[str, object]:
        self._check()
        row = self._receipt(episode_uuid)
        return {} if row is None else row.intent.steering

    async def episode_count(self) -> int:
        self._check()
        told = {one.uuid for row in self.table.values() for one in row.intent.episodes}
        return sum(self._receipt(uuid) is not None for uuid in told)

    async def refusal(self) -> str | None:
        return self.refuses

    async def damage(self) -> str | None:
        self._check()
        return self.found

    async def counts(self) -> dict[str, int]:
        self._check()
        rows = Counter(str(row.state) for row in self.table.values())
        jobs = Counter(f"jobs_{job.state}" for job in self.jobs.values())
        names = ("intent", "written", "applied", "failed", "jobs_queued", "jobs_running", "jobs_failed")
        return {name: (rows + jobs)[name] for name in names}

    async def backlog(self) -> Backlog:
        self._check()
        return backlog_of(self)

    async def claim_job(self, owner: str, lease_seconds: float) -> tuple[int, str, Job] | None:
        self._check()
        now = self.now()
        for job in list(self.jobs.values()):
            if job.state == "running" and job.waits_until <= now:
                self._put_back(job.id, "whoever worked on it did not come back", now)
        for job in self.jobs.values():
            if job.state == "queued" and job.waits_until <= now:
                until = now + timedelta(seconds=lease_seconds)
                self.jobs[job.id] = replace(job, state="running", owner=owner, waits_until=until)
                return job.id, job.group_id, job.job
        return None

    async def finish_job(self, job_id: int) -> None:
        self._check()
        if self._is_leased(job_id):
            del self.jobs[job_id]

    async def advance_job(self, job_id: int, job: Job, delay_seconds: float = 0) -> None:
        self._check()
        if self._is_leased(job_id):
            fresh = replace(self.jobs[job_id], job=job, state="queued", owner="", attempts=0)
            self.jobs[job_id] = replace(fresh, waits_until=self.now() + timedelta(seconds=delay_seconds))

    async def retry_job(self, job_id: int, reason: str, delay_seconds: float) -> None:
        self._check()
        if self._is_leased(job_id):
            self._put_back(job_id, reason, self.now() + timedelta(seconds=delay_seconds))

    async def pending_links(self, entity_uuids: Sequence[str]) -> set[str]:
        self._check()
        linking = {job.job.entity_uuid for job in self.jobs.values() if isinstance(job.job, BackLinkJob)}
        return linking & set(entity_uuids)

    async def embedding(self) -> RecordedEmbedding | None:
        self._check()
        return self.recorded

    async def record_embedding(self, model: str, dimension: int) -> None:
        self._check()
        self.recorded = self.recorded or RecordedEmbedding(model=model, dimension=dimension)

    async def begin_change(self, model: str, dimension: int) -> None:
        self._check()
        self.recorded = RecordedEmbedding(model=model, dimension=dimension, is_changing=True)

    async def remove_vectors(self, after_seq: int, limit: int) -> int | None:
        self._check()
        rows = sorted((row for row in self.table.values() if row.seq > after_seq), key=lambda row: row.seq)[:limit]
        for row in rows:
            self.table[row.intent.uuid] = replace(row, vectors={})
        return rows[-1].seq if rows else None

    async def end_change(self) -> None:
        self._check()
        if self.recorded is not None:
            self.recorded = self.recorded.model_copy(update={"is_changing": False})

    async def row_contents(self, group_id: str, after_seq: int, limit: int) -> Sequence[RowContent]:
        self._check()
        found = sorted((row for row in self.table.values() if row.intent.group_id == group_id), key=lambda row: row.seq)
        rows = [row for row in found if row.seq > after_seq][:limit]
        return [RowContent(row.seq, row.intent, json.dumps(row.answer, ensure_ascii=False)) for row in rows]

    async def group_rows(
        self, group_id: str, after_seq: int, limit: int, *, with_vectors: bool = False
    ) -> Sequence[JournalRow]:
        rows = [row for row in await self.rows(after_seq, len(self.table)) if row.intent.group_id == group_id][:limit]
        return rows if with_vectors else [FakeRow(row.seq, row.intent, {}, "", {}) for row in rows]

    async def forgetting_writes(self, group_id: str) -> Sequence[WriteIntent]:
        rows = await self.group_rows(group_id, 0, len(self.table))
        return [row.intent for row in rows if row.intent.forgets is not None]

    async def last_write(self, group_id: str, kind: WriteKind) -> WriteIntent | None:
        rows = await self.group_rows(group_id, 0, len(self.table))
        return next((row.intent for row in reversed(rows) if row.intent.kind is kind), None)

    async def saved_graph_contents(self, principal: str) -> Sequence[SavedGraphContent]:
        return self.saved_graphs.kept(principal)

    async def erase(self) -> bool:
        self._check()
        return not self.is_read

    async def open_erasures(self) -> list[int]:
        there = {row.intent.uuid for row in self._in("written", "applied")}
        return [id_ for id_, job in self.jobs.items() if isinstance(job.job, EraseJob) and job.write_uuid in there]

    async def close_erasures(self, job_ids: Sequence[int]) -> None:
        self._check()
        self.jobs = {id_: job for id_, job in self.jobs.items() if id_ not in job_ids}

    async def backup(self, path: Path) -> None:
        self._check()
        _save(path, self.table, self.jobs, self.extractions, self.recorded)

    async def verify_backup(self, path: Path) -> int:
        self._check()
        return len(_load(path, self.now())[0])

    async def restore(self, path: Path, *, drops_unknown: bool = False, former: str = "") -> int:
        self._check()
        rows, jobs, extractions = _load(path, self.now())
        self.extractions.load(extractions)
        self.recorded = _load_embedding(path)
        self.table = {row.intent.uuid: row for row in rows}
        self.jobs = {job.id: job for job in jobs}
        self._last_seq = max((row.seq for row in rows), default=0)
        self._last_job = max(self.jobs, default=0)
        self.rebuild = RebuildInProgress(
            command="restore", began_at=self.now(), drops_unknown=drops_unknown, former=former
        )
        return len(rows)

    def _check(self) -> None:
        if self.is_down:
            raise Unavailable("The journal cannot be reached.")

    def _redact(self, forgetting: WriteIntent) -> None:
        self.saved_graphs.forget(forgetting)
        for uuid, row in self.table.items():
            if row.intent.group_id == forgetting.group_id:
                intent, vectors = redacted(row.intent, row.vectors, forgetting)
                told = forgetting.forgets.answers if forgetting.forgets else ()
                if intent != row.intent or len(vectors) != len(row.vectors) or uuid in told:
                    self.table[uuid] = replace(row, intent=intent, vectors=vectors, request_hash="", answer={})
                else:
                    self.table[uuid] = replace(row, answer=redacted_receipt(row.answer))
        gone, names = forgetting.deletions.entities, remaining_names(forgetting)
        self.jobs = {
            id_: replace(job, job=left)
            for id_, job in self.jobs.items()
            if (left := redacted_job(job.job, forgetting.group_id, gone, names)) is not None
            and job.group_id not in forgetting.deletions.groups
        }
        self.extractions.forget(forgetting)

    def _answer_of(self, write_uuid: str) -> dict[str, object] | None:
        row = self.table.get(write_uuid)
        return None if row is None or row.state == "failed" else row.answer

    def _receipt(self, episode_uuid: str) -> FakeRow | None:
        """The add_memory in force for an episode: not failed, not deleted since."""
        cleared: set[str] = set()
        for row in reversed(self.table.values()):
            if row.state == "failed":
                continue
            cleared |= set(row.intent.deletions.groups)
            if episode_uuid in row.intent.deletions.episodes:
                return None
            if row.intent.kind in ADDING and any(one.uuid == episode_uuid for one in row.intent.episodes):
                return None if row.intent.group_id in cleared else row
        return None

    def _is_leased(self, job_id: int) -> bool:
        return job_id in self.jobs and self.jobs[job_id].state == "running"

    def _put_back(self, job_id: int, reason: str, waits_until: datetime) -> None:
        job = self.jobs[job_id]
        state: Literal["queued", "failed"] = "failed" if job.attempts + 1 >= MAX_ATTEMPTS else "queued"
        back = replace(job, state=state, owner="", reason=reason, attempts=job.attempts + 1)
        self.jobs[job_id] = replace(back, waits_until=waits_until)

    def _in(self, *states: str) -> list[FakeRow]:
        self._check()
        found = [row for row in self.table.values() if row.state in states]
        is_changing = self.recorded is not None and self.recorded.is_changing
        return [replace(row, vectors={}) for row in found] if is_changing else found

    def _move(
        self, uuids: set[str], states: set[str], state: Literal["written", "applied", "failed"], reason: str = ""
    ) -> None:
        self._check()
        for row in list(self.table.values()):
            if row.intent.uuid in uuids and row.state in states:
                self.table[row.intent.uuid] = replace(row, state=state, reason=reason)


def _row_out(row: FakeRow) -> dict[str, Any]:
    vectors = {uuid: vector.tolist() for uuid, vector in row.vectors.items()}
    return {**vars(row), "intent": row.intent.model_dump(mode="json"), "vectors": vectors}


def _row_in(row: dict[str, Any]) -> FakeRow:
    vectors = {uuid: array("f", vector) for uuid, vector in row["vectors"].items()}
    return FakeRow(**{**row, "intent": WriteIntent.model_validate(row["intent"]), "vectors": vectors})


def _save(
    path: Path,
    rows: Mapping[str, FakeRow],
    jobs: Mapping[int, FakeJob],
    extractions: FakeExtractionQueue,
    recorded: RecordedEmbedding | None,
) -> None:
    content = {
        "rows": [_row_out(row) for row in rows.values()],
        "jobs": [[job.id, job.write_uuid, _JOB.dump_python(job.job, mode="json")] for job in jobs.values()],
        "extractions": extractions.save(),
        "embedding": recorded and recorded.model_dump(),
    }
    if path.exists():
        raise InvalidInput("There is a file of this name already; nothing was written.")
    path.write_text(json.dumps(content))


def _load(path: Path, now: datetime) -> tuple[list[FakeRow], list[FakeJob], list[dict[str, Any]]]:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InvalidInput("There is no backup of a journal here; the journal is unchanged.") from error
    try:
        rows = [_row_in(row) for row in content["rows"]]
        extractions = content["extractions"]
        groups = {row.intent.uuid: row.intent.group_id for row in rows}
        jobs = [
            FakeJob(id_, write, groups[write], _JOB.validate_python(job), now) for id_, write, job in content["jobs"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedStore("The backup is damaged; the journal is unchanged.") from error
    return rows, jobs, extractions


def _load_embedding(path: Path) -> RecordedEmbedding | None:
    told = json.loads(path.read_text())["embedding"]
    return None if told is None else RecordedEmbedding(**told)
