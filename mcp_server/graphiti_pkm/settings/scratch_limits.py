"""How much scratch graphs may take. A plain dataclass: the process that computes on them starts without pydantic."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ScratchLimits:
    """What scratch graphs may take."""

    nodes: int = 10_000
    """Of one graph."""
    edges: int = 50_000
    """Of one graph."""
    bytes: int = 64_000_000
    """Of one tenant: labels, properties, edges and vectors of all graphs, as estimated."""
    graphs: int = 50
    """Of one tenant."""
