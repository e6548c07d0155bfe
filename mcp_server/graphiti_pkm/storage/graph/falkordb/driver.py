"""The driver through which Graphiti's own code reaches FalkorDB.

Importing this takes most of a second (graphiti_core); ``store`` has it done in a thread, on first use. Errors and logs
name a query and never hold its text, its parameters or the database's message, which may quote them.
"""

import logging
from functools import partial
from typing import Any

from falkordb.asyncio import FalkorDB
from falkordb.asyncio.graph import AsyncGraph
from graphiti_core.driver.falkordb_driver import FalkorDriver
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.settings.loader import silence_dependencies
from graphiti_pkm.storage.graph.falkordb.connection import LOST, FalkorRefused
from graphiti_pkm.storage.graph.queries.values import literal
from graphiti_pkm.storage.graph.watch import Watched

_log = logging.getLogger(__name__)

silence_dependencies()  # here, as whatever runs Graphiti's own code gets its driver from here

_MAX_FULLTEXT_WORDS = 128


class FalkorClient(FalkorDB):
    """falkordb's client over our pool; its own constructor first asks the server, blocking, with other settings."""

    def __init__(self, connection: Redis) -> None:
        self.connection = connection
        self.flushdb = connection.flushdb
        self.execute_command = connection.execute_command

    async def aclose(self) -> None:
        await self.connection.aclose()
        await self.connection.connection_pool.disconnect()


class _WatchedGraph:
    """What Graphiti's driver and its sessions ask of a graph, ended when the server does not answer any more."""

    def __init__(self, graph: AsyncGraph, watched: Watched) -> None:
        self._graph = graph
        self._watched = watched

    async def query(self, text: str, parameters: dict[str, Any]) -> Any:
        """Raises Unavailable."""
        try:
            return await self._watched(partial(self._graph.query, text, parameters))
        except LOST:
            raise Unavailable("The database does not answer; it is being restarted. Try again.") from None


class OneGraphDriver(FalkorDriver):
    """Graphiti's FalkorDB driver with all groups in one graph, where group_id is a property, as on Neo4j.

    The stock driver keeps a graph for each group, builds indexes whenever it is made, prints, and logs queries.
    """

    def __init__(self, client: FalkorDB, database: str, watched: Watched) -> None:
        """``watched`` ends what a server that has fallen silent would keep."""
        self._watched = watched
        super().__init__(falkor_db=client, database=database)
        if self._init_task is not None:
            self._init_task.cancel()
            self._init_task = None

    def clone(self, database: str) -> "OneGraphDriver":  # noqa: ARG002 the signature is Graphiti's
        """Itself: a group is no other graph."""
        return self

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Nothing: ``schema`` is the one place that builds indexes."""

    async def health_check(self) -> None:
        """Raises Unavailable."""
        await self.execute_query("RETURN 1")

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> Any:
        """Graphiti's form of an answer: records, header, None.

        Raises:
            InvalidInput: a parameter holds NUL.
            Unavailable: with nothing of the query in it.
        """
        parameters = self.convert_datetimes_to_strings(kwargs)  # type: ignore[no-untyped-call]
        literal(parameters)  # refuses what the stock driver would silently drop
        try:
            result = await self._get_graph(self._database).query(cypher_query_, parameters)
        except ResponseError as error:
            if FalkorRefused("", error).is_existing_index:
                return None
            _log.warning("the database refused a query of graphiti_core")
            raise Unavailable("The database could not answer a query.") from None
        header = [column[1] for column in result.header]
        return [dict(zip(header, row, strict=True)) for row in result.result_set], header, None

    def _get_graph(self, graph_name: str | None) -> Any:
        return _WatchedGraph(self.client.select_graph(graph_name or self._database), self._watched)

    def build_fulltext_query(
        self,
        query: str,
        group_ids: list[str] | None = None,  # noqa: ARG002 the group is filtered as a property
        max_query_length: int = _MAX_FULLTEXT_WORDS,
    ) -> str:
        """Any of the words; no group clause, which finds nothing for a group with a hyphen, and no stop words."""
        words = self.sanitize(query).split()[:max_query_length]
        return f"({' | '.join(words)})" if words else ""
