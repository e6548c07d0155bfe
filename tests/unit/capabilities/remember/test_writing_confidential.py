"""Notes and facts that are not public, and words that the user does not want kept."""

from datetime import UTC
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention, ready_calls, the

from graphiti_pkm.core.identity.mentions import MentionFinder
from graphiti_pkm.core.model.passages import split_passages, without_left_out
from graphiti_pkm.core.model.records import CONFIDENTIAL, Fact, Name
from graphiti_pkm.core.reading.views import shown_validity
from graphiti_pkm.storage.graph.queries.search import searchable_with_parts

MOVES: dict[str, Any] = {"source": "me", "relation": "MOVES_TO", "target": "platform group"}
LEADS: dict[str, Any] = {"source": "Ravi", "relation": "LEADS", "target": "platform group"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


def marked(facts: list[Fact]) -> list[bool]:
    return [CONFIDENTIAL in fact.attributes for fact in facts]


async def test_a_fact_says_itself_that_it_is_not_public(world: WritingWorld) -> None:
    answer = await world.tell("one", {**MOVES, "confidential": True}, LEADS)
    assert marked(world.facts) == [True, False]
    assert [fact.confidential for fact in answer.facts] == [None, None]  # nothing that the caller does not know
    assert not next(iter(world.graph.tables.episodes.values())).confidential


async def test_all_facts_of_a_confidential_note_are_not_public(world: WritingWorld) -> None:
    await world.tell("one", MOVES, LEADS, confidential=True)
    assert marked(world.facts) == [True, True]
    assert next(iter(world.graph.tables.episodes.values())).confidential


async def test_the_mark_stays_when_the_fact_is_told_again_without_it(world: WritingWorld) -> None:
    await world.tell("one", {**MOVES, "confidential": True})
    answer = await world.tell("two", MOVES)
    assert (marked(world.facts), answer.facts[0].outcome) == ([True], "duplicate")


@pytest.mark.parametrize("as_note", [True, False])
async def test_a_known_fact_is_marked_and_the_answer_says_so(world: WritingWorld, *, as_note: bool) -> None:
    await world.tell("one", MOVES)
    fact = MOVES if as_note else {**MOVES, "confidential": True}
    answer = await world.tell("two", fact, **({"confidential": True} if as_note else {}))
    assert marked(world.facts) == [True]
    assert (answer.facts[0].outcome, answer.facts[0].confidential) == ("updated", True)


async def test_what_corrects_a_confidential_fact_is_not_public(world: WritingWorld) -> None:
    budget = {"source": "wallet", "relation": "HAS_BUDGET", "value": "1.2 million"}
    await world.tell("one", {**budget, "confidential": True})
    await world.tell("two", {**budget, "value": "1.25 million", "replaces": "current", "change": "corrected"})
    assert marked(world.facts) == [True, True]


async def test_the_same_call_of_an_earlier_version_is_the_same_call(world: WritingWorld) -> None:
    uuid = "0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2a10"
    await world.tell("one", MOVES, uuid=uuid)
    assert (await world.tell("one", {**MOVES, "confidential": False}, uuid=uuid)).status == "already_stored"


def test_what_was_left_out_is_neither_a_word_nor_a_passage_nor_a_name() -> None:
    text = "We talked about dad [left out]. [Left Out]"
    assert len(without_left_out(text)) == len(text)
    assert [text[span.start : span.end] for span in split_passages(text)] == ["We talked about dad [left out]."]
    assert split_passages("[left out]") == []
    assert {"left", "out"}.isdisjoint(searchable_with_parts(text).split())
    assert {"left", "out"} <= set(searchable_with_parts("I left it out.").split())
    names = [Name(key=text, group_id="t1", text=text, entity_uuid=text) for text in ("left out", "New York")]
    finder = MentionFinder(names)
    assert finder.find("Something was [left out] of New [left out] York.") == set()
    assert finder.find("He was left out of New York.") == {"left out", "New York"}


async def test_the_call_for_a_near_relation_keeps_all_that_was_told(world: WritingWorld) -> None:
    await world.tell("I live in Bonn.", {"source": "me", "relation": "LIVES_IN", "target": "Bonn"})
    told = {"source": "me", "relation": "LIVED_IN", "target": "Paris", "valid_at": "2010", "invalid_at": "2012"}
    said = {"confidential": True, "because_of": "ADR 2", "quote": "I lived in Paris"}
    adr = {"source": "ADR 2", "relation": "HAS_STATUS", "value": "accepted"}
    answer = await world.tell("By ADR 2, I lived in Paris then.", {**told, **said}, adr)
    (call,) = ready_calls(the(answer, "near_relation"))
    (fact,) = call["facts"]
    assert {name: fact[name] for name in said} == said
    again = await world.send(call)
    assert attention(again) == []
    stored = next(one for one in world.facts if one.uuid == again.facts[0].uuid)
    assert (CONFIDENTIAL in stored.attributes, stored.cause, stored.quote) == (True, "ADR 2", "I lived in Paris")


async def test_the_call_for_another_series_keeps_that_the_note_is_not_public(world: WritingWorld) -> None:
    sleep = {"source": "me", "relation": "SLEPT", "kind": "reading", "measure": "sleep", "value": 6, "unit": "h"}
    await world.tell("6 h.", sleep)
    mood = {"source": "me", "relation": "FELT", "kind": "reading", "value": "4/10"}
    answer = await world.tell("I felt 4/10.", mood, confidential=True)
    (call,) = ready_calls(the(answer, "near_measure"))
    assert call["confidential"] is True


async def test_a_cause_that_is_not_public_is_marked(world: WritingWorld) -> None:
    lena = {"source": "Lena", "relation": "IS", "target": "pregnant", "confidential": True}
    told = await world.tell("Lena is pregnant.", lena)
    tom = {"source": "Tom", "relation": "LEADS", "target": "payments", "because_of": told.facts[0].uuid}
    await world.tell("So Tom leads payments.", tom)
    shown = shown_validity(world.fact("Tom LEADS payments"), UTC)
    assert shown.endswith(", because of Lena is pregnant (not public)")


async def test_answers_to_a_note_mark_what_is_not_public(world: WritingWorld) -> None:
    pay = {"source": "Ada", "relation": "HAS_SALARY", "value": "50k"}
    await world.tell("50k", {**pay, "confidential": True})
    answer = await world.tell("55k", {**pay, "value": "55k", "replaces": "current", "change": "corrected"})
    assert ([one.confidential for one in answer.facts], [one.confidential for one in answer.retired]) == (
        [True],
        [True],
    )
    sleep = {"source": "me", "relation": "SLEPT", "kind": "reading", "measure": "sleep", "unit": "h"}
    await world.tell("6 h.", {**sleep, "value": 6, "valid_at": "2026-03-01", "confidential": True})
    answer = await world.tell("7 h.", {**sleep, "value": 7, "valid_at": "2026-03-02"})
    assert answer.facts[0].series == ["6 h (2026-03-01, not public)", "7 h (2026-03-02)"]


async def test_an_old_value_told_with_what_is_not_public_is_neither(world: WritingWorld) -> None:
    pay = {"source": "Ada", "relation": "HAS_SALARY", "value": "55k", "replaces": "50k", "confidential": True}
    await world.tell("55k instead of 50k", pay)
    assert marked(world.facts) == [True, True]
