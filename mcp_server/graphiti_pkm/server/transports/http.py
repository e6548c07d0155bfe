"""Streamable HTTP and SSE, with the endpoints for supervisors and for metrics."""

import asyncio
import contextlib
import socket
from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, cast

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from graphiti_pkm.core.operating_system import raise_file_limit
from graphiti_pkm.core.ports.metrics import UNCOUNTED
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.server.auth.access_gate import AccessGate, Authenticated, KnownNames, NoSignIn, check_host, tokens_of
from graphiti_pkm.server.auth.grants import WithGrants
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.transports.connections import MOST_FILES, Bounds, Connection, Connections
from graphiti_pkm.server.transports.draining import Draining, ended_by, on_signal
from graphiti_pkm.server.transports.http_draining import Drained
from graphiti_pkm.server.transports.malformed import PlainlyRefused
from graphiti_pkm.server.transports.metrics_endpoint import MetricsPage
from graphiti_pkm.server.transports.probes import Probes, Readiness
from graphiti_pkm.server.transports.sessions import Sessions
from graphiti_pkm.settings.loader import Settings

if TYPE_CHECKING:
    from graphiti_pkm.server.auth.issuer import Issuer

SSE_PATH = "/sse"
_BACKLOG = 2_048
"""Connections that may wait to be accepted."""
_ACCEPTED_AT_ONCE = 16
"""Small, so that requests are read between accepts: their senders are then no longer strangers when it gets crowded."""
_LONGEST_HEAD = 32_768
"""Maximum size of a request's head in bytes."""
_TICKS_A_SECOND = 10
_GRACE_SECONDS = 1
"""How long connections may take to close after the calls have ended."""


def http_app(server: MCPServer[Backend], backend: Backend, settings: Settings, draining: Draining) -> ASGIApp:
    """The ASGI application of the configured transport.

    Raises:
        ConfigurationError: other machines can reach the host and no tokens exist, or the tokens cannot be read.
    """
    tokens = tokens_of(settings)
    issuer = _issuer_of(settings)
    check_host(settings.host, tokens, has_issuer=issuer is not None)
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # KnownNames does this
    if settings.transport == "sse":
        app = server.sse_app(sse_path=SSE_PATH, transport_security=security, host=settings.host)
    else:
        app = server.streamable_http_app(
            streamable_http_path="/" + settings.path.strip("/"),
            stateless_http=settings.workers > 1,  # only one worker would know a session
            session_idle_timeout=settings.session_idle_seconds,
            max_sessions=None,  # Sessions ends surplus sessions and refuses no client
            transport_security=security,
            host=settings.host,
        )
    gate = AccessGate(backend.counted or UNCOUNTED)
    endpoint = WithAndWithoutSlash(PlainlyRefused(app)) if settings.transport == "http" else app
    sessions = Sessions(endpoint, settings, backend.limits, gate)
    served: ASGIApp = Authenticated(WithGrants(sessions, settings), tokens, gate, issuer=issuer)
    if backend.counted is not None:
        served = MetricsPage(served, backend.counted, backend, tokens, gate, settings)
    served = NoSignIn(served)
    if issuer is not None:
        served = issuer.described(served)
    # The probes answer two paths. Every other path is checked, without exception.
    return Probes(Drained(KnownNames(served, settings, gate), draining), Readiness(backend, draining))


def _issuer_of(settings: Settings) -> "Issuer | None":
    if settings.oauth_issuer is None:
        return None
    from graphiti_pkm.server.auth.issuer import Issuer  # noqa: PLC0415  (imports cryptography)

    return Issuer(settings)


async def serve_http(
    server: MCPServer[Backend], settings: Settings, draining: Draining, backend: Backend, listening: socket.socket
) -> None:
    """Serve until ``draining`` begins, for example at a signal; calls under way are answered before the end."""
    app = http_app(server, backend, settings, draining)
    # Kept open for the whole time, because SSE would otherwise start and stop the services with each connection.
    async with backend.open():
        web = Web(app, settings)
        with on_signal(draining.begin, settings.drain_seconds):
            async with ended_by(draining, web.stop, settings.drain_seconds):
                await web.serve(sockets=[listening])


class Web(uvicorn.Server):
    """An HTTP server that limits its connections.

    Signals are handled by ``on_signal`` instead of uvicorn, which would cut off answers and raise the signal again at
    its end.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.connections = Connections(Bounds.of(settings, raise_file_limit(MOST_FILES) or MOST_FILES))
        config = uvicorn.Config(
            app,
            http=cast("type[asyncio.Protocol]", partial(Connection, self.connections)),
            ws="none",
            proxy_headers=False,  # the token identifies the caller, never an address
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            h11_max_incomplete_event_size=_LONGEST_HEAD,
            # A process accepts this many connections at a time; with more, the first worker would take them all.
            backlog=1 if settings.workers > 1 else _ACCEPTED_AT_ONCE,
        )
        super().__init__(config)

    async def on_tick(self, counter: int) -> bool:
        """Sweep connections once a second; called ten times a second."""
        if counter % _TICKS_A_SECOND == 0:
            self.connections.sweep()
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_BACKLOG)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


class WithAndWithoutSlash:
    """Serves ``/mcp/`` as ``/mcp``, because some clients lose the body of a POST in a redirect."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and len(path) > 1 and path.endswith("/"):
            scope = {**scope, "path": path.rstrip("/") or "/", "raw_path": None}
        await self._app(scope, receive, send)


def listen(host: str, port: int) -> socket.socket:
    """Open the socket for clients. Raises ConfigurationError if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigurationError(f"Cannot listen on {host}:{port} ({error.strerror}). Choose another --port.") from None
    # Accepted connections inherit this option, which asyncio sets only for sockets that it creates itself. Without it,
    # an answer in two parts waits 40 ms for a client that acknowledges late.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
