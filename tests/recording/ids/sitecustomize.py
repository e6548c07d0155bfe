"""Ids that rise with time, for the servers of a recording: rows that are equal otherwise are ordered by their ids.

Python imports this at the start of a process that has this folder in its PYTHONPATH.
"""

import threading
import time
import uuid

_lock = threading.Lock()
_last = 0


def _rising() -> uuid.UUID:
    """Its first 8 characters rise, too: tens of microseconds, which start anew after 12 hours."""
    global _last  # noqa: PLW0603
    with _lock:
        _last = max(_last + 1, time.time_ns() // 10_000)
        return uuid.UUID(int=(_last % 2**32) << 96 | time.time_ns(), version=4)


uuid.uuid4 = _rising
