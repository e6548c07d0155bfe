"""Indexes for what Graphiti alone asks: edges by their uuid, and pages of a group by uuid.

They are no part of the schema: our own server needs none of them and would pay for each on every write.
"""

import sqlite3

_BY_UUID = ("mention", "community_member", "community_part", "saga_step", "episode_link")
_BY_GROUP = ("entity", "episode", "fact", "mention", "community", "saga", "saga_step", "episode_link")


def _indexes() -> dict[str, str]:
    found = {f"graphiti_{table}_uuid": f"{table} (uuid)" for table in _BY_UUID}
    return found | {f"graphiti_{table}_group": f"{table} (group_id, uuid)" for table in _BY_GROUP}


def make(db: sqlite3.Connection) -> None:
    """Make the indexes that are missing; inside a write transaction."""
    for name, on in _indexes().items():
        db.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {on}")


def drop(db: sqlite3.Connection) -> None:
    """Drop all of these indexes; inside a write transaction."""
    for name in _indexes():
        db.execute(f"DROP INDEX IF EXISTS {name}")
