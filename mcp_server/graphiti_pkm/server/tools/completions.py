"""Completions: what a client offers while a person types an argument of a prompt or of a resource template."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, TypeAlias

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CompleteRequestParams, CompleteResult, Completion, PromptReference

from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.core.reading.paging import MOST_OFFERED
from graphiti_pkm.errors import InvalidInput, NotAllowed, PkmError
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.tools.prompts import PROMPTS
from graphiti_pkm.server.tools.resources import ENTITY, EPISODE, read_for
from graphiti_pkm.toolkit.call import Call

METHOD = "completion/complete"
FAILED = -32_000
"""A code that JSON-RPC reserves for servers."""

Source: TypeAlias = Callable[[Call, str], Awaitable[list[str]]]
"""What is offered to a caller for a text."""


def _name(call: Call, typed: str) -> Awaitable[list[str]]:
    return call.services[EXPLORING].complete_name(call.caller, typed)


def _entity(call: Call, typed: str) -> Awaitable[list[str]]:
    return call.services[EXPLORING].complete_entity(call.caller, typed)


def _episode(call: Call, typed: str) -> Awaitable[list[str]]:
    return call.services[EXPLORING].complete_episode(call.caller, typed)


_OF_PROMPTS: Mapping[str, Mapping[str, Source]] = {
    line.values.__name__: dict.fromkeys(line.of_entities, _name) for line in PROMPTS
}
_OF_TEMPLATES: Mapping[str, Mapping[str, Source]] = {ENTITY: {"uuid": _entity}, EPISODE: {"uuid": _episode}}


class Completions:
    """Answers ``completion/complete``. What is offered is only what the caller may see."""

    def __init__(
        self,
        prompts_of: Callable[[Any], Collection[str]],
        templates_of: Callable[[Any], Collection[str]],
        *,
        read_only_caller: bool,
    ) -> None:
        """``prompts_of``: the names of the prompts that a request is offered; ``templates_of``: its templates."""
        self._prompts_of = prompts_of
        self._templates_of = templates_of
        self._read_only_caller = read_only_caller

    async def __call__(self, ctx: ServerRequestContext[Backend, Any], params: CompleteRequestParams) -> CompleteResult:
        """Raises MCPError for a prompt or template that does not exist, and for what a caller may not ask."""
        try:
            source = self._source(ctx.request, params)
            if source is None:
                return CompleteResult(completion=Completion(values=[], total=0, has_more=False))
            found = await read_for(
                ctx.lifespan_context,
                ctx.request,
                METHOD,
                lambda call: source(call, params.argument.value),
                read_only_caller=self._read_only_caller,
            )
        except PkmError as error:
            is_callers = isinstance(error, (InvalidInput, NotAllowed))
            raise MCPError(code=INVALID_PARAMS if is_callers else FAILED, message=error.message) from None
        values = found[:MOST_OFFERED]
        return CompleteResult(completion=Completion(values=values, has_more=len(found) >= MOST_OFFERED))

    def _source(self, request: Any, params: CompleteRequestParams) -> Source | None:
        """What is offered for an argument; None for one whose values nobody knows, such as a decision in own words."""
        if isinstance(params.ref, PromptReference):
            named, what = params.ref.name, "prompt"
            known = {name: _OF_PROMPTS[name] for name in self._prompts_of(request)}
        else:
            named, what = params.ref.uri, "resource template"
            known = {uri: _OF_TEMPLATES.get(uri, {}) for uri in self._templates_of(request)}
        if named not in known:
            raise InvalidInput(f"No such {what}. There are: {', '.join(known)}.")
        return known[named].get(params.argument.name)
