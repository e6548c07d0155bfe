"""A prompt as a capability declares it: what a person can pick in the client."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class PromptLine:
    """One prompt; it is offered only if all tools it needs are switched on."""

    values: Callable[..., dict[str, str]]
    """Its parameters are the prompt's arguments; it gives what stands in the braces of ``text``."""
    title: str
    description: str
    text: str
    needs: frozenset[str]
