"""Going back to an instant: what came since goes, what it ended holds again, what went comes back."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge
from graphiti_pkm.capabilities.history.requests import RetireFact
from graphiti_pkm.core.model.access import LOCAL


@pytest.fixture
def world(tmp_path: Path) -> StagingWorld:
    return StagingWorld(tmp_path)


def now(world: StagingWorld) -> datetime:
    """An instant after everything so far."""
    world.clock.advance(seconds=1)
    return world.clock.instant


async def test_what_came_since_goes_and_what_it_ended_holds_again(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    before, since = world.state(), now(world)
    await world.note("Anna lives in Bern now.", "Anna", "LIVES_IN", "Bern", fact={"replaces": "current"})
    assert world.lines() == ["Anna LIVES_IN Bern"]
    done = await world.rollback(since)
    assert world.lines() == ["Anna LIVES_IN Rome"]
    assert world.state() == before
    assert (done.done, done.removed.episodes, done.removed.entities, done.removed.facts) == (True, 1, 1, 1)
    assert (done.facts_changed, done.brought_back.facts, done.not_undone) == (1, 0, ())


async def test_a_dry_run_lists_what_would_go_and_changes_nothing(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    since = now(world)
    await world.note("Anna lives in Bern now.", "Anna", "LIVES_IN", "Bern", fact={"replaces": "current"})
    before, rows = world.state(), len(world.journal.table)
    report = await world.rollback(since, confirm=False)
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert (report.entities, report.facts, report.done) == (("Bern",), ("Anna lives in Bern now.",), False)
    assert "Nothing was changed" in report.message
    real = await world.rollback(since)
    assert (real.removed, real.facts) == (report.removed, report.facts)


async def test_retired_and_deleted_facts_come_back_and_renamed_entities_get_their_names(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    before, since = world.state(), now(world)
    rome = world.fact("Anna LIVES_IN Rome").uuid
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=rome, reason="She moved."))
    world.clock.advance(seconds=1)
    gone = world.fact("Anna KNOWS Tom").uuid
    await world.deleting.delete_entity_edge(LOCAL, DeleteEntityEdge(uuid=gone))
    report = await world.rollback(since)
    assert (report.removed.facts, report.brought_back.facts, report.facts_changed) == (0, 1, 1)
    assert world.state() == before


async def test_what_was_forgotten_since_stays_forgotten_and_is_said(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    episode = await world.note("Anna knows Zéphyrin.", "Anna", "KNOWS", "Zéphyrin")
    since = now(world)
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    await world.delete_episode(episode)
    report = await world.rollback(since)
    assert "1 forgetting(s) or deletion(s) since stay as they are" in report.message
    assert [line.endswith("delete_episode") for line in report.not_undone] == [True]
    assert world.lines() == ["Anna LIVES_IN Rome"]
    assert "Zéphyrin" not in str(world.state())
    assert "[forgotten]" not in str(world.state())


async def test_before_everything_there_is_nothing_and_in_the_future_nothing_to_do(world: StagingWorld) -> None:
    start = now(world)
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    before, rows = world.state(), len(world.journal.table)
    report = await world.rollback(now(world) + timedelta(days=1))
    assert (report.done, report.message[:13]) == (False, "Nothing that ")
    assert (world.state(), len(world.journal.table)) == (before, rows)
    done = await world.rollback(start)
    assert (done.after.episodes, world.state()["entities"]) == (0, {})
    assert done.safety is not None
    await world.restore(done.safety)
    assert world.state() == before


async def test_a_rollback_can_be_rolled_back_and_so_can_a_restore(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    first, since_first = world.state(), now(world)
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    second, since_second = world.state(), now(world)
    await world.rollback(since_first)
    assert world.state() == first
    await world.note("Ben knows Tom.", "Ben", "KNOWS", "Tom")
    await world.rollback(since_second)
    assert world.state() == second
    await world.rollback(since_first)
    assert world.state() == first


async def test_other_groups_keep_what_came(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    since = now(world)
    await world.note("Ben knows Tom.", "Ben", "KNOWS", "Tom", group_id="work")
    other = world.state("work")
    report = await world.rollback(since)
    assert (report.done, world.state("work")) == (False, other)


async def test_no_file_of_the_way_back_is_left(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    since = now(world)
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    done = await world.rollback(since)
    assert [path.name for path in world.directory.rglob("*") if path.is_file()] == [f"{done.safety}.snapshot"]
