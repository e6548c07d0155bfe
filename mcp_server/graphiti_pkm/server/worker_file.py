"""A small SQLite file that the workers of a server share, for what may be lost."""

import sqlite3
from pathlib import Path

from graphiti_pkm.storage.journal.connection import use_write_ahead_log

_BUSY_SECONDS = 1.0


def open_worker_file(path: Path, table: str) -> sqlite3.Connection:
    """A connection to the file, which has this table.

    It is a separate file because counting must not wait for a write to the journal, nor for the disk: a crash of the
    machine loses what was written last.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    path.chmod(0o600)
    use_write_ahead_log(connection, _BUSY_SECONDS)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {table} WITHOUT ROWID")
    return connection
