"""Rate limit for requests of any kind; tool calls and openings have further limits."""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.methods import SPEC_CLIENT_METHODS

from graphiti_pkm.errors import TooManyCalls
from graphiti_pkm.server.auth.callers import Limits, opener_of, token_of
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.observability.audit import audit

TOO_MANY = -32_000
"""A code that JSON-RPC reserves for servers."""


class RequestLimits:
    """Middleware that refuses requests of any kind beyond the limit."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    async def __call__(self, ctx: ServerRequestContext[Backend, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request is not None and ctx.request_id is not None:
            caller = opener_of(ctx.request)
            try:
                self._limits.check_request(caller)
            except TooManyCalls as error:
                action = ctx.method if ctx.method in SPEC_CLIENT_METHODS else "unknown"
                audit(caller, token_of(ctx.request), action, error.code)
                raise MCPError(code=TOO_MANY, message=error.message) from None
        return await call_next(ctx)
