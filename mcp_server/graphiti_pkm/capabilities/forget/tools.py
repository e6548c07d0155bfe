"""Tools that delete and forget. Their docstrings are prompts."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import ClearGraph, DeleteEntityEdge, DeleteEpisode, Forget
from graphiti_pkm.core.model.answers import ClearResponse, DeleteResponse
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.forget.clearing import Clearing
    from graphiti_pkm.capabilities.forget.deleting import Deleting
    from graphiti_pkm.capabilities.forget.service import Forgetting

CLEARING: ServiceKey["Clearing"] = ServiceKey("clearing")
DELETING: ServiceKey["Deleting"] = ServiceKey("deleting")
FORGETTING: ServiceKey["Forgetting"] = ServiceKey("forgetting")


async def delete_episode(call: Call, request: DeleteEpisode) -> DeleteResponse:
    """Delete an episode from all answers, with the facts, entities and mentions that only it supports.

    Use when a whole note must go; it leaves the server's files too, not backups. What other episodes support stays and
    what it ended stays ended; the answer lists both. For a fact that no longer holds use add_memory with replaces
    instead: history stays.
    """
    return await call.services[DELETING].delete_episode(call.caller, request)


async def delete_entity_edge(call: Call, request: DeleteEntityEdge) -> DeleteResponse:
    """Delete one fact from all answers; its entities and episodes stay, and what it ended stays ended.

    Use for a fact that should never have been stored. For one that changed or was wrong use add_memory with replaces
    (change: corrected) instead: history stays.
    """
    return await call.services[DELETING].delete_entity_edge(call.caller, request)


async def forget(call: Call, request: Forget) -> ForgetResponse:
    """Forget a claim or a person for good: its sentences become "[forgotten]", also in the server's files.

    Use when the user wants something gone: the first call only previews; show it, ask about ask_user, then repeat it
    with confirm. For what merely ended use retire_fact instead.
    """
    return await call.services[FORGETTING].forget(call.caller, request)


async def clear_graph(call: Call, request: ClearGraph) -> ClearResponse:
    """Clear whole groups: everything in them goes. The first call only previews and returns a confirm token.

    Use only when the user asks to empty a namespace, after showing the preview. There is no undo; only
    backups still hold it. For one note or fact use delete_episode or delete_entity_edge instead.
    """
    return await call.services[CLEARING].clear_graph(call.caller, request)
