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


DECISIONS = (
    an_entity("ADR 4: Use SQLite for the journal and the graph", label="Decision"),
    an_entity("ADR 40 – Hotels"),
    an_entity("0004-use-sqlite"),
    an_entity("What ADR 4: says"),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ADR 4", DECISIONS[0]),
        ("adr-4", DECISIONS[0]),
        ("ADR 40", DECISIONS[1]),
        ("0004", DECISIONS[2]),
        ("ADR", None),
        ("ADR 4 Use", None),
        ("4", None),
    ],
)
async def test_the_short_title_before_a_colon_or_dash_finds_the_entity(name: str, expected: Entity | None) -> None:
    answer = await looked_up(name, known=DECISIONS)
    assert [one.uuid for one in answer.nodes] == ([expected.uuid] if expected else [])
    assert answer.not_found == (None if expected else [name])
    assert answer.ambiguous is None


async def test_a_title_of_an_alias_counts_and_one_of_several_is_told_apart() -> None:
    other = an_entity("Kafka")
    world = World()
    known = (*DECISIONS, other)
    await world.given(a_write(*known, *map(a_name, known), a_name(other, "ADR 4: Use Kafka")))
    answer = await world.searching.search_nodes(world.caller, SearchNodes(names=["ADR 4"], group_ids="t1"))
    assert {one.uuid for one in answer.nodes} == {DECISIONS[0].uuid, other.uuid}
    assert answer.ambiguous is not None
    assert sorted(line[:20] for line in answer.ambiguous["ADR 4"]) == sorted(
        f"{one.name} ({one.uuid[:8]})"[:20] for one in (DECISIONS[0], other)
    )


IN_SETS = (
    an_entity("govuk/ADR 4", label="Decision"),
    an_entity("govuk/ADR 15: Move/copy of data"),
    an_entity("docs/govuk/0033-logs"),
    an_entity("CI/CD: pipelines"),
    an_entity("9/11"),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ADR 4", IN_SETS[0]),
        ("adr-4", IN_SETS[0]),
        ("ADR 15", IN_SETS[1]),
        ("govuk/ADR 15", IN_SETS[1]),
        ("copy of data", None),
        ("0033", IN_SETS[2]),
        ("0033-logs", IN_SETS[2]),
        ("CI/CD", IN_SETS[3]),
        ("CD", IN_SETS[3]),
        ("govuk", None),
        ("11", None),
    ],
)
async def test_what_stands_after_the_last_slash_is_a_short_title(name: str, expected: Entity | None) -> None:
    answer = await looked_up(name, known=IN_SETS)
    assert [one.uuid for one in answer.nodes] == ([expected.uuid] if expected else [])
    assert answer.not_found == (None if expected else [name])


async def test_decisions_of_two_sets_are_told_apart() -> None:
    other = an_entity("team/ADR 4", label="Decision")
    answer = await looked_up("ADR 4", known=(*IN_SETS, other))
    assert {one.uuid for one in answer.nodes} == {IN_SETS[0].uuid, other.uuid}
    assert answer.ambiguous is not None
    assert sorted(line.split(" (")[0] for line in answer.ambiguous["ADR 4"]) == [IN_SETS[0].name, other.name]


async def test_an_entity_of_that_very_name_is_meant_and_not_one_with_the_title() -> None:
    own = an_entity("ADR 4")
    answer = await looked_up("ADR 4", known=(*DECISIONS, own))
    assert [one.uuid for one in answer.nodes] == [own.uuid]
    typed = await looked_up("ADR 4", known=DECISIONS, entity_types=["Person"])
    assert typed.nodes == []
