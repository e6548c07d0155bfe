"""The port ``Graph``, over whichever database ``opening`` opens."""

import asyncio
import importlib
import logging
from typing import TYPE_CHECKING

from graphiti_pkm.core.health import LastWrite
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.settings.loader import VECTOR_INDEX_THRESHOLD
from graphiti_pkm.storage.graph import schema
from graphiti_pkm.storage.graph.comparing import Comparisons
from graphiti_pkm.storage.graph.database import Database, OpenDatabase, Refused
from graphiti_pkm.storage.graph.embeddings import Embeddings
from graphiti_pkm.storage.graph.locks.leases import Fences
from graphiti_pkm.storage.graph.reading import Lookups
from graphiti_pkm.storage.graph.reading_changes import ChangeReads
from graphiti_pkm.storage.graph.reading_entity import Traversals
from graphiti_pkm.storage.graph.reading_neighbours import Neighbours
from graphiti_pkm.storage.graph.reading_sagas import SagaReads
from graphiti_pkm.storage.graph.reading_walks import Walks
from graphiti_pkm.storage.graph.search import Searches
from graphiti_pkm.storage.graph.shared_readings import GraphReadings
from graphiti_pkm.storage.graph.vector_keeping import VectorKeeping
from graphiti_pkm.storage.graph.vectors import VectorIndexes
from graphiti_pkm.storage.graph.writing import NOT_NOW, Writes

if TYPE_CHECKING:
    from graphiti_core.driver.driver import GraphDriver

_log = logging.getLogger(__name__)

_PROBE = "write probe"


class GraphStore(
    Lookups,
    Traversals,
    ChangeReads,
    Comparisons,
    Embeddings,
    Searches,
    Neighbours,
    SagaReads,
    Walks,
    VectorKeeping,
    Writes,
):
    """Connects on first use, and only then loads graphiti_core and the clients."""

    def __init__(
        self,
        open_database: OpenDatabase,
        vector_index_threshold: int = VECTOR_INDEX_THRESHOLD,
        server: str | None = None,
        fences: Fences | None = None,
    ) -> None:
        """``open_database`` connects to the one graph, which is then prepared.

        Writes carry the ``fences`` of this process, which there are where several hosts share the database.

        A group with more than ``vector_index_threshold`` embedded records of a kind gets an index, if somebody calls
        ``maintain_vector_indexes``. ``server``: who we are, if other servers write into this database too.
        """
        self._open_database = open_database
        self._database: Database | None = None
        self._connecting = asyncio.Lock()
        self._vectors = VectorIndexes(vector_index_threshold)
        self._known_dimension = None
        self._last_write = LastWrite(self._try_to_write, NOT_NOW)
        self._server = server
        self._fences = Fences() if fences is None else fences

    @property
    def shared_readings(self) -> GraphReadings | None:
        """What the servers of this database share; None if it is ours alone."""
        return None if self._server is None else GraphReadings(self._db, self._server)

    async def database(self) -> Database:
        """The one that is open, or is now. Raises ConfigurationError, Unavailable."""
        return await self._db()

    async def _db(self) -> Database:
        if self._database is not None:
            return self._database
        async with self._connecting:
            if self._database is None:
                self._database = await self._open()
        return self._database

    async def _open(self) -> Database:
        database = await self._open_database()
        try:
            await database.prepare()
        except BaseException:
            await database.close()
            raise
        return database

    async def driver(self) -> "GraphDriver":
        """For Graphiti's own code, which searches the same way as we do; the caller closes it."""
        driver = (await self._db()).driver()
        module = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.storage.graph.graphiti_search")
        driver.search_interface = module.GraphitiSearch(self)
        return driver

    async def agree_on_signing_key(self, key: bytes) -> bytes:
        """The key that all hosts of this database sign with: the first that one of them brought. Raises Unavailable."""
        return await schema.agree_on_signing_key(await self._db(), key)

    async def ready(self) -> bool:
        try:
            return await (await self._db()).is_ready()
        except Unavailable:
            return False

    async def refusal(self) -> str | None:
        return await self._last_write.refusal()

    async def _try_to_write(self, _was_refused: bool) -> str | None:
        try:
            await (await self._db()).claim(_PROBE, 1)
        except Refused as refused:
            _log.warning("%s", refused)
            return NOT_NOW
        except Unavailable as error:
            return error.message
        return None

    async def clear(self) -> None:
        db = await self._db()
        self._known_dimension = None
        self._vectors.forget()
        await db.clear()
        await self._fences.restore(db)

    async def erase(self) -> bool:
        return await (await self._db()).erase()

    async def close(self) -> None:
        if self._database is not None:
            await self._database.close()
            self._database = None
