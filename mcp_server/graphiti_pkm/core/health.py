"""Checks whether a store accepts writes, by its last write and an occasional small test write."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

FRESH_SECONDS = 5.0
"""For how long the outcome of a write is valid."""
_PATIENCE_SECONDS = 5.0


class WriteCheck(Protocol):
    """A store that can report why it accepts no writes."""

    async def refusal(self) -> str | None:
        """Why writes are refused and what to do, as of a few seconds ago; None if they are accepted."""
        ...


class LastWrite:
    """The outcome of the last write of this process, real or test."""

    def __init__(
        self,
        attempt: Callable[[bool], Awaitable[str | None]],
        silence: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``attempt`` makes a small write and returns why it was refused; it gets whether the last one was refused.

        ``silence``: the reason if that takes too long.
        """
        self._attempt = attempt
        self._silence = silence
        self._clock = clock
        self._reason: str | None = None
        self._fresh_until = float("-inf")

    def ended(self, reason: str | None) -> None:
        """Record why a write was refused; None: it was accepted."""
        self._reason = reason
        self._fresh_until = self._clock() + FRESH_SECONDS

    async def refusal(self) -> str | None:
        """Why the last write was refused; tested again if that was a while ago."""
        if self._clock() >= self._fresh_until:
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    reason = await self._attempt(self._reason is not None)
            except TimeoutError:
                reason = self._silence
            self.ended(reason)
        return self._reason
