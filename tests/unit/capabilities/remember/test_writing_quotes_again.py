"""Words quoted for a fact that is told again."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention

ACME: dict[str, Any] = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "fact": "I work at Acme"}
BODY = "Yes: I work there, at Acme."


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


@pytest.mark.parametrize("told", [{}, {"valid_at": "2024"}, {"invalid_at": "2027"}, {"fact": None}])
async def test_a_fact_without_words_gains_them_when_it_is_told_again(world: WritingWorld, told: dict[str, Any]) -> None:
    first = await world.tell("one", {**ACME, "fact": told.get("fact", ACME["fact"])})
    answer = await world.tell(BODY, {**ACME, **told, "quote": "i work THERE"})
    (fact,) = world.facts
    assert (fact.quote, fact.quote_episode_uuid) == ("I work there", answer.episode_uuid)
    assert BODY[fact.quote_start : fact.quote_end] == fact.quote
    assert (answer.facts[0].uuid, answer.facts[0].outcome) == (first.facts[0].uuid, "updated")
    assert attention(answer) == []
    (row,) = [row for row in world.journal.table.values() if row.intent.fact_updates]
    assert row.intent.fact_updates[0].quote == "I work there"


async def test_the_first_words_stay_and_nothing_is_said(world: WritingWorld) -> None:
    first = await world.tell(BODY, {**ACME, "quote": "I work there"})
    for quote in ("at Acme", "never said"):
        answer = await world.tell(BODY, {**ACME, "quote": quote})
        assert (answer.facts[0].outcome, attention(answer)) == ("duplicate", ["same_text"])
    await world.tell("Left.", {**ACME, "invalid_at": "2026-07"})
    (fact,) = world.facts
    assert (fact.quote, fact.quote_start, fact.quote_episode_uuid) == ("I work there", 5, first.episode_uuid)
    updates = [update for row in world.journal.table.values() for update in row.intent.fact_updates]
    assert [update.quote for update in updates] == [None, None, None]


async def test_words_that_are_not_there_are_reported_for_a_fact_without_any(world: WritingWorld) -> None:
    await world.tell("one", ACME)
    answer = await world.tell(BODY, {**ACME, "quote": "never said"})
    assert (answer.facts[0].outcome, attention(answer)) == ("duplicate", ["quote_not_found"])
    assert world.facts[0].quote is None


async def test_a_fact_told_twice_in_one_call_keeps_the_words_of_either(world: WritingWorld) -> None:
    await world.tell(BODY, ACME, {**ACME, "quote": "at Acme"})
    assert [fact.quote for fact in world.facts] == ["at Acme"]
