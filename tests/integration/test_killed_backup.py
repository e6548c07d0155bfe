"""A backup that is killed at any of its steps."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest
from tests.builders import a_write, an_episode
from tests.e2e.support import environment

from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile
from graphiti_pkm.storage.journal.store import SqliteJournal


@pytest.mark.parametrize(
    ("when", "step", "is_there"),
    [
        ("before", "storage.journal.copies:copy_to", False),
        ("after", "storage.journal.copies:copy_to", False),
        ("before", "storage.journal.copies:_publish", False),
        ("after", "storage.journal.copies:_publish", True),
    ],
)
async def test_a_killed_backup_is_whole_or_not_there_and_the_next_one_tidies_up(
    tmp_path: Path, when: str, step: str, is_there: bool
) -> None:
    directory = tmp_path / "backups"
    directory.mkdir()
    journal = SqliteJournal(tmp_path / "data", file=JournalFile(tmp_path / "data", name=MEMORY))
    await journal.append(a_write(an_episode()), {}, "", {})
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.killed", when, step, "1", "backup", str(directory / "one")),
        env=environment(data_dir=tmp_path / "data"),
    )
    assert await process.wait() == -signal.SIGKILL
    assert (directory / "one").exists() is is_there
    assert len(list(directory.iterdir())) >= 1
    await journal.backup(directory / "two")
    assert sorted(path.name for path in directory.iterdir()) == (["one", "two"] if is_there else ["two"])
    for path in directory.iterdir():
        assert await journal.verify_backup(path) == 1
    await journal.close()
