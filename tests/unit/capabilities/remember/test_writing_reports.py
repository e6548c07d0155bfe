"""What is reported about a write is short, and only what may be acted on."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention

ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme"}
FIRM, TOM = {"name": "Acme", "type": "Organization"}, {"name": "Tom", "type": "Person"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


@pytest.mark.parametrize(
    ("known", "entities", "relation", "is_near"),
    [
        ([FIRM], [TOM], "WORKS_WITH", False),
        ([FIRM], [TOM], "WORKS_ON", False),
        ([], [], "WORKS_WITH", False),
        ([FIRM], [], "WORKS_FOR", True),
        ([FIRM], [{"name": "Tom", "type": "Organization"}], "WORKS_WITH", False),
        ([FIRM], [TOM], "WORK_AT", True),
        ([FIRM], [TOM], "WORKS_ATT", True),
    ],
)
async def test_a_relation_to_another_kind_of_thing_is_not_near_unless_it_is_spelt_so(
    world: WritingWorld, known: list[dict[str, Any]], entities: list[dict[str, Any]], relation: str, *, is_near: bool
) -> None:
    await world.tell("one", ACME, entities=known)
    answer = await world.tell("two", {"source": "me", "relation": relation, "target": "Tom"}, entities=entities)
    assert ("near_relation" in attention(answer)) == is_near


async def test_the_type_of_a_known_target_counts(world: WritingWorld) -> None:
    await world.tell("one", ACME, entities=[FIRM, TOM])
    answer = await world.tell("two", {"source": "me", "relation": "WORKS_ON", "target": "Tom"})
    assert attention(answer) == []


@pytest.mark.parametrize(
    ("known", "new", "is_similar"),
    [
        ({"name": "Gothenburg", "type": "City"}, {"name": "Gothenburg half marathon", "type": "Event"}, False),
        ({"name": "Gothenburg"}, {"name": "Gothenburg half marathon", "type": "Event"}, False),
        ({"name": "Acme", "type": "Organization"}, {"name": "Acme board", "type": "Organization"}, False),
        ({"name": "Acme", "type": "Organization"}, {"name": "Acme Ltd", "type": "Organization"}, True),
        ({"name": "Marit Sandvik", "type": "Person"}, {"name": "Marit", "type": "Friend"}, True),
        ({"name": "Marit", "type": "Person"}, {"name": "Marit birthday", "type": "Event"}, False),
        ({"name": "Marit Sandvik", "type": "Person"}, {"name": "Marit", "type": "person"}, True),
        ({"name": "Gothenburg", "type": "City"}, {"name": "Gothenborg", "type": "Place"}, True),
    ],
)
async def test_a_name_within_a_name_is_similar_only_if_the_types_may_be_the_same(
    world: WritingWorld, known: dict[str, Any], new: dict[str, Any], *, is_similar: bool
) -> None:
    await world.tell("one", entities=[known])
    assert ("similar_existing" in attention(await world.tell("two", entities=[new]))) == is_similar


async def test_what_asks_for_nothing_is_short(world: WritingWorld) -> None:
    await world.tell("one", entities=[{"name": "Will Hewer", "aliases": ["Will"]}, {"name": "Ann"}])
    facts = [{**ACME, "quote": "not there"}, {"source": "Ben", "relation": "KNOWS", "target": "Cleo"}]
    answer = await world.tell("two", *facts, entities=[{"name": "Ann", "aliases": ["Will"]}])
    lengths = {one.what: len(one.model_dump_json()) for one in answer.needs_attention}
    assert lengths.keys() == {"quote_not_found", "undeclared_endpoint", "alias_taken"}
    assert lengths["alias_taken"] < 290
    assert lengths["undeclared_endpoint"] < 190
    assert lengths["quote_not_found"] < 130
    assert "Nothing is needed" not in "".join(one.call for one in answer.needs_attention)
