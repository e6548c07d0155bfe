"""The user as the entity that a question is about."""

import pytest
from tests.builders import a_fact, a_name, a_write, an_entity
from tests.worlds.reading_world import World

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections, GetEntityTimeline
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts, SearchNodes


@pytest.mark.parametrize("word", ["me", "I", "the user", "Myself"])
async def test_a_word_for_the_user_is_taken_where_a_uuid_of_an_entity_is(word: str) -> None:
    world = World(person="Anna", default_group="t1")
    anna, other = an_entity("Anna"), an_entity("me", group_id="t2")
    write = a_write(anna, a_name(anna, "me", is_linkable=False), a_fact(anna, anna, "SLEPT"))
    await world.given(write, a_write(other, a_name(other, is_linkable=False)))
    page = await world.exploring.get_entity_connections(world.caller, GetEntityConnections(entity_uuid=word))
    assert (page.entity, page.total) == ("Anna", 1)
    assert (
        await world.exploring.get_entity_timeline(world.caller, GetEntityTimeline(entity_uuid=word))
    ).entity == "Anna"
    assert (await world.searching.search_memory_facts(world.caller, SearchMemoryFacts(entity_uuid=word))).total == 1
    assert (
        await world.searching.search_nodes(world.caller, SearchNodes(query="Anna", center_node_uuid=word))
    ).returned == 1
    elsewhere = await world.exploring.get_entity_connections(
        world.caller, GetEntityConnections(entity_uuid=word, group_ids=["t2"])
    )
    assert (elsewhere.entity, elsewhere.total) == ("me", 0)
