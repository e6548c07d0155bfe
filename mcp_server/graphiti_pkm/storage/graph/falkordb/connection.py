"""A pool of connections to one FalkorDB, and what its errors mean."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from redis.asyncio import BlockingConnectionPool, Connection, Redis
from redis.asyncio.connection import AbstractConnection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoPermissionError, OutOfMemoryError, ReadOnlyError
from redis.exceptions import TimeoutError as RedisTimeoutError

from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.falkordb.address import Address

LOST = (RedisConnectionError, RedisTimeoutError, OSError)

CONNECT_SECONDS = 8.0
"""FalkorDB answers nobody while a write of 100,000 records is put into its files: 4 s were measured."""
READ_TIMEOUT_MS = 20_000
SERVER_SECONDS = 30.0
"""How long a server elsewhere may be silent: longer than any read may take."""
_TRANSIENT = re.compile(r"(MISCONF|OOM|READONLY|BUSY|LOADING|TRYAGAIN|NOPERM|NOAUTH)\b|Query timed out")
_EXISTS = re.compile(r"already (indexed|exists)", re.IGNORECASE)


class FalkorRefused(Refused):
    """With what FalkorDB's message tells; the message itself is not kept."""

    def __init__(self, query: str, error: Exception) -> None:
        self.is_denied = isinstance(error, NoPermissionError)
        """The user may not do this."""
        is_state = self.is_denied or isinstance(error, OutOfMemoryError | ReadOnlyError)
        super().__init__(query, is_transient=is_state or _TRANSIENT.match(str(error)) is not None)
        self.is_missing_graph = "empty key" in str(error)
        self.is_existing_index = _EXISTS.search(str(error)) is not None


def is_caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether the client made this error of one of a kind."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error is not None


def open_redis(
    address: Address, max_connections: int, on_connect: Callable[[AbstractConnection], Awaitable[None]]
) -> Redis:
    """RESP2 and no retries of its own: a dead connection must show at once.

    The embedded database ends its connections when it dies; of one elsewhere we may hear nothing any more.
    """
    options: dict[str, Any] = dict(parse_url(address.uri))
    if not address.is_ours:
        options |= {"socket_timeout": SERVER_SECONDS, "socket_connect_timeout": CONNECT_SECONDS}
    if not address.uri.startswith("unix"):
        options["socket_keepalive"] = True
    if address.password is not None:
        options |= {"username": address.username, "password": address.password.get_secret_value()}
    pool = BlockingConnectionPool(
        max_connections=max_connections,
        timeout=None,
        **{"connection_class": Connection, **options},
        protocol=2,
        decode_responses=True,
        retry=Retry(NoBackoff(), 0),
        redis_connect_func=on_connect,
    )
    return Redis.from_pool(pool)
