"""The caller of a request and its limits, determined for every request regardless of its session."""

import json
import math
from collections.abc import Mapping
from typing import Any

from graphiti_pkm.core.model.access import Caller, Tier, Token, caller_by, local_caller
from graphiti_pkm.errors import NotAllowed, TooLarge, TooManyCalls
from graphiti_pkm.server.auth.rate_limits import Buckets, OwnBuckets
from graphiti_pkm.settings.loader import Settings

TOKEN = "graphiti_pkm.token"  # noqa: S105  (the name of a place)
"""Key of a request's scope for its ``Token``, which is None if the server requires none."""
GRANTS = "graphiti_pkm.grants"
"""Key of a request's scope for the ``Grants``; absent where nothing is shared."""
STILL_VALID = "graphiti_pkm.still_valid"
"""Key of a request's scope for a function that says whether it would be let in now, for what goes on for long."""

REQUESTS_PER_CALL = 5
"""Requests of any kind that a principal may send per permitted tool call: clients also list tools and the like."""
_USER_HEADER = "x-user-id"
_NOBODY = "-"
"""The principal of requests that name a user although no tokens exist. No real principal has this name."""


def caller_of(request: Any, *, read_only: bool, tier: Tier = "curator") -> Caller:
    """The caller: the local user over stdio, otherwise the holder of the request's token; never an argument.

    Memories that are open to it beside its own are looked up each time. ``tier``: of the local user without a token.

    Raises:
        NotAllowed: the request names a user for whom its token may not act.
    """
    caller = _identified(request, read_only=read_only, tier=tier)
    grants = None if request is None else request.scope.get(GRANTS)
    if grants is None or caller.token is None or caller.groups:
        return caller  # a token that is held to groups of its own memory stays held to them
    return caller.model_copy(update={"shared": grants.of(caller.principal)})


def _identified(request: Any, *, read_only: bool, tier: Tier = "curator") -> Caller:
    if request is None:
        return local_caller(tier, read_only=read_only)
    if TOKEN not in request.scope:  # an application assembled without the check must serve nobody
        raise NotAllowed("This request was not checked by the server, so it is refused.")
    return caller_by(request.scope[TOKEN], request.headers.getlist(_USER_HEADER), read_only=read_only, tier=tier)


def opener_of(request: Any) -> Caller:
    """The caller that opens a session. A session opened before a service names a user counts for the service."""
    try:
        return _identified(request, read_only=True)
    except NotAllowed:
        token = token_of(request)
        return Caller(principal=_NOBODY if token is None else token.principal, read_only=True)


def token_of(request: Any) -> Token | None:
    """The token of a request, if any."""
    return None if request is None else request.scope.get(TOKEN)


class Limits:
    """Limits the rate and size of a principal's calls. The local principal has no limits."""

    def __init__(self, settings: Settings, buckets: Buckets | None = None) -> None:
        """``buckets`` counts the calls, by default in this process."""
        self._calls = settings.calls_per_minute
        self._writes = settings.writes_per_minute
        self._characters = settings.characters_per_call
        self.seconds = settings.call_seconds
        """Time limit of a call."""
        self._buckets: Buckets = OwnBuckets() if buckets is None else buckets

    def check(self, caller: Caller, arguments: Mapping[str, Any], *, writes: bool) -> None:
        """Count a call.

        Raises:
            TooLarge: the call has too many characters.
            TooManyCalls: the limit is exceeded; the error says when the next call is permitted.
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

    def check_request(self, caller: Caller) -> None:
        """Count a request of any kind. Raises TooManyCalls."""
        if not caller.is_local:
            self._take(caller.principal, "requests", REQUESTS_PER_CALL * self._calls)

    def _take(self, principal: str, what: str, most: int) -> None:
        wait = self._buckets.take(principal, what, most)
        if wait:
            seconds = math.ceil(wait)
            raise TooManyCalls(
                f"Nothing was done: at most {most} {what} a minute are allowed. Call again in {seconds} second(s).",
                seconds,
            )
