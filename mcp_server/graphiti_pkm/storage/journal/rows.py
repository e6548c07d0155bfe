"""Writes as rows: how an intent and its vectors are stored and read back."""

import json
import sqlite3
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphiti_pkm.core.model.records import ADDING, Vector, Vectors, WriteIntent
from graphiti_pkm.core.ports.erasing import RowContent
from graphiti_pkm.errors import ConflictingContent
from graphiti_pkm.storage.journal import extractions, jobs

_FLOAT_BYTES = 4
_SELECT = """
    SELECT writes.seq, intent, iif(is_changing, '[]', vector_uuids), contents.dimension, iif(is_changing, x'', vectors)
    FROM writes JOIN contents USING (seq) LEFT JOIN embedding
"""
"""While the vectors of another model are being removed, none is given out."""
_WITHOUT_VECTORS = "SELECT writes.seq, intent, '[]', 0, x'' FROM writes JOIN contents USING (seq) "


@dataclass(frozen=True)
class Row:
    """One write as it was journalled."""

    seq: int
    intent: WriteIntent
    vectors: Vectors


@dataclass(frozen=True)
class Encoded:
    """A write as columns."""

    intent: str
    vector_uuids: str
    dimension: int
    vectors: bytes
    answer: str


def encode(intent: WriteIntent, vectors: Vectors, answer: Mapping[str, object]) -> Encoded:
    """Vectors of one dimension, as little-endian float32 one after the other in the order of their uuids."""
    lengths = {len(vector) for vector in vectors.values()}
    if len(lengths) > 1:
        raise ValueError(f"vectors of one write differ in dimension: {sorted(lengths)}")
    return Encoded(
        intent=intent.model_dump_json(),
        vector_uuids=json.dumps(list(vectors), separators=(",", ":")),
        dimension=lengths.pop() if lengths else 0,
        vectors=b"".join(_little_endian(vector).tobytes() for vector in vectors.values()),
        answer=encode_answer(answer),
    )


def encode_answer(answer: Mapping[str, object]) -> str:
    """A receipt as its column."""
    return json.dumps(dict(answer), ensure_ascii=False, separators=(",", ":"))


def decode(seq: int, intent: str, vector_uuids: str, dimension: int, vectors: bytes) -> Row:
    """The row as it was. Raises sqlite3.DatabaseError if the columns are no longer what was stored."""
    try:
        uuids = json.loads(vector_uuids)
        whole = WriteIntent.model_validate_json(intent)
    except ValueError:  # json's and pydantic's errors are ValueErrors; they hold content and are not passed on
        raise _unreadable(seq) from None
    size = dimension * _FLOAT_BYTES
    if len(vectors) != size * len(uuids):
        raise _unreadable(seq)
    return Row(seq, whole, {uuid: _vector(vectors[i * size : (i + 1) * size]) for i, uuid in enumerate(uuids)})


def insert(
    connection: sqlite3.Connection,
    intent: WriteIntent,
    row: Encoded,
    request_hash: str,
    at: float,
    state: str = "intent",
) -> int:
    """Add a write with its jobs and receipts, inside the caller's transaction; returns its sequence number."""
    cursor = connection.execute(
        "INSERT INTO writes (uuid, group_id, kind, recorded_at, state) VALUES (?, ?, ?, ?, ?)",
        (intent.uuid, intent.group_id, intent.kind.value, intent.recorded_at.isoformat(), state),
    )
    seq = cursor.lastrowid
    assert seq is not None  # noqa: S101 an INSERT of one row has one
    connection.execute(
        "INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)",
        (seq, row.intent, row.vector_uuids, row.dimension, row.vectors, request_hash, row.answer),
    )
    if intent.kind in ADDING:
        for episode in intent.episodes:
            _keep_one_answer(connection, episode.uuid, seq)
    connection.executemany(
        "UPDATE episodes SET deleted_by = ? WHERE uuid = ? AND deleted_by IS NULL",
        [(intent.uuid, uuid) for uuid in intent.deletions.episodes],
    )
    connection.executemany(
        """
        UPDATE episodes SET deleted_by = ?
        WHERE deleted_by IS NULL AND seq IN (SELECT seq FROM writes WHERE group_id = ? AND seq < ?)
        """,
        [(intent.uuid, group_id, seq) for group_id in intent.deletions.groups],
    )
    jobs.enqueue(connection, seq, intent.group_id, intent.jobs, at)
    extractions.enqueue(connection, seq, intent.group_id, intent.extractions, at)
    return seq


def withdraw(connection: sqlite3.Connection, write_uuid: str) -> None:
    """Remove a write with everything that hangs on it, inside the caller's transaction."""
    undelete(connection, write_uuid)
    connection.execute("DELETE FROM writes WHERE uuid = ?", (write_uuid,))


def undelete(connection: sqlite3.Connection, write_uuid: str) -> None:
    """The receipts that this write's deletions had put out of force count again."""
    connection.execute("UPDATE episodes SET deleted_by = NULL WHERE deleted_by = ?", (write_uuid,))


def select(connection: sqlite3.Connection, where: str, parameters: Sequence[object]) -> list[Row]:
    """Rows in order. ``where`` is SQL of ours, never input."""
    return [decode(*row) for row in connection.execute(_SELECT + where, parameters)]


def select_uuids(connection: sqlite3.Connection, uuids: Iterable[str]) -> list[Row]:
    """Those writes in order, failed ones left out."""
    where = "WHERE uuid IN (SELECT value FROM json_each(?)) AND state <> 'failed' ORDER BY writes.seq"
    return select(connection, where, (json.dumps(list(uuids)),))


def kept(connection: sqlite3.Connection, group_id: str, after_seq: int, limit: int) -> list[RowContent]:
    """Rows of a group in order, whatever became of them, without their vectors."""
    found = connection.execute(
        """
        SELECT seq, intent, answer FROM writes JOIN contents USING (seq) WHERE group_id = ? AND seq > ?
        ORDER BY seq LIMIT ?
        """,
        (group_id, after_seq, limit),
    )
    return [RowContent(seq, decode(seq, intent, "[]", 0, b"").intent, answer) for seq, intent, answer in found]


def of_group(
    connection: sqlite3.Connection, group_id: str, after_seq: int, limit: int, *, with_vectors: bool
) -> list[Row]:
    """Rows of a group in order, without those that were set aside."""
    columns = _SELECT if with_vectors else _WITHOUT_VECTORS
    where = "WHERE group_id = ? AND writes.seq > ? AND state <> 'failed' ORDER BY writes.seq LIMIT ?"
    return [decode(*row) for row in connection.execute(columns + where, (group_id, after_seq, limit))]


def forgetting(connection: sqlite3.Connection, group_id: str) -> list[WriteIntent]:
    """Writes of a group that forget something, in order."""
    found = connection.execute(
        _WITHOUT_VECTORS + "WHERE group_id = ? AND state <> 'failed' AND json_extract(intent, '$.forgets') IS NOT NULL "
        "ORDER BY writes.seq",
        (group_id,),
    )
    return [decode(*row).intent for row in found]


def last_of_kind(connection: sqlite3.Connection, group_id: str, kind: str) -> WriteIntent | None:
    """The last write of a kind in a group."""
    found = connection.execute(
        _WITHOUT_VECTORS + "WHERE group_id = ? AND kind = ? AND state <> 'failed' ORDER BY writes.seq DESC LIMIT 1",
        (group_id, kind),
    ).fetchone()
    return None if found is None else decode(*found).intent


_IN_FORCE = """
    FROM episodes JOIN writes USING (seq) JOIN contents USING (seq)
    WHERE episodes.uuid = ? AND deleted_by IS NULL AND state <> 'failed'
    ORDER BY seq DESC LIMIT 1
"""
"""The add_memory in force for an episode: not failed, not deleted since."""


def stored_answer(connection: sqlite3.Connection, episode_uuid: str) -> tuple[str, dict[str, object]] | None:
    """Request hash and answer of the add_memory in force for this episode."""
    query = f"SELECT request_hash, answer {_IN_FORCE}"
    found = connection.execute(query, (episode_uuid,)).fetchone()
    return (found[0], json.loads(found[1])) if found else None


def steering(connection: sqlite3.Connection, episode_uuid: str) -> dict[str, object]:
    """The instructions of that add_memory about how a model should read the episode."""
    query = f"SELECT json_extract(intent, '$.steering') {_IN_FORCE}"
    found = connection.execute(query, (episode_uuid,)).fetchone()
    said: dict[str, object] = json.loads(found[0]) if found and found[0] else {}
    return said


def episode_count(connection: sqlite3.Connection) -> int:
    """How many receipts are in force."""
    query = "SELECT count(*) FROM episodes JOIN writes USING (seq) WHERE deleted_by IS NULL AND state <> 'failed'"
    return int(connection.execute(query).fetchone()[0])


def read_back(connection: sqlite3.Connection, intent: WriteIntent) -> None:
    """Raise sqlite3.DatabaseError unless a row just inserted is found as it was given."""
    if [row.intent for row in select_uuids(connection, [intent.uuid])] != [intent]:
        raise sqlite3.DatabaseError("a new row is not given back")


def _keep_one_answer(connection: sqlite3.Connection, episode_uuid: str, seq: int) -> None:
    """Two processes may race with one uuid in two groups, under two locks: the first commit has it."""
    if stored_answer(connection, episode_uuid) is not None:
        raise ConflictingContent(
            f"The uuid {episode_uuid} was used for another memory at the same moment; this one was not stored. "
            "Send it again without uuid."
        )
    connection.execute("INSERT INTO episodes (uuid, seq) VALUES (?, ?)", (episode_uuid, seq))


def _unreadable(seq: int) -> sqlite3.DatabaseError:
    return sqlite3.DatabaseError(f"row {seq} is not what was stored")


def _little_endian(vector: Vector) -> Vector:
    if sys.byteorder == "little":
        return vector
    swapped = array("f", vector)
    swapped.byteswap()
    return swapped


def _vector(data: bytes) -> Vector:
    vector = array("f")
    vector.frombytes(data)
    return _little_endian(vector)
