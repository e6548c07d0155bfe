"""Scratch graphs: transient graphs to reason with, apart from memory. What one holds, and how much it may.

Plain dataclasses: there may be tens of thousands, and the process that computes on them starts without pydantic.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

Properties: TypeAlias = Mapping[str, Any]
"""JSON values by name."""

DEFAULT_GRAPH = "default"
DEFAULT_RELATION = "related_to"
"""Of an edge that was imported without one (E-78)."""

LONGEST_NAME = 100
LONGEST_LABEL = 500
LONGEST_RELATION = 200
LARGEST_PROPERTIES = 10_000
"""Characters of the properties of one node or edge, as JSON."""

NONE: Properties = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ScratchNode:
    """A node; its label is how it is found and what no other node of the graph has."""

    label: str
    type: str | None = None
    properties: Properties = field(default_factory=lambda: NONE)


@dataclass(frozen=True, slots=True)
class ScratchEdge:
    """A directed edge between two labels; the only one of its relation between them."""

    source: str
    target: str
    relation: str
    properties: Properties = field(default_factory=lambda: NONE)


@dataclass(frozen=True)
class Content:
    """What a text of some format says, or what one is written from; an edge may name nodes that are not listed."""

    nodes: tuple[ScratchNode, ...] = ()
    edges: tuple[ScratchEdge, ...] = ()
    warnings: tuple[str, ...] = ()
    """What could not be taken over as it stood, e.g. that the edges had no direction."""
