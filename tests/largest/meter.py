"""How long an event loop is held, in CPU time of its own thread: a busy machine does not change that."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")


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
    _process: float = field(default_factory=time.process_time)

    def reset(self) -> None:
        self.longest, self.held_by, self.loop_seconds, self._process = 0.0, "", 0.0, time.process_time()

    @property
    def process_seconds(self) -> float:
        """CPU time of all threads of this process."""
        return time.process_time() - self._process

    def took(self, seconds: float, handle: asyncio.Handle) -> None:
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
    try:
        yield meter
    finally:
        asyncio.Handle._run = run  # type: ignore[method-assign]


def cpu_seconds_of(pid: int) -> float:
    """CPU time that another process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
