"""``subscriptions/listen``: tells clients of 2026-07-28 which of the resources that they name have changed.

Each stream looks for itself, so writes of all workers, processes and hosts count, and each caller hears only of what it
may read at that moment: when a group that it may see was written to, its resources are read again and compared.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY, ResourceUpdated, event_to_notification
from mcp_types import (
    INVALID_PARAMS,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from graphiti_pkm.capabilities.history.tools import CHANGES
from graphiti_pkm.core.identity.groups import answering
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.errors import NotAllowed, PkmError, Unavailable
from graphiti_pkm.server.auth.callers import STILL_VALID, caller_of
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.tools.request_limits import TOO_MANY
from graphiti_pkm.server.tools.resources import CHANGES_ADDRESS, ENTITY, read_changes, read_entity
from graphiti_pkm.server.transports.draining import Draining
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import Services

MOST_RESOURCES = 100
"""Of one stream; they are read again after each write that may concern them."""
MOST_STREAMS = 16
"""Of one principal in one process."""
_SECONDS = 1.0
"""How often a stream asks for the times of the last writes."""
_ENTITY = ENTITY.partition("{")[0]

Read = Callable[[Call], Awaitable[str]]


class Subscriptions:
    """The handler of ``subscriptions/listen``: one call is one stream, until its client or the server ends it."""

    def __init__(
        self, backend: Backend, draining: Draining, *, read_only_caller: bool, seconds: float = _SECONDS
    ) -> None:
        self._backend = backend
        self._draining = draining
        self._read_only = read_only_caller
        self._seconds = seconds
        self._streams: Counter[str] = Counter()

    async def __call__(
        self, ctx: ServerRequestContext[Backend, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Acknowledge what is promised, then tell of changes."""
        caller = self._caller(ctx.request)
        asked = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        if len(asked) > MOST_RESOURCES:
            message = f"A stream tells of {MOST_RESOURCES} resources at most, and this one names {len(asked)}."
            raise MCPError(code=INVALID_PARAMS, message=message)
        if self._streams[caller.principal] >= MOST_STREAMS:
            message = f"{MOST_STREAMS} streams of yours are open; end one of them first."
            raise MCPError(code=TOO_MANY, message=message)
        self._streams[caller.principal] += 1
        try:
            return await self._serve(ctx, {uri: read for uri in asked if (read := _reader(uri)) is not None})
        finally:
            self._streams[caller.principal] -= 1

    async def _serve(
        self, ctx: ServerRequestContext[Backend, Any], resources: Mapping[str, Read]
    ) -> SubscriptionsListenResult:
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        try:
            services = await self._backend.services()
            writes, states = await self._look(services, self._caller(ctx.request), resources, None, {})
        except PkmError as error:
            raise MCPError(code=TOO_MANY, message=error.message) from None
        promised = SubscriptionFilter(resource_subscriptions=list(resources) or None)
        await ctx.session.send_notification(
            SubscriptionsAcknowledgedNotification(
                params=SubscriptionsAcknowledgedNotificationParams(notifications=promised, _meta=meta)
            ),
            related_request_id=ctx.request_id,
        )
        while not await self._is_stopping() and await _may_go_on(ctx.request):
            before = states
            try:
                caller = self._caller(ctx.request)
                writes, states = await self._look(services, caller, resources, writes, states)
            except Unavailable:
                continue  # the database is away, or being rebuilt
            except NotAllowed:
                break
            for uri in (uri for uri in resources if states[uri] != before[uri]):
                notification = event_to_notification(ResourceUpdated(uri), meta)
                await ctx.session.send_notification(notification, related_request_id=ctx.request_id)
        return SubscriptionsListenResult(_meta=meta)

    def _caller(self, request: Any) -> Caller:
        try:
            return caller_of(request, read_only=self._read_only)
        except NotAllowed as error:
            raise MCPError(code=INVALID_PARAMS, message=error.message) from None

    async def _is_stopping(self) -> bool:
        """Wait for the next look; whether the server ends meanwhile."""
        try:
            await asyncio.wait_for(self._draining.begun.wait(), self._seconds)
        except TimeoutError:
            return False
        return True

    async def _look(
        self,
        services: Services,
        caller: Caller,
        resources: Mapping[str, Read],
        writes: object,
        states: Mapping[str, bytes],
    ) -> tuple[object, Mapping[str, bytes]]:
        """The times of the last writes, and a digest of each resource as the caller reads it; the same if none came."""
        await services.wait_until_rebuilt()
        with answering(caller):
            newest = await services[CHANGES].last_writes(
                caller
            )  # before reading: what comes between is looked at again
            if newest == writes:
                return writes, states
            call = Call(services, caller)
            return newest, {uri: await _digest(read, call) for uri, read in resources.items()}


async def _digest(read: Read, call: Call) -> bytes:
    """Of what a caller is answered; what it may not see and what is not there are alike."""
    try:
        said = await read(call)
    except Unavailable:
        raise
    except PkmError as error:
        said = str(error.code)
    return hashlib.sha256(said.encode(errors="surrogatepass")).digest()


async def _may_go_on(request: Any) -> bool:
    """Whether the token of the request still counts."""
    check = None if request is None else request.scope.get(STILL_VALID)
    return check is None or bool(await check())


def _reader(uri: str) -> Read | None:
    """What reads a resource; None if nothing is promised for it."""
    if uri.startswith(_ENTITY) and uri != _ENTITY:
        uuid = uri.removeprefix(_ENTITY)
        return lambda call: read_entity(call, uuid)
    path, _, query = uri.partition("?")
    if path != CHANGES_ADDRESS:
        return None
    groups: Sequence[str] = parse_qs(query).get("group", ())
    return lambda call: read_changes(call, groups[0] if groups else None)
