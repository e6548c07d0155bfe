"""The MCP server over a set of services: tools, instructions, prompts, resources and the transports."""

import asyncio
import gc
import socket
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, TypeAlias

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    CompleteRequestParams,
    GetPromptResult,
    InputRequiredResult,
    SubscriptionsListenRequestParams,
)

from graphiti_pkm.capabilities.scratch.capability import DRAWING, EXPORTING
from graphiti_pkm.core.operating_system import CAN_FORK
from graphiti_pkm.core.ports.metrics import UNCOUNTED, Counted
from graphiti_pkm.errors import InvalidInput, InvalidSettings, NotAllowed
from graphiti_pkm.server.auth.callers import Limits, caller_of, token_of
from graphiti_pkm.server.auth.rate_limits import Buckets
from graphiti_pkm.server.backend import Backend, Start
from graphiti_pkm.server.observability import audit
from graphiti_pkm.server.observability.logging import configure_logging
from graphiti_pkm.server.owners import PassedOn, owners
from graphiti_pkm.server.tools.call_log import CallLog, answer_internal_errors
from graphiti_pkm.server.tools.completions import METHOD, Completions
from graphiti_pkm.server.tools.guard import error_result, guarded
from graphiti_pkm.server.tools.hints import Advice
from graphiti_pkm.server.tools.instructions import INSTEAD_OF_READ_GRAPH, READ_GRAPH, build_instructions
from graphiti_pkm.server.tools.prompts import build_prompts
from graphiti_pkm.server.tools.recent_calls import OwnRecentCalls, RecentCalls
from graphiti_pkm.server.tools.registry import (
    TOOLSETS,
    current,
    known_tools,
    narrowed,
    permitted,
    select,
    unshown_marks,
)
from graphiti_pkm.server.tools.request_limits import RequestLimits
from graphiti_pkm.server.tools.resources import SCRATCH, add_pictures, add_resources
from graphiti_pkm.server.tools.texts import only_naming
from graphiti_pkm.server.transports.draining import CLOSING_SECONDS, LISTEN, Draining, end_within, on_signal, when_ended
from graphiti_pkm.server.transports.openings import Openings
from graphiti_pkm.server.transports.stdio import serve_stdio
from graphiti_pkm.server.transports.subscriptions import Subscriptions
from graphiti_pkm.settings.loader import APP, Settings
from graphiti_pkm.toolkit.bounds import too_many_characters
from graphiti_pkm.toolkit.services import Services
from graphiti_pkm.toolkit.tool import ToolSpec

Parts: TypeAlias = Callable[[], tuple[Start, Counted | None]]
"""Called in each process; returns how to start its services and what counts its calls."""

TOOLSETS_HEADER = "x-mcp-toolsets"
_LONGEST_ARGUMENT = 50_000
"""Characters of an argument of a prompt, which is repeated in the answer; a pasted decision fits."""
_LONGEST_NAME = 64
_WORKER_SECONDS = CLOSING_SECONDS + 5.0
"""How long a worker may take to close after its calls are answered: longer than its own limit."""


class MemoryServer(MCPServer[Backend]):
    """An ``MCPServer`` whose tools an HTTP request can restrict, and which answers unknown tools like other errors."""

    def __init__(self, settings: Settings, backend: Backend) -> None:
        self.tools = select(settings)
        self.backend = backend
        self.draining = Draining()
        self.draining.on_begin = backend.stop_waiting
        self._drain_seconds = settings.drain_seconds
        self._local_tier = settings.tier
        names = [tool.name for tool in self.tools]
        self._names = frozenset(names)
        advice = _advice(settings, self.tools, self._names_offered)
        has_pictures = EXPORTING in names
        self._built = {
            tool.name: guarded(
                tool,
                enabled=names,
                unshown=unshown_marks(settings),
                read_only_caller=settings.read_only,
                zone=settings.zone,
                local_tier=settings.tier,
                advice=advice,
            )
            for tool in (*self.tools, *([DRAWING] if has_pictures else []))
        }

        @asynccontextmanager
        async def lifespan(_: MCPServer[Backend]) -> AsyncIterator[Backend]:
            async with backend.open():
                yield backend

        super().__init__(
            APP,
            title="Graphiti PKM",
            version=_version(),
            instructions=build_instructions(names),
            tools=[self._built[name] for name in names],
            lifespan=lifespan,
            subscriptions=False,  # the SDK's handler would tell everybody of everything
            middleware=[
                answer_internal_errors,
                RequestLimits(backend.limits),
                CallLog(known_tools(), backend.counted or UNCOUNTED),
                Openings(backend.limits, counts=settings.workers > 1),
                self.draining,
                self._narrow,
            ],
        )
        for prompt in build_prompts(names):
            self.add_prompt(prompt)
        add_resources(self, read_only_caller=settings.read_only)
        completions = Completions(self._prompts_of, self._templates_of, read_only_caller=settings.read_only)
        self._lowlevel_server.add_request_handler(METHOD, CompleteRequestParams, completions)
        listening = Subscriptions(backend, self.draining, read_only_caller=settings.read_only)
        self._lowlevel_server.add_request_handler(LISTEN, SubscriptionsListenRequestParams, listening)
        if has_pictures:
            add_pictures(self, self._built[DRAWING.name], self._offers_pictures)

    async def run_stdio_async(self) -> None:
        """Serve one client over stdin and stdout, until either side ends it."""
        with on_signal(self.draining.begin, self._drain_seconds):
            await serve_stdio(self._lowlevel_server, self.draining, self._drain_seconds)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Backend, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool that is available to this request, also by a former name."""
        name, arguments = current(name, arguments)
        request = context.request_context.request if context else None
        try:
            offered = self._offered(request)
        except InvalidInput as error:
            return error_result(error.message, error.code)
        if name not in {tool.name for tool in offered}:
            names = [tool.name for tool in self._listed(request)]
            if name == READ_GRAPH:
                return error_result(only_naming(INSTEAD_OF_READ_GRAPH, known_tools(), names), "unknown_tool")
            if name in known_tools():  # read-only server, disabled tool, or not in the header's toolsets
                self._audit_refusal(name, context)
            return error_result(f"There is no such tool here. Tools: {', '.join(names) or 'none'}.", "unknown_tool")
        return await super().call_tool(name, arguments, context)

    async def answer(self, call: PassedOn) -> CallToolResult:
        """Answer a call that another worker received; it counts as a call under way."""
        under_way = self.draining.start()
        try:
            return await self._built[call.tool].answer(self.backend, call.caller, call.arguments)
        finally:
            under_way.end()

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Backend, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Render a prompt; a wrong request is answered as such and not as an internal error."""
        try:
            tools = self._listed(context.request_context.request if context else None)
        except InvalidInput as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message) from None
        prompts = {prompt.name: prompt for prompt in build_prompts([tool.name for tool in tools])}
        if name not in prompts:
            raise MCPError(code=INVALID_PARAMS, message=f"No such prompt. Prompts: {', '.join(prompts)}.")
        known = [argument.name for argument in prompts[name].arguments or []]
        unknown = [argument for argument in arguments or {} if argument not in known]
        if unknown:
            shown = unknown[0] if unknown[0].isidentifier() and len(unknown[0]) <= _LONGEST_NAME else "of that name"
            message = f"{name} has no argument {shown}. Its arguments: {', '.join(known)}."
            raise MCPError(code=INVALID_PARAMS, message=message)
        for argument, value in (arguments or {}).items():
            if len(str(value)) > _LONGEST_ARGUMENT:
                message = f"{name}: {too_many_characters(argument, len(str(value)), _LONGEST_ARGUMENT)}."
                raise MCPError(code=INVALID_PARAMS, message=message)
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

    def _offered(self, request: Any) -> Sequence[ToolSpec]:
        header = request.headers.get(TOOLSETS_HEADER) if request is not None else None
        return self.tools if header is None else narrowed(self.tools, header)

    def _names_offered(self, request: Any) -> Collection[str]:
        if request is None or TOOLSETS_HEADER not in request.headers:
            return self._names
        return frozenset(tool.name for tool in self._offered(request))

    def _templates_of(self, request: Any) -> list[str]:
        """The resource templates that a request may use."""
        known = [one.uri_template for one in self._resource_manager.list_templates()]
        hidden = () if self._offers_pictures(request) else SCRATCH.values()
        return [one for one in known if one not in hidden]

    def _offers_pictures(self, request: Any) -> bool:
        try:
            return any(tool.name == EXPORTING for tool in self._offered(request))
        except InvalidInput:
            return False

    def _listed(self, request: Any) -> Sequence[ToolSpec]:
        """The tools that are available to a request and permitted to its token, or to the local user."""
        token = token_of(request)
        return permitted(self._offered(request), self._local_tier if token is None else token.tier)

    def _prompts_of(self, request: Any) -> list[str]:
        """The names of the prompts for which a request may use all tools."""
        return [prompt.name for prompt in build_prompts([tool.name for tool in self._listed(request)])]

    async def _narrow(self, ctx: ServerRequestContext[Backend, Any], call_next: CallNext) -> HandlerResult:
        """Restrict lists and instructions to the toolsets of the request's header and to what its token permits."""
        result = await call_next(ctx)
        if ctx.method == "tools/call" or not isinstance(result, Mapping):
            return result  # for a call, the tool answers with an error that the model can read
        try:
            names = [tool.name for tool in self._listed(ctx.request)]
        except InvalidInput as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message) from None
        if "capabilities" in result:
            result = {**result, "capabilities": _of_fixed_lists(result["capabilities"])}
        if len(names) == len(self.tools):
            return result
        if ctx.method == "tools/list":
            kept = [tool for tool in result["tools"] if tool["name"] in names]
            cut = [tool | {"description": only_naming(tool["description"], known_tools(), names)} for tool in kept]
            return {**result, "tools": cut}
        return {**result, **_narrowed(ctx.method, result, names)}


def _of_fixed_lists(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """No list changes while a server runs; the SDK promises it to all who may listen to resources."""
    return {
        name: {**flags, "listChanged": False} if "listChanged" in flags else flags
        for name, flags in capabilities.items()
    }


def _narrowed(method: str, result: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The parts of a result that are others if only these tools are available."""
    if method == "resources/templates/list" and EXPORTING not in names:
        pictures = SCRATCH.values()
        return {"resourceTemplates": [one for one in result["resourceTemplates"] if one["uriTemplate"] not in pictures]}
    if method == "prompts/list":
        fitting = {prompt.name for prompt in build_prompts(names)}
        return {"prompts": [prompt for prompt in result["prompts"] if prompt["name"] in fitting]}
    return {"instructions": build_instructions(names)} if "instructions" in result else {}


def build_server(settings: Settings, start: Start, counted: Counted | None = None) -> MemoryServer:
    """A server whose services ``start`` builds in the background.

    Args:
        settings: what the server offers.
        start: called in a thread, because it imports large modules; returns the context manager of the services.
        counted: the metrics, which are served at /metrics.

    Raises:
        InvalidSettings: a setting names an unknown toolset or tool.
    """
    limits = Limits(settings, _shared(settings))
    return MemoryServer(settings, Backend(start, limits=limits, for_others=settings.without_directory, counted=counted))


def _shared(settings: Settings) -> Buckets | None:
    """The rate limits that several workers share; None for a single process."""
    if settings.workers == 1:
        return None
    from graphiti_pkm.server.auth.shared_rate_limits import SharedBuckets  # noqa: PLC0415  (imports SQLite)

    return SharedBuckets(settings.worker_file)


def _advice(settings: Settings, tools: Sequence[ToolSpec], offered: Callable[[Any], Collection[str]]) -> Advice | None:
    if settings.hints == "off":
        return None
    return Advice(tools, offered, _recent_calls(settings), holds_back=settings.hints == "confirm")


def _recent_calls(settings: Settings) -> RecentCalls:
    if settings.workers == 1:
        return OwnRecentCalls()
    from graphiti_pkm.server.tools.shared_recent_calls import SharedRecentCalls  # noqa: PLC0415  (imports SQLite)

    return SharedRecentCalls(settings.worker_file)


def alone_in_its_process(server: MemoryServer) -> MemoryServer:
    """The same server: what there is once its services have started stays as long as it runs.

    Python's collector would look through all of it, modules and schemas, again and again: 90 ms in which nobody is
    answered, at full speed every two seconds.
    """
    server.backend.on_ready = gc.freeze
    return server


def run(settings: Settings, parts: Parts, starting: Callable[[], None]) -> None:
    """Serve until the client or the operator ends it; ``starting`` is called when the settings are found to fit.

    Raises:
        InvalidSettings: the settings contradict each other, or the host needs tokens.
        ConfigurationError: the port is taken.
    """
    configure_logging(settings.log_level, settings.log_format)
    if settings.workers > 1 and settings.transport != "http":
        raise InvalidSettings(
            f"{settings.workers} workers can only answer over http: a connection over {settings.transport} belongs to "
            "one process. Use --transport http, or --workers 1."
        )
    if settings.workers > 1 and not CAN_FORK:
        raise InvalidSettings(
            f"{settings.workers} workers need processes made by fork, which Windows does not have. Use --workers 1, or "
            "run the server in WSL or a container."
        )
    if settings.transport == "stdio":
        alone = alone_in_its_process(build_server(settings, *parts()))
        starting()
        with audit.kept(settings):
            anyio.run(alone.run_stdio_async)
        return
    from graphiti_pkm.server.auth.access_gate import check_host, tokens_of  # noqa: PLC0415
    from graphiti_pkm.server.transports.http import http_app, listen  # noqa: PLC0415  (stdio starts faster without it)

    audit.always()
    # before the port is opened
    check_host(settings.host, tokens_of(settings), has_issuer=settings.oauth_issuer is not None)
    if settings.workers == 1:
        server = build_server(settings, *parts())
        starting()
        with listen(settings.host, settings.port) as listening:
            _serve_http(server, settings, listening)
        return
    from graphiti_pkm.server.observability.prometheus import forget_worker, shared_by_workers  # noqa: PLC0415
    from graphiti_pkm.server.transports.workers import Workers  # type: ignore[attr-defined,unused-ignore]  # noqa: PLC0415 not on Windows

    # Building a server here reports errors in the settings once for all workers; each worker builds its own parts.
    http_app(found := build_server(settings, _nothing), found.backend, settings, found.draining)
    starting()
    shared = shared_by_workers() if settings.metrics else nullcontext()
    scratch = known_tools([one for one in TOOLSETS if one.name == "reasoning"]) & {tool.name for tool in found.tools}
    scratch |= {DRAWING.name} if EXPORTING in scratch else frozenset()
    owned = owners(settings.workers, scratch) if scratch else nullcontext()
    with listen(settings.host, settings.port) as listening, shared, owned as each:

        def serve(slot: int, parent: int) -> None:
            server = build_server(settings, *parts())
            server.backend.owners = None if each is None else replace(each, slot=slot)
            _serve_http(server, settings, listening, parent)

        Workers(settings.workers, serve, settings.drain_seconds + _WORKER_SECONDS, forget_worker).run()


def _nothing() -> AbstractAsyncContextManager[Services]:
    raise NotImplementedError("a server that is only looked at is not started")


def _serve_http(server: MemoryServer, settings: Settings, listening: socket.socket, parent: int | None = None) -> None:
    """``parent``: a descriptor that is closed when the parent process of this worker ends."""
    from graphiti_pkm.server.transports.http import serve_http  # noqa: PLC0415

    alone_in_its_process(server)

    async def serve() -> None:
        if parent is not None:
            loop = asyncio.get_running_loop()

            def end() -> None:
                end_within(settings.drain_seconds)
                loop.call_soon_threadsafe(server.draining.begin)

            when_ended(parent, end)
        others = server.backend.owners
        async with server.backend.open(), nullcontext() if others is None else others.serving(server.answer):
            await serve_http(server, settings, server.draining, server.backend, listening)

    with audit.kept(settings):
        anyio.run(serve)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    return version(APP)
