"""Resources: entities and episodes, for clients that attach context themselves, and pictures of scratch graphs."""

import time
from base64 import b64decode
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources.templates import ResourceSecurity

from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.capabilities.history.requests import WhatChanged
from graphiti_pkm.capabilities.history.tools import CHANGES
from graphiti_pkm.capabilities.scratch.pictures import BEGIN, CHOICES, PictureFormat, renders_png
from graphiti_pkm.core.identity.groups import answering
from graphiti_pkm.errors import NotFound, PkmError
from graphiti_pkm.server.auth.callers import caller_of, token_of
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.observability.audit import REFUSALS, audit
from graphiti_pkm.server.tools.guard import GuardedTool, backend_of
from graphiti_pkm.toolkit.call import Call

_R = TypeVar("_R")

ENTITY = "pkm://entity/{uuid}"
EPISODE = "pkm://episode/{uuid}"
CHANGES_ADDRESS = "pkm://changes"
CHANGES_OF_GROUP = f"{CHANGES_ADDRESS}{{?group}}"
_SINCE_EVER = "1970-01-01"
_ASKED = f"{{?{','.join(CHOICES)}}}"
SCRATCH = {"svg": f"{BEGIN}{{graph}}.svg{_ASKED}", "png": f"{BEGIN}{{graph}}.png{_ASKED}"}
_NO_PATHS = ResourceSecurity(exempt_params={"graph", *CHOICES})
"""Names of graphs and labels reach no file, and may look like a path."""


async def read_for(
    backend: Backend, request: Any, action: str, get: Callable[[Call], Awaitable[_R]], *, read_only_caller: bool
) -> _R:
    """What ``get`` reads for the caller of a request that is no call of a tool; refusals are audited as ``action``.

    Raises:
        NotFound: there is no such record.
        PkmError: with the message for this caller.
    """
    caller, began = None, time.perf_counter()
    try:
        caller = caller_of(request, read_only=read_only_caller)
        backend.limits.check(caller, {}, writes=False)
        services = await backend.services()
        await services.wait_until_rebuilt()
        with answering(caller):
            return await get(Call(services, caller))
    except PkmError as error:
        if error.code in REFUSALS:
            audit(caller, token_of(request), action, error.code, began=began)
        if caller is not None:
            error.message = backend.message(error, caller)
        raise


async def read_entity(call: Call, uuid: str) -> str:
    """An entity as a resource."""
    answer = await call.services[EXPLORING].get_entity(call.caller, uuid)
    return answer.model_dump_json(exclude_none=True)


async def read_changes(call: Call, group: str | None) -> str:
    """The newest changes of a group as a resource: without cursors and dates, the same until something changes."""
    request = WhatChanged(since=_SINCE_EVER, group_ids=None if group is None else [group])
    answer = await call.services[CHANGES].what_changed(call.caller, request)
    return answer.model_dump_json(include={"total", "changes"}, exclude_none=True)


def add_resources(server: MCPServer[Backend], *, read_only_caller: bool) -> None:
    """Register the resource templates."""

    async def read(context: Context[Backend, Any], get: Callable[[Call], Awaitable[str]]) -> str:
        asked = context.request_context.request
        try:
            return await read_for(backend_of(context), asked, "resources/read", get, read_only_caller=read_only_caller)
        except NotFound as error:
            raise ResourceNotFoundError(error.message) from None
        except PkmError as error:
            raise ResourceError(error.message) from None

    @server.resource(
        ENTITY,
        name="entity",
        title="Entity",
        description="An entity with its newest facts.",
        mime_type="application/json",
    )
    async def entity(uuid: str, context: Context[Backend, Any]) -> str:
        return await read(context, lambda call: read_entity(call, uuid))

    @server.resource(
        CHANGES_OF_GROUP,
        name="changes",
        title="Changes",
        description="The newest changes of a group, the default one without a name.",
        mime_type="application/json",
        security=ResourceSecurity(exempt_params={"group"}),
    )
    async def changes(context: Context[Backend, Any], group: str | None = None) -> str:
        return await read(context, lambda call: read_changes(call, group))

    @server.resource(
        EPISODE,
        name="episode",
        title="Episode",
        description="What was said, word for word.",
        mime_type="application/json",
    )
    async def episode(uuid: str, context: Context[Backend, Any]) -> str:
        async def get(call: Call) -> str:
            answer = await call.services[EXPLORING].get_episode(call.caller, uuid)
            return answer.model_dump_json(exclude_none=True)

        return await read(context, get)


def add_pictures(server: MCPServer[Backend], drawing: GuardedTool, is_offered: Callable[[Any], bool]) -> None:
    """Register pictures of scratch graphs, which the unlisted tool ``drawing`` answers as it would any call.

    ``is_offered``: whether a request may use scratch graphs at all.
    """

    def reader(picture_format: PictureFormat) -> Callable[..., Awaitable[str | bytes]]:
        async def read(
            graph: str,
            context: Context[Backend, Any],
            nodes: str | None = None,
            hops: str | None = None,
            relation: str | None = None,
            rank: str | None = None,
            reduce: str | None = None,
        ) -> str | bytes:
            if not is_offered(context.request_context.request):
                raise ResourceNotFoundError("Scratch graphs are not offered here.")
            asked = {"graph": graph, "nodes": nodes, "hops": hops, "relation": relation, "rank": rank, "reduce": reduce}
            result = await drawing.run({"format": picture_format, **asked}, context)
            found = result.structured_content or {}
            if result.is_error:
                kind = ResourceNotFoundError if found["code"] == NotFound.code else ResourceError
                raise kind(found["error"])
            content: str = found[picture_format]
            return b64decode(content) if picture_format == "png" else content

        return read

    formats: tuple[tuple[PictureFormat, str], ...] = (("svg", "image/svg+xml"), ("png", "image/png"))
    for picture_format, mime_type in formats[: 2 if renders_png() else 1]:
        server.resource(
            SCRATCH[picture_format],
            name=f"scratch_{picture_format}",
            title=f"Scratch graph as {picture_format.upper()}",
            description="A picture of a scratch graph of yours; export_graph gives the address.",
            mime_type=mime_type,
            security=_NO_PATHS,
        )(reader(picture_format))
