"""One log line per call: tool, duration, counts, groups, error; never the content of the request or the answer."""

import logging
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from pydantic import ValidationError

from graphiti_pkm.core.ports.metrics import CALL_SECONDS, CALLS, CALLS_UNDER_WAY, UNCOUNTED, Metrics
from graphiti_pkm.errors import codes
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.observability.logging import request_id

logger = logging.getLogger(__name__)

_METHODS = frozenset({"tools/call", "resources/read", "prompts/get"})
_COUNTED = ("facts", "nodes", "episodes", "entities", "sources", "changes", "retired", "needs_attention", "neighbours")
_CALLERS_MISTAKES = frozenset(
    {
        "invalid_input",
        "invalid_cursor",
        "ambiguous_uuid",
        "ambiguous_label",
        "not_found",
        "not_allowed",
        "permission_denied",
        "prerequisite_suggested",
        "too_many_calls",
        "too_large",
        "conflicting_content",
        "unknown_tool",
        INVALID_PARAMS,
        INVALID_REQUEST,
        METHOD_NOT_FOUND,
    }
)
_OUTCOMES = frozenset({"ok", "internal", "cancelled", "unknown_tool"} | codes())
_MOST_GROUPS = 10
_UNEXPECTED = "The server met an unexpected error. Its log has the details; the request was not carried out in full."


async def answer_internal_errors(ctx: ServerRequestContext[Backend, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that answers unexpected exceptions as internal errors; the SDK would send their text, with code 0."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise  # these have their own codes
    except Exception:
        logger.exception("a request failed unexpectedly")
        raise MCPError(code=INTERNAL_ERROR, message=_UNEXPECTED) from None


class CallLog:
    """Middleware that logs each tool call, resource and prompt once it is answered."""

    def __init__(
        self,
        known_tools: Collection[str],
        metrics: Metrics = UNCOUNTED,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._known = frozenset(known_tools)
        self._metrics = metrics
        self._clock = clock

    async def __call__(self, ctx: ServerRequestContext[Backend, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method not in _METHODS:
            return await call_next(ctx)
        with request_id() as request:
            return await self._logged(request, ctx, call_next)

    async def _logged(
        self, request: str, ctx: ServerRequestContext[Backend, Any], call_next: CallNext
    ) -> HandlerResult:
        event: dict[str, object] = {"request": request, "method": ctx.method}
        name = (ctx.params or {}).get("name")
        if ctx.method == "tools/call":
            event["tool"] = name if isinstance(name, str) and name in self._known else "unknown"
        start = self._clock()
        self._metrics.add(CALLS_UNDER_WAY, 1)
        try:
            result = await call_next(ctx)
        except MCPError as error:
            event["error"] = error.error.code
            raise
        except ValidationError:
            event["error"] = INVALID_PARAMS
            raise
        except BaseException as error:
            event["error"] = "internal" if isinstance(error, Exception) else "cancelled"
            raise
        else:
            event.update(_outcome(result))
            return result
        finally:
            seconds = self._clock() - start
            self._count(event, seconds)
            event["ms"] = round(seconds * 1000, 1)
            mistake = event.get("error") in _CALLERS_MISTAKES
            level = logging.ERROR if "error" in event and not mistake else logging.INFO
            logger.log(level, "call", extra={"event": event})

    def _count(self, event: Mapping[str, object], seconds: float) -> None:
        """Count the call under known tools and outcomes; text that a client invented must not become a label."""
        tool = str(event.get("tool", event["method"]))
        outcome = str(event.get("error", "ok"))
        self._metrics.add(CALLS_UNDER_WAY, -1)
        self._metrics.add(CALLS, 1, tool, outcome if outcome in _OUTCOMES else "protocol")
        self._metrics.observe(CALL_SECONDS, seconds, tool)


def _outcome(result: HandlerResult) -> dict[str, object]:
    data = result.get("structuredContent") if isinstance(result, Mapping) else None
    if not isinstance(data, Mapping):
        return {}
    if "error" in data:
        return {"error": data.get("code", "error")}
    outcome: dict[str, object] = {key: data[key] for key in ("total", "returned") if isinstance(data.get(key), int)}
    counts = {key: len(data[key]) for key in _COUNTED if isinstance(data.get(key), list)}
    groups = data["scope"]["group_ids"] if "scope" in data else [data["group_id"]] if "group_id" in data else []
    return outcome | ({"counts": counts} if counts else {}) | ({"groups": groups[:_MOST_GROUPS]} if groups else {})
