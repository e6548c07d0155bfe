"""Connections, timeline and look-ups."""

from collections import Counter
from typing import Any

import pytest
from tests.builders import (
    GROUP,
    OTHER_GROUP,
    a_fact,
    a_mention,
    a_name,
    a_write,
    an_entity,
    an_episode,
    at,
)
from tests.corpus import DJANGO, HUB, hub, weeks
from tests.worlds.reading_world import UNKNOWN, World, all_pages, text_of

from graphiti_pkm.capabilities.explore.requests import (
    GetEntityConnections,
    GetEntityEdge,
    GetEntityTimeline,
    GetEpisodeEntities,
    GetEpisodes,
)
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import ConnectionsResponse, EpisodeSearchResponse, FactView, TimelineResponse
from graphiti_pkm.core.model.job_records import BackLinkJob
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.errors import InvalidCursor, InvalidInput, NotFound, Unavailable

SOMEONE_ELSE = Caller(principal="anna")


async def a_hub() -> World:
    world = World()
    await world.given(*hub())
    return world


async def django_weeks() -> World:
    world = World()
    await world.given(*weeks())
    return world


async def connections(world: World, uuid: str = HUB, **given: Any) -> ConnectionsResponse:
    return await world.exploring.get_entity_connections(world.caller, GetEntityConnections(entity_uuid=uuid, **given))


async def timeline(world: World, uuid: str = DJANGO, **given: Any) -> TimelineResponse:
    return await world.exploring.get_entity_timeline(world.caller, GetEntityTimeline(entity_uuid=uuid, **given))


def uuids(answers: list[ConnectionsResponse]) -> list[str]:
    return [fact.uuid for answer in answers for fact in answer.facts]


# Connections


async def test_all_facts_of_the_entitys_own_group_come_in_both_directions() -> None:
    answer = await connections(await a_hub(), max_connections=200)
    assert answer.total == answer.returned == len(answer.facts) == 90
    assert {fact.group_id for fact in answer.facts} == {GROUP}
    assert {fact.direction for fact in answer.facts} == {"in", "out"}


async def test_group_ids_narrow_connections_to_these_groups() -> None:
    world = await a_hub()
    assert (await connections(world, group_ids=[OTHER_GROUP])).total == 30
    assert (await connections(world, group_ids=OTHER_GROUP)).total == 30
    assert (await connections(world, group_ids=[GROUP, OTHER_GROUP])).total == 120
    assert (await connections(world, group_ids=[])).total == 90


async def test_the_pages_of_a_hub_bring_each_fact_once_and_say_how_many_there_are() -> None:
    world = await a_hub()
    pages = await all_pages(lambda cursor: connections(world, cursor=cursor))
    assert [page.returned for page in pages] == [50, 40]
    assert [page.truncated for page in pages] == [True, False]
    assert {page.total for page in pages} == {90}
    assert pages[0].message == "Found 50 connection(s) for entity"
    assert len(set(uuids(pages))) == len(uuids(pages)) == 90


async def test_current_facts_come_first_then_the_newest() -> None:
    answer = await connections(await a_hub(), max_connections=200)
    keys = [(fact.status == "current", fact.valid_at or "") for fact in answer.facts]
    assert keys == sorted(keys, reverse=True)
    assert await connections(await a_hub(), max_connections=200) == answer


async def test_ended_facts_are_included_unless_only_what_holds_now_is_wanted() -> None:
    world = await a_hub()
    everything = await connections(world, max_connections=200)
    assert Counter(fact.status for fact in everything.facts) == {"current": 70, "ended": 20}
    assert all(fact.invalid_at for fact in everything.facts if fact.status == "ended")
    assert (await connections(world, include_invalidated=False)).total == 70


async def test_each_fact_names_both_ends_and_its_direction() -> None:
    answer = await connections(await a_hub(), direction="in")
    incoming = [f for write in hub() for f in write.facts if f.target_uuid == HUB and f.group_id == GROUP]
    assert answer.total == len(incoming)
    assert {fact.target_node_name for fact in answer.facts} == {"HUB"}
    assert all(fact.source_node_name.startswith("Spoke") for fact in answer.facts)
    assert answer.entity == "HUB"


async def test_facts_have_upstreams_fields_and_never_an_embedding() -> None:
    world = World()
    a, b = an_entity("A"), an_entity("B")
    vector = [0.5] * 384
    fact = a_fact(a, b, attributes={"fact_embedding": vector, "other": vector, "kept": "yes"}, valid_at=at(2025))
    await world.given(a_write(a, b, fact))
    answer = await connections(world, a.uuid)
    assert answer.facts[0].attributes == {"kept": "yes"}
    assert {
        *("uuid", "group_id", "source_node_uuid", "target_node_uuid", "created_at", "name", "fact", "episodes"),
        *("expired_at", "valid_at", "invalid_at", "reference_time", "attributes"),
    } <= FactView.model_fields.keys()
    assert answer.facts[0].valid_at == "2025-01-01T00:00:00+00:00"


async def test_counts_per_neighbour_stand_on_page_one_and_sum_to_the_total() -> None:
    world = await a_hub()
    first, second = await all_pages(lambda cursor: connections(world, cursor=cursor))
    assert first.neighbours is not None
    assert sum(one.facts for one in first.neighbours) == 90
    assert first.neighbours_total == len(first.neighbours)
    assert first.neighbours_others is None
    assert second.neighbours is None


async def test_counts_of_very_many_neighbours_are_cut_and_the_rest_is_summed() -> None:
    world = World()
    centre = an_entity("Centre")
    spokes = [an_entity(f"A rather long name of neighbour {i}") for i in range(400)]
    await world.given(a_write(centre, *spokes, *(a_fact(centre, spoke) for spoke in spokes)))
    answer = await connections(world, centre.uuid)
    assert answer.neighbours is not None
    assert answer.neighbours_others is not None
    assert sum(one.facts for one in answer.neighbours) + answer.neighbours_others == 400
    assert answer.neighbours_total is None


async def test_page_one_of_several_counts_what_they_hold_by_kind_and_relation() -> None:
    world, me, other = World(), an_entity("me"), an_entity("sleep")
    nights = [a_fact(me, other, "SLEPT", kind="reading", measure="sleep", value=str(night)) for night in range(300)]
    rare = [a_fact(me, other, f"RELATION_{i:02}", kind="event") for i in range(50)]
    facts = [*nights, *rare, a_fact(me, other, "LIVES_IN"), a_fact(me, other, "LIVES_IN")]
    await world.given(a_write(me, other, *facts))
    first = await connections(world, me.uuid)
    assert first.kinds == {
        "reading": {"sleep": 300},
        "state": {"LIVES_IN": 2},
        "event": {f"RELATION_{i:02}": 1 for i in range(38)},
    }
    assert first.kinds_others == 12
    second = await connections(world, me.uuid, cursor=first.next_cursor)
    assert (second.kinds, second.kinds_others) == (None, None)
    lived = await connections(world, me.uuid, relation="LIVES_IN")
    assert (lived.total, lived.kinds) == (2, None)


async def test_writes_between_two_pages_neither_repeat_nor_hide_older_facts() -> None:
    world = await a_hub()
    before = set(uuids([await connections(world, max_connections=200)]))
    centre = (await world.graph.records.get_entities([HUB], [GROUP]))[0]

    async def something_is_written() -> None:
        world.clock.advance(seconds=60)
        other = an_entity("New")
        await world.given(a_write(other, a_fact(centre, other, valid_at=at(2026, 2), created_at=world.clock())))

    pages = await all_pages(lambda cursor: connections(world, max_connections=20, cursor=cursor), something_is_written)
    assert len(uuids(pages)) == 90
    assert set(uuids(pages)) == before


async def test_a_cursor_with_other_filters_is_refused() -> None:
    world = await a_hub()
    cursor = (await connections(world)).next_cursor
    with pytest.raises(InvalidCursor):
        await connections(world, cursor=cursor, direction="out")
    with pytest.raises(InvalidCursor):
        await timeline(world, HUB, cursor=cursor)
    assert (await connections(world, cursor=cursor, max_connections=10)).returned == 10


async def test_as_of_shows_what_held_then_and_tells_what_is_only_possible() -> None:
    world = World()
    sarah, berlin, paris, rome = (an_entity(name) for name in ("Sarah", "Berlin", "Paris", "Rome"))
    await world.given(
        a_write(sarah, berlin, paris, rome),
        a_write(
            a_fact(sarah, berlin, "LIVES_IN", valid_at=at(2024), invalid_at=at(2025), expired_at=at(2025, 2)),
            a_fact(sarah, paris, "LIVES_IN", valid_at=at(2025)),
            a_fact(sarah, rome, "LIKES", reference_time=at(2024, 9)),
        ),
    )

    async def seen(as_of: str | None) -> dict[str, str]:
        answer = await connections(world, sarah.uuid, as_of=as_of)
        return {fact.target_node_name: fact.status for fact in answer.facts}

    assert await seen("2024-06") == {"Berlin": "current", "Rome": "possible"}
    assert await seen("2024-12-31") == {"Berlin": "current", "Rome": "current"}
    assert await seen("2025") == {"Paris": "current", "Rome": "current"}
    assert await seen(None) == {"Berlin": "ended", "Paris": "current", "Rome": "current"}


async def test_an_empty_as_of_answer_says_that_what_happens_in_an_instant_is_found_by_dates() -> None:
    world = World()
    me, sleep = an_entity("me"), an_entity("sleep")
    await world.given(
        a_write(me, sleep, a_fact(me, sleep, "SLEPT", kind="reading", value="6.5", valid_at=at(2025, 3, 1))),
        a_write(a_fact(me, sleep, "LIKES", valid_at=at(2025, 4))),
    )
    empty = await connections(world, me.uuid, as_of="2025-03-01")
    assert empty.total == 0
    assert empty.scope.note == (
        "as_of lists states and due plans; the other plans, events and readings: valid_after, valid_before."
    )
    found = await connections(world, me.uuid, valid_after="2025-03-01", valid_before="2025-03-02")
    assert [fact.value for fact in found.facts] == ["6.5"]
    assert found.scope.note is None
    assert (await connections(world, me.uuid, as_of="2025-04-02")).scope.note is None
    assert (await connections(world, me.uuid, relation="KNOWS")).scope.note is None
    assert (await connections(world, UNKNOWN, as_of="2025-03-01")).scope.note is None


async def test_a_relation_is_found_however_it_is_spelt() -> None:
    world = World()
    a, b = an_entity("A"), an_entity("B")
    await world.given(a_write(a, b, a_fact(a, b, "WORKS_AT"), a_fact(a, b, "KNOWS")))
    assert [fact.name for fact in (await connections(world, a.uuid, relation="works at")).facts] == ["WORKS_AT"]
    nothing = await connections(world, a.uuid, relation="\0'")
    assert nothing.total == 0
    assert "2 fact(s), none of them under these filters" in nothing.message


async def test_an_unknown_entity_is_told_from_one_without_connections() -> None:
    world = await a_hub()
    lone, seen = an_entity("Lone"), an_entity("Seen")
    note = an_episode()
    await world.given(a_write(lone, seen, note, a_mention(note, seen)))
    unknown = await connections(world, UNKNOWN)
    assert unknown.message.startswith(f"No connections found for entity {UNKNOWN}")
    assert "no such entity" in unknown.message
    assert unknown.facts == []
    assert unknown.entity is None
    assert "Lone exists but has no facts yet." in (await connections(world, lone.uuid)).message
    assert "1 episode(s) that mention it" in (await connections(world, seen.uuid)).message
    assert "no such entity" in (await connections(world, "non-existent-uuid")).message


async def test_a_group_without_data_gives_an_empty_answer_that_says_what_the_groups_hold() -> None:
    world = await a_hub()
    answer = await connections(world, group_ids=["non-existent-group"])
    assert answer.facts == []
    assert answer.scope.group_ids == ["non-existent-group"]
    assert answer.scope.holds == {"non-existent-group": "0 episodes, 0 entities, 0 facts"}
    assert answer.scope.other_groups == [GROUP, OTHER_GROUP]


@pytest.mark.parametrize("parameter", ["as_of", "valid_after", "valid_before"])
async def test_a_bad_date_is_an_error_that_names_the_parameter(parameter: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{parameter}: "):
        await connections(await a_hub(), **{parameter: "last Tuesday"})


async def test_answers_at_default_and_maximal_limits_stay_bounded_with_the_longest_facts() -> None:
    world = World()
    centre = an_entity("Centre " + "é" * 190)
    spokes = [an_entity(f"{i} " + '"' * 190) for i in range(300)]
    facts = [a_fact(centre, spoke, text="\n" * 2000, quote="x" * 2000, valid_at=at(2025)) for spoke in spokes]
    await world.given(a_write(centre, *spokes, *facts))
    for limit, most in ((50, 24_000), (200, 80_000)):
        pages = await all_pages(
            lambda cursor, limit=limit: connections(world, centre.uuid, max_connections=limit, cursor=cursor)  # type: ignore[misc]
        )
        assert max(len(text_of(page)) for page in pages) <= most
        assert len(set(uuids(pages))) == len(uuids(pages)) == 300


async def test_ordinary_facts_fill_the_default_page() -> None:
    answer = await connections(await a_hub())
    assert answer.returned == 50
    assert len(text_of(answer)) <= 24_000


# Timeline


async def test_few_episodes_come_oldest_first() -> None:
    world = World()
    await world.given(*weeks()[:4])
    answer = await timeline(world)
    assert [episode.name for episode in answer.episodes] == ["Week 1", "Week 2", "Week 3"]
    assert answer.message == "Found 3 episode(s) mentioning entity"


async def test_the_newest_window_is_printed_oldest_first_and_its_cursor_leads_to_older_ones() -> None:
    world = await django_weeks()
    first, second = await all_pages(lambda cursor: timeline(world, cursor=cursor))
    assert [episode.name for episode in first.episodes] == [f"Week {i}" for i in range(6, 26)]
    assert [episode.name for episode in second.episodes] == [f"Week {i}" for i in range(1, 6)]
    for page in (first, second):
        assert page.total == 25
        assert page.first_mention == "2025-01-06T00:00:00+00:00"
        assert page.last_mention == "2025-06-23T00:00:00+00:00"
    assert second.mentions_per_month is None


async def test_oldest_first_pages_forward() -> None:
    world = await django_weeks()
    pages = await all_pages(lambda cursor: timeline(world, order="oldest_first", max_episodes=10, cursor=cursor))
    names = [episode.name for page in pages for episode in page.episodes]
    assert names == [f"Week {i}" for i in range(1, 26)]


async def test_group_ids_narrow_the_timeline() -> None:
    world = await django_weeks()
    answer = await timeline(world, group_ids=[OTHER_GROUP])
    assert answer.total == 5
    assert {episode.group_id for episode in answer.episodes} == {OTHER_GROUP}


async def test_dates_filter_the_timeline_half_open() -> None:
    later = await timeline(await django_weeks(), valid_after="2025-03-01")
    assert [episode.name for episode in later.episodes] == [f"Week {week}" for week in range(9, 26)]
    answer = await timeline(await django_weeks(), valid_after="2025-03-03", valid_before="2025-03-17")
    assert [episode.name for episode in answer.episodes] == ["Week 9", "Week 10"]


async def test_mentions_are_counted_per_month_of_the_configured_zone() -> None:
    world = World(timezone="America/New_York")
    sarah = an_entity("Sarah")
    notes = [an_episode(valid_at=moment) for moment in (at(2025, 2, 1, 3), at(2025, 2, 1, 6), at(2025, 4, 1, 12))]
    await world.given(a_write(sarah, *notes, *(a_mention(note, sarah) for note in notes)))
    answer = await timeline(world, sarah.uuid)
    assert answer.mentions_per_month == {"2025-01": 1, "2025-02": 1, "2025-04": 1}


async def test_a_quarter_past_midnight_in_kolkata_is_in_the_new_month() -> None:
    world = World(timezone="Asia/Kolkata")
    sarah, note = an_entity("Sarah"), an_episode(valid_at=at(2026, 1, 31, 18, 45))
    await world.given(a_write(sarah, note, a_mention(note, sarah)))
    assert (await timeline(world, sarah.uuid)).mentions_per_month == {"2026-02": 1}


async def test_a_life_of_mentions_is_counted_by_year_where_it_is_long_ago() -> None:
    world = World()
    sarah = an_entity("Sarah")
    notes = [an_episode(valid_at=at(1990 + i // 12, i % 12 + 1)) for i in range(240)]
    await world.given(a_write(sarah, *notes, *(a_mention(note, sarah) for note in notes)))
    months = (await timeline(world, sarah.uuid)).mentions_per_month
    assert months is not None
    assert len(months) == 130
    assert months["1990"] == 12
    assert months["2009-12"] == 1
    assert list(months) == sorted(months)
    assert sum(months.values()) == 240


async def test_page_one_of_a_timeline_names_what_is_mentioned_beside_it() -> None:
    world, stress, coffee, work = World(), an_entity("stress"), an_entity("coffee"), an_entity("work")
    notes = [an_episode(f"Note {i}", valid_at=at(2026, i)) for i in range(1, 5)]
    mentions = [a_mention(note, stress) for note in notes] + [a_mention(note, coffee) for note in notes[1:]]
    await world.given(a_write(stress, coffee, work, *notes, *mentions, a_mention(notes[0], work)))
    first = await timeline(world, stress.uuid, max_episodes=2)
    assert first.mentioned_with == {"coffee": 3, "work": 1}
    second = await timeline(world, stress.uuid, max_episodes=2, cursor=first.next_cursor)
    assert second.mentioned_with is None
    assert (await timeline(world, UNKNOWN)).mentioned_with == {}


async def test_an_entity_that_no_episode_mentions_is_told_from_an_unknown_one() -> None:
    world = await a_hub()
    answer = await timeline(world, HUB)
    assert answer.message.startswith(f"No episodes found mentioning entity {HUB}")
    assert "120 fact(s)" in answer.message
    assert answer.episodes == []
    assert "no such entity" in (await timeline(world, UNKNOWN)).message


async def test_a_pending_back_link_job_is_said() -> None:
    world = await django_weeks()
    assert (await timeline(world)).linking is None
    job = BackLinkJob(entity_uuid=DJANGO, names=("Django project",), before=at(2026))
    await world.journal.append(a_write(job), {}, "", {})
    assert "still being linked" in str((await timeline(world)).linking)


async def test_the_episodes_of_a_period_come_complete_and_in_the_order_asked() -> None:
    world = World()
    await world.given(
        a_write(*(an_episode(f"Day {i}", group_id="default", valid_at=at(2026, 1, i)) for i in range(1, 21)))
    )

    async def read(**given: Any) -> list[EpisodeSearchResponse]:
        asked = {"valid_after": "2026-01-05", "valid_before": "2026-01-15", "max_episodes": 4, **given}

        async def one_page(cursor: str | None) -> EpisodeSearchResponse:
            return await world.exploring.get_episodes(world.caller, GetEpisodes(cursor=cursor, **asked))

        return await all_pages(one_page)

    pages = await read(order="oldest")
    days = [f"Day {i}" for i in range(5, 15)]
    assert [one.content for page in pages for one in page.episodes] == days
    assert {page.total for page in pages} == {10}
    assert pages[0].message == "Found 4 of 10 episode(s), oldest first"
    assert [one.content for page in await read() for one in page.episodes] == days[::-1]
    with pytest.raises(InvalidCursor):
        await world.exploring.get_episodes(world.caller, GetEpisodes(cursor=pages[0].next_cursor, order="oldest"))
    none = await world.exploring.get_episodes(world.caller, GetEpisodes(valid_after="2027"))
    assert none.message == "No episodes found in this period and these groups"
    with pytest.raises(InvalidInput, match="leave them out with episode_uuids"):
        await world.exploring.get_episodes(world.caller, GetEpisodes(valid_after="2027", episode_uuids=[UNKNOWN]))


async def test_long_contents_are_cut_and_can_be_read_on_to_the_end() -> None:
    world = World()
    sarah = an_entity("Sarah")
    content = "".join(f'Line {i}: "quoted" and\ta tab.\n' for i in range(3_000))
    note = an_episode(content)
    await world.given(a_write(sarah, note, a_mention(note, sarah)))
    page = await timeline(world, sarah.uuid)
    assert page.scope.note is not None
    assert "get_episodes(episode_uuids=[uuid], content_offset=2000)" in page.scope.note
    shown = page.episodes[0]
    assert shown.content_truncated
    assert shown.content_chars == len(content)
    read = str(shown.content)
    while len(read) < len(content):
        answer = await world.exploring.get_episodes(
            world.caller, GetEpisodes(episode_uuids=[note.uuid], content_offset=len(read), max_content_chars=20_000)
        )
        read += str(answer.episodes[0].content)
        assert len(text_of(answer)) < 80_000
    assert read == content
    assert not answer.episodes[0].content_truncated


async def test_timelines_of_huge_contents_stay_bounded_and_complete() -> None:
    world = World()
    sarah = an_entity("Sarah")
    notes = [an_episode('\n"' * 50_000, valid_at=at(2025, 1, 1 + i)) for i in range(25)]
    await world.given(a_write(sarah, *notes, *(a_mention(note, sarah) for note in notes)))
    for limit, chars, most in ((20, 2_000, 24_000), (100, 20_000, 80_000)):
        pages = await all_pages(
            lambda cursor, limit=limit, chars=chars: timeline(  # type: ignore[misc]
                world, sarah.uuid, max_episodes=limit, max_content_chars=chars, cursor=cursor
            )
        )
        assert max(len(text_of(page)) for page in pages) <= most
        dates = [episode.valid_at for page in reversed(pages) for episode in page.episodes]
        assert len(dates) == 25
        assert dates == sorted(dates, key=str)


async def test_no_content_on_request() -> None:
    answer = await timeline(await django_weeks(), max_content_chars=0)
    assert {episode.content for episode in answer.episodes} == {None}


# Look-ups


async def test_the_newest_episodes_by_valid_at_come_first() -> None:
    world = await django_weeks()
    pages = await all_pages(
        lambda cursor: world.exploring.get_episodes(world.caller, GetEpisodes(group_ids=GROUP, cursor=cursor))
    )
    assert [episode.name for page in pages for episode in page.episodes] == [f"Week {i}" for i in range(25, 0, -1)]


async def test_without_group_ids_the_newest_of_the_default_group_are_read() -> None:
    world = await django_weeks()
    answer = await world.exploring.get_episodes(world.caller, GetEpisodes())
    assert answer.total == 0
    assert answer.scope.group_ids == ["default"]
    assert answer.scope.other_groups == [GROUP, OTHER_GROUP]


async def test_episodes_asked_for_come_in_the_order_asked_in_pages() -> None:
    world = await django_weeks()
    known = (await world.exploring.get_episodes(world.caller, GetEpisodes(group_ids=GROUP, max_episodes=30))).episodes
    wanted = [episode.uuid for episode in known[:5]][::-1]
    pages = await all_pages(
        lambda cursor: world.exploring.get_episodes(
            world.caller,
            GetEpisodes(episode_uuids=[wanted[0][:8], UNKNOWN, *wanted[1:]], max_episodes=2, cursor=cursor),
        )
    )
    assert [episode.uuid for page in pages for episode in page.episodes] == wanted
    assert "1 of the uuids asked for name no episode" in pages[0].message
    with pytest.raises(NotFound):
        await world.exploring.get_episodes(world.caller, GetEpisodes(episode_uuids=[UNKNOWN]))
    with pytest.raises(InvalidInput, match="content_offset"):
        await world.exploring.get_episodes(world.caller, GetEpisodes(content_offset=5))


async def test_entities_of_episodes_come_by_name_in_pages() -> None:
    world = World()
    names = [an_entity(f"Person {i:02d}") for i in range(12)]
    one, two = an_episode(), an_episode()
    await world.given(
        a_write(*names, one, two, *(a_mention(one, e) for e in names[:8]), *(a_mention(two, e) for e in names[6:]))
    )
    pages = await all_pages(
        lambda cursor: world.exploring.get_episode_entities(
            world.caller, GetEpisodeEntities(episode_uuids=[one.uuid, two.uuid, UNKNOWN], max_entities=5, cursor=cursor)
        )
    )
    assert [node.name for page in pages for node in page.entities] == [entity.name for entity in names]
    assert pages[0].total == 12
    assert pages[0].unknown_episodes == [UNKNOWN]


async def test_one_fact_is_read_by_its_uuid_or_is_not_found() -> None:
    world = await a_hub()
    known = (await connections(world)).facts[0]
    answer = await world.exploring.get_entity_edge(world.caller, GetEntityEdge(uuid=known.uuid[:10]))
    assert answer.fact.uuid == known.uuid
    assert answer.fact.source_node_name
    with pytest.raises(NotFound, match="search_memory_facts"):
        await world.exploring.get_entity_edge(world.caller, GetEntityEdge(uuid=UNKNOWN))


async def test_an_entity_is_read_with_aliases_and_current_facts_and_an_episode_whole() -> None:
    world = World()
    sarah, berlin = an_entity("Sarah"), an_entity("Berlin")
    note = an_episode()
    await world.given(
        a_write(sarah, berlin, note, a_name(sarah), a_name(sarah, "Sally")),
        a_write(a_fact(sarah, berlin, "LIVES_IN", text="Sarah lives in Berlin", valid_at=at(2025))),
    )
    node = await world.exploring.get_entity(world.caller, sarah.uuid)
    assert node.aliases == ["Sally"]
    assert node.facts == ["Sarah lives in Berlin (from 2025-01-01)"]
    assert (await world.exploring.get_episode(world.caller, note.uuid)).content == note.content
    for read in (world.exploring.get_entity, world.exploring.get_episode):
        with pytest.raises(NotFound):
            await read(world.caller, UNKNOWN)


@pytest.mark.parametrize("label", [None, "Person", "Decision_2"])
async def test_entities_of_any_type_are_traversed(label: str | None) -> None:
    world = World()
    thing: Entity = an_entity("Thing", label=label)
    note = an_episode()
    await world.given(a_write(thing, note, a_mention(note, thing), a_fact(thing, thing)))
    assert (await connections(world, thing.uuid)).total == 1
    assert (await timeline(world, thing.uuid)).total == 1


async def test_nothing_of_another_person_is_reached_by_uuid() -> None:
    world = await a_hub()
    await world.given(*weeks())
    fact = (await connections(world)).facts[0]
    episode = (await timeline(world)).episodes[0]
    exploring = world.exploring
    assert (
        "no such entity"
        in (await exploring.get_entity_connections(SOMEONE_ELSE, GetEntityConnections(entity_uuid=HUB))).message
    )
    assert (
        await exploring.get_entity_connections(SOMEONE_ELSE, GetEntityConnections(entity_uuid=HUB, group_ids=[GROUP]))
    ).total == 0
    assert (
        await exploring.get_entity_timeline(SOMEONE_ELSE, GetEntityTimeline(entity_uuid=DJANGO, group_ids=GROUP))
    ).total == 0
    assert (
        await exploring.get_episode_entities(SOMEONE_ELSE, GetEpisodeEntities(episode_uuids=[episode.uuid]))
    ).total == 0
    for reading in (
        exploring.get_entity_edge(SOMEONE_ELSE, GetEntityEdge(uuid=fact.uuid)),
        exploring.get_entity(SOMEONE_ELSE, HUB),
        exploring.get_episode(SOMEONE_ELSE, episode.uuid),
        exploring.get_episodes(SOMEONE_ELSE, GetEpisodes(episode_uuids=[episode.uuid])),
    ):
        with pytest.raises(NotFound):
            await reading


async def test_traversal_asks_no_model_and_a_dead_database_is_said() -> None:
    world = await a_hub()
    world.embedder.calls.clear()
    await connections(world)
    await timeline(world)
    assert world.embedder.calls == []
    world.graph.is_down = True
    with pytest.raises(Unavailable):
        await connections(world)


async def test_an_as_of_answer_of_plans_alone_says_so_and_what_had_ended_before() -> None:
    world = World()
    me, priya, ines = (an_entity(name) for name in ("me", "Priya", "Ines"))
    await world.given(
        a_write(me, priya, ines),
        a_write(
            a_fact(me, priya, "REPORTS_TO", text="Priya is my manager", valid_at=at(2024), invalid_at=at(2025, 5)),
            a_fact(me, ines, "REPORTS_TO", text="Ines becomes my manager", kind="plan", valid_at=at(2025, 5)),
        ),
    )
    said = (
        "; nothing is known to have held then, only what was planned; "
        "had ended: Priya is my manager (from 2024-01-01 until 2025-05-01)"
    )
    answer = await connections(world, me.uuid, as_of="2025-05-10")
    assert [(fact.target_node_name, fact.status, fact.past) for fact in answer.facts] == [("Ines", "planned", True)]
    assert answer.message == f"Found 1 connection(s) for entity{said}"
    listed = await world.searching.search_memory_facts(
        world.caller, SearchMemoryFacts(entity_uuid=me.uuid, as_of="2025-05-10")
    )
    assert listed.message == f"Found 1 of 1 fact(s), current ones first, then the newest{said}"
    assert (await connections(world, me.uuid, as_of="2025-04-10")).message == "Found 1 connection(s) for entity"
