"""Prompts a person can pick in the client."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Annotated, cast

from mcp.server.mcpserver.prompts import Prompt
from pydantic import Field

from graphiti_pkm.server.tools.registry import known_tools
from graphiti_pkm.server.tools.texts import only_naming

_JOURNAL = """\
Let us have a journal session{about}.
1. Ask me one open question at a time, and listen; three to five questions are enough.
2. When I name people, places, feelings or plans, look them up with search_nodes.
3. Call get_entity_timeline for what comes up again, and tell me how it changed.
4. At the end store my own words, verbatim, with add_memory: me as the source of what is about me, feelings and \
measures as readings, plans as plans, and replaces for what is no longer so.
5. Settle needs_attention, asking me where only I can know. Then tell me in two sentences what you stored."""

_DECISION = """\
Record this decision: {decision}
1. search_nodes(names=[...]) for the systems, people and earlier decisions in it.
2. get_entity_connections for each one found. Tell me which earlier decision this one changes, if any.
3. Ask me only for what is missing of: context, alternatives, reason, consequences, status, date.
4. Store it with one add_memory: my text verbatim, the decision as an entity of type Decision, facts with a \
quote each; kind plan while it is only proposed; SUPERSEDES or REFINES to an earlier decision; replaces for each state \
it ends.
5. Settle needs_attention, then show what holds now and what was retired."""

_REVIEW = """\
Tell me everything you remember about {name}.
1. search_nodes(names=["{name}"]); if several fit, ask me which.
2. get_entity_connections, all pages.
3. get_entity_timeline, for first and last mention and how often.
4. Sum up: what holds now, what ended and when, what is planned, how it developed, with dates. Point out what \
contradicts itself or looks outdated.
5. Ask me what to correct, and store my answers with add_memory and replaces."""


@dataclass(frozen=True)
class PromptLine:
    """One prompt; it is offered only if all tools it needs are switched on."""

    values: Callable[..., dict[str, str]]
    """Its parameters are the prompt's arguments; it gives what stands in the braces of ``text``."""
    title: str
    description: str
    text: str
    needs: frozenset[str]


def journal_session(topic: Annotated[str, Field(description="what it is about, e.g. work")] = "") -> dict[str, str]:
    """Ask, listen, look back, store."""
    return {"about": f" about {topic}" if topic else ""}


def record_decision(decision: Annotated[str, Field(description="the decision, in your own words")]) -> dict[str, str]:
    """Look up what it changes, ask for what is missing, store."""
    return {"decision": decision}


def review_entity(name: Annotated[str, Field(description="person, project or thing")]) -> dict[str, str]:
    """Everything about one entity, summed up, then corrected."""
    return {"name": name}


PROMPTS = (
    PromptLine(
        journal_session,
        "Journal Session",
        "Talk, look back, and keep what was said.",
        _JOURNAL,
        frozenset({"search_nodes", "add_memory"}),
    ),
    PromptLine(
        record_decision,
        "Record Decision",
        "Store a decision with its reasons and what it replaces.",
        _DECISION,
        frozenset({"search_nodes", "get_entity_connections", "add_memory"}),
    ),
    PromptLine(
        review_entity,
        "Review Entity",
        "Everything known about one entity, and what to correct.",
        _REVIEW,
        frozenset({"search_nodes", "get_entity_connections"}),
    ),
)


def build_prompts(enabled: Collection[str]) -> list[Prompt]:
    """The prompts that the tools can serve."""
    return [_build(line, enabled) for line in PROMPTS if line.needs <= set(enabled)]


def _build(line: PromptLine, enabled: Collection[str]) -> Prompt:
    prompt = Prompt.from_function(line.values, title=line.title, description=line.description)
    text = only_naming(line.text, known_tools(), enabled)
    values = prompt.fn

    def render(**arguments: str) -> str:
        return text.format(**cast("dict[str, str]", values(**arguments)))

    prompt.fn = render
    return prompt
