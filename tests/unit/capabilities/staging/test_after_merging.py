"""Snapshots and rollbacks around merges of entities: what was merged is merged again, or two things again."""

from datetime import datetime
from pathlib import Path

import pytest
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.curation.requests import UnmergeEntities
from graphiti_pkm.core.model.access import LOCAL

STORE = "A store of rows with transactions and an optimizer."
KEPT, REMOVED = "Postgres DB", "The Postgres DB"


@pytest.fixture
async def world(tmp_path: Path) -> StagingWorld:
    """Two entities that are one thing, with facts of their own and to each other."""
    world = StagingWorld(tmp_path)
    for name in (KEPT, REMOVED):
        world.clock.advance(seconds=1)
        await world.tell(f"{name} came.", entities=[{"name": name, "type": "Tool", "summary": STORE}])
    for source, relation, target in ((KEPT, "RUNS_IN", "Rome"), (REMOVED, "USED_BY", "Tom"), (REMOVED, "CALLED", KEPT)):
        world.clock.advance(seconds=1)
        body = f"{source} {relation.lower().replace('_', ' ')} {target}."
        fact = {"source": source, "relation": relation, "target": target, "fact": body}
        await world.tell(body, fact, entities=[{"name": source}, {"name": target}])
    return world


def now(world: StagingWorld) -> datetime:
    world.clock.advance(seconds=1)
    return world.clock.instant


async def test_a_merge_is_undone_by_a_rollback(world: StagingWorld) -> None:
    before, since = world.state(), now(world)
    await world.merge(KEPT, REMOVED)
    assert sorted(one.name for one in world.graph.tables.entities.values()) == [KEPT, "Rome", "Tom"]
    done = await world.rollback(since)
    assert (done.brought_back.entities, done.brought_back.facts) == (1, 1)
    assert world.state() == before


async def test_a_merged_group_comes_back_merged_and_can_still_be_parted(world: StagingWorld) -> None:
    removed = world.entity(REMOVED).uuid
    await world.merge(KEPT, REMOVED)
    merged = world.state()
    await world.take("merged")
    await world.note("Tom likes tea.", "Tom", "LIKES", "tea")
    await world.restore("merged")
    assert world.state() == merged
    world.clock.advance(seconds=1)
    await world.unmerging.unmerge_entities(LOCAL, UnmergeEntities(remove_uuid=removed, reason="Two things."))
    parted = world.state()
    assert world.entity(REMOVED).uuid == removed
    await world.take("parted")
    await world.restore("merged")
    assert world.state() == merged
    await world.restore("parted")
    assert world.state() == parted


async def test_a_merged_group_is_copied_whole(world: StagingWorld) -> None:
    await world.merge(KEPT, REMOVED)
    taken = await world.take("merged")
    done = await world.restore(str(world.directory / "default" / "merged.snapshot"), "default_staging")
    assert done.after == taken.size
    assert world.said("default_staging") == world.said()
