"""The file that the workers of a server share is opened by several at once."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from graphiti_pkm.server.worker_file import open_worker_file

_HELD_SECONDS = 0.1


def test_a_worker_waits_while_another_one_makes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "workers.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(_HELD_SECONDS, other.execute, ("COMMIT",)).start()
        with closing(open_worker_file(path, "counted (name TEXT PRIMARY KEY)")) as opened:
            assert opened.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert opened.execute("SELECT count(*) FROM counted").fetchone() == (0,)
