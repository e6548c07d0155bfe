"""Whether a store takes writes: what its last write was told, and a small one now and then."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

FRESH_SECONDS = 5.0
"""How long the outcome of a write counts."""
_PATIENCE_SECONDS = 5.0


class WriteCheck(Protocol):
    """A store that can say why nothing can be written into it."""

    async def refusal(self) -> str | None:
        """Why it takes no write now and what to do, as of a few seconds ago; None if it takes one."""
        ...


class LastWrite:
    """The outcome of the last write of this process, real or tried."""

    def __init__(
        self,
        attempt: Callable[[bool], Awaitable[str | None]],
        silence: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``attempt`` writes something small and returns why that was refused; it is told whether the last one was.

        ``silence``: the reason when that takes too long.
        """
        self._attempt = attempt
        self._silence = silence
        self._clock = clock
        self._reason: str | None = None
        self._fresh_until = float("-inf")

    def ended(self, reason: str | None) -> None:
        """Note what a write was refused for; None: it was taken."""
        self._reason = reason
        self._fresh_until = self._clock() + FRESH_SECONDS

    async def refusal(self) -> str | None:
        """Why the last write was refused; tried again if that is a while ago."""
        if self._clock() >= self._fresh_until:
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    reason = await self._attempt(self._reason is not None)
            except TimeoutError:
                reason = self._silence
            self.ended(reason)
        return self._reason
