"""Contract of ``Graph``: lists of facts and entities under filters, in their orders and pages."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from tests.builders import OTHER_GROUP, a_fact, a_write, an_entity, an_episode, at
from tests.contracts.fact_story import NOW, PAGE, Story, wanted

from graphiti_pkm.core.model.choices import FactStatus
from graphiti_pkm.core.model.date_phrases import START_WORDS
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.reading.views import status_of

MICROSECOND = timedelta(microseconds=1)
LATER = at(2026, 5)


async def test_a_status_is_the_one_that_is_shown(graph: Graph) -> None:
    """The database says the same as the view, for every kind of fact and every combination of instants."""
    story = Story(graph)
    moments = (None, at(2025, 2), at(2026, 2))
    facts = [
        story.fact(
            f"{kind} {valid_at} {invalid_at} {expired_at} {voided}",
            kind=kind,
            valid_at=valid_at,
            invalid_at=invalid_at,
            expired_at=expired_at,
            voided=voided,
            created_at=at(2025),
            reference_time=at(2025, 3),
        )
        for kind in ("state", "event", "plan", "reading")
        for valid_at in moments
        for invalid_at in moments
        for expired_at in moments
        for voided in (False, True)
    ]
    await story.put(*facts)
    for as_of, now in ((None, NOW), (None, at(2025, 6)), (at(2025, 1, 15), NOW), (at(2025, 6), NOW)):
        shown = await story.page(now=now) if as_of is None else await story.page(now=now, as_of=as_of)
        every = {fact.text: status_of(fact, now, as_of) for fact in facts}
        for status in get_args(FactStatus):
            found = await story.texts(now=now, as_of=as_of, status=status)
            assert len(set(found)) == len(found)
            if as_of is None:
                assert set(found) == {text for text, one in every.items() if one == status}, (status, now)
            else:
                inside = {fact.text for fact in shown.facts}
                assert {text for text in found if text in inside} == {t for t in inside if every[t] == status}
                assert all(every[text] == status for text in found), (status, as_of)


async def test_what_had_ended_or_not_begun_at_an_instant_is_found_by_status(graph: Graph) -> None:
    story = Story(graph)
    await story.put(
        story.fact("ended", invalid_at=at(2025, 3), expired_at=at(2025, 3)),
        story.fact("future", valid_at=at(2026, 3)),
        story.fact("possible", valid_at=None, reference_time=at(2026, 3)),
        story.fact("current"),
    )
    for status in ("ended", "future", "possible", "current"):
        assert await story.texts(as_of=at(2025, 6), status=status) == [status]


async def test_plans_that_were_due_and_of_which_no_more_is_known_are_listed_if_asked(graph: Graph) -> None:
    story, due = Story(graph), at(2025, 5)
    await story.put(
        story.fact("held"),
        story.fact("due", kind="plan", valid_at=due),
        story.fact("without a date", kind="plan", valid_at=None),
        story.fact("later", kind="plan", valid_at=at(2025, 7)),
        story.fact("over", kind="plan", valid_at=due, invalid_at=at(2025, 5, 20)),
        story.fact("fulfilled", kind="plan", valid_at=due, expired_at=at(2025, 8)),
        story.fact("wrong", kind="plan", valid_at=due, voided=True, expired_at=at(2025, 8)),
        story.fact("happened", kind="event", valid_at=due),
    )
    assert await story.texts(as_of=at(2025, 6)) == ["held"]
    assert sorted(await story.texts(as_of=at(2025, 6), with_due_plans=True)) == ["due", "held"]
    assert await story.texts(as_of=at(2025, 6), with_due_plans=True, status="current") == ["held"]
    assert await story.texts(as_of=at(2025, 4), with_due_plans=True) == ["held"]


async def test_readings_of_a_measure_and_a_time_come_oldest_first(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    days = {day: {"kind": "reading", "value": "7", "valid_at": at(2026, 9, day)} for day in (24, 27, 25, 26)}
    slept = {day: a_fact(sarah, tom, "SLEPT", measure="Sleep", **said) for day, said in days.items()}
    weighed = a_fact(sarah, tom, "WEIGHS", measure="Weight", **days[25])
    await graph.writer.apply(a_write(sarah, tom, *slept.values(), weighed), {})
    asked = {"measures": ("Sleep",), "valid_after": at(2026, 9, 25), "valid_before": at(2026, 9, 27)}
    oldest = Window(limit=10, newest=False)
    for page in (
        await graph.facts.group_facts(wanted(**asked), oldest),
        await graph.facts.connections(tom.uuid, wanted(**asked), oldest),
    ):
        assert [fact.uuid for fact in page.facts] == [slept[25].uuid, slept[26].uuid]


async def test_facts_are_filtered_by_kind_type_of_an_end_and_series(graph: Graph) -> None:
    sarah, acme, tom = an_entity("Sarah", label="Person"), an_entity("Acme", label="Company"), an_entity("Tom")
    works, met = a_fact(sarah, acme), a_fact(sarah, tom, kind="event")
    foreign = a_fact(acme, tom, attributes={"colour": "red"})
    slept = [a_fact(sarah, tom, "SLEPT", kind="reading", measure=name, value="7") for name in ("Sleep", "Weight")]
    other = a_fact(tom, tom, "SLEPT", kind="reading", measure="Sleep")
    await graph.writer.apply(a_write(sarah, acme, tom, works, met, foreign, *slept, other), {})

    async def found(**fields: Any) -> set[str]:
        return {fact.uuid for fact in (await graph.facts.group_facts(wanted(**fields), PAGE)).facts}

    assert await found(kinds=("event",)) == {met.uuid}
    assert await found(kinds=("state", "event")) == {works.uuid, met.uuid, foreign.uuid}
    assert await found(labels=("Company",)) == {works.uuid, foreign.uuid}
    assert await found(labels=("Person",), kinds=("state",)) == {works.uuid}
    assert await found(measures=("Sleep",)) == {slept[0].uuid, other.uuid}
    assert await found(measures=("Sleep", "Weight")) == {*(one.uuid for one in slept), other.uuid}
    assert await found(neighbour_uuid=acme.uuid, own_measures=("Weight",)) == {
        works.uuid,
        foreign.uuid,
        slept[1].uuid,
    }
    assert await graph.facts.measures("t1", None, 5) == {"Sleep": 2, "Weight": 1}
    assert await found(neighbour_uuid=acme.uuid) == {works.uuid, foreign.uuid}


@pytest.mark.parametrize("known_at", [None, at(2026, 5)])
async def test_readings_of_a_measure_count_as_facts_of_its_entity_whatever_their_target(
    graph: Graph, known_at: datetime | None
) -> None:
    sarah, tension, mood = an_entity("Sarah"), an_entity("Tension"), an_entity("Mood")
    values = {"kind": "reading", "measure": "mood", "created_at": at(2026, 1)}
    readings = [
        a_fact(sarah, end, "FEELS", valid_at=at(2026, month), **values)
        for month, end in ((1, mood), (2, tension), (3, mood))
    ]
    other = a_fact(sarah, tension, "FEELS", **{**values, "measure": "stress"})
    foreign_ends = [an_entity("Sarah", group_id=OTHER_GROUP), an_entity("Joy", group_id=OTHER_GROUP)]
    foreign = a_fact(*foreign_ends, "FEELS", **values)
    await graph.writer.apply(a_write(sarah, tension, mood, *readings, other), {})
    await graph.writer.apply(a_write(*foreign_ends, foreign), {})
    asked = wanted(own_measures=("mood",), known_at=known_at)
    found, after = list[str](), None
    for _ in range(3):
        page = await graph.facts.connections(mood.uuid, asked, Window(limit=1, after=after, newest=False))
        found += [fact.uuid for fact in page.facts]
        after = page.keys[-1]
        assert page.total == 3
    assert found == [one.uuid for one in readings]
    outward = asked.model_copy(update={"direction": "out"})
    assert (await graph.facts.connections(mood.uuid, outward, PAGE)).facts == ()


async def test_a_series_is_summed_up_over_all_its_readings(graph: Graph) -> None:
    sarah, sleep = an_entity("Sarah"), an_entity("Sleep")
    told = [
        ("6", "h", at(2026, 1, 5)),
        ("330", "min", at(2026, 1, 12)),
        ("7 and a half hours", None, at(2026, 2, 1)),
        ("bad", None, at(2026, 2, 2)),
        ("3/10", None, at(2026, 2, 28, 23)),
    ]
    readings = [
        a_fact(sarah, sleep, "SLEPT", kind="reading", measure="sleep", value=value, unit=unit, valid_at=when)
        for value, unit, when in told
    ]
    readings[0] = readings[0].model_copy(update={"attributes": {"confidential": True}})
    readings[2] = readings[2].model_copy(update={"attributes": {START_WORDS: "February 2026"}})
    voided = a_fact(sarah, sleep, "SLEPT", kind="reading", measure="sleep", value="1", unit="h", voided=True)
    await graph.writer.apply(a_write(sarah, sleep, *readings, voided), {})
    for entity_uuid, asked in ((sleep.uuid, wanted()), (None, wanted(measures=("sleep",)))):
        found = await graph.facts.reading_series(entity_uuid, asked, "Europe/Oslo", 5, 60)
        times = found[0]
        assert (times.kind, times.readings, times.numbers, times.source_name) == ("time", 3, 3, "Sarah")
        points = [times.first, times.last, times.least, times.most]
        assert [point and point.value for point in points] == ["6", "7 and a half hours", "330", "7 and a half hours"]
        assert (times.first.unit, times.first.at) == ("h", at(2026, 1, 5))
        assert [point and point.confidential for point in points] == [True, False, False, False]
        assert [point and point.words for point in points] == [None, "February 2026", None, "February 2026"]
        assert times.means == (("2026-02", 7.5 * 3600), ("2026-01", 5.75 * 3600))
        assert {(one.kind, one.readings, one.numbers, one.least is None) for one in found[1:]} == {
            ("", 1, 0, True),
            ("/10", 1, 1, False),
        }
        assert next(one for one in found if one.kind == "/10").means == (("2026-03", 3.0),)
    assert len(await graph.facts.reading_series(sleep.uuid, wanted(), "UTC", 1, 60)) == 1
    assert (await graph.facts.reading_series(sleep.uuid, wanted(), "UTC", 5, 1))[0].means == ()
    assert await graph.records.get_facts([one.uuid for one in readings], ("t1",)) == readings


async def test_all_facts_of_the_groups_asked_are_listed(graph: Graph) -> None:
    ours, theirs = an_entity("Sarah"), an_entity("Sarah", group_id=OTHER_GROUP)
    fact, other = a_fact(ours, ours), a_fact(theirs, theirs)
    await graph.writer.apply(a_write(ours, fact), {})
    await graph.writer.apply(a_write(theirs, other), {})
    assert (await graph.facts.group_facts(wanted(), PAGE)).facts == (fact,)
    assert {one.uuid for one in (await graph.facts.group_facts(wanted(group_ids=("t1", "t2")), PAGE)).facts} == {
        fact.uuid,
        other.uuid,
    }
    empty = await graph.facts.group_facts(wanted(group_ids=()), PAGE)
    assert (empty.facts, empty.total) == ((), 0)


async def test_oldest_first_an_unknown_start_counts_as_the_reference_time(graph: Graph) -> None:
    story = Story(graph)
    await story.put(
        story.fact("second", valid_at=None, reference_time=at(2025, 2)),
        story.fact("third", valid_at=at(2025, 3), created_at=at(2025, 4)),
        story.fact("fourth", valid_at=at(2025, 3), created_at=at(2025, 5)),
        story.fact("first", valid_at=at(2025, 1)),
    )
    found, after = list[str](), None
    for _ in range(4):
        page = await graph.facts.connections(story.sarah.uuid, wanted(), Window(limit=1, after=after, newest=False))
        assert page.total == 4
        found, after = [*found, page.facts[0].text], page.keys[0]
    assert found == ["first", "second", "third", "fourth"]


async def test_the_first_fact_is_the_earliest_that_was_not_wrong(graph: Graph) -> None:
    story = Story(graph)
    ann = an_entity("Ann")
    await story.put(
        ann,
        story.fact("wrong", valid_at=at(2020), voided=True),
        story.fact("ended before it was told", valid_at=None, reference_time=at(2021, 6), invalid_at=at(2021, 6)),
        story.fact("told", valid_at=None, reference_time=at(2022), invalid_at=at(2024)),
        story.fact("known", valid_at=at(2023)),
        a_fact(ann, story.tom, "LIKES", valid_at=at(2021)),
        a_fact(ann, ann, "MADE", valid_at=None, created_at=at(2026)),
    )
    assert await graph.facts.first_fact(story.sarah.uuid, ["t1"], []) == at(2022)
    assert await graph.facts.first_fact(story.sarah.uuid, ["t1"], ["LIKES"]) is None
    assert await graph.facts.first_fact(story.tom.uuid, ["t1"], []) == at(2021)
    assert await graph.facts.first_fact(None, ["t1"], []) == at(2021)
    assert await graph.facts.first_fact(None, ["t1"], ["MADE"]) == at(2026)
    assert await graph.facts.first_fact(None, ["t2"], []) is None
    assert await graph.facts.first_fact("nothing", ["t1"], []) is None


async def test_the_record_of_a_group_begins_with_its_first_episode(graph: Graph) -> None:
    first = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    notes = [an_episode(created_at=moment, valid_at=at(2020)) for moment in (at(2026, 2), first)]
    await graph.writer.apply(a_write(*notes), {})
    assert await graph.facts.record_start(["t1", "t2"]) == first
    assert await graph.facts.record_start(["t2"]) is None


def decision(name: str, **fields: Any) -> Entity:
    return an_entity(name, **{"label": "Decision", **fields})


async def test_entities_are_found_by_the_status_they_have_now(graph: Graph) -> None:
    words = an_entity("accepted")
    names = ("D1", "D2", "D3", "D4", "D5", "D6", "D7")
    proposed, accepted, older, never, elsewhere, worded, numbered = (decision(name) for name in names)

    def state(entity: Entity, value: str | None, target: Entity = words, **fields: Any) -> Fact:
        return a_fact(entity, target, "HAS_STATUS", **{"value": value, "valid_at": at(2026), **fields})

    ended = {"valid_at": at(2025), "invalid_at": at(2026), "expired_at": at(2026)}
    await graph.writer.apply(
        a_write(
            *(words, proposed, accepted, older, never, elsewhere, worded, numbered),
            state(proposed, "proposed"),
            state(accepted, "accepted"),
            state(accepted, "proposed", **ended),
            state(accepted, "accepted", created_at=at(2026, 2)),
            state(older, None),
            state(older, "done", created_at=LATER + MICROSECOND),
            state(worded, "pending", attributes={"word": "On-hold"}),
            state(numbered, "Sprint 1-12"),
            state(never, "accepted", voided=True, expired_at=at(2026)),
            state(never, "accepted", kind="plan"),
            state(never, "accepted", valid_at=LATER + MICROSECOND),
            a_fact(elsewhere, words, "LIKES", value="accepted"),
        ),
        {},
    )

    async def found(word: str, limit: int = 10, **fields: Any) -> list[str]:
        asked = EntityFilter(group_ids=("t1",), status=((word,), LATER), recorded_until=LATER, **fields)
        entities, total = await graph.records.entity_page(asked, Window(limit=limit))
        hits = await graph.search.search_entities(["d1", "d2", "d3", "d4", "d5", "d6", "d7"], asked, 10)
        assert set(hits) == {entity.uuid for entity in entities} or limit < total
        return [entity.name for entity in entities]

    assert await found("proposed") == ["D1"]
    assert await found("accepted") == ["D2", "D3"]
    assert await found("accepted", labels=("Person",)) == []
    assert await found("accepted", 1) == ["D2"]
    assert await found("done") == []
    assert await found("onhold") == ["D6"], "an earlier version kept the user's word beside the value"
    assert await found("pending") == []
    assert [await found(normalise_name(word)) for word in ("sprint-1 12", "sprint 11-2", "sprint 112")] == [
        ["D7"],
        [],
        [],
    ]
    assert await found("accepted", uuids=(accepted.uuid, proposed.uuid)) == ["D2"]
    assert await found("accepted", uuids=()) == []


async def test_entities_are_listed_by_name_in_pages(graph: Graph) -> None:
    made = [decision(name) for name in ("b", "a", "c", "a")]
    await graph.writer.apply(a_write(*made, an_entity("d")), {})
    asked, names, after = EntityFilter(group_ids=("t1",), labels=("Decision",)), list[str](), None
    for _ in range(4):
        (entity,), total = await graph.records.entity_page(asked, Window(limit=1, after=after))
        assert total == 4
        names, after = [*names, entity.name], (entity.name, entity.uuid)
    assert names == ["a", "a", "b", "c"]
    assert (await graph.records.entity_page(asked, Window(limit=1, after=after)))[0] == []


@pytest.mark.parametrize(
    ("field", "instant", "found"),
    [
        ("valid_after", at(2026, 5), {"day", "month", "moved", "year"}),
        ("valid_after", at(2026, 5, 15), {"day", "month", "moved", "year"}),
        ("valid_after", at(2026, 6), {"year"}),
        ("valid_after", at(2027), set()),
        ("invalid_after", at(2026, 5, 15), {"day", "month", "moved", "year"}),
        ("invalid_after", at(2026, 6), {"year"}),
        ("invalid_after", at(2027), set()),
        ("invalid_before", at(2026, 5, 15), {"month", "moved", "year"}),
        ("invalid_before", at(2026, 5), {"year"}),
        ("invalid_before", at(2026), set()),
    ],
)
async def test_a_date_told_as_a_period_is_found_by_all_of_it(
    graph: Graph, field: str, instant: datetime, found: set[str]
) -> None:
    story = Story(graph)
    day, first, moved, year = at(2026, 5, 20), at(2026, 5), at(2026, 5, 4), at(2026)
    told = (("day", day, day, ""), ("month", first, at(2026, 6), "May 2026"), ("moved", moved, moved, "2026-05"))
    for text, start, end, words in (*told, ("year", year, at(2027), "2026")):
        said = {"told_start": words, "told_end": words} if words else {}
        dates = {"valid_at": start} if field == "valid_after" else {"valid_at": at(2020), "invalid_at": end}
        await story.put(story.fact(text, attributes=said, **dates))
    asked = wanted(**{field: instant}).told_in(UTC)
    assert {fact.text for fact in (await graph.facts.group_facts(asked, PAGE)).facts} == found
