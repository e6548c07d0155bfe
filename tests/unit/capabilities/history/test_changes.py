"""What changed since a moment, with the words that caused it."""

from typing import Any

import pytest
from pydantic import ValidationError
from tests.builders import at
from tests.worlds.reading_world import UNKNOWN, all_pages
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge, DeleteEpisode
from graphiti_pkm.capabilities.history.models import ChangesResponse
from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact, WhatChanged
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.errors import InvalidCursor, InvalidInput
from graphiti_pkm.storage.commit import Committer

NOW = at(2026, 6, 1, 12)
ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "fact": "I work at Acme"}
GLOBEX = {"source": "me", "relation": "WORKS_AT", "target": "Globex", "fact": "I work at Globex"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


async def told(world: WritingWorld, body: str, *facts: dict[str, Any], **fields: Any) -> str:
    answer = await world.tell(body, *facts, **fields)
    world.clock.advance(days=1)
    return answer.episode_uuid


async def changed(world: WritingWorld, since: str | None = "2026-06-01", **fields: Any) -> ChangesResponse:
    return await world.changes.what_changed(LOCAL, WhatChanged(since=since, **fields))


def lines(answer: ChangesResponse) -> list[tuple[str, str | None]]:
    return [(one.change, one.fact and one.fact.split(" (")[0]) for one in answer.changes]


async def test_changes_come_newest_first_with_the_words_that_caused_them(world: WritingWorld) -> None:
    first = await told(world, "I started  at  Acme. It is far.", ACME)
    second = await told(
        world, "News. Since May I am with Globex!", {**GLOBEX, "replaces": "Acme", "quote": "I am with Globex"}
    )
    answer = await changed(world)
    assert lines(answer) == [("retired", "I work at Acme"), ("added", "I work at Globex"), ("added", "I work at Acme")]
    retired, added, oldest = answer.changes
    new = world.fact("me WORKS_AT Globex")
    assert (retired.replaced_by, retired.words, retired.episode_uuid) == (new.uuid, "I am with Globex", second)
    assert (retired.replacement or "").startswith("I work at Globex (")
    assert retired.invalid_at == "2026-06-02T12:00:00+00:00"
    assert (added.words, added.episode_uuid, added.at) == ("I am with Globex", second, "2026-06-02T12:00:00+00:00")
    assert (oldest.words, oldest.episode_uuid) == ("I started at Acme.", first)
    assert (answer.total, answer.returned, answer.truncated, answer.scope.group_ids) == (3, 3, False, ["default"])


async def test_without_a_quote_the_words_are_those_of_the_sentence_nearest_to_what_came(world: WritingWorld) -> None:
    lead = {"source": "Petra", "relation": "HAS_ROLE", "value": "lead engineer", "fact": "Petra is lead engineer"}
    head = {**lead, "value": "head of support", "fact": "Petra is head of support", "replaces": "current"}
    await told(world, "First session. Petra is lead engineer here. It rained.", lead)
    await told(world, "Fifth session: slept 7.5 hours. Mood fine. Petra is now head of support.", head)
    retired, added, first = (await changed(world)).changes
    assert (retired.change, retired.words) == ("retired", "Petra is now head of support.")
    assert added.words == "Petra is now head of support."
    assert first.words == "Petra is lead engineer here."


async def test_a_correction_without_a_quote_has_no_words_that_say_something_else(world: WritingWorld) -> None:
    mood = {"source": "me", "relation": "FEELS", "kind": "reading", "measure": "mood"}
    await told(world, "Mood 6/10.", {**mood, "value": "6/10"})
    today = {**mood, "value": "7/10"}
    yesterday = {**mood, "value": "5/10", "replaces": "6/10", "change": "corrected"}
    await told(world, "Mood 7/10. Yesterday was mistyped.", today, yesterday)
    changes = (await changed(world)).changes
    assert {(one.change, (one.fact or "").split(" (")[0]): one.words for one in changes} == {
        ("voided", "me: mood 6/10"): None,
        ("added", "me: mood 7/10"): "Mood 7/10.",
        ("added", "me: mood 5/10"): None,
        ("added", "me: mood 6/10"): "Mood 6/10.",
    }


async def test_without_vectors_words_decide_and_if_nothing_is_near_there_are_none(world: WritingWorld) -> None:
    world.embedder.is_available = False
    await told(world, "Session with Petra: slept 7.5 hours. At last: head of support she is.", {
        "source": "Petra", "relation": "HAS_ROLE", "value": "head", "fact": "Petra is head of support"
    })  # fmt: skip
    await told(world, "Session with Petra: slept 8 hours. All quiet.", {
        "source": "Petra", "relation": "HAS_ROLE", "value": "CTO", "fact": "Petra runs engineering", "replaces": "head"
    })  # fmt: skip
    retired, added, first = (await changed(world)).changes
    assert (retired.words, added.words) == (None, None)
    assert first.words == "At last: head of support she is."


async def test_long_words_are_cut(world: WritingWorld) -> None:
    await told(world, "I work at Acme " * 30_000, ACME)
    (change,) = (await changed(world)).changes
    assert change.words is not None
    assert len(change.words) == 200


async def test_every_kind_of_change_is_told_and_can_be_asked_for(world: WritingWorld) -> None:
    await told(world, "One.", ACME, {"source": "me", "relation": "LIKES", "target": "tea"})
    await told(world, "Two.", {**GLOBEX, "replaces": "Acme", "change": "corrected"})
    acme, tea = world.fact("me WORKS_AT Acme"), world.fact("me LIKES tea")
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=acme.uuid, reason="It was right."))
    world.clock.advance(days=1)
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=tea.uuid, reason="Coffee now."))
    world.clock.advance(days=1)
    expected = [
        ("retired", "me likes tea"),
        ("restored", "I work at Acme"),
        ("voided", "I work at Acme"),
        ("added", "I work at Globex"),
    ]
    answer = await changed(world)
    assert lines(answer)[:4] == expected
    assert (answer.changes[0].reason, answer.changes[0].words, answer.changes[0].by) == ("Coffee now.", None, None)
    for kind, fact in expected[:3]:
        assert lines(await changed(world, kinds=[kind])) == [(kind, fact)]
    both = await changed(world, kinds=["voided", "retired"])
    assert (lines(both), both.total) == ([expected[0], expected[2]], 2)
    assert (await changed(world, kinds=["added"])).total == 3
    assert (await changed(world, kinds=["rejected"])).total == 0


async def test_what_is_deleted_is_told_without_words_beside_what_became_of_it(world: WritingWorld) -> None:
    groups = Groups(world.graph, world.context.settings)
    deleting = Deleting(world.context, groups, Committer(world.context))
    note = await told(world, "I work at Acme.", {**ACME, "quote": "work at Acme"})
    fact = world.fact("me WORKS_AT Acme")
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=fact.uuid, reason="Secret."))
    world.clock.advance(days=1)
    await told(world, "I work at Globex.", GLOBEX)
    await deleting.delete_entity_edge(LOCAL, DeleteEntityEdge(uuid=fact.uuid))
    world.clock.advance(days=1)
    answer = await changed(world, entity_uuid=world.entity("me").uuid)
    assert [(one.change, one.fact_uuid == fact.uuid) for one in answer.changes] == [
        ("deleted", True),
        ("added", False),
        ("retired", True),
    ]
    text = answer.model_dump_json()
    assert "Acme" not in text
    assert "Secret" not in text
    await deleting.delete_episode(LOCAL, DeleteEpisode(uuid=note))
    await deleting.delete_episode(LOCAL, DeleteEpisode(uuid=answer.changes[1].episode_uuid or ""))
    after = await changed(world, kinds=["deleted", "added"])
    assert lines(after) == [("deleted", None), ("deleted", None)]
    assert {one.fact_uuid for one in after.changes} == {fact.uuid, answer.changes[1].fact_uuid}


async def test_an_entity_has_the_changes_of_its_facts_in_its_own_group(world: WritingWorld) -> None:
    tom = {"source": "Tom", "relation": "WORKS_AT", "target": "Acme"}
    await told(world, "One.", ACME, tom, group_id="work")
    await told(world, "Two.", {"source": "Eve", "relation": "KNOWS", "target": "Tom"}, group_id="work")
    answer = await changed(world, entity_uuid=world.entity("Tom").uuid[:8])
    assert lines(answer) == [("added", "Eve knows Tom"), ("added", "Tom works at Acme")]
    assert answer.message.endswith("about Tom")
    assert answer.scope.group_ids == ["work"]
    elsewhere = await changed(world, entity_uuid=world.entity("Tom").uuid, group_ids="default")
    assert (elsewhere.total, elsewhere.scope.group_ids) == (0, ["default"])
    assert (await changed(world, entity_uuid=UNKNOWN)).total == 0


async def test_a_period_is_of_the_record_half_open_and_in_the_zone() -> None:
    world = WritingWorld(now=at(2026, 5, 31, 22), timezone="Europe/Berlin")
    await told(world, "In 2001.", {**ACME, "valid_at": "2001"}, reference_time="2001-05-05")
    assert (await changed(world, "2026-06-01")).total == 1
    assert (await changed(world, "2026-06")).total == 1
    assert (await changed(world, "2026-06-01T00:00:01")).total == 0
    assert (await changed(world, "2026", until="2026-06-01")).total == 0
    assert (await changed(world, "2026", until="2026-06-02")).total == 1
    empty = await changed(world, "2001", until="2002")
    assert (empty.total, empty.message) == (0, "No changes of facts recorded since 2001-01-01 until 2002-01-01")
    assert empty.scope.holds == {"default": "1 episode, 2 entities, 1 fact"}


BY_RECORD = (
    "By when it was recorded; for the dates of the notes use told_since, for when it held search_memory_facts "
    "(valid_after) or get_entity_connections."
)


async def test_a_period_before_the_record_began_is_said_to_be_one_of_the_record(world: WritingWorld) -> None:
    await told(world, "In May I joined.", {**ACME, "valid_at": "2026-05-04"}, reference_time="2026-05-05")
    whole = await changed(world, "2026-05-01")
    assert (whole.total, whole.scope.note) == (1, BY_RECORD)
    assert (await changed(world, "2026-05-01", until="2026-05-10")).scope.note == BY_RECORD
    assert (await changed(world, "2026-07-01")).scope.note == BY_RECORD
    assert (await changed(world, "2026-06-01")).scope.note is None


async def test_pages_meet_whatever_is_written_between_them(world: WritingWorld) -> None:
    for i in range(7):
        await told(world, f"Note {i}.", {"source": "me", "relation": "SAW", "target": f"bird {i}", "kind": "event"})

    async def more() -> None:
        world.clock.advance(seconds=1)
        await world.tell("Another.", {"source": "me", "relation": "SAW", "target": "a cat", "kind": "event"})

    pages = await all_pages(lambda cursor: changed(world, limit=2, cursor=cursor), more)
    seen = [line for page in pages for line in lines(page)]
    assert seen == [("added", f"me saw bird {i}") for i in reversed(range(7))]
    assert {page.total for page in pages} == {7}
    with pytest.raises(InvalidCursor):
        await changed(world, "2026-06-02", cursor=pages[0].next_cursor, limit=2)
    with pytest.raises(InvalidCursor):
        await changed(world, kinds=["added"], cursor=pages[0].next_cursor, limit=2)


@pytest.mark.parametrize(
    "fields",
    [
        {"since": "lately"},
        {"until": "2026-06-01"},
        {"until": "2025"},
        {"limit": 0},
        {"limit": 101},
        {"entity_uuid": "Tom"},
        {"group_ids": ["a b"]},
    ],
)
async def test_what_does_not_fit_is_an_error(world: WritingWorld, fields: dict[str, Any]) -> None:
    with pytest.raises((InvalidInput, ValidationError)):
        await changed(world, **fields)


async def test_nobody_sees_the_changes_of_another_and_who_changed_it_is_said(world: WritingWorld) -> None:
    anna = Caller(principal="anna")
    await told(world, "Mine.", ACME)
    await world.tell("Hers.", {**GLOBEX, "source": "anna"}, caller=anna)
    assert lines(await changed(world)) == [("added", "I work at Acme")]
    hers = await world.changes.what_changed(anna, WhatChanged(since="2026-06-01"))
    assert lines(hers) == [("added", "I work at Globex")]


async def test_a_page_at_the_maximum_stays_within_its_size(world: WritingWorld) -> None:
    facts = [
        {**ACME, "relation": f"R{i}", "fact": f"{i} " + "long " * 200, "quote": "words " * 100} for i in range(120)
    ]
    await told(world, "words " * 2_000, *facts)
    pages = await all_pages(lambda cursor: changed(world, limit=100, cursor=cursor))
    assert sum(page.returned for page in pages) == 120
    assert all(len(page.model_dump_json(exclude_none=True)) < 80_000 for page in pages)


async def test_a_change_has_the_date_of_its_note_and_is_found_by_it(world: WritingWorld) -> None:
    await told(world, "In 2001.", ACME, reference_time="2001-05-05")
    await told(world, "Globex.", GLOBEX)
    by_hand = await world.retiring.retire_fact(
        LOCAL, RetireFact(fact_uuid=world.fact("me WORKS_AT Globex").uuid, reason="Left.")
    )
    assert by_hand.changed
    page = await changed(world)
    assert (page.changes[0].change, page.changes[0].told_at) == ("retired", None)
    assert str(page.changes[-1].told_at)[:10] == "2001-05-05"
    recent = await changed(world, None, told_since="2002")
    assert recent.total == page.total - 1
    assert recent.message.startswith(
        f"Found {recent.total} of {recent.total} change(s), newest told first, told since 2002"
    )
    both = await changed(world, "2026", told_since="2001")
    assert both.total == page.total
    assert "recorded since 2026-01-01 and told since 2001-01-01" in both.message
    with pytest.raises(InvalidInput, match="Give since"):
        await changed(world, None)


async def test_the_date_that_is_shown_is_what_the_period_compares(world: WritingWorld) -> None:
    await told(world, "Acme.", ACME, reference_time="2001-05-04")
    await told(world, "Globex.", GLOBEX, reference_time="2001-05-06")
    await told(world, "Initech.", {**ACME, "target": "Initech"}, reference_time="2001-04-01")
    by_hand = RetireFact(
        fact_uuid=world.fact("me WORKS_AT Acme").uuid,
        reason="Now at Globex.",
        replaced_by=world.fact("me WORKS_AT Globex").uuid,
    )
    assert (await world.retiring.retire_fact(LOCAL, by_hand)).changed
    shown = (await changed(world, None, told_since="2001")).changes
    days = [str(change.told_at)[:10] for change in shown]
    assert days == ["2001-05-06", "2001-05-06", "2001-05-04", "2001-04-01"]  # by when they were told
    for day in days:
        of_day = await changed(world, None, told_since=day, until=f"{day}T23:59:59")
        assert of_day.changes == [change for change in shown if str(change.told_at)[:10] == day]
    pages = await all_pages(lambda cursor: changed(world, None, told_since="2001", limit=1, cursor=cursor))
    assert [change for page in pages for change in page.changes] == shown


async def test_until_ends_the_period_of_the_notes_if_that_is_asked_for(world: WritingWorld) -> None:
    await told(world, "In May.", ACME, reference_time="2001-05-05")
    await told(world, "In June.", GLOBEX, reference_time="2001-06-01")
    await told(world, "In July.", {**ACME, "target": "Initech"}, reference_time="2001-07-01")

    async def between(since: str | None = None, **fields: Any) -> ChangesResponse:
        return await changed(world, since, **fields)

    in_may = await between(told_since="2001-05", until="2001-06")
    assert lines(in_may) == [("added", "I work at Acme")]
    assert (in_may.total, in_may.feed_cursor) == (1, None)
    assert in_may.message.endswith("told since 2001-05-01 until 2001-06-01")
    pages = await all_pages(lambda cursor: between(told_since="2001-05", until="2001-07", limit=1, cursor=cursor))
    seen = [("added", "I work at Globex"), ("added", "I work at Acme")]
    assert [line for page in pages for line in lines(page)] == seen
    for other in ({"until": "2001-08"}, {"until": None}, {"told_since": "2001-04"}):
        with pytest.raises(InvalidCursor):
            await between(
                **{"told_since": "2001-05", "until": "2001-07", "limit": 1, **other}, cursor=pages[0].next_cursor
            )
    assert lines(await between("2026", told_since="2001-05", until="2001-07")) == seen
    late = await between("2027", told_since="2001-05", until="2001-06")
    assert late.message == "No changes of facts recorded since 2027-01-01 and told since 2001-05-01 until 2001-06-01"
    of_me = await between(entity_uuid="me", until="2027")
    assert of_me.message.endswith("recorded until 2027-01-01 about me")
    with pytest.raises(InvalidInput, match="until must be later than told_since"):
        await between(told_since="2001-05", until="2001-05-01")


async def test_all_changes_of_an_entity_need_no_period(world: WritingWorld) -> None:
    await told(world, "Acme.", ACME, reference_time="2001-05-05")
    await told(world, "Globex.", {**GLOBEX, "replaces": "Acme"})
    globex = world.entity("Globex").uuid
    every = [("retired", "I work at Acme"), ("added", "I work at Globex"), ("added", "I work at Acme")]
    answer = await changed(world, None, entity_uuid="me")
    assert (lines(answer), answer.scope.note) == (every, None)
    assert answer.message.endswith("since the record began about me")
    assert lines(await changed(world, None, entity_uuid=globex[:8])) == every[1:2]
    pages = await all_pages(lambda cursor: changed(world, None, entity_uuid="me", limit=1, cursor=cursor))
    assert [line for page in pages for line in lines(page)] == every
    for fields in ({}, {"group_ids": ["default"]}, {"until": "2026-07"}):
        with pytest.raises(InvalidInput, match=r"Give since.*entity_uuid"):
            await changed(world, None, **fields)


async def bird(world: WritingWorld, name: str, group: str = "default") -> str:
    await world.tell(
        f"I saw a {name}.", {"source": "me", "relation": "SAW", "target": name, "kind": "event"}, group_id=group
    )
    return f"me saw {name}"


def facts(answer: ChangesResponse) -> list[str | None]:
    return [fact for _, fact in lines(answer)]


async def test_the_cursor_of_the_last_page_is_a_feed(world: WritingWorld) -> None:
    for i in range(3):
        await bird(world, f"bird {i}")
    first = await changed(world, limit=2)
    assert (first.truncated, first.feed_cursor) == (True, None)
    last = await changed(world, limit=2, cursor=first.next_cursor)
    assert (last.truncated, last.next_cursor) == (False, None)
    nothing = await changed(world, cursor=last.feed_cursor)
    assert (nothing.total, nothing.changes) == (0, [])
    assert nothing.message == "No changes of facts since the last call"
    new = [await bird(world, f"owl {i}") for i in range(3)]
    page = await changed(world, cursor=nothing.feed_cursor, limit=2)
    assert (facts(page), page.total, page.feed_cursor) == (new[:0:-1], 3, None)
    late = await bird(world, "crow")
    rest = await changed(world, cursor=page.next_cursor, limit=2)
    assert (facts(rest), rest.total) == (new[:1], 3)
    assert facts(await changed(world, cursor=rest.feed_cursor)) == [late]
    assert facts(await changed(world, None, cursor=rest.feed_cursor)) == [late]  # the cursor is enough
    with pytest.raises(InvalidCursor):
        await changed(world, None, cursor=first.next_cursor)


async def test_a_feed_belongs_to_its_call_and_a_period_that_ends_has_none(world: WritingWorld) -> None:
    await bird(world, "owl")
    feed = (await changed(world)).feed_cursor
    assert (await changed(world, until="2027")).feed_cursor is None
    for other in ({"kinds": ["retired"]}, {"group_ids": ["work"]}, {"entity_uuid": "me"}):
        with pytest.raises(InvalidCursor):
            await changed(world, cursor=feed, **other)
    with pytest.raises(InvalidCursor):
        await world.changes.what_changed(Caller(principal="anna"), WhatChanged(since="2026-06-01", cursor=feed))


async def test_a_feed_of_two_groups_misses_no_late_writer_and_repeats_nothing(world: WritingWorld) -> None:
    """A write takes its time under its group's lock: one of another group may have a later time and be there first."""
    both = {"group_ids": ["default", "work"]}
    await bird(world, "owl")
    work = await bird(world, "wren", "work")
    feed = (await changed(world, **both)).feed_cursor
    world.clock.advance(seconds=10)
    early = await bird(world, "crow")
    feed = (await changed(world, cursor=feed, **both)).feed_cursor
    world.clock.advance(seconds=-5)
    late = await bird(world, "kite", "work")
    world.clock.advance(seconds=5)
    same = [await bird(world, "gull", "work"), await bird(world, "tern")]
    page = await changed(world, cursor=feed, **both)
    assert sorted(map(str, facts(page))) == sorted([late, *same])
    assert {early, work}.isdisjoint(facts(page))
    assert (await changed(world, cursor=page.feed_cursor, **both)).total == 0


async def test_many_changes_of_one_instant_come_once_over_the_pages_of_a_feed(world: WritingWorld) -> None:
    await bird(world, "owl")
    feed = (await changed(world)).feed_cursor
    await world.tell("Many.", *({"source": "me", "relation": "SAW", "target": f"bird {i}"} for i in range(9)))
    seen: list[str | None] = []
    cursor = feed
    while cursor:
        page = await changed(world, cursor=cursor, limit=4)
        seen += facts(page)
        cursor, feed = page.next_cursor, page.feed_cursor
    assert len(seen) == len(set(seen)) == 9
    assert (await changed(world, cursor=feed)).total == 0
