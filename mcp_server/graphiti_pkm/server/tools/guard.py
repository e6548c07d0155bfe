"""Wraps every tool: caller, tier, limits, arguments, and errors as answers whose text was written for a model.

The SDK would prefix the text of exceptions, show pydantic's messages, which quote the input, and turn protocol errors
into something the model never sees. Therefore our tools catch all exceptions and answer with ``is_error``.
"""

import logging
import re
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict
from datetime import UTC, tzinfo
from functools import cached_property
from typing import Any

from mcp.server.context import LifespanContextT, RequestT
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, InstanceOf, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from graphiti_pkm.core.call_time import within
from graphiti_pkm.core.identity.groups import answering
from graphiti_pkm.core.model.access import Caller, Tier
from graphiti_pkm.core.model.requests import Request, without_blanks
from graphiti_pkm.core.progress import Progress, no_progress
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import (
    InvalidInput,
    NotAllowed,
    NotFound,
    PermissionDenied,
    PkmError,
    PrerequisiteSuggested,
)
from graphiti_pkm.server.auth.callers import caller_of, token_of
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.observability.audit import REFUSALS, audit
from graphiti_pkm.server.tools.hints import CONFIRM, Advice, error_hint
from graphiti_pkm.server.tools.registry import known_tools
from graphiti_pkm.server.tools.texts import only_naming
from graphiti_pkm.toolkit.bounds import refuse_too_much, too_long, too_many_characters, too_many_items, with_list_bounds
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.rendering import rendered
from graphiti_pkm.toolkit.schema import Json, answer_schema, tidy_input
from graphiti_pkm.toolkit.tool import ToolSpec

logger = logging.getLogger(__name__)

STATUS = "get_status"
"""The tool that answers in any state of the memory."""
_MOST_PROBLEMS = 5
_LONGEST_NAME = 40
_UNUSED = FuncMetadata(arg_model=ArgModelBase)
"""Placeholder for the SDK's parsing of arguments, which ``GuardedTool.run`` replaces."""
_CONFIRM = {"type": "string", "description": "after PREREQUISITE_SUGGESTED, to go on anyway"}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class GuardedTool(Tool):
    """A tool whose function takes a ``Call`` and returns an answer, or raises a ``PkmError``."""

    spec: InstanceOf[ToolSpec] = Field(exclude=True)
    accepted: Json = Field(exclude=True)
    """The schema of all arguments that are accepted; ``parameters`` shows those that a model may need."""
    read_only_caller: bool = Field(default=False, exclude=True)
    local_tier: Tier = Field(default="curator", exclude=True)
    """Of the local user without a token."""
    zone: InstanceOf[tzinfo] = Field(default=UTC, exclude=True)
    """The zone in which dates without a time of day are read and shown."""
    advice: InstanceOf[Advice] | None = Field(default=None, exclude=True)
    """None: no hints are given."""

    @classmethod
    def build(
        cls,
        spec: ToolSpec,
        describe: Callable[[str], str],
        unshown: Collection[str],
        *,
        read_only_caller: bool,
        advice: Advice | None = None,
    ) -> "GuardedTool":
        """The tool as it is registered; ``describe`` edits each text for the model.

        Fields with one of the marks ``unshown`` are accepted without being in the schema.
        """
        accepted = with_list_bounds(tidy_input(spec.request.model_json_schema(), describe))
        hidden = {name for name, one in spec.request.model_fields.items() if set(unshown) & set(marks_of(one))}
        shown = {name: part for name, part in accepted["properties"].items() if name not in hidden}
        if advice is not None and advice.asks_back(spec):
            shown.setdefault(CONFIRM, dict(_CONFIRM))
        return cls(
            spec=spec,
            accepted=accepted,
            read_only_caller=read_only_caller,
            advice=advice,
            fn=spec.function,
            fn_metadata=_UNUSED,
            is_async=True,
            name=spec.name,
            title=spec.title,
            description=describe(spec.description),
            parameters={**accepted, "properties": shown},
            annotations=ToolAnnotations(title=spec.title, **asdict(spec.annotations)),
        )

    @cached_property
    def output_schema(self) -> Json | None:
        """The schema of the structured content."""
        return answer_schema(self.spec.returns)

    async def run(
        self,
        arguments: Json,
        context: Context[LifespanContextT, RequestT],
        convert_result: bool = False,  # noqa: ARG002  (the SDK passes it; our result is final)
    ) -> CallToolResult:
        """Validate, wait for the services, call, answer; never raises an ``Exception``."""
        request, caller, outcome, answer = context.request_context.request, None, "cancelled", None
        began = time.perf_counter()
        try:
            caller = caller_of(request, read_only=self.read_only_caller, tier=self.local_tier)
            result = await self._called(caller, arguments, context)
        except NotAllowed as error:
            outcome = error.code
            return error_result(self.spec.failure + error.message, error.code)
        else:
            answer = result.structured_content or {}
            outcome = str(answer.get("code", "error")) if result.is_error else "ok"
            return result
        finally:
            if self._writes or outcome in REFUSALS:
                audit(caller, token_of(request), self.name, outcome, arguments, answer, began)

    async def _called(
        self, caller: Caller, arguments: Json, context: Context[LifespanContextT, RequestT]
    ) -> CallToolResult:
        backend = backend_of(context)
        request, advice, missing = context.request_context.request, self.advice, None
        try:
            self._check_permission(caller)
            backend.limits.check(caller, arguments, writes=self._writes)
            if advice is not None:
                missing = advice.missing(self.spec, caller, request)
                if advice.asks_back(self.spec):
                    arguments = await self._released(advice, backend, caller, arguments, missing)
            result = None
            if backend.owners is not None:
                self.validated(arguments)
                result = await backend.owners.pass_on(self.name, caller, arguments)
        except PkmError as error:
            return self._error(error, backend.message(error, caller))
        if result is None:
            result = await self.answer(backend, caller, arguments, context.report_progress)
        return result if advice is None else advice.advised(self.spec, caller, request, result, missing)

    async def _released(
        self, advice: Advice, backend: Backend, caller: Caller, arguments: Json, missing: str | None
    ) -> Json:
        """The arguments of a call that need not wait for a confirmation, or has it."""
        has_own = CONFIRM in self.accepted["properties"]
        self.validated({name: value for name, value in arguments.items() if has_own or name != CONFIRM})
        services = await backend.services()
        return advice.released(self.spec, caller, arguments, missing, services.signer)

    async def answer(
        self, backend: Backend, caller: Caller, arguments: Json, progress: Progress = no_progress
    ) -> CallToolResult:
        """Answer a call that is permitted; never raises an ``Exception``."""
        caller = caller.model_copy(update={"needs": self.spec.tier})
        try:
            asked = self.validated(arguments)
            try:
                services = await backend.services()
                if self.name != STATUS:
                    await services.wait_until_rebuilt()
            except PkmError as error:
                return error_result(backend.message(error, caller), error.code)
            with answering(caller):
                work = self.spec.function(Call(services, caller, progress), asked)
                answer = await within(backend.limits.seconds, work, self._undone())
            data, text = await in_thread(rendered, answer, self.zone)
            return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data)
        except PkmError as error:
            return self._error(error, backend.message(error, caller) + self._closed_to(caller, error))
        except Exception:  # the outermost handler: the text of an unexpected error may contain content
            logger.exception("%s failed unexpectedly", self.name)
            return error_result(self.spec.failure + self._unexpected(), "internal")

    def _error(self, error: PkmError, message: str) -> CallToolResult:
        message = self.spec.failure + message + self._nothing_stored_note(error)
        if isinstance(error, PermissionDenied):
            return _typed_error("PERMISSION_DENIED", message, error.code, hint=error.hint)
        if isinstance(error, PrerequisiteSuggested):
            more = {"can_proceed": True, CONFIRM: error.confirm}
            return _typed_error("PREREQUISITE_SUGGESTED", message, error.code, hint=error.hint, **more)
        hint = error_hint(self.spec, error) if self.advice is not None else None
        return error_result(message, error.code, **({"hint": hint} if hint else {}))

    def _check_permission(self, caller: Caller) -> None:
        if not caller.may(self.spec.tier):
            raise PermissionDenied(
                f"PERMISSION_DENIED: {self.name} needs a token of tier {self.spec.tier} or above, and this one's is "
                f"{caller.tier}. Nothing was changed. Do not try again; tell the user that whoever runs the server can "
                "give them such a token."
                if caller.token is not None
                else f"PERMISSION_DENIED: {self.name} needs tier {self.spec.tier} or above, and the setting tier of "
                f"this server is {caller.tier}. Nothing was changed. Do not try again.",
                f"{self.name} needs tier {self.spec.tier}, and yours is {caller.tier}.",
            )
        if caller.read_only and self._writes:
            raise NotAllowed(f"You may only read here, and {self.name} changes the memory. Nothing was changed.")

    @property
    def _writes(self) -> bool:
        return self.spec.writes

    def _closed_to(self, caller: Caller, error: PkmError) -> str:
        """After something was not found: where it would not have been found if it is there."""
        closed = [one for one in caller.shared if not one.may(caller.needs)] if isinstance(error, NotFound) else []
        if not closed:
            return ""
        names = ", ".join(sorted({f"{one.memory} ({one.tier})" for one in closed}))
        return f" {self.name} needs tier {caller.needs}, so it finds nothing in the shared memory {names}."

    def _nothing_stored_note(self, error: PkmError) -> str:
        """A note that nothing was stored, for tools that add something, unless the error's message says so."""
        adds = self._writes and not self.spec.annotations.destructive_hint
        told = "othing was stored" in error.message
        return " Nothing was stored." if adds and isinstance(error, InvalidInput) and not told else ""

    def _undone(self) -> str:
        """The effects of a call that was stopped before it committed to the journal, and what to do."""
        if not self._writes:
            return "Ask for less at once: fewer names or groups, a smaller limit, a shorter text."
        if self.spec.shown_by == "get_episodes":  # these tools write only through the journal
            return "Nothing was changed. Send less at once, in several calls."
        return f"It may or may not have taken effect: look with {self.spec.shown_by} before sending it again."

    def _unexpected(self) -> str:
        unknown = f" It may or may not have been stored: look with {self.spec.shown_by} before sending it again."
        return "An unexpected error; the server's log has the details." + (unknown if self._writes else "")

    def validated(self, arguments: Json) -> Request:
        """The request for the tool's function. Raises InvalidInput."""
        model = self.spec.request
        given = without_blanks(arguments, model)
        refuse_too_much(given, " Nothing was stored." if self._writes else "")
        unknown = next((name for name in given if name not in self.accepted["properties"]), None)
        if unknown is not None:
            takes = self.parameters["properties"]
            meant = f", but {near}" if (near := _other_number(unknown, takes)) else ""
            raise self._refused(f"{self.name} has no parameter {_shown(unknown)}{meant}; it takes {_listed(takes)}")
        self._refuse_unstorable(given)
        try:
            asked = model.model_validate(given)
        except ValidationError as error:
            raise self._refused(explain(error, self.accepted)) from None
        read = asked.model_dump()  # check again, because lists may have been sent as JSON strings
        refuse_too_much(read, " Nothing was stored." if self._writes else "")
        if (reason := too_long(read, self.accepted)) is not None:
            raise self._refused(reason)
        self._refuse_unstorable(read)
        return model.model_construct(**without_blanks(dict(asked), model))  # remove blanks again: "[]" is empty

    def _refuse_unstorable(self, arguments: Json) -> None:
        for name, value in arguments.items():
            if _unstorable(value):
                raise self._refused(f"{name} holds a NUL or half a surrogate pair, which no text can; send it without")

    def _refused(self, reason: str) -> InvalidInput:
        return InvalidInput(f"Bad arguments: {reason}.{' Nothing was stored.' if self._writes else ''}")


def guarded(
    tool: ToolSpec,
    *,
    enabled: Collection[str] | None = None,
    unshown: Collection[str] = (),
    read_only_caller: bool = False,
    zone: tzinfo = UTC,
    local_tier: Tier = "curator",
    advice: Advice | None = None,
) -> GuardedTool:
    """The tool as the server registers it; its texts name only ``enabled`` tools (None: all are enabled).

    ``unshown``: marks of the fields that are left out of the schema; ``zone``: of the dates in the text of answers;
    ``local_tier``: of the local user without a token; ``advice``: the hints, None without.
    """
    names = known_tools() if enabled is None else enabled
    built = GuardedTool.build(
        tool,
        lambda text: only_naming(text, known_tools(), names),
        unshown,
        read_only_caller=read_only_caller,
        advice=advice,
    )
    return built.model_copy(update={"zone": zone, "local_tier": local_tier})


def marks_of(field: FieldInfo) -> list[str]:
    """The marks of a field of a request, which are texts among its metadata."""
    return [mark for mark in field.metadata if isinstance(mark, str)]


def error_result(message: str, code: str, **more: object) -> CallToolResult:
    """An error that the model sees in both versions of the protocol."""
    return CallToolResult(
        content=[TextContent(type="text", text=message)],
        structured_content={"error": message, "code": code, **more},
        is_error=True,
    )


def _typed_error(error: str, message: str, code: str, **more: object) -> CallToolResult:
    """An error whose ``error`` is a word that programs look for."""
    result = error_result(message, code, **more)
    content = result.structured_content or {}
    return result.model_copy(update={"structured_content": {**content, "error": error, "message": message}})


def backend_of(context: Context[Any, Any]) -> Backend:
    """The backend, which the lifespan of the server provides."""
    backend = context.request_context.lifespan_context
    assert isinstance(backend, Backend)  # noqa: S101  (server/app.py gives every server this lifespan)
    return backend


def explain(error: ValidationError, schema: Json) -> str:
    """Describe which parameters are wrong and what they accept, without quoting what was sent."""
    problems: dict[str, str] = {}
    for problem in error.errors(include_url=False):
        where, accepted = _locate(problem["loc"], schema)
        if any(where.startswith(f"{known}[") for known in problems):
            continue  # another branch of a union that is already reported
        if problem["type"] == "missing":
            problems.setdefault(where, f"{where} is missing; it takes {_accepts(accepted)}")
        elif problem["type"] == "extra_forbidden":
            parent = _locate(problem["loc"][:-1], schema)[1]
            problems.setdefault(where, f"{where} is unknown; the fields are {_listed(parent.get('properties', {}))}")
        else:
            problems.setdefault(where, _beyond(where, problem) or f"{where} must be {_accepts(accepted)}")
    told = list(problems.values())
    more = f"; and {len(told) - _MOST_PROBLEMS} more" if len(told) > _MOST_PROBLEMS else ""
    return "; ".join(told[:_MOST_PROBLEMS]) + more


def _beyond(where: str, problem: ErrorDetails) -> str | None:
    """Describe a value that exceeds its maximum; None for other problems."""
    if problem["type"] not in {"too_long", "string_too_long"}:
        return None
    came, most = len(problem["input"]), problem["ctx"]["max_length"]
    return (
        too_many_characters(where, came, most)
        if problem["type"] == "string_too_long"
        else too_many_items(where, came, most)
    )


def _locate(loc: Iterable[int | str], schema: Json) -> tuple[str, Json]:
    """A location in the arguments, such as facts[0].relation, and its schema; branches of unions are skipped."""
    where, node = "", schema
    for part in loc:
        if isinstance(part, int):
            where += f"[{part}]"
            node = node.get("items", {})
        elif "properties" in node:
            where += ("." if where else "") + (_shown(part))
            node = node["properties"].get(part, {})
    return where, node


def _accepts(node: Json) -> str:
    """Describe what a schema accepts."""
    if "enum" in node:
        words = "one of " + ", ".join(str(value) for value in node["enum"])
    elif node.get("type") == "array":
        words = f"a list of {'objects' if 'properties' in node.get('items', {}) else 'texts'}"
        words += f" (at most {node['maxItems']})" if "maxItems" in node else ""
    elif "properties" in node:
        words = f"an object with {_listed(node['properties'])}"
    else:
        kinds = {"string": "a text", "integer": "an integer", "number": "a number", "boolean": "true or false"}
        words = kinds.get(node.get("type", ""), "a text")
        if "minimum" in node and "maximum" in node:
            words += f" from {node['minimum']} to {node['maximum']}"
        elif "minimum" in node:
            words += f" of at least {node['minimum']}"
        if "maxLength" in node:
            words += f" of at most {node['maxLength']} characters"
        if node.get("minLength"):
            words += ", not empty"
    if "default" in node:
        words += f" (default {node['default']})"
    return words + (f" ({node['description']})" if "description" in node else "")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


def _other_number(name: str, names: Iterable[str]) -> str | None:
    """The name that differs only by being singular or plural, as group_id and group_ids do."""
    return next((one for one in names if one in (f"{name}s", name.removesuffix("s"))), None)


def _shown(name: str) -> str:
    """An unknown parameter name, if it is a short identifier; anything else may be content."""
    return name if name.isidentifier() and len(name) <= _LONGEST_NAME else "of that name"


def _unstorable(value: object) -> bool:
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is not None
    if isinstance(value, dict):
        return any(_unstorable(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(_unstorable(part) for part in value)
