"""Model answers of queued jobs, kept until the job ends, and their cost."""

import sqlite3

from graphiti_pkm.core.ports.extraction import Usage


def find(connection: sqlite3.Connection, job_id: int, request_hash: str) -> str | None:
    """A kept answer."""
    found = connection.execute(
        "SELECT answer FROM model_answers WHERE extraction_id = ? AND request_hash = ?", (job_id, request_hash)
    ).fetchone()
    return None if found is None else str(found[0])


def keep(connection: sqlite3.Connection, job_id: int, owner: str, request_hash: str, answer: str) -> None:
    """Keep an answer, unless the job was taken from its owner by cancelling or forgetting."""
    connection.execute(
        """
        INSERT OR REPLACE INTO model_answers SELECT id, :hash, :answer FROM extractions
        WHERE id = :id AND state = 'running' AND owner = :owner
        """,
        {"id": job_id, "owner": owner, "hash": request_hash, "answer": answer},
    )


def count(connection: sqlite3.Connection, job_id: int, day: str, usage: Usage) -> None:
    """Add the cost of a call to its job and its day."""
    cost = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    connection.execute(
        """
        INSERT INTO model_usage VALUES (?, ?, ?, ?) ON CONFLICT (day) DO UPDATE SET calls = calls + excluded.calls,
            prompt_tokens = prompt_tokens + excluded.prompt_tokens,
            completion_tokens = completion_tokens + excluded.completion_tokens
        """,
        (day, *cost),
    )
    connection.execute(
        """
        UPDATE extractions SET calls = calls + ?, prompt_tokens = prompt_tokens + ?,
            completion_tokens = completion_tokens + ?
        WHERE id = ?
        """,
        (*cost, job_id),
    )


def spent_by(connection: sqlite3.Connection, job_id: int) -> Usage:
    """Cost of all calls of a job, in all its attempts."""
    columns = "SELECT calls, prompt_tokens, completion_tokens FROM extractions WHERE id = ?"
    return _usage(connection.execute(columns, (job_id,)).fetchone())


def spent_on(connection: sqlite3.Connection, day: str) -> Usage:
    """Cost of all jobs on a day."""
    columns = "SELECT calls, prompt_tokens, completion_tokens FROM model_usage WHERE day = ?"
    return _usage(connection.execute(columns, (day,)).fetchone())


def spent_in_all(connection: sqlite3.Connection) -> Usage:
    """Cost of all jobs so far."""
    sums = ", ".join(f"coalesce(sum({name}), 0)" for name in ("calls", "prompt_tokens", "completion_tokens"))
    return _usage(connection.execute(f"SELECT {sums} FROM model_usage").fetchone())  # noqa: S608 our own columns


def _usage(row: tuple[int, int, int] | None) -> Usage:
    calls, prompt, completion = row or (0, 0, 0)
    return Usage(calls=calls, prompt_tokens=prompt, completion_tokens=completion)
