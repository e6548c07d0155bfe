"""Backup and restore of the journal on real files."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.builders import an_episode, an_intent

from graphiti_pkm.core.model.job_records import EmbedPassagesJob
from graphiti_pkm.core.model.records import EpisodeText, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.errors import DamagedStore, InvalidInput, NewerSchema, Unavailable
from graphiti_pkm.storage.journal import redaction
from graphiti_pkm.storage.journal.store import SqliteJournal


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path / "data")
    yield journal
    await journal.close()


async def an_append(journal: SqliteJournal, content: str = "A note.") -> WriteIntent:
    intent = an_intent(episodes=[an_episode(content=content)], jobs=(EmbedPassagesJob(episode_uuid="x"),))
    await journal.append(intent, {}, "hash", {})
    return intent


async def intents(journal: SqliteJournal) -> list[WriteIntent]:
    return [row.intent for row in await journal.rows(0, 10_000)]


def files_under(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*") if path.is_file())


async def test_a_backup_restores_rows_states_receipts_and_jobs(journal: SqliteJournal, tmp_path: Path) -> None:
    first, second = await an_append(journal), await an_append(journal)
    await journal.written(first.uuid)
    assert await journal.claim_job("a", 60) is not None
    await journal.backup(tmp_path / "backup")
    later = await an_append(journal, "a planted secret")
    await journal.withdraw(second.uuid)

    assert await journal.verify_backup(tmp_path / "backup") == 2
    assert await journal.restore(tmp_path / "backup") == 2

    assert await intents(journal) == [first, second]
    assert await journal.written_until_now() == [first.uuid]
    assert await journal.stored_answer(second.episodes[0].uuid) == ("hash", {})
    assert await journal.stored_answer(later.episodes[0].uuid) is None
    assert (await journal.counts())["jobs_queued"] == 2
    await journal.end_rebuild()
    assert await an_append(journal) in await intents(journal)
    await journal.close()
    assert b"planted secret" not in journal.path.read_bytes()
    assert files_under(tmp_path) == ["backup", "journal.sqlite3"]


async def test_a_backup_made_while_writers_go_on_is_a_whole_prefix(journal: SqliteJournal, tmp_path: Path) -> None:
    written: list[WriteIntent] = []
    stop, under_way = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        while not stop.is_set():
            written.append(await an_append(journal, "x" * 5000))
            if len(written) == 20:
                under_way.set()

    writer = asyncio.create_task(write())
    await under_way.wait()
    before = len(written)
    await journal.backup(tmp_path / "backup")
    stop.set()
    await writer

    count = await journal.restore(tmp_path / "backup")
    assert count >= before
    assert await intents(journal) == written[:count]


async def test_a_backup_overwrites_nothing(journal: SqliteJournal, tmp_path: Path) -> None:
    (tmp_path / "backup").write_text("mine")
    with pytest.raises(InvalidInput, match="not overwritten"):
        await journal.backup(tmp_path / "backup")
    assert (tmp_path / "backup").read_text() == "mine"


async def test_a_backup_into_a_missing_directory_says_so(journal: SqliteJournal, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="could not be written"):
        await journal.backup(tmp_path / "missing" / "backup")


async def test_what_is_no_backup_changes_nothing(journal: SqliteJournal, tmp_path: Path) -> None:
    kept = await an_append(journal)
    (tmp_path / "text").write_text("hello " * 1000)
    with closing(sqlite3.connect(tmp_path / "theirs")) as other, other:
        other.execute("CREATE TABLE writes (a)")
    with pytest.raises(InvalidInput, match="no backup file"):
        await journal.restore(tmp_path / "missing")
    with pytest.raises(DamagedStore, match="Nothing was changed"):
        await journal.restore(tmp_path / "text")
    with pytest.raises(InvalidInput, match="no backup of"):
        await journal.restore(tmp_path / "theirs")
    assert await intents(journal) == [kept]


async def test_a_damaged_or_newer_backup_changes_nothing(journal: SqliteJournal, tmp_path: Path) -> None:
    kept = [await an_append(journal, "x" * 5000) for _ in range(20)]
    await journal.backup(tmp_path / "newer")
    await journal.backup(tmp_path / "damaged")
    with closing(sqlite3.connect(tmp_path / "newer")) as newer:
        newer.execute("PRAGMA user_version = 99")
    with (tmp_path / "damaged").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 40_000)
    with pytest.raises(NewerSchema, match="version 99"):
        await journal.restore(tmp_path / "newer")
    with pytest.raises(DamagedStore, match="Nothing was changed"):
        await journal.restore(tmp_path / "damaged")
    assert await intents(journal) == kept


async def test_a_damaged_journal_is_never_backed_up_as_if_it_were_whole(journal: SqliteJournal, tmp_path: Path) -> None:
    for _ in range(20):
        await an_append(journal, "x" * 5000)
    await journal.close()
    with journal.path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 40_000)
    journal = SqliteJournal(tmp_path / "data")
    with pytest.raises(DamagedStore):
        await journal.backup(tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
    await journal.close()


async def test_restoring_over_a_damaged_journal_keeps_the_file_and_saves_what_is_readable(
    journal: SqliteJournal, tmp_path: Path
) -> None:
    old = [await an_append(journal, "x" * 3000) for _ in range(10)]
    await journal.backup(tmp_path / "backup")
    new = [await an_append(journal, "y" * 3000) for _ in range(10)]
    await journal.close()
    content = journal.path.read_bytes()
    page = content.rindex(b"y" * 1000) // 4096 * 4096
    journal.path.write_bytes(content[:page] + b"\xff" * 500 + content[page + 500 :])

    journal, other = SqliteJournal(tmp_path / "data"), SqliteJournal(tmp_path / "data")
    with pytest.raises(DamagedStore):
        await journal.check()
    count = await journal.restore(tmp_path / "backup")

    restored = await intents(journal)
    assert len(restored) == count
    assert restored[:10] == old
    assert all(intent in new for intent in restored[10:])
    assert len(restored) >= 19
    [kept] = (tmp_path / "data").glob("journal.sqlite3.damaged-*")
    assert kept.stat().st_size == len(content)
    await journal.end_rebuild()
    later = await an_append(other)
    assert (await intents(journal))[-1] == later
    await journal.close()
    await other.close()


async def test_a_write_of_a_damaged_journal_that_contradicts_the_backup_costs_no_other(
    journal: SqliteJournal, tmp_path: Path
) -> None:
    old = await an_append(journal, "x" * 3000)
    await journal.backup(tmp_path / "backup")
    await journal.withdraw(old.uuid)
    sent_again = an_intent(episodes=old.episodes)
    await journal.append(sent_again, {}, "hash", {})
    new = [await an_append(journal, "y" * 3000) for _ in range(10)]
    await journal.close()
    content = journal.path.read_bytes()
    page = content.rindex(b"y" * 1000) // 4096 * 4096
    journal.path.write_bytes(content[:page] + b"\xff" * 500 + content[page + 500 :])

    journal = SqliteJournal(tmp_path / "data")
    count = await journal.restore(tmp_path / "backup")
    restored = await intents(journal)
    assert len(restored) == count >= 10
    assert restored[0] == old
    assert all(intent in new for intent in restored[1:])
    await journal.close()


async def test_what_was_forgotten_after_a_backup_is_taken_out_of_it_again_when_both_journals_are_joined(
    journal: SqliteJournal, tmp_path: Path
) -> None:
    told = await an_append(journal, "A secret.")
    await journal.backup(tmp_path / "backup")
    text = EpisodeText(uuid=told.episodes[0].uuid, name="A note", content="[forgotten]")
    await journal.append(an_intent(kind=WriteKind.FORGET, forgets=Forgetting(episodes=(text,))), {}, "", {})
    await an_append(journal, "y" * 9000)
    await journal.close()
    content = journal.path.read_bytes()
    page = content.rindex(b"y" * 1000) // 4096 * 4096
    journal.path.write_bytes(content[:page] + b"\xff" * 500 + content[page + 500 :])

    journal = SqliteJournal(tmp_path / "data")
    with pytest.raises(DamagedStore):
        await journal.check()
    assert await journal.restore(tmp_path / "backup") == 2
    assert [one.content for intent in await intents(journal) for one in intent.episodes] == ["[forgotten]"]
    await journal.close()


async def test_joined_journals_have_the_receipts_of_a_group_looked_through_once(journal: SqliteJournal) -> None:
    notes = []
    for _ in range(3):
        notes.append(await an_append(journal))
        await journal.append(an_intent(kind=WriteKind.FORGET, forgets=Forgetting()), {}, "", {})
    notes.append(await an_append(journal))
    asked: list[str] = []
    with closing(sqlite3.connect(journal.path, isolation_level=None)) as file:
        file.execute("UPDATE contents SET answer = '{\"related\":[\"a secret\"]}' WHERE request_hash = 'hash'")
        file.set_trace_callback(asked.append)
        redaction.redact_again(file)
    assert sum("SELECT seq, answer" in query for query in asked) == 1
    told = [await journal.stored_answer(note.episodes[0].uuid) for note in notes]
    assert told == [("hash", {"related": []})] * 3 + [("hash", {"related": ["a secret"]})]


async def test_another_process_notices_that_the_file_was_replaced(journal: SqliteJournal, tmp_path: Path) -> None:
    other = SqliteJournal(tmp_path / "data")
    await an_append(journal)
    assert len(await intents(other)) == 1
    journal.path.rename(tmp_path / "aside")
    for left in (tmp_path / "data").iterdir():
        left.unlink()

    await an_append(other)
    await an_append(journal)

    assert len(await intents(other)) == len(await intents(journal)) == 2
    await other.close()
