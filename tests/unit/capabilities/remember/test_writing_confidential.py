"""Notes and facts that are not public, and words that the user does not want kept."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.core.identity.mentions import MentionFinder
from graphiti_pkm.core.model.passages import split_passages, without_left_out
from graphiti_pkm.core.model.records import CONFIDENTIAL, Fact, Name
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
