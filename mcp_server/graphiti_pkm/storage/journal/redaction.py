"""Forgetting in the journal: earlier rows lose what a write takes out, and then its files do."""

import contextlib
import json
import re
import shutil
import sqlite3
from pathlib import Path

from graphiti_pkm.core.model import redaction
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.operating_system import sync_directory
from graphiti_pkm.storage.journal import extractions, jobs, partial, saved_graphs, usage
from graphiti_pkm.storage.journal.rows import decode, encode, encode_answer

_COPIES = ("*-version-*.sqlite3*", "*.sqlite3.damaged-*", "journal-before-restore-*.sqlite3*")
"""What start-up and restore keep by themselves beside the journal. Backups are the user's own and stay."""

FORMER = "before-sqlite"
"""The directory with what version 0.1 wrote, kept when the memory was brought into one file."""
_TOKEN = re.compile(r"[\w-]+")
"""A uuid stands in JSON as one of them; looking for each of thousands in each row would take minutes."""


def redact(connection: sqlite3.Connection, forgetting: WriteIntent, before_seq: int, now: float) -> None:
    """Take out of every earlier row of the group what this write forgets, inside the caller's transaction."""
    _redact_rows(connection, forgetting, before_seq)
    _redact_receipts(connection, forgetting.group_id, before_seq)
    extractions.forget(connection, forgetting, before_seq, now)
    saved_graphs.forget(connection, forgetting)


def _redact_rows(connection: sqlite3.Connection, forgetting: WriteIntent, before_seq: int) -> None:
    wanted = redaction.concerned(forgetting)
    listed = connection.execute(
        "SELECT seq, intent FROM writes JOIN contents USING (seq) WHERE group_id = ? AND seq < ?",
        (forgetting.group_id, before_seq),
    )
    is_all = bool(forgetting.deletions.groups)
    for seq in [seq for seq, intent in listed if is_all or not wanted.isdisjoint(_TOKEN.findall(intent))]:
        _redact_row(connection, forgetting, seq)
    connection.executemany(
        "UPDATE contents SET request_hash = '', answer = '{}' "
        "WHERE seq = (SELECT seq FROM writes WHERE uuid = ? AND seq < ?)",
        [(uuid, before_seq) for uuid in (forgetting.forgets.answers if forgetting.forgets else ())],
    )
    jobs.forget_names(connection, forgetting.group_id, redaction.remaining_names(forgetting))
    connection.executemany(
        "UPDATE jobs SET state = 'done', payload = '', owner = NULL, lease_until = NULL WHERE entity_uuid = ?",
        [(uuid,) for uuid in forgetting.deletions.entities],
    )
    connection.executemany(
        "UPDATE jobs SET state = 'done', payload = '', owner = NULL, lease_until = NULL WHERE group_id = ? AND seq < ?",
        [(group_id, before_seq) for group_id in forgetting.deletions.groups],
    )


def redact_again(connection: sqlite3.Connection) -> None:
    """For rows that came from two journals: what the newer one forgot, the older may hold."""
    forgetting = connection.execute(
        """
        SELECT seq, intent, vector_uuids, dimension, vectors FROM writes JOIN contents USING (seq)
        WHERE state <> 'failed' AND json_extract(intent, '$.forgets') IS NOT NULL ORDER BY seq
        """
    ).fetchall()
    last: dict[str, int] = {}
    for seq, *columns in forgetting:
        intent = decode(seq, *columns).intent
        _redact_rows(connection, intent, seq)
        extractions.forget_words(connection, intent, seq)
        saved_graphs.forget(connection, intent)
        usage.forget(connection, intent)
        last[intent.group_id] = seq
    for group_id, seq in last.items():  # a receipt loses the same by each of them
        _redact_receipts(connection, group_id, seq)


def _redact_row(connection: sqlite3.Connection, forgetting: WriteIntent, seq: int) -> None:
    """A receipt repeats what was sent, so it goes with any part of it."""
    columns = connection.execute(
        "SELECT intent, vector_uuids, dimension, vectors FROM contents WHERE seq = ?", (seq,)
    ).fetchone()
    row = decode(seq, *columns)
    intent, vectors = redaction.redacted(row.intent, row.vectors, forgetting)
    if intent == row.intent and len(vectors) == len(row.vectors):
        return
    left = encode(intent, vectors, {})
    connection.execute(
        "UPDATE contents SET intent = ?, vector_uuids = ?, dimension = ?, vectors = ?, request_hash = '', answer = ? "
        "WHERE seq = ?",
        (left.intent, left.vector_uuids, left.dimension, left.vectors, left.answer, seq),
    )


def _redact_receipts(connection: sqlite3.Connection, group_id: str, before_seq: int) -> None:
    receipts = connection.execute(
        "SELECT seq, answer FROM writes JOIN contents USING (seq) WHERE group_id = ? AND seq < ? AND answer <> '{}'",
        (group_id, before_seq),
    ).fetchall()
    left = [(encode_answer(redaction.redacted_receipt(json.loads(answer))), seq, answer) for seq, answer in receipts]
    connection.executemany(
        "UPDATE contents SET answer = ? WHERE seq = ?", [(now, seq) for now, seq, before in left if now != before]
    )


def erase(connection: sqlite3.Connection, data_dir: Path) -> bool:
    """Put the write-ahead log into the file and cut it to nothing, and remove copies and what killed processes left.

    False while somebody reads or writes, or makes a copy.
    """
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    for pattern in _COPIES:
        for copy in data_dir.glob(pattern):
            with contextlib.suppress(FileNotFoundError):
                copy.unlink()
    shutil.rmtree(data_dir / FORMER, ignore_errors=True)
    partial.remove_temporary_files(data_dir)
    is_swept = not partial.sweep_all(data_dir)
    sync_directory(data_dir)  # else a power loss brings them back
    return is_swept and not busy and not (data_dir / FORMER).exists()
