"""Facts listed by filter, as of an instant in the world or in the record, and what an empty answer says."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.builders import OTHER_GROUP, a_fact, a_name, a_write, an_entity, an_episode, an_update, at, new_uuid
from tests.worlds.reading_world import UNKNOWN, World, all_pages

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections, GetEntityEdge
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts, SearchNodes
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import ConnectionsResponse, FactSearchResponse
from graphiti_pkm.core.model.records import Entity, Fact, FactChange, Record
from graphiti_pkm.errors import InvalidInput, NotFound

GROUP = "t1"
BEGAN, RETIRED, RESTORED = at(2026, 1), at(2026, 2), at(2026, 3)


OF_STARTS = "; valid_after and valid_before ask when facts began, as_of asks what held"


class ParsedRequest:
    """Sarah, whom Acme employed, and her sleep."""

    def __init__(self) -> None:
        self.world = World()
        self.sarah, self.acme = an_entity("Sarah", label="Person"), an_entity("Acme", label="Company")
        self.world.clock.instant = at(2026, 6)

    async def given(self, *records: Record) -> None:
        await self.world.given(a_write(*records))

    async def begin(self, *records: Record) -> None:
        people = (self.sarah, self.acme)
        await self.given(*people, *map(a_name, people), an_episode(created_at=BEGAN), *records)

    def works(self, **fields: Any) -> Fact:
        return a_fact(self.sarah, self.acme, "WORKS_AT", **{"valid_at": at(2024, 3, 2), "created_at": BEGAN, **fields})

    def slept(self, hours: str, day: int, **fields: Any) -> Fact:
        values = {"kind": "reading", "measure": "sleep", "value": hours, "valid_at": at(2025, 5, day)}
        text = {"text": f"Sarah slept {hours} hours."}
        return a_fact(self.sarah, self.acme, "SLEPT", **{**values, **text, "created_at": BEGAN, **fields})

    async def facts(self, query: str | None = None, **given: Any) -> FactSearchResponse:
        return await self.world.searching.search_memory_facts(
            self.world.caller, SearchMemoryFacts(query=query, **{"group_ids": GROUP, **given})
        )

    async def connections(self, entity: Entity, **given: Any) -> ConnectionsResponse:
        return await self.world.exploring.get_entity_connections(
            self.world.caller, GetEntityConnections(entity_uuid=entity.uuid, **given)
        )


def ended(fact: Fact, **changed: Any) -> tuple[Record, FactChange]:
    """An update that ends a fact, and its event."""
    update = an_update(fact, **{"invalid_at": at(2026, 1, 15), "expired_at": RETIRED, **changed})
    return update, _event(fact, "retired", update.expired_at)


def _event(before: Fact, kind: str, recorded_at: Any) -> FactChange:
    previous = {
        f"previous_{name}": getattr(before, name) for name in ("valid_at", "invalid_at", "expired_at", "voided")
    }
    return FactChange.model_validate(
        {"uuid": new_uuid(), "fact_uuid": before.uuid, "kind": kind, "recorded_at": recorded_at, **previous}
    )


def texts(answer: FactSearchResponse) -> list[str]:
    return [fact.fact for fact in answer.facts]


@pytest.fixture
def told() -> ParsedRequest:
    return ParsedRequest()


@pytest.mark.parametrize("query", [None, "", " \n"])
async def test_without_a_query_and_without_a_filter_it_says_what_to_give(
    told: ParsedRequest, query: str | None
) -> None:
    await told.begin()
    with pytest.raises(InvalidInput, match="entity_uuid, entity_types, edge_types, kind, status or a time"):
        await told.facts(query, center_node_uuid=told.sarah.uuid)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"entity_uuid": "Acme"}, {"works", "visits", "likes"}),
        ({"entity_types": ["company"]}, {"works", "visits", "likes"}),
        ({"entity_types": ["Person", "City"]}, {"works", "visits", "lives"}),
        ({"edge_types": ["works at"]}, {"works"}),
        ({"kind": "event"}, {"visits"}),
        ({"status": "ended"}, {"lives"}),
        ({"status": "current"}, {"works", "likes"}),
        ({"kind": "state", "valid_after": "2025"}, {"likes"}),
        ({"as_of": "2024-06"}, {"works", "lives"}),
        ({"as_of": "2024-06", "entity_uuid": "Acme"}, {"works"}),
        ({"known_at": "2026-01-20"}, {"works", "visits", "lives"}),
        ({"known_at": "2026-01-20", "status": "current"}, {"works", "lives"}),
    ],
)
async def test_without_a_query_all_facts_under_the_filters_are_listed(
    told: ParsedRequest, filters: Mapping[str, Any], expected: set[str]
) -> None:
    tom, city = an_entity("Tom"), an_entity("Berlin")
    lives = a_fact(told.sarah, city, text="lives", valid_at=at(2023), created_at=BEGAN)
    await told.begin(
        *(tom, city, lives),
        told.works(text="works"),
        a_fact(told.sarah, told.acme, "VISITS", text="visits", kind="event", valid_at=at(2024, 5), created_at=BEGAN),
        a_fact(tom, told.acme, "LIKES", text="likes", valid_at=at(2025), created_at=RETIRED),
    )
    await told.given(*ended(lives, invalid_at=at(2025)))
    given = {**filters, **({"entity_uuid": told.acme.uuid[:8]} if "entity_uuid" in filters else {})}
    answer = await told.facts(**given)
    assert set(texts(answer)) == expected
    assert (answer.total, answer.returned, answer.truncated) == (len(expected), len(expected), False)
    assert answer.message == f"Found {len(expected)} of {len(expected)} fact(s), current ones first, then the newest"
    assert set(texts(await told.facts("works visits lives likes", **given))) == expected


async def test_a_list_comes_in_pages_that_hold_every_fact_once(told: ParsedRequest) -> None:
    people = [an_entity(f"Person {i}") for i in range(25)]
    await told.begin(*people, *(a_fact(one, told.acme, text=one.name, valid_at=at(2025)) for one in people))

    async def write() -> None:
        told.world.clock.instant = at(2026, 7)
        late = an_entity("Late")
        await told.given(late, a_fact(late, told.acme, text="late", valid_at=at(2025), created_at=at(2026, 7)))

    pages = await all_pages(lambda cursor: told.facts(edge_types=["KNOWS"], max_facts=7, cursor=cursor), write)
    assert sorted(text for page in pages for text in texts(page)) == sorted(one.name for one in people)
    assert {page.total for page in pages} == {25}
    with pytest.raises(InvalidInput, match="cursor"):
        await told.facts(edge_types=["LIKES"], max_facts=7, cursor=pages[0].next_cursor)


async def test_known_at_shows_the_record_as_it_was_and_as_of_the_world_by_it(told: ParsedRequest) -> None:
    works = told.works()
    await told.begin(works)
    update, retired = ended(works, invalid_at=at(2025, 9))
    await told.given(update, retired)

    async def shown(**given: Any) -> list[tuple[str, str | None]]:
        """The same by list, by query and from the entity."""
        listed = await told.facts(entity_uuid=told.sarah.uuid, **given)
        assert [
            one.model_copy(update={"score": None, "why": None}) for one in (await told.facts("works", **given)).facts
        ] == listed.facts
        around = await told.connections(told.sarah, **given)
        assert [one.model_copy(update={"direction": None}) for one in around.facts] == listed.facts
        return [(fact.status, fact.invalid_at) for fact in listed.facts]

    end = "2025-09-01T00:00:00+00:00"
    assert await shown() == [("ended", end)]
    assert await shown(known_at="2026-01-31") == [("current", None)]
    assert await shown(known_at="2026-02-01") == [("ended", end)]
    assert await shown(known_at="2030") == [("ended", end)]
    assert await shown(known_at="2026-01-31", as_of="2025-12") == [("current", None)]
    assert await shown(known_at="2026-02-01", as_of="2025-12") == []
    assert await shown(known_at="2026-02-01", as_of="2025-06") == [("current", end)]
    current = await told.connections(told.sarah, known_at="2026-01-31", include_invalidated=False)
    assert current.total == 1


async def test_what_was_known_to_end_later_was_current_then(told: ParsedRequest) -> None:
    """Its end has passed by now, but lay ahead at known_at."""
    await told.begin(told.works(invalid_at=at(2026, 4)))
    for known_at, status in (("2026-02", "current"), ("2026-05", "ended"), (None, "ended")):
        (listed,) = (await told.facts(kind="state", known_at=known_at)).facts
        (around,) = (await told.connections(told.sarah, known_at=known_at)).facts
        (found,) = (await told.facts("works", known_at=known_at)).facts
        assert listed.status == around.status == found.status == status


async def test_before_the_record_begins_what_was_told_counts_from_its_reference_time(told: ParsedRequest) -> None:
    note = an_episode(valid_at=at(2024, 6), created_at=BEGAN)
    await told.begin(note, told.works(episodes=(note.uuid,), reference_time=at(2024, 6)))
    before, after = (
        await told.facts(known_at="2024-05-31", kind="state"),
        await told.facts(known_at="2024-06-01", kind="state"),
    )
    assert (before.total, after.total) == (0, 1)
    said = "The record begins 2026-01-01; known_at is before that, so facts count from their reference_time."
    assert before.scope.note == after.scope.note == said
    assert (await told.connections(told.sarah, known_at="2024-06-01")).scope.note == said
    assert (await told.facts(known_at="2026-01-02", kind="state")).scope.note is None


async def test_readings_of_one_measure_come_oldest_first_and_the_answer_says_so(told: ParsedRequest) -> None:
    days = [3, 1, 7, 5, 2]
    await told.begin(told.works(), *(told.slept(str(day), day) for day in days))
    expected = [f"Sarah slept {day} hours." for day in sorted(days)]
    for ask in (
        lambda cursor: told.facts(kind="reading", max_facts=2, cursor=cursor),
        lambda cursor: told.facts("slept hours", kind="reading", max_facts=2, cursor=cursor),
        lambda cursor: told.connections(told.acme, relation="slept", max_connections=2, cursor=cursor),
    ):
        pages = await all_pages(ask)
        assert [text for page in pages for text in texts(page)] == expected
        assert {page.total for page in pages} <= {5, None}  # with a query nobody knows how many fit
        assert all(re.search(r"reading(s|\(s\)) of sleep, oldest first", page.message) for page in pages)


async def test_readings_of_several_measures_come_oldest_first_too(told: ParsedRequest) -> None:
    weights = [told.slept(str(day), day, measure="weight") for day in (1, 2)]
    await told.begin(told.works(), told.slept("7", 3), *weights)
    assert "oldest" not in (await told.connections(told.sarah)).message
    for query in (None, "Sarah slept hours"):
        answer = await told.facts(query, kind="reading")
        assert [fact.value for fact in answer.facts] == ["1", "2", "7"]
        assert "reading(s), oldest first" in answer.message


async def test_a_query_that_names_a_measure_lists_its_whole_series(told: ParsedRequest) -> None:
    nights = [told.slept(str(day), day, created_at=at(2025, 6, 30 - day)) for day in range(1, 21)]
    scores = [told.slept(str(day), day, measure="sleep quality") for day in (1, 2)]
    await told.begin(told.works(), *nights, *scores)
    for asked in ({"query": "readings of sleep"}, {"query": "my sleep since May", "kind": "reading"}):
        pages = await all_pages(lambda cursor, asked=asked: told.facts(**asked, max_facts=7, cursor=cursor))
        assert [fact.value for page in pages for fact in page.facts] == [str(day) for day in range(1, 21)]
        assert {page.total for page in pages} == {20}
    assert (await told.facts("readings of the sleep quality")).total == 2


async def test_a_series_is_complete_whatever_its_readings_are_of(told: ParsedRequest) -> None:
    """Readings of sleep with Acme as their target belong to sleep, whose entity other readings have as a target."""
    sleep = an_entity("Sleep")
    to_sleep = a_fact(told.sarah, sleep, "SLEPT", kind="reading", measure="sleep", value="9", valid_at=at(2025, 5, 2))
    await told.begin(sleep, a_name(sleep), told.slept("3", 3), told.slept("1", 1), to_sleep)
    for answer in (await told.connections(sleep), await told.facts(entity_uuid=sleep.uuid)):
        assert [fact.value for fact in answer.facts] == ["1", "9", "3"]
        assert answer.total == 3
        assert "3 of 3 reading(s) of sleep, oldest first" in answer.message
    assert len((await told.connections(sleep, direction="out")).facts) == 0
    assert {fact.value for fact in (await told.facts("slept", entity_uuid=sleep.uuid)).facts} == {"1", "9", "3"}


async def test_the_series_is_summed_up_on_page_one(told: ParsedRequest) -> None:
    await told.begin(*(told.slept(f"{day % 7} hours", day) for day in range(1, 21)), told.slept("9", 2, measure="mood"))
    first = await told.facts("readings of sleep", max_facts=3)
    assert first.series is not None
    [series] = first.series
    assert (series.source, series.measure, series.readings) == ("Sarah", "sleep", 20)
    assert (series.first, series.last) == ("1 hours (2025-05-01)", "6 hours (2025-05-20)")
    assert (series.least, series.most) == ("0 hours (2025-05-07)", "6 hours (2025-05-06)")
    assert series.mean == {"2025-05": 3.15}
    assert (await told.facts("readings of sleep", max_facts=3, cursor=first.next_cursor)).series is None


async def test_readings_stand_in_the_order_of_time_among_other_hits(told: ParsedRequest) -> None:
    await told.begin(told.works(text="Sarah works and slept at Acme."), told.slept("8", 2), told.slept("4", 1))
    answer = await told.facts("Sarah slept 8 hours.")
    assert [fact.value for fact in answer.facts if fact.kind == "reading"] == ["4", "8"]
    assert answer.total is None


async def test_the_reading_of_a_day_in_the_query_stands_first_and_the_heading_says_the_order(
    told: ParsedRequest,
) -> None:
    said = {"text": "Sarah: sleep"}
    nights = [told.slept(str(day), day, **said) for day in range(1, 9)]
    wrong = told.slept("wrong", 5, voided=True, **said)
    await told.begin(told.works(text="Sarah slept at Acme, sleep was short."), wrong, *nights)
    answer = await told.facts("sleep on 5 May 2025", max_facts=10)
    assert answer.message == (
        "Found 10 fact(s), readings of the time asked for first, then best first, readings of a series in order of time"
    )
    assert answer.facts[0].value == "5"
    rest = [fact.value for fact in answer.facts[1:] if fact.kind == "reading"]
    assert rest == sorted(filter(None, rest))
    pages = await all_pages(lambda cursor: told.facts("sleep on 5 May 2025", max_facts=4, cursor=cursor))
    assert sorted(fact.value or "" for page in pages for fact in page.facts) == [*"", "", *"12345678", "wrong"]
    assert not any("asked for" in page.message for page in pages[1:])
    days = await told.facts("Sarah's sleep from 2 May 2025 to 4 May 2025")
    assert [fact.value for fact in days.facts[:3]] == ["2", "3", "4"]
    none = await told.facts("sleep on 5 May 2019")
    assert none.message == "Found 10 fact(s), best first, readings of a series in order of time"
    told_apart = await told.facts("sleep on 5 May 2025", valid_before="2025-05-05")
    assert [fact.value for fact in told_apart.facts if fact.kind == "reading"] == ["1", "2", "3", "4"]


async def test_a_reading_of_the_day_is_found_behind_any_number_of_others(told: ParsedRequest) -> None:
    """More than the ranking looks at say the same words."""
    nights = [
        told.slept(str(day), 1, text="Sarah: sleep", valid_at=at(2024) + timedelta(days=day)) for day in range(450)
    ]
    await told.begin(*nights)
    assert (await told.facts("sleep on 2024-11-05")).facts[0].value == "309"
    assert "series" not in (await told.facts("sleep on 2024-11-05", max_facts=1)).message


async def test_facts_are_no_series_if_only_the_first_page_has_nothing_else(told: ParsedRequest) -> None:
    """The newest are readings of sleep, what is older is not."""
    await told.begin(told.works(valid_at=at(2027)), *(told.slept(str(day), day) for day in range(1, 6)))
    old = a_fact(told.sarah, told.acme, kind="event", valid_at=at(2020), created_at=BEGAN)
    await told.given(old)
    answer = await told.facts(entity_uuid=told.sarah.uuid, valid_before="2026", max_facts=2)
    assert texts(answer) == ["Sarah slept 5 hours.", "Sarah slept 4 hours."]


async def test_an_empty_answer_for_a_later_day_says_what_had_ended_and_when(told: ParsedRequest) -> None:
    before = told.works(valid_at=at(2020), invalid_at=at(2021), expired_at=at(2021), text="Sarah trains at Acme.")
    works = told.works(invalid_at=at(2025, 5, 2), expired_at=at(2025, 5, 3), text="Sarah works at Acme.")
    await told.begin(before, works)
    said = "had ended: Sarah works at Acme. (from 2024-03-02 until 2025-05-02)"
    for asked in (
        {"edge_types": ["WORKS_AT"], "as_of": "2026-01"},
        {"edge_types": ["WORKS_AT"], "status": "current"},
        {"entity_uuid": told.sarah.uuid, "as_of": "2026-01"},
    ):
        answer = await told.facts(**asked)
        assert (answer.total, answer.message.endswith(said)) == (0, True), answer.message
    for asked in ({"as_of": "2026-01"}, {"include_invalidated": False}):
        assert f"; {said}." in (await told.connections(told.sarah, relation="WORKS_AT", **asked)).message
    for asked in ({"as_of": "2026-01"}, {"status": "current"}):
        answer = await told.facts("Where does Sarah work?", **asked)
        assert "; nearest that had ended: Sarah" in answer.message
    early = await told.facts(edge_types=["WORKS_AT"], as_of="2023")
    assert early.message.endswith("; had ended: Sarah trains at Acme. (from 2020-01-01 until 2021-01-01)")
    for asked in ({"as_of": "2019"}, {"status": "planned"}, {"valid_after": "2026"}, {"known_at": "2025"}):
        assert "ended" not in (await told.facts(edge_types=["WORKS_AT"], **asked)).message


async def test_a_time_in_a_query_names_the_call_for_what_held_then(told: ParsedRequest) -> None:
    before = told.works(valid_at=at(2020), invalid_at=at(2021), expired_at=at(2021), text="Sarah trains at Acme.")
    await told.begin(before, told.works(text="Sarah works at Acme."))
    answer = await told.facts("Where did Sarah work on 5 March 2022?")
    assert answer.scope.note == "Not all of this held then: as_of=2022-03-05 finds what did."
    for asked in ({"as_of": "2022-03-05"}, {"status": "current"}):
        note = (await told.facts("Where did Sarah work on 5 March 2024?", **asked)).scope.note
        assert "as_of=" not in (note or "")
    assert (await told.facts("Where does Sarah work?")).scope.note is None


async def test_a_time_in_a_query_of_which_little_is_found_names_the_call_that_lists_what_began_then(
    told: ParsedRequest,
) -> None:
    begun = [told.works(text=f"Sarah accepts plan {n}.", valid_at=at(2022, 7, n)) for n in (2, 3)]
    await told.begin(*begun, told.works(text="The board decided at Acme.", valid_at=at(2024, 7)))
    answer = await told.facts("What was decided in July 2022?")
    assert [fact.fact for fact in answer.facts] == ["The board decided at Acme."]
    assert answer.scope.note == (
        "Not all of this held then: as_of=2022-07-01 finds what did. "
        "2 facts are of that time: valid_after=2022-07-01 with valid_before=2022-08-01 and no query lists them."
    )
    for asked in ({"valid_after": "2022"}, {"as_of": "2022-07"}):
        assert "are of that time" not in str((await told.facts("What was decided in July 2022?", **asked)).scope.note)
    assert (await told.facts("Which plan was accepted in July 2022?")).scope.note is None
    await told.begin(told.works(text="Sarah works at Acme.", valid_at=at(2022), attributes={"told_start": "2022"}))
    assert (await told.facts("Where did Sarah work in July 2022?")).scope.note is None
    assert "of that time" not in str((await told.facts("What was decided in July 2021?")).scope.note)


async def test_what_is_of_the_time_in_a_query_and_stands_first_needs_no_other_call(told: ParsedRequest) -> None:
    later = told.works(text="Sarah: sleep lab at Acme", valid_at=at(2025, 8))
    await told.begin(later, *(told.slept(str(day), day, text="Sarah: sleep") for day in range(1, 5)))
    answer = await told.facts("What was my sleep on 3 May 2025?")
    assert (answer.facts[0].value, len(answer.facts), answer.scope.note) == ("3", 5, None)
    pages = await all_pages(lambda cursor: told.facts("What was my sleep on 3 May 2025?", max_facts=1, cursor=cursor))
    assert [page.scope.note for page in pages] == [None] * 5
    started = await told.facts("Which sleep lab in August 2025?", edge_types=["WORKS_AT"])
    assert (started.returned, started.scope.note) == (1, None)
    other = await told.facts("What was my sleep on 6 May 2025?")
    assert other.scope.note == "Not all of this held then: as_of=2025-05-06 finds what did."


async def test_only_states_and_plans_can_have_held_at_another_time(told: ParsedRequest) -> None:
    instants = {"text": "Sarah visits Acme.", "invalid_at": at(2025)}
    event = told.works(kind="event", **instants)
    made = {"kind": "plan", "text": "Sarah visits Acme.", "valid_at": at(2026, 9)}
    open_plan = told.works(reference_time=at(2025, 2), **made)
    await told.begin(event, open_plan, told.slept("8", 2, text="Sarah visits Acme for sleep."))
    asked = "When does Sarah visit Acme, on 5 June 2025?"
    answer = await told.facts(asked)
    assert (answer.returned, answer.scope.note) == (3, None)
    dropped = {"invalid_at": at(2025, 3), "expired_at": at(2025, 3)}
    for other in (
        told.works(reference_time=at(2025, 2), **made, **dropped),
        told.works(reference_time=at(2026), **made),
    ):
        await told.begin(other)
        answer = await told.facts(asked, kind="plan", max_facts=5)
        assert answer.scope.note == "Not all of this held then: as_of=2025-06-05 finds what did."


CHOSEN = "Which database did we choose in March 2026?"


async def test_the_words_of_a_date_in_a_query_are_a_time_and_no_words(told: ParsedRequest) -> None:
    chosen = told.works(text="The team chose the database PostgreSQL", valid_at=at(2026, 3, 12))
    others = [
        told.works(kind="event", text=f"Budget {place} was set in March 2026", valid_at=at(2025)) for place in range(3)
    ]
    await told.begin(chosen, *others)
    for is_available in (True, False):
        told.world.embedder.is_available = is_available
        first, *rest = (await told.facts(CHOSEN)).facts
        assert first.uuid == chosen.uuid
        assert first.why is not None
        assert first.why["date"] > 0
        assert not any("date" in (one.why or {}) for one in rest)
        assert {one.fact for one in (await told.facts("March 2026")).facts[:3]} == {one.text for one in others}


async def test_a_date_that_is_part_of_a_name_in_a_query_is_words_and_no_time(told: ParsedRequest) -> None:
    """A budget is approved in the year before: its time would be exactly what is wrong."""
    right = told.works(kind="event", text="Sarah approved the budget of 2025", valid_at=at(2024, 11))
    wrong = told.works(kind="event", text="Sarah approved the budget of 2026", valid_at=at(2025, 11))
    party = told.works(kind="event", text="Sarah organised the Christmas party", valid_at=at(2026, 11, 2))
    farewell = told.works(kind="event", text="Sarah organised the farewell party", valid_at=at(2025, 12, 25))
    await told.begin(right, wrong, party, farewell)
    assert (await told.facts("Who approved the budget of 2025?")).facts[0].uuid == right.uuid
    for query in ("Who organised the Christmas party?", "Christmas party"):
        assert (await told.facts(query)).facts[0].uuid == party.uuid


async def test_what_began_in_the_time_of_the_query_comes_first_then_what_held_then(told: ParsedRequest) -> None:
    said = {"text": "The team chose a database"}
    began = told.works(valid_at=at(2026, 3, 12), **said)
    vague = told.works(valid_at=at(2026), attributes={"told_start": "2026"}, **said)
    held = told.works(valid_at=at(2025), **said)
    unknown = told.works(valid_at=None, reference_time=at(2025), **said)
    over = told.works(valid_at=at(2024), invalid_at=at(2025, 6), **said)
    later = told.works(valid_at=at(2026, 5), **said)
    event = told.works(kind="event", valid_at=at(2025), **said)
    await told.begin(began, vague, held, unknown, over, later, event)
    dates = {one.uuid: (one.why or {}).get("date", 0.0) for one in (await told.facts(CHOSEN)).facts}
    assert dates[began.uuid] == dates[vague.uuid] > dates[held.uuid] == dates[unknown.uuid] > 0
    assert dates[over.uuid] == dates[later.uuid] == dates[event.uuid] == 0
    asked = await told.facts("Which database did we choose in March?", kind="event", valid_after="2025")
    assert [one.uuid for one in asked.facts] == [event.uuid]


async def test_a_fact_of_the_time_is_found_behind_any_number_of_others(told: ParsedRequest) -> None:
    """More than the ranking looks at say the same words."""
    said = {"kind": "event", "text": "Sarah met Acme"}
    await told.begin(*(told.works(valid_at=at(2024) + timedelta(days=day), **said) for day in range(450)))
    answer = await told.facts("When did Sarah meet Acme on 2024-11-05?", max_facts=1)
    assert [one.valid_at for one in answer.facts] == ["2024-11-05T00:00:00+00:00"]


async def test_an_empty_answer_to_dates_of_starts_says_what_asks_for_what_held(told: ParsedRequest) -> None:
    await told.begin(told.works(text="Sarah works at Acme."))
    within: dict[str, Any] = {"valid_after": "2025-06", "valid_before": "2025-07"}
    assert OF_STARTS in (await told.facts("Where did Sarah work?", **within)).message
    assert OF_STARTS in (await told.facts(edge_types=["WORKS_AT"], **within)).message
    assert OF_STARTS in (await told.connections(told.sarah, **within)).message
    assert "as_of" not in (await told.facts(edge_types=["NONE"])).message


async def test_an_answer_says_from_which_time_it_counts(told: ParsedRequest) -> None:
    await told.begin(told.works())
    for asked, counted in (
        ({}, ("2026-06-01", None, None)),
        ({"as_of": "2025-02"}, (None, "2025-02-01", None)),
        ({"known_at": "2026-02"}, (None, None, "2026-02-01")),
        ({"as_of": "2025-02", "known_at": "2026-02"}, (None, "2025-02-01", "2026-02-01")),
    ):
        for page in (
            await told.facts(edge_types=["WORKS_AT"], **asked),
            await told.facts("Sarah works", **asked),
            await told.connections(told.sarah, **asked),
        ):
            assert (page.now, page.as_of, page.known_at) == counted


@pytest.mark.parametrize(
    ("filters", "evidence"),
    [
        ({"as_of": "2020"}, "; the first fact here is of 2024-03-02"),
        ({"as_of": "2020", "entity": "Sarah"}, "; the first fact about Sarah is of 2024-03-02"),
        ({"edge_types": ["visits"], "as_of": "2020"}, "; the first VISITS fact here is of 2025-01-01"),
        ({"edge_types": ["hates"], "entity": "Sarah"}, "; HATES is no relation here, but VISITS, WORKS_AT"),
        ({"edge_types": ["visits"], "entity": "Tom"}, ""),
        ({"entity": "Tom", "status": "ended"}, ""),
        (
            {"query": "quarks", "valid_before": "2021"},
            f"; the first fact here is of 2024-03-02{OF_STARTS}",
        ),
    ],
)
async def test_an_empty_answer_names_the_earliest_evidence(
    told: ParsedRequest, filters: dict[str, Any], evidence: str
) -> None:
    tom = an_entity("Tom")
    visits = a_fact(told.sarah, told.acme, "VISITS", valid_at=at(2025), created_at=BEGAN)
    await told.begin(tom, told.works(), visits)
    given = dict(filters)
    if name := given.pop("entity", None):
        given["entity_uuid"] = {"Sarah": told.sarah, "Tom": tom}[name].uuid
    answer = await told.facts(**given)
    assert (answer.message, answer.total) == (f"Found no fact that fits{evidence}", 0)


async def test_a_relation_that_does_not_exist_is_answered_with_those_that_do_near_ones_first(
    told: ParsedRequest,
) -> None:
    often = [a_fact(told.sarah, told.acme, "LIKES", created_at=BEGAN) for _ in range(3)]
    many = [a_fact(told.sarah, told.acme, f"R{i}", created_at=BEGAN) for i in range(20)]
    manages = a_fact(told.sarah, told.acme, "MANAGES", valid_at=at(2024), created_at=BEGAN)
    await told.begin(*often, *many, manages)
    for answer in (await told.facts(edge_types=["MANAGED"]), await told.facts("who", edge_types=["managed"])):
        assert answer.total == 0
        shown = ", ".join(["MANAGES", "LIKES", *sorted(f"R{i}" for i in range(20))[:8]])
        assert answer.message == f"Found no fact that fits; MANAGED is no relation here, but {shown} and 12 more"
    around = await told.connections(told.sarah, relation="MANAGED")
    assert "; MANAGED is no relation here, but MANAGES, LIKES, " in around.message


async def test_connections_without_a_fact_under_the_filters_name_the_earliest(told: ParsedRequest) -> None:
    await told.begin(told.works())
    answer = await told.connections(told.sarah, as_of="2020")
    assert answer.message.endswith("under these filters and groups; the first fact about Sarah is of 2024-03-02.")


async def test_the_facts_of_an_entity_are_asked_in_its_own_group_and_of_nobody_elses(told: ParsedRequest) -> None:
    theirs = an_entity("Sarah", group_id=OTHER_GROUP)
    await told.begin(told.works())
    await told.given(theirs, a_fact(theirs, theirs, text="hers"))
    assert texts(await told.facts(entity_uuid=theirs.uuid, group_ids=None)) == ["hers"]
    assert (await told.facts(entity_uuid=theirs.uuid)).total == 0
    with pytest.raises(NotFound):
        await told.facts(entity_uuid=UNKNOWN)
    told.world.caller = Caller(principal="anna")
    with pytest.raises(NotFound):
        await told.facts(entity_uuid=theirs.uuid, group_ids=None)
    assert (await told.facts(kind="state")).total == 0


async def test_a_centre_without_a_query_is_said_to_count_for_nothing(told: ParsedRequest) -> None:
    await told.begin(told.works())
    answer = await told.facts(kind="state", center_node_uuid=told.sarah.uuid)
    assert answer.scope.note == "center_node_uuid counts only with a query."


async def test_what_took_the_place_of_a_fact_is_named_wherever_it_is_listed(told: ParsedRequest) -> None:
    old = told.works(text="works at Acme")
    new = a_fact(told.sarah, told.acme, "LEFT", text="left Acme", valid_at=at(2024, 3, 2), created_at=BEGAN)
    await told.begin(old, new)
    update, retired = ended(old)
    await told.given(update, retired.model_copy(update={"replaced_by": new.uuid}))
    listed = await told.facts(edge_types=["WORKS_AT"])
    found = await told.facts("works")
    around = await told.connections(told.sarah)
    for answer in (listed, found, around):
        by = {fact.fact: fact.replaced_by for fact in answer.facts}
        assert by.pop("works at Acme") == new.uuid
        assert not any(by.values())
    edge = await told.world.exploring.get_entity_edge(told.world.caller, GetEntityEdge(uuid=old.uuid))
    assert (edge.fact.replaced_by, edge.replacement) == (new.uuid, "left Acme (from 2024-03-02)")
    other = await told.world.exploring.get_entity_edge(told.world.caller, GetEntityEdge(uuid=new.uuid))
    assert (other.fact.replaced_by, other.replacement) == (None, None)
    (before,) = (await told.facts(edge_types=["WORKS_AT"], known_at="2026-01-31")).facts
    assert before.replaced_by is None


async def test_what_turned_out_wrong_comes_after_what_corrected_it(told: ParsedRequest) -> None:
    wrong = told.slept("7", 3, text="Sarah slept 7 hours of sleep.", voided=True, expired_at=RETIRED)
    right = told.slept("5", 3, text="Sarah slept 5 hours, not 7.")
    mood = a_fact(told.sarah, told.acme, kind="reading", measure="mood", text="hours of mood", created_at=BEGAN)
    await told.begin(wrong, right, mood)
    found = texts(await told.facts("hours of sleep Sarah slept"))
    assert found.index(right.text) < found.index(wrong.text)


async def test_a_measure_shows_its_newest_readings(told: ParsedRequest) -> None:
    sleep = an_entity("sleep")
    about = {"kind": "reading", "measure": "sleep", "created_at": BEGAN}
    slept = [
        a_fact(told.sarah, sleep, "SLEPT", text=f"{n} hours", valid_at=at(2025, 5, n), **about) for n in (1, 3, 2, 4)
    ]
    await told.begin(sleep, a_name(sleep), *slept)
    answer = await told.world.searching.search_nodes(told.world.caller, SearchNodes(names=["sleep"], group_ids=GROUP))
    assert [node.facts for node in answer.nodes] == [[f"{n} hours (on 2025-05-0{n})" for n in (4, 3, 2)]]
    one = await told.world.exploring.get_entity(told.world.caller, sleep.uuid)
    assert one.facts == answer.nodes[0].facts


@pytest.mark.parametrize(
    ("query", "is_all"),
    [
        ("what is not public", True),
        ("Which facts are confidential?", True),
        ("is there anything non-public", True),
        ("is the budget confidential?", False),
        ("public transport in Oslo", False),
        ("what is public", False),
    ],
)
async def test_a_query_for_what_is_not_public_lists_it(told: ParsedRequest, query: str, *, is_all: bool) -> None:
    secret = told.works(attributes={"confidential": True})
    await told.begin(secret, a_fact(told.sarah, told.acme, "VISITS", text="The budget is 5 in Oslo transport"))
    answer = await told.facts(query)
    assert (answer.total == 1) == is_all
    assert ([fact.uuid for fact in answer.facts] == [secret.uuid]) == is_all


CLOSED = {"text": "Fenwick Labs did not close the office", "relation": "KEEPS"}
DATABASE = {"text": "The shop has been using a MySQL database", "relation": "USES"}
CHARITY = {"text": "WHO employs Sarah", "relation": "EMPLOYS"}


async def found_by(told: ParsedRequest, query: str, *facts: Mapping[str, str]) -> list[str]:
    """The sentences that a query finds by its words."""
    await told.begin(*(a_fact(told.sarah, told.acme, created_at=BEGAN, **fact) for fact in facts))
    told.world.embedder.is_available = False
    return [fact.fact for fact in (await told.facts(query)).facts]


@pytest.mark.parametrize(
    "query",
    [
        "Which database did we use?",
        "What were we using database for?",
        "Who had MySQL, when, where and why?",
        "Why didn't we use MySQL?",
        "How does MySQL do?",
    ],
)
async def test_words_that_form_a_question_find_nothing(told: ParsedRequest, query: str) -> None:
    others = [
        {"text": f"Sarah knows {asked} she {did} it", "relation": "KNOWS"}
        for asked, did in (("what", "did"), ("why", "does"), ("how", "had"), ("when", "was"), ("where", "do"))
    ]
    assert await found_by(told, query, CLOSED, DATABASE, *others) == [DATABASE["text"]]


@pytest.mark.parametrize("query", ["did", "What did"])
async def test_a_query_of_such_words_alone_is_searched_as_it_is(told: ParsedRequest, query: str) -> None:
    assert await found_by(told, query, CLOSED, DATABASE) == [CLOSED["text"]]


async def test_a_name_with_a_capital_is_no_word_of_a_question(told: ParsedRequest) -> None:
    assert await found_by(told, "Whom does WHO employ?", DATABASE, CHARITY) == [CHARITY["text"]]
