"""Waiting in background loops and for threads."""

import asyncio
import contextvars
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def wait_for_any(*events: asyncio.Event, seconds: float | None = None) -> None:
    """Return once any of the events is set, or after ``seconds``."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def in_thread(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run in a thread and wait for its end, also when nobody wants the answer any more.

    A thread cannot be stopped: whoever holds a lock for it must not let go before it is done.
    """
    work = partial(contextvars.copy_context().run, function, *args, **kwargs)
    running = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


async def in_thread_if(is_long: bool, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """As ``in_thread`` if it takes long; what is done at once takes less than to hand it to a thread."""
    return await in_thread(function, *args, **kwargs) if is_long else function(*args, **kwargs)


class Signal:
    """Wakes everybody who waits for the next change."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def send(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    @property
    def next(self) -> asyncio.Event:
        """Set when the next change comes."""
        return self._event
