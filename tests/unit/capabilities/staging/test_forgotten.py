"""What was forgotten in the target stays forgotten, and what ended in the source ends in the target too."""

from pathlib import Path

import pytest
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge
from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact
from graphiti_pkm.capabilities.staging.renaming import Renaming
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Entity, Fact

STAGING = "default_staging"
TALK = "Zoe Marr leads Orion. Orion is in Basel."


@pytest.fixture
async def world(tmp_path: Path) -> StagingWorld:
    """One talk of two sentences, told in staging and copied once."""
    world = StagingWorld(tmp_path)
    await tell(
        world,
        TALK,
        ("Zoe Marr", "LEADS", "Orion", "Zoe Marr leads Orion."),
        ("Orion", "LOCATED_IN", "Basel", "Orion is in Basel."),
    )
    await world.migrate(is_checked=True)
    return world


async def tell(world: StagingWorld, body: str, *said: tuple[str, str, str, str], group_id: str = STAGING) -> str:
    world.clock.advance(seconds=1)
    names = list(dict.fromkeys(name for source, _, target, _ in said for name in (source, target)))
    facts = [
        {"source": source, "relation": relation, "target": target, "fact": text, "quote": text}
        for source, relation, target, text in said
    ]
    done = await world.tell(body, *facts, entities=[{"name": name} for name in names], group_id=group_id)
    return done.episode_uuid


def named(world: StagingWorld, name: str, group: str = "default") -> Entity | None:
    tables = world.graph.tables
    return next((one for one in tables.entities.values() if (one.name, one.group_id) == (name, group)), None)


def words(world: StagingWorld, group: str = "default") -> list[str]:
    return sorted(one.content for one in world.graph.tables.episodes.values() if one.group_id == group)


def fact(world: StagingWorld, relation: str, group: str = "default") -> Fact:
    (found,) = [one for one in world.facts if (one.relation, one.group_id) == (relation, group)]
    return found


async def forget(world: StagingWorld, name: str, **how: str) -> None:
    found = named(world, name)
    assert found is not None
    await world.forget(entity_uuid=found.uuid, **how)


@pytest.mark.parametrize("is_checked", [True, False])
async def test_what_was_forgotten_in_the_target_stays_forgotten_and_the_rest_comes(
    world: StagingWorld, *, is_checked: bool
) -> None:
    await forget(world, "Zoe Marr")
    assert words(world) == ["[forgotten] Orion is in Basel."]
    await tell(
        world,
        "Orion costs 40 kCHF. Otto runs Vega.",
        ("Orion", "COSTS", "40 kCHF", "Orion costs 40 kCHF."),
        ("Otto", "RUNS", "Vega", "Otto runs Vega."),
    )
    done = await world.migrate(is_checked=is_checked)
    assert world.said() == ["Orion COSTS 40 kCHF", "Orion LOCATED_IN Basel", "Otto RUNS Vega"]
    assert words(world) == ["Orion costs 40 kCHF. Otto runs Vega.", "[forgotten] Orion is in Basel."]
    assert "Zoe" not in str(world.state())
    assert (done.copied.entities, done.copied.facts, done.copied.episodes, done.left) == (3, 2, 1, ())
    assert set(done.forgotten) == {"Zoe Marr", "Zoe Marr leads Orion."}
    assert done.redacted_total == 1
    assert "1 episode was redacted in default and stays so" in done.message
    assert "forget them in default_staging too" in done.message
    before, rows = world.state(), len(world.journal.table)
    again = await world.migrate(is_checked=is_checked)
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert (again.forgotten_total, again.redacted_total, again.copied.facts) == (2, 1, 0)


async def test_a_preview_says_what_stays_away(world: StagingWorld) -> None:
    await forget(world, "Zoe Marr")
    before, rows = world.state(), len(world.journal.table)
    preview = await world.migrate(writes=False, is_checked=True)
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert (preview.forgotten_total, preview.redacted_total) == (2, 1)
    assert [one.name for one in preview.approved] == ["Basel", "Orion"]


async def test_a_move_leaves_in_the_source_what_the_target_does_not_have(world: StagingWorld) -> None:
    await forget(world, "Zoe Marr")
    await tell(world, "Otto runs Vega.", ("Otto", "RUNS", "Vega", "Otto runs Vega."))
    done = await world.migrate(moves=True)
    assert words(world, STAGING) == [TALK]
    assert world.said(STAGING) == ["Zoe Marr LEADS Orion"]
    assert named(world, "Zoe Marr", STAGING)
    assert named(world, "Otto", STAGING) is None
    assert (done.removed.episodes, done.removed.facts) == (1, 2)
    await world.migrate(moves=True)
    assert (words(world, STAGING), "Zoe" in str(world.state())) == ([TALK], False)


async def test_an_episode_deleted_in_the_target_does_not_come_again(world: StagingWorld) -> None:
    more = await tell(world, "Otto runs Vega.", ("Otto", "RUNS", "Vega", "Otto runs Vega."))
    await world.migrate()
    await world.delete_episode(Renaming("default").uuid(more))
    before = world.state()
    done = await world.migrate()
    assert world.state() == before
    assert (done.forgotten_total, done.redacted_total) == (4, 0)
    await world.migrate(moves=True)
    assert words(world, STAGING) == ["Otto runs Vega."]


async def test_a_fact_deleted_in_the_target_does_not_come_again_until_that_is_undone(world: StagingWorld) -> None:
    world.clock.advance(seconds=1)
    since = world.clock.instant
    await world.deleting.delete_entity_edge(LOCAL, DeleteEntityEdge(uuid=fact(world, "LEADS").uuid))
    done = await world.migrate()
    assert (world.said(), done.forgotten) == (["Orion LOCATED_IN Basel"], ("Zoe Marr leads Orion.",))
    await world.rollback(since)
    done = await world.migrate()
    assert (world.said(), done.forgotten) == (["Orion LOCATED_IN Basel", "Zoe Marr LEADS Orion"], ())


async def test_what_is_forgotten_stays_so_after_a_rollback_and_comes_to_a_cleared_group(world: StagingWorld) -> None:
    await forget(world, "Zoe Marr")
    world.clock.advance(seconds=1)
    since = world.clock.instant
    await tell(world, "Eva sings.", ("Eva", "LIKES", "Songs", "Eva sings."), group_id="default")
    await world.rollback(since)
    await world.migrate()
    assert "Zoe" not in str(world.state())
    await world.clear()
    assert (await world.migrate()).forgotten_total == 0
    assert world.said() == ["Orion LOCATED_IN Basel", "Zoe Marr LEADS Orion"]


async def test_new_words_about_what_was_forgotten_stay_away_until_the_target_is_told_of_it(
    world: StagingWorld,
) -> None:
    """Not the name in the text of a note either, nor what only such a note tells."""
    await forget(world, "Zoe Marr")
    await tell(
        world,
        "Zoe Marr sails. Otto runs Vega.",
        ("Zoe Marr", "LIKES", "Sailing", "Zoe Marr sails."),
        ("Otto", "RUNS", "Vega", "Otto runs Vega."),
    )
    done = await world.migrate()
    assert "Zoe" not in str(world.state())
    assert world.said() == ["Orion LOCATED_IN Basel"]
    assert "Zoe Marr sails." in done.forgotten
    await tell(world, "Zoe Marr swims.", ("Zoe Marr", "LIKES", "Swimming", "Zoe Marr swims."), group_id="default")
    await world.migrate()
    assert world.said() == [
        "Orion LOCATED_IN Basel",
        "Otto RUNS Vega",
        "Zoe Marr LIKES Sailing",
        "Zoe Marr LIKES Swimming",
    ]


async def test_a_name_forgotten_in_the_target_is_not_given_again(world: StagingWorld) -> None:
    await world.tell(
        "Orion, or Red Fox, grows.", entities=[{"name": "Orion", "aliases": ["Red Fox"]}], group_id=STAGING
    )
    await world.migrate()
    assert "red fox" in str(world.state()["names"]).casefold()
    await world.forget(query="Red Fox")
    assert "red fox" not in str(world.state()["names"]).casefold()
    await world.migrate()
    assert "red fox" not in str(world.state()).casefold()


# Ends


async def retire(world: StagingWorld, relation: str, **said: str) -> None:
    world.clock.advance(seconds=1)
    uuid = fact(world, relation, STAGING).uuid
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=uuid, reason="She left.", **said))


async def test_what_ended_in_the_source_since_ends_in_the_target_and_a_rollback_undoes_it(
    world: StagingWorld,
) -> None:
    before = world.said()
    world.clock.advance(seconds=1)
    since = world.clock.instant
    await retire(world, "LEADS", invalid_at="2026-03-01T12:00:02Z")
    done = await world.migrate()
    there, here = fact(world, "LEADS", STAGING), fact(world, "LEADS")
    assert (here.invalid_at, here.is_open) == (there.invalid_at, there.is_open)
    assert here.invalid_at is not None
    assert (done.ended, done.still_current) == (1, ())
    rows = len(world.journal.table)
    again = await world.migrate()
    assert (again.ended, len(world.journal.table)) == (0, rows)
    await world.rollback(since)
    assert (world.said(), fact(world, "LEADS").invalid_at) == (before, None)


async def test_what_was_corrected_in_the_source_since_is_corrected_in_the_target(world: StagingWorld) -> None:
    wrong = {"replaces": fact(world, "LEADS", STAGING).uuid, "change": "corrected"}
    await world.note("Eva leads Orion.", "Eva", "LEADS", "Orion", fact=wrong, group_id=STAGING)
    done = await world.migrate()
    assert {one.text for one in world.facts if one.group_id == "default" and one.is_open} == {
        "Eva leads Orion.",
        "Orion is in Basel.",
    }
    assert done.ended == 1


async def test_an_end_that_somebody_undid_in_the_target_is_listed_and_a_move_leaves_it(world: StagingWorld) -> None:
    await retire(world, "LEADS")
    await world.migrate()
    world.clock.advance(seconds=1)
    uuid = fact(world, "LEADS").uuid
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=uuid, reason="She is back."))
    for _ in range(2):
        done = await world.migrate()
        assert (done.ended, done.still_current) == (0, ("Zoe Marr leads Orion.",))
        assert fact(world, "LEADS").is_open
    assert "still current in default" in done.message
    await world.migrate(moves=True)
    assert [one.relation for one in world.facts if one.group_id == STAGING] == ["LEADS"]


async def test_what_the_target_states_by_itself_is_not_ended(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    said = ("Zoe Marr", "LEADS", "Orion", "Zoe Marr leads Orion.")
    await tell(world, said[-1], said, group_id="default")
    await tell(world, said[-1], said)
    await world.migrate()
    await retire(world, "LEADS")
    done = await world.migrate()
    assert fact(world, "LEADS").is_open
    assert done.still_current == ("Zoe Marr leads Orion.",)
    before = world.state(STAGING)["facts"]
    await world.migrate(moves=True)
    assert world.state(STAGING)["facts"] == before


@pytest.mark.parametrize("is_checked", [True, False])
async def test_words_forgotten_in_the_source_since_stop_no_later_run_and_are_said_to_stay(
    world: StagingWorld, *, is_checked: bool
) -> None:
    zoe = named(world, "Zoe Marr", STAGING)
    assert zoe is not None
    await world.forget(entity_uuid=zoe.uuid, group_id=STAGING)
    assert words(world, STAGING) == ["[forgotten] Orion is in Basel."]
    await tell(world, "Otto runs Vega.", ("Otto", "RUNS", "Vega", "Otto runs Vega."))
    preview = await world.migrate(is_checked=is_checked, writes=False)
    assert preview.still_told_total == 1
    done = await world.migrate(is_checked=is_checked)
    assert done.copied.facts == 1
    assert (done.still_told_total, len(done.still_told)) == (1, 1)
    assert "1 episode lost words in default_staging since it was copied; default still has them" in done.message
    assert words(world) == ["Otto runs Vega.", TALK]
    assert fact(world, "LEADS").is_open
    await world.migrate(moves=True)
    assert (words(world, STAGING), words(world)) == ([], ["Otto runs Vega.", TALK])


async def test_what_lost_words_before_it_was_copied_is_as_it_is_there(world: StagingWorld) -> None:
    told = await tell(world, "Ada met Zoe Marr. Ada sails.", ("Ada", "MET", "Zoe Marr", "Ada met Zoe Marr."))
    await world.forget(query="met", group_id=STAGING)
    done = await world.migrate()
    assert (done.still_told_total, world.graph.tables.episodes[Renaming("default").uuid(told)].content) == (
        0,
        "[forgotten] Ada sails.",
    )
    assert (await world.migrate()).still_told_total == 0
