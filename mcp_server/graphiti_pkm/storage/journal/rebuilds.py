"""The mark of an unfinished rebuild, visible to every process on the journal."""

import sqlite3
from datetime import datetime

from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.ports.rebuilding import RebuildInProgress
from graphiti_pkm.errors import WriteFailed
from graphiti_pkm.storage.journal import usage
from graphiti_pkm.storage.journal.rows import undelete
from graphiti_pkm.storage.journal.schema import transaction, version

_FIRST_VERSION = 8


def current(connection: sqlite3.Connection) -> RebuildInProgress | None:
    """The mark; None while the graph matches the journal. Files of earlier versions have no mark."""
    if version(connection) < _FIRST_VERSION:
        return None
    found = connection.execute("SELECT command, began_at, is_cleared, drops_unknown, former FROM rebuild").fetchone()
    if found is None:
        return None
    command, began_at, is_cleared, drops_unknown, former = found
    return RebuildInProgress(
        command=command,
        began_at=datetime.fromisoformat(began_at),
        is_cleared=bool(is_cleared),
        drops_unknown=bool(drops_unknown),
        former=former,
    )


def record(connection: sqlite3.Connection, rebuild: RebuildInProgress) -> None:
    """Set the mark, replacing an existing one."""
    connection.execute(
        "INSERT OR REPLACE INTO rebuild VALUES (1, ?, ?, ?, ?, ?)",
        (rebuild.command, iso(rebuild.began_at), rebuild.is_cleared, rebuild.drops_unknown, rebuild.former),
    )


def cleared(connection: sqlite3.Connection) -> None:
    """From now on the rebuild continues where it stopped."""
    with transaction(connection):
        connection.execute("UPDATE rebuild SET is_cleared = 1")
        usage.send_again(connection)


def end(connection: sqlite3.Connection) -> None:
    """The graph is what the journal says."""
    connection.execute("DELETE FROM rebuild")


def set_aside(connection: sqlite3.Connection, write_uuid: str, reason: str) -> None:
    """A row that the graph takes no more, in whatever state it was."""
    with transaction(connection):
        undelete(connection, write_uuid)
        connection.execute("UPDATE writes SET state = 'failed', reason = ? WHERE uuid = ?", (reason, write_uuid))


def refuse(connection: sqlite3.Connection) -> None:
    """Raise WriteFailed while there is one: what was planned on half a graph must not be stored."""
    rebuild = current(connection)
    if rebuild is not None:
        raise WriteFailed(f"Nothing was stored. {rebuild.describe()} Send this again later.")
