"""The queue of extractions in older files, in copies and in files that were to forget."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.builders import GROUP, an_episode, an_intent, new_uuid
from tests.fakes import FakeClock

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import EpisodeText, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.ports.extraction import Budget, Usage
from graphiti_pkm.errors import DamagedStore
from graphiti_pkm.storage.journal.schema import MIGRATIONS
from graphiti_pkm.storage.journal.store import SqliteJournal

DAY = "2026-03-01"
COST = Usage(calls=1, prompt_tokens=100, completion_tokens=20)
STATES = ("queued", "running", "done", "failed", "cancelled")


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path / "data")
    yield journal
    await journal.close()


def a_job(**fields: object) -> ExtractJob:
    return ExtractJob.model_validate({"uuid": new_uuid(), "episode_uuid": new_uuid(), **fields})


async def an_append(journal: SqliteJournal, group_id: str = GROUP, content: str = "A note.") -> WriteIntent:
    """An episode that a model is to read."""
    episode = an_episode(content, group_id=group_id)
    job = a_job(episode_uuid=episode.uuid)
    intent = an_intent(kind=WriteKind.ADD_MEMORY, group_id=group_id, episodes=[episode], extractions=(job,))
    await journal.append(intent, {}, "hash", {})
    return intent


async def pay(journal: SqliteJournal, owner: str, answer: str = "paid for") -> int:
    """Claim a job and keep an answer to it."""
    job = await journal.extractions.claim(owner, 60)
    assert job is not None
    await journal.extractions.ledger(job.id, Budget(), DAY).record("asked", answer, COST)
    return job.id


async def shown(journal: SqliteJournal) -> dict[str, str]:
    """State by job."""
    return {one.job_uuid: one.state for one in await journal.extractions.page(STATES, None, 99, None)}


def break_page(journal: SqliteJournal, text: bytes) -> None:
    content = journal.path.read_bytes()
    page = content.rindex(text) // 4096 * 4096
    journal.path.write_bytes(content[:page] + b"\xff" * 500 + content[page + 500 :])


async def test_a_file_from_before_the_queue_gets_one_and_a_copy_is_kept(tmp_path: Path) -> None:
    older = SqliteJournal(tmp_path, now=FakeClock(), migrations=MIGRATIONS[:4])
    written = an_intent(episodes=[an_episode()])
    await older.append(written, {}, "", {})
    await older.close()
    journal = SqliteJournal(tmp_path)
    later = await an_append(journal)
    assert [row.intent for row in await journal.rows(0, 9)] == [written, later]
    assert await shown(journal) == {later.extractions[0].uuid: "queued"}
    await journal.close()
    with closing(sqlite3.connect(tmp_path / "journal-version-4.sqlite3")) as kept:
        assert kept.execute("PRAGMA user_version").fetchone() == (4,)


async def test_a_backup_from_before_the_queue_is_restored_without_any_job(tmp_path: Path) -> None:
    older = SqliteJournal(tmp_path / "older", now=FakeClock(), migrations=MIGRATIONS[:4])
    await older.append(an_intent(episodes=[an_episode()]), {}, "", {})
    await older.backup(tmp_path / "backup")
    await older.close()
    journal = SqliteJournal(tmp_path / "data")
    await an_append(journal)
    await pay(journal, "me")
    assert await journal.restore(tmp_path / "backup") == 1
    assert await shown(journal) == {}
    assert await journal.extractions.spent(DAY) == COST
    await journal.close()


async def test_a_backup_brings_jobs_and_answers_back_and_what_was_spent_since_stays_spent(
    journal: SqliteJournal, tmp_path: Path
) -> None:
    queue = journal.extractions
    failed, running, _ = [await an_append(journal, group) for group in ("g1", "g2", "g3")]
    await queue.fail(await pay(journal, "a"), "a", "refused", "Set the key.")
    await pay(journal, "b")
    await journal.backup(tmp_path / "backup")
    await pay(journal, "c")
    await queue.finish(3, "c")
    later = await an_append(journal)
    await queue.pause(paused=True)

    assert await journal.restore(tmp_path / "backup") == 3
    assert list((await shown(journal)).values()) == ["queued", "queued", "failed"]
    assert later.extractions[0].uuid not in await shown(journal)
    assert (await queue.find([1]))[0].reason == "refused"
    assert await queue.spent(DAY) == COST + COST + COST
    assert await queue.paused()
    await queue.pause(paused=False)
    assert not await queue.heartbeat(2, "b", 60)
    again = await queue.claim("d", 60)
    assert again is not None
    assert again.job == running.extractions[0]
    assert await queue.ledger(again.id, Budget(), DAY).recorded("asked") == "paid for"
    assert failed.extractions[0].uuid in await shown(journal)


async def test_what_became_of_the_jobs_of_a_damaged_journal_is_saved(journal: SqliteJournal, tmp_path: Path) -> None:
    queue = journal.extractions
    ended, failed = await an_append(journal, "g1"), await an_append(journal, "g2")
    await journal.backup(tmp_path / "backup")
    await queue.finish(await pay(journal, "a"), "a")
    await queue.fail(await pay(journal, "b"), "b", "refused", "Set the key.")
    later = a_job()
    await queue.enqueue("g3", [later])
    await pay(journal, "c", "kept")
    new = await an_append(journal, "g4")
    await queue.pause(paused=True)
    await an_append(journal, "g5", "y" * 9000)
    await journal.close()
    break_page(journal, b"y" * 1000)

    journal = SqliteJournal(tmp_path / "data")
    with pytest.raises(DamagedStore):
        await journal.check()
    await journal.restore(tmp_path / "backup")
    queue = journal.extractions
    after = await shown(journal)
    assert {job: after.get(job) for job in (ended.extractions[0].uuid, failed.extractions[0].uuid)} == {
        ended.extractions[0].uuid: "done",
        failed.extractions[0].uuid: "failed",
    }
    assert after[new.extractions[0].uuid] == after[later.uuid] == "queued"
    assert await queue.spent(DAY) == COST + COST + COST
    assert await queue.paused()
    await queue.pause(paused=False)
    again = await queue.claim("d", 60)
    assert again is not None
    assert again.job == new.extractions[0]
    again = await queue.claim("e", 60)
    assert again is not None
    assert again.job == later
    assert await queue.ledger(again.id, Budget(), DAY).recorded("asked") == "kept"
    await journal.withdraw(new.uuid)
    assert new.extractions[0].uuid not in await shown(journal)
    await journal.close()


async def test_no_word_of_what_was_forgotten_is_left_in_any_file(journal: SqliteJournal, tmp_path: Path) -> None:
    hidden = "planted-secret"
    told = await an_append(journal)
    queue = journal.extractions
    await queue.cancel([1])
    await queue.enqueue(GROUP, [a_job(episode_uuid=told.episodes[0].uuid, instructions=hidden)])
    await pay(journal, "a", f'{{"name": "{hidden}"}}')
    text = EpisodeText(uuid=told.episodes[0].uuid, name="A note", content="[forgotten]")
    await journal.append(an_intent(kind=WriteKind.FORGET, forgets=Forgetting(episodes=(text,))), {}, "", {})
    assert await journal.erase()
    for file in (tmp_path / "data").iterdir():
        assert hidden.encode() not in file.read_bytes()
    await journal.close()
    assert hidden.encode() not in journal.path.read_bytes()
