"""Contracts of sagas and communities: what is written of them, what is read, what goes."""

from array import array
from datetime import timedelta

from tests.builders import (
    GROUP,
    OTHER_GROUP,
    RECORDED,
    a_community,
    a_fact,
    a_link,
    a_saga,
    a_step,
    a_write,
    an_entity,
    an_episode,
    an_intent,
    at,
)

from graphiti_pkm.capabilities.sagas.assembly import COMMUNITIES
from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.core.model.places import Steps
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Deletions, Episode, Forgetting
from graphiti_pkm.core.model.saga_records import SagaMembers
from graphiti_pkm.core.ports.graph import Graph


def told(content: str, minute: int, **fields: object) -> Episode:
    return an_episode(content, created_at=RECORDED + timedelta(minutes=minute), **fields)


async def test_a_saga_is_read_as_it_was_written_and_written_as_a_whole(graph: Graph) -> None:
    saga = a_saga(
        summary="They went.",
        first_episode_uuid="one",
        last_episode_uuid="two",
        last_summarized_at=RECORDED,
        last_summarized_episode_valid_at=at(2024, 5),
    )
    foreign = a_saga(group_id=OTHER_GROUP)
    await graph.writer.apply(a_write(saga), {})
    await graph.writer.apply(a_write(foreign), {})
    assert await graph.sagas.find_sagas(GROUP, [saga.uuid], "") == [saga]
    assert await graph.sagas.find_sagas(GROUP, [], "Trip") == [saga]
    assert await graph.sagas.find_sagas(GROUP, [foreign.uuid], "trip") == []
    changed = saga.model_copy(update={"summary": "", "last_summarized_at": None, "last_episode_uuid": "three"})
    await graph.writer.apply(a_write(changed), {})
    assert await graph.sagas.find_sagas(GROUP, [saga.uuid], "Trip") == [changed]


async def test_of_several_sagas_with_a_name_the_oldest_comes_first(graph: Graph) -> None:
    late, early = a_saga(created_at=at(2025, 6)), a_saga(created_at=at(2025, 5))
    await graph.writer.apply(a_write(late, early), {})
    assert await graph.sagas.find_sagas(GROUP, [late.uuid], "Trip") == [early, late]


async def test_the_sagas_of_a_group_are_listed_by_name(graph: Graph) -> None:
    named = map(a_saga, ("Trip", "Trip", "Games", "art"))
    sagas = sorted(named, key=lambda one: (one.name, one.uuid))
    await graph.writer.apply(a_write(*reversed(sagas)), {})
    await graph.writer.apply(a_write(a_saga("Other", group_id=OTHER_GROUP)), {})
    assert await graph.sagas.listed(GROUP, Window(limit=9)) == sagas
    after = (sagas[1].name, sagas[1].uuid)
    assert await graph.sagas.listed(GROUP, Window(limit=1, after=after)) == sagas[2:3]
    assert await graph.sagas.listed("nobody's", Window(limit=9)) == []


async def test_an_episode_is_held_and_followed_once_however_often_it_is_told(graph: Graph) -> None:
    saga, first, second = a_saga(), told("first", 0), told("second", 1)
    await graph.writer.apply(
        a_write(saga, first, second, a_step(saga, first), a_step(saga, second), a_link(first, second)), {}
    )
    await graph.writer.apply(a_write(a_step(saga, second), a_link(first, second)), {})
    assert await graph.sagas.episodes_of_saga(saga.uuid, None, 9) == [first, second]
    assert await graph.sagas.links_around([first.uuid]) == [(first.uuid, second.uuid)]
    assert await graph.part(NEIGHBOURS).saga_steps([first.uuid, second.uuid], [GROUP]) == {
        first.uuid: Steps(next=second.uuid),
        second.uuid: Steps(previous=first.uuid),
    }


async def test_what_is_not_there_is_not_joined(graph: Graph) -> None:
    saga, first, gone = a_saga(), told("first", 0), told("gone", 1)
    await graph.writer.apply(a_write(first, a_step(saga, first), a_link(first, gone), a_link(gone, first)), {})
    assert await graph.sagas.sagas_of_episodes([first.uuid], [GROUP], []) == []
    assert await graph.sagas.links_around([first.uuid, gone.uuid]) == []
    assert await graph.sagas.latest_of_saga(saga.uuid) is None


async def test_the_latest_of_a_saga_is_that_in_time_then_the_last_recorded(graph: Graph) -> None:
    saga = a_saga()
    old = told("old, told late", 9, valid_at=at(2020))
    first, second = (told(text, minute, valid_at=at(2025, 3)) for text, minute in (("first", 1), ("second", 2)))
    foreign = told("foreign", 3, valid_at=at(2026), group_id=OTHER_GROUP)
    held = (second, first, old, foreign)
    await graph.writer.apply(a_write(saga, *held, *(a_step(saga, one) for one in held)), {})
    assert await graph.sagas.latest_of_saga(saga.uuid) == second.uuid
    assert await graph.sagas.episodes_of_saga(saga.uuid, None, 9) == [first, second, old]
    assert await graph.sagas.episodes_of_saga(saga.uuid, first.created_at, 1) == [second]


async def test_sagas_that_hold_an_episode_tell_what_else_they_hold(graph: Graph) -> None:
    trip, alone, foreign = a_saga(), a_saga("Alone"), a_saga("Foreign", group_id=OTHER_GROUP)
    one, two, three = (told(text, minute) for minute, text in enumerate(("one", "two", "three")))
    steps = [a_step(trip, each) for each in (three, one, two)]
    await graph.writer.apply(a_write(trip, alone, foreign, one, two, three, *steps, a_step(alone, one)), {})
    await graph.writer.apply(a_write(a_step(foreign, one)), {})
    found = await graph.sagas.sagas_of_episodes([one.uuid], [GROUP], [one.uuid])
    assert {held.saga.uuid: held for held in found} == {
        trip.uuid: SagaMembers(saga=trip, first_remaining=two.uuid, last_remaining=three.uuid),
        alone.uuid: SagaMembers(saga=alone),
    }
    whole = SagaMembers(saga=trip, first_remaining=one.uuid, last_remaining=three.uuid)
    assert await graph.sagas.sagas_of_episodes([two.uuid, three.uuid], [GROUP], []) == [whole]
    assert await graph.sagas.sagas_of_episodes([], [GROUP], []) == []


async def test_the_first_and_last_of_a_saga_are_so_in_time_then_by_when_they_were_recorded(graph: Graph) -> None:
    """As of episodes that came in one write, or were told long afterwards."""
    saga = a_saga()
    old, gone = told("old, told late", 9, valid_at=at(2020)), told("gone", 0, valid_at=at(2019))
    first, second = (told(text, minute, valid_at=at(2025, 3)) for text, minute in (("first", 1), ("second", 2)))
    alike = [told(f"at once {month}", 5, valid_at=at(2024, month)) for month in (3, 1, 2)]
    held = (second, first, *alike, old, gone)
    await graph.writer.apply(a_write(saga, *held, *(a_step(saga, one) for one in held)), {})
    (found,) = await graph.sagas.sagas_of_episodes([gone.uuid], [GROUP], [gone.uuid])
    assert (found.first_remaining, found.last_remaining) == (old.uuid, second.uuid)
    without = [gone.uuid, old.uuid, first.uuid, second.uuid]
    (found,) = await graph.sagas.sagas_of_episodes([gone.uuid], [GROUP], without)
    assert (found.first_remaining, found.last_remaining) == (alike[1].uuid, alike[0].uuid)


async def test_deleted_episodes_leave_their_saga_and_a_deleted_saga_leaves_its_episodes(graph: Graph) -> None:
    saga, other = a_saga(), a_saga("Other")
    one, two, three = (told(text, minute) for minute, text in enumerate(("one", "two", "three")))
    links = (a_link(one, two), a_link(two, three))
    steps = [a_step(saga, each) for each in (one, two, three)]
    await graph.writer.apply(a_write(saga, other, one, two, three, *steps, *links, a_step(other, two)), {})
    deletions = Deletions(episodes=(two.uuid,), sagas=(other.uuid,))
    await graph.writer.apply(a_write(a_link(one, three), deletions=deletions), {})
    assert await graph.sagas.episodes_of_saga(saga.uuid, None, 9) == [one, three]
    assert await graph.sagas.links_around([one.uuid]) == [(one.uuid, three.uuid)]
    assert await graph.sagas.find_sagas(GROUP, [other.uuid], "Other") == []
    assert await graph.records.get_episodes([one.uuid, three.uuid], [GROUP]) == [one, three]


async def test_communities_are_replaced_as_a_whole_and_in_their_group_only(graph: Graph) -> None:
    sarah, tom, bob = (an_entity(name) for name in ("Sarah", "Tom", "Bob"))
    foreign = an_entity("Foreign", group_id=OTHER_GROUP)
    await graph.writer.apply(a_write(sarah, tom, bob), {})
    await graph.writer.apply(a_write(foreign), {})
    former, theirs = a_community(sarah, bob, name="Former"), a_community(foreign)
    await graph.writer.apply(a_write(former), {former.uuid: array("f", [1.0, 0.0])})
    await graph.writer.apply(a_write(theirs), {})
    pair, three = a_community(sarah, tom), a_community(sarah, tom, bob, name="All")
    await graph.writer.apply(a_write(pair, three), {pair.uuid: array("f", [0.0, 1.0])})
    assert await graph.part(COMMUNITIES).communities([GROUP], 9) == [three, pair]
    assert await graph.part(COMMUNITIES).communities([GROUP], 1) == [three]
    assert await graph.part(COMMUNITIES).communities([GROUP, OTHER_GROUP], 9) == [three, pair, theirs]
    await graph.writer.apply(an_intent(), {})
    assert len(await graph.part(COMMUNITIES).communities([GROUP], 9)) == 2
    await graph.writer.apply(an_intent(communities=()), {})
    assert await graph.part(COMMUNITIES).communities([GROUP, OTHER_GROUP], 9) == [theirs]


async def test_a_community_goes_with_what_is_forgotten_of_a_member_and_keeps_the_members_that_stay(
    graph: Graph,
) -> None:
    sarah, tom, bob = (an_entity(name) for name in ("Sarah", "Tom", "Bob"))
    forgotten, left = a_community(sarah, tom), a_community(tom, bob)
    await graph.writer.apply(a_write(sarah, tom, bob, forgotten, left), {})
    await graph.writer.apply(an_intent(forgets=Forgetting(members=(sarah.uuid,))), {})
    assert await graph.part(COMMUNITIES).communities([GROUP], 9) == [left]
    await graph.writer.apply(an_intent(deletions=Deletions(entities=(tom.uuid,))), {})
    assert await graph.part(COMMUNITIES).communities([GROUP], 9) == [left.model_copy(update={"members": (bob.uuid,)})]


async def test_a_cleared_group_has_neither_and_the_others_keep_theirs(graph: Graph) -> None:
    for group in (GROUP, OTHER_GROUP):
        entity, episode = an_entity(group_id=group), told("said", 0, group_id=group)
        saga = a_saga(group_id=group)
        await graph.writer.apply(a_write(entity, episode, saga, a_step(saga, episode), a_community(entity)), {})
    await graph.writer.apply(an_intent(deletions=Deletions(groups=(GROUP,))), {})
    assert await graph.sagas.find_sagas(GROUP, [], "Trip") == []
    assert len(await graph.sagas.find_sagas(OTHER_GROUP, [], "Trip")) == 1
    assert [one.group_id for one in await graph.part(COMMUNITIES).communities([GROUP, OTHER_GROUP], 9)] == [OTHER_GROUP]


async def test_entities_are_joined_by_their_facts_whichever_way_these_point(graph: Graph) -> None:
    one, two, three = sorted((an_entity(name) for name in ("a", "b", "c")), key=lambda entity: entity.uuid)
    facts = [a_fact(one, two), a_fact(two, one, invalid_at=at(2024)), a_fact(three, two), a_fact(one, one)]
    voided = a_fact(one, three, voided=True)
    await graph.writer.apply(a_write(one, two, three, *facts, voided), {})
    theirs = an_entity(group_id=OTHER_GROUP), an_entity(group_id=OTHER_GROUP)
    await graph.writer.apply(a_write(*theirs, a_fact(*theirs)), {})
    assert await graph.part(COMMUNITIES).joined_entities(GROUP, 9) == [
        (one.uuid, two.uuid, 2),
        (two.uuid, three.uuid, 1),
    ]
    assert await graph.part(COMMUNITIES).joined_entities(GROUP, 1) == [(one.uuid, two.uuid, 2)]
