"""Shared by the parts of the store: one database, opened on first use."""

import asyncio

from graphiti_pkm.settings.loader import VECTOR_INDEX_THRESHOLD
from graphiti_pkm.storage.graph import schema
from graphiti_pkm.storage.graph.database import Database, OpenDatabase
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.vectors import VectorIndexes


class OpenGraph:
    """The database of a store, and what this process remembers about its vectors."""

    def __init__(self, open_database: OpenDatabase, vector_index_threshold: int = VECTOR_INDEX_THRESHOLD) -> None:
        self.open_database = open_database
        self.vectors = VectorIndexes(vector_index_threshold)
        self.known_dimension: int | None = None
        self._database: Database | None = None
        self._connecting = asyncio.Lock()

    async def database(self) -> Database:
        """The open database, opened now if necessary. Raises ConfigurationError, Unavailable."""
        if self._database is not None:
            return self._database
        async with self._connecting:
            if self._database is None:
                self._database = await self._open()
        return self._database

    async def _open(self) -> Database:
        database = await self.open_database()
        try:
            await database.prepare()
        except BaseException:
            await database.close()
            raise
        return database

    async def dimension(self, *, is_new: bool = False) -> int | None:
        """Dimension of the vectors in the database, None while there are none; ``is_new``: read again, not cached."""
        if self.known_dimension is None or is_new:
            _, self.known_dimension = await schema.embedding(await self.database())
        return self.known_dimension

    def forget_vectors(self) -> None:
        """Forget what is known about the vectors, because the graph was replaced."""
        self.known_dimension = None
        self.vectors.forget()

    async def close(self) -> None:
        """Close the database; the next query opens it again."""
        if self._database is not None:
            await self._database.close()
            self._database = None


class Part:
    """One named part of the store, without state of its own."""

    def __init__(self, opened: OpenGraph) -> None:
        self._opened = opened

    async def _db(self) -> Database:
        return await self._opened.database()

    async def _read(self, *queries: Query) -> list[list[Row]]:
        return await (await self._db()).read(*queries)

    async def _rows(self, query: Query) -> list[Row]:
        (found,) = await self._read(query)
        return found
