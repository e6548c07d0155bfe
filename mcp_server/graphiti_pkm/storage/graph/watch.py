"""Waits for a database that may be silent or unavailable: with a limit, and with one recovery for all callers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

_Answer = TypeVar("_Answer")

RETURN_SECONDS = 18.0
"""Maximum wait of calls for an unavailable database: clients give up after 60 s, and a write waits for those before
it."""
_TRY_SECONDS = 5.0
"""How long they wait for a new attempt after others have waited that long in vain."""
_GLANCE_SECONDS = 0.3
"""How long they wait for an attempt that others have waited for in vain."""
_REST_SECONDS = 1.0
"""Seconds without a new attempt after a slow failed one: writes of a group are sequential, and each would wait."""
_ATTEMPT_SECONDS = 150.0
"""Seconds after which an attempt is abandoned: its request may have been lost."""


class Watched(Protocol):
    """Waits for an answer for as long as the server lives, and asks for it once."""

    async def __call__(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer: ...


class Watch:
    """While an answer is late, checks that the server is alive, once for all who wait."""

    def __init__(self, feel: Callable[[], Awaitable[None]]) -> None:
        """``feel`` raises if the server does not answer, on a connection of its own and within a limit."""
        self._feel = feel
        self._pulse: asyncio.Task[None] | None = None

    async def answer(self, send: Callable[[], Awaitable[_Answer]], silent_seconds: float) -> _Answer:
        """The answer, or the error of ``feel``, which is called after every ``silent_seconds``."""
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


class Absence:
    """An unavailable database: one attempt at a time restores it, and continues when its callers have left."""

    def __init__(
        self,
        bring_back: Callable[[], Awaitable[None]],
        seconds: float = RETURN_SECONDS,
        rest_seconds: float = _REST_SECONDS,
    ) -> None:
        """``bring_back`` raises if it failed; ``seconds``: how long callers wait after the loss."""
        self._bring_back = bring_back
        self._seconds = seconds
        self._rest_seconds = rest_seconds
        self._since: float | None = None
        self._returned = self._began = self._rests_until = 0.0
        self._attempt: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether the database is in use."""
        return self._since is None

    def begin(self, since: float) -> None:
        """Record that a call started at ``since`` (event loop time) has lost the database."""
        if self._since is None and since >= self._returned:  # or what it lost has been replaced meanwhile
            self._since = since

    async def end(self) -> None:
        """Return once the database is in use again.

        Raises:
            TimeoutError: it takes too long; the attempt goes on.
            Exception: what ``bring_back`` raised.
        """
        if self._since is None:
            return
        now = asyncio.get_running_loop().time()
        if self._attempt is None or (self._attempt.done() and now >= self._rests_until):
            self._began = now
            self._attempt = asyncio.create_task(self._return(), name="return of the database")
            self._attempt.add_done_callback(_seen)
        attempt = self._attempt
        until = max(self._since + self._seconds, self._began + min(_TRY_SECONDS, self._seconds))
        await asyncio.wait({attempt}, timeout=max(until - now, _GLANCE_SECONDS))
        if not attempt.done() or attempt.cancelled():
            raise TimeoutError
        attempt.result()

    async def close(self) -> None:
        """Stop trying."""
        if self._attempt is not None and not self._attempt.done():
            self._attempt.cancel()
            await asyncio.wait({self._attempt})

    async def _return(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(_ATTEMPT_SECONDS):
                await self._bring_back()
        except BaseException:
            if clock() - self._began >= self._rest_seconds:
                self._rests_until = clock() + self._rest_seconds
            raise
        self._since, self._returned = None, clock()


def _seen(attempt: "asyncio.Task[None]") -> None:
    """Retrieves the result, since all callers may have left."""
    if not attempt.cancelled():
        attempt.exception()
