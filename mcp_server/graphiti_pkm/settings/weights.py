"""Weights of the signals in the ranking of episodes; ADR 9 says how the defaults were measured."""

from pydantic import BaseModel, ConfigDict, Field


class EpisodeWeights(BaseModel):
    """Relative weights; 0 ignores a signal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: float = Field(default=0.7, ge=0, le=10)
    """Words of the query; rare ones count more."""
    meaning: float = Field(default=1.0, ge=0, le=10)
    """Similarity of the nearest sentence."""
    date: float = Field(default=0.3, ge=0, le=10)
    """A date in the query."""
    entity: float = Field(default=0.1, ge=0, le=10)
    """Entities in the query."""
    talk: float = Field(default=4.0, ge=0, le=10)
    """What was said in a message and before it."""
    neighbour: float = Field(default=0.1, ge=0, le=10)
    """Of notes: the better of the episodes before and after, on the same day or in the same saga."""
    day: float = Field(default=0.1, ge=0, le=10)
    """Of notes: the best other episodes of the same day."""

    def __str__(self) -> str:
        return ",".join(f"{name}={value:g}" for name, value in self)
