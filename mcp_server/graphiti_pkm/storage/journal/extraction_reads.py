"""Reads of the extraction queue: each query reads one range of an index."""

import itertools
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from graphiti_pkm.core.ports.extraction import ExtractionRecord, ExtractionState, Usage

STATES: tuple[ExtractionState, ...] = get_args(ExtractionState)

_PLAIN = ("id", "group_id", "episode_uuid", "job_uuid", "task", "state", "attempts", "reason", "remedy")
_TIMES = ("queued_at", "not_before", "finished_at")
_COSTS = ("calls", "prompt_tokens", "completion_tokens")
_RECORD = """
    SELECT id, group_id, episode_uuid, job AS job_uuid, state,
        coalesce(json_extract(payload, '$.task'), 'episode') AS task, attempts, reason, remedy,
        queued_at, not_before, finished_at, calls, prompt_tokens, completion_tokens,
        CASE state WHEN 'done' THEN (
            SELECT answer FROM writes JOIN contents USING (seq)
            WHERE writes.uuid = extractions.job AND writes.state <> 'failed'
        ) END AS answer
    FROM extractions
"""


def find(connection: sqlite3.Connection, job_ids: Sequence[int]) -> list[ExtractionRecord]:
    """Those jobs, in the order of their ids."""
    where = "WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id"
    return _records(connection, where, {"ids": json.dumps(list(job_ids))})


def of_episodes(connection: sqlite3.Connection, episode_uuids: Sequence[str]) -> list[ExtractionRecord]:
    """The latest job of each episode."""
    return _records(
        connection,
        """
        WHERE id IN (
            SELECT max(id) FROM extractions WHERE episode_uuid IN (SELECT value FROM json_each(:uuids))
            GROUP BY episode_uuid
        ) ORDER BY id
        """,
        {"uuids": json.dumps(list(episode_uuids))},
    )


def of_jobs(connection: sqlite3.Connection, job_uuids: Sequence[str]) -> list[ExtractionRecord]:
    """The jobs of these uuids."""
    where = "WHERE job IN (SELECT value FROM json_each(:uuids)) ORDER BY id"
    return _records(connection, where, {"uuids": json.dumps(list(job_uuids))})


def former(connection: sqlite3.Connection, job_id: int) -> ExtractionRecord | None:
    """The latest done job of the same episode before this one."""
    where = """
        WHERE episode_uuid = (SELECT episode_uuid FROM extractions WHERE id = :id) AND state = 'done' AND id < :id
        ORDER BY id DESC LIMIT 1
    """
    return next(iter(_records(connection, where, {"id": job_id})), None)


def page(
    connection: sqlite3.Connection,
    states: Sequence[ExtractionState],
    group_ids: Sequence[str] | None,
    limit: int,
    before_id: int | None,
) -> list[ExtractionRecord]:
    """Newest first. Each state and group is one range of an index, read only as far as needed."""
    group = "" if group_ids is None else "AND group_id = :group"
    where = f"WHERE state = :state {group} AND (:before IS NULL OR id < :before) ORDER BY id DESC LIMIT :limit"
    stretches = itertools.product(dict.fromkeys(states), [None] if group_ids is None else dict.fromkeys(group_ids))
    found = [
        record
        for state, name in stretches
        for record in _records(connection, where, {"state": state, "group": name, "before": before_id, "limit": limit})
    ]
    return sorted(found, key=lambda record: -record.id)[:limit]


def sizes(connection: sqlite3.Connection, group_ids: Sequence[str] | None) -> dict[ExtractionState, int]:
    """How many jobs there are in each state."""
    where = "" if group_ids is None else "WHERE group_id IN (SELECT value FROM json_each(?))"
    found = dict(
        connection.execute(
            f"SELECT state, count(*) FROM extractions {where} GROUP BY state",  # noqa: S608
            () if group_ids is None else (json.dumps(list(group_ids)),),
        ).fetchall()
    )
    return {state: found.get(state, 0) for state in STATES}


def _records(connection: sqlite3.Connection, where: str, parameters: Mapping[str, object]) -> list[ExtractionRecord]:
    cursor = connection.execute(_RECORD + where, parameters)
    names = [column[0] for column in cursor.description]
    return [_record(dict(zip(names, row, strict=True))) for row in cursor.fetchall()]


def _record(row: Mapping[str, Any]) -> ExtractionRecord:
    return ExtractionRecord(
        **{name: row[name] for name in _PLAIN},
        **{name: None if row[name] is None else datetime.fromtimestamp(row[name], UTC) for name in _TIMES},
        usage=Usage(**{name: row[name] for name in _COSTS}),
        answer=json.loads(row["answer"] or "{}"),
    )
