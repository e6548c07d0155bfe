"""Contract of ``Graph``: timelines, recent episodes, and what an episode holds."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.builders import a_fact, a_mention, a_passage, a_write, an_entity, an_episode, at
from tests.corpus import DJANGO, load, weeks
from tests.fakes import FakeEmbedder

from graphiti_pkm.core.identity.ordered_uuids import ordered_uuids
from graphiti_pkm.core.model.queries import EpisodeFilter, EpisodePage, TimelineSummary, Window
from graphiti_pkm.core.model.records import Entity, Episode
from graphiti_pkm.core.model.times import month_key
from graphiti_pkm.core.ports.graph import Graph

INSTANT = datetime(2025, 6, 1, 12, 30, 0, 500, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
Read = Callable[[EpisodeFilter, Window], Awaitable[EpisodePage]]


def wanted(**fields: Any) -> EpisodeFilter:
    return EpisodeFilter(**{"group_ids": ("t1",), **fields})


async def all_pages(
    read: Read,
    asked: EpisodeFilter,
    limit: int,
    newest: bool,
    between: Callable[[], Awaitable[None]] | None = None,
    *,
    backwards: bool = False,
) -> list[Episode]:
    found: list[Episode] = []
    after: tuple[str | int, ...] | None = None
    while True:
        page = await read(asked, Window(limit=limit, after=after, newest=newest, backwards=backwards))
        assert len(page.keys) == len(page.episodes) <= limit
        found += page.episodes
        if len(page.episodes) < limit:
            return found
        if between is not None and after is None:
            await between()
        after = page.keys[-1]


async def put_told(graph: Graph, entity: Entity, *episodes: Episode) -> None:
    await graph.writer.apply(a_write(entity, *episodes, *(a_mention(one, entity) for one in episodes)), {})


@pytest.fixture(params=["timeline", "recent"])
def read(graph: Graph, request: pytest.FixtureRequest) -> Read:
    """The timeline of the Django project, or the recent episodes of the group."""

    async def timeline(asked: EpisodeFilter, window: Window) -> EpisodePage:
        return await graph.episodes.timeline(DJANGO, asked, window)

    return timeline if request.param == "timeline" else graph.episodes.recent_episodes


@pytest.mark.parametrize("limit", [1, 6, 25, 100])
async def test_the_weeks_come_newest_first_and_exactly_once(graph: Graph, read: Read, limit: int) -> None:
    await load(graph, weeks())
    paged = await all_pages(read, wanted(), limit, newest=True)
    assert [one.name for one in paged] == [f"Week {number}" for number in range(25, 0, -1)]


@pytest.mark.parametrize("limit", [1, 6, 25, 100])
async def test_a_timeline_can_start_with_the_oldest(graph: Graph, limit: int) -> None:
    await load(graph, weeks())

    async def timeline(asked: EpisodeFilter, window: Window) -> EpisodePage:
        return await graph.episodes.timeline(DJANGO, asked, window)

    paged = await all_pages(timeline, wanted(), limit, newest=False)
    assert [one.name for one in paged] == [f"Week {number}" for number in range(1, 26)]


@pytest.mark.parametrize(("groups", "total"), [(("t1",), 25), (("t2",), 5), (("t1", "t2"), 30), (("t3",), 0), ((), 0)])
async def test_only_episodes_of_the_groups_asked_are_there(
    graph: Graph, read: Read, groups: tuple[str, ...], total: int
) -> None:
    await load(graph, weeks())
    page = await read(wanted(group_ids=groups), Window(limit=100))
    assert page.total == len(page.episodes) == total
    assert {one.group_id for one in page.episodes} <= set(groups)


async def test_every_page_has_the_total_under_its_filter(graph: Graph, read: Read) -> None:
    await load(graph, weeks())
    asked = wanted(valid_after=at(2025, 3))
    first = await read(asked, Window(limit=4))
    second = await read(asked, Window(limit=4, after=first.keys[-1]))
    assert (first.total, second.total) == (17, 17)
    assert first.episodes[-1].name == "Week 22"
    assert second.episodes[0].name == "Week 21"


async def test_episodes_are_filtered_by_half_open_intervals(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    days = {"before": INSTANT - MICROSECOND, "there": INSTANT, "after": INSTANT + MICROSECOND}
    await put_told(graph, sarah, *(an_episode(name=name, valid_at=day) for name, day in days.items()))

    async def names(**fields: Any) -> list[str]:
        page = await graph.episodes.timeline(sarah.uuid, wanted(**fields), Window(limit=10, newest=False))
        recent = await graph.episodes.recent_episodes(wanted(**fields), Window(limit=10))
        assert [one.uuid for one in reversed(recent.episodes)] == [one.uuid for one in page.episodes]
        assert page.total == recent.total == len(page.episodes)
        return [one.name for one in page.episodes]

    assert await names() == ["before", "there", "after"]
    assert await names(valid_after=INSTANT) == ["there", "after"]
    assert await names(valid_before=INSTANT) == ["before"]
    assert await names(valid_after=INSTANT, valid_before=INSTANT + MICROSECOND) == ["there"]
    assert await names(valid_after=INSTANT, valid_before=INSTANT) == []


async def test_episodes_recorded_after_page_one_are_left_out(graph: Graph, read: Read) -> None:
    await load(graph, weeks())
    now = at(2026, 6)
    project = an_entity("Django project", uuid=DJANGO)

    async def write() -> None:
        late = [
            an_episode(name="late", valid_at=day, created_at=now + MICROSECOND)
            for day in (at(2025, 1), at(2025, 6, 20))
        ]
        await put_told(graph, project, *late)

    paged = await all_pages(read, wanted(recorded_until=now), 10, newest=True, between=write)
    assert [one.name for one in paged] == [f"Week {number}" for number in range(25, 0, -1)]
    assert (await read(wanted(recorded_until=now), Window(limit=5))).total == 25
    assert (await read(wanted(recorded_until=now + MICROSECOND), Window(limit=5))).total == 27


async def test_deletions_between_pages_hide_nothing_else(graph: Graph, read: Read) -> None:
    await load(graph, weeks())
    newest = (await read(wanted(), Window(limit=12))).episodes

    async def delete() -> None:
        gone = (newest[0].uuid, newest[9].uuid, newest[10].uuid)
        await graph.writer.apply(a_write(deletions={"episodes": gone}), {})

    paged = await all_pages(read, wanted(), 10, newest=True, between=delete)
    assert [one.name for one in paged] == [f"Week {number}" for number in range(25, 0, -1) if number != 15]


@pytest.mark.parametrize("newest", [True, False])
async def test_pages_go_on_among_episodes_of_one_instant(graph: Graph, newest: bool) -> None:
    sarah = an_entity("Sarah")
    episodes = [an_episode(created_at=at(2026, 1, 1 + i % 3)) for i in range(20)]
    await put_told(graph, sarah, *episodes)

    async def timeline(asked: EpisodeFilter, window: Window) -> EpisodePage:
        return await graph.episodes.timeline(sarah.uuid, asked, window)

    paged = await all_pages(timeline, wanted(), 3, newest)
    assert sorted(one.uuid for one in paged) == sorted(one.uuid for one in episodes)
    recorded = [one.created_at for one in paged]
    assert recorded == sorted(recorded, reverse=newest)


@pytest.mark.parametrize("limit", [2, 20])
async def test_what_one_write_tells_of_one_time_is_listed_in_the_order_of_its_uuids(graph: Graph, limit: int) -> None:
    """A list keeps it, whichever end of time it begins with; a window into the past is read backwards."""
    sarah = an_entity("Sarah")
    uuids = ordered_uuids(5)
    sections = [an_episode(uuid=uuid, name=f"Part {place}") for place, uuid in enumerate(uuids, 1)]
    await put_told(graph, sarah, *reversed(sections), an_episode(name="Before", valid_at=at(2000)))

    async def timeline(asked: EpisodeFilter, window: Window) -> EpisodePage:
        return await graph.episodes.timeline(sarah.uuid, asked, window)

    parts = [one.name for one in sections]
    for read in (timeline, graph.episodes.recent_episodes):
        listed = await all_pages(read, wanted(), limit, newest=True)
        assert [one.name for one in listed] == [*parts, "Before"]
        listed = await all_pages(read, wanted(), limit, newest=False)
        assert [one.name for one in listed] == ["Before", *parts]
        listed = await all_pages(read, wanted(), limit, newest=True, backwards=True)
        assert [one.name for one in listed] == [*reversed(parts), "Before"]


async def test_an_episode_that_does_not_mention_the_entity_is_not_in_its_timeline(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    told, other = an_episode("Sarah"), an_episode("Tom")
    await graph.writer.apply(a_write(sarah, tom, told, other, a_mention(told, sarah), a_mention(other, tom)), {})
    page = await graph.episodes.timeline(sarah.uuid, wanted(), Window(limit=10))
    assert (page.episodes, page.total) == ((told,), 1)
    narrowed = await graph.episodes.recent_episodes(wanted(entity_uuid=tom.uuid), Window(limit=10))
    assert (narrowed.episodes, narrowed.total) == ((other,), 1)
    assert (await graph.episodes.timeline("nothing", wanted(), Window(limit=10))).total == 0


async def test_the_summary_counts_mentions_so_that_months_can_be_told_in_any_zone(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    instants = [
        at(1898, 5, 1, 23, 59),
        at(2024, 12, 31, 9, 59),
        at(2024, 12, 31, 10),
        at(2025, 1, 15, 12),
        at(2025, 1, 16, 12),
        at(2025, 3, 1, 10, 5),
        at(2025, 3, 1, 10, 55),
    ]
    await put_told(graph, sarah, *(an_episode(valid_at=instant) for instant in reversed(instants)))
    await put_told(graph, sarah, an_episode(valid_at=at(2020), group_id="t2"))
    for zone in (UTC, ZoneInfo("UTC"), timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))):
        summary = await graph.episodes.timeline_summary(sarah.uuid, wanted(), zone)
        assert (summary.first, summary.last, summary.total) == (instants[0], instants[-1], 7)
        expected = Counter(month_key(instant, zone) for instant in instants)
        counted: Counter[str] = Counter()
        for instant, count in summary.counts:
            counted[month_key(instant, zone)] += count
        assert counted == expected


@pytest.mark.parametrize(
    ("zone", "instants"),
    [
        ("Asia/Kolkata", [at(2026, 1, 31, 18, 29), at(2026, 1, 31, 18, 30), at(2026, 1, 31, 18, 45)]),
        ("Asia/Kathmandu", [at(2026, 1, 31, 18, 14), at(2026, 1, 31, 18, 15)]),
        ("America/St_Johns", [at(2026, 2, 1, 3, 29), at(2026, 2, 1, 3, 30)]),
        ("Africa/Monrovia", [at(1970, 2, 1, 0, 44), at(1970, 2, 1, 0, 45)]),  # 44 minutes and 30 seconds behind
        ("Europe/Amsterdam", [at(1900, 1, 31, 23, 40), at(1900, 1, 31, 23, 41)]),  # 19 or 17 minutes ahead
    ],
)
async def test_months_are_counted_in_zones_whose_offset_is_no_whole_hour(
    graph: Graph, zone: str, instants: list[datetime]
) -> None:
    sarah = an_entity("Sarah")
    await put_told(graph, sarah, *(an_episode(valid_at=instant) for instant in instants))
    summary = await graph.episodes.timeline_summary(sarah.uuid, wanted(), ZoneInfo(zone))
    counted: Counter[str] = Counter()
    for instant, count in summary.counts:
        counted[month_key(instant, ZoneInfo(zone))] += count
    assert counted == Counter(month_key(instant, ZoneInfo(zone)) for instant in instants)
    assert len(counted) == 2


async def test_mentions_of_one_quarter_of_an_hour_are_counted_together(graph: Graph) -> None:
    sarah = an_entity("Sarah")
    instants = [at(2026, 2, 1, 10, 45), at(2026, 2, 1, 10, 59), at(2026, 2, 1, 11)]
    await put_told(graph, sarah, *(an_episode(valid_at=instant) for instant in instants))
    summary = await graph.episodes.timeline_summary(sarah.uuid, wanted(), ZoneInfo("Europe/Berlin"))
    assert [count for _, count in summary.counts] == [2, 1]


async def test_the_summary_obeys_the_filter(graph: Graph) -> None:
    await load(graph, weeks())
    summary = await graph.episodes.timeline_summary(
        DJANGO, wanted(valid_after=at(2025, 1, 13), valid_before=at(2025, 2, 3)), UTC
    )
    assert (summary.first, summary.last, summary.total) == (at(2025, 1, 13), at(2025, 1, 27), 3)
    assert sum(count for _, count in summary.counts) == 3
    assert (await graph.episodes.timeline_summary(DJANGO, wanted(group_ids=("t2",)), UTC)).total == 5
    assert (await graph.episodes.timeline_summary(DJANGO, wanted(recorded_until=at(2020)), UTC)).total == 0


async def test_entities_beside_another_are_counted_over_its_newest_episodes(graph: Graph) -> None:
    sarah, tom, ann, bob = (an_entity(name) for name in ("Sarah", "Tom", "Ann", "Bob"))
    notes = [an_episode(valid_at=at(2026, 1, day)) for day in range(1, 6)]
    elsewhere = an_entity("Elsewhere", group_id="t2")
    beside = [(tom, notes[2:]), (ann, notes[3:]), (bob, [*notes[:2], notes[4]]), (elsewhere, notes)]
    mentions = [a_mention(note, sarah) for note in notes]
    mentions += [a_mention(note, entity) for entity, listed in beside for note in listed]
    alone = an_episode(valid_at=at(2026, 2))
    await graph.writer.apply(
        a_write(sarah, tom, ann, bob, elsewhere, *notes, alone, *mentions, a_mention(alone, tom)), {}
    )
    found = await graph.episodes.mentioned_with(sarah.uuid, wanted(), 100, 10)
    assert [(one.name, one.episodes) for one in found] == [("Bob", 3), ("Tom", 3), ("Ann", 2)]
    assert found[0].entity_uuid == bob.uuid
    newest = await graph.episodes.mentioned_with(sarah.uuid, wanted(), 3, 2)
    assert [(one.name, one.episodes) for one in newest] == [("Tom", 3), ("Ann", 2)]
    early = await graph.episodes.mentioned_with(sarah.uuid, wanted(valid_before=at(2026, 1, 3)), 100, 10)
    assert [(one.name, one.episodes) for one in early] == [("Bob", 2)]
    assert await graph.episodes.mentioned_with("nothing", wanted(), 100, 10) == []


async def test_an_entity_never_mentioned_has_an_empty_summary(graph: Graph) -> None:
    empty = TimelineSummary(first=None, last=None, total=0, counts=())
    assert await graph.episodes.timeline_summary("nothing", wanted(), UTC) == empty


async def test_the_entities_of_episodes_come_once_each_by_name(graph: Graph) -> None:
    people = [an_entity(name) for name in ("Tom", "Ann", "Zoë", "Sarah", "ann", "Ann")]
    first, second, third = (an_episode() for _ in range(3))
    mentions = [*(a_mention(first, one) for one in people[:4]), *(a_mention(second, one) for one in people[2:])]
    await graph.writer.apply(a_write(*people, first, second, third, *mentions, a_mention(third, people[0])), {})
    expected = sorted(people, key=lambda one: (one.name, one.uuid))
    asked = [first.uuid, second.uuid, "nothing"]
    assert await graph.episodes.episode_entities(asked, ["t1"], Window(limit=10)) == (expected, 6)
    paged: list[Entity] = []
    for _ in range(3):
        after = (paged[-1].name, paged[-1].uuid) if paged else None
        found, total = await graph.episodes.episode_entities(asked, ["t1"], Window(limit=2, after=after))
        assert total == 6
        paged += found
    assert paged == expected
    assert await graph.episodes.episode_entities(asked, ["t2"], Window(limit=10)) == ([], 0)
    assert await graph.episodes.episode_entities([], ["t1"], Window(limit=10)) == ([], 0)


async def test_the_facts_of_an_episode_are_those_it_supports_alone_or_with_others(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    first, second = an_episode(), an_episode()
    alone = a_fact(sarah, tom, "MET", episodes=(first.uuid,))
    shared = a_fact(sarah, tom, "KNOWS", episodes=(second.uuid, first.uuid))
    other = a_fact(sarah, tom, "LIKES", episodes=(second.uuid,))
    await graph.writer.apply(a_write(sarah, tom, first, second, alone, shared, other), {})
    found = await graph.facts.episode_facts(first.uuid, ["t1"], 10)
    assert {fact.uuid: fact for fact in found} == {fact.uuid: fact for fact in (alone, shared)}
    assert len(await graph.facts.episode_facts(first.uuid, ["t1"], 1)) == 1
    assert await graph.facts.episode_facts(first.uuid, ["t2"], 10) == []
    assert await graph.facts.episode_facts(first.uuid[:8], ["t1"], 10) == []


async def test_the_facts_of_several_episodes_are_read_at_once(graph: Graph) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    first, second, third = an_episode(), an_episode(), an_episode()
    alone = a_fact(sarah, tom, "MET", episodes=(first.uuid,), created_at=at(2025, 3))
    shared = a_fact(sarah, tom, "KNOWS", episodes=(third.uuid, second.uuid, first.uuid), created_at=at(2025, 2))
    other = a_fact(sarah, tom, "LIKES", episodes=(third.uuid,))
    nobody = a_fact(sarah, tom, "SAW", episodes=())
    await graph.writer.apply(a_write(sarah, tom, first, second, third, alone, shared, other, nobody), {})
    both = [first.uuid, second.uuid]
    assert [fact.uuid for fact in await graph.facts.facts_of_episodes(both, ["t1"], 10)] == [alone.uuid, shared.uuid]
    assert [fact.uuid for fact in await graph.facts.facts_of_episodes(both, ["t1"], 1)] == [alone.uuid]
    assert await graph.facts.facts_of_episodes(both, ["t2"], 10) == []
    assert await graph.facts.facts_of_episodes([], ["t1"], 10) == []


async def test_passages_without_a_vector_are_told_apart_until_they_get_one(graph: Graph) -> None:
    episode = an_episode("One. Two. Three.")
    spans = [(0, 4), (5, 9), (10, 16)]
    passages = [a_passage(episode, *span, sentence=i) for i, span in enumerate(spans)]
    vector, later = await FakeEmbedder().embed(["One.", "Three."])
    await graph.writer.apply(a_write(episode, *passages), {passages[0].uuid: vector})
    assert await graph.episodes.passages(episode.uuid, without_vector=True, limit=10) == passages[1:]
    assert await graph.episodes.passages(episode.uuid, without_vector=True, limit=1) == passages[1:2]
    await graph.writer.apply(a_write(passages[2]), {passages[2].uuid: later})
    assert await graph.episodes.passages(episode.uuid, without_vector=True, limit=10) == passages[1:2]
    assert await graph.episodes.passages(episode.uuid, without_vector=False, limit=10) == passages


class Notes:
    """Notes with fixed uuids, to be found by a name."""

    def __init__(self, *contents: str) -> None:
        self.episodes = [
            an_episode(content, uuid=f"{i:08d}-0000-4000-8000-000000000000") for i, content in enumerate(contents)
        ]

    async def naming(self, graph: Graph, name: str, **fields: Any) -> list[str]:
        values = {"group_id": "t1", "before": at(2026, 6), "after": None, "limit": 100, **fields}
        return [one.content for one in await graph.search.episodes_naming(name=name, **values)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Sarah", "I met Sarah."),
        ("Sarah", "Sarah's birthday"),
        ("Sarah", "(SARAH)"),
        ("Will", "Will came"),
        ("May", "with May and June"),
        ("user service", "the User-Service is slow"),
        ("user service", "the user_service is slow"),
        ("user service", "the UserService is slow"),
        ("user-service", "the user service is slow"),
        ("Sir W. Batten", "to Sir W. Batten's house"),
        ("C++", "written in C++ again"),
        ("ADR-12", "see ADR-12, ADR 13"),
        ("Müller", "Frau Müller kam"),
        ("Müller", "Frau Mu\u0308ller kam"),
        ("東京", "私は東京都に住んでいます"),
        ("+49 170 1234567", "On +49-170-123-45-67 nobody answers"),
        ("+49 170 1234567", "On +491701234567 or +49 171 1234567"),
        ("The Who", "we heard The Who"),
        ("@home", "it is @home now"),
        ("A|B (c) -d", "what of A|B (c) -d then"),
        ("🎉", "we won 🎉 at last"),
        ("❤️", "with ❤️"),
        ("👨‍👩‍👧", "home: 👨‍👩‍👧."),
        ("+", "1 + 1"),
        ("C++", "in C++ again"),
    ],
)
async def test_no_episode_that_may_hold_a_name_is_missed(graph: Graph, name: str, text: str) -> None:
    notes = Notes("nothing of the kind", text)
    await graph.writer.apply(a_write(*notes.episodes), {})
    assert text in await notes.naming(graph, name)


async def test_episodes_naming_something_come_by_uuid_after_the_last_one_seen(graph: Graph) -> None:
    notes = Notes(*(f"Sarah {i}" for i in range(7)), "Tom")
    await graph.writer.apply(a_write(*reversed(notes.episodes)), {})
    assert await notes.naming(graph, "Sarah") == [f"Sarah {i}" for i in range(7)]
    assert await notes.naming(graph, "Sarah", limit=3) == ["Sarah 0", "Sarah 1", "Sarah 2"]
    after = notes.episodes[2].uuid
    assert await notes.naming(graph, "Sarah", limit=3, after=after) == ["Sarah 3", "Sarah 4", "Sarah 5"]
    assert await notes.naming(graph, "Sarah", after=notes.episodes[6].uuid) == []


async def test_only_episodes_recorded_before_and_in_the_group_are_searched_for_a_name(graph: Graph) -> None:
    before, there = an_episode("Sarah 1", created_at=INSTANT - MICROSECOND), an_episode("Sarah 2", created_at=INSTANT)
    await graph.writer.apply(a_write(before, there), {})
    await graph.writer.apply(a_write(an_episode("Sarah 3", group_id="t2")), {})
    found = await graph.search.episodes_naming("t1", "Sarah", INSTANT, None, 10)
    assert found == [before]


async def test_an_episode_stays_confidential_whatever_is_stored_of_it_again(graph: Graph) -> None:
    secret, other = an_episode(confidential=True), an_episode()
    await graph.writer.apply(a_write(secret, other), {})
    await graph.writer.apply(a_write(secret.model_copy(update={"confidential": False})), {})
    found = await graph.records.get_episodes([secret.uuid, other.uuid], ("t1",))
    assert [episode.confidential for episode in found] == [True, False]
