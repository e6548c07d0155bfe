"""The declaration of a prompt, which a person can choose in the client."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class PromptLine:
    """A prompt, which is offered only if all tools that it needs are enabled."""

    values: Callable[..., dict[str, str]]
    """Its parameters are the prompt's arguments; it returns the values for the placeholders in ``text``."""
    title: str
    description: str
    text: str
    needs: frozenset[str]
    of_entities: frozenset[str] = frozenset()
    """Arguments for which names of entities are offered."""
