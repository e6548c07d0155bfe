"""The port ``Database`` on Neo4j 5.26 or newer, through the official driver.

A query is one transaction, so a write is applied completely or not at all, and committed when it is answered. Errors
and logs name a query and never contain its text, its parameters or the database's message, which may quote them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from neo4j import READ_ACCESS, WRITE_ACCESS, AsyncDriver, AsyncGraphDatabase
from neo4j import Query as TimedText
from neo4j.exceptions import AuthError, DatabaseUnavailable, Neo4jError

from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.neo4j import schema as neo4j_schema
from graphiti_pkm.storage.graph.neo4j.connection import LOST, Neo4jRefused, open_driver
from graphiti_pkm.storage.graph.neo4j.pulse import Pulse
from graphiti_pkm.storage.graph.neo4j.values import parameters, plain
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.vector_indexes import ALL, Embedded

if TYPE_CHECKING:
    from graphiti_pkm.storage.graph.neo4j.driver import OneGraphNeo4jDriver

_log = logging.getLogger(__name__)

READ_SECONDS = 20.0
WRITE_SECONDS = 120.0
"""A text of two million characters has some ten thousand passages with vectors."""
_TRIES = 9
_FIRST_PAUSE = 0.02
"""Seconds; each of the following is twice as long, which makes five seconds for what others hold to become free."""
_MOST_AT_ONCE = 8
"""Queries of one call on connections of their own."""

_PING = Query("ping", "RETURN 1 AS one", {})
_GONE = "The Neo4j server that neo4j_uri names does not answer. Try again when it runs."

_Answer = TypeVar("_Answer")


class Neo4jDatabase:
    """One database on one server or cluster. ``attempt`` fails at once, all else retries."""

    def __init__(
        self,
        writer: AsyncDriver,
        reader: AsyncDriver,
        name: str,
        on_return: Callable[[], None],
        connect: Callable[[], AsyncDriver],
    ) -> None:
        """``on_return`` is called when the database answers again after an outage.

        ``connect`` opens another connection, to check that the server is available.
        """
        self._writer, self._reader, self._name = writer, reader, name
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()
        self._on_return = on_return
        self._pulse = Pulse(connect, self._come_back)

    async def read(self, *queries: Query) -> list[list[Row]]:
        try:
            return await self.recovering(partial(self.attempt, *queries))
        except Refused as refused:
            _log.warning("%s", refused)
            raise Unavailable("The database could not answer a query. Try again; get_status says more.") from None

    async def try_read(self, query: Query) -> list[Row]:
        (found,) = await self.recovering(partial(self.attempt, query))
        return found

    async def write(self, query: Query) -> list[Row]:
        return await self.recovering(partial(self._write_patiently, query))

    async def attempt(self, *queries: Query, writing: bool = False, seconds: float = READ_SECONDS) -> list[list[Row]]:
        """Rows of each query, sent side by side, each at most ``seconds`` long; without recovery.

        Raises:
            Refused: by the first query that was.
            DriverError, Neo4jError, OSError: the connection is lost.
        """
        answers: list[list[Row]] = []
        for first in range(0, len(queries), _MOST_AT_ONCE):
            some = queries[first : first + _MOST_AT_ONCE]
            answers += await asyncio.gather(*(self._run(one, writing=writing, seconds=seconds) for one in some))
        return answers

    async def recovering(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer, after one retry if the connection was lost; ``send`` must be repeatable. Raises Unavailable."""
        try:
            return await self._pulse.recovering(send)
        except LOST:
            raise Unavailable(_GONE) from None

    async def _come_back(self) -> None:
        """Check the database after an outage: it may be another one, restored from a copy, or empty."""
        await neo4j_schema.ensure(self)
        self._on_return()

    def driver(self) -> "OneGraphNeo4jDriver":
        """A driver for Graphiti's own code, over the same connections."""
        from graphiti_pkm.storage.graph.neo4j.driver import OneGraphNeo4jDriver  # noqa: PLC0415 slow to import

        return OneGraphNeo4jDriver(self._writer, self._name, self._pulse.watched)

    async def close(self) -> None:
        await self._pulse.close()
        await self._writer.close()
        if self._reader is not self._writer:
            await self._reader.close()

    async def examine(self) -> None:
        await self.recovering(partial(self.attempt, _PING, writing=True))
        await self.recovering(partial(self.attempt, _PING))
        await self.recovering(partial(neo4j_schema.check_version, self))

    async def prepare(self) -> None:
        await self.recovering(partial(neo4j_schema.ensure, self))

    async def is_ready(self) -> bool:
        return await self.recovering(partial(neo4j_schema.is_ready, self))

    async def clear(self) -> None:
        """In batches: one transaction of a large graph would need all the server's memory.

        Markers go first, so that a graph which is half gone has none of a write that is no longer whole.
        """
        try:
            for query in (_CLEAR_MARKERS, _CLEAR):
                while (await self.write(query))[0]["gone"]:
                    pass
        except Refused:
            raise Unavailable("The graph could not be cleared; a part of it may be gone.") from None
        for kind in ALL:
            await self.drop_vector_index(kind)
        await self.prepare()

    async def vector_states(self) -> dict[Embedded, int]:
        return await neo4j_schema.vector_states(self)

    async def create_vector_index(self, kind: Embedded, dimension: int) -> bool:
        try:
            await self.write(neo4j_schema.create_vector_index(kind, dimension))
        except Neo4jRefused as refused:
            if not refused.is_existing_index:
                _log.warning("%s of %s", refused, kind.name)
            return False
        return True

    async def drop_vector_index(self, kind: Embedded) -> None:
        with suppress(Refused):  # there is none
            await self.write(neo4j_schema.drop_vector_index(kind))

    async def _write_patiently(self, query: Query) -> list[Row]:
        """Retry after a deadlock, a lock that was not free or a race: nothing of the query was applied then."""
        pause = _FIRST_PAUSE
        for _ in range(_TRIES - 1):
            try:
                return await self._run(query, writing=True, seconds=WRITE_SECONDS)
            except Neo4jRefused as refused:
                if not refused.may_be_repeated:
                    raise
                _log.info("%s; trying again", refused)
            await asyncio.sleep(pause)
            pause *= 2
        return await self._run(query, writing=True, seconds=WRITE_SECONDS)

    async def _run(self, query: Query, *, writing: bool, seconds: float) -> list[Row]:
        timed = TimedText(query.text, timeout=seconds)
        values = parameters(query.text, query.parameters)
        driver = self._writer if writing else self._reader
        mode = WRITE_ACCESS if writing else READ_ACCESS
        try:
            async with driver.session(
                database=self._name, default_access_mode=mode, bookmark_manager=self._bookmarks
            ) as session:
                result = await session.run(timed, values)
                keys = result.keys()
                return [dict(zip(keys, map(plain, record), strict=True)) async for record in result]
        except DatabaseUnavailable:
            raise
        except AuthError:
            user = "neo4j" if driver is self._writer else "neo4j_reader"
            raise ConfigurationError(
                f"Neo4j refuses the user name or the password. Check {user}_username and {user}_password."
            ) from None
        except Neo4jError as error:
            if "DatabaseNotFound" in (error.code or ""):
                raise ConfigurationError(f"This Neo4j has no database {self._name}. Check neo4j_database.") from None
            raise Neo4jRefused(query.name, error) from None


_CLEAR_MARKERS = Query("clear markers", "MATCH (n:Write) WITH n LIMIT 5000 DELETE n RETURN count(n) AS gone", {})
_CLEAR = Query(
    "clear",
    """MATCH (n) WHERE NOT (n:Meta AND n.id = 'lock of all') WITH n LIMIT 5000
    DETACH DELETE n RETURN count(n) AS gone""",
    {},
)
"""Everything except the lock of the caller, which another host would otherwise take for free. Locks of groups are
removed, so that a writer that was paused notices that it lost its lock."""


def open_neo4j(settings: Settings, on_return: Callable[[], None] = lambda: None) -> Neo4jDatabase:
    """Open a database as configured; the first query connects. Raises ConfigurationError."""
    uri, most = settings.neo4j_uri or "", settings.database_connections
    connect = partial(open_driver, uri, settings.neo4j_username, settings.neo4j_password)
    writer = connect(most)
    reader = writer
    if settings.neo4j_reader_username is not None:
        reader = open_driver(uri, settings.neo4j_reader_username, settings.neo4j_reader_password, most)
    return Neo4jDatabase(writer, reader, settings.neo4j_database, on_return, partial(connect, 1))
