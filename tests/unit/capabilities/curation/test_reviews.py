"""Flags and confidence: a record beside an entity, in a write of its own."""

import math
from itertools import combinations
from typing import Any

import pytest
from pydantic import ValidationError
from tests.builders import new_uuid
from tests.worlds.curation_world import CurationWorld

from graphiti_pkm.capabilities.curation.requests import FlagForReview, SetConfidence
from graphiti_pkm.capabilities.history.requests import WhatChanged
from graphiti_pkm.capabilities.search.assembly import FLAGS, NEIGHBOURS
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller, SharedMemory
from graphiti_pkm.core.model.records import Deletions, WriteIntent, WriteKind
from graphiti_pkm.core.model.redaction import FORGOTTEN, redacted
from graphiti_pkm.errors import InvalidCursor, InvalidInput, NotAllowed, NotFound

LIBRARIAN = Caller(principal="anna", tier="librarian", token="0a1b2c3d")  # noqa: S106 the id of a token
READER = Caller(principal="anna", tier="reader", read_only=True)


async def test_a_flag_says_why_when_and_who_and_is_one_write_that_changes_nothing_else() -> None:
    world = CurationWorld()
    await world.make("Tom", "Sarah", caller=LIBRARIAN)
    before = world.entity("Tom")
    answer = await world.flag("Tom", "  Perhaps\n two people. ", caller=LIBRARIAN)
    assert (answer.changed, answer.flagged, answer.reason) == (True, True, "Perhaps two people.")
    assert answer.flagged_by == "anna"
    (write,) = world.curated
    assert (write.entities, write.facts, write.episodes) == ((), (), ())
    assert answer.flagged_at == write.recorded_at.isoformat()
    assert world.entity("Tom") == before
    assert [one.name for one in (await world.flagged(caller=LIBRARIAN)).flagged] == ["Tom"]


async def test_a_librarian_sees_who_made_an_entity_and_not_who_mentions_it() -> None:
    world = CurationWorld()
    await world.make("Tom", caller=LIBRARIAN)
    await world.make("Tom", "Sarah", caller=LIBRARIAN.model_copy(update={"token": "ffffffff"}))
    answer = await world.flag("Tom", caller=LIBRARIAN)
    assert (answer.created_by, answer.source_type) == ("anna", "conversation")
    (listed,) = (await world.flagged(caller=LIBRARIAN)).flagged
    assert (listed.created_by, listed.source_type) == ("anna", "conversation")


async def test_the_same_flag_again_is_no_write_and_another_reason_replaces_the_first() -> None:
    world = CurationWorld()
    await world.make("Tom")
    first = await world.flag("Tom")
    again = await world.flag("Tom")
    assert (again.changed, again.flagged_at) == (False, first.flagged_at)
    other = await world.flag("Tom", "Another doubt.")
    assert (other.changed, other.reason) == (True, "Another doubt.")
    assert len(world.curated) == 2
    assert [one.reason for one in (await world.flagged()).flagged] == ["Another doubt."]


async def test_a_cleared_flag_leaves_the_note_and_what_is_not_flagged_stays() -> None:
    world = CurationWorld()
    await world.make("Tom")
    await world.flag("Tom")
    await world.rate("Tom", 0.4)
    cleared = await world.clear("Tom", "It is one person.", caller=LIBRARIAN.model_copy(update={"principal": "local"}))
    assert (cleared.flagged, cleared.reason, cleared.note) == (False, None, "It is one person.")
    assert (cleared.cleared_by, cleared.confidence) == ("local", 0.4)
    assert (await world.flagged()).total == 0
    again = await world.clear("Tom")
    assert (again.changed, again.message) == (False, "'Tom' is not flagged; nothing was changed.")


async def test_a_confidence_replaces_the_one_before_and_keeps_the_flag() -> None:
    world = CurationWorld()
    await world.make("Tom")
    await world.flag("Tom")
    assert (await world.rate("Tom", 0)).confidence == 0
    answer = await world.rate("Tom", 1.0, "Seen the passport.")
    assert (answer.confidence, answer.confidence_reason, answer.flagged) == (1.0, "Seen the passport.", True)
    assert not (await world.rate("Tom", 1.0, "Seen the passport.")).changed


@pytest.mark.parametrize("confidence", [1.01, -0.01, math.nan, math.inf])
def test_a_confidence_is_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ValidationError):
        SetConfidence(entity_uuid=new_uuid(), confidence=confidence, reason="Why.")


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "a\0b", "half \ud800"])
async def test_a_reason_is_a_text_with_words(reason: str) -> None:
    world = CurationWorld()
    await world.make("Tom")
    uuid = world.entity("Tom").uuid
    with pytest.raises(InvalidInput):
        await world.reviews.flag_for_review(LIBRARIAN, _flag(uuid, reason))
    assert world.curated == []


def _flag(uuid: str, reason: str) -> FlagForReview:
    return FlagForReview.model_construct(entity_uuid=uuid, reason=reason)


async def test_an_entity_that_is_not_there_and_one_of_another_are_alike() -> None:
    world = CurationWorld()
    other = Caller(principal="ben", tier="librarian")
    await world.make("Tom", caller=LIBRARIAN)
    theirs, nobody = world.entity("Tom").uuid, new_uuid()
    told = []
    for uuid in (theirs, nobody):
        with pytest.raises(NotFound) as raised:
            await world.flag(uuid, caller=other)
        told.append(raised.value.message.replace(uuid, "UUID"))
    assert told[0] == told[1]
    with pytest.raises(NotFound):
        await world.clear(theirs, caller=other)
    with pytest.raises(NotFound):
        await world.rate(theirs, 0.5, caller=other)
    assert world.curated == []


async def test_a_token_for_some_groups_neither_changes_nor_lists_others() -> None:
    world = CurationWorld()
    await world.make("Tom", group_id="work", caller=LIBRARIAN)
    await world.make("Sarah", group_id="home", caller=LIBRARIAN)
    at_work = LIBRARIAN.model_copy(update={"groups": ("work",)})
    await world.flag("Tom", caller=LIBRARIAN)
    await world.flag("Sarah", caller=LIBRARIAN)
    assert [one.name for one in (await world.flagged(at_work, group_ids=["work"])).flagged] == ["Tom"]
    with pytest.raises(NotAllowed):
        await world.flagged(at_work, group_ids=["home"])
    with pytest.raises(NotFound):
        await world.clear("Sarah", caller=at_work)


async def test_a_connection_that_may_only_read_changes_nothing() -> None:
    world = CurationWorld()
    await world.make("Tom", caller=LIBRARIAN)
    with pytest.raises(NotAllowed, match="may only read"):
        await world.flag("Tom", caller=READER)
    assert world.curated == []


async def test_flagged_ones_come_in_pages_that_neither_repeat_nor_hide() -> None:
    world = CurationWorld()
    names = [f"P{place}" for place in range(5)]
    await world.make(*names, "Late")
    for name in names:
        await world.flag(name)
    seen, cursor = [], None
    for _ in range(3):
        page = await world.flagged(limit=2, cursor=cursor)
        assert page.total == 5
        seen += [one.name for one in page.flagged]
        cursor = page.next_cursor
        await world.flag("Late", f"Flagged after page one, {len(seen)}.")
    assert seen == ["P4", "P3", "P2", "P1", "P0"]
    assert cursor is None
    first = (await world.flagged(limit=2)).next_cursor
    with pytest.raises(InvalidCursor):
        await world.flagged(group_ids=["other"], cursor=first)


async def test_of_likely_duplicates_each_pair_is_listed_once_with_both_uuids_on_any_page() -> None:
    world = CurationWorld()
    names = ("A Postgres DB", "Postgres DB", "The Postgres DB")
    for name in names:
        world.clock.advance(seconds=1)
        await world.tell(f"{name} came.", entities=[{"name": name, "type": "Tool", "summary": "Keeps rows."}])
    assert len((await world.flag_similar(threshold=0.5)).pairs) == 3
    uuids = {name: world.entity(name).uuid for name in names}
    seen, cursor = list[frozenset[str]](), None
    while True:
        page = await world.flagged(limit=1, cursor=cursor)
        assert page.total == 2  # of three that are alike, the last is said at the other two
        (one,) = page.flagged
        seen += [frozenset((one.entity_uuid[:8], text[-9:-1])) for text in one.similar_to or ()]
        if (cursor := page.next_cursor) is None:
            break
    assert sorted(map(sorted, seen)) == sorted(
        sorted((uuids[one][:8], uuids[other][:8])) for one, other in combinations(names, 2)
    )
    first = (await world.flagged(limit=1)).flagged[0]
    await world.clear(first.name)  # what it told is told by the others again
    assert {one.name for one in (await world.flagged()).flagged} == {*names} - {first.name}


async def test_me_may_be_flagged_by_that_name() -> None:
    world = CurationWorld()
    await world.tell("I like tea.", {"source": "me", "relation": "LIKES", "target": "tea"})
    assert (await world.flag("me")).flagged


async def test_a_forgotten_word_leaves_no_reason_in_the_journal_and_a_gone_entity_leaves_nothing() -> None:
    world = CurationWorld()
    await world.make("Tom", "Sarah")
    await world.flag("Tom", "Is Zéphyrin.")
    (write,) = world.curated
    uuid = world.entity("Tom").uuid
    base = {"uuid": new_uuid(), "group_id": write.group_id, "recorded_at": write.recorded_at}
    forgetting = WriteIntent(**base, kind=WriteKind.FORGET, forgets={"qualities": (uuid,)})
    left, _ = redacted(write, {}, forgetting)
    assert [one.flag_reason for one in left.qualities] == [FORGOTTEN]
    assert left.qualities[0].flagged_at == write.recorded_at
    deleting = WriteIntent(**base, kind=WriteKind.FORGET, deletions=Deletions(entities=(uuid,)))
    left, _ = redacted(write, {}, deleting)
    assert left.qualities == ()


async def test_a_search_shows_librarians_why_an_entity_is_flagged_and_others_nothing() -> None:
    world = CurationWorld()
    anna = Caller(principal="anna", tier="librarian")
    await world.make("Tom", "Ann", caller=anna)
    await world.flag("Tom", "Perhaps twice.", anna)
    groups = Groups(world.graph, world.context.settings)
    searching = Searching(world.context, groups, world.graph.part(NEIGHBOURS), world.graph.part(FLAGS))

    async def shown(caller: Caller, **asked: Any) -> dict[str, str | None]:
        answer = await searching.search_nodes(caller, SearchNodes(**asked))
        return {one.name: one.flagged for one in answer.nodes}

    for asked in ({"query": "Tom Ann"}, {"entity_types": ["Person"]}, {"names": ["Tom", "Ann"]}):
        assert await shown(anna, **asked) == {"Tom": "Perhaps twice.", "Ann": None}
        for tier in ("reader", "contributor"):
            assert await shown(anna.model_copy(update={"tier": tier}), **asked) == {"Tom": None, "Ann": None}
    member = Caller(principal="ben", shared=(SharedMemory(memory="anna", tier="contributor"),))
    keeper = Caller(principal="ben", shared=(SharedMemory(memory="anna", tier="librarian"),))
    shared = {"query": "Tom", "group_ids": ["anna/default"]}
    assert (await shown(member, **shared))["Tom"] is None
    assert (await shown(keeper, **shared))["Tom"] == "Perhaps twice."
    await world.clear("Tom", caller=anna)
    assert (await shown(anna, query="Tom"))["Tom"] is None


async def test_what_changed_tells_librarians_what_was_said_of_an_entity() -> None:
    world = CurationWorld()
    await world.make("Tom", caller=LIBRARIAN)
    feed = (await world.changes.what_changed(LIBRARIAN, WhatChanged(since="2020"))).feed_cursor
    await world.flag("Tom", "Two people?", caller=LIBRARIAN)
    await world.flag("Tom", "Two people!", caller=LIBRARIAN)
    await world.clear("Tom", "One.", caller=LIBRARIAN)
    await world.rate("Tom", 0.4, "Hearsay.", caller=LIBRARIAN)
    await world.bias("Tom", -0.5, "Rarely meant.", caller=LIBRARIAN)
    news = await world.changes.what_changed(LIBRARIAN, WhatChanged(since="2020", cursor=feed))
    assert [(one.change, one.entity, one.reason) for one in news.changes] == [
        ("biased", "Tom", "-0.5: Rarely meant."),
        ("rated", "Tom", "0.4: Hearsay."),
        ("cleared", "Tom", "One."),
        ("flagged", "Tom", "Two people!"),
        ("flagged", "Tom", "Two people?"),
    ]
    of_tom = WhatChanged(entity_uuid=world.entity("Tom").uuid, kinds=["updated"])
    assert (await world.changes.what_changed(LIBRARIAN, of_tom)).changes == news.changes
    by_another = await world.changes.what_changed(LIBRARIAN.model_copy(update={"token": "ffffffff"}), of_tom)
    assert by_another.changes == news.changes


async def test_who_is_no_librarian_hears_nothing_of_reviews() -> None:
    world = CurationWorld()
    await world.make("Tom", caller=LIBRARIAN)
    before = await world.changes.what_changed(READER, WhatChanged(since="2020"))
    await world.flag("Tom", "Two people?", caller=LIBRARIAN)
    for request in (WhatChanged(since="2020"), WhatChanged(kinds=["updated"]), WhatChanged(since="2020", limit=1)):
        answer = await world.changes.what_changed(READER, request)
        assert {one.change for one in answer.changes} <= {"added"}
        assert "Two people" not in answer.model_dump_json()
    after = await world.changes.what_changed(READER, WhatChanged(since="2020", cursor=before.feed_cursor))
    assert after.total == 0
