"""The extraction queue in the journal's file: leases, order within a group, retries.

Functions that change more than one row expect the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.extraction import LOST, LOST_REMEDY, MAX_ATTEMPTS, ClaimedExtraction

# Literally as in the partial index; otherwise SQLite does not use it.
_OPEN = "state IN ('queued', 'running')"
_HELD = "id = :id AND state = 'running' AND owner = :owner"
_FREE = "owner = NULL, lease_until = NULL"
_IDS = "id IN (SELECT value FROM json_each(:ids))"
_WITHOUT_WORDS = "payload = json_set(payload, '$.instructions', '')"
_IS_WRITTEN = "EXISTS (SELECT 1 FROM writes WHERE writes.uuid = extractions.job AND writes.state <> 'failed')"

# The first job of each group is found by jumping from group to group in the index, however many jobs wait.
# A job that was retried by hand may be older than a running one of its group.
_OPEN_JOBS = f"extractions INDEXED BY extractions_open WHERE {_OPEN}"
_NEXT = f"""
    WITH RECURSIVE waiting(name) AS (
        SELECT min(group_id) FROM {_OPEN_JOBS}
        UNION ALL
        SELECT (SELECT min(group_id) FROM {_OPEN_JOBS} AND group_id > name) FROM waiting WHERE name IS NOT NULL
    ),
    heads(id) AS (SELECT (SELECT min(id) FROM {_OPEN_JOBS} AND group_id = name) FROM waiting WHERE name IS NOT NULL)
    SELECT min(head.id) FROM heads JOIN extractions AS head USING (id)
    WHERE head.state = 'queued' AND head.not_before <= :now AND NOT EXISTS (
        SELECT 1 FROM extractions AS other WHERE other.group_id = head.group_id AND other.state = 'running'
    )
"""  # noqa: S608 our own conditions


def enqueue(
    connection: sqlite3.Connection, seq: int | None, group_id: str, jobs: Iterable[ExtractJob], at: float
) -> list[int]:
    """Add jobs, with or without a write; returns their ids."""
    return [
        connection.execute(
            """
            INSERT INTO extractions (job, seq, group_id, episode_uuid, payload, state, not_before, queued_at)
            VALUES (?, ?, ?, ?, ?, 'queued', ?, ?) RETURNING id
            """,
            (job.uuid, seq, group_id, job.episode_uuid, job.model_dump_json(), at, at),
        ).fetchall()[0][0]
        for job in jobs
    ]


def may_claim(connection: sqlite3.Connection, now: float) -> bool:
    """Whether any job can be leased; needs no write transaction, because idle processes ask every few seconds."""
    if is_paused(connection):
        return False
    lost = "SELECT EXISTS (SELECT 1 FROM extractions WHERE state = 'running' AND lease_until <= ?)"
    if connection.execute(lost, (now,)).fetchone()[0]:
        return True
    return connection.execute(_NEXT, {"now": now}).fetchone()[0] is not None


def claim(connection: sqlite3.Connection, owner: str, now: float, until: float) -> tuple[int, str, str, int] | None:
    """Lease the oldest job that may start: returns id, group, payload, failed attempts."""
    if is_paused(connection):
        return None
    connection.execute(
        f"""
        UPDATE extractions SET attempts = attempts + 1, not_before = :now, {_FREE}, reason = :reason,
            state = iif(attempts + 1 >= :most, 'failed', 'queued'),
            remedy = iif(attempts + 1 >= :most, :remedy, ''),
            finished_at = iif(attempts + 1 >= :most, :now, NULL)
        WHERE state = 'running' AND lease_until <= :now
        """,  # noqa: S608
        {"now": now, "most": MAX_ATTEMPTS, "reason": LOST, "remedy": LOST_REMEDY},
    )
    found = connection.execute(
        f"""
        UPDATE extractions SET state = 'running', owner = :owner, lease_until = :until WHERE id = ({_NEXT})
        RETURNING id, group_id, payload, attempts
        """,  # noqa: S608
        {"now": now, "owner": owner, "until": until},
    ).fetchall()
    return found[0] if found else None


def decode(job_id: int, group_id: str, payload: str, attempts: int) -> ClaimedExtraction:
    """Decode a leased job."""
    try:
        job = ExtractJob.model_validate_json(payload)
    except ValidationError:  # the error may contain content and is not passed on
        raise sqlite3.DatabaseError(f"extraction {job_id} is not what was stored") from None
    return ClaimedExtraction(id=job_id, group_id=group_id, job=job, attempts=attempts)


def heartbeat(connection: sqlite3.Connection, job_id: int, owner: str, until: float) -> bool:
    """Prolong a lease, if it is still the owner's."""
    return _changes(
        connection,
        f"UPDATE extractions SET lease_until = :until WHERE {_HELD}",  # noqa: S608
        {"id": job_id, "owner": owner, "until": until},
    )


def finish(connection: sqlite3.Connection, job_id: int, owner: str, now: float) -> bool:
    """Mark as done; its answers and instructions are removed."""
    has_lease = _changes(
        connection,
        f"""
        UPDATE extractions SET state = 'done', finished_at = :now, reason = '', remedy = '', {_FREE}, {_WITHOUT_WORDS}
        WHERE {_HELD}
        """,  # noqa: S608
        {"id": job_id, "owner": owner, "now": now},
    )
    return has_lease and _drop_answers(connection, [job_id])


def put_back(
    connection: sqlite3.Connection,
    job_id: int,
    owner: str,
    now: float,
    delay_seconds: float,
    reason: str,
    remedy: str,
    *,
    counts: bool,
) -> bool:
    """Queue it again for later; if the attempt counts, the last one fails the job."""
    return _changes(
        connection,
        f"""
        UPDATE extractions SET attempts = attempts + :counts, not_before = :later, reason = :reason, remedy = :remedy,
            state = iif(:counts AND attempts + 1 >= :most, 'failed', 'queued'),
            finished_at = iif(:counts AND attempts + 1 >= :most, :now, NULL), {_FREE}
        WHERE {_HELD}
        """,  # noqa: S608
        {
            "id": job_id,
            "owner": owner,
            "counts": int(counts),
            "most": MAX_ATTEMPTS,
            "now": now,
            "later": now + delay_seconds,
            "reason": reason,
            "remedy": remedy,
        },
    )


def fail(connection: sqlite3.Connection, job_id: int, owner: str, now: float, reason: str, remedy: str) -> bool:
    """Fail it for good; a retry finds its answers."""
    return _changes(
        connection,
        f"""
        UPDATE extractions SET state = 'failed', attempts = attempts + 1, finished_at = :now, reason = :reason,
            remedy = :remedy, {_FREE}
        WHERE {_HELD}
        """,  # noqa: S608
        {"id": job_id, "owner": owner, "now": now, "reason": reason, "remedy": remedy},
    )


def drop(connection: sqlite3.Connection, job_id: int, owner: str, now: float, reason: str) -> bool:
    """Cancel a job on behalf of its own worker."""
    has_lease = _changes(
        connection,
        f"""
        UPDATE extractions SET state = 'cancelled', finished_at = :now, reason = :reason, remedy = '', {_FREE}
        WHERE {_HELD}
        """,  # noqa: S608
        {"id": job_id, "owner": owner, "now": now, "reason": reason},
    )
    return has_lease and _drop_answers(connection, [job_id])


def retry(connection: sqlite3.Connection, job_ids: Sequence[int], now: float) -> int:
    """Queue failed, cancelled or delayed jobs again with all attempts; returns how many."""
    return connection.execute(
        f"""
        UPDATE extractions SET state = 'queued', attempts = 0, not_before = :now, reason = '', remedy = '',
            finished_at = NULL
        WHERE {_IDS} AND (state IN ('failed', 'cancelled') OR state = 'queued' AND not_before > :now)
        """,  # noqa: S608
        {"ids": json.dumps(list(job_ids)), "now": now},
    ).rowcount


def is_cancelled(connection: sqlite3.Connection, job_uuid: str) -> bool:
    """Whether it was cancelled, asked in the transaction of the job's write, which a cancellation may precede."""
    found = connection.execute("SELECT state FROM extractions WHERE job = ?", (job_uuid,)).fetchone()
    return found is not None and found[0] == "cancelled"


def cancel(connection: sqlite3.Connection, job_ids: Sequence[int], now: float) -> int:
    """Cancel jobs that have not been written; returns how many."""
    gone = connection.execute(
        f"""
        UPDATE extractions SET state = 'cancelled', finished_at = :now, reason = '', remedy = '', {_FREE}
        WHERE {_IDS} AND {_OPEN} AND NOT {_IS_WRITTEN} RETURNING id
        """,  # noqa: S608
        {"ids": json.dumps(list(job_ids)), "now": now},
    ).fetchall()
    _drop_answers(connection, [row[0] for row in gone])
    return len(gone)


def forget(connection: sqlite3.Connection, forgetting: WriteIntent, before_seq: int, now: float) -> None:
    """Remove a group's answers: any may contain what a write forgets, as may the reading in progress.

    A running job is taken from its owner and starts again on the remaining text; a job of a removed episode ends.
    """
    forget_words(connection, forgetting, before_seq)
    connection.execute(
        f"UPDATE extractions SET state = 'queued', {_FREE} WHERE group_id = ? AND state = 'running'",  # noqa: S608
        (forgetting.group_id,),
    )
    connection.executemany(
        f"""
        UPDATE extractions SET state = 'cancelled', finished_at = ?, reason = '', remedy = ''
        WHERE {_OPEN} AND (episode_uuid = ? OR group_id = ?)
        """,  # noqa: S608
        [(now, one, one) for one in (*forgetting.deletions.episodes, *forgetting.deletions.groups)],
    )


def forget_words(connection: sqlite3.Connection, forgetting: WriteIntent, before_seq: int) -> None:
    """Remove kept answers of the group, and instructions for the episodes concerned."""
    forgets, gone = forgetting.forgets, forgetting.deletions
    episodes = (*gone.episodes, *(text.uuid for text in (forgets.episodes if forgets is not None else ())))
    connection.execute(
        "DELETE FROM model_answers WHERE (SELECT group_id FROM extractions WHERE id = extraction_id) = ?",
        (forgetting.group_id,),
    )
    connection.executemany(
        f"""
        UPDATE extractions SET {_WITHOUT_WORDS}
        WHERE (episode_uuid = ? OR group_id = ?) AND coalesce(seq, 0) < ?
        """,  # noqa: S608
        [(one, one, before_seq) for one in (*episodes, *gone.groups)],
    )


def set_paused(connection: sqlite3.Connection, *, paused: bool) -> None:
    """Set whether jobs may be started."""
    connection.execute(
        "INSERT OR IGNORE INTO extraction_pause VALUES (1)" if paused else "DELETE FROM extraction_pause"
    )


def is_paused(connection: sqlite3.Connection) -> bool:
    """Whether jobs are paused."""
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM extraction_pause)").fetchone()[0])


def _changes(connection: sqlite3.Connection, query: str, parameters: dict[str, object]) -> bool:
    return connection.execute(query, parameters).rowcount > 0


def _drop_answers(connection: sqlite3.Connection, job_ids: Sequence[int]) -> bool:
    connection.executemany("DELETE FROM model_answers WHERE extraction_id = ?", [(job_id,) for job_id in job_ids])
    return True
