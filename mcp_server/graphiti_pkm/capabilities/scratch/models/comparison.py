"""What comparing two scratch graphs answers: labels, never ids."""

from graphiti_pkm.capabilities.scratch.models.answers import EdgeEnds
from graphiti_pkm.core.model.answers import Answer


class ComparedNode(Answer):
    label: str
    type: str | None = None


class Difference(Answer):
    name: str
    """Of the property; ``type`` is the type of a node, ``properties.type`` a property of that name."""
    value: object = None
    """In ``graph``; null if it is not there, a cut text if it is long."""
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
    """Of those in both: how many have another type or other properties."""


class CompareGraphsResponse(Answer):
    graph: str
    other: str
    equal: bool
    truncated: bool
    """Whether a list is shorter than its count."""
    node_counts: ComparisonCounts
    edge_counts: ComparisonCounts
    nodes_only_in_graph: list[ComparedNode]
    nodes_only_in_other: list[ComparedNode]
    nodes_changed: list[ChangedNode]
    edges_only_in_graph: list[EdgeEnds]
    edges_only_in_other: list[EdgeEnds]
    edges_changed: list[ChangedEdge]
