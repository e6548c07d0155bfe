"""Whether work grows faster than its input, by the processor time of the thread: a busy machine says the same."""

import gc
import time
from collections.abc import Callable, Iterable

SMALL = (8, 12, 16, 20, 24, 28, 32)
"""Exponential work shows here, in steps so small that none of them lasts."""
DOUBLING = (64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192)

_RUNS = 5
_QUICK = 0.000_4
"""Seconds that are too few to tell anything."""
_FACTOR = 4.0
"""By how much the time of a unit may grow over four doublings; where it is linear it stays, else it is 16 or more."""
_BEYOND_DOUBT = 25
_DOUBLINGS = 4

Prepare = Callable[[int], Callable[[], object]]
"""Makes an input of a size and answers the work on it; only the work is measured."""


def growth(prepare: Prepare, sizes: Iterable[int] = (*SMALL, *DOUBLING)) -> str | None:
    """How the work outgrows its input; None if its time for a unit stays.

    Sizes go up only as long as it does, so that work without end is found and not waited for.
    """
    seconds: dict[int, float] = {}
    for size in sizes:
        work = prepare(size)
        seconds[size] = took = _least(work, 1)
        before = [other for other in seconds if other * 2**_DOUBLINGS <= size] or list(seconds)[:-2]
        if took < _QUICK or not before:
            continue
        reference = max(before)
        seconds[reference] = least = max(_least(prepare(reference), _RUNS), _QUICK / 2**_DOUBLINGS)
        allowed = _FACTOR * least * size / reference
        if took > allowed and (took > _BEYOND_DOUBT * allowed or (took := _least(work, _RUNS)) > allowed):
            return f"{least * 1e6:,.0f} us at {reference:,}, {took * 1e6:,.0f} us at {size:,}"
    return None


def _least(work: Callable[[], object], runs: int) -> float:
    """Without collecting garbage: that goes through all that the process holds, tests included."""
    took = []
    gc.disable()
    try:
        for _ in range(runs):
            start = time.thread_time()
            work()
            took.append(time.thread_time() - start)
    finally:
        gc.enable()
    return min(took)
