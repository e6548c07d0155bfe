"""Writes that come right after a restart, before the replay is through."""

from pathlib import Path

import pytest
from tests.builders import GROUP
from tests.worlds.recovery_world import World, some_writes

from graphiti_pkm.errors import WriteFailed
from graphiti_pkm.storage.recovery import MOST_BEFORE_A_WRITE


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_after_a_restart_a_write_finds_what_the_database_lost(world: World) -> None:
    """Else it would make anew what it does not find, and the replay would bring that back beside it."""
    writes = some_writes(3)
    await world.write(*writes)
    await world.lose(writes[1:])
    world.recovery.after_restart()
    assert await world.committer.catch_up(GROUP) == 0
    assert world.graph.attempts == [write.uuid for write in writes[1:]]
    await world.committer.catch_up(GROUP)
    assert len(world.graph.attempts) == 2, "once is enough"


async def test_a_write_is_put_off_while_much_of_its_group_is_brought_back(world: World) -> None:
    writes = some_writes(MOST_BEFORE_A_WRITE + 1)
    await world.write(*writes)
    await world.lose(writes)
    world.recovery.after_restart()
    with pytest.raises(WriteFailed, match="lost"):
        await world.committer.catch_up(GROUP)
    assert world.graph.attempts == []
    assert await world.recovery.replay() == len(writes)
    await world.committer.catch_up(GROUP)


async def test_what_a_restart_during_a_replay_lost_is_found_too(world: World) -> None:
    writes = some_writes(2)
    await world.write(*writes)
    world.recovery.after_restart()
    await world.recovery.replay()
    await world.lose(writes)
    world.recovery.after_restart()
    await world.committer.catch_up(GROUP)
    assert world.graph.attempts == [write.uuid for write in writes]
