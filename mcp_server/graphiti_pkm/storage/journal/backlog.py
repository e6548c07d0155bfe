"""Counts the journal's open work for the operator: each query reads only open rows, through an index."""

import sqlite3
from datetime import datetime

from graphiti_pkm.core.ports.metrics import Backlog


def read(connection: sqlite3.Connection, now: datetime, steady: float) -> Backlog:
    """Ages of the oldest open row of each kind, and failed attempts."""
    write = connection.execute("SELECT min(recorded_at) FROM writes WHERE state = 'intent'").fetchone()[0]
    job = connection.execute(
        "SELECT min(recorded_at) FROM jobs JOIN writes USING (seq) WHERE jobs.state IN ('queued', 'running')"
    ).fetchone()[0]
    extraction = connection.execute(
        "SELECT min(queued_at) FROM extractions WHERE state IN ('queued', 'running')"
    ).fetchone()[0]
    return Backlog(
        oldest_write=_age(now, write),
        oldest_job=_age(now, job),
        oldest_extraction=0 if extraction is None else max(0.0, steady - extraction),
        job_attempts=_attempts(connection, "jobs"),
        extraction_attempts=_attempts(connection, "extractions"),
    )


def _age(now: datetime, recorded_at: str | None) -> float:
    return 0 if recorded_at is None else max(0.0, (now - datetime.fromisoformat(recorded_at)).total_seconds())


def _attempts(connection: sqlite3.Connection, table: str) -> int:
    query = f"SELECT coalesce(sum(attempts), 0) FROM {table} WHERE state IN ('queued', 'running', 'failed')"  # noqa: S608
    return int(connection.execute(query).fetchone()[0])
