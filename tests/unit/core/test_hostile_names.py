"""Names of the greatest length that are all alike: however many there are, a call compares them in a moment.

Measured in processor time, many times what it takes; letter by letter it took minutes.
"""

import time
from collections.abc import Callable
from itertools import product
from string import ascii_lowercase
from typing import Any

import pytest
from tests.builders import a_name, a_write, an_entity
from tests.growth import growth
from tests.worlds.reading_world import World
from tests.worlds.writing_world import WritingWorld, attention

from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.core.identity.known_names import KnownNames
from graphiti_pkm.core.identity.spelling import close_spelling

LONGEST = 200


@pytest.fixture
def spent() -> Callable[[], float]:
    """Seconds of the processor used in the test, threads included."""
    start = time.process_time()
    return lambda: time.process_time() - start


def alike(count: int, *, begin: str = "x", length: int = LONGEST) -> list[str]:
    """Names that differ in two letters in their middle."""
    ends = ("".join(pair) for pair in product(ascii_lowercase, repeat=2))
    half = (length - 2) // 2
    return [begin * half + next(ends) + begin * (length - 2 - half) for _ in range(count)]


def test_two_names_are_compared_in_linear_time() -> None:
    def work(size: int) -> Callable[[], object]:
        one, other = "x" * size + "ab" + "y" * size, "x" * size + "cd" + "y" * size
        return lambda: close_spelling(one, other)

    assert growth(work, (16, 32, 64, 128, 256, 512)) is None


def told(relation: str, **fields: Any) -> dict[str, Any]:
    return {"source": "Anna", "target": "Berlin", "relation": relation, "fact": "So it is.", **fields}


async def test_a_hundred_new_relations_beside_a_hundred_like_them(spent: Callable[[], float]) -> None:
    world = WritingWorld()
    known, new = alike(100), alike(200)[100:]
    await world.tell("One.", *(told(relation) for relation in known))
    answer = await world.tell("Two.", *(told(relation, replaces="current") for relation in new))
    assert attention(answer).count("near_relation") > 10
    assert spent() < 10


async def test_readings_of_measures_that_are_all_alike(spent: Callable[[], float]) -> None:
    world = WritingWorld()
    first, *more = (told("READS", kind="reading", value="1", measure=one) for one in alike(200))
    await world.tell("One.", first)
    answer = await world.tell("Two.", *more)
    assert "near_measure" in attention(answer)
    assert spent() < 10


@pytest.mark.parametrize("length", [64, LONGEST])
def test_new_names_among_known_ones_that_are_alike(spent: Callable[[], float], length: int) -> None:
    names = alike(600, length=length)
    known = KnownNames(a_name(an_entity(name)) for name in names[:500])
    found = [known.lookalikes(name) for name in names[500:]]
    assert all(found) == (length < LONGEST)
    assert spent() < 5


def test_names_of_the_same_words_but_for_marks(spent: Callable[[], float]) -> None:
    known = KnownNames(a_name(an_entity(f"Anna {'very ' * 2}{'!' * i}")) for i in range(1, 190))
    found = [known.lookalikes(f"Anna{'!' * i}") for i in range(1, 190)]
    assert any(found)
    assert spent() < 5


def test_a_name_is_kept_in_a_few_times_its_room() -> None:
    known = KnownNames(a_name(an_entity(name)) for name in alike(100))
    assert len(known._by_spelling) < 100


async def test_fifty_names_are_asked_for_that_nobody_has(spent: Callable[[], float]) -> None:
    world = World()
    words = " ".join(alike(8, length=24))
    people = [an_entity(f"{words} {ending}") for ending in alike(60, begin="y", length=2)]
    await world.given(a_write(*people, *map(a_name, people)))
    asked = [f"{words[:-4]}{ending}" for ending in alike(50, begin="z", length=4)]
    answer = await world.searching.search_nodes(world.caller, SearchNodes(names=asked, group_ids="t1"))
    assert answer.not_found == asked
    assert spent() < 5


async def test_one_entity_declared_again_and_again_with_other_spellings(spent: Callable[[], float]) -> None:
    world = WritingWorld()
    spellings = [f"an{'-' * i}na{'_' * j}" for i in range(40) for j in range(25)]
    aliases = [
        f"{letter}{number}" for letter in alike(4, length=20) for number in range(225)
    ]  # as many as a call takes
    given = [{"name": "Anna", "aliases": both} for both in zip(*[iter(spellings + aliases)] * 50, strict=True)]
    await world.tell("Anna was here.", entities=given)
    (name,) = [one for one in world.graph.tables.names.values() if one.text == "Anna"]
    assert len(name.spellings) == 50
    assert spent() < 10


async def test_many_old_names_are_looked_for_in_a_long_body(spent: Callable[[], float]) -> None:
    world = WritingWorld()
    await world.tell("One.", told("LIVES_IN", target="Oslo"))
    old = [[f"Town {number}-{place}" for place in range(20)] for number in range(20)]
    facts = [told("LIVES_IN", target=f"City {number}", replaces=names) for number, names in enumerate(old)]
    await world.tell("a town of 12 " * 4_000, *facts)
    assert spent() < 20
