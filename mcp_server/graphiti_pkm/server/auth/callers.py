"""Who calls and how much they may: asked anew for every request, whatever session it belongs to."""

import json
import math
from collections.abc import Mapping
from typing import Any

from graphiti_pkm.core.model.access import Caller, Token, caller_by
from graphiti_pkm.errors import NotAllowed, TooLarge, TooManyCalls
from graphiti_pkm.server.auth.rate_limits import Buckets, OwnBuckets
from graphiti_pkm.settings.loader import Settings

TOKEN = "graphiti_pkm.token"  # noqa: S105  (the name of a place)
"""Where the scope of a request holds its ``Token``, or None where none is asked for."""

REQUESTS_PER_CALL = 5
"""Requests that a principal may send for each tool call that they may make: clients list tools and look for others."""
_USER_HEADER = "x-user-id"
_NOBODY = "-"
"""Who names a user where there are no tokens. No principal is called so."""


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


def opener_of(request: Any) -> Caller:
    """Who opens a session: a service may do so before it has a user, and then it counts for the service."""
    try:
        return caller_of(request, read_only=True)
    except NotAllowed:
        token = token_of(request)
        return Caller(principal=_NOBODY if token is None else token.principal, read_only=True)


def token_of(request: Any) -> Token | None:
    """The token of a request, if it came with one."""
    return None if request is None else request.scope.get(TOKEN)


class Limits:
    """How often and how much one principal may call; the local one as they like."""

    def __init__(self, settings: Settings, buckets: Buckets | None = None) -> None:
        """``buckets``: where calls are counted, by default in this process."""
        self._calls = settings.calls_per_minute
        self._writes = settings.writes_per_minute
        self._characters = settings.characters_per_call
        self.seconds = settings.call_seconds
        """What a call may take."""
        self._buckets: Buckets = OwnBuckets() if buckets is None else buckets

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

    def check_request(self, caller: Caller) -> None:
        """Count a request, whatever it asks for. Raises TooManyCalls."""
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
