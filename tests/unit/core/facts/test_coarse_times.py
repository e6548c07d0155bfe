"""A month or year asked about is read as its first instant, and the answer says so and how to see the rest."""

import re
from typing import Any

import pytest
from tests.builders import a_fact, a_write, an_entity, an_episode, at
from tests.worlds.reading_world import World

from graphiti_pkm.capabilities.explore.requests import FindEntityPath, GetEntityConnections, GetEntitySubgraph
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts

ANN, ACME = an_entity("Ann"), an_entity("Acme")
MARCH = "as_of read as 2026-03-01; for its end use as_of=2026-04-01."
YEAR = "as_of read as 2026-01-01; for its end use as_of=2027-01-01."
KNOWN = "known_at read as 2026-03-01; for its end use known_at=2026-04-01."

CASES = [
    ({"as_of": "2026-03"}, MARCH),
    ({"as_of": "2026"}, YEAR),
    ({"as_of": "2026-03-01"}, None),
    ({"as_of": "2026-03-01T09:00"}, None),
    ({"as_of": "9999"}, None),
    ({"valid_before": "2026-03"}, None),
    ({}, None),
]
KNOWN_CASES = [
    ({"known_at": "2026-03"}, KNOWN),
    ({"as_of": "2026-03", "known_at": "2026-03"}, f"{MARCH} {KNOWN}"),
    ({"known_at": "2026-03-01"}, None),
]


@pytest.fixture
async def world() -> World:
    world = World()
    world.clock.instant = at(2026, 6)
    works = a_fact(ANN, ACME, "WORKS_AT", valid_at=at(2026, 3, 9), created_at=at(2025))
    await world.given(a_write(ANN, ACME, an_episode(created_at=at(2025)), works))
    return world


async def note_of(world: World, tool: str, asked: dict[str, Any]) -> str | None:
    """What the scope of an answer notes."""
    caller, given = world.caller, dict(asked)
    if tool == "search_memory_facts":
        facts = await world.searching.search_memory_facts(caller, SearchMemoryFacts(entity_uuid=ANN.uuid, **given))
        return facts.scope.note
    if tool == "get_entity_connections":
        return (
            await world.exploring.get_entity_connections(caller, GetEntityConnections(entity_uuid=ANN.uuid, **given))
        ).scope.note
    if tool == "find_entity_path":
        return (
            await world.paths.find_entity_path(
                caller, FindEntityPath(source_uuid=ANN.uuid, target_uuid=ACME.uuid, **given)
            )
        ).scope.note
    return (await world.paths.get_entity_subgraph(caller, GetEntitySubgraph(entity_uuid=ANN.uuid, **given))).scope.note


@pytest.mark.parametrize("tool", ["find_entity_path", "get_entity_subgraph"])
@pytest.mark.parametrize(("asked", "note"), CASES)
async def test_a_walk_says_how_a_month_is_read(
    world: World, tool: str, asked: dict[str, Any], note: str | None
) -> None:
    assert await note_of(world, tool, asked) == note


@pytest.mark.parametrize("tool", ["search_memory_facts", "get_entity_connections"])
@pytest.mark.parametrize(("asked", "note"), CASES + KNOWN_CASES)
async def test_a_list_of_facts_says_how_a_month_is_read(
    world: World, tool: str, asked: dict[str, Any], note: str | None
) -> None:
    told = await note_of(world, tool, asked) or ""
    assert ("read as" in told) == (note is not None)
    assert (note or "") in told


@pytest.mark.parametrize("tool", ["search_memory_facts", "get_entity_connections"])
async def test_what_began_later_in_the_month_comes_as_the_note_says(world: World, tool: str) -> None:
    note = await note_of(world, tool, {"as_of": "2026-03"})
    assert note is not None
    called = re.search(r"use (\w+)=([\d-]+)", note)
    assert called is not None
    asked: dict[str, Any] = {called[1]: called[2]}
    if tool == "search_memory_facts":
        answer = await world.searching.search_memory_facts(
            world.caller, SearchMemoryFacts(entity_uuid=ANN.uuid, **asked)
        )
    else:
        answer = await world.exploring.get_entity_connections(
            world.caller, GetEntityConnections(entity_uuid=ANN.uuid, **asked)
        )
    assert [fact.target_node_name for fact in answer.facts] == ["Acme"]
