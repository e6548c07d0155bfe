"""Contracts of a write that forgets over sagas and communities: the earlier rows of the journal lose the same."""

from array import array

from tests.builders import (
    GROUP,
    OTHER_GROUP,
    a_community,
    a_link,
    a_saga,
    a_step,
    a_write,
    an_entity,
    an_episode,
    an_intent,
)

from graphiti_pkm.core.model.records import Deletions, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.ports.ports import Journal

HIDDEN = "pregnant"
ONE = array("f", [1.0, 0.0])


def a_forgetting(kind: WriteKind = WriteKind.FORGET, **fields: object) -> WriteIntent:
    return an_intent(kind=kind, **{"forgets": Forgetting(), **fields})


async def the_rows(journal: Journal, *writes: WriteIntent) -> list[WriteIntent]:
    rows = {row.intent.uuid: row.intent for row in await journal.rows(0, 50)}
    return [rows[write.uuid] for write in writes]


async def test_a_saga_that_stays_has_only_the_words_of_the_write_that_forgets(journal: Journal) -> None:
    saga = a_saga(f"She is {HIDDEN}", summary=f"Maria is {HIDDEN}")
    other = a_saga("Other", summary="Tom runs.")
    first = a_write(saga, other, an_episode())
    await journal.append(first, {}, "", {})
    left = saga.model_copy(update={"name": "[forgotten]", "summary": ""})
    await journal.append(a_forgetting(sagas=(left,)), {}, "", {})
    (row,) = await the_rows(journal, first)
    assert row.sagas == (left, other)
    assert row.episodes == first.episodes


async def test_a_saga_that_goes_and_an_episode_that_goes_leave_no_step_and_no_link(journal: Journal) -> None:
    gone, stays = a_saga(f"She is {HIDDEN}"), a_saga("Stays")
    one, two, three = (an_episode(text) for text in ("one", "two", "three"))
    kept = (a_step(stays, one), a_step(stays, three))
    links = (a_link(one, two), a_link(two, three), a_link(one, three))
    first = a_write(gone, stays, one, two, three, *kept, a_step(gone, one), a_step(stays, two), *links)
    await journal.append(first, {}, "", {})
    deletions = Deletions(episodes=(two.uuid,), sagas=(gone.uuid,))
    await journal.append(a_forgetting(WriteKind.DELETE_EPISODE, deletions=deletions), {}, "", {})
    (row,) = await the_rows(journal, first)
    assert (row.sagas, row.saga_steps, row.episode_links) == ((stays,), kept, (links[2],))
    assert HIDDEN not in row.model_dump_json()


async def test_every_community_that_had_a_member_loses_its_words_also_one_of_long_ago(journal: Journal) -> None:
    maria, tom, bob = (an_entity(name) for name in ("Maria", "Tom", "Bob"))
    old = a_community(maria, tom, summary=f"Maria is {HIDDEN}")
    new, other = a_community(maria, bob, summary=f"Maria is {HIDDEN}"), a_community(tom, bob)
    builds = [a_write(old), a_write(new, other), an_intent(communities=())]
    for build in builds:
        vectors = {one.uuid: ONE for one in build.communities or ()}
        await journal.append(build, vectors, "", {})
    await journal.append(a_forgetting(forgets=Forgetting(members=(maria.uuid,))), {}, "", {})
    rows = await the_rows(journal, *builds)
    assert [row.communities for row in rows] == [(), (other,), ()]
    found = await journal.rows(0, 50)
    assert [list(row.vectors) for row in found] == [[], [other.uuid], [], []]


async def test_a_removed_entity_takes_its_communities_and_other_groups_keep_theirs(journal: Journal) -> None:
    maria, theirs = an_entity("Maria"), an_entity("Theirs", group_id=OTHER_GROUP)
    mine, foreign = a_write(a_community(maria)), a_write(a_community(theirs))
    untouched = a_write(an_entity("Tom"))
    for write in (mine, foreign, untouched):
        await journal.append(write, {}, "", {})
    await journal.append(a_forgetting(deletions=Deletions(entities=(maria.uuid,))), {}, "", {})
    rows = await the_rows(journal, mine, foreign, untouched)
    assert [row.communities for row in rows] == [(), foreign.communities, None]
    assert rows[0].group_id == GROUP
