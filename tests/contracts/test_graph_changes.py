"""Contract of ``Graph``: what became of facts, by episode, fact, entity and time."""

from array import array
from typing import Any

import pytest
from tests.builders import (
    GROUP,
    OTHER_GROUP,
    RECORDED,
    a_change,
    a_fact,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    at,
    new_uuid,
)

from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.core.model.changes import ChangeFilter, ChangePage
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Deletions, FactChange, RecordedChange
from graphiti_pkm.core.ports.graph import Graph

PAGE = Window(limit=100)


def wanted(**fields: Any) -> ChangeFilter:
    return ChangeFilter(**{"group_ids": (GROUP,), "recorded_until": at(2027), "since": at(2020), **fields})


def told(page: ChangePage) -> list[tuple[str, str]]:
    return [(change.kind, change.fact_uuid) for change in page.changes]


def kept(change: FactChange, group_id: str = GROUP) -> RecordedChange:
    return RecordedChange(**dict(change), group_id=group_id)


async def test_facts_that_an_episode_ended_or_voided_come_newest_recorded_first(graph: Graph) -> None:
    sarah, tom, note, other = an_entity("Sarah"), an_entity("Tom"), an_episode(), an_episode()
    ended = a_fact(sarah, tom, "MANAGES", created_at=at(2025, 1), expired_at=at(2026))
    voided = a_fact(sarah, tom, "MET", created_at=at(2025, 2), voided=True)
    elsewhere = a_fact(sarah, tom, "LIKES", created_at=at(2025, 3))
    changes = [
        a_change(ended, note),
        a_change(ended, note),
        a_change(voided, note, kind="voided", replaced_by=ended.uuid),
        a_change(elsewhere, other),
    ]
    await graph.writer.apply(a_write(sarah, tom, note, other, ended, voided, elsewhere, *changes), {})
    assert await graph.facts.retired_by_episode(note.uuid, ["t1"], 10) == [voided, ended]
    assert await graph.facts.retired_by_episode(note.uuid, ["t1"], 1) == [voided]
    assert await graph.facts.retired_by_episode(note.uuid, ["t2"], 10) == []
    assert await graph.facts.retired_by_episode("nothing", ["t1"], 10) == []


async def test_a_change_of_a_fact_that_is_gone_is_left_out(graph: Graph) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    await graph.writer.apply(a_write(sarah, note, a_change(a_fact(sarah, sarah), note)), {})
    assert await graph.facts.retired_by_episode(note.uuid, ["t1"], 10) == []


async def test_facts_that_a_fact_ended_or_voided_come_newest_recorded_first(graph: Graph) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    new, other = a_fact(sarah, tom, "LIKES"), a_fact(sarah, tom, "HELPS")
    ended = a_fact(sarah, tom, "MANAGES", created_at=at(2025, 1), expired_at=at(2026))
    voided = a_fact(sarah, tom, "MET", created_at=at(2025, 2), voided=True)
    elsewhere = a_fact(sarah, tom, "KNOWS", created_at=at(2025, 3))
    changes = [
        a_change(ended, note, replaced_by=new.uuid),
        a_change(ended, note, replaced_by=new.uuid),
        a_change(voided, note, kind="voided", replaced_by=new.uuid),
        a_change(elsewhere, note, replaced_by=other.uuid),
        a_change(other, note),
    ]
    await graph.writer.apply(a_write(sarah, tom, note, new, other, ended, voided, elsewhere, *changes), {})
    assert await graph.facts.retired_by_fact(new.uuid, ["t1"], 10) == [voided, ended]
    assert await graph.facts.retired_by_fact(new.uuid, ["t1"], 1) == [voided]
    assert await graph.facts.retired_by_fact(new.uuid, ["t2"], 10) == []
    assert await graph.facts.retired_by_fact("nothing", ["t1"], 10) == []


async def test_a_proposal_or_a_restoring_ends_nothing(graph: Graph) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    fact = a_fact(sarah, sarah)
    kinds = ("proposed", "rejected", "restored", "deleted")
    events = [a_change(fact, note, kind=kind, replaced_by=fact.uuid) for kind in kinds]
    await graph.writer.apply(a_write(sarah, note, fact, *events), {})
    assert await graph.facts.retired_by_episode(note.uuid, [GROUP], 10) == []
    assert await graph.facts.retired_by_fact(fact.uuid, [GROUP], 10) == []


async def test_every_value_of_a_change_comes_back_and_so_does_what_version_one_wrote(graph: Graph) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    fact = a_fact(sarah, sarah)
    whole = a_change(
        fact,
        note,
        kind="proposed",
        replaced_by=new_uuid(),
        recorded_at=at(2026, 2, 3, 4, 5),
        invalid_at=at(2026, 2),
        reason="She said so.",
        caller="local",
        previous_valid_at=at(1890),
        previous_invalid_at=at(2027),
        previous_expired_at=at(2026, 1, 2),
        previous_voided=True,
    )
    lean = FactChange(uuid=new_uuid(), fact_uuid=fact.uuid, kind="restored", recorded_at=at(2026, 3))
    await graph.writer.apply(a_write(sarah, note, fact, whole, lean), {})
    found = await graph.changes.fact_changes([fact.uuid, "nothing"], [GROUP], 10)
    assert found == {fact.uuid: [kept(lean), kept(whole)], "nothing": []}
    assert await graph.changes.fact_changes([fact.uuid], [GROUP], 1) == {fact.uuid: [kept(lean)]}
    assert await graph.changes.fact_changes([fact.uuid], [OTHER_GROUP], 10) == {fact.uuid: []}


async def test_events_of_one_write_keep_their_order(graph: Graph) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    fact = a_fact(sarah, sarah)
    events = [a_change(fact, note, reason=str(i)) for i in range(20)]
    await graph.writer.apply(a_write(sarah, note, fact, *events), {})
    (found,) = (await graph.changes.fact_changes([fact.uuid], [GROUP], 100)).values()
    assert [event.reason for event in found] == [str(i) for i in reversed(range(20))]


async def test_changes_come_newest_recorded_first_in_pages_that_meet(graph: Graph) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    facts = [a_fact(sarah, sarah, created_at=at(2026, 1, 1 + i // 2), episodes=(note.uuid,)) for i in range(6)]
    events = [a_change(fact, note, recorded_at=fact.created_at) for fact in facts]
    await graph.writer.apply(a_write(sarah, note, *facts, *events), {})
    whole = await graph.part(CHANGE_LISTS).changes(wanted(), PAGE)
    days = [[f for f in facts if f.created_at == at(2026, 1, day)] for day in (3, 2, 1)]
    rows = [
        [(e.recorded_at, e.kind) for e in events if e.fact_uuid in {f.uuid for f in day}]
        + [(f.created_at, "added") for f in day]
        for day in days
    ]
    assert [(one.recorded_at, one.kind) for one in whole.changes] == [row for day in rows for row in day]
    assert whole.total == 12
    added = [one for one in whole.changes if one.kind == "added"]
    assert {(one.uuid, one.fact_uuid, one.episode_uuid) for one in added} == {
        (fact.uuid, fact.uuid, note.uuid) for fact in facts
    }
    met: list[RecordedChange] = []
    after = None
    for _ in range(12):
        page = await graph.part(CHANGE_LISTS).changes(wanted(), Window(limit=1, after=after))
        assert page.total == 12
        met.extend(page.changes)
        after = page.keys[-1]
    assert tuple(met) == whole.changes
    assert (await graph.part(CHANGE_LISTS).changes(wanted(), Window(limit=1, after=after))).changes == ()


async def test_pages_over_many_years_meet_with_months_between(graph: Graph) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    times = [at(2026, 6, day) for day in (1, 1, 2, 3)] + [at(year, 3, 4) for year in range(2001, 2021) for _ in (1, 2)]
    facts = [a_fact(sarah, sarah, created_at=moment) for moment in times]
    events = [a_change(fact, note, recorded_at=fact.created_at) for fact in facts]
    await graph.writer.apply(a_write(sarah, note, *facts, *events), {})
    expected = sorted(times * 2, reverse=True)
    for limit in (3, 5, 100):
        met: list[RecordedChange] = []
        page = await graph.part(CHANGE_LISTS).changes(wanted(since=at(2000)), Window(limit=limit))
        while page.changes:
            met.extend(page.changes)
            assert page.total == len(expected)
            page = await graph.part(CHANGE_LISTS).changes(
                wanted(since=at(2000)), Window(limit=limit, after=page.keys[-1])
            )
        assert [change.recorded_at for change in met] == expected
        assert len({(change.kind, change.uuid) for change in met}) == len(expected)
    until = await graph.part(CHANGE_LISTS).changes(wanted(since=at(2000), until=at(2010)), Window(limit=3))
    assert [change.recorded_at for change in until.changes] == [at(2009, 3, 4)] * 3


@pytest.mark.parametrize(
    ("fields", "days"),
    [
        ({}, [5, 4, 3, 2, 1]),
        ({"since": at(2026, 1, 3)}, [5, 4, 3]),
        ({"since": at(2026, 1, 2, 0, 1)}, [5, 4, 3]),
        ({"until": at(2026, 1, 3)}, [2, 1]),
        ({"until": at(2026, 1, 3, 0, 1)}, [3, 2, 1]),
        ({"recorded_until": at(2026, 1, 3)}, [3, 2, 1]),
        ({"since": at(2026, 1, 2), "until": at(2026, 1, 4)}, [3, 2]),
        ({"since": at(2026, 1, 4), "until": at(2026, 1, 2)}, []),
        ({"group_ids": (OTHER_GROUP,)}, []),
        ({"group_ids": ()}, []),
    ],
)
async def test_a_period_is_half_open_and_ends_now(graph: Graph, fields: dict[str, Any], days: list[int]) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    facts = [a_fact(sarah, sarah, created_at=at(2026, 1, day)) for day in range(1, 6)]
    events = [a_change(fact, note, recorded_at=fact.created_at) for fact in facts]
    await graph.writer.apply(a_write(sarah, note, *facts, *events), {})
    for kind in ("added", "retired"):
        page = await graph.part(CHANGE_LISTS).changes(wanted(kinds=(kind,), **fields), PAGE)
        assert [change.recorded_at.day for change in page.changes] == days
        assert page.total == len(days)
        assert {change.kind for change in page.changes} <= {kind}
    assert (await graph.part(CHANGE_LISTS).changes(wanted(**fields), PAGE)).total == 2 * len(days)
    of_sarah = await graph.part(CHANGE_LISTS).changes(wanted(entity_uuid=sarah.uuid, **fields), PAGE)
    assert of_sarah.total == 2 * len(days)


async def test_changes_before_1900_are_in_their_period(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    facts = [a_fact(sarah, sarah, created_at=at(year)) for year in (2, 1066, 1899)]
    await graph.writer.apply(a_write(sarah, *facts), {})
    page = await graph.part(CHANGE_LISTS).changes(wanted(since=at(1000), until=at(1900)), PAGE)
    assert told(page) == [("added", facts[2].uuid), ("added", facts[1].uuid)]


async def test_changes_of_an_entity_are_those_of_its_facts_at_either_end(graph: Graph) -> None:
    sarah, tom, eve, note = an_entity("Sarah"), an_entity("Tom"), an_entity("Eve"), an_episode()
    out, into, other = a_fact(sarah, tom), a_fact(tom, sarah), a_fact(tom, eve)
    events = [a_change(fact, note) for fact in (out, into, other)]
    await graph.writer.apply(a_write(sarah, tom, eve, note, out, into, other, *events), {})
    page = await graph.part(CHANGE_LISTS).changes(wanted(entity_uuid=sarah.uuid), PAGE)
    assert {(kind, uuid) for kind, uuid in told(page)} == {
        (kind, fact.uuid) for kind in ("added", "retired") for fact in (out, into)
    }
    assert page.total == 4
    retired = await graph.part(CHANGE_LISTS).changes(
        wanted(entity_uuid=sarah.uuid, kinds=("retired", "proposed")), PAGE
    )
    assert retired.total == 2
    assert (await graph.part(CHANGE_LISTS).changes(wanted(entity_uuid="nothing"), PAGE)).total == 0


async def test_what_became_of_a_deleted_fact_stays_without_words(graph: Graph) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    gone, stays = a_fact(sarah, tom), a_fact(tom, tom)
    ended, other = a_change(gone, note, reason="Secret."), a_change(stays, note, reason="Known.")
    await graph.writer.apply(a_write(sarah, tom, note, gone, stays, ended, other), {})
    deleted = a_change(gone, note, kind="deleted", episode_uuid=None, recorded_at=at(2026, 2))
    await graph.writer.apply(a_write(deleted, deletions={"facts": (gone.uuid,)}), {})
    page = await graph.part(CHANGE_LISTS).changes(wanted(entity_uuid=sarah.uuid), PAGE)
    assert page.changes == (kept(deleted), kept(ended.model_copy(update={"reason": None})))
    assert (await graph.part(CHANGE_LISTS).changes(wanted(kinds=("retired",)), PAGE)).total == 2
    (of_tom,) = (await graph.changes.fact_changes([stays.uuid], [GROUP], 10)).values()
    assert of_tom == [kept(other)]


async def test_a_fact_that_goes_with_its_entity_leaves_its_events_without_words(graph: Graph) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    fact = a_fact(sarah, tom)
    await graph.writer.apply(a_write(sarah, tom, note, fact, a_change(fact, note, reason="Secret.")), {})
    await graph.writer.apply(a_write(deletions={"entities": (sarah.uuid,)}), {})
    page = await graph.part(CHANGE_LISTS).changes(wanted(), PAGE)
    assert [(change.kind, change.reason) for change in page.changes] == [("retired", None)]


async def test_a_mark_is_taken_off_an_episode_again(graph: Graph) -> None:
    note, other = an_episode(), an_episode()
    await graph.writer.apply(a_write(note, other, corrected_episodes=(note.uuid, other.uuid)), {})
    await graph.writer.apply(a_write(uncorrected_episodes=(note.uuid, "nothing")), {})
    found = await graph.records.get_episodes([note.uuid, other.uuid], [GROUP])
    assert [episode.corrected for episode in found] == [False, True]


async def test_openings_are_the_first_characters_of_episodes(graph: Graph) -> None:
    note, short = an_episode("Ærøskøbing is far."), an_episode("Ok")
    await graph.writer.apply(a_write(note, short), {})
    found = await graph.part(CHANGE_LISTS).openings([note.uuid, short.uuid, "nothing"], [GROUP], 5)
    assert found == {note.uuid: "Ærøsk", short.uuid: "Ok"}
    assert await graph.part(CHANGE_LISTS).openings([note.uuid], [OTHER_GROUP], 5) == {}
    assert await graph.part(CHANGE_LISTS).openings([], [GROUP], 5) == {}


async def test_the_nearest_sentence_of_an_episode_is_found_for_each_fact(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    note, other, foreign = an_episode("x" * 40), an_episode("y" * 20), an_episode(group_id=OTHER_GROUP)
    one, two, bare = a_fact(sarah, tom), a_fact(tom, sarah), a_fact(tom, tom)
    passages = [a_passage(note, i * 10, i * 10 + 9, sentence=i) for i in range(3)]
    elsewhere, unseen = a_passage(foreign, 0, 9), a_passage(other, 0, 9)
    vectors = {one.uuid: (1.0, 0.0), two.uuid: (0.0, 1.0), elsewhere.uuid: (1.0, 0.0)}
    vectors |= dict(zip((passage.uuid for passage in passages), ((0.6, 0.8), (0.8, 0.6), (1.0, 0.0)), strict=True))
    write = a_write(sarah, tom, note, other, foreign, one, two, bare, *passages, elsewhere, unseen)
    await graph.writer.apply(write, {uuid: array("f", vector) for uuid, vector in vectors.items()})
    pairs = [
        (one.uuid, note.uuid),
        (two.uuid, note.uuid),
        (bare.uuid, note.uuid),
        (one.uuid, other.uuid),
        (one.uuid, foreign.uuid),
        ("nothing", note.uuid),
        (one.uuid, "nothing"),
    ]
    found = await graph.part(CHANGE_LISTS).nearest_sentences(pairs, [GROUP], 20)
    assert {pair: (hit.start, hit.end) for pair, hit in found.items()} == {pairs[0]: (10, 19), pairs[1]: (0, 9)}
    assert [hit.cosine for hit in found.values()] == pytest.approx([0.8, 0.8], abs=1e-5)
    assert (await graph.part(CHANGE_LISTS).nearest_sentences(pairs[:1], [GROUP], 21))[pairs[0]].start == 20
    assert await graph.part(CHANGE_LISTS).nearest_sentences([], [GROUP], 20) == {}


async def test_what_replaced_a_fact_is_told_by_its_newest_ending(graph: Graph) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    old, again, gone, new = (a_fact(sarah, tom) for _ in range(4))
    events = [
        a_change(old, note, recorded_at=at(2026, 1), replaced_by=gone.uuid),
        a_change(old, note, kind="restored", recorded_at=at(2026, 2)),
        a_change(old, note, kind="voided", recorded_at=at(2026, 3), replaced_by=new.uuid),
        a_change(old, note, kind="rejected", recorded_at=at(2026, 4)),
        a_change(again, note, recorded_at=at(2026, 1), replaced_by=gone.uuid),
        a_change(again, note, recorded_at=at(2026, 2)),
        a_change(new, note, kind="proposed", replaced_by=gone.uuid),
    ]
    await graph.writer.apply(a_write(sarah, tom, note, old, again, gone, new, *events), {})
    uuids = [old.uuid, again.uuid, new.uuid, "nothing"]
    assert await graph.changes.replacements(uuids, [GROUP]) == {old.uuid: new.uuid}
    assert await graph.changes.replacements(uuids, [OTHER_GROUP]) == {}
    assert await graph.changes.replacements([], [GROUP]) == {}


async def test_changes_of_a_group_are_told_to_no_other(graph: Graph) -> None:
    theirs = an_entity("Sarah", group_id=OTHER_GROUP)
    fact = a_fact(theirs, theirs, created_at=RECORDED)
    event = a_change(fact, an_episode(group_id=OTHER_GROUP))
    await graph.writer.apply(a_write(theirs, fact, event), {})
    assert (await graph.part(CHANGE_LISTS).changes(wanted(), PAGE)).total == 0
    assert (await graph.part(CHANGE_LISTS).changes(wanted(entity_uuid=theirs.uuid), PAGE)).total == 0
    both = await graph.part(CHANGE_LISTS).changes(wanted(group_ids=(GROUP, OTHER_GROUP)), PAGE)
    assert [change.group_id for change in both.changes] == [OTHER_GROUP] * 2


async def test_told_since_is_by_the_date_of_the_note_and_without_one_by_the_record(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    old, new = an_episode(valid_at=at(2019)), an_episode(valid_at=at(2025))
    foreign = an_episode(valid_at=at(2030), group_id=OTHER_GROUP)
    told_old = a_fact(sarah, sarah, created_at=at(2026, 1, 2), episodes=(old.uuid, new.uuid))
    told_new = a_fact(sarah, sarah, created_at=at(2026, 1, 1), episodes=(new.uuid,))
    untold = a_fact(sarah, sarah, created_at=at(2020, 1, 3))
    events = [
        a_change(told_new, old, recorded_at=at(2026, 2, 1)),
        a_change(told_old, new, recorded_at=at(2026, 2, 2)),
        FactChange(uuid=new_uuid(), fact_uuid=untold.uuid, kind="restored", recorded_at=at(2026, 2, 3)),
        a_change(untold, foreign, recorded_at=at(2024)),
    ]
    await graph.writer.apply(a_write(foreign, group_id=OTHER_GROUP), {})
    await graph.writer.apply(a_write(sarah, old, new, told_old, told_new, untold, *events), {})
    page = await graph.part(CHANGE_LISTS).changes(wanted(told_since=at(2025)), PAGE)
    assert told(page) == [("restored", untold.uuid), ("retired", told_old.uuid), ("added", told_new.uuid)]
    assert page.total == 3
    later = await graph.part(CHANGE_LISTS).changes(wanted(told_since=at(2025, 1, 2)), PAGE)
    assert told(later) == [("restored", untold.uuid)]
    whole = await graph.part(CHANGE_LISTS).changes(wanted(since=at(1), told_since=at(2019)), PAGE)
    assert whole.total == 7
    day = wanted(told_since=at(2025), told_until=at(2025, 1, 2))
    between = await graph.part(CHANGE_LISTS).changes(day, PAGE)
    assert told(between) == told(page)[1:]
    assert between.total == 2
    (first,) = (await graph.part(CHANGE_LISTS).changes(day, Window(limit=1))).keys
    assert told(await graph.part(CHANGE_LISTS).changes(day, Window(limit=1, after=first))) == told(page)[2:]
    ends = await graph.part(CHANGE_LISTS).changes(wanted(since=at(1), told_until=at(2025)), PAGE)
    assert {one.fact_uuid for one in ends.changes} == {told_old.uuid, told_new.uuid, untold.uuid}
    assert [one.kind for one in ends.changes] == ["retired", "added", "retired", "added"]


async def test_an_end_by_hand_is_of_the_note_that_told_what_took_its_place(graph: Graph) -> None:
    """What is shown as ``told_at`` is what both bounds compare."""
    sarah, elsewhere = an_entity("Sarah"), an_entity("Tom", group_id=OTHER_GROUP)
    first, later = an_episode(valid_at=at(2025, 5)), an_episode(valid_at=at(2025, 8))
    foreign = an_episode(valid_at=at(2025, 5), group_id=OTHER_GROUP)
    by = a_fact(sarah, sarah, created_at=at(2019), episodes=(first.uuid, later.uuid))
    untold = a_fact(sarah, sarah, created_at=at(2019), episodes=())
    other = a_fact(elsewhere, elsewhere, created_at=at(2019), episodes=(foreign.uuid,), group_id=OTHER_GROUP)
    ended = a_fact(sarah, sarah, created_at=at(2019))
    gone = a_fact(sarah, sarah, created_at=at(2019))
    by_hand = [
        a_change(fact, later, episode_uuid=None, kind=kind, replaced_by=cause, recorded_at=at(2026, 2, day))
        for day, (fact, kind, cause) in enumerate(
            [
                (ended, "retired", by.uuid),
                (ended, "restored", by.uuid),
                (ended, "retired", untold.uuid),
                (ended, "retired", other.uuid),
                (ended, "retired", None),
                (gone, "retired", by.uuid),
            ],
            1,
        )
    ]
    of_a_note = a_change(ended, later, replaced_by=by.uuid, recorded_at=at(2026, 2, 7))
    await graph.writer.apply(a_write(elsewhere, foreign, other, group_id=OTHER_GROUP), {})
    await graph.writer.apply(a_write(sarah, first, later, by, untold, ended, gone, *by_hand, of_a_note), {})
    await graph.writer.apply(a_write(deletions={"facts": (gone.uuid,)}), {})

    async def days(**fields: Any) -> list[int]:
        page = await graph.part(CHANGE_LISTS).changes(wanted(**fields), PAGE)
        assert page.total == len(page.changes)
        return [change.recorded_at.day for change in page.changes]

    assert await days(told_since=at(2025, 5), told_until=at(2025, 5, 2)) == [1]
    assert await days(told_since=at(2025, 5), told_until=at(2025, 9)) == [7, 1]
    assert await days(told_since=at(2025, 5, 2)) == [6, 5, 4, 3, 2, 7]
    assert await days(told_since=at(2025, 5, 2), entity_uuid=sarah.uuid) == [6, 5, 4, 3, 2, 7]
    assert await days(told_since=at(2026, 2, 3), told_until=at(2026, 2, 5)) == [4, 3]


async def test_with_told_since_pages_come_by_the_date_of_the_note(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    notes = [an_episode(valid_at=at(2025, month)) for month in (3, 1, 2)]
    facts = [
        a_fact(sarah, sarah, created_at=at(2026, month), episodes=(note.uuid,)) for month, note in enumerate(notes, 1)
    ]
    ends = [a_change(fact, notes[0], recorded_at=at(2021, month)) for month, fact in enumerate(facts, 1)]
    await graph.writer.apply(a_write(sarah, *notes, *facts, *ends), {})
    ended = [("retired", uuid) for _, uuid in sorted((one.uuid, one.fact_uuid) for one in ends)]
    expected = [*ended, *(("added", facts[place].uuid) for place in (0, 2, 1))]
    asked = wanted(since=at(1), told_since=at(2025))
    for limit in (1, 2, 4, 100):
        met: list[tuple[str, str]] = []
        page = await graph.part(CHANGE_LISTS).changes(asked, Window(limit=limit))
        while page.changes:
            assert page.total == len(expected)
            met += told(page)
            page = await graph.part(CHANGE_LISTS).changes(asked, Window(limit=limit, after=page.keys[-1]))
        assert met == expected


async def test_changes_between_instants_of_each_group(graph: Graph) -> None:
    sarah, tom, note = an_entity("Sarah"), an_entity("Tom"), an_episode()
    other, elsewhere = an_entity("Sarah", group_id=OTHER_GROUP), an_entity("Tom", group_id=OTHER_GROUP)
    here = [a_fact(sarah, tom, "MET", created_at=at(2025, month)) for month in (1, 2, 3)]
    there = [a_fact(other, elsewhere, "MET", created_at=at(2025, m), group_id=OTHER_GROUP) for m in (1, 2, 3)]
    await graph.writer.apply(a_write(sarah, tom, note, *here), {})
    await graph.writer.apply(a_write(other, elsewhere, *there, group_id=OTHER_GROUP), {})
    lists = graph.part(CHANGE_LISTS)
    assert set(await lists.last_writes([GROUP, OTHER_GROUP, "empty"])) == {GROUP, OTHER_GROUP}
    for group in (GROUP, OTHER_GROUP):
        assert await lists.last_writes([group]) == {group: await graph.facts.newest_record([group])}
    both = {"group_ids": (GROUP, OTHER_GROUP)}
    page = await lists.changes(wanted(**both, seen=(at(2025, 1), at(2025, 2))), PAGE)
    assert {one.fact_uuid for one in page.changes} == {here[1].uuid, here[2].uuid, there[2].uuid}
    page = await lists.changes(wanted(**both, newest=(at(2025, 1), at(2025, 2))), PAGE)
    assert {one.fact_uuid for one in page.changes} == {here[0].uuid, there[0].uuid, there[1].uuid}
    assert page.total == 3
    page = await lists.changes(wanted(seen=(at(2025, 1),), newest=(at(2025, 2),)), PAGE)
    assert [one.fact_uuid for one in page.changes] == [here[1].uuid]


async def test_what_was_said_of_an_entity_is_among_its_changes_until_it_goes(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    event = FactChange(
        uuid=new_uuid(), fact_uuid=sarah.uuid, kind="flagged", recorded_at=RECORDED, reason="Two people?", caller="anna"
    )
    await graph.writer.apply(a_write(sarah, event), {})
    lists = graph.part(CHANGE_LISTS)
    assert (await lists.changes(wanted(entity_uuid=sarah.uuid), PAGE)).changes == (kept(event),)
    await graph.writer.apply(a_write(deletions=Deletions(entities=(sarah.uuid,))), {})
    assert (await lists.changes(wanted(entity_uuid=sarah.uuid), PAGE)).total == 0
    (left,) = (await lists.changes(wanted(kinds=("flagged",)), PAGE)).changes
    assert (left.reason, left.caller) == (None, "anna")


async def test_each_fact_of_an_episode_has_its_nearest_sentence(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    note, other = an_episode("One. Two. Three."), an_episode("Elsewhere.", group_id=OTHER_GROUP)
    east, north, unknown = (a_fact(sarah, sarah, text=text) for text in ("East", "North", "Unknown"))
    parts = [a_passage(note, 0, 4), a_passage(note, 5, 9, sentence=1), a_passage(note, 10, 16, sentence=2)]
    closed = a_passage(other)
    vectors = {east.uuid: [1.0, 0.0], north.uuid: [0.0, 1.0], closed.uuid: [1.0, 0.0]}
    vectors |= {part.uuid: vector for part, vector in zip(parts, ([1.0, 0.2], [0.2, 1.0], [1.0, 0.0]), strict=True)}
    given = {uuid: array("f", vector) for uuid, vector in vectors.items()}
    await graph.writer.apply(a_write(sarah, note, east, north, unknown, *parts), given)
    await graph.writer.apply(a_write(other, closed, group_id=OTHER_GROUP), given)
    pairs = [(fact.uuid, episode.uuid) for fact in (east, north, unknown) for episode in (note, other)]

    found = await graph.part(CHANGE_LISTS).nearest_sentences(pairs, [GROUP], 10)

    assert {pair: (hit.start, hit.end) for pair, hit in found.items()} == {
        (east.uuid, note.uuid): (0, 4),  # the nearest of all begins too late
        (north.uuid, note.uuid): (5, 9),
    }
