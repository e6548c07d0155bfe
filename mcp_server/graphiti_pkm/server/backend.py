"""Starts the services in the background, so that clients receive the list of tools at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from typing import Self, TypeAlias

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.ports.metrics import Counted
from graphiti_pkm.errors import PkmError, Unavailable
from graphiti_pkm.server.auth.callers import Limits
from graphiti_pkm.server.owners import Owners
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services

logger = logging.getLogger(__name__)

Start: TypeAlias = Callable[[], AbstractAsyncContextManager[Services]]
"""Called in a thread, because it imports large modules; its context is entered and left in the same task."""

NOT_INITIALIZED = "Graphiti service not initialized"


class Backend:
    """One set of services for all connections of this process. The next call retries a start that failed."""

    def __init__(
        self,
        start: Start,
        *,
        limits: Limits | None = None,
        for_others: Callable[[str], str] = str,
        counted: Counted | None = None,
        begin_after: float = 0.5,
        patience: float = 40.0,
    ) -> None:
        """``begin_after`` delays the start, ``patience`` limits how long a call waits for it, both in seconds.

        ``limits``: the limits of callers, by default those of the default settings.
        ``for_others``: a message as callers read it who are not the local user.
        ``counted``: the metrics of this server; None if they are disabled.
        """
        self.limits = limits or Limits(Settings())
        self.counted = counted
        self.owners: Owners | None = None
        """Set if several workers share scratch graphs, each of which one worker has in memory."""
        self.on_ready: Callable[[], None] = lambda: None
        """Called each time that the services have started."""
        self._start = start
        self._for_others = for_others
        self._begin_after = begin_after
        self._patience = patience
        self._users = 0
        self._ready: asyncio.Future[Services] | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Self]:
        """Keep the services running; they stop when the last user leaves."""
        self._users += 1
        # Clients ask for the tools within milliseconds; slow imports begin after that.
        timer = asyncio.get_running_loop().call_later(self._begin_after, self.begin)
        try:
            yield self
        finally:
            timer.cancel()
            self._users -= 1
            if not self._users:
                await self._close()

    def begin(self) -> asyncio.Future[Services]:
        """Start the services, unless they are running or starting."""
        if self._ready is None or (self._ready.done() and self._failed(self._ready)):
            self._ready = asyncio.get_running_loop().create_future()
            self._ready.add_done_callback(self._failed)
            # In an empty context, because the services do not belong to the request that starts them.
            self._task = asyncio.create_task(self._run(self._ready), context=Context())
        return self._ready

    async def services(self) -> Services:
        """Wait for the services to start.

        Raises:
            PkmError: the start failed, for the given reason, or takes longer than a call should wait.
        """
        try:
            return await asyncio.wait_for(asyncio.shield(self.begin()), self._patience)
        except TimeoutError:
            raise Unavailable(f"{NOT_INITIALIZED}: still starting. Nothing was stored; call again shortly.") from None
        except PkmError as error:
            raise type(error)(f"{NOT_INITIALIZED}: {error.message}") from error
        except Exception as error:  # the start runs code of many libraries, whose messages may contain anything
            raise Unavailable(f"{NOT_INITIALIZED}: an unexpected error, see the server's log.") from error

    def message(self, error: PkmError, caller: Caller) -> str:
        """The error's message for the caller; the log gets what is kept from it."""
        if caller.is_local:
            return error.message
        message = self._for_others(error.message)
        if message != error.message:
            logger.warning("a caller elsewhere was not told where: %s", error.message)
        return message

    def stop_waiting(self) -> None:
        """Answer calls that wait for long work now, because the process is about to end."""
        if self._ready is not None and self._ready.done() and not self._failed(self._ready):
            self._ready.result().stop_waiting()

    @staticmethod
    def _failed(ready: "asyncio.Future[Services]") -> bool:
        return ready.cancelled() or ready.exception() is not None

    async def _run(self, ready: "asyncio.Future[Services]") -> None:
        try:
            async with await asyncio.to_thread(self._start) as services:
                self.on_ready()
                ready.set_result(services)
                await self._closing.wait()
        except Exception as error:  # callers that wait receive the reason, the log the details
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
