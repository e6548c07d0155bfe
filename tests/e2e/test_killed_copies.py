"""A restore that is killed at any of its steps, or finds the disk full, beside a running server."""

import asyncio
import hashlib
import signal
import sys
from pathlib import Path

import pytest
from tests.e2e.support import call, environment, over_stdio, run
from tests.e2e.test_killed_rebuild import notes, remember

pytestmark = pytest.mark.timeout(300)  # many processes one after the other
Step = tuple[str, str, int]
OLD, NEW = [0, 1, 2, 3], [0, 1]


async def killed(data_dir: Path, when: str, step: str, times: int, *command: str, **settings: object) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.killed", when, step, str(times), *command),
        env=environment(data_dir=data_dir, **settings),
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == -signal.SIGKILL


BEFORE = [
    ("after", "storage.journal.schema:copy_to", 1),
    ("before", "storage.journal.copies:check_whole", 1),
    ("after", "storage.journal.copies:_publish", 1),
    ("before", "storage.journal.copies:_join_spending", 1),
]
AFTER = [
    ("after", "storage.journal.store:SqliteJournal.restore", 1),
    ("after", "storage.graph.sqlite.store:SqliteGraph.clear", 1),
    ("after", "storage.graph.sqlite.core_parts:Writer.apply", 1),
]


@pytest.mark.parametrize(
    ("before", "after"), [(BEFORE[-1:], AFTER[::2]), pytest.param(BEFORE, AFTER, marks=pytest.mark.storm)]
)
async def test_a_killed_restore_leaves_the_old_memory_or_brings_the_new_one(
    data_dir: Path, tmp_path: Path, before: list[Step], after: list[Step]
) -> None:
    backup = str(tmp_path / "backup")
    async with over_stdio(data_dir) as client:
        for number in NEW:
            await remember(client, number)
        assert (await asyncio.to_thread(run, "backup", backup, data_dir=data_dir)).returncode == 0
        for number in OLD[len(NEW) :]:
            await remember(client, number)
        for step in before:
            await killed(data_dir, *step, "restore", backup, "--replace")
            assert await notes(client) == OLD, step
        assert (await call(client, "get_status"))["status"] == "ok"
        for step in after:
            await killed(data_dir, *step, "restore", backup, "--replace")
            assert await notes(client) == NEW, step
            assert (await call(client, "get_status"))["status"] == "ok"
        await remember(client, 2)
        assert await notes(client) == [0, 1, 2]


async def test_a_restore_on_a_disk_that_is_full_changes_nothing(data_dir: Path, tmp_path: Path) -> None:
    """The largest size of a file stands for the disk: what is written beyond it fails."""
    backup = tmp_path / "backup"
    async with over_stdio(data_dir) as client:
        for number in OLD:
            await remember(client, number)
        assert (await asyncio.to_thread(run, "backup", str(backup), data_dir=data_dir)).returncode == 0
        kilobytes = backup.stat().st_size // 1024
        before = digests(data_dir)
        for limit in (4, kilobytes):
            process = await asyncio.create_subprocess_exec(
                *("bash", "-c", f"trap '' XFSZ; ulimit -f {limit}; exec \"$@\"", "-"),
                *(sys.executable, "-m", "graphiti_pkm.cli.main", "restore", str(backup), "--replace"),
                env=environment(data_dir=data_dir),
                stderr=asyncio.subprocess.PIPE,
            )
            _, error = await process.communicate()
            assert process.returncode == 1
            assert b"graphiti-pkm: " in error
            assert await notes(client) == OLD
            assert digests(data_dir) == before
        assert left_over(data_dir) == []


def digests(data_dir: Path) -> str:
    return hashlib.sha256((data_dir / "memory.sqlite3").read_bytes()).hexdigest()


def left_over(data_dir: Path) -> list[str]:
    return [path.name for path in data_dir.iterdir() if "before-restore" in path.name or "partial" in path.name]
