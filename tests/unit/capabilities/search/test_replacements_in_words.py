"""A fact that has ended says in words what took its place, unless that stands on the same page."""

from datetime import datetime
from typing import Any

import pytest
from tests.builders import OTHER_GROUP, a_fact, a_name, a_write, an_entity, an_episode, an_update, at, new_uuid
from tests.worlds.reading_world import World

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts
from graphiti_pkm.core.model.answers import FactView
from graphiti_pkm.core.model.records import Fact, FactChange
from graphiti_pkm.core.reading import paging
from graphiti_pkm.core.reading.views import item_sizes

BEGAN, LEFT, RECORDED = at(2025, 3), at(2026, 1, 12), at(2026, 2)
OLD, NEW = "Kestrel hosts at Hetzner", "Kestrel hosts on AWS"
WHY = "because the customs certificate requires audited key storage"
IN_WORDS = "Kestrel hosts on AWS (from 2026-01-12)"


class Moves:
    """A firm that changed where it hosts."""

    def __init__(self) -> None:
        self.world = World()
        self.world.clock.instant = at(2026, 6)
        self.firm, self.old, self.new = an_entity("Kestrel"), an_entity("Hetzner"), an_entity("AWS")
        self.first = self.fact(text=OLD, quote="because it costs a third of AWS", valid_at=BEGAN)
        self.second = self.fact(text=NEW, quote=WHY, valid_at=LEFT)

    def fact(self, **fields: Any) -> Fact:
        target = self.new if fields["text"] == NEW else self.old
        return a_fact(self.firm, target, "USES", **{"created_at": BEGAN, **fields})

    async def begin(self, second: Fact | None = None) -> None:
        second = second or self.second
        entities = (self.firm, self.old, self.new)
        await self.world.given(a_write(*entities, *map(a_name, entities), an_episode(), self.first, second))
        await self.replaced(self.first, second.uuid)

    async def replaced(self, fact: Fact, by: str) -> None:
        await self.world.given(
            a_write(an_update(fact, invalid_at=LEFT, expired_at=RECORDED), ending(fact, by, RECORDED))
        )

    async def facts(self, query: str | None = None, **given: Any) -> dict[str, FactView]:
        asked = SearchMemoryFacts(query=query, **{"group_ids": "t1", **given})
        answer = await self.world.searching.search_memory_facts(self.world.caller, asked)
        return {fact.fact: fact for fact in answer.facts}

    async def around(self, uuid: str) -> dict[str, FactView]:
        asked = GetEntityConnections(entity_uuid=uuid, include_invalidated=True)
        answer = await self.world.exploring.get_entity_connections(self.world.caller, asked)
        return {fact.fact: fact for fact in answer.facts}


def ending(fact: Fact, by: str, recorded_at: datetime) -> FactChange:
    previous = {f"previous_{name}": getattr(fact, name) for name in ("valid_at", "invalid_at", "expired_at", "voided")}
    said = {"uuid": new_uuid(), "fact_uuid": fact.uuid, "kind": "retired", "replaced_by": by}
    return FactChange.model_validate({**said, "recorded_at": recorded_at, **previous})


@pytest.fixture
def moves() -> Moves:
    return Moves()


async def test_an_ended_hit_says_in_words_what_took_its_place_and_why(moves: Moves) -> None:
    await moves.begin()
    found = await moves.facts("Why did we leave Hetzner?", max_facts=1)
    listed = await moves.facts(entity_uuid=moves.old.uuid)
    around = await moves.around(moves.old.uuid)
    for answer in (found, listed, around):
        assert list(answer) == [OLD]
        assert answer[OLD].replaced_by == moves.second.uuid
        assert (answer[OLD].replacement, answer[OLD].replacement_quote) == (IN_WORDS, WHY)


async def test_a_quote_that_is_its_sentence_is_not_said_twice(moves: Moves) -> None:
    await moves.begin(moves.second.model_copy(update={"quote": NEW}))
    (fact,) = (await moves.facts(entity_uuid=moves.old.uuid)).values()
    assert (fact.replacement, fact.replacement_quote) == (IN_WORDS, None)


@pytest.mark.parametrize("query", ["hosts Hetzner", "hosts AWS", None])
async def test_what_stands_on_the_page_is_not_said_again(moves: Moves, query: str | None) -> None:
    await moves.begin()
    for answer in (await moves.facts(query, edge_types=["USES"]), await moves.around(moves.firm.uuid)):
        assert set(answer) == {OLD, NEW}
        assert answer[OLD].replaced_by == moves.second.uuid
        assert (answer[OLD].replacement, answer[OLD].replacement_quote) == (None, None)


async def test_what_stands_later_on_the_page_is_not_said_either(moves: Moves) -> None:
    await moves.begin(moves.second.model_copy(update={"valid_at": at(2024, 1), "invalid_at": LEFT, "expired_at": LEFT}))
    for answer in (await moves.facts(edge_types=["USES"]), await moves.around(moves.firm.uuid)):
        assert list(answer) == [OLD, NEW]
        assert answer[OLD].replacement is None


async def test_what_is_not_said_takes_no_room(moves: Moves, monkeypatch: pytest.MonkeyPatch) -> None:
    await moves.begin()
    found = await moves.facts("hosts AWS")
    assert list(found) == [NEW, OLD]
    monkeypatch.setattr(paging, "DEFAULT_CHARS", paging._RESERVE + sum(item_sizes(found.values(), ["t1"])))
    assert list(await moves.facts("hosts AWS")) == [NEW, OLD]


async def test_what_was_cut_from_the_page_is_said(moves: Moves, monkeypatch: pytest.MonkeyPatch) -> None:
    await moves.begin()
    assert list(await moves.facts("hosts Hetzner")) == [OLD, NEW]
    monkeypatch.setattr(paging, "DEFAULT_CHARS", paging._RESERVE + 600)
    found = await moves.facts("hosts Hetzner")
    assert list(found) == [OLD]
    assert (found[OLD].replacement, found[OLD].replacement_quote) == (IN_WORDS, WHY)


async def test_a_past_state_of_the_record_names_no_later_fact(moves: Moves) -> None:
    await moves.begin()
    (fact,) = (await moves.facts(entity_uuid=moves.old.uuid, known_at="2026-01-31")).values()
    assert (fact.replaced_by, fact.replacement, fact.replacement_quote) == (None, None, None)


async def test_nothing_of_a_group_that_is_not_read_is_said(moves: Moves) -> None:
    theirs = an_entity("AWS", group_id=OTHER_GROUP)
    secret = a_fact(theirs, theirs, "USES", text=NEW, quote=WHY)
    await moves.begin()
    await moves.world.given(a_write(theirs, secret))
    await moves.world.given(a_write(ending(moves.first, secret.uuid, at(2026, 3))))
    (fact,) = (await moves.facts(entity_uuid=moves.old.uuid)).values()
    assert (fact.replacement, fact.replacement_quote) == (None, None)
