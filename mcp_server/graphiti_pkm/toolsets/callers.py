"""Who calls and how much they may: asked anew for every request, whatever session it belongs to."""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graphiti_pkm.config import Settings
from graphiti_pkm.domain.access import Caller, Token, caller_by
from graphiti_pkm.errors import NotAllowed, TooLarge, TooManyCalls

TOKEN = "graphiti_pkm.token"  # noqa: S105  (the name of a place)
"""Where the scope of a request holds its ``Token``, or None where none is asked for."""

_USER_HEADER = "x-user-id"
_MINUTE = 60.0
_MOST_KNOWN = 10_000


def caller_of(request: Any, *, read_only: bool) -> Caller:
    """Who calls: the local user over stdio, else by the token of the request and never by an argument.

    Raises:
        NotAllowed: the request names a user it may not speak for.
    """
    if request is None:
        return Caller(read_only=read_only)
    if TOKEN not in request.scope:  # an application that was put together without the check must not serve anybody
        raise NotAllowed("This request was not checked by the server, so it is refused.")
    return caller_by(request.scope[TOKEN], request.headers.getlist(_USER_HEADER), read_only=read_only)


def token_of(request: Any) -> Token | None:
    """The token of a request, if it came with one."""
    return None if request is None else request.scope.get(TOKEN)


@dataclass
class _Bucket:
    """Calls that may be made at once; it fills up again over a minute."""

    left: float
    at: float


class Limits:
    """How often and how much one principal may call; the local one as they like. Counted in this process."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls = settings.calls_per_minute
        self._writes = settings.writes_per_minute
        self._characters = settings.characters_per_call
        self._clock = clock
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def check(self, caller: Caller, arguments: Mapping[str, Any], *, writes: bool) -> None:
        """Count a call.

        Raises:
            TooLarge: it holds too much.
            TooManyCalls: there were too many; says when there may be another.
        """
        if caller.is_local:
            return
        characters = sum(len(json.dumps(value, ensure_ascii=False)) for value in arguments.values())
        if characters > self._characters:
            raise TooLarge(
                f"One call may hold {self._characters:,} characters, and this one has {characters:,}: send less at "
                f"once.{' Nothing was stored.' if writes else ''}"
            )
        self._take(caller.principal, "calls", self._calls)
        if writes:
            self._take(caller.principal, "writes", self._writes)

    def _take(self, principal: str, what: str, most: int) -> None:
        now, rate = self._clock(), most / _MINUTE
        self._forget_idle(now)
        bucket = self._buckets.setdefault((principal, what), _Bucket(most, now))
        bucket.left = min(most, bucket.left + (now - bucket.at) * rate)
        bucket.at = now
        if bucket.left < 1:
            seconds = math.ceil((1 - bucket.left) / rate)
            raise TooManyCalls(
                f"Nothing was done: at most {most} {what} a minute are allowed. Call again in {seconds} second(s).",
                seconds,
            )
        bucket.left -= 1

    def _forget_idle(self, now: float) -> None:
        """Whoever has not called for a minute has all calls left, which need not be kept."""
        if len(self._buckets) >= _MOST_KNOWN:
            self._buckets = {key: one for key, one in self._buckets.items() if now - one.at < _MINUTE}
