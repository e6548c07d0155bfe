"""Whether a Neo4j still is there, asked while it keeps somebody waiting, and once more before it is used again."""

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
"""After which a call asks whether the server is still there."""
_ANSWER_SECONDS = 5.0

_Answer = TypeVar("_Answer")


class Pulse:
    """Finds out in seconds that a server fell silent, and brings it back into use once, for all who wait for it.

    The driver has no limit for an answer: behind a network that is gone, a call would wait for ever.
    """

    def __init__(self, connect: Callable[[], AsyncDriver], come_back: Callable[[], Awaitable[None]]) -> None:
        """``come_back`` sees to it that a server that was gone can be used: it may have lost anything meanwhile."""
        self._connect = connect
        self._come_back = come_back
        self._watch = Watch(self._feel)
        self._absence = Absence(self._bring_back)

    async def recovering(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer, after one more try if the connection was lost; ``send`` must be repeatable. Raises LOST."""
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
        """Stop bringing it back."""
        await self._absence.close()

    async def _bring_back(self) -> None:
        await self._feel()
        await self._come_back()

    async def _feel(self) -> None:
        """On a connection of its own: those of the pool may all be at work. Raises LOST."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), self._connect() as driver:
                await driver.verify_connectivity()
        except DatabaseUnavailable:
            raise
        except Neo4jError:
            return  # it answers; whoever asks it next says what is wrong
