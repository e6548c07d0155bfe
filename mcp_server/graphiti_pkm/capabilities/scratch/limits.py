"""The values that a scratch graph consists of, and their limits.

They are plain dataclasses: there can be tens of thousands, and the worker process starts without pydantic.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

Properties: TypeAlias = Mapping[str, Any]
"""JSON values by name."""

DEFAULT_GRAPH = "default"
DEFAULT_RELATION = "related_to"
"""The relation of imported edges that have none."""

LONGEST_NAME = 100
LONGEST_LABEL = 500
LONGEST_RELATION = 200
LARGEST_PROPERTIES = 10_000
"""Characters of JSON, for the properties of one node or edge."""

NONE: Properties = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ScratchNode:
    """A node, identified by its label."""

    label: str
    type: str | None = None
    properties: Properties = field(default_factory=lambda: NONE)


@dataclass(frozen=True, slots=True)
class Load:
    """What was asked when a part of memory was loaded into a graph, and what that left out."""

    asked: str
    """Starts, hops, groups and states, in words that are the same for the same question."""
    when: str
    """The moment that was asked for, or "now"."""
    beyond: int
    """Entities next to loaded ones that were not loaded."""
    is_cut: bool
    """Whether a limit left out entities or facts; ``beyond`` is then not all of it."""
    facts_left_out: int


@dataclass(frozen=True, slots=True)
class ScratchEdge:
    """A directed edge, identified by the labels of its ends and its relation."""

    source: str
    target: str
    relation: str
    properties: Properties = field(default_factory=lambda: NONE)


@dataclass(frozen=True)
class Content:
    """Nodes and edges to add to a graph, or taken from one; edges may name nodes that are not listed."""

    nodes: tuple[ScratchNode, ...] = ()
    edges: tuple[ScratchEdge, ...] = ()
    warnings: tuple[str, ...] = ()
    """What could not be read as written, e.g. that edges had no direction."""
