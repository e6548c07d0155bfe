"""Tools of the memory that search by words and meaning. Their docstrings are prompts."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from graphiti_pkm.core.model.answers import EpisodeSearchResponse, FactSearchResponse, NodeSearchResponse
from graphiti_pkm.core.model.queries import FactStatus
from graphiti_pkm.core.model.records import FactKind
from graphiti_pkm.core.reading import paging
from graphiti_pkm.toolkit.call import Call
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
from graphiti_pkm.toolkit.schema import Strings
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.search.episodes import EpisodeSearch
    from graphiti_pkm.capabilities.search.service import Searching

SEARCHING: ServiceKey["Searching"] = ServiceKey("searching")
EPISODE_SEARCH: ServiceKey["EpisodeSearch"] = ServiceKey("episode_search")


async def search_nodes(
    call: Call,
    query: Annotated[str | None, Field(description="words or a description")] = None,
    names: Annotated[
        Strings | None, Field(max_length=50, description="names to look up at once; query may be left out")
    ] = None,
    group_ids: GroupIds = None,
    max_nodes: MaxNodes = paging.NODES.default,
    entity_types: Annotated[Strings | None, Field(description="e.g. Person")] = None,
    center_node_uuid: Near = None,
    status: Annotated[str | None, Field(description="now, e.g. proposed; lists all without a query")] = None,
    cursor: Cursor = None,
) -> NodeSearchResponse:
    """Find entities (persons, projects, things) by name or meaning, each with its three newest current facts.

    Use first, before adding or answering, to get entity uuids. For everything about one entity use
    get_entity_connections instead, for a specific question search_memory_facts.
    """
    return await call.services[SEARCHING].search_nodes(
        call.caller, query, names, group_ids, max_nodes, entity_types, center_node_uuid, status, cursor
    )


async def search_memory_facts(
    call: Call,
    query: Annotated[str | None, Field(description="may be left out with a filter: lists all that fit")] = None,
    group_ids: GroupIds = None,
    max_facts: MaxFacts = paging.FACTS.default,
    center_node_uuid: Near = None,
    edge_types: Annotated[Strings | None, Field(description="relations, e.g. WORKS_AT")] = None,
    valid_at_after: After = None,
    valid_at_before: Before = None,
    invalid_at_after: After = None,
    invalid_at_before: Before = None,
    entity_uuid: Annotated[str | None, Field(description="only its facts; a measure's: its readings")] = None,
    entity_types: Annotated[Strings | None, Field(description="of either end")] = None,
    kind: FactKind | None = None,
    status: Annotated[FactStatus | None, Field(description="at as_of, else known_at, else now")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    cursor: Cursor = None,
) -> FactSearchResponse:
    """Find facts by a specific question, best first, with validity and episodes; ranked, so it may miss some.

    Use when the question is known but not the entity. For all facts of one entity use get_entity_connections
    instead, for what was literally said search_episodes. Readings of one measure come oldest first.
    """
    return await call.services[SEARCHING].search_memory_facts(
        call.caller,
        query,
        group_ids,
        max_facts,
        center_node_uuid,
        edge_types,
        valid_at_after,
        valid_at_before,
        invalid_at_after,
        invalid_at_before,
        entity_uuid,
        entity_types,
        kind,
        status,
        as_of,
        known_at,
        cursor,
    )


async def search_episodes(
    call: Call,
    query: str,
    group_ids: GroupIds = None,
    max_episodes: MaxEpisodes = paging.EPISODES.default,
    entity_uuid: Annotated[str | None, Field(description="only episodes that mention it")] = None,
    valid_after: After = None,
    valid_before: Before = None,
    reference_time: Annotated[
        str | None, Field(description='what "last March" in the query counts from; default now')
    ] = None,
    neighbours: Annotated[bool, Field(description="also the episode before and after each")] = False,
    cursor: Cursor = None,
) -> EpisodeSearchResponse:
    """Find episodes, what was literally said, by words, meaning and dates in the query; ranked, so it may miss some.

    Use for somebody's own words or topics without an entity. For the history of one entity use get_entity_timeline
    instead, for the newest get_episodes.
    """
    return await call.services[EPISODE_SEARCH].search_episodes(
        call.caller,
        query,
        group_ids,
        max_episodes,
        entity_uuid,
        valid_after,
        valid_before,
        reference_time,
        neighbours,
        cursor,
    )
