"""Lists everything in the journal by uuid, for comparison with the graph."""

import json
import sqlite3
from collections.abc import Sequence

from graphiti_pkm.core.ports.comparing import WrittenRow


def written_rows(connection: sqlite3.Connection, after_seq: int, limit: int) -> list[WrittenRow]:
    """The next writes that the graph should hold, in order."""
    found = connection.execute(
        "SELECT seq, uuid, group_id FROM writes WHERE seq > ? AND +state IN ('written', 'applied') "
        "ORDER BY seq LIMIT ?",
        (after_seq, limit),
    )
    return [WrittenRow(*row) for row in found]


def known_writes(connection: sqlite3.Connection, uuids: Sequence[str]) -> set[str]:
    """The writes that have a row."""
    query = "SELECT uuid FROM writes WHERE uuid IN (SELECT value FROM json_each(?))"
    return {row[0] for row in connection.execute(query, (json.dumps(list(uuids)),))}


def written_episodes(connection: sqlite3.Connection, after_uuid: str, limit: int) -> list[str]:
    """The next episodes that the graph should hold."""
    found = connection.execute(
        """
        SELECT DISTINCT episodes.uuid FROM episodes JOIN writes USING (seq)
        WHERE episodes.uuid > ? AND deleted_by IS NULL AND state IN ('written', 'applied')
        ORDER BY episodes.uuid LIMIT ?
        """,
        (after_uuid, limit),
    )
    return [row[0] for row in found]


def known_episodes(connection: sqlite3.Connection, uuids: Sequence[str]) -> set[str]:
    """Episodes that were ever added."""
    query = "SELECT DISTINCT uuid FROM episodes WHERE uuid IN (SELECT value FROM json_each(?))"
    return {row[0] for row in connection.execute(query, (json.dumps(list(uuids)),))}
