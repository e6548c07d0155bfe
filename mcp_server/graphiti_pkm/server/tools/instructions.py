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
            'get_entity_connections(entity_uuid=nodes[0]["uuid"])',
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
        "Project (for each database found)",
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
            'get_entity_connections(entity_uuid=nodes[0]["uuid"])  # work, sleep, coffee',
            'get_entity_timeline(entity_uuid=nodes[0]["uuid"])  # more each month',
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
    "A temporal memory. Episodes: what was said, word for word. Nodes: entities of any kind: people, projects, "
    "decisions, feelings. Facts: relations between two entities, with the times they hold."
)

_ADDING = """\
# Search first, then add
However trivial the note; it then joins what is known.
1. search_nodes(names=[...]) for the names in it.
2. For those found, get_entity_connections, perhaps get_entity_timeline.
3. add_memory: body verbatim, naming the entities found, with entities and facts. Only needs_attention \
calls for action."""

_ANSWERING = """\
# Answering
1. search_nodes on the key words.
2. get_entity_connections and get_entity_timeline of those that matter.
3. search_memory_facts for a detail, search_episodes for the words.
4. Answer from the complete data: repeat get_entity_connections or get_entity_timeline with next_cursor while \
truncated; of a ranked search page one is usually enough. Say how things changed."""

_CHOOSING = """\
# Which tool
- search_nodes: find entities and their uuids
- get_entity_connections: all relationships of one entity, complete
- get_entity_timeline: all episodes of one entity, chronological
- search_memory_facts: one specific question; ranked by the query, may miss; without one all under its filters
- search_episodes: what was literally said, also without an entity
- get_fact_sources: the words behind a fact
- find_entity_path: how two entities are connected
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
- me is the user.
- kind: state (holds for a time) | event (an instant) | plan (decided or expected, not true yet) | reading (measure, \
value, unit; also feelings and moods). Amounts, dates, frequencies of a state go in value.
- replaces ends what was true: the old target, value, uuid, or current; change=corrected if never true.
- valid_at only if the note says when.
- "Do not keep this": leave the words out of the body, with [left out] in their place.
- HAS_STATUS takes the note's own word as value (accepted, paused, ...) and ends the status before.
- HAS_GOAL: deadline as value ("by May"). HAS_STATUS (reached, dropped) of its target ends it; readings of it have \
this target.
- Preferred relations: {", ".join(RELATIONS)}. "We decided": me DECIDED it. Decisions: DECIDED_BY, \
AMENDS, SUPERSEDES, HAS_OPTION, HAS_CONSEQUENCE."""

_TIME = """\
# Notes
- group_id, group_ids: separate namespaces.
- valid_at, invalid_at: when it held in the world; created_at, expired_at: when it was recorded. An ended fact stays.
- as_of: what held then; known_at: what the memory said then.
- What add_memory acknowledged is stored and found at once."""

_CLASSIC = """\
# Entities by name
- search_memories: entities by keywords, with the relations among them
- find_memories_by_name: entities of exactly these names
- create_entities, create_relations, add_observations: what nobody said in so many words; nothing is guessed or ends
- There is no read_graph: search_memories finds by keywords. find_memories_by_name gets known names. \
get_entity_connections lists all of one entity."""

_REFERENCE = """\
# Entities by name
- search_nodes: entities that hold one text in name, type or an observation
- open_nodes: entities of exactly these names
- create_entities before create_relations and add_observations, which need known names
- There is no read_graph: search_nodes finds by a word. open_nodes gets known names."""

_SCRATCH = """\
# Scratch graphs
- For relations under study (X needs, cites or causes Y): add_nodes and add_edges by natural labels, then ask the \
graph instead of working it out. graph names one of several, \
relation keeps to its edges; near labels match for reading.
- They are not memory and go when unused; list_graphs finds them again; commit_graph writes what is worth keeping to \
memory, previewed first."""


READ_GRAPH = "read_graph"
"""A tool of other memory servers, which models call by habit; it returned everything, without a bound."""
INSTEAD_OF_READ_GRAPH = """\
There is no read_graph: a whole memory does not fit into an answer.
- search_nodes finds by words, with a limit.
- search_memories finds by words, with a limit.
- find_memories_by_name gets known names.
- open_nodes gets known names.
- get_entity_connections lists everything about one entity, in pages.
- get_entity_timeline lists all that was said of it, in pages."""


def build_instructions(enabled: Collection[str]) -> str:
    """The instruction text for the enabled tools, without the parts that need other tools."""
    known = known_tools()
    writes = "add_memory" in enabled
    searches = "search_nodes" in enabled
    if "open_nodes" in enabled and not writes:  # its search_nodes is another tool than that of memory
        return "\n\n".join((_ABOUT, only_naming(_REFERENCE, known, enabled)))
    parts = [
        _ABOUT,
        _ADDING if writes and searches else "",
        _ANSWERING if searches else "",
        _CHOOSING,
        _WRITING if writes else "",
        _TIME,
        _CLASSIC if "search_memories" in enabled else "",
        _SCRATCH if "add_nodes" in enabled else "",
        _examples(enabled),
    ]
    cut = (only_naming(part, known, enabled) for part in parts)
    return "\n\n".join(part for part in cut if "\n" in part or part == _ABOUT)


def _examples(enabled: Collection[str]) -> str:
    shown = [example for example in EXAMPLES if example.needs <= set(enabled)]
    return "\n".join(["# Examples", *(line for example in shown for line in (example.title, *example.steps))])
