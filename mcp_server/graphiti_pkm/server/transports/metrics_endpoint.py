"""``/metrics`` for Prometheus: metrics of the whole server, for its operator only."""

import hmac
from datetime import UTC, datetime

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from graphiti_pkm.capabilities.status.tools import METRICS_COLLECTOR
from graphiti_pkm.core.model.access import LOCAL_PRINCIPAL
from graphiti_pkm.core.ports.metrics import Counted, Sample
from graphiti_pkm.errors import PkmError
from graphiti_pkm.server.auth.access_gate import AccessGate, presented
from graphiti_pkm.server.auth.tokens import Tokens
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.settings.loader import Settings

METRICS = "/metrics"
_NEEDED = "The figures are the operator's: send metrics_token, or a token of the principal local, as a bearer token."


class MetricsPage:
    """Wraps an application and answers the path ``/metrics``."""

    def __init__(
        self, app: ASGIApp, counted: Counted, backend: Backend, tokens: Tokens, gate: AccessGate, settings: Settings
    ) -> None:
        self._app = app
        self._gate = gate
        self._counted = counted
        self._backend = backend
        self._tokens = tokens
        self._secret = settings.metrics_token.get_secret_value() if settings.metrics_token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != METRICS:
            await self._app(scope, receive, send)
            return
        answer = await self._answer(scope["method"], Headers(scope=scope))
        await answer(scope, receive, send)

    async def _answer(self, method: str, headers: Headers) -> Response:
        if method not in {"GET", "HEAD"}:
            return PlainTextResponse("Only GET.", status_code=405, headers={"Allow": "GET, HEAD"})
        if not self._may_see(headers):
            return PlainTextResponse(_NEEDED, status_code=401, headers={"WWW-Authenticate": "Bearer"})
        return Response(self._counted.text(await self._found()), media_type=self._counted.content_type)

    def _may_see(self, headers: Headers) -> bool:
        """Allows the local principal and holders of ``metrics_token``."""
        if self._secret is None and not self._tokens.required():
            return True
        secret = presented(headers)
        if secret is None:
            self._gate.refused("token_missing")
            return False
        if self._secret is not None and hmac.compare_digest(secret.encode(), self._secret.encode()):
            return True
        found = self._tokens.verify(secret, datetime.now(UTC))
        if found.token is None:
            self._gate.refused(f"token_{found.refusal}")
            return False
        if found.token.principal == LOCAL_PRINCIPAL and not found.token.groups:
            return True
        self._gate.refused("not_allowed", found.token)
        return False

    async def _found(self) -> list[Sample]:
        """Samples that are looked up for this answer; none while the services are starting or if they failed to."""
        if not self._backend.begin().done():
            return []
        try:
            return await (await self._backend.services())[METRICS_COLLECTOR].look()
        except PkmError:
            return []
