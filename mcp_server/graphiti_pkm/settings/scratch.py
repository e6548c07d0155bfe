"""Settings of scratch graphs: matching of labels, expiry, limits."""

from pydantic import BaseModel, Field

from graphiti_pkm.settings.scratch_limits import ScratchLimits

_LIMITS = ScratchLimits()


class ReasoningSettings(BaseModel, defer_build=True):
    """Settings of the toolset reasoning."""

    similarity_threshold: float = Field(
        default=0.75, ge=0, le=1, description="Minimum similarity for a match of a label in a scratch graph."
    )
    ambiguity_threshold: float = Field(
        default=0.05, ge=0, le=1, description="Minimum lead of the best match; otherwise candidates are returned."
    )
    max_candidates: int = Field(default=5, ge=1, le=50, description="Maximum candidates in an answer.")
    scratch_idle_hours: float = Field(
        default=2.0, ge=0, description="Hours after which an unused scratch graph is deleted; 0 = never."
    )
    scratch_graphs: int = Field(default=_LIMITS.graphs, ge=1, description="Maximum scratch graphs of one person.")
    scratch_nodes: int = Field(default=_LIMITS.nodes, ge=1, description="Maximum nodes in one scratch graph.")
    scratch_edges: int = Field(default=_LIMITS.edges, ge=1, description="Maximum edges in one scratch graph.")
    scratch_bytes: int = Field(
        default=_LIMITS.bytes,
        ge=1_000_000,
        description="Maximum estimated memory of one person's scratch graphs, in bytes.",
    )
    scratch_seconds: float = Field(
        default=2.0,
        gt=0,
        le=30,
        description="Time limit of one analysis in seconds; the answer then contains what was found so far.",
    )

    @property
    def scratch_limits(self) -> ScratchLimits:
        """The limits in the form that scratch graphs use."""
        return ScratchLimits(self.scratch_nodes, self.scratch_edges, self.scratch_bytes, self.scratch_graphs)
