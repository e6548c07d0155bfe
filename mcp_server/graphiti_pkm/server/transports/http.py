"""Streamable HTTP and SSE, with the endpoints a supervisor asks."""

import asyncio
import contextlib
import socket
from collections.abc import Generator
from functools import partial
from typing import cast

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from graphiti_pkm.core.ports.metrics import UNCOUNTED
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.server.auth.access_gate import AccessGate, Authenticated, KnownNames, NoSignIn, check_host, tokens_of
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.transports.connections import Bounds, Connection, Connections, raise_file_limit
from graphiti_pkm.server.transports.draining import Draining, ended_by, on_signal
from graphiti_pkm.server.transports.http_draining import Drained
from graphiti_pkm.server.transports.malformed import PlainlyRefused
from graphiti_pkm.server.transports.metrics_endpoint import MetricsPage
from graphiti_pkm.server.transports.probes import Probes, Readiness
from graphiti_pkm.server.transports.sessions import Sessions
from graphiti_pkm.settings.loader import Settings

SSE_PATH = "/sse"
_BACKLOG = 2_048
"""Connections that may wait to be taken."""
_ACCEPTED_AT_ONCE = 16
"""So that what those before have sent is read in between, and whoever sends is no stranger when it gets crowded."""
_LONGEST_HEAD = 32_768
"""Bytes of a request before its body."""
_TICKS_A_SECOND = 10
_GRACE_SECONDS = 1
"""For connections to close, after the calls were waited for."""


def http_app(server: MCPServer[Backend], backend: Backend, settings: Settings, draining: Draining) -> ASGIApp:
    """The ASGI application of the configured transport.

    Raises:
        ConfigurationError: others can reach the host and there are no tokens, or these cannot be read.
    """
    tokens = tokens_of(settings)
    check_host(settings.host, tokens)
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # KnownNames does it
    if settings.transport == "sse":
        app = server.sse_app(sse_path=SSE_PATH, transport_security=security, host=settings.host)
    else:
        app = server.streamable_http_app(
            streamable_http_path="/" + settings.path.strip("/"),
            stateless_http=settings.workers > 1,  # a session would be known to one of them only
            session_idle_timeout=settings.session_idle_seconds,
            max_sessions=None,  # Sessions ends those that are over, and keeps nobody out
            transport_security=security,
            host=settings.host,
        )
    gate = AccessGate(backend.counted or UNCOUNTED)
    endpoint = WithAndWithoutSlash(PlainlyRefused(app)) if settings.transport == "http" else app
    served: ASGIApp = Authenticated(Sessions(endpoint, settings, backend.limits, gate), tokens, gate)
    if backend.counted is not None:
        served = MetricsPage(served, backend.counted, backend, tokens, gate, settings)
    # Whatever the probes do not answer themselves is checked: no path is exempt.
    return Probes(Drained(KnownNames(NoSignIn(served), settings, gate), draining), Readiness(backend, draining))


async def serve_http(
    server: MCPServer[Backend], settings: Settings, draining: Draining, backend: Backend, listening: socket.socket
) -> None:
    """Serve until ``draining`` begins, as it does at a signal; calls under way are answered first."""
    app = http_app(server, backend, settings, draining)
    # Held here for the whole time: SSE would otherwise start and stop the services with each connection.
    async with backend.open():
        web = Web(app, settings)
        with on_signal(draining.begin, settings.drain_seconds):
            async with ended_by(draining, web.stop, settings.drain_seconds):
                await web.serve(sockets=[listening])


class Web(uvicorn.Server):
    """An HTTP server that bounds its connections.

    It leaves signals to ``on_signal``: uvicorn would raise them again when it is done, and cut off what it still
    answers.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.connections = Connections(Bounds.of(settings, raise_file_limit()))
        config = uvicorn.Config(
            app,
            http=cast("type[asyncio.Protocol]", partial(Connection, self.connections)),
            ws="none",
            proxy_headers=False,  # who calls is told by the token, never by an address
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            h11_max_incomplete_event_size=_LONGEST_HEAD,
            # A process takes so many connections at once: of workers, the first would get them all.
            backlog=1 if settings.workers > 1 else _ACCEPTED_AT_ONCE,
        )
        super().__init__(config)

    async def on_tick(self, counter: int) -> bool:
        """Called by uvicorn ten times a second."""
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
    """Serves ``/mcp/`` as ``/mcp``: a redirect would cost some clients the body of their POST."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and len(path) > 1 and path.endswith("/"):
            scope = {**scope, "path": path.rstrip("/") or "/", "raw_path": None}
        await self._app(scope, receive, send)


def listen(host: str, port: int) -> socket.socket:
    """A socket for clients. Raises ConfigurationError if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigurationError(f"Cannot listen on {host}:{port} ({error.strerror}). Choose another --port.") from None
    # What is accepted has it from here; asyncio sets it for sockets of its own making alone. Without, an answer in two
    # parts waits 40 ms for a client that acknowledges late.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
