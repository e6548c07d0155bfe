"""What the tools that analyse scratch graphs answer: labels, never ids."""

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
    """Only where the label is another than was asked for."""
    target_similarity: float | None = None


class ShortestPathResponse(MatchedEnds):
    path: list[str] | None
    """Its first nodes if it is very long, and truncated."""
    relations: list[list[str]] | None = None
    """Of each step, at most five."""
    truncated: bool = False
    length: int | None = None
    """Edges."""
    weight: float | None = None
    """The sum of the weights, if there are any."""
    reason: str | None = None


class AllPathsResponse(MatchedEnds):
    paths: list[list[str]]
    count: int
    truncated: bool
    reason: str | None = None


class RankingsResponse(Answer):
    rankings: list[Ranking]
    total: int
    """Nodes of the graph."""
    truncated: bool


class BetweennessResponse(RankingsResponse):
    note: str | None = None
    """That and how the scores are estimates."""


class DegreesResponse(Answer):
    rankings: list[DegreeRanking]
    total: int
    truncated: bool


class ComponentsResponse(Answer):
    components: list[list[str]]
    sizes: list[int]
    """Of the components listed; of a large one not every label is."""
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
    """Dependents that lose something, of those that were looked at."""
    components_before: int
    components_after: int
    parts: list[list[str]]
    """What is left of the node's component."""
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
