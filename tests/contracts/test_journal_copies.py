"""Contract of ``Journal``: backup and restore."""

from array import array
from pathlib import Path

import pytest
from tests.builders import RECORDED, a_write, an_entity, an_episode

from graphiti_pkm.core.model.job_records import BackLinkJob
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.ports import Journal
from graphiti_pkm.errors import DamagedStore, InvalidInput, WriteFailed


def a_memory() -> WriteIntent:
    job = BackLinkJob(entity_uuid="sarah", names=("Sarah",), before=RECORDED)
    return a_write(an_episode("Größe 🙂"), an_entity(), job)


async def test_a_backup_brings_rows_states_receipts_vectors_and_jobs_back(journal: Journal, tmp_path: Path) -> None:
    await journal.record_embedding("model", 2)
    first, second, later = a_memory(), a_memory(), a_memory()
    vectors = {first.entities[0].uuid: array("f", [0.5, -0.25])}
    await journal.append(first, vectors, "first", {"message": "stored"})
    await journal.written(first.uuid)
    await journal.append(second, {}, "second", {})
    await journal.backup(tmp_path / "backup")
    await journal.append(later, {}, "later", {})
    await journal.withdraw(second.uuid)
    assert await journal.verify_backup(tmp_path / "backup") == 2
    assert [row.intent for row in await journal.rows(0, 10)] == [first, later]
    assert await journal.restore(tmp_path / "backup") == 2
    rows = await journal.rows(0, 10)
    assert [row.intent for row in rows] == [first, second]
    assert rows[0].vectors == vectors
    assert await journal.written_until_now() == [first.uuid]
    assert [row.intent for row in await journal.unfinished(None)] == [second]
    assert await journal.stored_answer(first.episodes[0].uuid) == ("first", {"message": "stored"})
    assert await journal.stored_answer(later.episodes[0].uuid) is None
    assert (await journal.counts())["jobs_queued"] == 2


async def test_after_a_restore_the_journal_goes_on(journal: Journal, tmp_path: Path) -> None:
    kept, after = [a_memory() for _ in range(3)], a_memory()
    for memory in kept:
        await journal.append(memory, {}, "", {})
    await journal.backup(tmp_path / "backup")
    await journal.restore(tmp_path / "backup")
    await journal.end_rebuild()
    last = (await journal.rows(0, 10))[-1].seq
    assert await journal.append(after, {}, "", {}) > last
    assert [row.intent for row in await journal.rows(0, 10)] == [*kept, after]
    found = [await journal.claim_job("me", 60) for _ in range(5)]
    assert [job is not None for job in found] == [True, True, True, True, False]
    assert len({job[0] for job in found if job is not None}) == 4


async def test_an_empty_journal_can_be_backed_up(journal: Journal, tmp_path: Path) -> None:
    await journal.backup(tmp_path / "backup")
    await journal.append(a_memory(), {}, "", {})
    assert await journal.restore(tmp_path / "backup") == 0
    assert await journal.rows(0, 10) == []


async def test_what_is_no_backup_changes_nothing(journal: Journal, tmp_path: Path) -> None:
    memory, other = a_memory(), tmp_path / "other"
    await journal.append(memory, {}, "", {})
    other.write_text("a shopping list")
    for path in (other, tmp_path / "missing"):
        with pytest.raises((DamagedStore, InvalidInput)):
            await journal.verify_backup(path)
        with pytest.raises((DamagedStore, InvalidInput)):
            await journal.restore(path)
    assert [row.intent for row in await journal.rows(0, 10)] == [memory]


async def test_a_truncated_backup_changes_nothing(journal: Journal, tmp_path: Path) -> None:
    memories = [a_memory() for _ in range(50)]
    for memory in memories:
        await journal.append(memory, {}, "", {})
    path = tmp_path / "backup"
    await journal.backup(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises((DamagedStore, InvalidInput)):
        await journal.restore(path)
    assert [row.intent for row in await journal.rows(0, 100)] == memories


async def test_a_backup_overwrites_nothing(journal: Journal, tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("precious")
    with pytest.raises(InvalidInput):
        await journal.backup(path)
    assert path.read_text() == "precious"


async def test_a_restore_sets_the_mark_of_a_rebuild_and_nothing_is_stored_until_it_is_gone(
    journal: Journal, tmp_path: Path
) -> None:
    await journal.append(a_memory(), {}, "", {})
    await journal.backup(tmp_path / "backup")
    assert await journal.rebuild_in_progress() is None
    await journal.restore(tmp_path / "backup", drops_unknown=True, former="a copy")
    rebuild = await journal.rebuild_in_progress()
    assert rebuild is not None
    assert (rebuild.command, rebuild.is_cleared, rebuild.drops_unknown, rebuild.former) == (
        "restore",
        False,
        True,
        "a copy",
    )
    with pytest.raises(WriteFailed, match="restore"):
        await journal.append(a_memory(), {}, "", {})
    await journal.rebuild_cleared()
    rebuild = await journal.rebuild_in_progress()
    assert rebuild is not None
    assert rebuild.is_cleared
    await journal.end_rebuild()
    assert await journal.rebuild_in_progress() is None
    await journal.append(a_memory(), {}, "", {})


async def test_a_mark_is_no_part_of_a_backup(journal: Journal, tmp_path: Path) -> None:
    begun = await journal.begin_rebuild("rebuild")
    assert await journal.rebuild_in_progress() == begun
    await journal.backup(tmp_path / "backup")
    await journal.restore(tmp_path / "backup")
    restored = await journal.rebuild_in_progress()
    assert restored is not None
    assert restored.command == "restore"
