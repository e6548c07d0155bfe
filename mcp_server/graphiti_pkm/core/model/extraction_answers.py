"""The result of extracting one episode: kept with its write in the journal, shown by its receipt."""

from pydantic import Field

from graphiti_pkm.core.model.answers import Answer, EntityResult, FoundFact, RetiredFact


class ExtractionAnswer(Answer):
    """Facts and entities that a model found, and changes of older facts."""

    episode_uuid: str
    model: str
    facts: list[FoundFact] = Field(default_factory=list)
    """Facts created, or known and now supported by the episode as well."""
    retired: list[RetiredFact] = Field(default_factory=list)
    """Older facts that were ended."""
    proposed: list[FoundFact] = Field(default_factory=list)
    """Older facts that may have ended and were left open."""
    entities: list[EntityResult] = Field(default_factory=list)
    attention: dict[str, int] = Field(default_factory=dict)
    """What add_memory would have reported for attention, counted by kind."""
    left_out: int = 0
    """Entities and facts that are not stored: without a usable name, of an excluded type, joined to such an entity,
    between two names of one entity, or corrected by a caller."""
    not_found: list[FoundFact] = Field(default_factory=list)
    """Facts of the previous extraction that this one did not find; they stay."""
    communities_stay: bool = False
    """The caller asked to update communities, which only build_communities does: it generates all of them again."""
