"""The word "me" is answered before anything is known of the person: nothing is known yet, and what adds it."""

import pytest
from tests.worlds.reading_world import UNKNOWN, World

from graphiti_pkm.capabilities.explore.requests import (
    FindEntityPath,
    GetEntityConnections,
    GetEntitySubgraph,
    GetEntityTimeline,
)
from graphiti_pkm.capabilities.history.requests import WhatChanged
from graphiti_pkm.capabilities.search.requests import SearchEpisodes, SearchMemoryFacts, SearchNodes
from graphiti_pkm.core.model.access import Caller, SharedMemory
from graphiti_pkm.errors import NotFound

NOTHING = 'nothing is known of the user yet; facts with source "me" in add_memory add it'


@pytest.mark.parametrize("word", ["me", "I", "the user"])
async def test_whoever_lists_what_is_known_of_me_is_told_that_there_is_nothing(word: str) -> None:
    world = World()
    connections = await world.exploring.get_entity_connections(world.caller, GetEntityConnections(entity_uuid=word))
    timeline = await world.exploring.get_entity_timeline(world.caller, GetEntityTimeline(entity_uuid=word))
    subgraph = await world.paths.get_entity_subgraph(world.caller, GetEntitySubgraph(entity_uuid=word))
    assert connections.message == f"No connections found for entity me: {NOTHING}."
    assert timeline.message == f"No episodes found mentioning entity me: {NOTHING}."
    assert subgraph.message == f"No entity me: {NOTHING}."
    assert (connections.total, timeline.total, connections.scope.holds) == (
        0,
        0,
        {"default": "0 episodes, 0 entities, 0 facts"},
    )


async def test_in_a_shared_memory_me_is_nobody_and_is_not_to_be_added() -> None:
    """``add_memory`` refuses ``me`` there, so the answer must not ask for it."""
    world = World()
    anna = Caller(principal="anna", shared=(SharedMemory(memory="team", tier="contributor"),))
    there = {"group_ids": ["team/decisions"]}
    connections = await world.exploring.get_entity_connections(anna, GetEntityConnections(entity_uuid="me", **there))
    nodes = await world.searching.search_nodes(anna, SearchNodes(names=["me"], **there))
    facts = await world.searching.search_memory_facts(anna, SearchMemoryFacts(entity_uuid="me", **there))
    nobody = "in a shared memory `me` could be any of its members: give the person's name instead"
    assert connections.message == f"No connections found for entity me: {nobody}."
    assert (nodes.scope.note, facts.scope.note) == (f"{nobody}.", f"{nobody}.")


async def test_whoever_searches_for_me_finds_nothing_and_is_told_so() -> None:
    world = World()
    nodes = await world.searching.search_nodes(world.caller, SearchNodes(names=["me"]))
    facts = await world.searching.search_memory_facts(world.caller, SearchMemoryFacts(entity_uuid="me"))
    near = await world.searching.search_memory_facts(
        world.caller, SearchMemoryFacts(query="coach", center_node_uuid="me")
    )
    episodes = await world.episode_search.search_episodes(world.caller, SearchEpisodes(query="coach", entity_uuid="me"))
    changes = await world.changes.what_changed(world.caller, WhatChanged(since="2026-01-01", entity_uuid="me"))
    assert (nodes.not_found, nodes.scope.note) == (["me"], f"{NOTHING}.")
    assert (facts.total, facts.scope.note) == (0, f"{NOTHING}.")
    assert (near.total, episodes.total, changes.total) == (0, 0, 0)


async def test_no_path_leads_to_me_yet_and_another_unknown_entity_is_none() -> None:
    world = World()
    path = await world.paths.find_entity_path(world.caller, FindEntityPath(source_uuid="me", target_uuid=UNKNOWN))
    assert path.message == f"No path: source_uuid names no entity; {NOTHING}."
    with pytest.raises(NotFound):
        await world.searching.search_memory_facts(world.caller, SearchMemoryFacts(entity_uuid=UNKNOWN))
