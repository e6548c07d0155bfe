"""Limits for the sessions of the older protocol over HTTP: size and rate of requests that open one, and their number.

The SDK keeps a session, with everything in its ``initialize``, until the session is deleted or has long been idle, and
many clients never delete theirs. Therefore a token that opens too many sessions loses its least recently used one, and
never one of another token. The client learns that its session is gone, as after a restart, and opens a new one.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.errors import TooManyCalls
from graphiti_pkm.server.auth.access_gate import AccessGate
from graphiti_pkm.server.auth.callers import TOKEN, Limits, opener_of
from graphiti_pkm.server.transports.openings import LONGEST_OPENING
from graphiti_pkm.settings.loader import Settings

_Key = TypeVar("_Key")
_KEPT = ("type", "asgi", "http_version", "scheme", "server", "client", "path", "raw_path", "root_path", "query_string")
"""The parts of a request's scope, besides the user, that are needed to end its session later."""
_AT_ONCE = 100
"""Requests of a token that may be under way in addition to two per session, of which one is a stream of events."""

MOST_BYTES = 64 * 1024 * 1024
"""Total size of the bodies of a token's requests that may be under way."""


@dataclass
class _Session:
    owner: str
    scope: Scope
    """The scope of the request that opened it, including its user."""
    used: float
    posts: int = 0
    """POST requests under way."""
    streams: int = 0
    """Streams of events that are open."""


class Sessions:
    """Wraps the endpoint; requests reach it after authentication."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        limits: Limits,
        gate: AccessGate,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._limits = limits
        self._gate = gate
        self._clock = clock
        self._has_sessions = settings.transport == "http" and settings.workers == 1
        self._opens_by_get = settings.transport == "sse"
        self._most, self._each = settings.sessions, min(settings.sessions_per_token, settings.sessions)
        self._idle = settings.session_idle_seconds
        self._open: OrderedDict[str, _Session] = OrderedDict()
        """Sessions by id, least recently used first."""
        self._under_way: Counter[tuple[str, bool]] = Counter()
        """Requests under way by token, where streams of events that belong to no session are counted separately."""
        self._bytes: Counter[str] = Counter()
        """Bytes in the bodies of each token's requests under way."""

    def __len__(self) -> int:
        return len(self._open)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_session = scope["method"] == "GET" and not self._has_sessions
        kind, most = (_owner(scope), is_session), self._each if is_session else 2 * self._each + _AT_ONCE
        if self._under_way[kind] >= most:
            refusal = self._refused("too_many_sessions", scope, "Too many requests of this token are under way.")
            await refusal(scope, receive, send)
            return
        owner, size = kind[0], _length_of_body(scope)
        if size and self._bytes[owner] + size > MOST_BYTES:
            refusal = self._refused("too_many_bytes", scope, "Too many bytes of this token's requests are under way.")
            await refusal(scope, receive, send)
            return
        self._under_way[kind] += 1
        self._bytes[owner] += size
        try:
            await self._bounded(scope, receive, send)
        finally:
            _subtract(self._under_way, kind, 1)
            _subtract(self._bytes, owner, size)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, method = Headers(scope=scope), scope["method"]
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        session = headers.get(MCP_SESSION_ID_HEADER)
        if self._opens_by_get and method == "GET":
            await (self._counted(scope) or self._app)(scope, receive, send)
        elif not self._has_sessions or (version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS):
            await self._app(scope, receive, send)
        elif session is None and method == "POST":
            await self._opening(scope, receive, send)
        elif session is not None and session in self._open and self._open[session].owner == _owner(scope):
            await self._use(session, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _opening(self, scope: Scope, receive: Receive, send: Send) -> None:
        owner = _owner(scope)
        await self._end(self._idle_ones())
        refusal = self._counted(scope)
        if refusal is None and len(own := self._of(owner)) >= self._each and not self._unused(own):
            refusal = self._refused("too_many_sessions", scope, "Too many sessions of this token are in use.")
        messages = await _whole(receive) if refusal is None else None
        if refusal is None and messages is None:
            refusal = JSONResponse(
                {"error": f"What opens a session may have {LONGEST_OPENING:,} bytes."},
                status_code=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        if refusal is not None:
            await refusal(scope, receive, send)
            return

        async def replayed() -> Message:
            return messages.pop(0) if messages else await receive()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST:
                opened = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if opened is not None:
                    self._keep(opened, owner, scope)
            await send(message)

        await self._app(scope, replayed, watched)
        await self._end(self._surplus(owner))

    async def _use(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        session, status = self._open[name], 0

        async def watched(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        is_post = scope["method"] == "POST"
        session.posts += is_post
        session.streams += not is_post
        if is_post:  # an open stream of events does not count as use of a session
            self._open.move_to_end(name)
        try:
            await self._app(scope, receive, watched)
        finally:
            session.posts -= is_post
            session.streams -= not is_post
            session.used = self._clock()
            if status == HTTPStatus.NOT_FOUND or (scope["method"] == "DELETE" and status == HTTPStatus.OK):
                self._open.pop(name, None)

    def _keep(self, name: str, owner: str, scope: Scope) -> None:
        kept = {key: scope[key] for key in _KEPT if key in scope} | ({"user": scope["user"]} if "user" in scope else {})
        self._open[name] = _Session(owner, kept, self._clock())

    def _of(self, owner: str) -> list[str]:
        return [name for name, session in self._open.items() if session.owner == owner]

    def _unused(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if not self._open[name].posts]

    def _idle_ones(self) -> list[str]:
        """Sessions that the SDK has probably ended because they were idle; it does not report them."""
        long_ago = self._clock() - self._idle
        unused = [(name, self._open[name]) for name in self._unused(self._open)]
        return [name for name, session in unused if not session.streams and session.used < long_ago]

    def _surplus(self, owner: str) -> list[str]:
        """The sessions to end so that neither this token nor all tokens together exceed their limits."""
        own = self._of(owner)
        ended = self._unused(own[:-1])[: max(0, len(own) - self._each)]
        others = [name for name in self._unused(self._open) if name not in ended]
        return ended + others[: max(0, len(self._open) - len(ended) - self._most)]

    async def _end(self, names: Iterable[str]) -> None:
        for name in names:
            session = self._open.pop(name, None)
            if session is not None:
                header = (MCP_SESSION_ID_HEADER.encode(), name.encode())
                scope = {**session.scope, "method": "DELETE", "headers": [header]}
                await self._app(scope, _nothing_more, _unheard)

    def _counted(self, scope: Scope) -> Response | None:
        """Count the opening as a call; return the refusal if the limit is exceeded."""
        try:
            self._limits.check(opener_of(Request(scope)), {}, writes=False)
        except TooManyCalls as error:
            return self._refused("too_many_calls", scope, error.message, error.retry_after)
        return None

    def _refused(self, reason: str, scope: Scope, message: str, seconds: int = 1) -> Response:
        token: Token | None = scope.get(TOKEN)
        self._gate.refused(reason, token)
        return JSONResponse(
            {"error": message}, status_code=HTTPStatus.TOO_MANY_REQUESTS, headers={"Retry-After": str(seconds)}
        )


def _owner(scope: Scope) -> str:
    token: Token | None = scope.get(TOKEN)
    return token.id if token is not None else ""


def _length_of_body(scope: Scope) -> int:
    """The size of the body that the request declares; if it declares none, the largest size that is read."""
    headers = Headers(scope=scope)
    said = headers.get("content-length", "0")
    is_said = "transfer-encoding" not in headers and said.isdecimal()
    return min(int(said), DEFAULT_MAX_REQUEST_BODY_SIZE) if is_said else DEFAULT_MAX_REQUEST_BODY_SIZE


def _subtract(counts: Counter[_Key], key: _Key, count: int) -> None:
    """Subtract, and remove the key at zero, because the set of tokens changes over time."""
    counts[key] -= count
    if not counts[key]:
        del counts[key]


async def _whole(receive: Receive) -> list[Message] | None:
    """The messages of a request; None if its body is too long."""
    messages: list[Message] = []
    size = 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > LONGEST_OPENING:
            return None
        if not message.get("more_body"):
            return messages


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: Any) -> None:
    """Discard the answer."""
