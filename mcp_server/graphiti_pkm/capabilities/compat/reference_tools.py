"""The tools of ``reference``, some under the names of those of ``compat``. Their docstrings are prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.compat.tools import CLASSIC_DELETING, CLASSIC_READING, CLASSIC_WRITING
from graphiti_pkm.toolkit.call import Call

if TYPE_CHECKING:  # services are loaded after the tools are listed, requests and answers only if the tools are offered
    from graphiti_pkm.capabilities.compat.models import (
        AddedReferenceObservations,
        CreatedReferenceEntities,
        CreatedReferenceRelations,
        ReferenceDeleted,
        ReferenceGraph,
    )
    from graphiti_pkm.capabilities.compat.reference_requests import (
        AddReferenceObservations,
        CreateReferenceEntities,
        CreateReferenceRelations,
        DeleteReferenceEntities,
        DeleteReferenceObservations,
        DeleteReferenceRelations,
        OpenReferenceNodes,
        SearchReferenceNodes,
    )

TYPES = (
    "graphiti_pkm.capabilities.compat.models",
    "graphiti_pkm.capabilities.compat.reference_requests",
)


async def create_entities(call: Call, request: CreateReferenceEntities) -> CreatedReferenceEntities:
    """Create entities with a type and observations; known names are skipped and listed in skipped.

    Use for what is new. To add to a known entity, use add_observations instead. Returns the new entities.
    """
    return await call.services[CLASSIC_WRITING].create_reference_entities(call.caller, request)


async def create_relations(call: Call, request: CreateReferenceRelations) -> CreatedReferenceRelations:
    """Create relations between entities that exist, in active voice; one unknown name refuses the whole call.

    Use create_entities first for what is new; for a sentence about one entity, use add_observations instead. Returns
    the new relations; known ones are skipped.
    """
    return await call.services[CLASSIC_WRITING].create_reference_relations(call.caller, request)


async def add_observations(call: Call, request: AddReferenceObservations) -> AddedReferenceObservations:
    """Add observations to entities that exist, named exactly; one unknown name refuses the whole call.

    Use create_entities for new entities instead. Returns what was added, without what was known.
    """
    return await call.services[CLASSIC_WRITING].add_reference_observations(call.caller, request)


async def search_nodes(call: Call, request: SearchReferenceNodes) -> ReferenceGraph:
    """Search entities that hold a text in their name, type or an observation, with the relations that touch them.

    Use one word or a part of one: the query is compared as a whole. For entities whose names you know, use open_nodes
    instead. At most 50 entities and 200 relations; cut tells how many there are.
    """
    return await call.services[CLASSIC_READING].search_nodes(call.caller, request)


async def open_nodes(call: Call, request: OpenReferenceNodes) -> ReferenceGraph:
    """Fetch entities by exact name, with the relations that touch them.

    Use when you know the names; to find entities by a word, use search_nodes instead. Unknown names are left out.
    At most 50 entities and 200 relations; cut tells how many there are.
    """
    return await call.services[CLASSIC_READING].open_nodes(call.caller, request)


async def delete_entities(call: Call, request: DeleteReferenceEntities) -> ReferenceDeleted:
    """Delete entities for good, with their observations and relations; exact names.

    Use only when the user asks for it. To take out one sentence, use delete_observations instead. What people said of
    them in other episodes stays and is counted in kept.
    """
    return await call.services[CLASSIC_DELETING].delete_reference_entities(call.caller, request)


async def delete_observations(call: Call, request: DeleteReferenceObservations) -> ReferenceDeleted:
    """Delete observations for good, by their exact texts; the entity and its other observations stay.

    Use to take out what is wrong. To delete all of an entity, use delete_entities instead.
    """
    return await call.services[CLASSIC_DELETING].delete_reference_observations(call.caller, request)


async def delete_relations(call: Call, request: DeleteReferenceRelations) -> ReferenceDeleted:
    """Delete exactly these relations for good; the entities stay.

    Use to take out what is wrong. To delete an entity with all its relations, use delete_entities instead.
    """
    return await call.services[CLASSIC_DELETING].delete_reference_relations(call.caller, request)
