"""What the extraction of one episode came to: kept with its write in the journal, shown by its receipt."""

from pydantic import Field

from graphiti_pkm.core.model.answers import Answer, EntityResult, FoundFact, RetiredFact


class ExtractionAnswer(Answer):
    """Facts and entities that a model found, and what became of older facts."""

    episode_uuid: str
    model: str
    facts: list[FoundFact] = Field(default_factory=list)
    """Created, or known and supported by the episode from now on."""
    retired: list[RetiredFact] = Field(default_factory=list)
    """Older facts that were ended."""
    proposed: list[FoundFact] = Field(default_factory=list)
    """Older facts that may have ended and were left as they are."""
    entities: list[EntityResult] = Field(default_factory=list)
    attention: dict[str, int] = Field(default_factory=dict)
    """What add_memory would have asked to look at, counted by kind."""
    left_out: int = 0
    """Entities and facts that are not stored: without a usable name, of a type that is excluded, hanging on such a one,
    between two names that are one, or corrected by a caller."""
    not_found: list[FoundFact] = Field(default_factory=list)
    """Facts of the extraction before this one that it no longer finds; they stay."""
    communities_stay: bool = False
    """The caller wanted them updated, which is left to build_communities: it makes them anew as a whole."""
