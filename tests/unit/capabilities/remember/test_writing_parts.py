"""A text that calls a known entity by a part of its name only: reported, never linked."""

import json

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, ready_calls, the

PERSON = {"name": "Marit Sandvik", "type": "Person"}


@pytest.fixture
async def world() -> WritingWorld:
    world = WritingWorld(now=at(2026, 6))
    await world.tell("x", entities=[PERSON, {"name": "Café Luna", "type": "Cafe"}, {"name": "Morning run"}])
    world.clock.advance(seconds=60)
    return world


async def test_a_first_name_is_reported_once_with_the_alias_that_links_all(world: WritingWorld) -> None:
    uuid = world.entity("Marit Sandvik").uuid
    first = await world.tell("Marit's boat. Sandvik, MARIT and Marit.")
    report = the(first, "part_of_name")
    assert report.candidates == [f"Marit: Marit Sandvik ({uuid[:8]})", f"Sandvik: Marit Sandvik ({uuid[:8]})"]
    assert len(report.model_dump_json()) < 260
    assert world.mentions("Marit Sandvik") == 1
    assert ready_calls(report) == []
    entities, _ = json.JSONDecoder().raw_decode(report.call[report.call.index("[") :])
    assert entities == [{"name": "Marit Sandvik", "aliases": ["Marit", "Sandvik"]}]
    answer = await world.tell("Next.", entities=entities)
    assert (answer.linked, attention(answer)) == (1, [])
    assert attention(await world.tell("Marit again.")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Marit Sandvik and Marit.",
        "marit, a lower-case word",
        "A Café.",
        "Luna's.",
        "Morning coffee.",
        "marit@example.com",
        "Maritime.",
        "Nobody.",
    ],
)
async def test_other_words_and_those_of_what_is_named_are_not_reported(world: WritingWorld, text: str) -> None:
    assert "part_of_name" not in attention(await world.tell(text))


async def test_a_word_of_two_names_is_not_reported(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Marit Olsen"}])
    report = the(await world.tell("Marit Olsen... Marit met Sandvik."), "part_of_name")
    assert [one.split(":")[0] for one in report.candidates] == ["Sandvik"]


async def test_a_name_of_its_own_is_no_part(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Sandvik AB"}, {"name": "Sandvik"}])
    assert attention(await world.tell("Sandvik makes steel.")) == []


async def test_what_the_call_names_itself_is_not_reported(world: WritingWorld) -> None:
    by_name = await world.tell("Marit came.", entities=[PERSON])
    other = await world.tell("Marit came.", entities=[{"name": "Marit Olsen"}])
    by_end = await world.tell("Sandvik came.", {"source": "Tom Sandvik", "relation": "CAME", "kind": "event"})
    assert all("part_of_name" not in attention(one) for one in (by_name, other, by_end))


async def test_months_days_and_titles_are_not_reported(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": "Doctor April Friday Lind", "type": "Person"}])
    assert attention(await world.tell("The Doctor came in April, on Friday.")) == []


async def test_at_most_five_are_named(world: WritingWorld) -> None:
    await world.tell("x", entities=[{"name": f"{first} Lindqvist", "type": "Person"} for first in _FIRST])
    report = the(await world.tell(", ".join(_FIRST)), "part_of_name")
    assert (len(report.candidates), report.call.count('"name"')) == (5, 5)


_FIRST = ("Ada", "Bea", "Cleo", "Dora", "Elsa", "Fay", "Gina")
