"""Facts without a target: they point at a thing that only the relation names."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention

STATUS: dict[str, Any] = {"source": "Heron", "relation": "HAS_STATUS", "value": "late", "fact": "Heron is late"}
RAN: dict[str, Any] = {"source": "me", "relation": "ran", "kind": "event", "fact": "I ran"}
SLEEP = {"source": "me", "relation": "SLEEPS", "kind": "reading", "measure": "sleep", "value": 7}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


@pytest.mark.parametrize(
    ("fact", "name", "text"),
    [
        (STATUS, "status", "What is the status of the race?"),
        (RAN, "ran", "Tom ran home."),
        ({"source": "me", "relation": "MOOD", "kind": "reading", "value": "6/10"}, "mood", "Tom's mood is bad."),
    ],
)
async def test_what_only_a_relation_names_is_linked_to_no_text(
    world: WritingWorld, fact: dict[str, Any], name: str, text: str
) -> None:
    await world.tell(text)
    told = await world.tell("A note.", fact)
    assert told.linked == 0
    assert (world.facts[0].target_name, world.facts[0].text) == (name, told.facts[0].fact or fact["fact"])
    assert name not in [one.name for one in (await world.tell(text)).entities]
    assert world.mentions(name) == 1


async def test_it_is_one_thing_however_often_it_is_told(world: WritingWorld) -> None:
    await world.tell("one", STATUS)
    answer = await world.tell("two", {**STATUS, "source": "Ibis"})
    assert ("status", "matched") in [(one.name, one.outcome) for one in answer.entities]


async def test_it_is_neither_near_in_meaning_nor_similar_to_a_new_name(world: WritingWorld) -> None:
    await world.tell("one", STATUS, entities=[{"name": "Heron"}])
    assert world.entity("status").uuid not in world.graph.tables.vectors
    assert world.entity("Heron").uuid in world.graph.tables.vectors
    assert attention(await world.tell("two", entities=[{"name": "the status"}])) == []


async def test_a_measure_is_found_by_meaning_but_linked_only_to_texts_that_declare_it(world: WritingWorld) -> None:
    await world.tell("Bad sleep.")
    answer = await world.tell("one", SLEEP)
    assert answer.linked == 0
    assert world.entity("sleep").uuid in world.graph.tables.vectors
    assert [one.name for one in (await world.tell("I will sleep on it.")).entities] == []
    assert [one.name for one in (await world.tell("Slept 6 h.", {**SLEEP, "value": 6})).entities] == ["me", "sleep"]
    assert world.mentions("sleep") == 2
    named = await world.tell("My sleep.", entities=[{"name": "sleep"}])
    assert named.linked == 2


@pytest.mark.parametrize(
    "naming",
    [
        {"entities": [{"name": "status"}]},
        {"facts": [{"source": "Tom", "relation": "WATCHES", "target": "status"}]},
    ],
)
async def test_once_a_call_names_it_it_is_linked_like_any_other(world: WritingWorld, naming: dict[str, Any]) -> None:
    before = await world.tell("The status is bad.")
    await world.tell("A note.", STATUS)
    answer = await world.tell("Named.", *naming.pop("facts", []), **naming)
    uuid = world.entity("status").uuid
    assert ("status", "matched") in [(one.name, one.outcome) for one in answer.entities]
    assert answer.linked == 1
    assert (before.episode_uuid, uuid) in world.graph.tables.mentions
    assert uuid in world.graph.tables.vectors
    assert "status" in [one.name for one in (await world.tell("A new status.")).entities]


@pytest.mark.parametrize("is_named_first", [True, False])
async def test_a_name_given_in_the_same_call_counts(world: WritingWorld, *, is_named_first: bool) -> None:
    facts = [{"source": "Tom", "relation": "WATCHES", "target": "status"}, STATUS]
    await world.tell("A note.", *facts if is_named_first else reversed(facts))
    assert "status" in [one.name for one in (await world.tell("A new status.")).entities]
    assert world.entity("status").uuid in world.graph.tables.vectors


async def test_the_person_stays_unlinked_under_a_name_of_an_earlier_setting() -> None:
    world = WritingWorld(now=at(2026, 6), person="Anna")
    await world.tell("one", {"source": "me", "relation": "KNOWS", "target": "Tom"})
    renamed = WritingWorld(now=at(2026, 6))
    renamed.graph.tables = world.graph.tables
    await renamed.tell("two", {"source": "Anna", "relation": "LIKES", "target": "Tom"})
    assert [one.name for one in (await renamed.tell("Anna came.")).entities] == []


async def test_a_note_that_joins_only_such_a_thing_stands_alone(world: WritingWorld) -> None:
    await world.tell("one", STATUS)
    answer = await world.tell("two", {**STATUS, "source": "Zanzibar"})
    assert "search_nodes" in (answer.next_steps or "")
