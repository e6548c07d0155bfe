"""Tools of the memory that search by words and meaning. Their docstrings are prompts."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.search.requests import SearchEpisodes, SearchMemoryFacts, SearchNodes
from graphiti_pkm.core.model.answers import EpisodeSearchResponse, FactSearchResponse, NodeSearchResponse
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.search.episodes import EpisodeSearch
    from graphiti_pkm.capabilities.search.service import Searching

SEARCHING: ServiceKey["Searching"] = ServiceKey("searching")
EPISODE_SEARCH: ServiceKey["EpisodeSearch"] = ServiceKey("episode_search")


async def search_nodes(call: Call, request: SearchNodes) -> NodeSearchResponse:
    """Find entities (persons, projects, things) by name or meaning, each with its three newest current facts.

    Use first, before adding or answering, to get entity uuids. For everything about one entity use
    get_entity_connections instead, for a specific question search_memory_facts.
    """
    return await call.services[SEARCHING].search_nodes(call.caller, request)


async def search_memory_facts(call: Call, request: SearchMemoryFacts) -> FactSearchResponse:
    """Find facts by a specific question, best first; ranked, so it may miss some.

    Use when the question is known but not the entity. For all facts of one entity use get_entity_connections
    instead, for what was literally said search_episodes. "readings of X" lists a series, oldest first.
    """
    return await call.services[SEARCHING].search_memory_facts(call.caller, request)


async def search_episodes(call: Call, request: SearchEpisodes) -> EpisodeSearchResponse:
    """Find episodes, what was literally said, by words, meaning and dates in the query; ranked, so it may miss some.

    Use for somebody's own words or topics without an entity. For the history of one entity use get_entity_timeline
    instead, for the newest get_episodes.
    """
    return await call.services[EPISODE_SEARCH].search_episodes(call.caller, request)
