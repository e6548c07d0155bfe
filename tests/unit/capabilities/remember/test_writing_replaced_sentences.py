"""``replaces`` that holds a sentence: the fact that says so is meant, and a sentence never becomes a name."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, the

NOW = at(2026, 6, 1)
PROMISE = {"source": "me", "relation": "PROMISED", "target": "Anna", "kind": "plan", "fact": "I promised Anna a cake"}
BAKED = {"source": "me", "relation": "BAKED", "target": "cake", "kind": "event", "fact": "I baked the cake"}
MYSQL = {"source": "orders", "relation": "USES", "target": "MySQL"}
POSTGRES = {**MYSQL, "target": "PostgreSQL"}
OSLO = {"source": "me", "relation": "LIVES_IN", "target": "Oslo"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


def entities(world: WritingWorld) -> list[str]:
    return sorted(entity.name for entity in world.graph.tables.entities.values())


@pytest.mark.parametrize(
    "sentence", ["I promised Anna a cake", "i promised  Anna a cake.", "“I promised Anna a cake!”"]
)
async def test_the_sentence_of_a_fact_of_another_relation_means_that_fact(world: WritingWorld, sentence: str) -> None:
    promise = await world.tell("I promised Anna a cake.", PROMISE)
    answer = await world.tell("I baked the cake.", {**BAKED, "replaces": [sentence]})
    assert [one.uuid for one in answer.retired] == [promise.facts[0].uuid]
    assert "ambiguous_replacement" not in attention(answer)
    assert not world.fact("me PROMISED Anna").is_open
    assert entities(world) == ["Anna", "cake", "me"]
    assert len(world.facts) == 2


async def test_a_composed_sentence_of_the_same_relation_means_that_fact(world: WritingWorld) -> None:
    mysql = await world.tell("We use MySQL for orders.", MYSQL, reference_time="2026-01-01")
    answer = await world.tell("PostgreSQL now.", {**POSTGRES, "replaces": ["orders uses MySQL"]})
    assert [one.uuid for one in answer.retired] == [mysql.facts[0].uuid]
    assert world.lines() == ["orders USES PostgreSQL"]


async def test_a_correction_finds_what_was_wrong_by_its_sentence(world: WritingWorld) -> None:
    await world.tell("one", {**OSLO, "target": "Bergen", "fact": "I live in Bergen, by the sea"})
    wrong = {"replaces": "I live in Bergen, by the sea", "change": "corrected"}
    answer = await world.tell("two", {**OSLO, **wrong})
    assert [one.kind for one in answer.retired] == ["voided"]
    assert world.lines() == ["me LIVES_IN Oslo"]


async def test_the_sentence_of_another_source_is_not_taken_for_its_own(world: WritingWorld) -> None:
    await world.tell("one", {**MYSQL, "source": "invoices", "fact": "Our shop runs on MySQL today"})
    answer = await world.tell("two", {**POSTGRES, "replaces": "Our shop runs on MySQL today"})
    assert answer.retired == []
    assert "ambiguous_replacement" in attention(answer)
    assert "invoices USES MySQL" in world.lines()


async def test_of_several_facts_with_one_sentence_the_open_one_is_meant(world: WritingWorld) -> None:
    said = {"fact": "I am with the same firm"}
    await world.tell("one", {"source": "me", "relation": "WORKS_AT", "target": "Acme", "invalid_at": "2025", **said})
    now = await world.tell("two", {"source": "me", "relation": "EMPLOYED_BY", "target": "Beta", **said})
    changed = {"source": "me", "relation": "STUDIES_AT", "target": "Lund", "replaces": said["fact"]}
    answer = await world.tell("three", changed)
    assert [one.uuid for one in answer.retired] == [now.facts[0].uuid]


async def test_of_several_open_facts_with_one_sentence_it_is_asked_which(world: WritingWorld) -> None:
    said = {"fact": "I am with the same firm"}
    await world.tell("one", {"source": "me", "relation": "WORKS_AT", "target": "Acme", **said})
    await world.tell("two", {"source": "me", "relation": "MEMBER_OF", "target": "Beta", **said})
    changed = {"source": "me", "relation": "STUDIES_AT", "target": "Lund", "replaces": said["fact"]}
    answer = await world.tell("three", changed)
    assert (answer.retired, len(the(answer, "ambiguous_replacement").candidates)) == ([], 2)


@pytest.mark.parametrize(
    "sentence",
    [
        "the flat in Bergen we never told you about",
        "I lived in Bergen",
        "we had a flat",
        "me lives in Bergen",
        "My flat was in Bergen.",
        "Where was my flat before?",
    ],
)
@pytest.mark.parametrize("body", ["We moved to Oslo.", "We moved to Oslo. Before: {0}"])
async def test_a_sentence_that_fits_no_fact_is_asked_about_and_becomes_no_name(
    world: WritingWorld, sentence: str, body: str
) -> None:
    answer = await world.tell(body.format(sentence), {**OSLO, "replaces": [sentence]})
    report = the(answer, "ambiguous_replacement")
    assert (answer.retired, report.candidates) == ([], [])
    assert "search_memory_facts" in report.call
    assert "If it was never recorded" in report.call
    assert entities(world) == ["Oslo", "me"]
    assert world.lines() == ["me LIVES_IN Oslo"]


async def test_a_sentence_is_no_old_value_either(world: WritingWorld) -> None:
    due = {"source": "Heron", "relation": "HAS_DEADLINE", "value": "2026-05-29"}
    answer = await world.tell("x", {**due, "replaces": "It was due when the fair begins"})
    assert (answer.retired, len(world.facts)) == ([], 1)
    assert "ambiguous_replacement" in attention(answer)


@pytest.mark.parametrize("sentence", ["I promised Anna that cake", "I promised the cake to Anna, for her birthday"])
async def test_facts_that_say_nearly_the_same_are_candidates(world: WritingWorld, sentence: str) -> None:
    promise = await world.tell("one", PROMISE)
    await world.tell("two", {"source": "me", "relation": "KNOWS", "target": "Ines", "fact": "I know Ines from Bonn"})
    answer = await world.tell("I baked the cake.", {**BAKED, "replaces": sentence})
    report = the(answer, "ambiguous_replacement")
    assert [one[:8] for one in report.candidates] == [promise.facts[0].uuid[:8]]
    assert (answer.retired, entities(world)) == ([], ["Anna", "Ines", "cake", "me"])
    assert await world.settle(report) == (1, set())
    assert not world.fact("me PROMISED Anna").is_open


@pytest.mark.parametrize(
    "name",
    [
        "Bergen",
        "the old flat",
        "Bad Homburg vor der Höhe",
        "Washington D.C.",
        "Friedrich Krupp Works Ltd.",
        "the house of my parents",
        "They Might Be Giants",
    ],
)
async def test_a_short_name_that_memory_does_not_know_still_tells_of_a_former_fact(
    world: WritingWorld, name: str
) -> None:
    answer = await world.tell("Oslo now.", {**OSLO, "replaces": name})
    assert [one.fact for one in answer.retired] == [f"me lives in {name}"]
    assert entities(world) == sorted(["Oslo", "me", name])


async def test_a_known_name_is_a_name_however_long(world: WritingWorld) -> None:
    long = "The Society for the Protection of Small Birds"
    await world.tell("one", entities=[{"name": long}])
    member = {"source": "me", "relation": "MEMBER_OF", "target": "Zoo"}
    answer = await world.tell("two", {**member, "replaces": long})
    assert [one.fact for one in answer.retired] == [f"me member of {long}"]


async def test_many_sentences_in_one_call_are_looked_for(world: WritingWorld) -> None:
    told: list[dict[str, Any]] = [
        {"source": "me", "relation": "LIKES", "target": f"T{i}", "fact": f"I am fond of thing {i}"} for i in range(20)
    ]
    await world.tell("one", *told)
    changed = {"source": "me", "relation": "DISLIKES", "target": "all", "replaces": [one["fact"] for one in told]}
    answer = await world.tell("two", changed)
    assert len(answer.retired) == 20
