"""What a killed backup, restore or migration left holds words of the memory: it goes at start and at forget."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.builders import a_write, an_episode
from tests.integration.planted import files_with

from graphiti_pkm.storage.journal.store import SqliteJournal

PLANTED = "Quolltext-4711"

_MAKES = """
import sys, time
from pathlib import Path
from graphiti_pkm.storage.journal.partial import partial
with partial(Path(sys.argv[1]), sys.argv[2]) as path:
    path.write_text(sys.argv[3])
    path.with_name(path.name + "-wal").write_text(sys.argv[3])
    print("made", flush=True)
    time.sleep(600)
"""


@contextmanager
def making(where: Path, name: str) -> Iterator["subprocess.Popen[str]"]:
    """Another process in the middle of making a file."""
    command = [sys.executable, "-c", _MAKES, str(where), name, PLANTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "made\n"
            yield process
        finally:
            process.kill()


async def a_journal(data_dir: Path) -> SqliteJournal:
    journal = SqliteJournal(data_dir)
    await journal.append(a_write(an_episode()), {}, "hash", {})
    return journal


def left_in(directory: Path, pattern: str = "*.partial*") -> list[str]:
    return [path.name for path in directory.rglob(pattern)]


def killed(where: Path, name: str) -> None:
    with making(where, name) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


async def test_what_killed_processes_left_is_gone_after_forgetting(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    journal = await a_journal(data_dir)
    for name in ("restore", "journal-version-3.sqlite3", "mine.sqlite3"):
        killed(data_dir, name)
    # As versions before 1.1 left them, without a lock: a copy to restore from, half migrated.
    older = ("restore.4711.partial", "restore.4711.partial-journal", "restore.4711-version-2.partial")
    for name in older:
        (data_dir / f".{name}").write_text(PLANTED)
    (data_dir / "..restore.4711-version-2.partial.4711.partial").write_text(PLANTED)
    assert len(files_with(tmp_path, PLANTED)) == 10
    assert await journal.erase()
    assert not files_with(tmp_path, PLANTED)
    assert not left_in(tmp_path)
    await journal.close()


async def test_a_backup_leaves_the_unfinished_files_of_other_programs_alone(tmp_path: Path) -> None:
    journal, home = await a_journal(tmp_path / "data"), tmp_path / "home"
    home.mkdir()
    others = {".report.partial", ".video.mp4.partial", ".thesis.docx.partial-wal"}
    for name in others:
        (home / name).write_text("of another program")
    killed(home, "notes.backup")
    await journal.backup(home / "notes.backup")
    assert {path.name for path in home.iterdir()} == {"notes.backup", *others}
    await journal.close()


async def test_what_killed_processes_left_is_gone_after_a_start(tmp_path: Path) -> None:
    await (await a_journal(tmp_path)).close()
    killed(tmp_path, "restore")
    assert files_with(tmp_path, PLANTED)
    again = SqliteJournal(tmp_path)
    await again.counts()
    assert not files_with(tmp_path, PLANTED)
    await again.close()


async def test_what_a_running_process_makes_stays_and_forgetting_is_not_done_before_it(tmp_path: Path) -> None:
    journal = await a_journal(tmp_path)
    killed(tmp_path, "restore")
    with making(tmp_path, "mine.sqlite3"):
        assert not await journal.erase()
        assert (await journal.counts())["intent"] == 1
        assert [path for path in files_with(tmp_path, PLANTED) if "mine" in path]
    assert await journal.erase()
    assert not files_with(tmp_path, PLANTED)
    await journal.close()


async def test_a_backup_leaves_nothing_beside_it(tmp_path: Path) -> None:
    journal = await a_journal(tmp_path / "data")
    (tmp_path / "backups").mkdir()
    await journal.backup(tmp_path / "backups" / "mine.sqlite3")
    assert left_in(tmp_path / "backups", "*") == ["mine.sqlite3"]
    assert await journal.verify_backup(tmp_path / "backups" / "mine.sqlite3") == 1
    assert not left_in(tmp_path)
    await journal.close()
