"""Rate limits as token buckets, which refill within a minute and are counted in this process."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MINUTE = 60.0
_MOST_KNOWN = 10_000
_BETWEEN_SWEEPS = 1.0
"""Seconds. A service that keeps naming new users must not make each call search through all of them."""


@dataclass
class Bucket:
    """The number of calls left at a given time."""

    left: float
    at: float

    def take(self, most: int, now: float) -> float:
        """Use one call and return 0, or return the seconds until one is available."""
        rate = most / MINUTE
        # The wall clock, which several processes share, may have been set back.
        self.left = min(most, self.left + max(0.0, now - self.at) * rate)
        self.at = now
        if self.left < 1:
            return (1 - self.left) / rate
        self.left -= 1
        return 0.0


class Buckets(Protocol):
    """Counts the calls of each principal."""

    def take(self, principal: str, what: str, most: int) -> float:
        """Use one of the principal's calls and return 0, or return the seconds until one is available."""
        ...


class OwnBuckets:
    """Buckets of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], Bucket] = {}
        self._swept = -math.inf

    def __len__(self) -> int:
        return len(self._known)

    def take(self, principal: str, what: str, most: int) -> float:
        now = self._clock()
        self._forget_idle(now)
        return self._known.setdefault((principal, what), Bucket(most, now)).take(most, now)

    def _forget_idle(self, now: float) -> None:
        """Remove the buckets of principals that have not called for a minute: they are full again."""
        if len(self._known) >= _MOST_KNOWN and now - self._swept >= _BETWEEN_SWEEPS:
            self._swept = now
            self._known = {key: one for key, one in self._known.items() if now - one.at < MINUTE}
