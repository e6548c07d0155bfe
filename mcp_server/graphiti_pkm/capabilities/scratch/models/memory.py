"""What is answered about the bridge between scratch graphs and memory, and about saved graphs."""

from typing import Literal

from graphiti_pkm.core.model.answers import Answer, Attention, Scope
from graphiti_pkm.core.model.records import FactKind


class LoadMemoryResponse(Answer):
    message: str
    graph: str
    nodes_added: int
    """Of the entities loaded, those that the graph did not have."""
    edges_added: int
    entities_loaded: int
    facts_loaded: int
    """Facts of one relation between the same two are one edge."""
    node_count: int
    """Of the graph now."""
    edge_count: int
    starts: list[str]
    """Labels of the entities that the walk began with (at most 50)."""
    truncated: bool
    nodes_left_out: int | None = None
    """Of the last ring that was looked at; what lies beyond was not looked for."""
    facts_left_out: int | None = None
    renamed: list[str] | None = None
    """Labels that differ from the name, as another entity has it (at most 20)."""
    scope: Scope


class CommittedNode(Answer):
    label: str
    outcome: Literal["created", "matched"]
    name: str | None = None
    """As memory calls it, if not so."""


class CommittedEdge(Answer):
    source: str
    relation: str
    """As memory spells it."""
    target: str
    outcome: Literal["created", "updated", "known"]
    """known: memory holds it already, and nothing is written."""
    interval: str | None = None
    sentence: str | None = None
    """As the episode is to say it; a known one is not said again."""
    kind: FactKind | None = None
    """If it is no state."""
    value: str | None = None
    """With its unit."""
    note: str | None = None
    """What of it memory does not take."""


class LeftOut(Answer):
    what: str
    """A label, or an edge as "source -relation-> target"."""
    reason: str


class CommitGraphResponse(Answer):
    message: str
    status: Literal["preview", "committed", "nothing"]
    graph: str
    group_id: str
    entities_created: int
    entities_matched: int
    facts_created: int
    facts_updated: int
    facts_known: int
    unchanged: int
    """Edges that came from memory and say what they said then; they are not looked at again."""
    nodes: list[CommittedNode]
    edges: list[CommittedEdge]
    left_out: list[LeftOut]
    """What memory cannot take, and why."""
    needs_attention: list[Attention]
    ends: list[str] | None = None
    """Facts of memory that what is written ends, e.g. another status (at most 20)."""
    episode: str | None = None
    """Name of the episode that says where they came from."""
    episode_uuid: str | None = None


class SaveGraphResponse(Answer):
    message: str
    name: str
    node_count: int
    edge_count: int
    replaced: bool
    """An earlier one of this name is gone."""


class OpenGraphResponse(Answer):
    message: str
    graph: str
    nodes_added: int
    edges_added: int
    node_count: int
    edge_count: int
    saved_at: str
