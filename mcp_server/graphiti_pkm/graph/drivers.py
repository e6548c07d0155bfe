"""The connection to FalkorDB: a pool, pipelined queries, recovery, and the driver that Graphiti's own code uses.

Importing this takes most of a second (graphiti_core); ``store`` does it in a thread, on first use. Errors and logs
name a query and never hold its text, its parameters or the database's message, which may quote them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from falkordb.asyncio import FalkorDB
from graphiti_core.driver.falkordb_driver import FalkorDriver
from redis.asyncio import BlockingConnectionPool, Redis, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from graphiti_pkm.config import silence_dependencies
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.graph.queries_values import Query, Refused, Row, literal, rows

_log = logging.getLogger(__name__)

silence_dependencies()  # here, as whatever runs Graphiti's own code gets its driver from here

MAX_CONNECTIONS = 24
READ_TIMEOUT_MS = 20_000
_MAX_FULLTEXT_WORDS = 128
_DURABLE_KEY = "graphiti-pkm:durable"

_Answer = TypeVar("_Answer")

_LOST = (RedisConnectionError, RedisTimeoutError, OSError)


def _open_redis(path: Path, max_connections: int) -> Redis:
    """RESP2, no socket timeout and no retries of its own: a dead socket must show at once."""
    pool = BlockingConnectionPool(
        connection_class=UnixDomainSocketConnection,
        path=str(path),
        protocol=2,
        decode_responses=True,
        max_connections=max_connections,
        timeout=None,
        socket_timeout=None,
        retry=Retry(NoBackoff(), 0),
    )
    return Redis.from_pool(pool)


class Database:
    """One graph on one server. ``attempt`` fails as it comes; ``read`` and ``write`` recover and try once more."""

    def __init__(
        self,
        path: Path,
        name: str,
        recover: Callable[[], Awaitable[Path | None]],
        after_recovery: Callable[["Database"], Awaitable[None]],
    ) -> None:
        """``recover`` brings the server back and gives its socket, None for the same as before."""
        self._name = name
        self._recover = recover
        self._after_recovery = after_recovery
        self._recovery = asyncio.Lock()
        self._recoveries = 0
        self._open(path)

    def _open(self, path: Path) -> None:
        self._path = path
        self._redis = _open_redis(path, MAX_CONNECTIONS)
        self._durable = _open_redis(path, 1)

    async def read(self, *queries: Query) -> list[list[Row]]:
        """Rows of each query, sent together. Raises Unavailable."""
        try:
            return await self.recovering(partial(self.attempt, *queries))
        except Refused as refused:
            _log.warning("%s", refused)
            raise Unavailable("The database could not answer a query. Try again; get_status says more.") from None

    async def read_apart(self, *queries: Query) -> list[list[Row]]:
        """As ``read``, on a connection each, so that the database works on them side by side."""
        answers = await asyncio.gather(*map(self.read, queries))
        return [rows_ for (rows_,) in answers]

    async def write(self, query: Query) -> list[Row]:
        """Rows of one query that may safely be repeated.

        Raises:
            Refused: nothing of it is there.
            Unavailable: it may be there.
        """
        answers: list[list[Row]] = await self.recovering(partial(self.attempt, query, writing=True))
        return answers[0]

    async def attempt(self, *queries: Query, writing: bool = False) -> list[list[Row]]:
        """As ``read`` and ``write`` without recovery.

        Raises:
            Refused: by the first query that was.
            OSError, RedisError: the connection is lost.
        """
        commands = [self._command(query, writing=writing) for query in queries]
        async with self._redis.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            answers = await pipeline.execute(raise_on_error=False)
        for query, answer in zip(queries, answers, strict=True):
            _check(query.name, answer)
        return [rows(answer) for answer in answers]

    async def command(self, *words: str | int) -> Any:
        """A plain command that may be repeated. Raises Refused or Unavailable."""
        return await self.recovering(partial(self.attempt_command, *words))

    async def attempt_command(self, *words: str | int) -> Any:
        """As ``command`` without recovery. Raises Refused, OSError or RedisError."""
        try:
            return await self._redis.execute_command(*words)  # type: ignore[no-untyped-call]
        except ResponseError as error:
            raise Refused(str(words[0]), error) from None

    async def is_durable(self, timeout_ms: int) -> bool:
        """True once everything written before this call is in the append-only file on disk.

        WAITAOF waits for the writes of its own connection only, so that connection writes first.
        """

        async def send() -> int:
            async with self._durable.pipeline(transaction=False) as pipeline:
                pipeline.set(_DURABLE_KEY, 1)
                pipeline.execute_command("WAITAOF", 1, 0, timeout_ms)
                _, waited = await pipeline.execute(raise_on_error=False)
            _check("WAITAOF", waited)
            return int(waited[0])

        try:
            return await self.recovering(send) >= 1
        except Refused as refused:
            _log.warning("%s", refused)
            return False

    def driver(self) -> "OneGraphDriver":
        """A driver for Graphiti's own code, with connections of its own."""
        return OneGraphDriver(_Server(_open_redis(self._path, MAX_CONNECTIONS)), self._name)

    async def close(self) -> None:
        for client in (self._redis, self._durable):
            await client.aclose()
            await client.connection_pool.disconnect()

    def _command(self, query: Query, *, writing: bool) -> tuple[str | int, ...]:
        text = query.command()
        if writing:
            return ("GRAPH.QUERY", self._name, text, "--compact")
        return ("GRAPH.RO_QUERY", self._name, text, "--compact", "timeout", READ_TIMEOUT_MS)

    async def recovering(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer, after one recovery if the connection is lost; ``send`` must be repeatable. Raises Unavailable."""
        seen = self._recoveries
        try:
            return await send()
        except _LOST:
            _log.warning("the connection to the database is lost; recovering")
        try:
            await self._recover_once(seen)
            return await send()
        except _LOST:
            raise Unavailable("The database does not answer; it is being restarted. Try again.") from None

    async def _recover_once(self, seen: int) -> None:
        """One recovery for all callers that lost the same connection."""
        async with self._recovery:
            if self._recoveries != seen:
                return
            await self.close()
            self._open(await self._recover() or self._path)
            await self._after_recovery(self)
            self._recoveries += 1


def _check(name: str, answer: Any) -> None:
    """An error stands in the place of the answer, or after its rows."""
    parts = answer if isinstance(answer, list) else [answer]
    for part in (*parts[:1], *parts[-1:]):
        if isinstance(part, (RedisConnectionError, RedisTimeoutError)):
            raise part
        if isinstance(part, RedisError):
            raise Refused(name, part)


class _Server(FalkorDB):
    """falkordb's client over our pool; its own constructor first asks the server, blocking, with other settings."""

    def __init__(self, connection: Redis) -> None:
        self.connection = connection
        self.flushdb = connection.flushdb
        self.execute_command = connection.execute_command

    async def aclose(self) -> None:
        await self.connection.aclose()
        await self.connection.connection_pool.disconnect()


class OneGraphDriver(FalkorDriver):
    """Graphiti's FalkorDB driver with all groups in one graph, where group_id is a property, as on Neo4j.

    The stock driver keeps a graph for each group, builds indexes whenever it is made, prints, and logs queries.
    """

    def __init__(self, client: FalkorDB, database: str) -> None:
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
            result = await self.client.select_graph(self._database).query(cypher_query_, parameters)
        except ResponseError as error:
            if Refused("", error).is_existing_index:
                return None
            _log.warning("the database refused a query of graphiti_core")
            raise Unavailable("The database could not answer a query.") from None
        except _LOST:
            raise Unavailable("The database does not answer; it is being restarted. Try again.") from None
        header = [column[1] for column in result.header]
        return [dict(zip(header, row, strict=True)) for row in result.result_set], header, None

    def build_fulltext_query(
        self,
        query: str,
        group_ids: list[str] | None = None,  # noqa: ARG002 the group is filtered as a property
        max_query_length: int = _MAX_FULLTEXT_WORDS,
    ) -> str:
        """Any of the words; no group clause, which finds nothing for a group with a hyphen, and no stop words."""
        words = self.sanitize(query).split()[:max_query_length]
        return f"({' | '.join(words)})" if words else ""
