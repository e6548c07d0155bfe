"""Contract of ``Graph``: the facts of an entity, their filters, order, pages and neighbours."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.builders import a_fact, a_write, an_entity, an_update, at
from tests.corpus import HUB, HUB_FACTS_IN_OWN_GROUP, hub, load

from graphiti_pkm.core.model.queries import FactFilter, NeighbourCount, Window
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.ports.graph import Graph

NOW = at(2026, 6)
INSTANT = datetime(2025, 6, 1, 12, 30, 0, 500, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def wanted(**fields: Any) -> FactFilter:
    return FactFilter(**{"group_ids": ("t1",), "now": NOW, **fields})


async def all_pages(
    graph: Graph, uuid: str, asked: FactFilter, limit: int, between: Callable[[], Awaitable[None]] | None = None
) -> list[Fact]:
    """Facts of all pages; ``between`` is awaited after page one."""
    found: list[Fact] = []
    after: tuple[str | int, ...] | None = None
    while True:
        page = await graph.facts.connections(uuid, asked, Window(limit=limit, after=after))
        assert len(page.keys) == len(page.facts) <= limit
        found += page.facts
        if len(page.facts) < limit:
            return found
        if between is not None and after is None:
            await between()
        after = page.keys[-1]


class Pair:
    """Two entities in the graph, and facts between them by what makes them different."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sarah, self.tom = an_entity("Sarah"), an_entity("Tom")

    async def put(self, **facts: dict[str, Any]) -> None:
        """Facts from Sarah to Tom; the keyword is the fact's text."""
        made = [a_fact(self.sarah, self.tom, **{"text": text, **fields}) for text, fields in facts.items()]
        await self.graph.writer.apply(a_write(self.sarah, self.tom, *made), {})

    async def texts(self, **fields: Any) -> list[str]:
        page = await self.graph.facts.connections(self.sarah.uuid, wanted(**fields), Window(limit=100))
        assert page.total == len(page.facts)
        return [fact.text for fact in page.facts]


async def test_current_facts_come_first_then_the_newest_in_the_world_then_in_the_record(graph: Graph) -> None:
    pair = Pair(graph)
    await pair.put(
        ended_late={"valid_at": at(2026, 5), "invalid_at": at(2026, 5, 2), "expired_at": at(2026, 5, 2)},
        current_old={"valid_at": at(2024)},
        current_new={"valid_at": at(2025)},
        current_recorded_earlier={"valid_at": at(2024, 6), "created_at": at(2025, 1)},
        current_recorded_later={"valid_at": at(2024, 6), "created_at": at(2025, 2)},
        current_unknown_start={"valid_at": None},
        ended_unknown_start={"valid_at": None, "invalid_at": at(2025), "expired_at": at(2025)},
        ended_early={"valid_at": at(2023), "invalid_at": at(2025), "expired_at": at(2025)},
    )
    assert await pair.texts() == [
        "current_new",
        "current_recorded_later",
        "current_recorded_earlier",
        "current_old",
        "current_unknown_start",
        "ended_late",
        "ended_early",
        "ended_unknown_start",
    ]


async def test_facts_that_differ_in_nothing_but_the_uuid_come_in_its_order(graph: Graph) -> None:
    pair = Pair(graph)
    uuids = [f"{digit}0000000-0000-4000-8000-000000000000" for digit in "3a1f0"]
    await pair.put(**{f"f{i}": {"uuid": uuid} for i, uuid in enumerate(uuids)})
    page = await graph.facts.connections(pair.sarah.uuid, wanted(), Window(limit=10))
    assert [fact.uuid for fact in page.facts] == sorted(uuids)


async def test_only_states_that_hold_now_are_current(graph: Graph) -> None:
    pair = Pair(graph)
    await pair.put(
        state={"valid_at": at(2025)},
        starts_now={"valid_at": NOW},
        unknown_start={"valid_at": None},
        ends_later={"valid_at": at(2025), "invalid_at": NOW + MICROSECOND},
        ends_now={"valid_at": at(2025), "invalid_at": NOW},
        starts_later={"valid_at": NOW + MICROSECOND},
        expired={"valid_at": at(2025), "expired_at": at(2026, 2)},
        expires_now={"valid_at": at(2025), "invalid_at": at(2026), "expired_at": NOW},
        expires_later={"valid_at": at(2025), "invalid_at": at(2026), "expired_at": NOW + MICROSECOND},
        voided={"valid_at": at(2025), "voided": True, "expired_at": at(2026, 2)},
        voided_without_a_date={"valid_at": at(2025), "voided": True},
        event={"valid_at": at(2025), "kind": "event"},
        plan={"valid_at": at(2025), "kind": "plan"},
        reading={"valid_at": at(2025), "kind": "reading"},
    )
    current = {"state", "starts_now", "unknown_start", "ends_later", "expires_later"}
    assert set(await pair.texts(only_current=True, recorded_until=NOW)) == current
    assert set((await pair.texts(recorded_until=NOW))[:5]) == current
    assert len(await pair.texts()) == 14
    # Without a limit to what was recorded, what has expired has: the clock may have been set back since.
    assert set(await pair.texts(only_current=True)) == current - {"expires_later"}


async def test_as_of_an_interval_holds_from_its_start_until_just_before_its_end(graph: Graph) -> None:
    pair = Pair(graph)
    await pair.put(
        starts_there={"valid_at": INSTANT},
        starts_after={"valid_at": INSTANT + MICROSECOND},
        ends_there={"valid_at": at(2025), "invalid_at": INSTANT, "expired_at": at(2026)},
        ends_after={"valid_at": at(2025), "invalid_at": INSTANT + MICROSECOND, "expired_at": at(2026)},
        unknown_start={"valid_at": None},
        unknown_start_ended={"valid_at": None, "invalid_at": INSTANT, "expired_at": at(2026)},
        empty={"valid_at": INSTANT, "invalid_at": INSTANT},
        voided={"valid_at": at(2025), "voided": True, "expired_at": at(2026)},
        retired_without_an_end={"valid_at": at(2025), "expired_at": at(2026)},
        event={"valid_at": INSTANT, "kind": "event"},
        plan={"valid_at": at(2025), "kind": "plan"},
        reading={"valid_at": at(2025), "kind": "reading"},
    )
    assert set(await pair.texts(as_of=INSTANT)) == {"starts_there", "ends_after", "unknown_start"}


async def test_facts_are_filtered_by_their_start_where_an_unknown_one_counts_as_the_reference_time(
    graph: Graph,
) -> None:
    pair = Pair(graph)
    await pair.put(
        before={"valid_at": INSTANT - MICROSECOND},
        there={"valid_at": INSTANT},
        after={"valid_at": INSTANT + MICROSECOND},
        known_there={"valid_at": None, "reference_time": INSTANT},
        known_before={"valid_at": None, "reference_time": INSTANT - MICROSECOND},
        known_never={"valid_at": None},
    )
    assert set(await pair.texts(valid_after=INSTANT)) == {"there", "after", "known_there"}
    assert set(await pair.texts(valid_before=INSTANT)) == {"before", "known_before"}
    both = await pair.texts(valid_after=INSTANT, valid_before=INSTANT + MICROSECOND)
    assert set(both) == {"there", "known_there"}


async def test_facts_are_filtered_by_their_end(graph: Graph) -> None:
    pair = Pair(graph)
    await pair.put(
        before={"invalid_at": INSTANT - MICROSECOND},
        there={"invalid_at": INSTANT},
        after={"invalid_at": INSTANT + MICROSECOND},
        open={"invalid_at": None},
    )
    assert set(await pair.texts(invalid_after=INSTANT)) == {"there", "after"}
    assert set(await pair.texts(invalid_before=INSTANT)) == {"before"}
    assert await pair.texts(invalid_after=INSTANT, invalid_before=INSTANT + MICROSECOND) == ["there"]


async def test_whole_seconds_and_microseconds_compare_as_instants(graph: Graph) -> None:
    pair = Pair(graph)
    whole = at(2025, 6, 1, 12)
    await pair.put(whole={"valid_at": whole}, later={"valid_at": whole + MICROSECOND})
    assert await pair.texts() == ["later", "whole"]
    assert await pair.texts(valid_after=whole + MICROSECOND) == ["later"]
    assert await pair.texts(valid_before=whole + MICROSECOND) == ["whole"]
    assert await pair.texts(as_of=whole) == ["whole"]


async def test_facts_recorded_after_page_one_are_left_out_and_only_those(graph: Graph) -> None:
    pair = Pair(graph)
    await pair.put(there={"created_at": NOW}, after={"created_at": NOW + MICROSECOND})
    assert await pair.texts(recorded_until=NOW) == ["there"]
    assert set(await pair.texts()) == {"there", "after"}


async def test_facts_are_filtered_by_relation_neighbour_and_direction(graph: Graph) -> None:
    sarah, tom, ann = an_entity("Sarah"), an_entity("Tom"), an_entity("Ann")
    manages, met = a_fact(sarah, tom, "MANAGES"), a_fact(sarah, ann, "MET")
    back, other = a_fact(tom, sarah, "MET"), a_fact(tom, ann, "MET")
    await graph.writer.apply(a_write(sarah, tom, ann, manages, met, back, other), {})

    async def found(**fields: Any) -> set[str]:
        page = await graph.facts.connections(sarah.uuid, wanted(**fields), Window(limit=10))
        assert page.total == len(page.facts)
        return {fact.uuid for fact in page.facts}

    assert await found() == {manages.uuid, met.uuid, back.uuid}
    assert await found(direction="out") == {manages.uuid, met.uuid}
    assert await found(direction="in") == {back.uuid}
    assert await found(relations=("MET",)) == {met.uuid, back.uuid}
    assert await found(relations=("MET", "MANAGES")) == {manages.uuid, met.uuid, back.uuid}
    assert await found(relations=("met",)) == set()
    assert await found(neighbour_uuid=tom.uuid) == {manages.uuid, back.uuid}
    assert await found(neighbour_uuid=tom.uuid, direction="in", relations=("MET",)) == {back.uuid}


async def test_an_unknown_entity_has_no_facts(graph: Graph) -> None:
    page = await graph.facts.connections("nothing", wanted(), Window(limit=10))
    assert (page.facts, page.keys, page.total) == ((), (), 0)
    assert list((await graph.facts.fact_counts("nothing", wanted(), 10, 1)).neighbours) == []


@pytest.mark.parametrize(
    ("groups", "total"), [(("t1",), 90), (("t2",), 30), (("t1", "t2"), 120), (("t3",), 0), ((), 0)]
)
async def test_the_hub_shows_only_the_facts_of_the_groups_asked(
    graph: Graph, groups: tuple[str, ...], total: int
) -> None:
    await load(graph, hub())
    page = await graph.facts.connections(HUB, wanted(group_ids=groups), Window(limit=200))
    assert page.total == len(page.facts) == total
    assert {fact.group_id for fact in page.facts} <= set(groups)


@pytest.mark.parametrize("limit", [1, 2, 3, 20])
async def test_of_an_instant_what_is_known_to_have_held_comes_before_what_may_have(graph: Graph, limit: int) -> None:
    """Whether it holds today or has ended since."""
    pair, day = Pair(graph), at(2025, 5)
    over = {"invalid_at": at(2026, 1), "expired_at": at(2026, 1)}
    await pair.put(
        maybe_holds_now={"valid_at": None, "reference_time": at(2025, 8), "created_at": at(2026, 3)},
        maybe_ended_since={"valid_at": None, "reference_time": at(2025, 8), "created_at": at(2026, 2), **over},
        was_told_before={"valid_at": None, "reference_time": at(2025, 3), "created_at": at(2026, 1), **over},
        was_known={"valid_at": at(2025, 2), "reference_time": at(2025, 8), **over},
        was_known_and_is={"valid_at": at(2025, 1), "reference_time": at(2025, 8)},
        was_planned={"kind": "plan", "valid_at": at(2025, 4)},
        began_later={"valid_at": at(2025, 6)},
    )
    asked = wanted(as_of=day, with_due_plans=True)
    expected = ["was_known", "was_known_and_is", "was_told_before", "was_planned"]
    expected += ["maybe_holds_now", "maybe_ended_since"]
    paged = await all_pages(graph, pair.sarah.uuid, asked, limit)
    assert [fact.text for fact in paged] == expected
    after, listed = None, list[str]()
    while (page := await graph.facts.group_facts(asked, Window(limit=limit, after=after))).facts:
        listed += [fact.text for fact in page.facts]
        after = page.keys[-1]
    assert listed == expected
    assert await pair.texts(as_of=day, status="current") == expected[:3]
    assert await pair.texts(as_of=day, only_current=True) == ["was_known_and_is", "maybe_holds_now"]
    assert await pair.texts(as_of=day, known_at=at(2026, 2)) == [*expected[:3], "maybe_ended_since"]


@pytest.mark.parametrize("limit", [1, 7, 50, 90, 200])
async def test_the_pages_of_the_hub_hold_every_fact_exactly_once(graph: Graph, limit: int) -> None:
    await load(graph, hub())
    whole = await graph.facts.connections(HUB, wanted(), Window(limit=200))
    paged = await all_pages(graph, HUB, wanted(), limit)
    assert [fact.uuid for fact in paged] == [fact.uuid for fact in whole.facts]
    assert len({fact.uuid for fact in paged}) == HUB_FACTS_IN_OWN_GROUP


async def test_every_page_has_the_total_under_its_filter(graph: Graph) -> None:
    await load(graph, hub())
    first = await graph.facts.connections(HUB, wanted(only_current=True), Window(limit=20))
    second = await graph.facts.connections(HUB, wanted(only_current=True), Window(limit=20, after=first.keys[-1]))
    assert (first.total, second.total) == (70, 70)


async def test_pages_go_on_among_facts_that_share_every_date(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    facts = [a_fact(sarah, tom, valid_at=at(2025) if i % 2 else None) for i in range(25)]
    await graph.writer.apply(a_write(sarah, tom, *facts), {})
    paged = await all_pages(graph, sarah.uuid, wanted(), 4)
    assert sorted(fact.uuid for fact in paged) == sorted(fact.uuid for fact in facts)
    assert [fact.valid_at is None for fact in paged] == [False] * 12 + [True] * 13


async def test_writes_between_pages_neither_repeat_nor_hide_older_facts(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    old = [a_fact(sarah, tom, valid_at=at(2025, 1, day)) for day in range(1, 13)]
    await graph.writer.apply(a_write(sarah, tom, *old), {})
    later = NOW + timedelta(seconds=1)

    async def write() -> None:
        new = [a_fact(sarah, tom, valid_at=one.valid_at, created_at=later) for one in old]
        await graph.writer.apply(a_write(*new), {})

    paged = await all_pages(graph, sarah.uuid, wanted(recorded_until=NOW), 5, write)
    assert sorted(fact.uuid for fact in paged) == sorted(fact.uuid for fact in old)


async def test_facts_that_end_between_pages_keep_their_place(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    old = [a_fact(sarah, tom, valid_at=at(2025, 1, day)) for day in range(1, 13)]
    await graph.writer.apply(a_write(sarah, tom, *old), {})
    later = NOW + timedelta(seconds=1)

    async def end() -> None:
        ended = [an_update(one, invalid_at=at(2026, 5), expired_at=later) for one in old[::2]]
        voided = [an_update(one, voided=True, expired_at=later) for one in old[1::2]]
        await graph.writer.apply(a_write(*ended, *voided), {})

    paged = await all_pages(graph, sarah.uuid, wanted(recorded_until=NOW), 5, end)
    assert sorted(fact.uuid for fact in paged) == sorted(fact.uuid for fact in old)


async def test_deletions_between_pages_hide_nothing_else(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    old = [a_fact(sarah, tom, valid_at=at(2025, 1, day)) for day in range(12, 0, -1)]
    await graph.writer.apply(a_write(sarah, tom, *old), {})

    async def delete() -> None:
        gone = (old[0].uuid, old[4].uuid, old[5].uuid)
        await graph.writer.apply(a_write(deletions={"facts": gone}), {})

    paged = await all_pages(graph, sarah.uuid, wanted(), 5, delete)
    assert [fact.uuid for fact in paged] == [fact.uuid for i, fact in enumerate(old) if i != 5]


async def test_neighbour_counts_sum_to_the_total_under_the_same_filter(graph: Graph) -> None:
    await load(graph, hub())
    filters = [
        wanted(),
        wanted(only_current=True),
        wanted(direction="in"),
        wanted(group_ids=("t2",)),
        wanted(as_of=at(2025, 3)),
    ]
    for asked in filters:
        page = await graph.facts.connections(HUB, asked, Window(limit=200))
        counts = (await graph.facts.fact_counts(HUB, asked, 200, 1)).neighbours
        assert sum(one.facts for one in counts) == page.total
        assert {one.entity_uuid for one in counts} == {
            fact.target_uuid if fact.source_uuid == HUB else fact.source_uuid for fact in page.facts
        }


async def test_neighbours_with_most_facts_come_first_then_by_name(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    tom, ann, bob = an_entity("Tom"), an_entity("Ann"), an_entity("Bob")
    facts = [a_fact(sarah, tom), a_fact(tom, sarah), a_fact(bob, sarah), a_fact(sarah, ann)]
    await graph.writer.apply(a_write(sarah, tom, ann, bob, *facts), {})
    expected = [(tom, 2), (ann, 1), (bob, 1)]
    assert list((await graph.facts.fact_counts(sarah.uuid, wanted(), 10, 1)).neighbours) == [
        counted(*one) for one in expected
    ]
    assert list((await graph.facts.fact_counts(sarah.uuid, wanted(), 2, 1)).neighbours) == [
        counted(*one) for one in expected[:2]
    ]


async def test_facts_are_counted_by_kind_and_relation_and_readings_by_measure(graph: Graph) -> None:
    sarah, tom, sleep = an_entity("Sarah"), an_entity("Tom"), an_entity("sleep")
    nights = [a_fact(sarah, sleep, "SLEPT", kind="reading", measure="sleep", value=str(i)) for i in range(3)]
    facts = [a_fact(sarah, tom, "MET", kind="event"), a_fact(tom, sarah, "MET", kind="event"), a_fact(sarah, sarah)]
    facts += [a_fact(sarah, tom, voided=True, expired_at=at(2026)), a_fact(sarah, sleep, "RATED", kind="reading")]
    await graph.writer.apply(a_write(sarah, tom, sleep, *nights, *facts), {})
    found = (await graph.facts.fact_counts(sarah.uuid, wanted(), 1, 10)).kinds
    page = await graph.facts.connections(sarah.uuid, wanted(), Window(limit=20))
    assert sum(one.facts for one in found) == page.total
    assert [(one.kind, one.name, one.facts) for one in found] == [
        ("reading", "sleep", 3),
        ("event", "MET", 2),
        ("state", "KNOWS", page.total - 6),
        ("reading", "RATED", 1),
    ]
    out = (await graph.facts.fact_counts(sarah.uuid, wanted(direction="in"), 1, 1)).kinds
    assert len(out) == 1
    assert list((await graph.facts.fact_counts("nothing", wanted(), 1, 10)).kinds) == []


def counted(entity: Entity, facts: int) -> NeighbourCount:
    return NeighbourCount(entity_uuid=entity.uuid, name=entity.name, facts=facts)
