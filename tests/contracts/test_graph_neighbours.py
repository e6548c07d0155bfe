"""Contract of ``GraphNeighbours``: places in time, the order of a stretch, mentions among episodes."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.builders import GROUP, OTHER_GROUP, RECORDED, a_mention, a_write, an_entity, an_episode, at

from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.core.identity.backlinks import back_link
from graphiti_pkm.core.model.places import Place, Stretch
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.core.ports.graph import Graph

LATER = RECORDED + timedelta(days=365)
DAY = Stretch(group_id=GROUP, start=at(2025, 3, 1), end=at(2025, 3, 2))


def place_of(episode: Episode) -> Place:
    return Place(**episode.model_dump(include={"uuid", "group_id", "valid_at", "created_at"}))


async def test_places_are_those_of_the_groups_asked_for(graph: Graph) -> None:
    here = an_episode("a", valid_at=at(1664, 3, 1) + timedelta(microseconds=7))
    there = an_episode("b", group_id=OTHER_GROUP)
    await graph.writer.apply(a_write(here, there), {})
    assert await graph.episodes.episode_places([here.uuid, there.uuid, "none"], [GROUP]) == {here.uuid: place_of(here)}
    assert await graph.episodes.episode_places([], [GROUP]) == {}


async def test_a_stretch_holds_its_episodes_in_order_from_its_start_to_before_its_end(graph: Graph) -> None:
    times = [at(2025, 3, 1) + timedelta(hours=hours) for hours in (-0.001, 0, 9, 9, 23.999, 24)]
    told = [an_episode(valid_at=time, created_at=RECORDED - timedelta(hours=i)) for i, time in enumerate(times)]
    elsewhere = an_episode(group_id=OTHER_GROUP, valid_at=times[1])
    await graph.writer.apply(a_write(*told, elsewhere), {})
    (found,) = await graph.part(NEIGHBOURS).uuids_in([DAY], LATER, 10)
    assert found == [told[i].uuid for i in (1, 3, 2, 4)]
    other = DAY.model_copy(update={"group_id": OTHER_GROUP})
    cut = await graph.part(NEIGHBOURS).uuids_in([DAY, other, DAY.model_copy(update={"group_id": "none"})], LATER, 2)
    assert cut == [found[:2], [elsewhere.uuid], []]


async def test_a_stretch_leaves_out_what_was_recorded_later(graph: Graph) -> None:
    early = an_episode(valid_at=at(2025, 3, 1))
    late = an_episode(valid_at=at(2025, 3, 1), created_at=RECORDED + timedelta(seconds=1))
    await graph.writer.apply(a_write(early, late), {})
    assert await graph.part(NEIGHBOURS).uuids_in([DAY], RECORDED, 10) == [[early.uuid]]


@pytest.mark.parametrize("year", [1, 987, 1664, 2025, 9998])
async def test_stretches_of_any_year_hold_what_lies_in_them(graph: Graph, year: int) -> None:
    start = datetime(year, 12, 31, tzinfo=UTC)
    told = [an_episode(valid_at=start + timedelta(hours=hours, microseconds=hours % 2)) for hours in range(-30, 60, 3)]
    away = [an_episode(valid_at=datetime(other, 12, 31, tzinfo=UTC)) for other in (2, 1000, 2024, 9997)]
    await graph.writer.apply(a_write(*told, *away), {})
    stretch = Stretch(group_id=GROUP, start=start, end=start + timedelta(days=1))
    (found,) = await graph.part(NEIGHBOURS).uuids_in([stretch], LATER, 100)
    assert found == [one.uuid for one in told if start <= one.valid_at < stretch.end]


async def test_the_same_text_is_that_of_the_first_such_episode_of_the_stretch(graph: Graph) -> None:
    first, again = (an_episode('It\'s "so" – {x}\n', valid_at=at(2025, 3, 1), created_at=at(2026, i)) for i in (2, 3))
    other = an_episode("Something else", valid_at=at(2025, 3, 1), created_at=at(2026))
    later = an_episode(first.content, valid_at=at(2025, 3, 2), created_at=at(2026))
    elsewhere = an_episode(first.content, valid_at=at(2025, 3, 1), created_at=at(2026), group_id="t2")
    await graph.writer.apply(a_write(again, first, other, later), {})
    await graph.writer.apply(a_write(elsewhere), {})
    instant = Stretch(group_id=GROUP, start=at(2025, 3, 1), end=at(2025, 3, 1) + timedelta(microseconds=1))
    assert await graph.episodes.same_text(instant, first.content) == first.uuid
    assert await graph.episodes.same_text(DAY, first.content) == first.uuid
    assert await graph.episodes.same_text(instant, first.content.strip()) is None
    assert await graph.episodes.same_text(instant.model_copy(update={"start": at(2025)}), other.content) == other.uuid
    assert await graph.episodes.same_text(instant.model_copy(update={"group_id": "t3"}), first.content) is None


async def test_a_message_is_followed_by_the_next_ones_as_long_as_they_are_short_and_soon(graph: Graph) -> None:
    start, half_an_hour = at(2026, 3, 1), timedelta(minutes=30)
    first, beside, second, known_late, long, alone = (
        an_episode(text, valid_at=start + after, created_at=created, source="message")
        for text, after, created in (
            ("Which one?", timedelta(), at(2026, 5)),
            ("Same time", timedelta(), at(2026, 5, 2)),
            ("This one.", half_an_hour, at(2026, 5)),
            ("That one.", timedelta(minutes=1), at(2026, 6)),
            ("A long entry.", timedelta(hours=1), at(2026, 5)),
            ("Alone.", timedelta(hours=3), at(2026, 5)),
        )
    )
    elsewhere = an_episode("Elsewhere", valid_at=start + timedelta(seconds=1), group_id="t2", source="message")
    note = an_episode("A note.", valid_at=start + timedelta(seconds=1), created_at=at(2026, 5))
    await graph.writer.apply(a_write(first, beside, second, known_late, long, alone, note), {})
    await graph.writer.apply(a_write(elsewhere), {})
    followers = graph.part(NEIGHBOURS).followers
    asked = [one.uuid for one in (first, beside, second, long, alone, note, elsewhere)] + ["unknown"]
    early = EpisodeFilter(group_ids=(GROUP,), recorded_until=at(2026, 5, 3))
    whenever = EpisodeFilter(group_ids=(GROUP,))
    assert await followers(asked, early, 10, half_an_hour, 1) == {
        first.uuid: [beside.uuid],
        beside.uuid: [second.uuid],
        second.uuid: [],
        alone.uuid: [],
    }
    assert await followers(asked, whenever, 20, half_an_hour, 1) == {
        first.uuid: [beside.uuid],
        beside.uuid: [known_late.uuid],
        second.uuid: [long.uuid],
        long.uuid: [],
        alone.uuid: [],
    }
    three = {first.uuid: [beside.uuid, known_late.uuid, second.uuid]}
    an_hour = timedelta(hours=1)
    assert await followers([first.uuid], whenever, 10, half_an_hour, 5) == three
    assert await followers([first.uuid], whenever, 10, an_hour, 5) == three
    assert len((await followers([first.uuid], whenever, 20, an_hour, 5))[first.uuid]) == 4
    assert (await followers(asked, early, 20, timedelta(minutes=29), 1))[beside.uuid] == []
    assert await followers(asked, whenever, 20, half_an_hour, 0) == {
        one.uuid: [] for one in (first, beside, second, long, alone)
    }
    assert await followers(asked, EpisodeFilter(group_ids=("t2",)), 20, half_an_hour, 1) == {elsewhere.uuid: []}
    assert await followers([], whenever, 20, half_an_hour, 1) == {}


async def test_mentions_among_episodes_count_each_entity_once(graph: Graph) -> None:
    sarah, bob, other = (an_entity(name) for name in ("Sarah", "Bob", "Other"))
    both, one, none = (an_episode(text) for text in ("both", "one", "none"))
    mentions = [a_mention(both, sarah), a_mention(both, bob), a_mention(one, bob), a_mention(none, other)]
    await graph.writer.apply(a_write(sarah, bob, other, both, one, none, *mentions), {})
    asked = [both.uuid, one.uuid, none.uuid, "unknown"]
    assert await graph.part(NEIGHBOURS).mentions_among(asked, [sarah.uuid, bob.uuid, bob.uuid]) == {
        both.uuid: 2,
        one.uuid: 1,
    }
    assert await graph.part(NEIGHBOURS).mentions_among(asked, []) == {}
    assert await graph.part(NEIGHBOURS).mentions_among([], [bob.uuid]) == {}


async def test_own_mentions_are_those_that_no_back_link_made(graph: Graph) -> None:
    sarah, bob, alone = (an_entity(name) for name in ("Sarah", "Bob", "Alone"))
    told, again, earlier = (an_episode(text) for text in ("told", "again", "earlier"))
    linked = RECORDED + timedelta(microseconds=1)
    mentions = [
        a_mention(told, sarah),
        a_mention(again, sarah, created_at=linked),  # Graphiti adds them later to an episode that is there
        back_link(sarah.uuid, earlier.uuid, linked),
        back_link(bob.uuid, earlier.uuid, linked),
        back_link(bob.uuid, told.uuid, RECORDED),  # what a model found in it
    ]
    await graph.writer.apply(a_write(sarah, bob, alone, told, again, earlier, *mentions), {})
    found = await graph.episodes.own_mentions([sarah.uuid, bob.uuid, alone.uuid, "unknown"], 5)
    assert {uuid: set(episodes) for uuid, episodes in found.items()} == {
        sarah.uuid: {told.uuid, again.uuid},
        bob.uuid: {told.uuid},
    }
    assert len((await graph.episodes.own_mentions([sarah.uuid], 1))[sarah.uuid]) == 1
    assert await graph.episodes.own_mentions([], 5) == {}


async def test_without_sagas_there_are_no_steps(graph: Graph) -> None:
    episode = an_episode()
    await graph.writer.apply(a_write(episode), {})
    assert await graph.part(NEIGHBOURS).saga_steps([episode.uuid], [GROUP]) == {}
    assert await graph.part(NEIGHBOURS).saga_steps([], [GROUP]) == {}
