"""Checks that a file is a journal in every table, column and row; a backup is checked before it replaces anything."""

import contextlib
import json
import math
import sqlite3
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError

from graphiti_pkm.core.model import redaction
from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedMissingJob
from graphiti_pkm.core.model.records import ADDING, WriteIntent, WriteKind
from graphiti_pkm.errors import PkmError
from graphiti_pkm.storage.journal import extractions, jobs, saved_graphs
from graphiti_pkm.storage.journal.connection import check
from graphiti_pkm.storage.journal.rows import Row, decode
from graphiti_pkm.storage.journal.schema import statements

_ROWS = """
    SELECT writes.seq, uuid, group_id, kind, recorded_at, state, reason, attempts,
        intent, vector_uuids, contents.dimension, vectors, request_hash, answer
    FROM writes LEFT JOIN contents USING (seq) ORDER BY seq
"""
_SQUARES = (2.0**-126, 2.0**127)
"""Bounds for the squared length of a vector in single precision, in which databases compare vectors."""
_DELETING = (
    *(WriteKind.DELETE_EPISODE, WriteKind.FORGET, WriteKind.CLEAR_GROUP),
    *(WriteKind.RESTORE_SNAPSHOT, WriteKind.MIGRATE),
)
"""Kinds of writes that may have deleted episodes, even if a later write redacted which."""
_DECODING = (sqlite3.Error, PkmError, ValidationError, ValueError, TypeError, KeyError, AttributeError)
"""Errors that decoding may raise. Their texts contain content and are not passed on."""


def check_whole(connection: sqlite3.Connection) -> None:
    """Check the structure of a file of the current version, its tables and every row. Raises sqlite3.DatabaseError."""
    check(connection, thorough=True)
    if _tables(connection) != _expected_tables():
        raise sqlite3.DatabaseError("tables or columns are missing or others than expected")
    if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
        raise sqlite3.DatabaseError("a row refers to one that is missing")
    try:
        _check_writes(connection)
        _check_jobs(connection)
        for _ in saved_graphs.all_graphs(connection):
            pass
    except _DECODING:
        raise sqlite3.DatabaseError("a row is not what was stored") from None


def journal_tables() -> frozenset[str]:
    """Names of the tables of a journal of the current version."""
    return frozenset(_expected_tables())


def _check_writes(connection: sqlite3.Connection) -> None:
    """Each row must match its columns; receipts, jobs and readings must match the writes."""
    vectors, receipts, queued = _Vectors(), _Receipts(), _Queued(connection)
    for (
        seq,
        uuid,
        group_id,
        kind,
        recorded_at,
        state,
        reason,
        attempts,
        *content,
        request_hash,
        answer,
    ) in connection.execute(_ROWS):
        row = decode(seq, *content)
        intent = row.intent
        if (intent.uuid, intent.group_id, intent.kind.value) != (uuid, group_id, kind):
            raise ValueError("the columns of a write and its content differ")
        if datetime.fromisoformat(recorded_at) != intent.recorded_at:
            raise ValueError("a write was recorded at another time than its content says")
        if (state == "failed") != bool(reason) or not isinstance(attempts, int) or attempts < 0:
            raise ValueError("only a write that was set aside has a reason, and it always has one")
        if not isinstance(json.loads(answer), dict):
            raise TypeError("an answer is of another type")
        if intent.kind in ADDING and not request_hash and answer != "{}":
            raise ValueError("forgetting takes the answer out together with the hash of the request")
        vectors.check(row, json.loads(content[1]))
        receipts.add(row, is_failed=state == "failed", is_redacted=not request_hash)
        queued.check(row)
    vectors.check_model(connection)
    receipts.check(connection)


class _Vectors:
    """The vectors of all rows must be valid and of the file's one model."""

    def __init__(self) -> None:
        self._dimensions: set[int] = set()

    def check(self, row: Row, uuids: object) -> None:
        if not isinstance(uuids, list) or not all(isinstance(uuid, str) for uuid in uuids):
            raise TypeError("a list of vectors is of another type")
        if len(row.vectors) != len(uuids):
            raise ValueError("a write has two vectors for one record")
        smallest, largest = _SQUARES
        for vector in row.vectors.values():
            if not smallest < math.fsum(value * value for value in vector) < largest:
                raise ValueError("a vector has no direction")
        self._dimensions.update(map(len, row.vectors.values()))

    def check_model(self, connection: sqlite3.Connection) -> None:
        """Check the model; while it changes, rows may still have vectors of the former one."""
        found = connection.execute("SELECT model, dimension, is_changing FROM embedding").fetchone()
        if found is None:
            if self._dimensions:
                raise ValueError("there are vectors, but no model is recorded")
            return
        model, dimension, is_changing = found
        if not isinstance(model, str) or not model.strip() or is_changing not in {0, 1}:
            raise ValueError("the recorded model is none")
        if not isinstance(dimension, int) or dimension < 1:
            raise ValueError("the recorded dimension is none")
        if not is_changing and not self._dimensions <= {dimension}:
            raise ValueError("vectors are of another dimension than recorded")


class _Deletion(NamedTuple):
    seq: int
    episodes: frozenset[str]
    groups: frozenset[str]
    is_shell: bool
    """Its deletions were redacted when its own group was cleared."""


class _Receipts:
    """The expected table of episodes, computed from the writes by the rules of ``rows`` and ``redaction``."""

    def __init__(self) -> None:
        self._added: set[tuple[str, int]] = set()
        self._redacted: set[int] = set()
        self._deletions: dict[str, _Deletion] = {}
        self._last_of_episode: dict[str, int] = {}
        self._last_of_group: dict[str, int] = {}
        self._groups_with_failures: set[str] = set()

    def add(self, row: Row, *, is_failed: bool, is_redacted: bool) -> None:
        """Add the next write."""
        intent, gone = row.intent, row.intent.deletions
        if intent.kind in ADDING:
            self._added.update((episode.uuid, row.seq) for episode in intent.episodes)
            if is_redacted:
                self._redacted.add(row.seq)
        if is_failed:
            self._groups_with_failures.update((intent.group_id, *gone.groups))
            return
        if gone.episodes or gone.groups or intent.kind in _DELETING:
            deletion = _Deletion(row.seq, frozenset(gone.episodes), frozenset(gone.groups), _is_shell(intent))
            self._deletions[intent.uuid] = deletion
        self._last_of_episode.update(dict.fromkeys(gone.episodes, row.seq))
        self._last_of_group.update(dict.fromkeys(gone.groups, row.seq))

    def check(self, connection: sqlite3.Connection) -> None:
        """Compare with the table, after the last write."""
        rows = connection.execute(
            "SELECT episodes.uuid, seq, deleted_by, group_id FROM episodes JOIN writes USING (seq)"
        )
        for uuid, seq, deleted_by, group_id in rows:
            if (uuid, seq) not in self._added and seq not in self._redacted:
                raise ValueError("a receipt is of an episode that its write did not add")
            self._added.discard((uuid, seq))
            if deleted_by is not None:
                self._check_deleted(uuid, seq, group_id, self._deletions[deleted_by])
            elif self._is_deleted(uuid, seq, group_id):
                raise ValueError("the receipt of a deleted episode is in force")
        if self._added:
            raise ValueError("an episode has no receipt")

    def _is_deleted(self, uuid: str, seq: int, group_id: str) -> bool:
        """Whether an episode is deleted; one deleted twice counts again if the first deletion was set aside."""
        last = max(self._last_of_episode.get(uuid, 0), self._last_of_group.get(group_id, 0))
        return last > seq and group_id not in self._groups_with_failures

    @staticmethod
    def _check_deleted(uuid: str, seq: int, group_id: str, deletion: _Deletion) -> None:
        is_deleted = uuid in deletion.episodes or group_id in deletion.groups or deletion.is_shell
        if deletion.seq <= seq or not is_deleted:
            raise ValueError("a receipt is deleted by a write that did not delete its episode")


def _is_shell(intent: WriteIntent) -> bool:
    return intent == WriteIntent(**{name: getattr(intent, name) for name in redaction.SHELL_OF_A_WRITE})


class _Queued:
    """Jobs and readings requested by the writes; their rows stay when they are done."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._jobs = dict(connection.execute("SELECT seq, count(*) FROM jobs GROUP BY seq").fetchall())
        self._readings = set(connection.execute("SELECT seq, job FROM extractions WHERE seq IS NOT NULL").fetchall())

    def check(self, row: Row) -> None:
        # ``jobs.enqueue`` skips a second job for missing vectors.
        if self._jobs.get(row.seq, 0) < sum(not isinstance(job, EmbedMissingJob) for job in row.intent.jobs):
            raise ValueError("a job of a write is missing")
        if not {(row.seq, job.uuid) for job in row.intent.extractions} <= self._readings:
            raise ValueError("a reading of a write is missing")


def _check_jobs(connection: sqlite3.Connection) -> None:
    for job_id, group_id, of_write, entity_uuid, payload, state in connection.execute(
        "SELECT id, jobs.group_id, writes.group_id, entity_uuid, payload, jobs.state FROM jobs JOIN writes USING (seq)"
    ):
        if group_id != of_write:
            raise ValueError("a job is of another group than its write")
        if state == "done":
            continue
        job = jobs.decode(job_id, payload)
        if entity_uuid != (job.entity_uuid if isinstance(job, BackLinkJob) else None):
            raise ValueError("the columns of a job and its content differ")
    for job_id, name, group_id, of_write, episode_uuid, payload, attempts in connection.execute(
        """
        SELECT id, job, extractions.group_id, writes.group_id, episode_uuid, payload, extractions.attempts
        FROM extractions LEFT JOIN writes USING (seq)
        """
    ):
        reading = extractions.decode(job_id, group_id, payload, attempts).job
        if (reading.uuid, reading.episode_uuid) != (name, episode_uuid) or of_write not in {None, group_id}:
            raise ValueError("the columns of a reading and its content differ")


def _expected_tables() -> dict[str, list[tuple[object, ...]]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        for statement in statements():
            fresh.execute(statement)
        return _tables(fresh)


def _tables(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Columns by table, in order, with type, default and key; including views and generated columns."""
    names = connection.execute(
        "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    ).fetchall()
    return {name: [(kind,), *_columns(connection, name)] for name, kind in names}


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    query = "SELECT name, type, \"notnull\", coalesce(dflt_value, ''), pk, hidden FROM pragma_table_xinfo(?)"
    return connection.execute(query, (table,)).fetchall()
