"""Saved scratch graphs in the journal's file, so that backups and forgetting include them."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from graphiti_pkm.core.model.records import Forgetting, WriteIntent
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.ports.saved_graphs import SavedGraph, SavedGraphContent, is_lost
from graphiti_pkm.errors import TooLarge
from graphiti_pkm.storage.journal.connection import Connection
from graphiti_pkm.storage.journal.schema import Migration, refuse_newer, transaction

_COLUMNS = "uuid, owner, name, saved_at, groups, nodes, edges, content"


class SqliteSavedGraphs:
    """The port ``SavedGraphs``; saving is synced to disk."""

    def __init__(self, durable: Connection, quick: Connection, migrations: Sequence[Migration]) -> None:
        self._durable = durable
        self._quick = quick
        self._migrations = migrations

    async def save(self, graph: SavedGraphContent, most: int, most_characters: int) -> bool:
        owner = _text(graph.owner)

        def work(connection: sqlite3.Connection) -> bool:
            with transaction(connection):
                refuse_newer(connection, "The journal", self._migrations)
                replaced = connection.execute(
                    "DELETE FROM saved_graphs WHERE owner = ? AND name = ?", (owner, graph.name)
                ).rowcount
                count, characters = connection.execute(
                    "SELECT count(*), coalesce(sum(length(content)), 0) FROM saved_graphs WHERE owner = ?", (owner,)
                ).fetchone()
                if count >= most or characters + len(graph.content) > most_characters:
                    raise TooLarge(
                        f"Nothing was saved: there may be {most} saved graphs with {most_characters:,} characters "
                        f"together; there are {count} others with {characters:,}, and this one has "
                        f"{len(graph.content):,}. list_graphs names them, delete_graph with saved=true makes room."
                    )
                insert(connection, graph)
            if replaced:
                _cut_log(connection)
            return bool(replaced)

        return await self._durable.run(work)

    async def listed(self, owner: Sequence[str]) -> list[SavedGraph]:
        query = "SELECT name, saved_at, nodes, edges FROM saved_graphs WHERE owner = ? ORDER BY name"
        return await self._quick.run(lambda c: [_line(row) for row in c.execute(query, (_text(owner),))])

    async def find(self, owner: Sequence[str], name: str) -> SavedGraphContent | None:
        def work(connection: sqlite3.Connection) -> SavedGraphContent | None:
            found = _graphs(connection, "owner = ? AND name = ?", (_text(owner), name))
            return next(found, None)

        return await self._quick.run(work)

    async def delete(self, owner: Sequence[str], name: str) -> SavedGraph | None:
        def work(connection: sqlite3.Connection) -> SavedGraph | None:
            with transaction(connection):
                row = connection.execute(
                    "DELETE FROM saved_graphs WHERE owner = ? AND name = ? RETURNING name, saved_at, nodes, edges",
                    (_text(owner), name),
                ).fetchone()
            if row:
                _cut_log(connection)
            return _line(row) if row else None

        return await self._durable.run(work)


def kept(principal: str) -> Callable[[sqlite3.Connection], list[SavedGraphContent]]:
    """All saved graphs of a principal, whatever groups its token was limited to."""
    return lambda c: list(_graphs(c, "json_extract(owner, '$[0]') = ? ORDER BY owner, name", (principal,)))


def all_graphs(connection: sqlite3.Connection) -> Iterator[SavedGraphContent]:
    """Saved graphs of all owners."""
    return _graphs(connection, "true", ())


def insert(connection: sqlite3.Connection, graph: SavedGraphContent) -> None:
    """Insert within the caller's transaction; an existing graph of the same owner and name is kept."""
    connection.execute(
        f"INSERT OR IGNORE INTO saved_graphs ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 our own names
        (
            graph.uuid,
            _text(graph.owner),
            graph.name,
            iso(graph.saved_at),
            _text(graph.groups),
            graph.nodes,
            graph.edges,
            graph.content,
        ),
    )


def forget(connection: sqlite3.Connection, forgetting: WriteIntent) -> None:
    """Remove graphs that contain what a write forgets, within the caller's transaction."""
    named = (forgetting.forgets or Forgetting()).saved_graphs
    connection.executemany("DELETE FROM saved_graphs WHERE uuid = ?", [(uuid,) for uuid in named])
    # Only the few with anything of the group are read completely.
    of_group = _graphs(connection, "instr(groups, ?) > 0", (json.dumps(forgetting.group_id),))
    lost = [(graph.uuid,) for graph in list(of_group) if is_lost(graph, forgetting)]
    connection.executemany("DELETE FROM saved_graphs WHERE uuid = ?", lost)


def copy(connection: sqlite3.Connection, source: sqlite3.Connection, rowid: int) -> None:
    """Add a graph of a damaged journal, unless its owner has one of that name."""
    for graph in _graphs(source, "rowid = ?", (rowid,)):
        insert(connection, graph)


def _graphs(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> Iterator[SavedGraphContent]:
    query = f"SELECT {_COLUMNS} FROM saved_graphs WHERE {where}"  # noqa: S608 our own text
    for uuid, owner, name, saved_at, groups, nodes, edges, content in connection.execute(query, values):
        yield SavedGraphContent(
            uuid=uuid,
            owner=tuple(json.loads(owner)),
            name=name,
            saved_at=datetime.fromisoformat(saved_at),
            groups=tuple(json.loads(groups)),
            nodes=nodes,
            edges=edges,
            content=content,
        )


def _cut_log(connection: sqlite3.Connection) -> None:
    """Truncate the write-ahead log, which contains deleted words; it stays while a reader uses it."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _line(row: Sequence[object]) -> SavedGraph:
    name, saved_at, nodes, edges = row
    return SavedGraph.model_validate({"name": name, "saved_at": saved_at, "nodes": nodes, "edges": edges})


def _text(values: Sequence[str]) -> str:
    return json.dumps(list(values))
