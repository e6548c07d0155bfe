"""Limits the time of a call, and reports truthfully on one that takes longer.

Before a write is committed a call can be stopped, and nothing is stored. Afterwards it is never stopped: once the
journal has the write, the caller is told that it is stored while the rest continues.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

from graphiti_pkm.errors import PkmError, TookTooLong, WriteFailed, WritePending

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_unanswered: set["asyncio.Task[Any]"] = set()
"""Calls that continue after their callers were answered; a task without a reference may be garbage-collected."""


class CallTime:
    """The state of one call."""

    def __init__(self) -> None:
        self.commits = False
        self.stopped = False
        self.answered_as_kept = False
        """The caller was told that the write is kept, while it continues."""
        self.kept: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """The write of this call in the journal."""
        self.unlimited: asyncio.Future[None] = asyncio.get_running_loop().create_future()


_current: ContextVar[CallTime | None] = ContextVar("call_time", default=None)


def commit_begins() -> None:
    """From now on the call cannot be stopped. Raises WriteFailed if it was already."""
    call = _current.get()
    if call is None:
        return
    if call.stopped:
        raise WriteFailed("Nothing was stored: the call had taken too long.")
    call.commits = True


def journalled(subject: str) -> None:
    """The journal has a write of the call; ``subject``: its name in the answer to the caller."""
    call = _current.get()
    if call is not None and not call.kept.done():
        call.kept.set_result(subject)


def answered_as_kept() -> bool:
    """Whether the caller was told that the write is kept, so that it must not be withdrawn any more."""
    call = _current.get()
    return call is not None and call.answered_as_kept


def allow_requested_wait() -> None:
    """From now on the call may take as long as its caller asked, which is bounded elsewhere."""
    call = _current.get()
    if call is not None and not call.unlimited.done():
        call.unlimited.set_result(None)


async def within(seconds: float, work: Coroutine[Any, Any, _T], undone: str) -> _T:
    """Run the work of a call; ``undone``: the error text if it is stopped before anything was committed.

    Raises:
        TookTooLong: it was stopped.
        WritePending: it is kept and goes on; it must not be sent again.
    """
    call = CallTime()
    outside = _current.set(call)
    task = asyncio.ensure_future(work)
    _current.reset(outside)
    try:
        await _first_of(task, call.unlimited, seconds)
        if call.unlimited.done():
            await asyncio.wait({task})
        elif not task.done() and call.commits:
            await _first_of(task, call.kept)
    except asyncio.CancelledError:
        await _ended(task, call)
        raise
    if task.done():
        return task.result()
    _leave(task)
    if call.commits:
        call.answered_as_kept = True
        raise WritePending(
            f"Kept as {call.kept.result()}, do not send it again: the call took longer than {seconds:g} s and goes on "
            "in the background."
        )
    call.stopped = True
    task.cancel()
    raise TookTooLong(f"The call took longer than {seconds:g} s and was stopped. {undone}")


async def _first_of(one: "asyncio.Future[Any]", other: "asyncio.Future[Any]", seconds: float | None = None) -> None:
    await asyncio.wait({one, other}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


async def _ended(task: "asyncio.Task[Any]", call: CallTime) -> None:
    """The caller is gone: stop what is not committed, wait for what is."""
    call.stopped = True
    task.cancel()
    while call.commits and not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
    if not task.done():
        _leave(task)


def _leave(task: "asyncio.Task[Any]") -> None:
    _unanswered.add(task)
    task.add_done_callback(_log_end)


def _log_end(task: "asyncio.Task[Any]") -> None:
    _unanswered.discard(task)
    if task.cancelled():
        return
    error = task.exception()
    outcome = "ok" if error is None else error.code if isinstance(error, PkmError) else type(error).__name__
    _log.warning("a call that took too long has ended: %s", outcome)
