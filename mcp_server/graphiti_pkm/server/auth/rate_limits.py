"""Calls that may be made at once, which fill up again over a minute: counted in this process."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MINUTE = 60.0
_MOST_KNOWN = 10_000
_BETWEEN_SWEEPS = 1.0
"""Seconds: a service that names ever new users must not have each of its calls look through all of them."""


@dataclass
class Bucket:
    """How many calls are left, as of a moment."""

    left: float
    at: float

    def take(self, most: int, now: float) -> float:
        """Take one; seconds until there is one if there is none."""
        rate = most / MINUTE
        # The clock of several processes may be set back.
        self.left = min(most, self.left + max(0.0, now - self.at) * rate)
        self.at = now
        if self.left < 1:
            return (1 - self.left) / rate
        self.left -= 1
        return 0.0


class Buckets(Protocol):
    """Where calls are counted."""

    def take(self, principal: str, what: str, most: int) -> float:
        """Take one of the principal's calls; seconds to wait if there is none, else 0."""
        ...


class OwnBuckets:
    """Counted in this process."""

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
        """Whoever has not called for a minute has all calls left, which need not be kept."""
        if len(self._known) >= _MOST_KNOWN and now - self._swept >= _BETWEEN_SWEEPS:
            self._swept = now
            self._known = {key: one for key, one in self._known.items() if now - one.at < MINUTE}
