"""Wraps a database: counts its queries and bounds their time."""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from graphiti_pkm.core.ports.metrics import DATABASE_ERRORS, DATABASE_SECONDS, DATABASE_UNDER_WAY, Metrics
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.database import Database, OpenDatabase, Refused
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.vector_indexes import Embedded

if TYPE_CHECKING:
    from graphiti_core.driver.driver import GraphDriver

_Answer = TypeVar("_Answer")
_Kind: TypeAlias = Literal["read", "write", "other"]

READ_SECONDS = 20.0
WRITE_SECONDS = 150.0
"""More than the database itself gives a write, of which a text of two million characters needs much."""


@dataclass(frozen=True)
class Limits:
    """Seconds after which a query counts as not answered, whatever keeps it."""

    read: float = READ_SECONDS
    write: float = WRITE_SECONDS


def measured(open_database: OpenDatabase, metrics: Metrics) -> OpenDatabase:
    """Opens the same database with metrics."""

    async def opened() -> Database:
        return MeasuredDatabase(await open_database(), metrics)

    return opened


class MeasuredDatabase:
    """The protocol ``Database`` in front of another one.

    The database itself notices sooner that its server is silent; these limits cover other reasons for delay. Queries of
    Graphiti's own code through ``driver`` are neither counted nor limited.
    """

    def __init__(self, inner: Database, metrics: Metrics, limits: Limits = Limits()) -> None:
        self._inner = inner
        self._metrics = metrics
        self._limits = {"read": limits.read, "write": limits.write}

    async def read(self, *queries: Query) -> list[list[Row]]:
        """Counted as one read, since its queries are sent together."""
        return await self._counted("read", self._inner.read(*queries))

    async def write(self, query: Query) -> list[Row]:
        """Counted as a write, until it is committed."""
        return await self._counted("write", self._inner.write(query))

    async def try_read(self, query: Query) -> list[Row]:
        """Counted as a read."""
        return await self._counted("read", self._inner.try_read(query))

    def driver(self) -> "GraphDriver":
        return self._inner.driver()

    async def close(self) -> None:
        await self._inner.close()

    async def prepare(self) -> None:
        await self._inner.prepare()

    async def examine(self) -> None:
        await self._inner.examine()

    async def is_ready(self) -> bool:
        return await self._counted("other", self._bounded("read", self._inner.is_ready()))

    async def clear(self) -> None:
        await self._counted("other", self._inner.clear())

    async def vector_states(self) -> dict[Embedded, int]:
        return await self._counted("other", self._bounded("read", self._inner.vector_states()))

    async def create_vector_index(self, kind: Embedded, dimension: int) -> bool:
        return await self._counted("other", self._inner.create_vector_index(kind, dimension))

    async def drop_vector_index(self, kind: Embedded) -> None:
        await self._counted("other", self._inner.drop_vector_index(kind))

    async def _counted(self, kind: _Kind, asked: Awaitable[_Answer]) -> _Answer:
        self._metrics.add(DATABASE_UNDER_WAY, 1)
        began = time.perf_counter()
        try:
            return await self._bounded(kind, asked)
        except Unavailable:
            self._metrics.add(DATABASE_ERRORS, 1, kind, "unavailable")
            raise
        except Refused:
            self._metrics.add(DATABASE_ERRORS, 1, kind, "refused")
            raise
        finally:
            self._metrics.add(DATABASE_UNDER_WAY, -1)
            self._metrics.observe(DATABASE_SECONDS, time.perf_counter() - began, kind)

    async def _bounded(self, kind: _Kind, asked: Awaitable[_Answer]) -> _Answer:
        """Raises Unavailable; what takes as long as the graph is large (clearing, indexes) has no limit."""
        seconds = self._limits.get(kind)
        try:
            async with asyncio.timeout(seconds) as limit:
                return await asked
        except TimeoutError:
            if not limit.expired():
                raise
            raise Unavailable(f"The database has not answered for {seconds:g} s. Try again.") from None
