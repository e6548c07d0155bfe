"""Hints of a tool: what to call before and after it, and what to do about its errors. They guide; tiers permit."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphiti_pkm.core.model.access import Tier


@dataclass(frozen=True)
class Hints:
    """What a capability declares of a tool; all names are those of tools."""

    next_actions: tuple[str, ...] = ()
    """What often follows a success, the likeliest first."""
    prerequisites: tuple[str, ...] = ()
    """What should have been called before. One of them is enough; the first that is offered is suggested."""
    error_hints: Mapping[str, str] = field(default_factory=dict)
    """By the reason of an error, or by what is missing: what to do about it."""
    missing: str = ""
    """The key in ``error_hints`` for a call without any of the prerequisites."""

    def __post_init__(self) -> None:
        if bool(self.prerequisites) != (self.missing in self.error_hints):
            raise ValueError("a tool has prerequisites, and a hint for the call without them, or neither")


NO_HINTS = Hints()


@dataclass(frozen=True)
class HintRecord:
    """All that hints say of one tool: what is declared, and what follows from its declaration."""

    prerequisites: tuple[str, ...]
    next_actions: tuple[str, ...]
    permission_level: Tier
    error_hints: Mapping[str, str]
    audit: bool
    """Whether each call leaves a line in the audit log; of other tools only refusals do."""


def search_first(*searches: str, next_actions: tuple[str, ...] = ()) -> Hints:
    """Of a tool that creates entities by their names."""
    return Hints(
        next_actions=next_actions,
        prerequisites=searches,
        missing="no_search_performed",
        error_hints={
            "no_search_performed": "a search shows what is known already, and under which name.",
            "similar_existing": "if it is the same, use the known name or merge the two; if not, relate them.",
        },
    )


def look_first(*reads: str, next_actions: tuple[str, ...] = ()) -> Hints:
    """Of a tool that deletes for good without a preview of its own."""
    return Hints(
        next_actions=next_actions,
        prerequisites=reads,
        missing="not_looked_at",
        error_hints={"not_looked_at": "look at what would go: nothing brings it back."},
    )
