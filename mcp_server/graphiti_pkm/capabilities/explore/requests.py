"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated, Literal

from pydantic import Field

from graphiti_pkm.core.model.choices import Direction
from graphiti_pkm.core.model.requests import PER_PAGE, Request, Strings
from graphiti_pkm.core.model.walks import SourceMode
from graphiti_pkm.core.reading import paging
from graphiti_pkm.core.reading.paging import HOPS, PATHS, SOURCES, SUBGRAPH_FACTS, SUBGRAPH_HOPS, SUBGRAPH_NODES
from graphiti_pkm.toolkit.parameters import (
    After,
    AsOf,
    Before,
    Cursor,
    EntityUuid,
    GroupIds,
    KnownAt,
    MaxConnections,
    MaxContentChars,
    MaxEntities,
    MaxEpisodes,
    MaxTimeline,
    OwnGroups,
    WithEnded,
)


class GetEntityConnections(Request):
    entity_uuid: EntityUuid
    group_ids: OwnGroups = None
    max_connections: MaxConnections = paging.CONNECTIONS.default
    as_of: AsOf = None
    valid_after: After = None
    valid_before: Before = None
    include_invalidated: WithEnded = True
    direction: Direction = "both"
    relation: Annotated[str | None, Field(description="e.g. USES")] = None
    known_at: KnownAt = None
    cursor: Cursor = None


class GetEntityTimeline(Request):
    entity_uuid: EntityUuid
    group_ids: OwnGroups = None
    max_episodes: MaxTimeline = paging.TIMELINE.default
    order: Annotated[
        Literal["newest_window", "oldest_first"],
        Field(description="which page comes first; each is printed oldest first"),
    ] = "newest_window"
    valid_after: After = None
    valid_before: Before = None
    max_content_chars: MaxContentChars = paging.CONTENT.default
    cursor: Cursor = None


class GetEpisodes(Request):
    group_ids: GroupIds = None
    max_episodes: MaxEpisodes = paging.EPISODES.default
    valid_after: After = None
    valid_before: Before = None
    order: Literal["newest", "oldest"] = "newest"
    episode_uuids: Annotated[Strings | None, Field(description="these instead")] = None
    content_offset: Annotated[int, Field(ge=0, description="read on from this character"), PER_PAGE] = 0
    max_content_chars: MaxContentChars = paging.CONTENT.default
    cursor: Cursor = None


class GetEpisodeEntities(Request):
    episode_uuids: Annotated[Strings, Field(min_length=1, max_length=100)]
    max_entities: MaxEntities = paging.ENTITIES.default
    cursor: Cursor = None


class GetEntityEdge(Request):
    uuid: Annotated[str, Field(description="fact uuid")]


class GetFactSources(Request):
    fact_uuid: str
    mode: SourceMode = "quote"
    limit: Annotated[int, Field(ge=SOURCES.minimum, le=SOURCES.maximum), PER_PAGE] = SOURCES.default
    cursor: Cursor = None


class FindEntityPath(Request):
    source_uuid: EntityUuid
    target_uuid: EntityUuid
    max_hops: Annotated[int, Field(ge=HOPS.minimum, le=HOPS.maximum)] = HOPS.default
    max_paths: Annotated[int, Field(ge=PATHS.minimum, le=PATHS.maximum)] = PATHS.default
    group_ids: OwnGroups = None
    as_of: AsOf = None
    valid_after: After = None
    valid_before: Before = None
    include_invalidated: WithEnded = True


class GetEntitySubgraph(Request):
    entity_uuid: EntityUuid
    hops: Annotated[int, Field(ge=SUBGRAPH_HOPS.minimum, le=SUBGRAPH_HOPS.maximum)] = SUBGRAPH_HOPS.default
    max_nodes: Annotated[int, Field(ge=SUBGRAPH_NODES.minimum, le=SUBGRAPH_NODES.maximum)] = SUBGRAPH_NODES.default
    max_facts: Annotated[int, Field(ge=SUBGRAPH_FACTS.minimum, le=SUBGRAPH_FACTS.maximum)] = SUBGRAPH_FACTS.default
    group_ids: OwnGroups = None
    as_of: AsOf = None
    valid_after: After = None
    valid_before: Before = None
    include_invalidated: WithEnded = True
