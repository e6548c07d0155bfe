"""The journal on a real SQLite file: what it keeps, in which order, and what it says when it cannot."""

import asyncio
import json
import os
import random
import sqlite3
import stat
import subprocess
import sys
import textwrap
from array import array
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.builders import (
    GROUP,
    OTHER_GROUP,
    RECORDED,
    a_change,
    a_fact,
    a_write,
    an_entity,
    an_episode,
    an_intent,
)
from tests.fakes import FakeClock

from graphiti_pkm.core.model.job_records import BackLinkJob
from graphiti_pkm.core.model.records import Deletions, WriteIntent, WriteKind
from graphiti_pkm.errors import ConfigurationError, ConflictingContent, DamagedStore, NewerSchema, WriteFailed
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile
from graphiti_pkm.storage.journal.schema import MIGRATIONS
from graphiti_pkm.storage.journal.store import SqliteJournal


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path)
    yield journal
    await journal.close()


async def an_append(journal: SqliteJournal, intent: WriteIntent | None = None) -> WriteIntent:
    intent = intent or an_intent(episodes=[an_episode()])
    await journal.append(intent, {}, "hash", {"message": "stored"})
    return intent


def files_in(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


def run_script(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=50,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


async def test_nothing_is_opened_before_the_first_call(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "later")
    assert not (tmp_path / "later").exists()
    await journal.close()


async def test_a_write_comes_back_as_it_went_in(journal: SqliteJournal) -> None:
    episode = an_episode(content="Zoë met 王小明 🙂 \u202eon Monday.")
    intent = an_intent(episodes=[episode], entities=[an_entity()], steering={"excluded_entity_types": ["A"]})
    vectors = {episode.uuid: array("f", [0.1, 1e-30, -1.0]), "other": array("f", [1, 2, 3])}

    seq = await journal.append(intent, vectors, "hash", {"message": "størret", "n": 1})

    [row] = await journal.unfinished(GROUP)
    assert (row.seq, row.intent, row.vectors) == (seq, intent, vectors)
    assert all(vector.typecode == "f" for vector in row.vectors.values())
    assert await journal.stored_answer(episode.uuid) == ("hash", {"message": "størret", "n": 1})
    assert await journal.find([intent.uuid, "unknown"]) == [row]


async def test_vectors_of_two_dimensions_are_refused_before_anything_is_stored(journal: SqliteJournal) -> None:
    with pytest.raises(ValueError, match="dimension"):
        await journal.append(an_intent(), {"a": array("f", [1]), "b": array("f", [1, 2])}, "", {})
    assert await journal.rows(0, 10) == []


async def test_states_lead_from_intent_over_written_to_applied(journal: SqliteJournal) -> None:
    first, second = await an_append(journal), await an_append(journal)
    other = await an_append(journal, an_intent(group_id=OTHER_GROUP))
    assert [row.intent for row in await journal.unfinished(None)] == [first, second, other]
    assert [row.intent for row in await journal.unfinished(OTHER_GROUP)] == [other]

    await journal.written(first.uuid)
    await journal.written(second.uuid)
    assert await journal.written_until_now() == [first.uuid, second.uuid]
    await journal.applied([first.uuid, other.uuid])

    assert await journal.written_until_now() == [second.uuid]
    assert await journal.newest_uuids(10) == [second.uuid, first.uuid]
    assert await journal.newest_uuids(1) == [second.uuid]
    counts = await journal.counts()
    assert (counts["intent"], counts["written"], counts["applied"], counts["failed"]) == (1, 1, 1, 0)


async def test_a_withdrawn_write_leaves_neither_row_nor_receipt_nor_job_nor_text(
    journal: SqliteJournal, tmp_path: Path
) -> None:
    job = BackLinkJob(entity_uuid="e", names=("Sarah",), before=an_intent().recorded_at)
    episode = an_episode(content="a planted secret")
    intent = await an_append(journal, an_intent(episodes=[episode], jobs=(job,)))

    await journal.withdraw(intent.uuid)

    assert await journal.rows(0, 10) == []
    assert await journal.stored_answer(episode.uuid) is None
    assert await journal.pending_links(["e"]) == set()
    await journal.close()
    assert b"planted secret" not in (tmp_path / "journal.sqlite3").read_bytes()


async def test_a_failed_write_is_no_longer_replayed_and_its_uuid_may_be_sent_again(journal: SqliteJournal) -> None:
    episode = an_episode()
    intent = await an_append(journal, an_intent(episodes=[episode]))

    await journal.fail(intent.uuid, "refused 3 times")

    assert await journal.rows(0, 10) == await journal.unfinished(None) == await journal.find([intent.uuid]) == []
    assert (await journal.counts())["failed"] == 1
    assert await journal.stored_answer(episode.uuid) is None
    await an_append(journal, an_intent(episodes=[episode]))
    assert await journal.stored_answer(episode.uuid) is not None


async def test_a_deletion_ends_the_receipt_and_its_withdrawal_brings_it_back(journal: SqliteJournal) -> None:
    episode = an_episode()
    await an_append(journal, an_intent(episodes=[episode]))
    deletion = an_intent(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(episode.uuid,)))

    await an_append(journal, deletion)
    assert await journal.stored_answer(episode.uuid) is None
    await journal.withdraw(deletion.uuid)
    assert await journal.stored_answer(episode.uuid) == ("hash", {"message": "stored"})


async def test_one_uuid_in_two_groups_at_once_is_kept_once(journal: SqliteJournal) -> None:
    episode = an_episode()
    await an_append(journal, an_intent(episodes=[episode]))
    with pytest.raises(ConflictingContent, match="not stored"):
        await an_append(journal, an_intent(group_id=OTHER_GROUP, episodes=[episode]))
    assert len(await journal.rows(0, 10)) == 1


async def test_one_write_is_journalled_once(journal: SqliteJournal) -> None:
    intent = await an_append(journal, an_intent())
    with pytest.raises(ValueError, match="already"):
        await an_append(journal, intent)


async def test_rows_come_in_pages_in_order(journal: SqliteJournal) -> None:
    intents = [await an_append(journal) for _ in range(5)]
    first = await journal.rows(0, 3)
    rest = await journal.rows(first[-1].seq, 3)
    assert [row.intent for row in [*first, *rest]] == intents


async def test_the_files_are_readable_by_their_owner_only(journal: SqliteJournal, tmp_path: Path) -> None:
    await an_append(journal)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files_in(tmp_path)} == {0o600}


async def test_a_closed_journal_leaves_one_file(journal: SqliteJournal, tmp_path: Path) -> None:
    await an_append(journal)
    await journal.close()
    assert [path.name for path in files_in(tmp_path)] == ["journal.sqlite3"]


async def test_many_writers_in_one_process_do_not_disturb_each_other(journal: SqliteJournal) -> None:
    await asyncio.gather(*(an_append(journal) for _ in range(50)))
    assert len(await journal.unfinished(None)) == 50


async def test_a_damaged_file_is_named_left_alone_and_the_remedy_told(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    path.write_bytes(b"no database at all" * 100)
    journal = SqliteJournal(tmp_path)
    with pytest.raises(DamagedStore, match=r"restore BACKUP") as raised:
        await an_append(journal)
    assert str(path) in raised.value.message
    assert path.read_bytes().startswith(b"no database")
    await journal.close()


async def test_damage_inside_the_file_is_found_after_an_unclean_end_and_by_a_check(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    for _ in range(60):
        await an_append(journal)
    await journal.close()
    path = tmp_path / "journal.sqlite3"
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 40_000)

    journal = SqliteJournal(tmp_path)
    with pytest.raises(DamagedStore):
        await journal.check()
    await journal.close()

    # A log left over, as kill -9 leaves it: opening looks before anything is trusted.
    (tmp_path / "journal.sqlite3-wal").write_bytes(b"\0" * 32)
    journal = SqliteJournal(tmp_path)
    with pytest.raises(DamagedStore):
        await journal.counts()
    await journal.close()


async def test_a_journal_damaged_in_its_middle_says_so_and_still_keeps_what_it_gives_back(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    for _ in range(60):
        await an_append(journal, an_intent(episodes=[an_episode(content="x" * 50_000)]))
    assert await journal.damage() is None
    await journal.close()
    path = tmp_path / "journal.sqlite3"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(random.Random(3).randbytes(20_000))  # noqa: S311  the same garbage each time

    journal = SqliteJournal(tmp_path)
    told = await journal.damage()
    assert told is not None
    assert "restore BACKUP --replace" in told
    assert "acknowledged only if" in told
    kept = await an_append(journal)
    assert [row.intent for row in await journal.find([kept.uuid])] == [kept]
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(
            "CREATE TRIGGER lose AFTER INSERT ON contents "
            "BEGIN UPDATE contents SET intent = 'garbage' WHERE seq = NEW.seq; END"
        )
    lost = an_intent(episodes=[an_episode()])
    with pytest.raises(DamagedStore, match=r"^Nothing was stored\. The journal .* is damaged"):
        await an_append(journal, lost)
    assert await journal.find([lost.uuid]) == []
    await journal.close()


async def test_a_journal_that_was_replaced_is_looked_at_anew(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    await an_append(journal)
    await journal.close()
    journal = SqliteJournal(tmp_path)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    assert await journal.damage() is not None
    (tmp_path / "copy").write_bytes(whole)
    (tmp_path / "copy").replace(journal.path)
    assert await journal.damage() is None
    await journal.close()


async def test_a_row_that_is_no_longer_what_was_stored_is_damage_and_its_text_is_in_no_error(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    await an_append(journal)
    with closing(sqlite3.connect(journal.path)) as other, other:
        other.execute('UPDATE contents SET intent = \'{"uuid": "a planted secret"}\'')
    with pytest.raises(DamagedStore) as raised:
        await journal.rows(0, 10)
    causes = f"{raised.value} {raised.value.__cause__!r} {raised.value.__cause__.__cause__!r}"  # type: ignore[union-attr]
    assert "planted" not in causes
    await journal.close()


async def test_somebody_elses_database_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "journal.sqlite3")) as other, other:
        other.execute("CREATE TABLE theirs (a)")
    journal = SqliteJournal(tmp_path)
    with pytest.raises(DamagedStore, match="no journal"):
        await journal.counts()
    await journal.close()


async def test_a_directory_that_cannot_be_made_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    journal = SqliteJournal(tmp_path / "file" / "data")
    with pytest.raises(ConfigurationError, match="--data-dir"):
        await an_append(journal)
    await journal.close()


def test_a_read_only_directory_is_a_configuration_error(tmp_path: Path) -> None:
    script = """
        import asyncio, os, pathlib, sys
        from tests.builders import an_intent
        from graphiti_pkm.errors import ConfigurationError
        from graphiti_pkm.storage.journal.store import SqliteJournal
        async def main():
            journal = SqliteJournal(pathlib.Path("."))
            try:
                await journal.append(an_intent(), {}, "", {})
            except ConfigurationError as error:
                print(error.message)
            await journal.close()
        os.chdir(sys.argv[1])
        if os.geteuid() == 0:
            os.setuid(65534)
        asyncio.run(main())
    """
    directory = tmp_path / "data"
    directory.mkdir()
    directory.chmod(0o555)
    done = run_script(script, str(directory))
    assert "cannot be written" in done.stdout, done.stderr


async def test_a_full_disk_refuses_the_write_and_keeps_what_was_there(journal: SqliteJournal) -> None:
    kept = await an_append(journal)
    await journal._durable.run(lambda c: c.execute("PRAGMA max_page_count = 1").fetchall())
    with pytest.raises(WriteFailed, match=r"Nothing was stored.*full"):
        await an_append(journal, an_intent(episodes=[an_episode(content="x" * 100_000)]))
    assert [row.intent for row in await journal.rows(0, 10)] == [kept]

    await journal._durable.run(lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchall())
    await an_append(journal)
    assert len(await journal.rows(0, 10)) == 2


def test_a_file_that_may_not_grow_refuses_the_write_and_loses_nothing(tmp_path: Path) -> None:
    script = """
        import asyncio, pathlib, resource, sys
        from tests.builders import an_episode, an_intent
        from graphiti_pkm.errors import WriteFailed
        from graphiti_pkm.storage.journal.store import SqliteJournal
        async def main():
            journal = SqliteJournal(pathlib.Path(sys.argv[1]))
            kept = 0
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
            try:
                while kept < 1000:
                    await journal.append(an_intent(episodes=[an_episode(content="x" * 9000)]), {}, "", {})
                    kept += 1
            except WriteFailed as error:
                print(kept, error.message)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            await journal.append(an_intent(), {}, "", {})
            assert len(await journal.rows(0, 2000)) == kept + 1
            await journal.close()
        asyncio.run(main())
    """
    done = run_script(script, str(tmp_path))
    assert "Nothing was stored." in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr


async def test_an_older_file_is_migrated_after_a_backup(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    intent = await an_append(journal)
    await journal.close()

    newer = SqliteJournal(tmp_path, migrations=(*MIGRATIONS, ("ALTER TABLE writes ADD COLUMN note TEXT",)))
    assert [row.intent for row in await newer.rows(0, 10)] == [intent]
    await an_append(newer)
    await newer.close()

    with closing(sqlite3.connect(tmp_path / f"journal-version-{len(MIGRATIONS)}.sqlite3")) as kept:
        assert kept.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert kept.execute("SELECT uuid FROM writes").fetchall() == [(intent.uuid,)]


async def test_a_row_of_version_one_is_read_with_what_it_did_not_know(tmp_path: Path) -> None:
    sarah, note = an_entity("Sarah"), an_episode()
    change = a_change(a_fact(sarah, sarah), note, replaced_by="new", previous_invalid_at=RECORDED)
    unknown = {"reason", "caller", "invalid_at", "previous_voided", "previous_told_at"}
    older = SqliteJournal(tmp_path, now=FakeClock(), migrations=MIGRATIONS[:1])
    written = await an_append(older, a_write(sarah, note, change))
    await older.close()
    with closing(sqlite3.connect(older.path)) as file, file:
        (text,) = file.execute("SELECT intent FROM contents").fetchone()
        row = json.loads(text)
        del row["uncorrected_episodes"]
        row["changes"] = [{key: value for key, value in one.items() if key not in unknown} for one in row["changes"]]
        file.execute("UPDATE contents SET intent = ?", (json.dumps(row),))
    journal = SqliteJournal(tmp_path)
    assert [row.intent for row in await journal.rows(0, 10)] == [written]
    await journal.close()


async def test_a_migration_that_fails_leaves_the_older_file_as_it_was(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    intent = await an_append(journal)
    await journal.close()
    broken = SqliteJournal(
        tmp_path, migrations=(*MIGRATIONS, ("ALTER TABLE writes ADD COLUMN note TEXT", "ALTER TABLE missing DROP a"))
    )
    with pytest.raises(sqlite3.OperationalError):
        await broken.rows(0, 10)
    await broken.close()
    journal = SqliteJournal(tmp_path)
    assert [row.intent for row in await journal.rows(0, 10)] == [intent]
    await journal.close()


async def test_a_newer_file_is_refused_naming_both_versions(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path)
    await an_append(journal)
    with closing(sqlite3.connect(journal.path)) as other:
        other.execute("PRAGMA user_version = 99")
    # The process that is running and one that starts: both refuse.
    with pytest.raises(NewerSchema, match=rf"version 99.*up to {len(MIGRATIONS)}"):
        await an_append(journal)
    await journal.close()
    journal = SqliteJournal(tmp_path)
    with pytest.raises(NewerSchema, match="version 99"):
        await journal.counts()
    await journal.close()


async def test_what_undoes_a_statement_is_in_memory_unless_the_write_may_touch_every_page(tmp_path: Path) -> None:
    """In a file it would be ten times as much as the write stores; in memory, that of a whole group may not fit."""
    journal = SqliteJournal(tmp_path, file=JournalFile(tmp_path, name=MEMORY))
    stores: list[object] = []

    def effect(connection: sqlite3.Connection) -> None:
        stores.append(connection.execute("PRAGMA temp_store").fetchone()[0])

    for deletions in (Deletions(), Deletions(groups=(GROUP,)), Deletions()):
        intent = an_intent(episodes=[an_episode()]).model_copy(update={"deletions": deletions})
        await journal.append(intent, {}, "", {}, effect)
    await journal.close()
    in_file, in_memory = 1, 2
    assert stores == [in_memory, in_file, in_memory]
