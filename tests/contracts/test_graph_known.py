"""Contract of ``Graph``: facts as the record said them at an instant."""

from array import array
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.builders import a_write, an_episode, an_update, at, new_uuid
from tests.contracts.fact_story import NOW, PAGE, Story, wanted

from graphiti_pkm.core.model.choices import FactStatus
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Fact, FactChange
from graphiti_pkm.core.ports.graph import Graph

MICROSECOND = timedelta(microseconds=1)
RETIRED, RESTORED, AGAIN = at(2026, 2), at(2026, 3), at(2026, 4)


def changed(old: Fact, recorded_at: datetime, kind: str, episode: str | None = None, **fields: Any) -> FactChange:
    """What happened to a fact that had the values of ``old`` before."""
    return FactChange(
        uuid=new_uuid(),
        fact_uuid=old.uuid,
        kind=kind,  # type: ignore[arg-type]
        episode_uuid=episode,
        recorded_at=recorded_at,
        previous_valid_at=old.valid_at,
        previous_invalid_at=old.invalid_at,
        previous_expired_at=old.expired_at,
        previous_voided=old.voided,
        **fields,
    )


async def test_retired_restored_and_retired_again_is_right_at_every_instant(graph: Graph) -> None:
    story = Story(graph)
    open_one = story.fact("works")
    retired = open_one.model_copy(update={"invalid_at": at(2026, 1), "expired_at": RETIRED})
    last = open_one.model_copy(update={"invalid_at": at(2026, 1, 9), "expired_at": AGAIN})
    events = (
        changed(open_one, RETIRED, "retired"),
        changed(retired, RESTORED, "restored"),
        changed(open_one, AGAIN, "retired"),
    )
    await story.put(last, *events)
    for instant, expected in (
        (RETIRED - MICROSECOND, open_one),
        (RETIRED, retired),
        (RESTORED - MICROSECOND, retired),
        (RESTORED, open_one),
        (AGAIN - MICROSECOND, open_one),
        (AGAIN, last),
        (NOW, last),
    ):
        assert await story.known(instant) == expected, instant
        is_open = expected is open_one
        assert await story.texts(known_at=instant, only_current=True) == ["works"] * is_open
        assert await story.texts(known_at=instant, status="ended") == ["works"] * (not is_open)


async def test_before_a_correction_a_fact_was_not_voided(graph: Graph) -> None:
    story = Story(graph)
    right = story.fact("works")
    await story.put(right.model_copy(update={"voided": True, "expired_at": RETIRED}), changed(right, RETIRED, "voided"))
    assert await story.known(RETIRED - MICROSECOND) == right
    assert (await story.known(RETIRED)).voided
    assert await story.texts(known_at=RETIRED - MICROSECOND, as_of=at(2025, 6)) == ["works"]
    assert await story.texts(known_at=RETIRED, as_of=at(2025, 6)) == []


async def test_of_two_changes_in_one_write_the_first_tells_what_was_before(graph: Graph) -> None:
    story = Story(graph)
    facts = [story.fact(f"f{i}") for i in range(12)]  # uuids in any order
    ended = {fact.uuid: fact.model_copy(update={"invalid_at": at(2026), "expired_at": RETIRED}) for fact in facts}
    events = [
        event
        for fact in facts
        for event in (changed(fact, RETIRED, "retired"), changed(ended[fact.uuid], RETIRED, "voided"))
    ]
    await story.put(*[one.model_copy(update={"voided": True}) for one in ended.values()], *events)
    known = (await story.page(known_at=RETIRED - MICROSECOND)).facts
    assert {fact.uuid: fact for fact in known} == {fact.uuid: fact for fact in facts}


async def test_proposals_and_their_rejection_change_nothing(graph: Graph) -> None:
    story = Story(graph)
    fact = story.fact("works")
    other = fact.model_copy(update={"invalid_at": at(2024)})
    await story.put(fact, changed(other, RETIRED, "proposed"), changed(other, RESTORED, "rejected"))
    assert await story.known(RETIRED - MICROSECOND) == fact


async def test_facts_recorded_later_were_not_known(graph: Graph) -> None:
    story = Story(graph)
    await story.put(story.fact("there", created_at=RETIRED), story.fact("later", created_at=RETIRED + MICROSECOND))
    assert await story.texts(known_at=RETIRED) == ["there"]
    assert await story.texts(known_at=NOW) == ["later", "there"]
    assert await story.texts(known_at=RETIRED - MICROSECOND) == []


async def test_an_update_after_the_instant_without_an_end_is_not_seen_in_the_filters(graph: Graph) -> None:
    """valid_after and the others go by the values of then."""
    story = Story(graph)
    fact = story.fact("works", valid_at=None, reference_time=at(2025, 3))
    await story.put(fact.model_copy(update={"valid_at": at(2020)}), changed(fact, RETIRED, "retired"))
    assert await story.texts(known_at=RETIRED - MICROSECOND, valid_after=at(2025)) == ["works"]
    assert await story.texts(known_at=RETIRED, valid_after=at(2025)) == []
    assert await story.texts(valid_after=at(2025)) == []
    ended = changed(fact, RESTORED, "restored").model_copy(update={"previous_invalid_at": at(2025, 9)})
    await story.put(ended)
    assert await story.texts(known_at=RETIRED, invalid_before=at(2025, 10)) == ["works"]
    assert await story.texts(invalid_before=at(2025, 10)) == []


async def test_what_was_current_then_comes_first(graph: Graph) -> None:
    story = Story(graph)
    ended, starting = story.fact("ended since", valid_at=at(2025, 2)), story.fact("began since", valid_at=RESTORED)
    over = ended.model_copy(update={"invalid_at": RETIRED, "expired_at": RESTORED})
    await story.put(over, changed(ended, RESTORED, "retired"), starting, story.fact("event", kind="event"))
    assert await story.texts(known_at=RETIRED) == ["ended since", "began since", "event"]
    assert await story.texts() == ["began since", "ended since", "event"]


async def test_pages_of_what_was_known_hold_every_fact_once(graph: Graph) -> None:
    story = Story(graph)
    facts = [story.fact(f"f{i}", valid_at=at(2025, 1, 1 + i // 3)) for i in range(25)]
    ended = [one.model_copy(update={"invalid_at": at(2026), "expired_at": RESTORED}) for one in facts[::2]]
    await story.put(*facts[1::2], *ended, *[changed(one, RESTORED, "retired") for one in facts[::2]])
    for newest in (True, False):
        asked, found, after = wanted(known_at=RETIRED), list[Fact](), None
        while page := (await graph.facts.group_facts(asked, Window(limit=4, after=after, newest=newest))).facts:
            keys = (await graph.facts.group_facts(asked, Window(limit=4, after=after, newest=newest))).keys
            found, after = [*found, *page], keys[-1]
        assert len(found) == 25
        assert {fact.uuid: fact for fact in found} == {fact.uuid: fact for fact in facts}
        dates = [fact.valid_at for fact in found]
        assert dates == sorted(dates, reverse=newest)  # type: ignore[type-var]


async def test_words_and_meaning_find_what_was_known(graph: Graph) -> None:
    story = Story(graph)
    ended = story.fact("Sarah likes cherries")
    new = story.fact("Sarah likes cherries no longer", created_at=RETIRED)
    over = ended.model_copy(update={"invalid_at": RETIRED, "expired_at": RETIRED})
    vector = array("f", [0.6, 0.8])
    await graph.writer.apply(
        a_write(story.sarah, story.tom, over, new, changed(ended, RETIRED, "retired")),
        {over.uuid: vector, new.uuid: vector},
    )
    for asked, expected in (
        (wanted(known_at=RETIRED - MICROSECOND), {ended.uuid}),
        (wanted(known_at=RETIRED - MICROSECOND, only_current=True), {ended.uuid}),
        (wanted(known_at=RETIRED, only_current=True), {new.uuid}),
        (wanted(known_at=RETIRED), {ended.uuid, new.uuid}),
        (wanted(known_at=RETIRED, status="ended"), {ended.uuid}),
    ):
        assert set(await graph.search.search_facts(["cherries"], asked, 10)) == expected
        assert set(await graph.search.nearest_facts(vector, asked, 10)) == expected


async def test_before_the_record_began_what_was_told_counts_from_the_time_of_its_episode(graph: Graph) -> None:
    """A journal of two years recorded in one day."""
    story = Story(graph)
    told = [an_episode(f"Note {i}", valid_at=at(2024, month)) for i, month in enumerate((1, 3, 5))]
    lisbon = story.fact("lives in Lisbon", valid_at=at(2024), reference_time=at(2024), episodes=(told[0].uuid,))
    over = lisbon.model_copy(update={"invalid_at": at(2024, 3), "expired_at": lisbon.created_at})
    porto = story.fact("lives in Porto", valid_at=at(2024, 3), reference_time=at(2024, 3), episodes=(told[1].uuid,))
    wrong = porto.model_copy(update={"voided": True, "expired_at": porto.created_at})
    faro = story.fact("lives in Faro", valid_at=at(2024, 3), reference_time=at(2024, 3), episodes=(told[2].uuid,))
    await story.put(
        *(*told, over, wrong, faro),
        changed(lisbon, lisbon.created_at, "retired", told[1].uuid),
        changed(porto, porto.created_at, "voided", told[2].uuid),
    )

    async def current(instant: datetime) -> list[str]:
        return await story.texts(known_at=instant, by_reference_time=True, only_current=True)

    assert await current(at(2024) - MICROSECOND) == []
    assert await current(at(2024)) == ["lives in Lisbon"]
    assert await current(at(2024, 3) - MICROSECOND) == ["lives in Lisbon"]
    assert await current(at(2024, 3)) == ["lives in Porto"]
    assert await current(at(2024, 5) - MICROSECOND) == ["lives in Porto"]
    assert await current(at(2024, 5)) == ["lives in Faro"]  # a correction was known when it was told
    assert await story.texts(known_at=at(2024, 4), by_reference_time=True, status="ended") == ["lives in Lisbon"]
    assert await story.texts(known_at=at(2024, 4)) == []


async def test_before_the_record_began_an_announced_end_had_not_come(graph: Graph) -> None:
    """It is over by now, in the world and in the record; on the day asked about it was not."""
    story = Story(graph)
    told = [an_episode(f"Note {i}", valid_at=at(2024, month)) for i, month in enumerate((1, 2))]
    rome = story.fact("lives in Rome", valid_at=at(2024), reference_time=at(2024), episodes=(told[0].uuid,))
    over = rome.model_copy(update={"invalid_at": at(2024, 4), "expired_at": rome.created_at})
    await story.put(*told, over, changed(rome, rome.created_at, "retired", told[1].uuid))

    async def status(instant: datetime) -> list[FactStatus]:
        asked: tuple[FactStatus, ...] = ("current", "ended")
        by_told: dict[str, Any] = {"known_at": instant, "by_reference_time": True}
        return [one for one in asked if await story.texts(**by_told, status=one)]

    assert await status(at(2024, 3)) == ["current"]
    assert await status(at(2024, 4)) == ["ended"]
    assert await story.texts(known_at=at(2024, 3), by_reference_time=True, only_current=True) == ["lives in Rome"]


async def test_before_the_record_began_the_earliest_note_that_tells_a_fact_counts(graph: Graph) -> None:
    """Notes may be recorded in any order."""
    story = Story(graph)
    late, early = an_episode(valid_at=at(2024, 5)), an_episode(valid_at=at(2024, 2))
    fact = story.fact("works", episodes=(late.uuid, early.uuid, "gone"), reference_time=at(2024, 5))
    await story.put(late, early, fact)
    assert await story.texts(known_at=at(2024, 2), by_reference_time=True) == ["works"]
    assert await story.texts(known_at=at(2024, 2) - MICROSECOND, by_reference_time=True) == []


async def test_without_its_episode_the_reference_time_of_a_fact_counts(graph: Graph) -> None:
    story = Story(graph)
    await story.put(story.fact("told", reference_time=at(2024, 3), episodes=("gone",)), story.fact("made"))
    assert await story.texts(known_at=at(2024, 3), by_reference_time=True) == ["told"]
    assert await story.texts(known_at=at(2024, 3) - MICROSECOND, by_reference_time=True) == []


async def test_from_when_a_fact_was_known_is_part_of_what_was_believed(graph: Graph) -> None:
    story = Story(graph)
    told_late = story.fact("works", valid_at=None, reference_time=at(2026, 1, 20))
    event = changed(told_late, RETIRED, "dated", previous_told_at=told_late.reference_time)
    await story.put(told_late)
    await story.put(an_update(told_late, reference_time=at(2025, 6)), event)
    told_early = told_late.model_copy(update={"reference_time": at(2025, 6)})
    assert await story.known(RETIRED - MICROSECOND) == told_late
    assert await story.known(RETIRED) == told_early
    assert await story.texts(known_at=RETIRED - MICROSECOND, as_of=at(2025, 7), status="possible") == ["works"]
    assert await story.texts(known_at=RETIRED, as_of=at(2025, 7), status="current") == ["works"]
    assert await story.texts(as_of=at(2025, 7), status="current") == ["works"]


async def test_dates_are_known_in_the_words_in_which_they_were_told_then(graph: Graph) -> None:
    story = Story(graph)
    vague = story.fact("works", attributes={"told_start": "2025", "told_end": "2027", "colour": "red"})
    exact = vague.model_copy(update={"attributes": {"told_start": "May 2025", "colour": "red"}})
    await story.put(
        exact.model_copy(update={"attributes": {"told_end": "autumn 2026", "colour": "red"}}),
        changed(vague, RETIRED, "dated", previous_start_words="2025", previous_end_words="2027"),
        changed(exact, RESTORED, "retired", previous_start_words="May 2025", previous_end_words=""),
    )
    assert (await story.known(RETIRED - MICROSECOND)).attributes == vague.attributes
    assert (await story.known(RETIRED)).attributes == exact.attributes
    assert (await story.known(RESTORED)).attributes == {"told_end": "autumn 2026", "colour": "red"}
    for known_at, total in ((RETIRED - MICROSECOND, 1), (RETIRED, 0)):
        asked = wanted(known_at=known_at, valid_after=at(2025, 6)).told_in(UTC)
        assert (await graph.facts.group_facts(asked, PAGE)).total == total


async def test_an_event_of_an_earlier_version_leaves_the_words_of_dates_as_they_are(graph: Graph) -> None:
    story = Story(graph)
    fact = story.fact("works", attributes={"told_start": "2025"})
    await story.put(fact, changed(fact, RETIRED, "retired"))
    assert (await story.known(RETIRED - MICROSECOND)).attributes == {"told_start": "2025"}
