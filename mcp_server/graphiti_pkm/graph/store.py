"""The port ``Graph`` on FalkorDB."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from graphiti_pkm.config import VECTOR_INDEX_THRESHOLD
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.graph import schema
from graphiti_pkm.graph.embeddings import Embeddings
from graphiti_pkm.graph.erasing import Erasing
from graphiti_pkm.graph.queries_values import Refused
from graphiti_pkm.graph.reading import Lookups
from graphiti_pkm.graph.reading_changes import ChangeReads
from graphiti_pkm.graph.reading_entity import Traversals
from graphiti_pkm.graph.reading_neighbours import Neighbours
from graphiti_pkm.graph.reading_sagas import SagaReads
from graphiti_pkm.graph.reading_walks import Walks
from graphiti_pkm.graph.search import Searches
from graphiti_pkm.graph.vector_keeping import VectorKeeping
from graphiti_pkm.graph.vectors import VectorIndexes
from graphiti_pkm.graph.writing import Writes

if TYPE_CHECKING:
    from graphiti_pkm.graph.drivers import Database, OneGraphDriver


class FalkorStore(
    Lookups, Traversals, ChangeReads, Embeddings, Searches, Neighbours, SagaReads, Walks, VectorKeeping, Erasing, Writes
):
    """Connects on first use, and only then loads graphiti_core and the clients, in a thread."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Path]],
        recover: Callable[[], Awaitable[Path | None]],
        database: str = "memory",
        vector_index_threshold: int = VECTOR_INDEX_THRESHOLD,
    ) -> None:
        """``connect`` gives the server's socket; ``recover`` brings the server back, and gives its socket if new.

        A group with more than ``vector_index_threshold`` embedded records of a kind gets an index, if somebody calls
        ``keep_vector_indexes``.
        """
        self._connect = connect
        self._recover = recover
        self._graph_name = database
        self._database: Database | None = None
        self._connecting = asyncio.Lock()
        self._vectors = VectorIndexes(vector_index_threshold)
        self._known_dimension = None

    async def _db(self) -> "Database":
        if self._database is not None:
            return self._database
        async with self._connecting:
            if self._database is None:
                self._database = await self._open()
        return self._database

    async def _open(self) -> "Database":
        path, drivers = await asyncio.gather(
            self._connect(), asyncio.to_thread(importlib.import_module, "graphiti_pkm.graph.drivers")
        )
        database: Database = drivers.Database(path, self._graph_name, self._recover, self._prepare)
        try:
            await database.recovering(lambda: self._prepare(database))
        except BaseException:
            await database.close()
            raise
        return database

    async def _prepare(self, database: "Database") -> None:
        await schema.ensure(database, self._graph_name)

    async def driver(self) -> "OneGraphDriver":
        """For Graphiti's own code, which searches the same way as we do; the caller closes it."""
        driver = (await self._db()).driver()
        module = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.graph.graphiti_search")
        driver.search_interface = module.GraphitiSearch(self)
        return driver

    async def ready(self) -> bool:
        try:
            db = await self._db()
            return await db.recovering(lambda: schema.is_ready(db))
        except Unavailable:
            return False

    async def clear(self) -> None:
        db = await self._db()
        try:
            await db.command("GRAPH.DELETE", self._graph_name)
        except Refused as refused:
            if not refused.is_missing_graph:
                raise Unavailable("The graph could not be cleared; nothing was changed.") from None
        self._known_dimension = None
        self._vectors.forget()
        await db.recovering(lambda: self._prepare(db))

    async def close(self) -> None:
        if self._database is not None:
            await self._database.close()
            self._database = None
