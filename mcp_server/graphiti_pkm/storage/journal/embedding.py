"""Records the model of the vectors in the rows, and removes vectors when it changes."""

import sqlite3

from graphiti_pkm.core.ports.embedding import RecordedEmbedding

_FIRST = RecordedEmbedding(model="all-MiniLM-L6-v2", dimension=384)
"""The only model of versions that recorded none."""


def recorded(connection: sqlite3.Connection) -> RecordedEmbedding | None:
    """None before the first is recorded."""
    found = connection.execute("SELECT model, dimension, is_changing FROM embedding").fetchone()
    return RecordedEmbedding(model=found[0], dimension=found[1], is_changing=bool(found[2])) if found else None


def of_file(source: sqlite3.Connection) -> RecordedEmbedding | None:
    """The model of a file that may be damaged, or older than the record."""
    try:
        return recorded(source)
    except sqlite3.Error:
        return _FIRST


def record(connection: sqlite3.Connection, model: str, dimension: int) -> None:
    """Record the model; an existing record is kept."""
    connection.execute("INSERT OR IGNORE INTO embedding VALUES (1, ?, ?, 0)", (model, dimension))


def begin_change(connection: sqlite3.Connection, model: str, dimension: int) -> None:
    """From now on rows are read without vectors."""
    connection.execute("INSERT OR REPLACE INTO embedding VALUES (1, ?, ?, 1)", (model, dimension))


def end_change(connection: sqlite3.Connection) -> None:
    """From now on rows are read with their vectors again."""
    connection.execute("UPDATE embedding SET is_changing = 0")


def remove_vectors(connection: sqlite3.Connection, after_seq: int, limit: int) -> int | None:
    """Remove the vectors of the next ``limit`` rows; returns the last row's number, None at the end."""
    listed = connection.execute(
        "SELECT max(seq) FROM (SELECT seq FROM contents WHERE seq > ? ORDER BY seq LIMIT ?)", (after_seq, limit)
    ).fetchone()
    last: int | None = listed[0]
    if last is not None:
        connection.execute(
            "UPDATE contents SET vector_uuids = '[]', dimension = 0, vectors = x'' "
            "WHERE seq > ? AND seq <= ? AND dimension > 0",
            (after_seq, last),
        )
    return last
