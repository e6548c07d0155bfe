"""The services, started in the background, so that a client gets its list of tools at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from typing import Self, TypeAlias

from graphiti_pkm.core.ports.metrics import Counted
from graphiti_pkm.errors import PkmError, Unavailable
from graphiti_pkm.server.auth.callers import Limits
from graphiti_pkm.server.owners import Owners
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services

logger = logging.getLogger(__name__)

Start: TypeAlias = Callable[[], AbstractAsyncContextManager[Services]]
"""Called in a thread, so that it may import what is heavy; entered and left in one task."""

NOT_INITIALIZED = "Graphiti service not initialized"


class Backend:
    """One set of services for all connections of this process; a failed start is tried again at the next call."""

    def __init__(
        self,
        start: Start,
        *,
        limits: Limits | None = None,
        counted: Counted | None = None,
        begin_after: float = 0.5,
        patience: float = 40.0,
    ) -> None:
        """``begin_after`` and ``patience`` (how long a call waits for the start) are seconds.

        ``limits``: how much callers may; those of the default settings if left out.
        ``counted``: the figures of this server; None if nobody asks for any.
        """
        self.limits = limits or Limits(Settings())
        self.counted = counted
        self.owners: Owners | None = None
        """Set where several workers share what is in the memory of one of them."""
        self._start = start
        self._begin_after = begin_after
        self._patience = patience
        self._users = 0
        self._ready: asyncio.Future[Services] | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Self]:
        """Hold the services open; the last one out stops them."""
        self._users += 1
        # A client asks for the tools within milliseconds; heavy imports begin after that.
        timer = asyncio.get_running_loop().call_later(self._begin_after, self.begin)
        try:
            yield self
        finally:
            timer.cancel()
            self._users -= 1
            if not self._users:
                await self._close()

    def begin(self) -> asyncio.Future[Services]:
        """Start unless that is under way or done."""
        if self._ready is None or (self._ready.done() and self._failed(self._ready)):
            self._ready = asyncio.get_running_loop().create_future()
            self._ready.add_done_callback(self._failed)
            # In a context of its own: what runs from now on is not done for the request that comes first.
            self._task = asyncio.create_task(self._run(self._ready), context=Context())
        return self._ready

    async def services(self) -> Services:
        """The services, once they are up.

        Raises:
            PkmError: start-up failed, with the reason; or it takes longer than a call should wait.
        """
        try:
            return await asyncio.wait_for(asyncio.shield(self.begin()), self._patience)
        except TimeoutError:
            raise Unavailable(f"{NOT_INITIALIZED}: still starting. Nothing was stored; call again shortly.") from None
        except PkmError as error:
            raise type(error)(f"{NOT_INITIALIZED}: {error.message}") from error
        except Exception as error:  # start-up runs code of many libraries; its text may hold anything
            raise Unavailable(f"{NOT_INITIALIZED}: an unexpected error, see the server's log.") from error

    def stop_waiting(self) -> None:
        """Calls that wait for what may take long are answered now, as the process is about to end."""
        if self._ready is not None and self._ready.done() and not self._failed(self._ready):
            self._ready.result().stop_waiting()

    @staticmethod
    def _failed(ready: "asyncio.Future[Services]") -> bool:
        return ready.cancelled() or ready.exception() is not None

    async def _run(self, ready: "asyncio.Future[Services]") -> None:
        try:
            async with await asyncio.to_thread(self._start) as services:
                ready.set_result(services)
                await self._closing.wait()
        except Exception as error:  # a boundary: the reason goes to whoever waits, the details to the log
            logger.exception("shutdown failed" if ready.done() else "start-up failed")
            if not ready.done():
                ready.set_exception(error)
        finally:
            ready.cancel()

    async def _close(self) -> None:
        self._closing.set()
        if self._task is None:
            return
        if self._ready is not None and not self._ready.done():
            self._task.cancel()
        await asyncio.wait([self._task])
        self._ready = self._task = None
        self._closing.clear()
