"""Answers of the tools that analyse scratch graphs; nodes are named by labels."""

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


class BetweennessResponse(RankingsResponse):
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
    truncated: bool


class CyclesResponse(Answer):
    cycles: list[list[str]]
    has_cycles: bool
    count: int
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
    source: str
    lost: list[str]
    lost_total: int


class ImpactResponse(Answer):
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
    dependents: list[str]
    dependents_total: int
    dependencies: list[str]
    dependencies_total: int
    truncated: bool
    note: str | None = None


class BridgesResponse(Answer):
    articulation_points: list[str]
    articulation_points_total: int
    bridges: list[LabelPair]
    bridges_total: int
    truncated: bool


class CommunitiesResponse(Answer):
    communities: list[list[str]]
    sizes: list[int]
    count: int
    modularity: float
    truncated: bool
    reason: str | None = None
