"""What the tools that make and edit scratch graphs answer: labels, never ids."""

from pydantic import Field

from graphiti_pkm.domain.answers import Answer


class ScratchGraphView(Answer):
    name: str
    node_count: int
    edge_count: int
    created_at: str
    last_accessed: str
    expires_at: str | None = None
    """When it goes if nobody uses it until then."""


class ListGraphsResponse(Answer):
    message: str | None = None
    total: int
    truncated: bool = False
    graphs: list[ScratchGraphView]


class DeleteGraphResponse(Answer):
    success: bool
    graph: str
    nodes_deleted: int | None = None
    edges_deleted: int | None = None
    reason: str | None = None
    existing: list[str] | None = None
    """Names of the graphs that there are, if there is none of this name."""


class LabelCandidate(Answer):
    label: str
    similarity: float


class ScratchNodeView(Answer):
    label: str
    type: str | None = None
    properties: dict[str, object] = Field(default_factory=dict)


class AddNodeResponse(Answer):
    node: ScratchNodeView
    created: bool
    conflicts: list[str] | None = None
    """What the node had otherwise and kept."""
    similar_existing: list[LabelCandidate] = Field(default_factory=list)
    """Other nodes that may be what was meant; none was used instead."""
    note: str | None = None


class FailedNode(Answer):
    node: str
    reason: str


class SimilarLabels(Answer):
    label: str
    similar_existing: list[LabelCandidate]


class AddNodesResponse(Answer):
    added: int
    existing: int
    failed: list[FailedNode] = Field(default_factory=list)
    failed_total: int | None = None
    """Only if more failed than are listed."""
    conflicts: list[str] | None = None
    similar_existing: list[SimilarLabels] = Field(default_factory=list)
    """At most 20 of the added nodes, each with what was there before and may be the same."""
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


class ScratchPage(Answer):
    """What every list of a scratch graph comes with."""

    total: int
    returned: int
    truncated: bool
    next_cursor: str | None = None


class ListNodesResponse(ScratchPage):
    nodes: list[ScratchNodeView]


class GraphInfoResponse(Answer):
    name: str
    node_count: int
    edge_count: int
    is_directed: bool = True
    density: float
    """Of the edges that could be between two nodes in a direction, how many are; 0 to 1."""
    is_connected: bool
    """Whichever way edges point."""
    is_dag: bool
    node_types: dict[str, int]
    relation_types: dict[str, int]
    more_types: int | None = None
    more_relations: int | None = None
    created_at: str
    last_accessed: str
    expires_at: str | None = None
