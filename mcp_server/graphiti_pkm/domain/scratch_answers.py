"""What the tools that make and edit scratch graphs answer: labels, never ids."""

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
