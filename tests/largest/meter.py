"""How long an event loop is held, in CPU time of its own thread: a busy machine does not change that."""

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Meter:
    """What one thread's event loop did since the last ``reset``."""

    thread: int
    longest: float = 0.0
    """Seconds of the longest callback."""
    held_by: str = ""
    """That callback."""
    loop_seconds: float = 0.0
    """Seconds of all callbacks."""
    _garbage: float = 0.0
    """Seconds of collecting garbage during the callback that runs."""
    _collecting: float = 0.0
    _process: float = field(default_factory=time.process_time)

    def reset(self) -> None:
        self.longest, self.held_by, self.loop_seconds, self._process = 0.0, "", 0.0, time.process_time()

    @property
    def process_seconds(self) -> float:
        """CPU time of all threads of this process."""
        return time.process_time() - self._process

    def collected(self, phase: str, _info: object) -> None:
        """Garbage collection goes through all that the process holds, tests included; it is not what a call costs."""
        if threading.get_ident() != self.thread:
            return
        if phase == "start":
            self._collecting = time.thread_time()
        else:
            self._garbage += time.thread_time() - self._collecting

    def took(self, seconds: float, handle: asyncio.Handle) -> None:
        seconds -= self._garbage
        self._garbage = 0.0
        self.loop_seconds += seconds
        if seconds > self.longest:
            self.longest, self.held_by = seconds, repr(handle)


@contextmanager
def measured(thread: int) -> Iterator[Meter]:
    """Measure each callback that the event loop of this thread runs."""
    meter, run = Meter(thread), asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> Any:
        if threading.get_ident() != thread:
            return run(handle)
        began = time.thread_time()
        try:
            return run(handle)
        finally:
            meter.took(time.thread_time() - began, handle)

    asyncio.Handle._run = timed  # type: ignore[method-assign]
    gc.callbacks.append(meter.collected)
    try:
        yield meter
    finally:
        gc.callbacks.remove(meter.collected)
        asyncio.Handle._run = run  # type: ignore[method-assign]
