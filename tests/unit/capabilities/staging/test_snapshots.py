"""Snapshots of a group: exactly what it held comes back, and nothing that was forgotten since."""

import re
import shutil
from pathlib import Path

import pytest
from tests.builders import a_write, an_entity
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.records import WriteKind
from graphiti_pkm.errors import DamagedStore, InvalidInput, NotAllowed, PermissionDenied, Unavailable, WriteFailed

HIDDEN = "Zéphyrin"


@pytest.fixture
def world(tmp_path: Path) -> StagingWorld:
    return StagingWorld(tmp_path)


async def a_story(world: StagingWorld, **fields: object) -> str:
    """Anna lives in Rome, then in Bern, and works with somebody; the uuid of the episode about them."""
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome", **fields)
    await world.note("Anna lives in Bern now.", "Anna", "LIVES_IN", "Bern", fact={"replaces": "current"}, **fields)
    return await world.note(f"Anna works with {HIDDEN}.", "Anna", "WORKS_WITH", HIDDEN, **fields)


async def test_a_restored_group_is_what_it_was_in_every_record_with_uuids_times_history_and_vectors(
    world: StagingWorld,
) -> None:
    await a_story(world)
    before = world.state()
    taken = await world.take("one")
    assert (taken.size.episodes, taken.size.facts, taken.writes) == (3, 3, 3)
    await world.note("Anna lives in Oslo.", "Anna", "LIVES_IN", "Oslo", fact={"replaces": "current"})
    assert world.state() != before
    done = await world.restore("one")
    assert world.state() == before
    assert (done.done, done.after) == (True, taken.size)
    assert "2 facts" not in done.message


async def test_what_a_group_held_before_a_restore_is_a_snapshot_itself(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    await world.note("Anna lives in Oslo.", "Anna", "LIVES_IN", "Oslo", fact={"replaces": "current"})
    later = world.state()
    safety = (await world.restore("one")).safety
    assert safety is not None
    assert {one.tag for one in (await world.snapshots.listed(Caller(), None)).snapshots} == {"one", safety}
    await world.restore(safety)
    assert world.state() == later


async def test_without_confirm_nothing_is_changed_and_nothing_written(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    before, rows = world.state(), len(world.journal.table)
    preview = await world.restore("one", confirm=False)
    assert (preview.done, preview.safety, preview.before.facts, preview.after.facts) == (False, None, 4, 3)
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert "Nothing was changed" in preview.message


async def test_restored_into_another_group_it_is_a_copy_of_its_own(world: StagingWorld) -> None:
    await a_story(world)
    original = world.state()
    taken = await world.take("one")
    file = str(world.directory / "default" / "one.snapshot")
    done = await world.restore(file, "default_staging")
    assert (done.group, done.safety, done.after) == ("default_staging", None, taken.size)
    assert world.state() == original
    copy = world.state("default_staging")
    for kind in ("episodes", "entities", "facts", "passages", "changes"):
        assert len(copy[kind]) == len(original[kind])  # type: ignore[arg-type]
        assert copy[kind].keys().isdisjoint(original[kind].keys())  # type: ignore[attr-defined]
    assert len(copy["mentions"]) == len(original["mentions"])  # type: ignore[arg-type]
    assert sorted(one.text for one in copy["facts"].values()) == sorted(  # type: ignore[attr-defined]
        one.text
        for one in original["facts"].values()  # type: ignore[attr-defined]
    )
    again = await world.restore(file, "default_staging")
    assert world.state("default_staging") == copy
    assert again.before == again.after


async def test_a_tag_is_taken_once_and_is_a_plain_word(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    before = (world.directory / "default" / "one.snapshot").read_bytes()
    with pytest.raises(InvalidInput, match="There is a snapshot one already"):
        await world.take("one")
    assert (world.directory / "default" / "one.snapshot").read_bytes() == before
    for tag in ("", "../one", "a/b", ".hidden", "x" * 65, "ä"):
        with pytest.raises(InvalidInput, match="is not a tag"):
            await world.take(tag)


async def test_what_is_not_there_has_no_snapshot(world: StagingWorld) -> None:
    await a_story(world)
    with pytest.raises(InvalidInput, match="holds nothing"):
        await world.take("one", "nowhere")
    for wrong in ("two", str(world.directory / "two.snapshot")):
        with pytest.raises(InvalidInput, match="There is no snapshot two"):
            await world.restore(wrong)


async def test_a_cut_snapshot_changes_nothing(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    path = world.directory / "default" / "one.snapshot"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    before, rows = world.state(), len(world.journal.table)
    with pytest.raises(DamagedStore, match="damaged, or was cut"):
        await world.restore("one")
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert (await world.snapshots.listed(Caller(), None)).unreadable == ("one",)


async def test_snapshots_are_for_curators_of_the_group(world: StagingWorld) -> None:
    await a_story(world)
    for caller, error in (
        (Caller(tier="librarian"), PermissionDenied),
        (Caller(read_only=True), PermissionDenied),
        (Caller(groups=("work",)), NotAllowed),
    ):
        for act in (world.take("one", "default", caller), world.restore("one", "default", caller=caller)):
            with pytest.raises(error):
                await act
    assert not world.directory.exists()


async def test_a_group_with_records_that_the_journal_does_not_know_is_left_alone(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    await world.graph.writer.apply(a_write(an_entity("Foreign", group_id="default"), group_id="default"), {})
    for act in (world.take("two"), world.restore("one")):
        with pytest.raises(InvalidInput, match="another program or another server wrote"):
            await act
    assert world.entity("Foreign")


async def test_what_stops_half_way_says_so_and_is_ended_by_a_second_run(world: StagingWorld) -> None:
    await a_story(world)
    before = world.state()
    await world.take("one")
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    later = world.state()
    world.journal.fail_next_append(None)
    with pytest.raises(WriteFailed):  # nothing was emptied
        await world.restore("one")
    assert world.state() == later

    class Full(Exception):
        pass

    appended = world.journal.append
    calls = 0

    async def append(*given: object, **named: object) -> int:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Unavailable("The disk is full.")
        return await appended(*given, **named)  # type: ignore[arg-type]

    world.journal.append = append  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match=r"repeat the command to end it\. What it held before is in snapshot before-"):
        await world.restore("one")
    assert (await world.comparing.stats(Caller(), None)).unfinished == "one"
    path = world.directory / "default" / "one.snapshot"
    path.rename(path.with_suffix(".kept"))
    begun = (await world.comparing.stats(Caller(), None)).unfinished or ""
    assert re.fullmatch("[0-9a-f]{8}", begun)
    path.with_suffix(".kept").rename(path)
    await world.restore("one")
    assert world.state() == before
    assert (await world.comparing.stats(Caller(), None)).unfinished is None


# Forgetting


async def test_forgetting_makes_a_snapshot_anew_without_the_words_and_says_which(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    await world.take("elsewhere", await other_group(world))
    assert world.files_with(HIDDEN) == ["one.snapshot"]
    answer = await world.forget(entity_uuid=world.entity(HIDDEN).uuid)
    assert "Snapshots that held it were made anew without it: one." in answer.message
    assert world.files_with(HIDDEN) == []
    after = world.state()
    await world.note("Anna lives in Oslo.", "Anna", "LIVES_IN", "Oslo", fact={"replaces": "current"})
    await world.restore("one")
    restored = world.state()
    for kind in ("episodes", "entities", "facts", "names", "mentions", "passages", "changes"):
        assert restored[kind] == after[kind], kind
    assert len((await world.snapshots.listed(Caller(), None)).snapshots) == 2


async def other_group(world: StagingWorld) -> str:
    await world.note("Ben knows Tom.", "Ben", "KNOWS", "Tom", group_id="work")
    return "work"


async def test_a_deleted_episode_leaves_no_shell_behind_in_a_restored_group(world: StagingWorld) -> None:
    episode = await a_story(world)
    await world.take("one")
    message = await world.delete_episode(episode)
    assert "made anew without it: one" in message
    assert world.files_with(HIDDEN) == []
    entities = sorted(one.name for one in world.graph.tables.entities.values())
    await world.restore("one")
    assert sorted(one.name for one in world.graph.tables.entities.values()) == entities == ["Anna", "Bern", "Rome"]
    assert "[forgotten]" not in str(world.state())


async def test_what_was_forgotten_does_not_come_back_from_a_file_elsewhere(world: StagingWorld, tmp_path: Path) -> None:
    await a_story(world)
    await world.take("one")
    elsewhere = tmp_path / "mine"
    shutil.copy(world.directory / "default" / "one.snapshot", elsewhere)
    await world.forget(entity_uuid=world.entity(HIDDEN).uuid)
    assert HIDDEN.encode() in elsewhere.read_bytes()
    after = world.state()
    await world.restore(str(elsewhere))
    assert HIDDEN not in str(world.state())
    assert world.state()["facts"] == after["facts"]
    assert HIDDEN not in str([row.intent for row in world.journal.table.values()])


@pytest.mark.parametrize("group", ["default", "default_staging"])
async def test_a_file_elsewhere_is_restored_as_if_the_episode_had_been_deleted_in_it(
    world: StagingWorld, tmp_path: Path, group: str
) -> None:
    gone = await world.note("Anna likes chess.", "Anna", "LIKES", "chess", saga="Trip")
    for word in ("tea", "go"):
        await world.note(f"{word}.", "Anna", "LIKES", word, saga="Trip")
    await world.take("one")
    elsewhere = tmp_path / "mine"
    shutil.copy(world.directory / "default" / "one.snapshot", elsewhere)
    await world.note("She still does.", "Anna", "LIKES", "chess", fact={"fact": "Anna likes chess."})
    await world.delete_episode(gone)
    done = await world.restore(str(elsewhere), group)
    assert world.said(group) == ["Anna LIKES go", "Anna LIKES tea"]
    assert (done.after.episodes, done.after.facts) == (2, 2)
    db = world.graph.tables
    told = [one.uuid for one in sorted(db.episodes.values(), key=lambda one: one.order) if one.group_id == group]
    (saga,) = [one for one in db.sagas.values() if one.group_id == group]
    assert [saga.first_episode_uuid, saga.last_episode_uuid] == told


async def test_a_copy_that_was_deleted_where_a_snapshot_is_restored_does_not_tell_its_fact_there(
    world: StagingWorld,
) -> None:
    await world.note("Anna likes chess.", "Anna", "LIKES", "chess", saga="Trip")
    await world.take("one")
    file = str(world.directory / "default" / "one.snapshot")
    await world.restore(file, "default_staging")
    (copy,) = [one.uuid for one in world.graph.tables.episodes.values() if one.group_id == "default_staging"]
    again = {"fact": "Anna likes chess."}
    await world.note("She still does.", "Anna", "LIKES", "chess", fact=again, saga="Trip", group_id="default_staging")
    assert world.said("default_staging") == ["Anna LIKES chess"]
    await world.delete_episode(copy)
    await world.restore(file, "default_staging")
    assert (world.said("default_staging"), world.said()) == ([], ["Anna LIKES chess"])
    assert [one.group_id for one in world.graph.tables.sagas.values()] == ["default"]


async def test_a_snapshot_that_the_journal_does_not_know_goes(world: StagingWorld) -> None:
    """The whole memory may have been restored from an older backup: then nobody finds the words of the snapshot."""
    await a_story(world)
    await world.take("one")
    first = next(iter(world.journal.table))
    later = {uuid: row for uuid, row in world.journal.table.items() if uuid != first}
    world.journal.table = later
    answer = await world.forget(entity_uuid=world.entity(HIDDEN).uuid)
    assert "Snapshots that held it were removed: one." in answer.message
    assert not list(world.directory.rglob("*.snapshot"))


async def test_forgetting_something_else_leaves_a_snapshot_as_it_is(world: StagingWorld) -> None:
    await a_story(world)
    before = world.state()
    await world.take("one")
    await world.note("Ben likes tea.", "Ben", "LIKES", "tea")
    answer = await world.forget(entity_uuid=world.entity("Ben").uuid)
    assert "Snapshots" not in answer.message
    await world.restore("one")
    assert world.state() == before


async def test_the_writes_of_a_restore_are_known_by_their_kind(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    await world.restore("one")
    kinds = [row.intent.kind for row in world.journal.table.values()][3:]
    assert kinds == [WriteKind.RESTORE_SNAPSHOT, *[WriteKind.ADD_MEMORY] * 3, WriteKind.RESTORE_SNAPSHOT]


async def test_a_damaged_snapshot_goes_when_something_of_its_group_is_forgotten(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    path = world.directory / "default" / "one.snapshot"
    path.write_bytes(path.read_bytes()[:5_000])
    await other_group(world)
    await world.forget(entity_uuid=world.entity("Ben").uuid, group_id="work")
    assert path.exists()
    answer = await world.forget(entity_uuid=world.entity(HIDDEN).uuid)
    assert "were removed: one" in answer.message
    assert not path.exists()


async def test_clearing_a_group_removes_its_snapshots(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    await world.take("two", await other_group(world))
    answer = await world.clear()
    assert "Snapshots that held it were removed: one." in answer
    assert [path.name for path in world.directory.rglob("*.snapshot")] == ["two.snapshot"]


async def test_the_tag_of_a_snapshot_is_in_its_file_alone(world: StagingWorld) -> None:
    """It is a word of the user's: forgetting would not find it in the journal."""
    await a_story(world)
    await world.take("before-Quirlebaum")
    await world.restore("before-Quirlebaum")
    assert "Quirlebaum" not in str([row.intent for row in world.journal.table.values()])


async def test_a_snapshot_is_removed_when_that_is_confirmed(world: StagingWorld) -> None:
    await a_story(world)
    await world.take("one")
    assert await world.snapshots.remove(Caller(), None, "one", confirm=False) is False
    assert await world.snapshots.remove(Caller(), None, "one", confirm=True) is True
    with pytest.raises(InvalidInput, match="no snapshot one"):
        await world.snapshots.remove(Caller(), None, "one", confirm=True)
