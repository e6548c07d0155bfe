"""A rebuild that stops anywhere, as the services see it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.builders import GROUP
from tests.fakes.journal import FakeJournal
from tests.worlds.recovery_world import World, some_writes

from graphiti_pkm.core.ports.ports import JournalRow
from graphiti_pkm.errors import DamagedStore, InvalidInput, Unavailable, WriteFailed


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def stopped(world: World, after: int) -> list[str]:
    """Five writes, and a rebuild that stopped after some of them, with its process gone; the writes' episodes."""
    writes = some_writes(5)
    await world.write(*writes)
    world.graph.attempts.clear()
    await world.journal.begin_rebuild("rebuild")
    await world.graph.clear()
    await world.journal.rebuild_cleared()
    for write in writes[:after]:
        await world.graph.writer.apply(write, {})
    world.graph.attempts.clear()
    return [write.episodes[0].uuid for write in writes]


async def test_the_next_turn_of_a_running_server_goes_on_where_it_stopped(world: World) -> None:
    episodes = await stopped(world, 2)
    await world.recovery._turn(tries_waiting=False)
    assert set(world.graph.tables.episodes) == set(episodes)
    assert len(world.graph.attempts) == 3
    assert await world.journal.rebuild_in_progress() is None


async def test_the_next_start_goes_on_too(world: World) -> None:
    episodes = await stopped(world, 4)
    assert await world.recovery.replay() == 1
    assert set(world.graph.tables.episodes) == set(episodes)


async def test_one_that_died_before_the_graph_was_cleared_clears_it(world: World) -> None:
    await world.write(*some_writes(5))
    await world.journal.begin_rebuild("rebuild")
    assert await world.recovery.replay() == 5


async def test_what_has_a_gap_is_cleared_again(world: World) -> None:
    """The database may stop with the process, and come back without the end of what it had."""
    episodes = await stopped(world, 0)
    later = [row.intent for row in await world.journal.rows(0, 10)][3]
    await world.graph.writer.apply(later, {})
    world.graph.attempts.clear()
    assert await world.recovery.replay() == 5
    assert set(world.graph.tables.episodes) == set(episodes)


async def test_nothing_is_written_meanwhile_and_nothing_that_waits_is_applied_out_of_turn(world: World) -> None:
    await stopped(world, 2)
    with pytest.raises(WriteFailed, match="rebuild"):
        await world.committer.commit(some_writes(1)[0], {})
    world.journal.rebuild, mark = None, world.journal.rebuild
    waiting = some_writes(1)[0]
    await world.journal.append(waiting, {}, "", {})
    world.journal.rebuild = mark
    with pytest.raises(WriteFailed, match="rebuild"):
        await world.committer.catch_up(GROUP)
    assert world.graph.attempts == []
    assert await world.recovery.replay() == 4


async def test_a_start_beside_a_rebuild_at_work_does_not_wait_for_it(world: World) -> None:
    await stopped(world, 2)
    async with world.locks.hold_all():
        assert await world.recovery.replay() == 0
        await world.recovery._turn(tries_waiting=False)
    assert world.graph.attempts == []


async def test_a_call_waits_for_the_end_and_is_refused_when_that_takes_too_long(world: World) -> None:
    await world.recovery.wait_until_rebuilt()
    await stopped(world, 2)
    world.recovery.patience_seconds = -1
    with pytest.raises(Unavailable, match="is not finished"):
        await world.recovery.wait_until_rebuilt()
    await world.recovery._turn(tries_waiting=False)
    await world.recovery.wait_until_rebuilt()


async def test_what_keeps_it_from_its_end_is_said(world: World) -> None:
    await stopped(world, 2)
    world.graph.is_down = True
    await world.recovery._turn(tries_waiting=False)
    with pytest.raises(Unavailable, match=r"is not finished.* database"):
        await world.recovery.wait_until_rebuilt()


async def test_a_write_that_is_refused_again_and_again_does_not_keep_the_rest(world: World) -> None:
    episodes = await stopped(world, 2)
    refused = [row.intent for row in await world.journal.rows(0, 10)][3]
    world.graph.refused.add(refused.uuid)
    for _ in range(3):
        await world.recovery._turn(tries_waiting=False)
    assert await world.journal.rebuild_in_progress() is None
    assert set(world.graph.tables.episodes) == set(episodes) - {refused.episodes[0].uuid}
    assert (await world.journal.counts())["failed"] == 1


class UnreadableJournal(FakeJournal):
    """A journal with a broken row."""

    is_broken = False

    async def rows(self, after_seq: int, limit: int) -> Sequence[JournalRow]:
        if self.is_broken:
            raise DamagedStore("A row cannot be read.")
        return await super().rows(after_seq, limit)


async def test_a_row_that_cannot_be_read_leaves_the_graph_as_it_is(tmp_path: Path) -> None:
    journal = UnreadableJournal()
    world = World(tmp_path, journal=journal)
    await world.write(*some_writes(3))
    journal.is_broken = True
    with pytest.raises(DamagedStore):
        await world.recovery.rebuilding.rebuild(world.show)
    assert len(world.graph.tables.episodes) == 3
    assert await journal.rebuild_in_progress() is None


async def test_a_backup_that_the_graph_refuses_is_taken_back_and_the_former_memory_stands(
    world: World, tmp_path: Path
) -> None:
    other, backed_up = World(tmp_path), some_writes(3)
    await other.write(*backed_up)
    await other.journal.backup(tmp_path / "backup")
    await world.write(*some_writes(2))
    whole = {*world.graph.tables.episodes}
    world.graph.refused.add(backed_up[1].uuid)
    with pytest.raises(InvalidInput, match="put back"):
        await world.recovery.rebuilding.restore_backup(tmp_path / "backup", world.show, replace=True)
    assert {*world.graph.tables.episodes} == whole
    assert await world.journal.rebuild_in_progress() is None


async def test_a_start_makes_a_graph_anew_that_lacks_a_part_before_what_it_has(world: World) -> None:
    """More than the newest writes are looked at: 300 later ones hide nothing."""
    writes = some_writes(301)
    await world.write(*writes)
    await world.lose(writes[:1])
    assert await world.recovery.replay() == 301
    assert len(world.graph.tables.episodes) == 301


async def test_all_rows_are_compared_in_both_directions(world: World) -> None:
    writes = some_writes(300)
    await world.write(*writes)
    assert (await world.recovery.compare()).describe() == ""
    foreign = some_writes(2)
    for write in foreign:
        await world.graph.writer.apply(write, {})
    del world.graph.tables.episodes[writes[5].episodes[0].uuid]
    found = await world.recovery.compare()
    assert (found.unknown_writes, found.unknown_episodes, found.lost_episodes) == (2, 2, 1)
    assert "not in the journal" in found.describe()
    assert "2 write(s)" in await world.recovery.comparing.counts_differ()
