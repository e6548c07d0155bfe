"""The tool that stores. Its docstring is a prompt."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.records import EpisodeSource
from graphiti_pkm.core.model.requests import MAX_BODY, MAX_STEERING, AddMemory
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.parameters import GroupId
from graphiti_pkm.toolkit.schema import Entities, Facts, Strings
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.remember.service import Writing

WRITING: ServiceKey["Writing"] = ServiceKey("writing")


async def add_memory(
    call: Call,
    episode_body: Annotated[
        str, Field(max_length=MAX_BODY, description="what was said, verbatim; it is kept unchanged")
    ],
    name: Annotated[str | None, Field(description="short title; made from the text if left out")] = None,
    group_id: GroupId = None,
    source: EpisodeSource = "text",
    source_description: str = "",
    uuid: Annotated[str | None, Field(description="own uuid of the episode, for safe repeats")] = None,
    reference_time: Annotated[str | None, Field(description="when it happened; now if left out")] = None,
    entities: Annotated[Entities | None, Field(description="persons, projects, things the body names")] = None,
    facts: Annotated[Facts | None, Field(description="what the body says of them")] = None,
    excluded_entity_types: Strings | None = None,
    custom_extraction_instructions: Annotated[str | None, Field(max_length=MAX_STEERING)] = None,
    previous_episode_uuids: Strings | None = None,
    update_communities: bool = False,
    saga: str | None = None,
    saga_previous_episode_uuid: str | None = None,
    wait_seconds: Annotated[int, Field(ge=0, le=45, description="wait for what a configured model finds")] = 0,
) -> AddMemoryResponse:
    """Store what was said as an episode, with the entities and facts you found in it; the one way to add knowledge.

    Use after searching: search_nodes for the names, get_entity_connections with each entity_uuid, then write
    episode_body with those names, so that it joins what is known instead of standing alone. Stored durably before
    it answers; known names in the text are linked. To end an old fact, give the new one with replaces. Act on
    needs_attention only. Not for questions: search_memory_facts.
    """
    given = {
        "excluded_entity_types": excluded_entity_types,
        "custom_extraction_instructions": custom_extraction_instructions,
        "previous_episode_uuids": previous_episode_uuids,
        "update_communities": update_communities or None,
        "saga": saga,
        "saga_previous_episode_uuid": saga_previous_episode_uuid,
    }
    request = AddMemory(
        name=name,
        episode_body=episode_body,
        group_id=group_id,
        source=source,
        source_description=source_description,
        uuid=uuid,
        reference_time=reference_time,
        entities=tuple(entities or ()),
        facts=tuple(facts or ()),
        steering={key: value for key, value in given.items() if value is not None},
    )
    return await call.services[WRITING].add_memory(call.caller, request, wait_seconds, call.progress)
