"""Tools of the memory that walk from something known. Their docstrings are prompts."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from graphiti_pkm.core.model.answers import (
    ConnectionsResponse,
    EpisodeEntitiesResponse,
    EpisodeSearchResponse,
    FactResponse,
    TimelineResponse,
)
from graphiti_pkm.core.reading import paging
from graphiti_pkm.toolkit.call import Call
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
)
from graphiti_pkm.toolkit.schema import Strings
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.explore.service import Exploring

EXPLORING: ServiceKey["Exploring"] = ServiceKey("exploring")


async def get_entity_connections(
    call: Call,
    entity_uuid: EntityUuid,
    group_ids: OwnGroups = None,
    max_connections: MaxConnections = paging.CONNECTIONS.default,
    as_of: AsOf = None,
    valid_after: After = None,
    valid_before: Before = None,
    include_invalidated: Annotated[bool, Field(description="false = only what holds now")] = True,
    direction: Literal["both", "out", "in"] = "both",
    relation: Annotated[str | None, Field(description="e.g. USES")] = None,
    known_at: KnownAt = None,
    cursor: Cursor = None,
) -> ConnectionsResponse:
    """Get every fact of one entity by direct traversal: complete, in pages of max_connections, current ones first.

    Use before adding, to see what is already known, for patterns, and for what held at a date. For a specific
    question use search_memory_facts instead, to find entities search_nodes. Ended facts are included with their
    dates; group_ids narrows to namespaces.
    """
    return await call.services[EXPLORING].get_entity_connections(
        call.caller,
        entity_uuid,
        group_ids,
        max_connections,
        as_of,
        valid_after,
        valid_before,
        include_invalidated,
        direction,
        relation,
        known_at,
        cursor,
    )


async def get_entity_timeline(
    call: Call,
    entity_uuid: EntityUuid,
    group_ids: OwnGroups = None,
    max_episodes: MaxTimeline = paging.TIMELINE.default,
    order: Annotated[
        Literal["newest_window", "oldest_first"],
        Field(description="which page comes first; each is printed oldest first"),
    ] = "newest_window",
    valid_after: After = None,
    valid_before: Before = None,
    max_content_chars: MaxContentChars = paging.CONTENT.default,
    cursor: Cursor = None,
) -> TimelineResponse:
    """Get the episodes that mention one entity, in time, with first and last mention and mentions per month.

    Use for how something evolved, how often it came up, when it was first discussed. To search episodes by content
    use search_episodes instead, to find entities search_nodes.
    """
    return await call.services[EXPLORING].get_entity_timeline(
        call.caller,
        entity_uuid,
        group_ids,
        max_episodes,
        order,
        valid_after,
        valid_before,
        max_content_chars,
        cursor,
    )


async def get_episodes(
    call: Call,
    group_ids: GroupIds = None,
    max_episodes: MaxEpisodes = paging.EPISODES.default,
    episode_uuids: Annotated[Strings | None, Field(description="these instead of the newest")] = None,
    content_offset: Annotated[int, Field(ge=0, description="read on from this character")] = 0,
    max_content_chars: MaxContentChars = paging.CONTENT.default,
    cursor: Cursor = None,
) -> EpisodeSearchResponse:
    """Get the newest episodes, or those with the given uuids, with their content.

    Use for what happened lately, for the source of a fact (its episodes), and to read long content on. To search by
    content use search_episodes instead.
    """
    return await call.services[EXPLORING].get_episodes(
        call.caller, group_ids, max_episodes, episode_uuids, content_offset, max_content_chars, cursor
    )


async def get_episode_entities(
    call: Call,
    episode_uuids: Annotated[Strings, Field(min_length=1, max_length=100)],
    max_entities: MaxEntities = paging.ENTITIES.default,
    cursor: Cursor = None,
) -> EpisodeEntitiesResponse:
    """Get the entities that episodes mention.

    Use to see what a note was linked to. For the other way round use get_entity_timeline instead.
    """
    return await call.services[EXPLORING].get_episode_entities(call.caller, episode_uuids, max_entities, cursor)


async def get_entity_edge(call: Call, uuid: Annotated[str, Field(description="fact uuid")]) -> FactResponse:
    """Get one fact with validity, quote and the episodes that support it.

    Use to check a fact before it is replaced or deleted. To find facts use search_memory_facts instead.
    """
    return await call.services[EXPLORING].get_entity_edge(call.caller, uuid)
