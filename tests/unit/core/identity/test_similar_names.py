"""A name that no entity has is answered with the few that may be meant."""

import pytest
from tests.builders import OTHER_GROUP, a_name, a_write, an_entity
from tests.worlds.reading_world import World

from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.core.model.answers import NodeSearchResponse
from graphiti_pkm.core.model.records import Entity

TOBIAS = an_entity("Tobias Wenger", label="Person")
PEOPLE = (TOBIAS, an_entity("Ida Wenger"), an_entity("Marit Sandvik", summary="Knows Tobias and Ida."))


async def looked_up(*names: str, known: tuple[Entity, ...] = PEOPLE, **more: object) -> NodeSearchResponse:
    world = World()
    await world.given(a_write(*known, *map(a_name, known)))
    return await world.searching.search_nodes(world.caller, SearchNodes(names=names, group_ids="t1", **more))  # type: ignore[arg-type]


def shown(*entities: Entity) -> list[str]:
    return [f"{one.name} ({one.uuid[:8]})" for one in entities]


@pytest.mark.parametrize("name", ["Tobias", "tobias"])
async def test_the_first_name_of_a_person_finds_them(name: str) -> None:
    answer = await looked_up(name)
    assert [one.uuid for one in answer.nodes] == [TOBIAS.uuid]
    assert (answer.not_found, answer.similar, answer.ambiguous) == (None, None, None)


@pytest.mark.parametrize("name", ["Tobais", "Tobias Wengler", "Tobias K. Wenger", "Dr. Tobias Wenger"])
async def test_a_part_of_a_name_or_a_slip_in_it_brings_the_whole_name(name: str) -> None:
    answer = await looked_up(name)
    assert (answer.not_found, answer.similar) == ([name], {name: shown(TOBIAS)})
    assert answer.nodes == []


async def test_an_alias_counts_and_a_surname_brings_all_who_have_it_in_order() -> None:
    boat = an_entity("Vessel")
    world = World()
    await world.given(a_write(*PEOPLE, boat, *map(a_name, (*PEOPLE, boat)), a_name(boat, "Wenger boat")))
    answer = await world.searching.search_nodes(
        world.caller, SearchNodes(names=["Wenger", "Zoe", "Marit Sandvik"], group_ids="t1")
    )
    assert answer.similar == {"Wenger": shown(PEOPLE[1], TOBIAS, boat)}
    assert answer.not_found == ["Wenger", "Zoe"]


async def test_at_most_three_are_named_and_only_those_that_pass_the_filter() -> None:
    many = tuple(an_entity(f"Anna Name{letter}") for letter in "ABCDE")
    answer = await looked_up("Anna", known=many)
    assert answer.similar == {"Anna": shown(*many[:3])}
    elsewhere = await looked_up("Anna", known=(an_entity("Anna Berg", group_id=OTHER_GROUP),))
    typed = await looked_up("Tobias", entity_types=["Project"])
    assert (elsewhere.similar, typed.similar) == (None, None)


@pytest.mark.parametrize("name", ["Bob", "Wen", "Knows", "🦊", "of"])
async def test_other_words_bring_nothing(name: str) -> None:
    answer = await looked_up(name)
    assert (answer.not_found, answer.similar) == ([name], None)
