"""What each sign weighs in the ranking of episodes; DOCS/adr tells how the defaults were measured."""

from pydantic import BaseModel, ConfigDict, Field


class EpisodeWeights(BaseModel):
    """Relative weights; 0 leaves a sign out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: float = Field(default=0.7, ge=0, le=10)
    """Of the words of the query, rare ones counting more."""
    meaning: float = Field(default=1.0, ge=0, le=10)
    """Of the nearest sentence."""
    date: float = Field(default=0.3, ge=0, le=10)
    """Of a date that the query names."""
    entity: float = Field(default=0.1, ge=0, le=10)
    """Of the entities that the query names."""
    neighbour: float = Field(default=0.1, ge=0, le=10)
    """Of the better one of the episodes before and after, on the same day or in the same saga."""
    day: float = Field(default=0.1, ge=0, le=10)
    """Of the best others of the same day."""

    def __str__(self) -> str:
        return ",".join(f"{name}={value:g}" for name, value in self)
