"""Threads that work for an event loop."""

import asyncio
import threading

import pytest

from graphiti_pkm.core.threads import Threads


async def test_what_a_function_returns_or_raises_comes_through() -> None:
    threads = Threads(2, "test")
    assert await threads.run(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)
    assert await threads.run(lambda: 4) == 4
    threads.close()


async def test_as_many_run_at_once_as_there_are_threads_and_one_alone_in_order() -> None:
    threads, meeting = Threads(3, "three"), threading.Barrier(3, timeout=30)
    await asyncio.gather(*(threads.run(meeting.wait) for _ in range(3)))
    await asyncio.gather(*(threads.run(meeting.wait) for _ in range(6)))
    threads.close()
    one, done = Threads(1, "one"), list[int]()
    await asyncio.gather(*(one.run(lambda number=number: done.append(number)) for number in range(50)))  # type: ignore[misc]
    assert done == list(range(50))
    one.close()


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    threads, may_go_on, done = Threads(1, "test"), threading.Event(), list[str]()
    first = asyncio.create_task(threads.run(lambda: may_go_on.wait(30)))
    second = asyncio.create_task(threads.run(lambda: done.append("second")))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    may_go_on.set()
    assert await first
    await threads.run(lambda: done.append("third"))
    assert done == ["third"]
    threads.close()


async def test_closing_waits_for_what_was_asked_and_takes_no_more() -> None:
    threads, done = Threads(2, "test"), list[int]()
    asked = [asyncio.create_task(threads.run(lambda number=number: done.append(number))) for number in range(20)]  # type: ignore[misc]
    await asyncio.sleep(0)
    await asyncio.to_thread(threads.close)
    await asyncio.gather(*asked)
    assert sorted(done) == list(range(20))
    with pytest.raises(RuntimeError, match="have ended"):
        await threads.run(lambda: None)
    threads.close()


async def test_threads_end_when_nobody_has_them_any_more() -> None:
    threads = Threads(2, "forgotten")
    await threads.run(lambda: None)
    (thread,) = [one for one in threading.enumerate() if one.name.startswith("forgotten")]
    del threads
    await asyncio.to_thread(thread.join, 30)
    assert not thread.is_alive()
