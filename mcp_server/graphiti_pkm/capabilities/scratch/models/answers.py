"""Answers of the tools that make, edit, compare, import and export scratch graphs; nodes are named by labels."""

from typing import ClassVar, Literal

from pydantic import Field

from graphiti_pkm.core.model.answers import Answer


class ScratchGraphView(Answer):
    name: str
    node_count: int
    edge_count: int
    created_at: str
    last_accessed: str
    expires_at: str | None = None
    """When the graph expires if it is not used before."""


class SavedGraphView(Answer):
    name: str
    node_count: int
    edge_count: int
    saved_at: str


class ListGraphsResponse(Answer):
    message: str | None = None
    total: int
    truncated: bool = False
    graphs: list[ScratchGraphView]
    saved: list[SavedGraphView] | None = None
    """Saved graphs, which open_graph opens."""


class DeleteGraphResponse(Answer):
    success: bool
    graph: str
    nodes_deleted: int | None = None
    edges_deleted: int | None = None
    reason: str | None = None
    existing: list[str] | None = None
    """The names of existing graphs, if there is none of this name."""


class MadeGraph(Answer):
    """The part of an answer that says which graph the call made."""

    graph_created: bool | None = None
    """True if the call made the graph."""
    similar_graphs: list[str] | None = None
    """Existing graphs whose names differ only in case, spaces, hyphens and underscores."""


class LabelCandidate(Answer):
    label: str
    similarity: float


class ScratchNodeView(Answer):
    label: str
    type: str | None = None
    properties: dict[str, object] = Field(default_factory=dict)


class AddNodeResponse(MadeGraph):
    node: ScratchNodeView
    created: bool
    conflicts: list[str] | None = None
    """Values that differ from those of the node and were not applied."""
    similar_existing: list[LabelCandidate] = Field(default_factory=list)
    """Other nodes that may be the same; none was used instead."""
    note: str | None = None


class FailedNode(Answer):
    node: str
    reason: str


class SimilarLabels(Answer):
    label: str
    similar_existing: list[LabelCandidate]


class AddNodesResponse(MadeGraph):
    added: int
    existing: int
    failed: list[FailedNode] = Field(default_factory=list)
    failed_total: int | None = None
    """Set if not all failed items are listed."""
    conflicts: list[str] | None = None
    similar_existing: list[SimilarLabels] = Field(default_factory=list)
    """At most 20 added nodes, each with existing nodes that may be the same."""
    note: str | None = None


class NodeMatch(Answer):
    label: str
    similarity: float
    type: str | None = None
    properties: dict[str, object] = Field(default_factory=dict)


class FindNodeResponse(Answer):
    matches: list[NodeMatch]
    message: str | None = None
    note: str | None = None


class RemoveNodeResponse(Answer):
    success: bool
    removed: str
    edges_removed: int


class EdgeEnds(Answer):
    source: str
    target: str
    relation: str


class RenameNodeResponse(Answer):
    label: str
    removed: str
    """The label that no node has any more."""
    edges_moved: list[EdgeEnds]
    edges_moved_total: int


class MergeNodesResponse(RenameNodeResponse):
    edges_met: list[EdgeEnds]
    """Edges that both nodes had; they are one now."""
    edges_met_total: int
    edges_dropped: list[EdgeEnds]
    """Edges between the two nodes."""
    conflicts: list[str]
    """What the other node or edge had otherwise, and was not taken; at most 20."""


class ScratchPage(Answer):
    """The fields that every list of a scratch graph has."""

    total: int
    returned: int
    truncated: bool
    next_cursor: str | None = None


class ListNodesResponse(ScratchPage):
    nodes: list[ScratchNodeView]
    note: str | None = None


class GraphInfoResponse(Answer):
    name: str
    node_count: int
    edge_count: int
    is_directed: bool = True
    density: float
    """The share of possible directed edges that exist, 0 to 1."""
    is_connected: bool
    """Whether it is connected if the direction of edges is ignored."""
    is_dag: bool
    node_types: dict[str, int]
    relation_types: dict[str, int]
    more_types: int | None = None
    more_relations: int | None = None
    created_at: str
    last_accessed: str
    expires_at: str | None = None


class AddEdgeResponse(MadeGraph):
    status: Literal["ambiguous"] | None = None
    """Set if nothing was added because an end is ambiguous."""
    message: str | None = None
    edge: EdgeEnds | None = None
    created: bool | None = None
    changed: bool | None = None
    """Whether an existing edge has other properties now."""
    source_matched: str | None = None
    target_matched: str | None = None
    source_similarity: float | None = None
    """Set only if the label differs from the given one."""
    target_similarity: float | None = None
    source_candidates: list[LabelCandidate] | None = None
    target_candidates: list[LabelCandidate] | None = None
    nodes_created: list[str] | None = None
    similar_existing: list[SimilarLabels] | None = None
    """Existing nodes that may be the same as created ones."""
    note: str | None = None


class FailedEdge(Answer):
    edge: EdgeEnds
    reason: str


class MatchedLabel(Answer):
    text: str
    matched: str
    similarity: float


class AddEdgesResponse(MadeGraph):
    added: int
    existing: int
    changed: int
    """Existing edges that have other properties now."""
    failed: list[FailedEdge] = Field(default_factory=list)
    failed_total: int | None = None
    """Set if not all failed items are listed."""
    nodes_created: int | None = None
    matched: list[MatchedLabel] = Field(default_factory=list)
    """Ends that matched a label which differs in more than case, spaces, hyphens and underscores; at most 50."""
    similar_existing: list[SimilarLabels] = Field(default_factory=list)
    note: str | None = None


class ScratchEdgeView(Answer):
    source: str
    target: str
    relation: str
    properties: dict[str, object] = Field(default_factory=dict)


class FindEdgesResponse(ScratchPage):
    source_matched: str | None = None
    target_matched: str | None = None
    edges: list[ScratchEdgeView]
    note: str | None = None


class RemoveEdgeResponse(Answer):
    success: bool
    edges_removed: int
    source_matched: str
    target_matched: str
    reason: str | None = None


class NeighborView(Answer):
    label: str
    relation: str
    direction: Literal["in", "out"]


class GetNeighborsResponse(ScratchPage):
    matched: str
    similarity: float | None = None
    """Set only if the label differs from the given one."""
    neighbors: list[NeighborView]
    note: str | None = None


class AmbiguousText(Answer):
    text: str
    candidates: list[LabelCandidate]


class ScratchSubgraphResponse(Answer):
    truncated: bool
    nodes: list[ScratchNodeView]
    edges: list[ScratchEdgeView]
    edges_total: int
    not_found: list[str] = Field(default_factory=list)
    ambiguous: list[AmbiguousText] = Field(default_factory=list)
    matched: list[MatchedLabel] = Field(default_factory=list)
    note: str | None = None


class ImportGraphResponse(MadeGraph):
    nodes_added: int
    edges_added: int
    """The number of added edges; nodes and edges that the graph already had are not counted."""
    node_count: int
    """The number of nodes of the graph after the import."""
    edge_count: int
    warnings: list[str] = Field(default_factory=list)
    """What could not be read as written."""


class ExportGraphResponse(Answer):
    """Its text is the whole content, never a part of it."""

    must_not_be_cut: ClassVar[bool] = True

    format: str
    node_count: int
    """The number of nodes in the exported content."""
    edge_count: int
    matched: list[MatchedLabel] = Field(default_factory=list)
    """Items of ``nodes`` that matched a node with another label."""
    content: str | None
    """None for a picture, unless ``max_chars`` was sent."""
    picture: str | None = None
    """The address of an SVG, which the client reads as a resource."""
    png: str | None = None
    """The address of the same picture as PNG, where it can be rendered."""
    width: int | None = None
    """Of the picture, in pixels."""
    height: int | None = None
    bytes: int | None = None
    """Of the SVG."""
    message: str | None = None
    warnings: list[str] = Field(default_factory=list)
    """What the format cannot represent, and what ``rank`` and ``reduce`` left out."""


class DrawnGraph(Answer):
    """The content of a resource."""

    svg: str | None = None
    png: str | None = None
    """In base64."""


class ComparedNode(Answer):
    label: str
    type: str | None = None


class Difference(Answer):
    name: str
    """The name of the property; ``type`` is the type of a node, ``properties.type`` a property of that name."""
    value: object = None
    """The value in ``graph``: null if missing, shortened if long."""
    other_value: object = None


class ChangedNode(Answer):
    label: str
    differences: list[Difference]
    more_differences: int | None = None


class ChangedEdge(EdgeEnds):
    differences: list[Difference]
    more_differences: int | None = None


class ComparisonCounts(Answer):
    in_both: int
    only_in_graph: int
    only_in_other: int
    changed: int
    """The number of nodes in both graphs with different types or properties."""


class CompareGraphsResponse(Answer):
    graph: str
    other: str
    equal: bool
    truncated: bool
    """Whether any list is incomplete."""
    node_counts: ComparisonCounts
    edge_counts: ComparisonCounts
    cannot_know: list[str] | None = None
    """What only one graph has, and the other may only not have loaded; it is in no list and no count."""
    nodes_only_in_graph: list[ComparedNode]
    nodes_only_in_other: list[ComparedNode]
    nodes_changed: list[ChangedNode]
    edges_only_in_graph: list[EdgeEnds]
    edges_only_in_other: list[EdgeEnds]
    edges_changed: list[ChangedEdge]
