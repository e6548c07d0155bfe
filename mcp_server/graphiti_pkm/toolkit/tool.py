"""One tool as its capability declares it: its function, how clients show it, what it may do."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcp_types import ToolAnnotations

from graphiti_pkm.core.model.access import Tier

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
# A memory is a closed world; two tools say otherwise because their specification demands it.
READS_OPEN = READS.model_copy(update={"open_world_hint": True})
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
ENDS = ADDS.model_copy(update={"idempotent_hint": True})
DELETES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


@dataclass(frozen=True)
class ToolSpec:
    """A tool function with its title, its annotations, and how its errors begin."""

    function: Callable[..., Any]
    title: str
    annotations: ToolAnnotations = field(default_factory=lambda: READS)
    failure: str = ""
    permitted_to: Tier | None = None
    """The lowest tier that may call it, where this does not follow from what it does."""
    shown_by: str = "get_episodes"
    """The tool that shows what a call stored when its outcome is unknown."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def description(self) -> str:
        """The function's docstring, one line a paragraph."""
        paragraphs = inspect.cleandoc(self.function.__doc__ or "").split("\n\n")
        return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

    @property
    def writes(self) -> bool:
        return not self.annotations.read_only_hint

    @property
    def tier(self) -> Tier:
        """The lowest tier that may call it: a curator deletes for good, a contributor adds, a reader reads."""
        if self.permitted_to is not None:
            return self.permitted_to
        return "curator" if self.annotations.destructive_hint else "contributor" if self.writes else "reader"
