"""The instructions that clients give their models about this server, generated for the enabled tools.

Many clients truncate or ignore instructions, so the description of add_memory repeats the main rule. Every
conversation pays for every line, so this text only explains how the tools work together.
"""

from collections.abc import Collection
from dataclasses import dataclass

from graphiti_pkm.server.tools.registry import known_tools
from graphiti_pkm.server.tools.texts import only_naming

RELATIONS = (
    "WORKS_AT",
    "WORKS_ON",
    "MANAGES",
    "KNOWS",
    "LIVES_IN",
    "PART_OF",
    "USES",
    "DEPENDS_ON",
    "DECIDED",
    "CAUSES",
    "HAS_GOAL",
    "HAS_STATUS",
)
"""Preferred relations. REPLACES is not one, because it would be confused with the parameter ``replaces``."""


@dataclass(frozen=True)
class Example:
    """A workflow as complete calls, which tests/protocol executes unchanged."""

    title: str
    steps: tuple[str, ...]
    needs: frozenset[str]


EXAMPLES = (
    Example(
        'Decision (bad: add_memory("We chose PostgreSQL.") alone, an isolated note)',
        (
            'nodes = search_nodes(names=["MySQL"])["nodes"]',
            'get_entity_connections(entity_uuid=nodes[0]["uuid"])  # serves user-service and payment-service',
            (
                'add_memory(episode_body="ADR 9, accepted, supersedes ADR 2: notification-service uses PostgreSQL, not '
                'MySQL like user-service and payment-service: its templates need JSON.", facts=['
                '{"source": "ADR 9", "relation": "HAS_STATUS", "value": "accepted"}, '
                '{"source": "ADR 9", "relation": "SUPERSEDES", "target": "ADR 2"}, '
                '{"source": "ADR 9", "relation": "HAS_OPTION", "target": "MySQL"}, '
                '{"source": "notification-service", "relation": "USES", "target": "PostgreSQL", "because_of": "ADR 9", '
                '"quote": "its templates need JSON"}])'
            ),
        ),
        frozenset({"search_nodes", "get_entity_connections", "add_memory"}),
    ),
    Example(
        "Project (for each database found, then sum up)",
        (
            'nodes = search_nodes(query="database")["nodes"]',
            'get_entity_connections(entity_uuid=nodes[0]["uuid"])',
            'get_entity_timeline(entity_uuid=nodes[0]["uuid"])',
        ),
        frozenset({"search_nodes", "get_entity_connections", "get_entity_timeline"}),
    ),
    Example(
        "Coaching",
        (
            'nodes = search_nodes(names=["stress"])["nodes"]',
            'get_entity_connections(entity_uuid=nodes[0]["uuid"])  # work, sleep, deadlines, coffee',
            'get_entity_timeline(entity_uuid=nodes[0]["uuid"])  # since three months, more each month',
            (
                'add_memory(episode_body="Stress again: the deadline moved to Friday, I slept 5 hours.", facts=['
                '{"source": "launch", "relation": "HAS_DEADLINE", "value": "2026-06-12", "replaces": "current"}, '
                '{"source": "me", "relation": "SLEPT", "kind": "reading", "measure": "sleep", "value": 5, '
                '"unit": "h"}])'
            ),
        ),
        frozenset({"search_nodes", "get_entity_connections", "get_entity_timeline", "add_memory"}),
    ),
)

_ABOUT = (
    "A temporal memory. Episodes: what was said, word for word. Nodes: entities of any kind, such as people, projects, "
    "decisions, feelings. Facts: relations between two entities, with the times they hold."
)

_ADDING = """\
# Search first, then add
However trivial the note; it then joins what is known.
1. search_nodes(names=[...]) for the names in it.
2. For those found, get_entity_connections, perhaps get_entity_timeline.
3. add_memory: body verbatim, naming the entities found, with entities and facts. Act on needs_attention only."""

_ANSWERING = """\
# Answering
1. search_nodes on the key words.
2. get_entity_connections and get_entity_timeline of those that matter.
3. search_memory_facts for a detail, search_episodes for the words.
4. Answer from the complete data: repeat get_entity_connections or get_entity_timeline with next_cursor while \
truncated; a search is ranked, its first page usually does. Say how things changed."""

_CHOOSING = """\
# Which tool
- search_nodes: find entities and their uuids
- get_entity_connections: all relationships of one entity, complete; for patterns and exploration
- get_entity_timeline: all episodes of one entity, chronological
- search_memory_facts: one specific question; ranked by the query, may miss; without one all facts under its filters
- search_episodes: what was literally said, also without an entity
- get_fact_sources: the words behind a fact
- find_entity_path: how two entities hang together
- get_entity_subgraph: what surrounds an entity, at a glance
- what_changed: what was told, ended, corrected or proposed since a date; how a status came about
- retire_fact: end a fact without a note, or accept a proposal
- restore_fact: undo an ending, or reject a proposal
- create_entry: store a text in a project; create_project and list_projects give its project_id
- search_entries_semantic: what was written on a subject, in a project or a period
- get_entry_context: all entries that mention an entity
- get_project_memories: what matters to a project, with what bears on it from elsewhere
- forget: take something out for good, after a preview
- add_memory: store, after searching"""

_WRITING = f"""\
# Facts
- me is the user, as source or target.
- kind: state (holds for a time) | event (an instant) | plan (decided or expected, not yet so) | reading (measure, \
value, unit; also feelings and moods). Amounts, dates, frequencies of a state go in value.
- replaces ends what was so: the old target, value, uuid, or current; change=corrected if it never was so.
- valid_at only if the note says when.
- "Do not keep this": leave the words out of the body, with [left out] in their place.
- HAS_STATUS takes the note's own word as value (accepted, paused, ...) and ends the status before.
- Preferred relations: {", ".join(RELATIONS)}. "We decided": me DECIDED it. Decisions: DECIDED_BY, \
AMENDS, SUPERSEDES, HAS_OPTION, HAS_CONSEQUENCE."""

_TIME = """\
# Notes
- group_id and group_ids keep namespaces apart, everywhere.
- valid_at, invalid_at: when it held in the world; created_at, expired_at: when it was recorded. An ended fact stays.
- as_of: what held then; known_at: what the memory said then.
- What add_memory acknowledged is stored and found at once."""

_SCRATCH = """\
# Scratch graphs
- For relations under study (modules, papers, causes): add_nodes and add_edges by natural labels, then ask the graph \
instead of working it out.
- They are not memory and go when unused; list_graphs finds them again; commit_graph writes what is worth keeping to \
memory, previewed first."""


def build_instructions(enabled: Collection[str]) -> str:
    """The instruction text for the enabled tools, without the parts that need other tools."""
    known = known_tools()
    writes = "add_memory" in enabled
    searches = "search_nodes" in enabled
    parts = [
        _ABOUT,
        _ADDING if writes and searches else "",
        _ANSWERING if searches else "",
        _CHOOSING,
        _WRITING if writes else "",
        _TIME,
        _SCRATCH if "add_nodes" in enabled else "",
        _examples(enabled),
    ]
    cut = (only_naming(part, known, enabled) for part in parts)
    return "\n\n".join(part for part in cut if "\n" in part or part == _ABOUT)


def _examples(enabled: Collection[str]) -> str:
    shown = [example for example in EXAMPLES if example.needs <= set(enabled)]
    return "\n".join(["# Examples", *(line for example in shown for line in (example.title, *example.steps))])
