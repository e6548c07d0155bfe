"""The queue of durable jobs: leases, retries and progress, in the journal's file."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import TypeAdapter, ValidationError

from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedMissingJob, EraseJob, Job
from graphiti_pkm.core.model.redaction import redacted_job

MAX_ATTEMPTS = 8
ERASE_DELAY = 30.0
"""Seconds in which the forgetting call erases by itself; the job covers the case that it fails or dies."""
_JOB: TypeAdapter[Job] = TypeAdapter(Job)

# Still leased by this owner: another process may have taken over an expired lease, and its progress counts.
_HELD = "id = :id AND state = 'running' AND owner = :owner"


def enqueue(connection: sqlite3.Connection, seq: int, group_id: str, jobs: Iterable[Job], at: float) -> None:
    """Enqueue a write's jobs in the caller's transaction; duplicate jobs become one."""
    jobs = [job for job in jobs if not (isinstance(job, EmbedMissingJob) and _is_queued(connection, group_id, job))]
    connection.executemany(
        "INSERT INTO jobs (seq, group_id, entity_uuid, payload, state, not_before) VALUES (?, ?, ?, ?, 'queued', ?)",
        [
            (
                seq,
                group_id,
                job.entity_uuid if isinstance(job, BackLinkJob) else None,
                _payload(job),
                at + ERASE_DELAY if isinstance(job, EraseJob) else at,
            )
            for job in jobs
        ],
    )


def claim(connection: sqlite3.Connection, owner: str, now: float, lease_seconds: float) -> tuple[int, str, Job] | None:
    """Lease the oldest waiting job; an expired lease counts as a failed attempt."""
    if not _is_waiting(connection, now):
        return None  # without a write transaction, because many idle processes ask every few seconds
    connection.execute(
        """
        UPDATE jobs SET attempts = attempts + 1, owner = NULL, lease_until = NULL, not_before = :now,
            state = CASE WHEN attempts + 1 >= :most THEN 'failed' ELSE 'queued' END,
            reason = 'whoever worked on it did not come back'
        WHERE state = 'running' AND lease_until <= :now
        """,
        {"now": now, "most": MAX_ATTEMPTS},
    )
    found = connection.execute(
        """
        UPDATE jobs SET state = 'running', owner = :owner, lease_until = :until
        WHERE id = (SELECT min(id) FROM jobs WHERE state = 'queued' AND not_before <= :now)
        RETURNING id, group_id, payload
        """,
        {"owner": owner, "until": now + lease_seconds, "now": now},
    ).fetchall()
    if not found:
        return None
    job_id, group_id, payload = found[0]
    return job_id, group_id, decode(job_id, payload)


def decode(job_id: int, payload: str) -> Job:
    """Decode a job. Raises sqlite3.DatabaseError if it is not what was stored."""
    try:
        return _JOB.validate_json(payload)
    except ValidationError:  # the error contains content and is not passed on
        raise sqlite3.DatabaseError(f"job {job_id} is not what was stored") from None


def finish(connection: sqlite3.Connection, job_id: int, owner: str) -> None:
    """Mark as done; its names are removed."""
    connection.execute(
        f"UPDATE jobs SET state = 'done', payload = '', owner = NULL, lease_until = NULL WHERE {_HELD}",  # noqa: S608
        {"id": job_id, "owner": owner},
    )


def advance(connection: sqlite3.Connection, job_id: int, owner: str, job: Job, not_before: float) -> None:
    """Save progress and queue the job again with all its attempts."""
    connection.execute(
        f"""
        UPDATE jobs SET state = 'queued', payload = :payload, attempts = 0, reason = '',
            not_before = :later, owner = NULL, lease_until = NULL
        WHERE {_HELD}
        """,  # noqa: S608
        {"id": job_id, "owner": owner, "payload": _payload(job), "later": not_before},
    )


def retry(connection: sqlite3.Connection, job_id: int, owner: str, reason: str, not_before: float) -> None:
    """Queue it again for later; the last attempt fails it for good."""
    connection.execute(
        f"""
        UPDATE jobs SET state = CASE WHEN attempts + 1 >= :most THEN 'failed' ELSE 'queued' END,
            attempts = attempts + 1, reason = :reason, not_before = :later, owner = NULL, lease_until = NULL
        WHERE {_HELD}
        """,  # noqa: S608
        {"id": job_id, "owner": owner, "reason": reason, "later": not_before, "most": MAX_ATTEMPTS},
    )


def pending_links(connection: sqlite3.Connection, entity_uuids: Sequence[str]) -> set[str]:
    """Entities with a back-link job that is not done."""
    rows = connection.execute(
        "SELECT DISTINCT entity_uuid FROM jobs "
        "WHERE entity_uuid IN (SELECT value FROM json_each(?)) AND state <> 'done'",
        (json.dumps(list(entity_uuids)),),
    )
    return {row[0] for row in rows}


def forget_names(connection: sqlite3.Connection, group_id: str, names: Mapping[str, Collection[str]]) -> None:
    """Restrict back-link jobs of an entity to its remaining names, given by their keys."""
    for entity_uuid in names:
        waiting = connection.execute(
            "SELECT id, payload FROM jobs WHERE entity_uuid = ? AND state <> 'done'", (entity_uuid,)
        ).fetchall()
        for job_id, payload in waiting:
            left = redacted_job(_JOB.validate_json(payload), group_id, (), names)
            if left is None:
                connection.execute(
                    "UPDATE jobs SET state = 'done', payload = '', owner = NULL, lease_until = NULL WHERE id = ?",
                    (job_id,),
                )
            else:
                connection.execute("UPDATE jobs SET payload = ? WHERE id = ?", (_payload(left), job_id))


def open_erasures(connection: sqlite3.Connection) -> list[int]:
    """Open jobs of the kind ``erase``, of writes that the graph has."""
    rows = connection.execute(
        """
        SELECT jobs.id FROM jobs JOIN writes USING (seq)
        WHERE jobs.state <> 'done' AND writes.state IN ('written', 'applied')
            AND json_extract(payload, '$.kind') = 'erase' ORDER BY jobs.id
        """
    )
    return [row[0] for row in rows]


def close(connection: sqlite3.Connection, job_ids: Sequence[int]) -> None:
    """Mark as done, whoever has the lease."""
    connection.execute(
        "UPDATE jobs SET state = 'done', payload = '', owner = NULL, lease_until = NULL "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(job_ids)),),
    )


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Jobs by state, as ``jobs_queued``, ``jobs_running`` and ``jobs_failed``."""
    found = dict(connection.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
    return {f"jobs_{state}": found.get(state, 0) for state in ("queued", "running", "failed")}


def _is_waiting(connection: sqlite3.Connection, now: float) -> bool:
    found = connection.execute(
        """
        SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND not_before <= :now)
            OR EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND lease_until <= :now)
        """,
        {"now": now},
    ).fetchone()
    return bool(found[0])


def _is_queued(connection: sqlite3.Connection, group_id: str, job: Job) -> bool:
    """Whether such a job is queued; a running one may be past this record and does not count."""
    found = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 'queued' AND group_id = ? AND payload = ?)",
        (group_id, _payload(job)),
    ).fetchone()
    return bool(found[0])


def _payload(job: Job) -> str:
    return job.model_dump_json()
