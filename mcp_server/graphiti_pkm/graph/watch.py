"""Waiting for a database server that may fall silent: it may be gone without a word."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

_Answer = TypeVar("_Answer")


class Watch:
    """While an answer is late, the server has to show that it lives; asked once for all who wait."""

    def __init__(self, feel: Callable[[], Awaitable[None]]) -> None:
        """``feel`` raises if the server does not answer, on a connection of its own and in bounded time."""
        self._feel = feel
        self._pulse: asyncio.Task[None] | None = None

    async def answer(self, send: Callable[[], Awaitable[_Answer]], silent_seconds: float) -> _Answer:
        """The answer, or what ``feel`` raised; it is asked each time that ``silent_seconds`` have passed."""
        asked = asyncio.ensure_future(send())
        try:
            while not (await asyncio.wait({asked}, timeout=silent_seconds))[0]:
                if self._pulse is None or self._pulse.done():
                    self._pulse = asyncio.create_task(self._ask(), name="pulse of the database")
                await asyncio.shield(self._pulse)
            return asked.result()
        finally:
            if not asked.cancel() and not asked.cancelled():
                asked.exception()  # seen, where the pulse failed first

    async def _ask(self) -> None:
        await self._feel()
