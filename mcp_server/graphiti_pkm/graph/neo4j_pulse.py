"""Whether a Neo4j still is there, asked while it keeps somebody waiting, and once more before it is used again."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from neo4j import AsyncDriver
from neo4j.exceptions import DatabaseUnavailable, Neo4jError, ServiceUnavailable

from graphiti_pkm.graph.neo4j_connection import LOST
from graphiti_pkm.graph.watch import Watch

_log = logging.getLogger(__name__)

SILENT_SECONDS = 3.0
"""After which a call asks whether the server is still there."""
_ANSWER_SECONDS = 5.0
_STANDS_SECONDS = 1.0
"""How long nobody tries again: writes of a group come one after the other, and each would wait for the same silence."""

_Answer = TypeVar("_Answer")


class Pulse:
    """Finds out in seconds that a server fell silent, and brings it back into use once, for all who wait for it.

    The driver has no limit for an answer: behind a network that is gone, a call would wait for ever.
    """

    def __init__(self, connect: Callable[[], AsyncDriver], come_back: Callable[[], Awaitable[None]]) -> None:
        """``come_back`` sees to it that a server that was gone can be used: it may have lost anything meanwhile."""
        self._connect = connect
        self._come_back = come_back
        self._returning = asyncio.Lock()
        self._failures = 0
        self._stands_until = 0.0
        self._is_away = False
        self._watch = Watch(self._feel)

    async def recovering(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer, after one more try if the connection was lost; ``send`` must be repeatable. Raises LOST."""
        if not self._is_away:
            try:
                return await self._watch.answer(send, SILENT_SECONDS)
            except LOST:
                _log.warning("the connection to the database is lost; trying again")
                self._is_away = True
        await self._return()
        return await self._watch.answer(send, SILENT_SECONDS)

    async def _return(self) -> None:
        """One return for all who lost the same server; they share its failure too."""
        failures = self._failures
        async with self._returning:
            if not self._is_away:
                return
            if self._failures != failures or monotonic() < self._stands_until:
                raise ServiceUnavailable
            try:
                await self._feel()
                await self._come_back()
            except BaseException:
                self._failures += 1
                self._stands_until = monotonic() + _STANDS_SECONDS
                raise
            self._is_away = False

    async def _feel(self) -> None:
        """On a connection of its own: those of the pool may all be at work. Raises LOST."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), self._connect() as driver:
                await driver.verify_connectivity()
        except DatabaseUnavailable:
            raise
        except Neo4jError:
            return  # it answers; whoever asks it next says what is wrong
