"""Waiting for threads."""

import asyncio
import threading

import pytest

from graphiti_pkm.core.waiting import in_thread


async def test_a_call_that_is_given_up_waits_for_its_thread_before_it_lets_go() -> None:
    lock, started, may_end, done = asyncio.Lock(), threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        may_end.wait(30)
        done.set()

    async def hold() -> None:
        async with lock:
            await in_thread(work)

    call = asyncio.create_task(hold())
    await asyncio.to_thread(started.wait, 30)
    call.cancel()
    await asyncio.wait([call], timeout=0)
    assert lock.locked()
    assert not call.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert done.is_set()
    assert not lock.locked()


async def test_what_a_thread_answers_or_raises_comes_through() -> None:
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)
