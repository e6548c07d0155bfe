"""The store of the graph in the file of the journal: named parts, as ``GraphStore`` has them over a database."""

import importlib
import sqlite3
from typing import TYPE_CHECKING

from graphiti_pkm.core.ports.metrics import UNCOUNTED, Metrics
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.graph_part import GraphPart, P
from graphiti_pkm.storage.graph.sqlite import core_parts, schema
from graphiti_pkm.storage.graph.sqlite.documents import SqliteDocuments
from graphiti_pkm.storage.graph.sqlite.file import SqliteFile
from graphiti_pkm.storage.graph.sqlite.part import OpenFile
from graphiti_pkm.storage.journal.connection import JournalFile

if TYPE_CHECKING:
    from graphiti_core.driver.search_interface.search_interface import SearchInterface


class SqliteGraph:
    """The port ``Graph``. It opens its file on first use."""

    def __init__(self, file: JournalFile, metrics: Metrics = UNCOUNTED) -> None:
        """``file``: that of the journal, which is made if it is not there."""
        self._opened = opened = OpenFile(SqliteFile(file, metrics))
        self.records = core_parts.Records(opened)
        self.facts = core_parts.Facts(opened)
        self.episodes = core_parts.Episodes(opened)
        self.search = core_parts.Searches(opened)
        self.changes = core_parts.Changes(opened)
        self.sagas = core_parts.Sagas(opened)
        self.documents = SqliteDocuments(opened)
        self.embeddings = core_parts.Embeddings(opened)
        self.comparison = core_parts.Comparison(opened)
        self.vectors = core_parts.Indexes(opened)
        self.writer = core_parts.Writer(opened)

    @property
    def shared_extraction_jobs(self) -> None:
        """Always None: no other server has this file with a journal of its own."""
        return

    def part(self, part: GraphPart[P]) -> P:
        """A further part over the same file."""
        return part.sqlite(self._opened)

    def graphiti_search(self, *, for_model: bool = False) -> "SearchInterface":
        """Graphiti's searches; ``for_model``: only facts that a new one may repeat or contradict.

        Imports graphiti_core, which takes long.
        """
        module = importlib.import_module("graphiti_pkm.storage.graph.sqlite.graphiti_search")
        shown = module.SHOWN_TO_A_MODEL if for_model else "true"
        search: SearchInterface = module.SqliteSearch(self._opened.file, self._opened.cache, shown)
        return search

    async def ready(self) -> bool:
        try:
            return await self._opened.file.read(lambda _: True)
        except Unavailable:
            return False

    async def clear(self) -> None:
        await self._opened.file.write(schema.clear)
        self._opened.cache.forget()

    async def erase(self) -> bool:
        """Removes from the file and its log what no row holds any more."""

        def anew(db: sqlite3.Connection) -> bool:
            db.execute("INSERT INTO word_index (word_index) VALUES ('optimize')")
            db.execute("PRAGMA temp_store = FILE")  # a copy of all that stays may be larger than the machine's memory
            try:
                db.execute("VACUUM")
            finally:
                db.execute("PRAGMA temp_store = MEMORY")
            busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

        return await self._opened.file.outside(anew)

    async def close(self) -> None:
        await self._opened.file.close()
