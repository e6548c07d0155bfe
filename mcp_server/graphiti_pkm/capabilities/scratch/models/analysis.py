"""Answers of the tools that analyse scratch graphs; nodes are named by labels."""

from pydantic import Field

from graphiti_pkm.core.model.answers import Answer


class Ranking(Answer):
    label: str
    score: float


class DegreeRanking(Answer):
    label: str
    in_degree: int
    out_degree: int
    total: int


class LabelPair(Answer):
    source: str
    target: str


class RelationEdge(LabelPair):
    relation: str


class MatchedEnds(Answer):
    """Which nodes the source and target of the question were taken for."""

    source_matched: str
    target_matched: str
    source_similarity: float | None = None
    """Set only if the label differs from the requested one."""
    target_similarity: float | None = None


class ShortestPathResponse(MatchedEnds):
    path: list[str] | None
    """A very long path is truncated to its first nodes."""
    relations: list[list[str]] | None = None
    """The relations of each step, at most five."""
    truncated: bool = False
    length: int | None = None
    """The number of edges."""
    weight: float | None = None
    """The sum of the weights, if a weight was requested."""
    reason: str | None = None


class AllPathsResponse(MatchedEnds):
    paths: list[list[str]]
    count: int
    truncated: bool
    longer: list[int] | None = None
    """The lengths of longer paths that are not listed, as far as they were found; at most 20."""
    reason: str | None = None


class RankingsResponse(Answer):
    rankings: list[Ranking]
    total: int
    """The number of nodes of the graph."""
    truncated: bool
    note: str | None = None
    """A note that the scores are estimates, if they are."""


class DegreesResponse(Answer):
    rankings: list[DegreeRanking]
    total: int
    truncated: bool


class ComponentsResponse(Answer):
    components: list[list[str]]
    sizes: list[int]
    """The complete sizes; of large components not all labels are listed."""
    count: int
    modularity: float | None = None
    """Of communities."""
    left_out: int | None = None
    """Nodes without an edge of the relation, which are in no community."""
    articulation_points: list[str] | None = None
    """Of bridges: nodes without which a component falls apart, whichever way edges point."""
    articulation_points_total: int | None = None
    bridges: list[LabelPair] | None = None
    """The edges of which the same is true."""
    bridges_total: int | None = None
    truncated: bool
    reason: str | None = None


class CyclesResponse(Answer):
    cycles: list[list[str]]
    has_cycles: bool
    count: int
    total: int | None = None
    """The number of cycles of the graph; None if there are more than were counted."""
    breaking_edges: list[LabelPair] = Field(default_factory=list)
    """Edges without which there is no cycle at all."""
    breaking_edges_total: int = 0
    breaking_edges_are_fewest: bool = True
    """False if there may be fewer that do it."""
    truncated: bool
    reason: str | None = None


class ReductionResponse(Answer):
    message: str
    edges_removed: int
    in_place: bool
    edges: list[RelationEdge]
    total: int
    truncated: bool


class LostNodes(Answer):
    sources: list[str]
    """Dependents that lose the same nodes."""
    sources_total: int
    lost: list[str]
    lost_total: int


class ImpactResponse(Answer):
    read_as: str
    """What an edge was taken to say. Dependents are what needs the node, or what it causes."""
    node_matched: str
    node_similarity: float | None = None
    newly_unreachable: list[LostNodes]
    newly_unreachable_total: int
    """How many of the examined dependents become unreachable."""
    components_before: int
    components_after: int
    parts: list[list[str]]
    """The parts into which the component of the node would fall."""
    parts_sizes: list[int]
    direct_dependents: list[str]
    """Those with an edge to the node."""
    direct_dependents_total: int
    indirect_dependents: list[str]
    """The nearest first."""
    indirect_dependents_total: int
    direct_dependencies: list[str]
    direct_dependencies_total: int
    indirect_dependencies: list[str]
    indirect_dependencies_total: int
    falls: list[str] | None = None
    """Only of causes: the dependents that no other root leads to, the nearest first."""
    falls_total: int | None = None
    truncated: bool
    note: str | None = None


class PassedNode(Answer):
    label: str
    share: float
    """The share of ways that pass it, 0 to 1."""


class PassingNode(PassedNode):
    cuts_off: int
    """The number of roots that no longer reach the target without this node alone."""


class CausesResponse(Answer):
    read_as: str
    target_matched: str
    target_similarity: float | None = None
    roots: list[PassedNode]
    """What reaches the target and is itself reached by nothing, but in its own cycle; those of most ways first."""
    roots_total: int
    ways: int | None
    """The number of ways from the roots to where they first reach the target; a cycle counts as one node. None if it
    has many digits."""
    through: list[PassingNode]
    """The other nodes on the ways, the best single fix first."""
    through_total: int
    smallest_cut: list[str]
    """The fewest nodes, roots among them, without which no root reaches the target; those next to the roots."""
    smallest_cut_total: int
    truncated: bool
    note: str | None = None
