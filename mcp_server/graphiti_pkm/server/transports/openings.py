"""Limits for ``initialize`` on every transport, because its content is kept as long as its session."""

import json
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphiti_pkm.errors import TooManyCalls
from graphiti_pkm.server.auth.callers import Limits, opener_of
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.tools.request_limits import TOO_MANY

LONGEST_OPENING = 65_536
"""Bytes. Clients send their name and capabilities: about 300 bytes, or some thousands with an icon."""


class Openings:
    """Middleware that refuses an ``initialize`` that is too long or exceeds the rate limit."""

    def __init__(self, limits: Limits, *, counts: bool) -> None:
        """``counts``: whether to count openings, which nothing else does where HTTP has no sessions."""
        self._limits = limits
        self._counts = counts

    async def __call__(self, ctx: ServerRequestContext[Backend, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "initialize":
            if len(json.dumps(ctx.params, ensure_ascii=False)) > LONGEST_OPENING:
                message = f"What opens a session may have {LONGEST_OPENING:,} bytes."
                raise MCPError(code=INVALID_PARAMS, message=message)
            if self._counts and ctx.request is not None:
                try:
                    self._limits.check(opener_of(ctx.request), {}, writes=False)
                except TooManyCalls as error:
                    raise MCPError(code=TOO_MANY, message=error.message) from None
        return await call_next(ctx)
