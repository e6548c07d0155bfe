"""The declaration of a tool: its function, how clients show it, what it may do."""

import inspect
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, TypeAlias, get_type_hints

from graphiti_pkm.core.model.access import Tier
from graphiti_pkm.core.model.answers import Answer
from graphiti_pkm.core.model.requests import Request
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.hints import NO_HINTS, HintRecord, Hints


@dataclass(frozen=True)
class Annotations:
    """The hints of MCP about what a tool does, in its words; without importing MCP, which most commands do not need."""

    read_only_hint: bool
    destructive_hint: bool
    idempotent_hint: bool
    open_world_hint: bool


READS = Annotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
# A memory is a closed world. Two tools declare the opposite because their specification requires it.
READS_OPEN = replace(READS, open_world_hint=True)
ADDS = Annotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
WRITES_IDEMPOTENT = replace(ADDS, idempotent_hint=True)
DELETES = Annotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

ToolFunction: TypeAlias = Callable[[Call, Any], Coroutine[Any, Any, Answer]]
"""``async def tool(call: Call, request: ARequest) -> AnAnswer``: its annotations declare request and answer."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool function with its title, its annotations, and the beginning of its error messages."""

    function: ToolFunction
    title: str
    annotations: Annotations = READS
    failure: str = ""
    permitted_to: Tier | None = None
    """The lowest tier that may call it, if the annotations do not imply it."""
    shown_by: str = "get_episodes"
    """The tool that shows what a call stored when its outcome is unknown."""
    hints: Hints = NO_HINTS
    """What to call before and after it."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def description(self) -> str:
        """The function's docstring with one line per paragraph."""
        paragraphs = inspect.cleandoc(self.function.__doc__ or "").split("\n\n")
        return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

    @property
    def request(self) -> type[Request]:
        """The request model of the function; its fields are the parameters of the tool."""
        declared: type[Request] = self._declared["request"]
        return declared

    @property
    def returns(self) -> type[Answer]:
        """The answer model of the function; its fields are those of the structured content."""
        declared: type[Answer] = self._declared["return"]
        return declared

    @cached_property
    def _declared(self) -> dict[str, Any]:
        """The annotations of the function.

        A module of tools that are not always offered names the modules of its requests and answers in ``TYPES``, and
        they are imported here: most of their time at a start would be for tools that nobody is offered.
        """
        named: dict[str, Any] = {}
        for module in self.function.__globals__.get("TYPES", ()):
            named |= vars(import_module(module))
        return get_type_hints(self.function, localns=named)

    @property
    def writes(self) -> bool:
        return not self.annotations.read_only_hint

    @property
    def tier(self) -> Tier:
        """The lowest tier that may call it: curators delete permanently, contributors add, readers read."""
        if self.permitted_to is not None:
            return self.permitted_to
        return "curator" if self.annotations.destructive_hint else "contributor" if self.writes else "reader"

    @property
    def hint_record(self) -> HintRecord:
        """The record of its hints."""
        declared = self.hints
        return HintRecord(
            declared.prerequisites, declared.next_actions, self.tier, declared.error_hints, audit=self.writes
        )
