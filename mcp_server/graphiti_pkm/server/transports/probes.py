"""``/health`` and ``/ready``, answered before all checks, so that no other path needs an exemption from them."""

import asyncio
import time
from collections.abc import Callable
from contextvars import Context

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from graphiti_pkm.capabilities.status.tools import STATUS
from graphiti_pkm.errors import PkmError
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.transports.draining import Draining

HEALTH, READY = "/health", "/ready"
_FRESH_SECONDS = 1.0
"""How long an answer of /ready is reused."""
_PATIENCE_SECONDS = 2.0
"""A database that has not answered for this long is not ready."""


class Probes:
    """Wraps an application and answers two paths; it passes on every other request."""

    def __init__(self, app: ASGIApp, readiness: "Readiness") -> None:
        self._app = app
        self._readiness = readiness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in {HEALTH, READY}:
            await self._app(scope, receive, send)
            return
        answer = await self._answer(scope["method"], scope["path"])
        await answer(scope, receive, send)

    async def _answer(self, method: str, path: str) -> Response:
        if method not in {"GET", "HEAD"}:
            return PlainTextResponse("Only GET.", status_code=405, headers={"Allow": "GET, HEAD"})
        if path == HEALTH:
            return JSONResponse({"status": "alive"})
        reason = await self._readiness.reason()
        if reason is None:
            return JSONResponse({"ready": True})
        return JSONResponse({"ready": False, "reason": reason}, status_code=503)


class Readiness:
    """Whether the memory answers and accepts writes. Anybody may ask, so it is checked at most once a second."""

    def __init__(
        self,
        backend: Backend,
        draining: Draining,
        clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE_SECONDS,
    ) -> None:
        self._backend = backend
        self._draining = draining
        self._clock = clock
        self._patience = patience
        self._looking: asyncio.Task[str | None] | None = None
        self._begun = self._ended = 0.0

    async def reason(self) -> str | None:
        """Why the server is not ready: one of four fixed words; None if it is ready. ``get_status`` has the details."""
        if self._draining.begun.is_set():
            return "stopping"
        looking = self._look()
        await asyncio.wait({looking}, timeout=max(0.0, self._begun + self._patience - self._clock()))
        return looking.result() if looking.done() else "unavailable"

    def _look(self) -> "asyncio.Task[str | None]":
        """The check that all simultaneous requests share."""
        now = self._clock()
        if self._looking is None or (self._looking.done() and now - self._ended >= _FRESH_SECONDS):
            self._begun = now
            # In an empty context, because the check does not belong to the request that starts it.
            self._looking = asyncio.create_task(self._ask(), context=Context())
        return self._looking

    async def _ask(self) -> str | None:
        try:
            if not self._backend.begin().done():
                return "starting"
            services = await self._backend.services()
            return await services[STATUS].unready()
        except PkmError:
            return "unavailable"
        finally:
            self._ended = self._clock()
