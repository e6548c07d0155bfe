"""Answers of the tools that load, commit, save and open scratch graphs."""

from typing import Literal

from graphiti_pkm.core.model.answers import Answer, Attention, Scope
from graphiti_pkm.core.model.records import FactKind


class Beyond(Answer):
    label: str
    """A loaded entity."""
    facts: int
    """Its facts with entities that were not loaded."""


class LoadMemoryResponse(Answer):
    message: str
    graph: str
    nodes_added: int
    """Loaded entities that the graph did not have."""
    edges_added: int
    entities_loaded: int
    facts_loaded: int
    """Facts with the same entities and relation are one edge."""
    node_count: int
    """The number of nodes of the graph after the load."""
    edge_count: int
    starts: list[str]
    """Labels of the entities from which the load started (at most 50)."""
    truncated: bool
    nodes_left_out: int | None = None
    """Nodes of the last searched ring that were left out; farther nodes were not counted."""
    facts_left_out: int | None = None
    beyond: list[Beyond] | None = None
    """The loaded entities with most facts that lead out of the graph (at most 20)."""
    beyond_total: int | None = None
    """Entities next to the loaded ones that were not loaded."""
    events_left_out: int | None = None
    """Events, plans and readings among the loaded entities, which as_of leaves out."""
    renamed: list[str] | None = None
    """Labels that differ from the entity's name because another entity has the same (at most 20)."""
    scope: Scope


class CommittedNode(Answer):
    label: str
    outcome: Literal["created", "matched"]
    name: str | None = None
    """The entity's name in memory, if it differs."""


class CommittedEdge(Answer):
    source: str
    relation: str
    """The relation in the spelling of memory."""
    target: str
    outcome: Literal["created", "updated", "known"]
    """known: memory already has it, and nothing is written."""
    interval: str | None = None
    sentence: str | None = None
    """The sentence for the episode; None for a known edge."""
    kind: FactKind | None = None
    """The kind of the fact; None for a state."""
    value: str | None = None
    """The value with its unit."""
    note: str | None = None
    """Which part of it memory does not store."""


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
    """Edges that came from memory and are unchanged since; they are not considered."""
    nodes: list[CommittedNode]
    """Of a preview; a commit does not repeat them."""
    edges: list[CommittedEdge]
    """Of a preview; after a commit only those with a note."""
    left_out: list[LeftOut]
    """What memory cannot store, with reasons."""
    needs_attention: list[Attention]
    ends: list[str] | None = None
    """Existing facts that the new ones end, e.g. an earlier status (at most 20)."""
    episode: str | None = None
    """The name of the episode that is their source."""
    episode_uuid: str | None = None


class SaveGraphResponse(Answer):
    message: str
    name: str
    node_count: int
    edge_count: int
    replaced: bool
    """Whether an earlier graph of this name was replaced."""


class OpenGraphResponse(Answer):
    message: str
    graph: str
    nodes_added: int
    edges_added: int
    node_count: int
    edge_count: int
    saved_at: str
