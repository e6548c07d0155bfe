"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated, ClassVar

from pydantic import Field

from graphiti_pkm.core.model.choices import StatusFilter
from graphiti_pkm.core.model.records import FactKind
from graphiti_pkm.core.model.requests import ONLY_WITH_BOOST, PER_PAGE, Request, Strings
from graphiti_pkm.core.reading import paging
from graphiti_pkm.toolkit.parameters import (
    After,
    AsOf,
    Before,
    Cursor,
    GroupIds,
    KnownAt,
    MaxEpisodes,
    MaxFacts,
    MaxNodes,
    Near,
)


class SearchNodes(Request):
    query: Annotated[str | None, Field(description="words or a description")] = None
    names: Annotated[
        Strings | None, Field(max_length=50, description="names to look up at once; query may be left out")
    ] = None
    group_ids: GroupIds = None
    max_nodes: MaxNodes = paging.NODES.default
    entity_types: Annotated[Strings | None, Field(description="e.g. Person")] = None
    center_node_uuid: Near = None
    status: Annotated[
        str | None,
        Field(
            description="current status: its word, or open, active, on hold, done, dropped; without a query lists all"
        ),
    ] = None
    boost: Annotated[bool, Field(description="rank by fitness as well"), ONLY_WITH_BOOST] = True
    cursor: Cursor = None


class SearchMemoryFacts(Request):
    other_names: ClassVar = {
        "valid_at_after": "valid_after",
        "valid_at_before": "valid_before",
        "invalid_at_after": "invalid_after",
        "invalid_at_before": "invalid_before",
    }

    query: Annotated[str | None, Field(description="may be left out with a filter: lists all that fit")] = None
    group_ids: GroupIds = None
    max_facts: MaxFacts = paging.FACTS.default
    center_node_uuid: Near = None
    edge_types: Annotated[Strings | None, Field(description="relations, e.g. WORKS_AT")] = None
    valid_after: After = None
    valid_before: Before = None
    invalid_after: After = None
    invalid_before: Before = None
    entity_uuid: Annotated[str | None, Field(description="only its facts; a measure's: its readings")] = None
    entity_types: Annotated[Strings | None, Field(description="of either end")] = None
    kind: FactKind | None = None
    status: Annotated[
        StatusFilter | None,
        Field(description="at as_of, else known_at, else now; open: plans, goals, proposals by due date"),
    ] = None
    as_of: AsOf = None
    known_at: KnownAt = None
    cursor: Cursor = None


class SearchEpisodes(Request):
    query: str
    group_ids: GroupIds = None
    max_episodes: MaxEpisodes = paging.EPISODES.default
    entity_uuid: Annotated[str | None, Field(description="only episodes that mention it")] = None
    valid_after: After = None
    valid_before: Before = None
    reference_time: Annotated[
        str | None, Field(description='what "last March" in the query counts from; default now')
    ] = None
    neighbours: Annotated[bool, Field(description="also the episode before and after each"), PER_PAGE] = False
    cursor: Cursor = None
