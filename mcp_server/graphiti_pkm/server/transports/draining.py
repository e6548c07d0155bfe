"""Shutdown: calls under way are answered and new ones refused; a second signal ends the server at once."""

import asyncio
import contextlib
import faulthandler
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from graphiti_pkm.core.operating_system import STOP_SIGNALS
from graphiti_pkm.server.backend import Backend

_log = logging.getLogger(__name__)

LISTEN = "subscriptions/listen"
"""A request that is answered when the server or its client ends: no shutdown waits for it."""
CLOSING_SECONDS = 10.0
"""How long a process may take to close after the time for its calls; it takes longer only if something is stuck."""
_QUIET_SECONDS = 0.3
"""If no call arrives for this long, no client is about to send one over a connection that is still open."""


class CallUnderWay:
    """A request for which the shutdown waits."""

    def __init__(self, draining: "Draining") -> None:
        self._draining = draining
        self._counts = True

    def end(self) -> None:
        """Stop waiting for the request."""
        if self._counts:
            self._counts = False
            self._draining.count(-1)


class Draining:
    """Counts calls under way, so that a shutdown can wait for them."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.over = asyncio.Event()
        """Set when streams that are still open must end."""
        self.on_begin: Callable[[], None] = lambda: None
        self._under_way = 0
        self._idle, self._busy = asyncio.Event(), asyncio.Event()
        self._idle.set()

    def begin(self) -> None:
        """Refuse new calls from now on. Call this on the event loop."""
        if not self.begun.is_set():
            _log.info("stopping")
        self.begun.set()
        self.on_begin()

    def count(self, more: int) -> None:
        """Add to the number of calls under way."""
        self._under_way += more
        now, before = (self._busy, self._idle) if self._under_way else (self._idle, self._busy)
        now.set()
        before.clear()

    def start(self) -> CallUnderWay:
        """Count a call that begins; the caller must end it."""
        self.count(1)
        return CallUnderWay(self)

    async def finished(self, seconds: float, quiet: float = _QUIET_SECONDS) -> int:
        """Wait until no call was made for ``quiet`` seconds, ``seconds`` at most; return how many are under way."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self._idle.wait()
                    try:
                        await asyncio.wait_for(self._busy.wait(), quiet)
                    except TimeoutError:
                        return self._under_way
        except TimeoutError:
            return self._under_way

    async def __call__(self, ctx: ServerRequestContext[Backend, Any], call_next: CallNext) -> HandlerResult:
        """Count the requests of the MCP server over any transport, as its middleware."""
        if ctx.method == LISTEN:
            return await call_next(ctx)
        call = self.start()
        try:
            return await call_next(ctx)
        finally:
            call.end()


def end_within(drain_seconds: float) -> None:
    """Make sure that the process ends in bounded time, even if its event loop or a thread is stuck.

    After that time it prints a traceback of each thread and ends with exit code 1. No acknowledged write is lost: all
    are committed to the journal, whose file is consistent without being closed.
    """
    faulthandler.dump_traceback_later(drain_seconds + CLOSING_SECONDS, exit=True)


def when_ended(descriptor: int, tell: Callable[[], object]) -> None:
    """Call ``tell`` from a thread when the process at the other end of a pipe has ended."""

    def wait() -> None:
        while os.read(descriptor, 1):
            pass
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            tell()

    threading.Thread(target=wait, name="parent", daemon=True).start()


@contextmanager
def on_signal(begin: Callable[[], None], drain_seconds: float) -> Iterator[None]:
    """Call ``begin`` on the event loop at the first signal to stop; a second signal ends the process at once."""
    loop = asyncio.get_running_loop()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        end_within(drain_seconds)
        for each in STOP_SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        loop.call_soon_threadsafe(begin)

    before = {each: signal.signal(each, stop) for each in STOP_SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            if signal.getsignal(each) is stop:
                signal.signal(each, handler)


@asynccontextmanager
async def ended_by(draining: Draining, end: Callable[[], None], seconds: float) -> AsyncIterator[None]:
    """While serving, wait for draining to begin and for the calls to end, then call ``end``."""

    async def drain() -> None:
        await draining.begun.wait()
        await draining.finished(seconds)
        draining.over.set()
        end()

    task = asyncio.create_task(drain())
    try:
        yield
    finally:
        task.cancel()
