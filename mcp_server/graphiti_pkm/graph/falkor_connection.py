"""A pool of connections to one FalkorDB, and what its errors mean."""

import re
from pathlib import Path

from redis.asyncio import BlockingConnectionPool, Redis, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from graphiti_pkm.graph.database import Refused

LOST = (RedisConnectionError, RedisTimeoutError, OSError)

_TRANSIENT = re.compile(r"(MISCONF|OOM|READONLY|BUSY|LOADING|TRYAGAIN|NOPERM|NOAUTH)\b|Query timed out")
_EXISTS = re.compile(r"already (indexed|exists)", re.IGNORECASE)


class FalkorRefused(Refused):
    """With what FalkorDB's message tells; the message itself is not kept."""

    def __init__(self, query: str, error: Exception) -> None:
        super().__init__(query, is_transient=_TRANSIENT.match(str(error)) is not None)
        self.is_missing_graph = "empty key" in str(error)
        self.is_existing_index = _EXISTS.search(str(error)) is not None


def open_redis(path: Path, max_connections: int) -> Redis:
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
