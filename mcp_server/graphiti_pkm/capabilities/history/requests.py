"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.core.model.change_kinds import AskedChange
from graphiti_pkm.core.model.requests import PER_PAGE, Request, as_list
from graphiti_pkm.core.reading import paging
from graphiti_pkm.toolkit.parameters import Cursor, OwnGroups

FactUuid: TypeAlias = Annotated[str, Field(description="from search_memory_facts or what_changed")]
Kinds: TypeAlias = Annotated[list[AskedChange], BeforeValidator(as_list)]
Reason: TypeAlias = Annotated[str, Field(description="why, kept in the record")]


class WhatChanged(Request):
    since: Annotated[str | None, Field(description="when recorded: ISO date, month or year")] = None
    until: Annotated[str | None, Field(description="excluded; when told if told_since")] = None
    told_since: Annotated[str | None, Field(description="only changes told on or after this date")] = None
    entity_uuid: Annotated[str | None, Field(description="only its facts")] = None
    group_ids: OwnGroups = None
    kinds: Annotated[Kinds | None, Field(description="all if left out")] = None
    limit: Annotated[int, Field(ge=paging.CHANGES.minimum, le=paging.CHANGES.maximum), PER_PAGE] = (
        paging.CHANGES.default
    )
    cursor: Cursor = None


class RetireFact(Request):
    fact_uuid: FactUuid
    reason: Reason
    invalid_at: Annotated[str | None, Field(description="when it ended; left out: as proposed, else now")] = None
    replaced_by: Annotated[str | None, Field(description="uuid of the fact in its place")] = None


class RestoreFact(Request):
    fact_uuid: Annotated[str, Field(description="of a fact (search_memory_facts, what_changed) or updated entity")]
    reason: Reason


Several: TypeAlias = Annotated[list[str], BeforeValidator(as_list), Field(max_length=20)]


class UpdateEntity(Request):
    entity_uuid: Annotated[str, Field(description="from search_nodes")]
    name: Annotated[str | None, Field(description="new name; the old one stays an alias")] = None
    type: str | None = None
    summary: Annotated[str | None, Field(max_length=2000)] = None
    add_aliases: Several | None = None
    remove_aliases: Several | None = None
    not_same_as: Annotated[str | None, Field(description="uuid of another entity")] = None
    unlink_episodes: Annotated[Several | None, Field(description="episodes that do not mean it")] = None
    link_episodes: Annotated[Several | None, Field(description="episodes that mean it")] = None
