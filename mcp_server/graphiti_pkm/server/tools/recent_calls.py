"""Which of the tools that others want called first each caller has called within the last hour.

It belongs to what a caller may see, not to a session: who reconnects, or has none, finds it again.
"""

import hashlib
import json
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Protocol

from graphiti_pkm.core.model.access import Caller

HOUR = 3_600.0
MOST = 10_000
"""Calls that are kept, of all callers; beyond it the oldest is dropped."""


class RecentCalls(Protocol):
    """Keeps who has called what lately."""

    def add(self, caller: Caller, tool: str) -> None:
        """Keep a call that was answered."""
        ...

    def has_any(self, caller: Caller, tools: Collection[str]) -> bool:
        """Whether the caller has called one of these tools within the hour."""
        ...


class OwnRecentCalls:
    """Calls that this process answered."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST) -> None:
        self._clock = clock
        self._most = most
        self._calls: OrderedDict[tuple[bytes, str], float] = OrderedDict()
        """The last call at the end."""

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, caller: Caller, tool: str) -> None:
        key = (digest_of(caller), tool)
        self._calls[key] = self._clock()
        self._calls.move_to_end(key)
        while len(self._calls) > self._most or self._is_over(next(iter(self._calls.values()))):
            self._calls.popitem(last=False)

    def has_any(self, caller: Caller, tools: Collection[str]) -> bool:
        who = digest_of(caller)
        return any(not self._is_over(self._calls.get((who, tool), -math.inf)) for tool in tools)

    def at(self, caller: Caller, tool: str) -> float:
        """When the caller last called the tool."""
        return self._calls.get((digest_of(caller), tool), -math.inf)

    def _is_over(self, at: float) -> bool:
        return self._clock() - at >= HOUR


def digest_of(caller: Caller) -> bytes:
    """Of bounded size, whatever a principal is called and however many groups it has."""
    return hashlib.sha256(json.dumps(caller.visibility).encode()).digest()[:16]
