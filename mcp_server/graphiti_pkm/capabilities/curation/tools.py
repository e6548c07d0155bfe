"""The tools that keep a memory good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed, requests and answers only if the tools are offered
    from graphiti_pkm.capabilities.curation.fitness import FitnessTools
    from graphiti_pkm.capabilities.curation.merging import Merging
    from graphiti_pkm.capabilities.curation.models import (
        BiasResponse,
        FlaggedResponse,
        MergeResponse,
        QualityReportResponse,
        QualityResponse,
        SimilarResponse,
        SplitResponse,
        UsefulResponse,
    )
    from graphiti_pkm.capabilities.curation.report import Report
    from graphiti_pkm.capabilities.curation.requests import (
        AdjustBias,
        ClearFlag,
        FlagForReview,
        FlagSimilarEntities,
        GetQualityReport,
        ListFlagged,
        MarkUseful,
        MergeEntities,
        SetConfidence,
        SplitEntity,
        UnmergeEntities,
    )
    from graphiti_pkm.capabilities.curation.reviews import Reviews
    from graphiti_pkm.capabilities.curation.similar import Similar
    from graphiti_pkm.capabilities.curation.splitting import Splitting
    from graphiti_pkm.capabilities.curation.unmerging import Unmerging

TYPES = (
    "graphiti_pkm.capabilities.curation.models",
    "graphiti_pkm.capabilities.curation.requests",
)
REVIEWS: ServiceKey[Reviews] = ServiceKey("reviews")
SIMILAR: ServiceKey[Similar] = ServiceKey("similar")
FITNESS: ServiceKey[FitnessTools] = ServiceKey("fitness")
REPORT: ServiceKey[Report] = ServiceKey("report")
MERGING: ServiceKey[Merging] = ServiceKey("merging")
UNMERGING: ServiceKey[Unmerging] = ServiceKey("unmerging")
SPLITTING: ServiceKey[Splitting] = ServiceKey("splitting")


async def flag_for_review(call: Call, request: FlagForReview) -> QualityResponse:
    """Flag an entity for review: doubtful, perhaps a duplicate, badly named. It replaces an earlier flag's reason.

    Use for what you cannot settle yourself; for a fact that is no longer true use retire_fact instead, for a name or
    type that is wrong update_entity. Nothing else of the entity changes.
    """
    return await call.services[REVIEWS].flag_for_review(call.caller, request)


async def clear_flag(call: Call, request: ClearFlag) -> QualityResponse:
    """Take the flag off an entity once it was reviewed; the note says what came of it.

    Use after list_flagged, once the matter is settled with other tools; to give another reason use flag_for_review
    instead. Nothing else of the entity changes.
    """
    return await call.services[REVIEWS].clear_flag(call.caller, request)


async def list_flagged(call: Call, request: ListFlagged) -> FlaggedResponse:
    """List all entities that are flagged for review, the last flagged first, with reason, time and who flagged them.

    Use to work through what waits; to find entities that nobody flagged use search_nodes instead. Likely duplicates
    stand once a pair, the other one in similar_to. clear_flag takes one off the list.
    """
    return await call.services[REVIEWS].list_flagged(call.caller, request)


async def set_confidence(call: Call, request: SetConfidence) -> QualityResponse:
    """Say how sure what the memory holds of an entity is, from 0 to 1; it replaces what was said before.

    Use after checking an entity against its sources; for a doubt that somebody else should settle use flag_for_review
    instead. Searches are not affected.
    """
    return await call.services[REVIEWS].set_confidence(call.caller, request)


async def flag_similar_entities(call: Call, request: FlagSimilarEntities) -> SimilarResponse:
    """Find entities of one type whose names and summaries mean nearly the same, and flag both of each pair for review.

    Use to find duplicates; to flag one entity for another reason use flag_for_review instead. People with names such as
    Priya and Priyanka are found too. Nothing is merged. An earlier flag keeps its reason; pairs that update_entity was
    told are not the same stay out. Without entity_uuid it examines 100 entities a call.
    """
    return await call.services[SIMILAR].flag_similar_entities(call.caller, request)


async def get_quality_report(call: Call, request: GetQualityReport) -> QualityReportResponse:
    """Count what may need a look: flagged entities, low confidence and who made those, entities that stand alone.

    Use to see how good a memory is and whose entities are doubtful; for what is flagged use list_flagged instead, for
    how much there is get_status. Counts everything now, so on a large group it takes a moment.
    """
    return await call.services[REPORT].get_quality_report(call.caller, request)


async def merge_entities(call: Call, request: MergeEntities) -> MergeResponse:
    """Merge an entity into another that is the same: a preview first, then with its confirm.

    Use for a pair that flag_similar_entities found and you checked; for two that only look alike use update_entity with
    not_same_as instead. Facts, quotes, mentions and names move, facts of both are joined, facts between both go. Needs
    one type, one flag and a similarity above 0.85. needs_attention lists current facts that contradict each other.
    """
    return await call.services[MERGING].merge_entities(call.caller, request)


async def unmerge_entities(call: Call, request: UnmergeEntities) -> MergeResponse:
    """Undo a merge: the entity that went comes back with its names, facts and mentions.

    Use when two turn out to be different; to undo another change of an entity or fact use restore_fact instead. The
    last merge into an entity is undone first. What was told since stays with the entity that was kept.
    """
    return await call.services[UNMERGING].unmerge_entities(call.caller, request)


async def split_entity(call: Call, request: SplitEntity) -> SplitResponse:
    """Split an entity that stands for two things: a preview first, then with its confirm.

    Use when facts or episodes were taken for the wrong one; what a merge joined by mistake takes unmerge_entities
    instead. A new entity of its type gets the facts and mentions named, with their dates, quotes and history; the rest
    stays. Episodes that tell facts of both mention both. merge_entities undoes it.
    """
    return await call.services[SPLITTING].split_entity(call.caller, request)


async def adjust_bias(call: Call, request: AdjustBias) -> BiasResponse:
    """Set how far an entity is moved up or down in boosted searches, beyond what its use earns it, from -1 to 1.

    Use for what is better or worse than its use shows; if a doubt is about its content use flag_for_review instead.
    It replaces the earlier bias. Searches change only if the server's setting fitness is boost.
    """
    return await call.services[FITNESS].adjust_bias(call.caller, request)


async def mark_useful(call: Call, request: MarkUseful) -> UsefulResponse:
    """Count that a fact helped to answer; call it once for each answer that it helped.

    Use after get_entity_connections, with the fact_uuid of what you used; for a fact that is wrong use retire_fact
    instead. Returns how often it was returned and how often it helped. Ranks nothing.
    """
    return await call.services[FITNESS].mark_useful(call.caller, request)
