"""The store of the graph: named parts over the database that ``opening`` opens."""

import asyncio
import importlib
from typing import TYPE_CHECKING

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.settings.loader import VECTOR_INDEX_THRESHOLD
from graphiti_pkm.storage.graph import schema
from graphiti_pkm.storage.graph.database import Database, OpenDatabase
from graphiti_pkm.storage.graph.graph_part import GraphPart, P
from graphiti_pkm.storage.graph.locks.leases import Fences
from graphiti_pkm.storage.graph.parts.changes import Changes
from graphiti_pkm.storage.graph.parts.comparison import Comparison
from graphiti_pkm.storage.graph.parts.documents import Documents
from graphiti_pkm.storage.graph.parts.embeddings import Embeddings
from graphiti_pkm.storage.graph.parts.episodes import Episodes
from graphiti_pkm.storage.graph.parts.facts import Facts
from graphiti_pkm.storage.graph.parts.part import OpenGraph
from graphiti_pkm.storage.graph.parts.records import Records
from graphiti_pkm.storage.graph.parts.sagas import Sagas
from graphiti_pkm.storage.graph.parts.search import Searches
from graphiti_pkm.storage.graph.parts.vector_keeping import VectorKeeping
from graphiti_pkm.storage.graph.parts.writing import Writer
from graphiti_pkm.storage.graph.shared_extraction_jobs import GraphExtractionJobs

if TYPE_CHECKING:
    from graphiti_core.driver.driver import GraphDriver
    from graphiti_core.driver.search_interface.search_interface import SearchInterface


class GraphStore:
    """The port ``Graph``. It connects on first use, and only then loads graphiti_core and the clients.

    Parts that core uses are attributes; a part that one capability uses is made by its assembly with ``part``.
    """

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
        ``vectors.maintain_indexes``. ``server``: who we are, if other servers write into this database too.
        """
        self._opened = opened = OpenGraph(open_database, vector_index_threshold)
        self._server = server
        self._fences = Fences() if fences is None else fences
        self.records = Records(opened)
        self.facts = Facts(opened)
        self.episodes = Episodes(opened)
        self.search = Searches(opened)
        self.changes = Changes(opened)
        self.sagas = Sagas(opened)
        self.documents = Documents(opened)
        self.embeddings = Embeddings(opened)
        self.comparison = Comparison(opened)
        self.vectors = VectorKeeping(opened)
        self.writer = Writer(opened, self._fences, server)

    def part(self, part: GraphPart[P]) -> P:
        """A further part over the same database."""
        return part.cypher(self._opened)

    @property
    def shared_extraction_jobs(self) -> GraphExtractionJobs | None:
        """Readings shared by the servers of this database; None if it is ours alone."""
        return None if self._server is None else GraphExtractionJobs(self.database, self._server)

    async def database(self) -> Database:
        """The open database, opened now if necessary. Raises ConfigurationError, Unavailable."""
        return await self._opened.database()

    async def driver(self) -> "GraphDriver":
        """A driver for Graphiti's own code, with our searches; the caller closes it."""
        driver = (await self.database()).driver()
        driver.search_interface = await asyncio.to_thread(self.graphiti_search)
        return driver

    def graphiti_search(self, *, for_model: bool = False) -> "SearchInterface":
        """Graphiti's searches; ``for_model``: only facts that a new one may repeat or contradict.

        Imports graphiti_core, which takes long.
        """
        module = importlib.import_module("graphiti_pkm.storage.graph.graphiti_search")
        search: SearchInterface = module.GraphitiSearch(self, for_model=for_model)
        return search

    async def agree_on_signing_key(self, key: bytes) -> bytes:
        """The key shared by all hosts of this database: the first one brought. Raises Unavailable."""
        return await schema.agree_on_signing_key(await self.database(), key)

    async def ready(self) -> bool:
        try:
            return await (await self.database()).is_ready()
        except Unavailable:
            return False

    async def clear(self) -> None:
        db = await self.database()
        self._opened.forget_vectors()
        await db.clear()
        await self._fences.restore(db)

    async def erase(self) -> bool:
        """True: a client can do nothing more. Neo4j prunes logs and reuses space in its own time, as answers say."""
        return True

    async def close(self) -> None:
        await self._opened.close()
