"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated, TypeAlias

from pydantic import Field

from graphiti_pkm.core.model.requests import PER_PAGE, GroupId, Request, Strings
from graphiti_pkm.core.reading import paging
from graphiti_pkm.toolkit.parameters import Cursor, EntityUuid, GroupIds

MAX_REASON = 500
Reason: TypeAlias = Annotated[str, Field(max_length=MAX_REASON, description="why, kept with it")]


class FlagForReview(Request):
    entity_uuid: EntityUuid
    reason: Annotated[str, Field(max_length=MAX_REASON, description="what is wrong or doubtful, kept with it")]


class ClearFlag(Request):
    entity_uuid: EntityUuid
    note: Annotated[str, Field(max_length=MAX_REASON, description="what came of the review, kept with it")]


class SetConfidence(Request):
    entity_uuid: EntityUuid
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, description="0 = made up, 1 = sure")]
    reason: Reason


class MergeEntities(Request):
    keep_uuid: Annotated[str, Field(description="the entity that stays, from list_flagged")]
    remove_uuid: Annotated[str, Field(description="the one that goes; its uuid means the other from then on")]
    reason: Reason
    confirm: Annotated[str | None, Field(max_length=100, description="from the preview; leave out to get one")] = None


class UnmergeEntities(Request):
    remove_uuid: Annotated[str, Field(description="uuid of the entity that went")]
    reason: Reason


MOST_SPLIT = 500
"""Facts, and episodes, that one call takes: one write, for which other groups wait."""


class SplitEntity(Request):
    entity_uuid: Annotated[str, Field(description="the entity that was taken for two things")]
    fact_uuids: Annotated[
        Strings | None, Field(max_length=MOST_SPLIT, description="its facts that are of the other")
    ] = None
    episode_uuids: Annotated[
        Strings | None, Field(max_length=MOST_SPLIT, description="episodes that mean the other")
    ] = None
    name: Annotated[str, Field(description="of the other: a new name, or an alias of the entity")]
    confirm: Annotated[str | None, Field(max_length=100, description="from the preview; leave out to get one")] = None


class AdjustBias(Request):
    entity_uuid: EntityUuid
    bias: Annotated[
        float, Field(ge=-1, le=1, allow_inf_nan=False, description="the new value, not added to the old; 0 = none")
    ]
    reason: Reason


class MarkUseful(Request):
    fact_uuid: Annotated[str, Field(description="from get_entity_connections")]


class FlagSimilarEntities(Request):
    entity_uuid: Annotated[
        str | None, Field(description="only what is like this one; all of the group if left out")
    ] = None
    threshold: Annotated[
        float,
        Field(
            ge=0.01, le=0.99, allow_inf_nan=False, description="raw cosine of name and summary that has to be exceeded"
        ),
    ] = 0.85
    limit: Annotated[int, Field(ge=1, le=paging.FLAGGED.maximum, description="pairs"), PER_PAGE] = (
        paging.FLAGGED.default
    )
    explain: Annotated[
        bool,
        Field(description="let the configured model say of 20 pairs what speaks for and against; it decides nothing"),
    ] = False
    group_id: GroupId = None
    cursor: Cursor = None


class GetQualityReport(Request):
    confidence_below: Annotated[
        float, Field(ge=0.01, le=1, allow_inf_nan=False, description="what counts as low confidence")
    ] = 0.5
    creator_prefix: Annotated[
        str | None, Field(max_length=300, description="only creators whose name begins so, as agent_")
    ] = None
    group_ids: GroupIds = None
    limit: Annotated[int, Field(ge=1, le=paging.FLAGGED.maximum, description="creators")] = paging.FLAGGED.default


class ListFlagged(Request):
    group_ids: GroupIds = None
    limit: Annotated[int, Field(ge=1, le=paging.FLAGGED.maximum), PER_PAGE] = paging.FLAGGED.default
    cursor: Cursor = None
