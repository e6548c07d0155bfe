"""The counters of fitness in the journal's file: backups include them, and a rebuild of the graph leaves them."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from graphiti_pkm.core.model.fitness import Usage
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.storage.journal.connection import Connection
from graphiti_pkm.storage.journal.schema import Migration, refuse_newer, transaction

_COLUMNS = "uuid, group_id, hits, relevance, useful"
_ADD = f"""
    INSERT INTO main.usage ({_COLUMNS})
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
        json_extract(value, '$[3]'), json_extract(value, '$[4]') FROM json_each(?) WHERE true
"""  # noqa: S608 our own names


class SqliteUsage:
    """The port ``UsageCounts``; what is added comes on top of what other processes added."""

    def __init__(self, durable: Connection, quick: Connection, migrations: Sequence[Migration]) -> None:
        self._durable = durable
        self._quick = quick
        self._migrations = migrations

    async def add(self, added: Sequence[Usage], *, is_durable: bool = False) -> None:
        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                refuse_newer(connection, "The journal", self._migrations)
                connection.execute(
                    f"""{_ADD} ON CONFLICT (uuid) DO UPDATE SET hits = hits + excluded.hits,
                    relevance = relevance + excluded.relevance, useful = useful + excluded.useful, is_sent = 0""",
                    (_rows(added),),
                )

        await (self._durable if is_durable else self._quick).run(work)

    async def unsent(self, limit: int) -> list[Usage]:
        query = f"SELECT {_COLUMNS} FROM usage WHERE NOT is_sent ORDER BY uuid LIMIT ?"  # noqa: S608 our own names
        return await self._quick.run(lambda c: [_usage(row) for row in c.execute(query, (limit,))])

    async def sent(self, totals: Sequence[Usage], gone: Sequence[str]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.executemany(
                    "UPDATE usage SET is_sent = 1 WHERE uuid = ? AND hits = ? AND useful = ?",
                    [(one.uuid, one.hits, one.useful) for one in totals],
                )
                connection.executemany(
                    "DELETE FROM usage WHERE uuid = ? AND NOT EXISTS (SELECT 1 FROM rebuild)",
                    [(uuid,) for uuid in gone],
                )

        await self._quick.run(work)


def forget(connection: sqlite3.Connection, intent: WriteIntent) -> None:
    """Remove the counters of what a write deletes, within the caller's transaction."""
    gone = intent.deletions
    uuids = (*gone.entities, *gone.facts, *(intent.forgets.facts if intent.forgets else ()))
    for column, values in (("uuid", uuids), ("group_id", gone.groups)):
        if values:
            connection.executemany(f"DELETE FROM usage WHERE {column} = ?", [(value,) for value in values])  # noqa: S608 our own names


def send_again(connection: sqlite3.Connection) -> None:
    """Within the caller's transaction: the graph was cleared."""
    connection.execute("UPDATE main.usage SET is_sent = 0")


def salvage(connection: sqlite3.Connection, damaged: sqlite3.Connection) -> None:
    """Take over what a damaged journal counted since the backup, within the caller's transaction."""
    counted = [_usage(row) for row in damaged.execute(f"SELECT {_COLUMNS} FROM usage")]  # noqa: S608 our own names
    connection.execute(
        f"""{_ADD} ON CONFLICT (uuid) DO UPDATE SET hits = max(hits, excluded.hits),
        relevance = max(relevance, excluded.relevance), useful = max(useful, excluded.useful)""",
        (_rows(counted),),
    )


def _rows(counted: Sequence[Usage]) -> str:
    return json.dumps(counted)


def _usage(row: Sequence[Any]) -> Usage:
    return Usage(*row)
