"""The connections of one process to one FalkorDB, kept over the death of either end."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import AuthenticationError, NoPermissionError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.falkordb.address import Address
from graphiti_pkm.storage.graph.falkordb.connection import CONNECT_SECONDS, LOST, is_caused_by, open_redis
from graphiti_pkm.storage.graph.watch import Absence, Watch

_log = logging.getLogger(__name__)

MAX_CONNECTIONS = 24
SILENT_SECONDS = 5.0
"""After which a call asks whether the server is still there."""
_RUN = re.compile(r"^run_id:(\w+)", re.MULTILINE)

_Answer = TypeVar("_Answer")


class FalkorLink:
    """Pools for writing, for reading and for waiting; ``recovering`` makes them anew when the server has gone.

    Every connection asks which run of the server it has reached. Another one than the run we prepared may have lost
    writes and does not serve its indexes yet, and finds nothing instead of saying so: such a connection counts as lost.
    """

    def __init__(
        self,
        address: Address,
        recover: Callable[[], Awaitable[Address | None]],
        reader: Address | None = None,
        connections: int = MAX_CONNECTIONS,
        on_restart: Callable[[], None] = lambda: None,
    ) -> None:
        """``recover`` brings the server back and gives its address, None for the same as before.

        ``reader``: as whom reads connect, if not as the writer. ``on_restart`` is told that the server is another run.
        """
        self.address = address
        self._reader_address = reader
        self._recover = recover
        self._connections = connections
        self._on_restart = on_restart
        self._prepare: Callable[[], Awaitable[None]] | None = None
        self._watch = Watch(self._check_pulse)
        self._absence = Absence(self._recover_now)
        self._expected: str | None = None
        self._run: str | None = None
        self._open()

    def _open(self) -> None:
        """Nothing is connected yet."""
        self._expected = None
        reader = self._reader_address
        each = max(1, (self._connections - 1) // (2 if reader else 1))
        self.writer = open_redis(self.address, each, self._on_connect)
        self.waiter = open_redis(self.address, 1, self._on_connect)
        self.reader = open_redis(reader, each, self._on_connect) if reader else self.writer

    def client(self) -> Redis:
        """A client with connections of its own, as the writer; whoever asks closes it."""
        return open_redis(self.address, self._connections, self._on_connect)

    async def close(self) -> None:
        await self._absence.close()
        await self._disconnect()

    async def _disconnect(self) -> None:
        for client in {id(client): client for client in (self.writer, self.waiter, self.reader)}.values():
            await client.aclose()
            await client.connection_pool.disconnect()

    def after_recovery(self, prepare: Callable[[], Awaitable[None]]) -> None:
        """What a server that came back needs before it is asked anything."""
        self._prepare = prepare

    async def recovering(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer, after one recovery if the connection is lost; ``send`` must be repeatable. Raises Unavailable."""
        began = asyncio.get_running_loop().time()
        if self._absence.is_over:
            try:
                return await self._watch.answer(send, SILENT_SECONDS)
            except LOST as error:
                _log.warning("the connection to the database is lost (%s); recovering", type(error).__name__)
                self._absence.begin(began)
        try:
            await self._absence.end()
            return await self._watch.answer(send, SILENT_SECONDS)
        except LOST as error:
            if is_caused_by(error, AuthenticationError):
                raise Unavailable(f"The FalkorDB server at {self.address.shown} refuses user or password.") from None
            raise Unavailable(self.away) from None

    async def watched(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer to what must not be sent twice. Raises LOST once the server does not answer any more."""
        return await self._watch.answer(send, SILENT_SECONDS)

    async def _check_pulse(self) -> None:
        """On a connection more: FalkorDB answers while it works on queries. Raises OSError, RedisError."""
        client = open_redis(self.address, 1, self._on_connect)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.ping()
        finally:
            await client.aclose()
            await client.connection_pool.disconnect()

    @property
    def away(self) -> str:
        """What a caller is told while the server does not answer."""
        if self.address.is_ours:
            return "The database does not answer; it stands still or is being restarted. Try again."
        return f"The FalkorDB server at {self.address.shown} does not answer. Try again when it runs."

    async def _recover_now(self) -> None:
        """Who comes meanwhile waits: until it is prepared, the server may find nothing."""
        await self._disconnect()
        self.address = await self._recover() or self.address
        self._open()
        await self.writer.ping()
        if self._prepare is not None:
            await self._prepare()

    async def _on_connect(self, connection: AbstractConnection) -> None:
        """Log in and see whom we have reached. Raises RedisError."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await connection.on_connect()
                run = await _run_of(connection)
        except TimeoutError:
            raise RedisTimeoutError("Timeout connecting to server") from None
        if self._expected is None:
            self._expected = run
        elif run != self._expected:
            raise RedisConnectionError("another run of the server")
        if run != self._run:
            is_first, self._run = self._run is None, run
            if not is_first:
                self._on_restart()


async def _run_of(connection: AbstractConnection) -> str:
    """Empty if we may not ask."""
    await connection.send_command("INFO", "server")
    try:
        found = _RUN.search(str(await connection.read_response()))
    except NoPermissionError:
        return ""
    return found[1] if found else ""
