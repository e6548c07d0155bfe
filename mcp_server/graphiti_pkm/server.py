"""The MCP server over a set of services: tools, instructions, prompts, resources and the transports."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, GetPromptResult, InputRequiredResult

from graphiti_pkm.config import APP, Settings
from graphiti_pkm.domain.metrics import UNCOUNTED, Counted
from graphiti_pkm.draining import Draining, on_signal
from graphiti_pkm.errors import InvalidInput, NotAllowed
from graphiti_pkm.logs import configure_logging
from graphiti_pkm.stdio import serve_stdio
from graphiti_pkm.toolsets import audit
from graphiti_pkm.toolsets.backend import Backend, Start
from graphiti_pkm.toolsets.callers import Limits, caller_of, token_of
from graphiti_pkm.toolsets.calls import CallLog
from graphiti_pkm.toolsets.catalog import ToolLine, known_tools, narrowed, select
from graphiti_pkm.toolsets.guard import error_result
from graphiti_pkm.toolsets.instructions import build_instructions
from graphiti_pkm.toolsets.prompts import build_prompts
from graphiti_pkm.toolsets.resources import add_resources
from graphiti_pkm.toolsets.texts import only_naming

TOOLSETS_HEADER = "x-mcp-toolsets"


class MemoryServer(MCPServer[Backend]):
    """An ``MCPServer`` whose offer an HTTP request may narrow, and which answers unknown tools like all errors."""

    def __init__(self, settings: Settings, backend: Backend) -> None:
        self.tools = select(settings)
        self.backend = backend
        self.draining = Draining()
        self.draining.on_begin = backend.stop_waiting
        self._drain_seconds = settings.drain_seconds
        names = [tool.name for tool in self.tools]

        @asynccontextmanager
        async def lifespan(_: MCPServer[Backend]) -> AsyncIterator[Backend]:
            async with backend.open():
                yield backend

        super().__init__(
            APP,
            title="Graphiti PKM",
            version=_version(),
            instructions=build_instructions(names),
            tools=[tool.build(enabled=names, read_only_caller=settings.read_only) for tool in self.tools],
            lifespan=lifespan,
            middleware=[CallLog(known_tools(), backend.counted or UNCOUNTED), self.draining, self._narrow],
        )
        for prompt in build_prompts(names):
            self.add_prompt(prompt)
        add_resources(self, read_only_caller=settings.read_only)

    async def run_stdio_async(self) -> None:
        """Serve one client over stdin and stdout, until either side ends it."""
        with on_signal(self.draining.begin):
            await serve_stdio(self._lowlevel_server, self.draining, self._drain_seconds)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Backend, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool that this request is offered."""
        try:
            offered = self._offered(context.request_context.request if context else None)
        except InvalidInput as error:
            return error_result(error.message, error.code)
        names = [tool.name for tool in offered]
        if name not in names:
            if name in known_tools():  # read-only, left out, or not among the toolsets that the header names
                self._audit_refusal(name, context)
            return error_result(f"There is no such tool here. Tools: {', '.join(names) or 'none'}.", "unknown_tool")
        return await super().call_tool(name, arguments, context)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Backend, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """A rendered prompt; what is wrong with the request is said as such, not as an internal error."""
        prompts = {prompt.name: prompt for prompt in await self.list_prompts()}
        if name not in prompts:
            raise MCPError(code=INVALID_PARAMS, message=f"No such prompt. Prompts: {', '.join(prompts)}.")
        wanted = [argument.name for argument in prompts[name].arguments or [] if argument.required]
        missing = [argument for argument in wanted if not (arguments or {}).get(argument)]
        if missing:
            raise MCPError(code=INVALID_PARAMS, message=f"{name} needs {', '.join(missing)}.")
        return await super().get_prompt(name, arguments, context)

    def _audit_refusal(self, name: str, context: Context[Backend, Any] | None) -> None:
        request = context.request_context.request if context else None
        try:
            caller = caller_of(request, read_only=True)
        except NotAllowed:
            caller = None
        audit.audit(caller, token_of(request), name, "unknown_tool")

    def _offered(self, request: Any) -> Sequence[ToolLine]:
        header = request.headers.get(TOOLSETS_HEADER) if request is not None else None
        return self.tools if header is None else narrowed(self.tools, header)

    async def _narrow(self, ctx: ServerRequestContext[Backend, Any], call_next: CallNext) -> HandlerResult:
        """Cut list and instructions to the toolsets that the request's header names."""
        result = await call_next(ctx)
        if ctx.request is None or TOOLSETS_HEADER not in ctx.request.headers or not isinstance(result, Mapping):
            return result
        try:
            names = [tool.name for tool in self._offered(ctx.request)]
        except InvalidInput as error:
            if ctx.method == "tools/call":
                return result  # answered as an error the model can read
            raise MCPError(code=INVALID_PARAMS, message=error.message) from None
        if ctx.method == "tools/list":
            kept = [tool for tool in result["tools"] if tool["name"] in names]
            cut = [tool | {"description": only_naming(tool["description"], known_tools(), names)} for tool in kept]
            return {**result, "tools": cut}
        if "instructions" in result:
            return {**result, "instructions": build_instructions(names)}
        return result


def build_server(settings: Settings, start: Start, counted: Counted | None = None) -> MemoryServer:
    """A server whose services ``start`` builds in the background.

    Args:
        settings: what to offer.
        start: called in a thread (so it may import what is heavy); gives the context manager of the services.
        counted: what counts the calls and is offered at /metrics.

    Raises:
        ConfigurationError: a setting names an unknown toolset or tool.
    """
    return MemoryServer(settings, Backend(start, limits=Limits(settings), counted=counted))


def run(settings: Settings, start: Start, counted: Counted | None = None) -> None:
    """Serve until the client or the operator ends it; ``counted`` is what it counts with.

    Raises:
        ConfigurationError: the settings do not fit, the host needs tokens, or the port is taken.
    """
    configure_logging(settings.log_level, settings.log_format)
    server = build_server(settings, start, counted)
    if settings.transport == "stdio":
        anyio.run(server.run_stdio_async)
    else:
        from graphiti_pkm.http import serve_http  # noqa: PLC0415  (stdio answers sooner without a web server)

        audit.always()
        anyio.run(serve_http, server, server.backend, settings, server.draining)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    return version(APP)
