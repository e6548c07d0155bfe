"""A database that keeps what it was asked, and says how much work each read is: counted by its planner, never timed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from neo4j import ResultSummary

from graphiti_pkm.storage.graph.database import Database
from graphiti_pkm.storage.graph.neo4j.database import Neo4jDatabase
from graphiti_pkm.storage.graph.neo4j.values import parameters
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.store import GraphStore


class WatchedDatabase:
    """Before another database, which does it all; what is no read or write goes through as it is."""

    def __init__(self, inner: Database) -> None:
        self.inner = inner
        self.reads: list[Query] = []
        self.writes: list[Query] = []
        self.rounds = 0
        """How often it was asked while it was asked nothing else: what is asked together is waited for once."""
        self._under_way = 0

    async def read(self, *queries: Query) -> list[list[Row]]:
        self.reads += queries
        with self._asked():
            return await self.inner.read(*queries)

    async def try_read(self, query: Query) -> list[Row]:
        self.reads.append(query)
        with self._asked():
            return await self.inner.try_read(query)

    async def write(self, query: Query) -> list[Row]:
        self.writes.append(query)
        with self._asked():
            return await self.inner.write(query)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        self.rounds += not self._under_way
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def taken(self) -> tuple[list[Query], list[Query]]:
        """Reads and writes since the last time."""
        taken = self.reads, self.writes
        self.reads, self.writes = [], []
        return taken

    async def work(self, queries: Sequence[Query]) -> int:
        """What these reads look up in the store."""
        return sum([_hits(await self.profile(query)) for query in queries])

    async def plan(self, query: Query) -> dict[str, Any]:
        """The last step of the plan, with those before it as its children; the query does not run."""
        plan: dict[str, Any] | None = (await self._summary("EXPLAIN", query)).plan
        assert plan is not None
        return plan

    async def profile(self, query: Query) -> dict[str, Any]:
        """The plan of a read with what each step did."""
        profile: dict[str, Any] | None = (await self._summary("PROFILE", query)).profile
        assert profile is not None
        return profile

    async def _summary(self, how: str, query: Query) -> ResultSummary:
        assert isinstance(self.inner, Neo4jDatabase)
        async with self.inner._reader.session(database=self.inner._name) as session:
            result = await session.run(f"{how} {query.text}", parameters(query.text, query.parameters))
            return await result.consume()


async def watched(store: GraphStore) -> WatchedDatabase:
    """The database of a store, watched from now on."""
    found = WatchedDatabase(await store.database())
    store._opened._database = found
    return found


def _hits(step: dict[str, Any]) -> int:
    return int(step.get("dbHits", 0)) + sum(map(_hits, step.get("children", ())))
