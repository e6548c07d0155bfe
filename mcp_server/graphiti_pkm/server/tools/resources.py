"""Resources: entities and episodes by uuid, for clients that attach context themselves."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.core.model.answers import Answer
from graphiti_pkm.errors import NotFound, PkmError
from graphiti_pkm.server.auth.callers import caller_of, token_of
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.observability.audit import REFUSALS, audit
from graphiti_pkm.server.tools.guard import backend_of
from graphiti_pkm.toolkit.call import Call

_A = TypeVar("_A", bound=Answer)

ENTITY = "pkm://entity/{uuid}"
EPISODE = "pkm://episode/{uuid}"


def add_resources(server: MCPServer[Backend], *, read_only_caller: bool) -> None:
    """Register the resource templates."""

    async def read(context: Context[Backend, Any], get: Callable[[Call], Awaitable[_A]]) -> str:
        request, caller, began = context.request_context.request, None, time.perf_counter()
        backend = backend_of(context)
        try:
            caller = caller_of(request, read_only=read_only_caller)
            backend.limits.check(caller, {}, writes=False)
            services = await backend.services()
            await services.wait_until_rebuilt()
            answer = await get(Call(services, caller))
        except NotFound as error:
            raise ResourceNotFoundError(error.message) from None
        except PkmError as error:
            if error.code in REFUSALS:
                audit(caller, token_of(request), "resources/read", error.code, began=began)
            raise ResourceError(error.message if caller is None else backend.message(error, caller)) from None
        return answer.model_dump_json(exclude_none=True)

    @server.resource(
        ENTITY,
        name="entity",
        title="Entity",
        description="An entity with its newest facts.",
        mime_type="application/json",
    )
    async def entity(uuid: str, context: Context[Backend, Any]) -> str:
        return await read(context, lambda call: call.services[EXPLORING].get_entity(call.caller, uuid))

    @server.resource(
        EPISODE,
        name="episode",
        title="Episode",
        description="What was said, word for word.",
        mime_type="application/json",
    )
    async def episode(uuid: str, context: Context[Backend, Any]) -> str:
        return await read(context, lambda call: call.services[EXPLORING].get_episode(call.caller, uuid))
