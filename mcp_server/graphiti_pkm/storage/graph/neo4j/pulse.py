"""Checks that a Neo4j still answers while a call waits, and once more before it is used again."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from neo4j import AsyncDriver
from neo4j.exceptions import DatabaseUnavailable, Neo4jError

from graphiti_pkm.storage.graph.neo4j.connection import LOST
from graphiti_pkm.storage.graph.watch import Absence, Watch

_log = logging.getLogger(__name__)

SILENT_SECONDS = 3.0
"""Seconds after which a waiting call checks the server."""
_ANSWER_SECONDS = 5.0

_Answer = TypeVar("_Answer")


class Pulse:
    """Notices within seconds that a server is silent, and restores it once for all waiting calls.

    The driver has no timeout for an answer: behind a broken network, a call would wait for ever.
    """

    def __init__(self, connect: Callable[[], AsyncDriver], come_back: Callable[[], Awaitable[None]]) -> None:
        """``come_back`` prepares a server that was away for use, since it may have lost anything meanwhile."""
        self._connect = connect
        self._come_back = come_back
        self._watch = Watch(self._feel)
        self._absence = Absence(self._bring_back)

    async def recovering(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer, after one retry if the connection was lost; ``send`` must be repeatable. Raises LOST."""
        began = asyncio.get_running_loop().time()
        if self._absence.is_over:
            try:
                return await self._watch.answer(send, SILENT_SECONDS)
            except LOST:
                _log.warning("the connection to the database is lost; trying again")
                self._absence.begin(began)
        await self._absence.end()
        return await self._watch.answer(send, SILENT_SECONDS)

    async def watched(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer to what must not be sent twice. Raises LOST once the server does not answer any more."""
        return await self._watch.answer(send, SILENT_SECONDS)

    async def close(self) -> None:
        """Stop the recovery."""
        await self._absence.close()

    async def _bring_back(self) -> None:
        await self._feel()
        await self._come_back()

    async def _feel(self) -> None:
        """Check on a separate connection, since the pool may be busy. Raises LOST."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), self._connect() as driver:
                await driver.verify_connectivity()
        except DatabaseUnavailable:
            raise
        except Neo4jError:
            return  # it answers; whoever asks it next says what is wrong
