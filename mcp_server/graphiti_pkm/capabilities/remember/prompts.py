"""Prompts that end in something being stored."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.toolkit.prompt import PromptLine

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
quote each; kind plan while it is only proposed; because_of for what follows; SUPERSEDES or AMENDS to an earlier \
decision; replaces for each state it ends.
5. Settle needs_attention, then show what holds now and what was retired."""


def journal_session(topic: Annotated[str, Field(description="what it is about, e.g. work")] = "") -> dict[str, str]:
    """Ask, listen, look back, store."""
    return {"about": f" about {topic}" if topic else ""}


def record_decision(decision: Annotated[str, Field(description="the decision, in your own words")]) -> dict[str, str]:
    """Look up what it changes, ask for what is missing, store."""
    return {"decision": decision}


PROMPTS = (
    PromptLine(
        journal_session,
        "Journal Session",
        "Talk, look back, and keep what was said.",
        _JOURNAL,
        frozenset({"search_nodes", "add_memory"}),
        of_entities=frozenset({"topic"}),
    ),
    PromptLine(
        record_decision,
        "Record Decision",
        "Store a decision with its reasons and what it replaces.",
        _DECISION,
        frozenset({"search_nodes", "get_entity_connections", "add_memory"}),
    ),
)
