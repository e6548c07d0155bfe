"""The tools of ``compat``. Their docstrings are prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed, requests and answers only if the tools are offered
    from graphiti_pkm.capabilities.compat.deleting import ClassicDeleting
    from graphiti_pkm.capabilities.compat.models import (
        AddedObservations,
        CreatedEntities,
        CreatedRelations,
        Deleted,
        KnowledgeGraph,
    )
    from graphiti_pkm.capabilities.compat.reading import ClassicReading
    from graphiti_pkm.capabilities.compat.requests import (
        AddObservations,
        CreateEntities,
        CreateRelations,
        DeleteEntities,
        DeleteObservations,
        DeleteRelations,
        FindMemoriesByName,
        SearchMemories,
    )
    from graphiti_pkm.capabilities.compat.writing import ClassicWriting

TYPES = (
    "graphiti_pkm.capabilities.compat.models",
    "graphiti_pkm.capabilities.compat.requests",
)
CLASSIC_WRITING: ServiceKey[ClassicWriting] = ServiceKey("classic writing")
CLASSIC_READING: ServiceKey[ClassicReading] = ServiceKey("classic reading")
CLASSIC_DELETING: ServiceKey[ClassicDeleting] = ServiceKey("classic deleting")


async def create_entities(call: Call, request: CreateEntities) -> CreatedEntities:
    """Create entities with a type and observations; a known name is merged, not made twice.

    Use for things that nobody said in so many words. For what was said, with dates or with what it replaces, use
    add_memory instead. Returns the entities as they are now; known_as tells which name was known in another spelling.
    Nothing is guessed and nothing ends.
    """
    return await call.services[CLASSIC_WRITING].create_entities(call.caller, request)


async def create_relations(call: Call, request: CreateRelations) -> CreatedRelations:
    """Create relations between entities that exist, named exactly; a known relation is not made twice.

    Use create_entities first for what is new. To end what was so, use add_memory with replaces instead. Returns the
    relations, and in failed those with an unknown end and the names that may be meant.
    """
    return await call.services[CLASSIC_WRITING].create_relations(call.caller, request)


async def add_observations(call: Call, request: AddObservations) -> AddedObservations:
    """Add observations, one sentence each, to entities that exist, named exactly.

    Use create_entities for new entities instead. Returns what was added, without what was known, and the names that no
    entity has.
    """
    return await call.services[CLASSIC_WRITING].add_observations(call.caller, request)


async def search_memories(call: Call, request: SearchMemories) -> KnowledgeGraph:
    """Search entities by keywords in names, types and observations; the best first, with the relations among them.

    Use to discover what is known. For entities whose names you know, use find_memories_by_name instead. Relations are
    only those among the returned entities; relation_count tells how many an entity has in all.
    """
    return await call.services[CLASSIC_READING].search_memories(call.caller, request)


async def find_memories_by_name(call: Call, request: FindMemoriesByName) -> KnowledgeGraph:
    """Fetch known entities by exact name, in the order of the names, with the relations among them.

    Use when you know the names; to discover entities by keyword, use search_memories instead. Relations are only those
    among the returned entities. The limit matters when many names are given: cut lists the names left out.
    """
    return await call.services[CLASSIC_READING].find_memories_by_name(call.caller, request)


async def delete_entities(call: Call, request: DeleteEntities) -> Deleted:
    """Delete entities for good, with their observations and relations; exact names.

    Use only when the user asks for it. What people said of them in other episodes stays and is counted in kept; forget
    takes that out instead.
    """
    return await call.services[CLASSIC_DELETING].delete_entities(call.caller, request)


async def delete_relations(call: Call, request: DeleteRelations) -> Deleted:
    """Delete exactly these relations for good; the entities stay.

    Use only for what never was so. For what is over, use retire_fact instead, which keeps the history.
    """
    return await call.services[CLASSIC_DELETING].delete_relations(call.caller, request)


async def delete_observations(call: Call, request: DeleteObservations) -> Deleted:
    """Delete observations for good, by their exact texts; the entity and its other observations stay.

    Use only for what never was so. For what is over, use retire_fact instead, which keeps the history.
    """
    return await call.services[CLASSIC_DELETING].delete_observations(call.caller, request)
