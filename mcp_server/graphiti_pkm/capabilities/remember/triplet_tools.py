"""Tools of the toolset ``graph`` that write. Their docstrings are prompts."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.core.model.answers import ClearResponse, TripletResponse
from graphiti_pkm.server.backend import Call
from graphiti_pkm.toolkit.parameters import GroupId, WholeGroups


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
    return await call.services.triplets.add_triplet(
        call.caller, source_node_name, edge_name, fact, target_node_name, group_id, source_node_uuid, target_node_uuid
    )


async def clear_graph(
    call: Call,
    group_ids: WholeGroups = None,
    confirm: Annotated[str | None, Field(description="from the preview; leave out to get one")] = None,
) -> ClearResponse:
    """Clear whole groups: everything in them goes. The first call only previews and returns a confirm token.

    Use only when the user asks to empty a namespace, after showing the preview. There is no undo; only
    backups still hold it. For one note or fact use delete_episode or delete_entity_edge instead.
    """
    return await call.services.clearing.clear_graph(call.caller, group_ids, confirm)
