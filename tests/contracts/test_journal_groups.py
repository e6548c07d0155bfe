"""Contract of ``Journal``: the writes of one group, and among them those that forget."""

from array import array

from tests.builders import GROUP, OTHER_GROUP, a_write, an_entity, an_episode

from graphiti_pkm.core.model.job_records import EraseJob
from graphiti_pkm.core.model.records import Deletions, Forgetting, WriteKind
from graphiti_pkm.core.ports.ports import Journal


async def test_the_writes_of_a_group_come_in_order_in_pages_with_vectors_if_asked(journal: Journal) -> None:
    vector = array("f", [0.6, 0.8])
    entity = an_entity()
    mine = [a_write(entity), a_write(an_episode()), a_write(an_episode())]
    other = a_write(an_episode(group_id=OTHER_GROUP), group_id=OTHER_GROUP)
    failed = a_write(an_episode())
    for write in (mine[0], other, failed, *mine[1:]):
        await journal.append(write, {entity.uuid: vector} if write is mine[0] else {}, "", {})
    await journal.fail(failed.uuid, "refused")
    first = await journal.group_rows(GROUP, 0, 2)
    assert [row.intent for row in first] == mine[:2]
    assert [row.vectors for row in first] == [{}, {}]
    assert [row.intent for row in await journal.group_rows(GROUP, first[-1].seq, 5)] == mine[2:]
    assert await journal.group_rows("nowhere", 0, 5) == []
    (row,) = await journal.group_rows(GROUP, 0, 1, with_vectors=True)
    assert row.vectors == {entity.uuid: vector}


async def test_the_forgetting_writes_of_a_group_and_the_last_of_a_kind(journal: Journal) -> None:
    clear = a_write(
        kind=WriteKind.CLEAR_GROUP,
        deletions=Deletions(groups=(GROUP,)),
        forgets=Forgetting(),
        jobs=(EraseJob(),),
    )
    first, last = a_write(an_episode()), a_write(an_episode())
    elsewhere = a_write(an_episode(group_id=OTHER_GROUP), group_id=OTHER_GROUP)
    for write in (first, clear, last, elsewhere):
        await journal.append(write, {}, "", {})
    assert await journal.forgetting_writes(GROUP) == [clear]
    assert await journal.forgetting_writes(OTHER_GROUP) == []
    assert await journal.last_write(GROUP, WriteKind.ADD_MEMORY) == last
    assert await journal.last_write(GROUP, WriteKind.RESTORE_SNAPSHOT) is None


async def test_what_a_migration_copies_has_a_receipt_and_is_known(journal: Journal) -> None:
    episode = an_episode()
    await journal.append(a_write(episode, kind=WriteKind.MIGRATE), {}, "", {})
    assert await journal.known_episodes([episode.uuid]) == {episode.uuid}
    assert await journal.episode_count() == 1
