"""Resources: entities and episodes by uuid, for clients that attach context themselves."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.core.identity.groups import answering
from graphiti_pkm.core.model.answers import Answer
from graphiti_pkm.errors import NotFound, PkmError
from graphiti_pkm.server.auth.callers import caller_of, token_of
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.observability.audit import REFUSALS, audit
from graphiti_pkm.server.tools.guard import backend_of
from graphiti_pkm.toolkit.call import Call

_R = TypeVar("_R")

ENTITY = "pkm://entity/{uuid}"
EPISODE = "pkm://episode/{uuid}"


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


def add_resources(server: MCPServer[Backend], *, read_only_caller: bool) -> None:
    """Register the resource templates."""

    async def read(context: Context[Backend, Any], get: Callable[[Call], Awaitable[Answer]]) -> str:
        asked = context.request_context.request
        try:
            answer = await read_for(
                backend_of(context), asked, "resources/read", get, read_only_caller=read_only_caller
            )
        except NotFound as error:
            raise ResourceNotFoundError(error.message) from None
        except PkmError as error:
            raise ResourceError(error.message) from None
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
