"""The driver through which Graphiti's own code reaches Neo4j.

Importing this takes most of a second (graphiti_core). Errors and logs hold nothing of a query.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from graphiti_core.driver.driver import GraphDriverSession, GraphProvider
from graphiti_core.driver.neo4j_driver import Neo4jDriver
from neo4j import AsyncDriver, AsyncSession
from neo4j.exceptions import Neo4jError

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.settings.loader import silence_dependencies
from graphiti_pkm.storage.graph.neo4j.connection import LOST
from graphiti_pkm.storage.graph.watch import Watched

_log = logging.getLogger(__name__)

_AWAY = "The database does not answer. Try again."

silence_dependencies()  # here, as whatever runs Graphiti's own code gets its driver from here


class OneGraphNeo4jDriver(Neo4jDriver):
    """Graphiti's Neo4j driver over existing connections, which stay open when it is closed.

    The stock driver opens its own, builds indexes whenever it is created, prints, and logs the database's messages.
    """

    def __init__(self, client: AsyncDriver, database: str, watched: Watched) -> None:
        """``watched`` ends what a server that has fallen silent would keep."""
        self._watched = watched
        super().__init__("bolt://localhost", None, None, database)  # connects to nothing
        if self._init_task is not None:
            self._init_task.cancel()
            self._init_task = None
        self._unused, self.client = self.client, client

    async def close(self) -> None:
        """The connections belong to the store."""
        await self._unused.close()

    def clone(self, database: str) -> "OneGraphNeo4jDriver":  # noqa: ARG002 the signature is Graphiti's
        """Returns itself: groups are in the same database."""
        return self

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Does nothing: only ``schema`` builds indexes."""

    async def health_check(self) -> None:
        """Raises Unavailable."""
        await self.execute_query("RETURN 1")

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> Any:
        """Graphiti's form of an answer. Raises Unavailable, with nothing of the query in it."""
        params = kwargs.pop("params", None) or {}
        database = kwargs.pop("database_", self._database)
        try:
            return await self._watched(
                partial(self.client.execute_query, cypher_query_, parameters_=params, database_=database, **kwargs)
            )
        except LOST:
            raise Unavailable(_AWAY) from None
        except Neo4jError as error:
            _log.warning("the database refused a query of graphiti_core: %s", error.code)
            raise Unavailable("The database could not answer a query.") from None

    def session(self, database: str | None = None) -> GraphDriverSession:
        """Neo4j's own, watched."""
        return _WatchedSession(self.client.session(database=database or self._database), self._watched)


class _WatchedSession(GraphDriverSession):
    """A session whose work ends when the server does not answer any more."""

    provider = GraphProvider.NEO4J

    def __init__(self, session: AsyncSession, watched: Watched) -> None:
        self._session = session
        self._watched = watched

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, query: str, **kwargs: Any) -> Any:
        """Raises Unavailable."""
        return await self._answered(partial(self._session.run, query, **kwargs))

    async def execute_write(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Raises Unavailable."""
        return await self._answered(partial(self._session.execute_write, func, *args, **kwargs))

    async def close(self) -> None:
        """Raises Unavailable."""
        await self._answered(self._session.close)

    async def _answered(self, send: Callable[[], Awaitable[Any]]) -> Any:
        try:
            return await self._watched(send)
        except LOST:
            raise Unavailable(_AWAY) from None
