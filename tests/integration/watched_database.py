"""A database that keeps what it was asked, and says how much work each read is: counted by its planner, never timed."""

import re
from collections.abc import Sequence
from typing import Any

from graphiti_pkm.storage.graph.database import Database
from graphiti_pkm.storage.graph.falkordb.database import FalkorDatabase
from graphiti_pkm.storage.graph.neo4j.cypher import parameters, translated
from graphiti_pkm.storage.graph.neo4j.database import Neo4jDatabase
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.store import GraphStore

_PRODUCED = re.compile(r"Records produced: (\d+)")


class WatchedDatabase:
    """Before another database, which does it all; what is no read or write goes through as it is."""

    def __init__(self, inner: Database) -> None:
        self.inner = inner
        self.reads: list[Query] = []
        self.writes: list[Query] = []

    async def read(self, *queries: Query) -> list[list[Row]]:
        self.reads += queries
        return await self.inner.read(*queries)

    async def read_apart(self, *queries: Query) -> list[list[Row]]:
        self.reads += queries
        return await self.inner.read_apart(*queries)

    async def attempt(self, *queries: Query, writing: bool = False) -> list[list[Row]]:
        (self.writes if writing else self.reads).extend(queries)
        return await self.inner.attempt(*queries, writing=writing)

    async def write(self, query: Query) -> list[Row]:
        self.writes.append(query)
        return await self.inner.write(query)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def taken(self) -> tuple[list[Query], list[Query]]:
        """Reads and writes since the last time."""
        taken = self.reads, self.writes
        self.reads, self.writes = [], []
        return taken

    async def work(self, queries: Sequence[Query]) -> int:
        """Records that all steps of these reads pass on, or on Neo4j what they look up in the store."""
        return sum([await self._work_of(query) for query in queries])

    async def _work_of(self, query: Query) -> int:
        if isinstance(self.inner, FalkorDatabase):
            plan = await self.inner.command("GRAPH.PROFILE", self.inner.name, query.command())
            return sum(int(count) for line in plan for count in _PRODUCED.findall(str(line)))
        assert isinstance(self.inner, Neo4jDatabase)
        text = translated(query.text)
        async with self.inner._reader.session(database=self.inner._name) as session:
            result = await session.run(f"PROFILE {text}", parameters(text, query.parameters))
            summary = await result.consume()
        return _hits(summary.profile)


async def watched(store: GraphStore) -> WatchedDatabase:
    """The database of a store, watched from now on."""
    found = WatchedDatabase(await store.database())
    store._opened._database = found
    return found


def _hits(step: dict[str, Any]) -> int:
    return int(step.get("dbHits", 0)) + sum(map(_hits, step.get("children", ())))
