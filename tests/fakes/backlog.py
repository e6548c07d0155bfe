"""What the fake journal has not done yet."""

from typing import TYPE_CHECKING

from graphiti_pkm.core.ports.metrics import Backlog

if TYPE_CHECKING:
    from tests.fakes.journal import FakeJournal


def backlog_of(journal: "FakeJournal") -> Backlog:
    """Ages from now back to the oldest of each kind, and attempts that failed."""
    now, rows = journal.now(), journal.table
    jobs = list(journal.jobs.values())
    extractions = [one for one in journal.extractions.table.values() if one.state in {"queued", "running", "failed"}]
    writes = [row.intent.recorded_at for row in rows.values() if row.state == "intent"]
    open_jobs = [rows[job.write_uuid].intent.recorded_at for job in jobs if job.state != "failed"]
    open_extractions = [one.queued_at for one in extractions if one.state != "failed"]
    ages = [(now - min(found)).total_seconds() if found else 0.0 for found in (writes, open_jobs, open_extractions)]
    return Backlog(
        oldest_write=ages[0],
        oldest_job=ages[1],
        oldest_extraction=ages[2],
        job_attempts=sum(job.attempts for job in jobs),
        extraction_attempts=sum(one.attempts for one in extractions),
    )
