"""The driver itself: opens the file, and offers Graphiti its two interfaces."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, NoReturn, Self

from graphiti_core.driver.driver import GraphDriver, GraphDriverSession, GraphProvider

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.graphiti_adapter.sqlite_driver.cypher import KnownQueries
from graphiti_pkm.graphiti_adapter.sqlite_driver.graph_operations import GraphOperations
from graphiti_pkm.graphiti_adapter.sqlite_driver.operations import SqliteTransaction
from graphiti_pkm.storage.graph.sqlite import graphiti_indexes
from graphiti_pkm.storage.graph.sqlite.file import SqliteFile
from graphiti_pkm.storage.graph.sqlite.graphiti_graph_search import SqliteGraphSearch
from graphiti_pkm.storage.graph.sqlite.graphiti_saving import save
from graphiti_pkm.storage.graph.sqlite.part import OpenFile
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile
from graphiti_pkm.storage.journal.schema import MIGRATIONS, is_ours

FILE = "graphiti.sqlite3"
"""The name of the file in a directory."""


class SqliteDriver(GraphDriver):
    """Graphiti in one SQLite file, in this process, without a server and without Cypher.

        driver = SqliteDriver("notes.sqlite3")
        graphiti = Graphiti(graph_driver=driver, llm_client=…, embedder=…, cross_encoder=…)
        await graphiti.build_indices_and_constraints()

    The file is made on first use. Several processes may use it; one writes at a time, and a write is kept whole or not
    at all. It takes embeddings of one dimension. All groups are in it: ``clone`` returns the same driver.

    The memory of a graphiti-pkm server (``memory.sqlite3``) can be opened by its path, to read it with Graphiti. What
    is written to it goes past the server's journal: its search finds it, but a backup does not contain it, and a
    rebuild refuses to run, or with ``--force`` drops it. To write, use a file of its own.
    """

    provider = GraphProvider.NEO4J
    """Graphiti asks by this how to build its queries, and none is sent that is not known (``cypher``)."""

    def __init__(self, path: str | Path) -> None:
        """``path``: the file, or a directory, in which the file is ``graphiti.sqlite3``."""
        path = Path(path)
        self.path = path / FILE if path.is_dir() else path
        """The path of the file."""
        self._database = ""
        migrations = MIGRATIONS if _is_memory(self.path) else ()
        file = JournalFile(self.path.parent, migrations, self.path.name, owns_directory=False)
        self._opened = OpenFile(SqliteFile(file))
        search = SqliteGraphSearch(self._opened.file, self._opened.cache)
        self.search_interface = search
        self.graph_operations_interface = GraphOperations.on(self._opened)
        self._known = KnownQueries(self._opened, search)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the file; harmless when repeated."""
        await self._opened.file.close()

    def clone(self, database: str) -> "SqliteDriver":  # noqa: ARG002 the signature is Graphiti's
        """Return this driver: groups are not files of their own."""
        return self

    def build_fulltext_query(
        self,
        query: str,
        group_ids: list[str] | None = None,  # noqa: ARG002 the signature is Graphiti's
        max_query_length: int = 128,  # noqa: ARG002 same
    ) -> str:
        """The query itself: words are looked up as they are."""
        return query

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Make the indexes by which Graphiti's edges are found by uuid and groups are read by page."""
        if delete_existing:
            await self.delete_all_indexes()
        await self._opened.file.write(graphiti_indexes.make)
        await self._opened.file.write(lambda db: save(db, lambda to: to.index_communities()))

    async def delete_all_indexes(self) -> None:
        """Delete the indexes that ``build_indices_and_constraints`` makes; the others belong to the tables."""
        await self._opened.file.write(graphiti_indexes.drop)

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> tuple[list[dict[str, Any]], None, None]:
        """The records that Graphiti's own query asks for, and nothing more.

        Raises:
            ConfigurationError: the query is none of those that Graphiti sends; it names the function that sent it.
        """
        return await self._known.answer(cypher_query_, {**kwargs.pop("params", {}), **kwargs}), None, None

    def session(self, database: str | None = None) -> "SqliteSession":  # noqa: ARG002 the signature is Graphiti's
        return SqliteSession(self._transaction, self.execute_query)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[SqliteTransaction]:
        """A transaction: what the interface is given with it is written at the end, all or nothing."""
        begun = self._transaction()
        yield begun
        await begun.commit()

    def _transaction(self) -> SqliteTransaction:
        return SqliteTransaction(self._opened, self.execute_query)


class SqliteSession(GraphDriverSession):
    """A session in Graphiti's sense: it runs what it is given in one transaction."""

    provider = SqliteDriver.provider

    def __init__(self, begin: Callable[[], SqliteTransaction], run: Callable[..., Awaitable[Any]]) -> None:
        self._begin = begin
        self._run = run

    async def __aexit__(self, *_: object) -> None:
        """There is nothing to close."""

    async def close(self) -> None:
        """Nothing is open."""

    async def run(self, query: str, **kwargs: Any) -> Any:
        """Answers a query as ``SqliteDriver.execute_query`` does."""
        return await self._run(query, **kwargs)

    async def execute_write(self, func: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        """Call the function with a transaction; what it saves is written after it, unless it raises."""
        begun = self._begin()
        result = await func(begun, *args, **kwargs)
        await begun.commit()
        return result


def _is_memory(path: Path) -> bool:
    """Whether the file is a server's memory, with its journal. Raises ConfigurationError for a foreign file."""
    if not path.exists() or not path.stat().st_size:
        return path.name == MEMORY
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            has_journal = is_ours(connection)
    except sqlite3.DatabaseError:
        _refuse(path)
    if tables and "graph_meta" not in tables and path.name != MEMORY:
        _refuse(path)
    return has_journal


def _refuse(path: Path) -> NoReturn:
    raise ConfigurationError(f"{path.name} holds no graph of this driver. It was left as it is; choose another path.")
