"""Journal and graph brought together again after every way of losing one of them."""

import asyncio
from copy import copy
from pathlib import Path

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_mention, a_write, an_entity, an_episode, an_update
from tests.fakes.graph import FakeGraph
from tests.fakes.journal import FakeJournal
from tests.worlds.recovery_world import World, some_writes

from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.errors import DamagedStore, InvalidInput, Unavailable, WriteFailed


class DamagedJournal(FakeJournal):
    """A journal whose file is broken until a backup is restored over it."""

    is_damaged = True

    async def backup(self, path: Path) -> None:
        if self.is_damaged:
            raise DamagedStore("The journal is damaged.")
        await super().backup(path)

    async def restore(self, path: Path, *, drops_unknown: bool = False, former: str = "") -> int:
        self.is_damaged = False
        return await super().restore(path, drops_unknown=drops_unknown, former=former)


class FullDiskJournal(FakeJournal):
    """A journal that takes no backup in."""

    async def restore(self, path: Path, *, drops_unknown: bool = False, former: str = "") -> int:  # noqa: ARG002
        raise Unavailable(f"The disk is full; {path.name} was not restored.")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def content(graph: FakeGraph) -> dict[str, object]:
    """Everything but the counters that only tell how often something changed."""
    return {name: copy(table) for name, table in vars(graph.tables).items() if "version" not in name}


def a_story() -> list[WriteIntent]:
    """Writes that depend on each other: a fact that a later write ends."""
    sarah, acme, episode = an_entity("Sarah"), an_entity("Acme"), an_episode()
    fact = a_fact(sarah, acme, "WORKS_AT", episodes=(episode.uuid,))
    later = an_episode("Sarah left Acme.")
    ended = an_update(fact, episodes=(episode.uuid, later.uuid), invalid_at=later.valid_at)
    return [
        a_write(episode, sarah, acme, fact, a_mention(episode, sarah)),
        a_write(later, ended, a_mention(later, sarah)),
        a_write(an_episode("Unrelated.")),
    ]


async def test_a_graph_that_has_everything_is_left_alone(world: World) -> None:
    await world.write(*some_writes(3))
    world.graph.attempts.clear()
    assert await world.recovery.replay() == 0
    assert world.graph.attempts == []
    assert GROUP not in world.locks.history


async def test_start_up_finishes_what_a_killed_process_left(world: World) -> None:
    first, second = some_writes(1), some_writes(1, OTHER_GROUP)
    for write in first + second:
        await world.journal.append(write, {}, "", {})
    assert await world.recovery.replay() == 2
    assert world.graph.attempts == [first[0].uuid, second[0].uuid]
    assert world.locks.history == [GROUP, OTHER_GROUP]


@pytest.mark.parametrize("lost", [1, 2, 3])
async def test_the_end_that_the_database_lost_is_applied_again_in_order(world: World, lost: int) -> None:
    writes = a_story()
    await world.write(*writes)
    whole = content(world.graph)
    await world.lose(writes[-lost:])

    assert await world.recovery.replay() == lost
    assert content(world.graph) == whole
    assert world.graph.attempts == [write.uuid for write in writes[-lost:]]


async def test_what_was_lost_comes_before_what_was_never_finished(world: World) -> None:
    writes = a_story()
    await world.write(*writes[:1])
    await world.lose(writes[:1])
    await world.journal.append(writes[1], {}, "", {})
    assert await world.recovery.replay() == 2
    assert world.graph.attempts == [write.uuid for write in writes[:2]]


async def test_the_walk_back_goes_as_far_as_writes_are_missing(world: World) -> None:
    writes = some_writes(1000)
    await world.write(*writes)
    await world.lose(writes[300:])
    assert await world.recovery.replay() == 700
    assert world.graph.attempts == [write.uuid for write in writes[300:]]


async def test_a_deleted_graph_comes_back_whole(world: World) -> None:
    writes = [*a_story(), *some_writes(450), *some_writes(5, OTHER_GROUP)]
    await world.write(*writes)
    whole = content(world.graph)
    await world.graph.clear()
    assert await world.recovery.replay() == len(writes)
    assert {**content(world.graph), "writes": None} == {**whole, "writes": None}


async def test_two_processes_that_start_together_replay_once(world: World, tmp_path: Path) -> None:
    writes = a_story()
    await world.write(*writes)
    await world.lose(writes)
    other = World(tmp_path, world.graph, world.journal)
    other.recovery._locks = world.locks
    counts = await asyncio.gather(world.recovery.replay(), other.recovery.replay())
    assert sorted(counts) == [0, 3]


async def test_a_refused_write_holds_up_no_other_group(world: World) -> None:
    poison, good = some_writes(1), some_writes(1, OTHER_GROUP)
    world.graph.refused.add(poison[0].uuid)
    for write in poison + good:
        await world.journal.append(write, {}, "", {})
    assert await world.recovery.replay() == 1
    assert good[0].episodes[0].uuid in world.graph.tables.episodes


async def test_a_graph_that_cannot_be_reached_is_said_and_nothing_is_lost(world: World) -> None:
    await world.journal.append(some_writes(1)[0], {}, "", {})
    world.graph.is_down = True
    with pytest.raises(Unavailable):
        await world.recovery.replay()
    world.graph.is_down = False
    assert await world.recovery.replay() == 1


async def stopped_loop(world: World) -> None:
    """One turn of the loop: the one it makes at the end."""
    stop = asyncio.Event()
    stop.set()
    await world.recovery.mark_durable_periodically(stop)


async def test_written_becomes_applied_once_it_is_on_disk_also_at_the_end(world: World) -> None:
    await world.write(*some_writes(2), durable=False)
    world.graph.is_durable = False
    await stopped_loop(world)
    assert (await world.journal.counts())["written"] == 2
    world.graph.is_durable = True
    await stopped_loop(world)
    assert (await world.journal.counts())["applied"] == 2


async def test_a_write_the_database_lost_is_replayed_and_not_taken_for_applied(world: World) -> None:
    writes = some_writes(3)
    await world.write(*writes, durable=False)
    await world.lose(writes[2:])
    await stopped_loop(world)
    assert world.graph.attempts == [writes[2].uuid]
    assert (await world.journal.counts())["written"] == 1
    await stopped_loop(world)
    assert (await world.journal.counts())["applied"] == 3


async def test_a_restart_of_the_database_is_followed_by_a_replay_at_once(world: World) -> None:
    writes = some_writes(3)
    await world.write(*writes)
    await world.lose(writes[1:])
    world.recovery.after_restart()
    await stopped_loop(world)
    assert world.graph.attempts == [write.uuid for write in writes[1:]]


async def test_the_loop_outlives_a_database_that_is_away(world: World) -> None:
    await world.write(*some_writes(1), durable=False)
    world.graph.is_down = True
    await stopped_loop(world)
    world.graph.is_down = False
    await stopped_loop(world)
    assert (await world.journal.counts())["applied"] == 1


async def test_a_write_that_waits_for_the_database_is_tried_again_by_the_loop(world: World) -> None:
    await world.journal.append(some_writes(1)[0], {}, "", {})
    world.committer.waiting.add(GROUP)
    await world.recovery._turn(tries_waiting=True)
    assert (await world.journal.counts())["intent"] == 0
    assert world.committer.waiting == set()


async def test_the_loop_ends_when_told(world: World) -> None:
    stop = asyncio.Event()
    loop = asyncio.create_task(world.recovery.mark_durable_periodically(stop))
    stop.set()
    await loop


async def test_a_rebuild_gives_the_same_graph_by_content_and_uuid(world: World) -> None:
    writes = [*a_story(), *some_writes(2, OTHER_GROUP)]
    await world.graph.embeddings.record_embedding("m", 384)
    await world.write(*writes[:-1])
    await world.journal.append(writes[-1], {}, "", {})
    await world.committer.catch_up(OTHER_GROUP)
    whole = content(world.graph)

    assert await world.recovery.rebuilding.rebuild(world.show) == len(writes)

    assert content(world.graph) == whole
    assert world.progress == [(n, len(writes)) for n in range(1, len(writes) + 1)]
    assert world.locks.history[-1] == "*"


async def test_a_rebuild_takes_unfinished_writes_with_it(world: World) -> None:
    [write] = some_writes(1)
    await world.journal.append(write, {}, "", {})
    assert await world.recovery.rebuilding.rebuild(world.show) == 1
    assert (await world.journal.counts())["intent"] == 0


async def test_a_rebuild_that_would_lose_episodes_is_refused_unless_forced(world: World) -> None:
    await world.write(*some_writes(2))
    foreign = some_writes(3)
    for write in foreign:
        await world.graph.writer.apply(write, {})
    with pytest.raises(InvalidInput, match="3 episodes"):
        await world.recovery.rebuilding.rebuild(world.show)
    assert len(world.graph.tables.episodes) == 5
    assert await world.recovery.rebuilding.rebuild(world.show, force=True) == 2
    assert len(world.graph.tables.episodes) == 2


async def test_a_rebuild_that_stops_half_way_is_continued_by_start_up(world: World) -> None:
    writes = some_writes(5)
    await world.write(*writes)
    world.graph.refused.add(writes[2].uuid)
    with pytest.raises(Unavailable, match="after 2 writes"):
        await world.recovery.rebuilding.rebuild(world.show)
    world.graph.refused.clear()
    assert await world.recovery.replay() == 3
    assert len(world.graph.tables.episodes) == 5


async def test_a_restore_brings_the_backups_memory_and_keeps_a_copy_of_the_present(
    world: World, tmp_path: Path
) -> None:
    await world.write(*a_story())
    whole = content(world.graph)
    await world.journal.backup(tmp_path / "backup")
    later = some_writes(2)
    await world.write(*later)

    with pytest.raises(InvalidInput, match="--replace"):
        await world.recovery.rebuilding.restore_backup(tmp_path / "backup", world.show)
    assert len(world.graph.tables.writes) == 5
    assert await world.recovery.rebuilding.restore_backup(tmp_path / "backup", world.show, replace=True) == 3

    assert content(world.graph) == whole
    [kept] = list_copies(tmp_path)
    assert await world.recovery.rebuilding.restore_backup(kept, world.show, replace=True) == 5


async def test_a_restore_into_an_empty_memory_needs_no_permission(world: World, tmp_path: Path) -> None:
    await world.write(*a_story())
    await world.journal.backup(tmp_path / "backup")
    fresh = World(tmp_path)
    assert await fresh.recovery.rebuilding.restore_backup(tmp_path / "backup", fresh.show) == 3
    assert content(fresh.graph) == content(world.graph)


async def test_a_backup_that_cannot_be_read_changes_nothing(world: World, tmp_path: Path) -> None:
    await world.write(*a_story())
    whole = content(world.graph)
    (tmp_path / "backup").write_text("no backup")
    with pytest.raises((DamagedStore, InvalidInput)):
        await world.recovery.rebuilding.restore_backup(tmp_path / "backup", world.show, replace=True)
    assert content(world.graph) == whole
    assert list_copies(tmp_path) == []


async def test_a_restore_that_fails_half_way_leaves_the_old_memory(tmp_path: Path) -> None:
    world = World(tmp_path, journal=FullDiskJournal())
    await world.write(*a_story())
    whole = content(world.graph)
    await world.journal.backup(tmp_path / "backup")
    with pytest.raises(Unavailable, match="disk is full"):
        await world.recovery.rebuilding.restore_backup(tmp_path / "backup", world.show, replace=True)
    assert content(world.graph) == whole


async def test_over_a_damaged_journal_nothing_the_graph_alone_knows_is_lost(tmp_path: Path) -> None:
    world = World(tmp_path, journal=DamagedJournal())
    await world.write(*a_story())
    await FakeJournal.backup(world.journal, tmp_path / "backup")
    newer = some_writes(1)
    await world.write(*newer)
    whole = content(world.graph)

    assert await world.recovery.rebuilding.restore_backup(tmp_path / "backup", world.show, replace=True) == 3

    assert content(world.graph) == whole
    assert newer[0].episodes[0].uuid in world.graph.tables.episodes


async def test_a_refusal_at_replay_is_no_reason_not_to_start(world: World) -> None:
    writes = some_writes(1)
    await world.write(*writes)
    await world.graph.clear()
    world.graph.fail_next_apply(WriteFailed("No."))
    assert await world.recovery.replay() == 0
    assert await world.recovery.replay() == 1


def list_copies(directory: Path) -> list[Path]:
    return list(directory.glob("journal-before-restore-*.sqlite3"))
