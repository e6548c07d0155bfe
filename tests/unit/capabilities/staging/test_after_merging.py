"""Snapshots and rollbacks around merges of entities: what was merged is merged again, or two things again."""

from datetime import datetime
from pathlib import Path

import pytest
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.curation.requests import MergeEntities, SplitEntity, UnmergeEntities
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


async def split(world: StagingWorld, fact: str) -> str:
    """Split the fact with this relation off; the uuid of the new entity."""
    (moved,) = [one.uuid for one in world.facts if one.relation == fact]
    asked = {"entity_uuid": world.entity(KEPT).uuid, "fact_uuids": [moved], "name": "Other DB"}
    world.clock.advance(seconds=1)
    preview = await world.splitting.split_entity(LOCAL, SplitEntity.model_validate(asked))
    done = await world.splitting.split_entity(LOCAL, SplitEntity(**asked, confirm=preview.confirm))
    return str(done.new_uuid)


async def test_a_split_is_undone_by_a_rollback_and_comes_back_with_a_snapshot(world: StagingWorld) -> None:
    before, since = world.state(), now(world)
    await split(world, "RUNS_IN")
    parted = world.state()
    assert "Other DB RUNS_IN Rome" in world.said()
    await world.take("parted")
    await world.rollback(since)
    assert world.state() == before
    await world.restore("parted")
    assert world.state() == parted
    whole = await world.restore(str(world.directory / "default" / "parted.snapshot"), "default_staging")
    assert whole.done
    assert world.said("default_staging") == world.said()


async def test_what_was_split_off_stays_apart_when_a_merge_before_it_is_undone(world: StagingWorld) -> None:
    removed = world.entity(REMOVED).uuid
    await world.merge(KEPT, REMOVED)
    new = await split(world, "USED_BY")
    world.clock.advance(seconds=1)
    await world.unmerging.unmerge_entities(LOCAL, UnmergeEntities(remove_uuid=removed, reason="Two things."))
    assert world.said() == sorted([f"{KEPT} RUNS_IN Rome", "Other DB USED_BY Tom", f"{REMOVED} CALLED {KEPT}"])
    world.clock.advance(seconds=1)
    asked = {"keep_uuid": world.entity(KEPT).uuid, "remove_uuid": new, "reason": "One thing."}
    preview = await world.merging.merge_entities(LOCAL, MergeEntities.model_validate(asked))
    await world.merging.merge_entities(LOCAL, MergeEntities(**asked, confirm=preview.confirm))
    assert f"{KEPT} USED_BY Tom" in world.said()
