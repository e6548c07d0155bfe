"""Tools of the memory about what became of facts. Their docstrings are prompts."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.history.models import ChangedFactResponse, ChangesResponse, UpdatedEntityResponse
from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact, UpdateEntity, WhatChanged
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.history.changes import Changes
    from graphiti_pkm.capabilities.history.retiring import Retiring
    from graphiti_pkm.capabilities.history.updating import Updating

CHANGES: ServiceKey["Changes"] = ServiceKey("changes")
RETIRING: ServiceKey["Retiring"] = ServiceKey("retiring")
UPDATING: ServiceKey["Updating"] = ServiceKey("updating")


async def what_changed(call: Call, request: WhatChanged) -> ChangesResponse:
    """List what became of facts, newest first, with reason and words.

    Use for what is new (cursor=feed_cursor: since last call), why something no longer holds, a status's history,
    open proposals. For what held at a date use get_entity_connections instead.
    """
    return await call.services[CHANGES].what_changed(call.caller, request)


async def retire_fact(call: Call, request: RetireFact) -> ChangedFactResponse:
    """End a fact that no longer holds, or accept a proposal; history stays, restore_fact undoes it.

    Use when no note says what came instead; else use add_memory with replaces, for one that never held
    change=corrected.
    """
    return await call.services[RETIRING].retire_fact(call.caller, request)


async def update_entity(call: Call, request: UpdateEntity) -> UpdatedEntityResponse:
    """Correct an entity: rename it, its type, summary, aliases, what it is not, which episodes mean it.

    Use when a name is wrong, two were mixed up, or an episode means another; for facts use add_memory or retire_fact
    instead. All of it is done or nothing; history stays, restore_fact with its uuid undoes it.
    """
    return await call.services[UPDATING].update_entity(call.caller, request)


async def restore_fact(call: Call, request: RestoreFact) -> ChangedFactResponse:
    """Undo what last ended or corrected a fact or updated an entity, or reject a proposal; what replaced it stays.

    Use when something was ended wrongly. To end a fact use retire_fact instead.
    """
    return await call.services[RETIRING].restore_fact(call.caller, request)
