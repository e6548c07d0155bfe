"""The tool that writes one fact as it is. Its docstring is a prompt."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from graphiti_pkm.core.model.answers import TripletResponse
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.parameters import GroupId
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.remember.triplets import Triplets

TRIPLETS: ServiceKey["Triplets"] = ServiceKey("triplets")


async def add_triplet(
    call: Call,
    source_node_name: str,
    edge_name: Annotated[str, Field(description="UPPER_SNAKE, e.g. WORKS_AT")],
    fact: Annotated[str, Field(description="one sentence with both names")],
    target_node_name: str,
    group_id: GroupId = None,
    source_node_uuid: Annotated[str | None, Field(description="an existing entity instead of the name")] = None,
    target_node_uuid: Annotated[str | None, Field(description="likewise")] = None,
) -> TripletResponse:
    """Add one fact between two entities, which are found by name or made; the sentence is kept as its episode.

    Use for a single fact that no one said in so many words, and for scripts written for the upstream server. For what
    was said, with its dates, several facts or what they replace, use add_memory instead.
    """
    return await call.services[TRIPLETS].add_triplet(
        call.caller, source_node_name, edge_name, fact, target_node_name, group_id, source_node_uuid, target_node_uuid
    )
