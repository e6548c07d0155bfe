"""A prompt that goes through all that is known of one entity."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.toolkit.prompt import PromptLine

_REVIEW = """\
Tell me everything you remember about {name}.
1. search_nodes(names=["{name}"]); if several fit, ask me which.
2. get_entity_connections, all pages.
3. get_entity_timeline, for first and last mention and how often.
4. Sum up: what holds now, what ended and when, what is planned, how it developed, with dates. Point out what \
contradicts itself or looks outdated.
5. Ask me what to correct, and store my answers with add_memory and replaces."""


def review_entity(name: Annotated[str, Field(description="person, project or thing")]) -> dict[str, str]:
    """Everything about one entity, summed up, then corrected."""
    return {"name": name}


PROMPTS = (
    PromptLine(
        review_entity,
        "Review Entity",
        "Everything known about one entity, and what to correct.",
        _REVIEW,
        frozenset({"search_nodes", "get_entity_connections"}),
        of_entities=frozenset({"name"}),
    ),
)
