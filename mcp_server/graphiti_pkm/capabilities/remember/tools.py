"""The tools that store. Their docstrings are prompts."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.remember.requests import AddTriplet
from graphiti_pkm.core.model.answers import AddMemoryResponse, TripletResponse
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.remember.service import Writing
    from graphiti_pkm.capabilities.remember.triplets import Triplets

WRITING: ServiceKey["Writing"] = ServiceKey("writing")
TRIPLETS: ServiceKey["Triplets"] = ServiceKey("triplets")


async def add_memory(call: Call, request: AddMemory) -> AddMemoryResponse:
    """Store what was said as an episode, with the entities and facts you found in it; the one way to add knowledge.

    Use after searching: search_nodes for the names, get_entity_connections with each entity_uuid, then write
    episode_body with those names, so that it joins what is known. Stored durably before it answers; known names in
    the text are linked. To end an old fact, give the new one with replaces. Only needs_attention calls for action.
    For questions use search_memory_facts instead.
    """
    return await call.services[WRITING].add_memory(call.caller, request, call.progress)


async def add_triplet(call: Call, request: AddTriplet) -> TripletResponse:
    """Add one fact between two entities, which are found by name or made; the sentence is kept as its episode.

    Use for a single fact that no one said in so many words, and for scripts written for the upstream server. For what
    was said, with its dates, several facts or what they replace, use add_memory instead.
    """
    return await call.services[TRIPLETS].add_triplet(call.caller, request)
