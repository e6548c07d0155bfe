"""Tools that walk from something known. Their docstrings are prompts."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.explore.requests import (
    FindEntityPath,
    GetEntityConnections,
    GetEntityEdge,
    GetEntitySubgraph,
    GetEntityTimeline,
    GetEpisodeEntities,
    GetEpisodes,
    GetFactSources,
)
from graphiti_pkm.core.model.answers import (
    ConnectionsResponse,
    EpisodeEntitiesResponse,
    EpisodeSearchResponse,
    FactResponse,
    FactSourcesResponse,
    PathResponse,
    SubgraphResponse,
    TimelineResponse,
)
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.explore.paths import Paths
    from graphiti_pkm.capabilities.explore.service import Exploring
    from graphiti_pkm.capabilities.explore.sources import Sources

EXPLORING: ServiceKey["Exploring"] = ServiceKey("exploring")
WORDS: ServiceKey["Sources"] = ServiceKey("sources")
WALKS: ServiceKey["Paths"] = ServiceKey("paths")


async def get_entity_connections(call: Call, request: GetEntityConnections) -> ConnectionsResponse:
    """Get every fact of one entity by direct traversal: complete, in pages of max_connections, current ones first.

    Use before adding, to see what is already known, for patterns, and for what held at a date. For a specific
    question use search_memory_facts instead, to find entities search_nodes. Ended facts are included with their
    dates; group_ids narrows to namespaces.
    """
    return await call.services[EXPLORING].get_entity_connections(call.caller, request)


async def get_entity_timeline(call: Call, request: GetEntityTimeline) -> TimelineResponse:
    """Get the episodes that mention one entity, in time, with first and last mention and mentions per month.

    Use for how something evolved, how often it came up, when it was first discussed. To search episodes by content
    use search_episodes instead, to find entities search_nodes.
    """
    return await call.services[EXPLORING].get_entity_timeline(call.caller, request)


async def get_episodes(call: Call, request: GetEpisodes) -> EpisodeSearchResponse:
    """Get the episodes of a period, complete and in order, or those with the given uuids, with their content.

    Use for what happened lately or in a month, for the source of a fact (its episodes), and to read long content on. To
    search by content use search_episodes instead.
    """
    return await call.services[EXPLORING].get_episodes(call.caller, request)


async def get_episode_entities(call: Call, request: GetEpisodeEntities) -> EpisodeEntitiesResponse:
    """Get the entities that episodes mention.

    Use to see what a note was linked to. For the other way round use get_entity_timeline instead.
    """
    return await call.services[EXPLORING].get_episode_entities(call.caller, request)


async def get_entity_edge(call: Call, request: GetEntityEdge) -> FactResponse:
    """Get one fact with validity, quote and the episodes that support it.

    Use to check a fact before it is replaced or deleted. To find facts use search_memory_facts instead.
    """
    return await call.services[EXPLORING].get_entity_edge(call.caller, request)


async def get_fact_sources(call: Call, request: GetFactSources) -> FactSourcesResponse:
    """Get the words behind a fact: sentences of the episodes that told it, verbatim with offsets, its quote first.

    Use to quote or check what was really said. To search words use search_episodes instead.
    """
    return await call.services[WORDS].get_fact_sources(call.caller, request)


async def find_entity_path(call: Call, request: FindEntityPath) -> PathResponse:
    """Find how two entities are connected: the paths of fewest facts between them, whichever way the facts point.

    Use for "how is A related to B". Each step shows the current or newest fact between two entities; corrected facts
    never count. If there is none, the answer says why. For all facts of one entity use get_entity_connections instead.
    """
    return await call.services[WALKS].find_entity_path(call.caller, request)


async def get_entity_subgraph(call: Call, request: GetEntitySubgraph) -> SubgraphResponse:
    """Get the entities around one, up to three hops away, with the facts among them.

    Use for an overview of a topic or a picture of it. The nearest and best joined come first; truncated says that
    more did not fit. For every fact of one entity, in pages, use get_entity_connections instead.
    """
    return await call.services[WALKS].get_entity_subgraph(call.caller, request)
