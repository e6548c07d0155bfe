"""Threads that work for an event loop.

A call of the server asks its database a dozen short questions. An executor makes two futures, a lock and a chain of
callbacks of each, which take longer than the answer.
"""

import asyncio
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias, TypeVar

_T = TypeVar("_T")
_Task: TypeAlias = "tuple[Callable[[], Any], asyncio.Future[Any]] | None"
"""What to run, and who waits for it; None ends a thread."""


class Threads:
    """Runs functions in the order in which they were asked for, in up to ``count`` threads, which begin when needed."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        """As many as there are threads that wait for a task."""
        self._starting = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._is_closed = False
        self._end = weakref.finalize(self, _end, self._tasks, count)

    async def run(self, function: Callable[[], _T]) -> _T:
        """What the function returns or raises. If nobody waits any more before it begins, it is not run."""
        future: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        if self._is_closed:
            raise RuntimeError(f"The threads {self._name} have ended.")
        self._tasks.put((function, future))
        if not self._idle.acquire(blocking=False):
            self._start()
        return await future

    def close(self, *, wait: bool = True) -> None:
        """Let them end after what was asked for; ``wait`` until they have."""
        self._is_closed = True
        self._end()
        if wait:
            for thread in self._threads:
                thread.join()

    def _start(self) -> None:
        with self._starting:
            if len(self._threads) < self._count:
                name = f"{self._name}_{len(self._threads)}"
                thread = threading.Thread(target=_work, args=(self._tasks, self._idle), name=name, daemon=True)
                self._threads.append(thread)
                thread.start()


def _end(tasks: "SimpleQueue[_Task]", count: int) -> None:
    for _ in range(count):
        tasks.put(None)


def _work(tasks: "SimpleQueue[_Task]", idle: threading.Semaphore) -> None:
    while (task := _next(tasks, idle)) is not None:
        function, future = task
        if not future.cancelled():
            result = error = None
            try:
                result = function()
            except BaseException as raised:  # noqa: BLE001 whoever waits gets it
                error = raised
            with suppress(RuntimeError):  # the loop was closed: nobody waits
                future.get_loop().call_soon_threadsafe(_settle, future, result, error)
            del result, error
        del task, function, future


def _next(tasks: "SimpleQueue[_Task]", idle: threading.Semaphore) -> _Task:
    try:
        return tasks.get_nowait()
    except Empty:
        idle.release()
        return tasks.get()


def _settle(future: "asyncio.Future[_T]", result: _T, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
