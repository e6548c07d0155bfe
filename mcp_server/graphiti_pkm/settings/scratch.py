"""Settings of scratch graphs: how labels are matched, how long a graph stays, how much there may be."""

from pydantic import BaseModel, Field

from graphiti_pkm.settings.scratch_limits import ScratchLimits

_LIMITS = ScratchLimits()


class ReasoningSettings(BaseModel):
    """The part of the settings that the toolset reasoning needs."""

    similarity_threshold: float = Field(
        default=0.75, ge=0, le=1, description="Least similarity at which a label of a scratch graph is what was meant."
    )
    ambiguity_threshold: float = Field(
        default=0.05, ge=0, le=1, description="How far the best match must lead; candidates are answered otherwise."
    )
    max_candidates: int = Field(default=5, ge=1, le=50, description="Most candidates of an answer.")
    scratch_idle_hours: float = Field(
        default=2.0, ge=0, description="Hours after which a scratch graph that nobody uses is gone; 0 = never."
    )
    scratch_graphs: int = Field(default=_LIMITS.graphs, ge=1, description="Most scratch graphs of one person.")
    scratch_nodes: int = Field(default=_LIMITS.nodes, ge=1, description="Most nodes of one scratch graph.")
    scratch_edges: int = Field(default=_LIMITS.edges, ge=1, description="Most edges of one scratch graph.")
    scratch_bytes: int = Field(
        default=_LIMITS.bytes, ge=1_000_000, description="Most memory of one person's scratch graphs, as estimated."
    )
    scratch_seconds: float = Field(
        default=2.0, gt=0, le=30, description="Time limit of one analysis; it then answers what it found so far."
    )

    @property
    def scratch_limits(self) -> ScratchLimits:
        """As the graphs take them."""
        return ScratchLimits(self.scratch_nodes, self.scratch_edges, self.scratch_bytes, self.scratch_graphs)
