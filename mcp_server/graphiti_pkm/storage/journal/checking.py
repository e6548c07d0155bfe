"""Whether a file is a journal in every table, column and row; a backup is checked before anything is replaced by it."""

import contextlib
import json
import math
import sqlite3

from pydantic import ValidationError

from graphiti_pkm.errors import PkmError
from graphiti_pkm.storage.journal import embedding, extractions, jobs, saved_graphs
from graphiti_pkm.storage.journal.connection import check
from graphiti_pkm.storage.journal.rows import decode
from graphiti_pkm.storage.journal.schema import statements

_ROWS = """
    SELECT writes.seq, uuid, group_id, kind, intent, vector_uuids, contents.dimension, vectors, answer
    FROM writes LEFT JOIN contents USING (seq) ORDER BY seq
"""
_DECODING = (sqlite3.Error, PkmError, ValidationError, ValueError, TypeError, KeyError, AttributeError)
"""What decoding anything at all may raise. Their texts hold content and are not passed on."""


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


def _check_writes(connection: sqlite3.Connection) -> None:
    """Every row is the write that its columns say, with finite vectors of the one dimension of the file."""
    recorded = embedding.recorded(connection)
    dimensions = {recorded.dimension} if recorded is not None and not recorded.is_changing else None
    found: set[int] = set()
    for seq, uuid, group_id, kind, *content, answer in connection.execute(_ROWS):
        row = decode(seq, *content)
        intent = row.intent
        if (intent.uuid, intent.group_id, intent.kind.value) != (uuid, group_id, kind):
            raise ValueError("the columns of a write and its content differ")
        if not isinstance(json.loads(answer), dict) or not isinstance(json.loads(content[1]), list):
            raise TypeError("an answer or a list of vectors is of another type")
        if not all(math.isfinite(math.fsum(vector)) for vector in row.vectors.values()):
            raise ValueError("a vector is not finite")
        found.update(map(len, row.vectors.values()))
    if dimensions is None:
        dimensions = found if recorded is not None or len(found) <= 1 else set()
    if not found <= dimensions:
        raise ValueError("vectors are of another dimension than recorded")


def _check_jobs(connection: sqlite3.Connection) -> None:
    for job_id, payload in connection.execute("SELECT id, payload FROM jobs WHERE state <> 'done'"):
        jobs.decode(job_id, payload)
    for job_id, group_id, payload, attempts in connection.execute(
        "SELECT id, group_id, payload, attempts FROM extractions"
    ):
        extractions.decode(job_id, group_id, payload, attempts)


def _expected_tables() -> dict[str, list[tuple[object, ...]]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        for statement in statements():
            fresh.execute(statement)
        return _tables(fresh)


def _tables(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Columns by table, in order, with type, default and key of each; views and generated columns count as well."""
    names = connection.execute(
        "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    ).fetchall()
    return {name: [(kind,), *_columns(connection, name)] for name, kind in names}


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    query = "SELECT name, type, \"notnull\", coalesce(dflt_value, ''), pk, hidden FROM pragma_table_xinfo(?)"
    return connection.execute(query, (table,)).fetchall()
