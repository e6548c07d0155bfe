"""Limits of scratch graphs. A plain dataclass, so that the process for analyses need not import pydantic."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ScratchLimits:
    """Limits of scratch graphs."""

    nodes: int = 10_000
    """In one graph."""
    edges: int = 50_000
    """In one graph."""
    bytes: int = 64_000_000
    """Estimated memory of all graphs of one tenant: labels, properties, edges and vectors."""
    graphs: int = 50
    """Of one tenant."""
