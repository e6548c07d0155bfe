"""Contract of ``Graph``: facts as the record said them at an instant, and the filters and orders of fact lists."""

from array import array
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from tests.builders import OTHER_GROUP, a_fact, a_write, an_entity, an_episode, at, new_uuid

from graphiti_pkm.domain.ports import Graph
from graphiti_pkm.domain.queries import EntityFilter, FactFilter, FactPage, FactStatus, Window
from graphiti_pkm.domain.records import Entity, Fact, FactChange
from graphiti_pkm.services.views import status_of

NOW = at(2026, 6)
MICROSECOND = timedelta(microseconds=1)
PAGE = Window(limit=300)
RETIRED, RESTORED, AGAIN = at(2026, 2), at(2026, 3), at(2026, 4)
LATER = at(2026, 5)


def wanted(**fields: Any) -> FactFilter:
    return FactFilter(**{"group_ids": ("t1",), "now": NOW, **fields})


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


class Story:
    """Sarah and Tom, and what became of facts between them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sarah, self.tom = an_entity("Sarah"), an_entity("Tom")
        self.made = False

    async def put(self, *records: Any) -> None:
        people = () if self.made else (self.sarah, self.tom)
        self.made = True
        await self.graph.apply(a_write(*people, *records), {})

    def fact(self, text: str, **fields: Any) -> Fact:
        return a_fact(self.sarah, self.tom, **{"text": text, "valid_at": at(2025), **fields})

    async def page(self, **fields: Any) -> FactPage:
        """The same from the entity, from its other end, and from the group."""
        asked = wanted(**fields)
        page = await self.graph.connections(self.sarah.uuid, asked, PAGE)
        assert page.total == len(page.facts)
        assert await self.graph.connections(self.tom.uuid, asked, PAGE) == page
        assert await self.graph.group_facts(asked, PAGE) == page
        uuids = [fact.uuid for fact in reversed(page.facts)]
        assert await self.graph.facts_under([*uuids, "nothing"], asked) == list(reversed(page.facts))
        assert sum(one.facts for one in await self.graph.neighbour_counts(self.sarah.uuid, asked, 10)) == page.total
        return page

    async def texts(self, **fields: Any) -> list[str]:
        return [fact.text for fact in (await self.page(**fields)).facts]

    async def known(self, known_at: datetime, **fields: Any) -> Fact:
        """The only fact, as it was known."""
        (fact,) = (await self.page(known_at=known_at, **fields)).facts
        return fact


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
        while page := (await graph.group_facts(asked, Window(limit=4, after=after, newest=newest))).facts:
            keys = (await graph.group_facts(asked, Window(limit=4, after=after, newest=newest))).keys
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
    await graph.apply(
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
        assert set(await graph.search_facts(["cherries"], asked, 10)) == expected
        assert set(await graph.nearest_facts(vector, asked, 10)) == expected


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


async def test_without_its_episode_the_reference_time_of_a_fact_counts(graph: Graph) -> None:
    story = Story(graph)
    await story.put(story.fact("told", reference_time=at(2024, 3), episodes=("gone",)), story.fact("made"))
    assert await story.texts(known_at=at(2024, 3), by_reference_time=True) == ["told"]
    assert await story.texts(known_at=at(2024, 3) - MICROSECOND, by_reference_time=True) == []


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


async def test_facts_are_filtered_by_kind_type_of_an_end_and_series(graph: Graph) -> None:
    sarah, acme, tom = an_entity("Sarah", label="Person"), an_entity("Acme", label="Company"), an_entity("Tom")
    works, met = a_fact(sarah, acme), a_fact(sarah, tom, kind="event")
    foreign = a_fact(acme, tom, attributes={"colour": "red"})
    slept = [a_fact(sarah, tom, "SLEPT", kind="reading", measure=name, value="7") for name in ("Sleep", "Weight")]
    other = a_fact(tom, tom, "SLEPT", kind="reading", measure="Sleep")
    await graph.apply(a_write(sarah, acme, tom, works, met, foreign, *slept, other), {})

    async def found(**fields: Any) -> set[str]:
        return {fact.uuid for fact in (await graph.group_facts(wanted(**fields), PAGE)).facts}

    assert await found(kinds=("event",)) == {met.uuid}
    assert await found(kinds=("state", "event")) == {works.uuid, met.uuid, foreign.uuid}
    assert await found(labels=("Company",)) == {works.uuid, foreign.uuid}
    assert await found(labels=("Person",), kinds=("state",)) == {works.uuid}
    assert await found(series=(sarah.uuid, "sleep")) == {slept[0].uuid}
    assert await found(series=(tom.uuid, "sleep")) == {other.uuid}
    assert await found(neighbour_uuid=acme.uuid) == {works.uuid, foreign.uuid}


async def test_all_facts_of_the_groups_asked_are_listed(graph: Graph) -> None:
    ours, theirs = an_entity("Sarah"), an_entity("Sarah", group_id=OTHER_GROUP)
    fact, other = a_fact(ours, ours), a_fact(theirs, theirs)
    await graph.apply(a_write(ours, fact), {})
    await graph.apply(a_write(theirs, other), {})
    assert (await graph.group_facts(wanted(), PAGE)).facts == (fact,)
    assert {one.uuid for one in (await graph.group_facts(wanted(group_ids=("t1", "t2")), PAGE)).facts} == {
        fact.uuid,
        other.uuid,
    }
    empty = await graph.group_facts(wanted(group_ids=()), PAGE)
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
        page = await graph.connections(story.sarah.uuid, wanted(), Window(limit=1, after=after, newest=False))
        assert page.total == 4
        found, after = [*found, page.facts[0].text], page.keys[0]
    assert found == ["first", "second", "third", "fourth"]


async def test_the_first_fact_is_the_earliest_that_was_not_wrong(graph: Graph) -> None:
    story = Story(graph)
    ann = an_entity("Ann")
    await story.put(
        ann,
        story.fact("wrong", valid_at=at(2020), voided=True),
        story.fact("told", valid_at=None, reference_time=at(2022)),
        story.fact("known", valid_at=at(2023)),
        a_fact(ann, story.tom, "LIKES", valid_at=at(2021)),
        a_fact(ann, ann, "MADE", valid_at=None, created_at=at(2026)),
    )
    assert await graph.first_fact(story.sarah.uuid, ["t1"], []) == at(2022)
    assert await graph.first_fact(story.sarah.uuid, ["t1"], ["LIKES"]) is None
    assert await graph.first_fact(story.tom.uuid, ["t1"], []) == at(2021)
    assert await graph.first_fact(None, ["t1"], []) == at(2021)
    assert await graph.first_fact(None, ["t1"], ["MADE"]) == at(2026)
    assert await graph.first_fact(None, ["t2"], []) is None
    assert await graph.first_fact("nothing", ["t1"], []) is None


async def test_the_record_of_a_group_begins_with_its_first_episode(graph: Graph) -> None:
    first = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    notes = [an_episode(created_at=moment, valid_at=at(2020)) for moment in (at(2026, 2), first)]
    await graph.apply(a_write(*notes), {})
    assert await graph.record_began(["t1", "t2"]) == first
    assert await graph.record_began(["t2"]) is None


def decision(name: str, **fields: Any) -> Entity:
    return an_entity(name, **{"label": "Decision", **fields})


async def test_entities_are_found_by_the_status_they_have_now(graph: Graph) -> None:
    words = an_entity("accepted")
    proposed, accepted, older, never, elsewhere = (decision(name) for name in ("D1", "D2", "D3", "D4", "D5"))

    def state(entity: Entity, value: str | None, target: Entity = words, **fields: Any) -> Fact:
        return a_fact(entity, target, "HAS_STATUS", **{"value": value, "valid_at": at(2026), **fields})

    ended = {"valid_at": at(2025), "invalid_at": at(2026), "expired_at": at(2026)}
    await graph.apply(
        a_write(
            *(words, proposed, accepted, older, never, elsewhere),
            state(proposed, "proposed"),
            state(accepted, "accepted"),
            state(accepted, "proposed", **ended),
            state(accepted, "accepted", created_at=at(2026, 2)),
            state(older, None),
            state(older, "done", created_at=LATER + MICROSECOND),
            state(never, "accepted", voided=True, expired_at=at(2026)),
            state(never, "accepted", kind="plan"),
            state(never, "accepted", valid_at=LATER + MICROSECOND),
            a_fact(elsewhere, words, "LIKES", value="accepted"),
        ),
        {},
    )

    async def found(word: str, limit: int = 10, **fields: Any) -> list[str]:
        asked = EntityFilter(group_ids=("t1",), status=((word,), LATER), **fields)
        entities, total = await graph.entity_page(asked, Window(limit=limit))
        hits = await graph.search_entities(["d1", "d2", "d3", "d4", "d5"], asked, 10)
        assert set(hits) == {entity.uuid for entity in entities} or limit < total
        return [entity.name for entity in entities]

    assert await found("proposed") == ["D1"]
    assert await found("accepted") == ["D2", "D3"]
    assert await found("accepted", labels=("Person",)) == []
    assert await found("accepted", 1) == ["D2"]
    assert await found("done") == []
    assert await found("accepted", uuids=(accepted.uuid, proposed.uuid)) == ["D2"]
    assert await found("accepted", uuids=()) == []


async def test_entities_are_listed_by_name_in_pages(graph: Graph) -> None:
    made = [decision(name) for name in ("b", "a", "c", "a")]
    await graph.apply(a_write(*made, an_entity("d")), {})
    asked, names, after = EntityFilter(group_ids=("t1",), labels=("Decision",)), list[str](), None
    for _ in range(4):
        (entity,), total = await graph.entity_page(asked, Window(limit=1, after=after))
        assert total == 4
        names, after = [*names, entity.name], (entity.name, entity.uuid)
    assert names == ["a", "a", "b", "c"]
    assert (await graph.entity_page(asked, Window(limit=1, after=after)))[0] == []
