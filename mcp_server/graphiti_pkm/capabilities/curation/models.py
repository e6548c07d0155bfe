"""What the tools of curation answer."""

from typing import Literal, TypeAlias

from graphiti_pkm.core.model.answers import Answer, Attention, Page, Scope
from graphiti_pkm.core.model.quality_checks import Check
from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.records import SourceType


class QualityView(Answer):
    """An entity with what librarians said of it."""

    entity_uuid: str
    name: str
    type: str | None = None
    created_by: str | None = None
    """The principal whose call made it, whoever mentions it later; None: an older version or another program did."""
    source_type: SourceType | None = None
    flagged: bool
    reason: str | None = None
    """Of the flag."""
    flagged_at: str | None = None
    flagged_by: str | None = None
    """A principal, as ``cleared_by`` and ``confidence_by``."""
    similar_to: list[str] | None = None
    """Names and uuids of entities that it may be the same as."""
    note: str | None = None
    """What came of the last review."""
    cleared_at: str | None = None
    cleared_by: str | None = None
    confidence: float | None = None
    confidence_reason: str | None = None
    confidence_at: str | None = None
    confidence_by: str | None = None
    group_id: str


class QualityResponse(QualityView):
    message: str
    changed: bool


class BiasResponse(Answer):
    """How far up an entity belongs, with what it is made of."""

    message: str
    changed: bool
    entity_uuid: str
    name: str
    bias: float
    previous_bias: float
    bias_reason: str | None = None
    bias_at: str | None = None
    bias_by: str | None = None
    """A principal."""
    query_count: int
    """How many searches returned it, without those of the last seconds."""
    relevance_sum: float
    fitness_score: float
    """relevance_sum / query_count; 0 if nothing returned it."""
    final_score: float
    """fitness_score + bias."""
    group_id: str


class UsefulResponse(Answer):
    message: str
    fact_uuid: str
    traversal_count: int
    """How often get_entity_connections returned it."""
    useful_count: int
    fitness: float
    """useful_count / traversal_count; 0 if it was never returned."""
    group_id: str


class FlaggedResponse(Page):
    flagged: list[QualityView]


class CreatorView(Answer):
    created_by: str
    low_confidence: int
    """How many entities of low confidence it made."""


class QualityReportResponse(Answer):
    message: str
    entities_total: int
    flagged: int
    rated: int
    """Entities with a confidence."""
    low_confidence: int
    orphans: int
    """Entities that no episode mentions, no fact names and no quote is evidence of, but for projects and the user."""
    creators: list[CreatorView]
    """Most first. Entities of older versions have no creator."""
    creators_total: int
    scope: Scope


class SimilarEntity(Answer):
    entity_uuid: str
    name: str
    type: str | None = None


class SimilarPair(Answer):
    similarity: float
    """Raw cosine of names and summaries."""
    one: SimilarEntity
    other: SimilarEntity
    explanation: str | None = None
    """What the model says, if it was asked; kept nowhere."""


class SimilarResponse(Answer):
    message: str
    pairs: list[SimilarPair]
    """Of one entity the most similar first; of a group in the order of names."""
    examined: int
    """Entities that this call compared with others."""
    entities_total: int
    newly_flagged: int
    """Entities that were not flagged before."""
    next_cursor: str | None = None
    """Goes on with the entities that were not examined yet."""
    group_id: str


State: TypeAlias = Literal["new", "flagged", "settled"]


class FindingView(Record):
    """An entity that a check found."""

    entity_uuid: str
    name: str
    detail: str
    """What it is like, linked to, planned for or rated; empty for an orphan."""
    state: State
    """Flagged by this run, before it, or once and cleared by somebody, which is left so; of a pair the first of these
    that one of both is."""
    other_uuid: str | None = None
    """The other one of a pair, which stands here alone."""


class CheckReport(Record):
    """What one check found in a group."""

    check: Check
    reason: str
    found: int
    """Entities; of duplicates, pairs."""
    newly_flagged: int
    """Entities."""
    settled: int
    """Entities that were flagged for the same before, and that somebody has cleared."""
    entities: tuple[FindingView, ...]
    """At most 100, of duplicates one of each pair."""
    failed: str | None = None
    """Why the check could not look at everything."""


class CurateReport(Record):
    """What a run of checks found and flagged."""

    message: str
    group: str
    done: bool
    """False: a dry run, nothing was changed."""
    newly_flagged: int
    approved: int
    """Entities of staging against which nothing is to be said."""
    checks: tuple[CheckReport, ...]


class MergeResponse(Answer):
    message: str
    status: Literal["preview", "merged", "unmerged"]
    kept: SimilarEntity
    removed: SimilarEntity
    similarity: float | None = None
    """Raw cosine of names and summaries."""
    facts_moved: int
    """Facts that the entity that stays gains; of unmerge_entities, those that came back."""
    facts_joined: int | None = None
    """Facts that both have: the entity that stays keeps its own, with the episodes of both."""
    facts_dropped: int | None = None
    """Facts between both."""
    mentions_moved: int
    """Mentions that the entity that stays gains: not of episodes that mention both. Of unmerge_entities, as above."""
    pair_facts: list[str] | None = None
    """Facts between both, which go; at most 50."""
    joined_facts: list[str] | None = None
    """Facts that the other entity has as well, each with the uuid of that one; at most 50."""
    needs_attention: list[Attention]
    """Current facts that cannot both be true of one entity."""
    confirm: str | None = None
    group_id: str


class SplitResponse(Answer):
    message: str
    status: Literal["preview", "split"]
    entity: SimilarEntity
    """The one that gives."""
    new_uuid: str | None = None
    """Of the entity that was made."""
    name: str
    """Its name."""
    facts: list[str]
    """Those that move; at most 50."""
    facts_moved: int
    mentions_moved: int
    mentioned_both: int
    """Episodes that mention both from then on: they tell facts of either, or were not named and tell one that moves."""
    evidence_moved: int
    """Quotes from sections of documents among the episodes named."""
    facts_left: int
    mentions_left: int
    confirm: str | None = None
    group_id: str
