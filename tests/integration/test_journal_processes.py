"""The journal under several processes, and under kill -9."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.builders import an_intent

from graphiti_pkm.core.model.job_records import EmbedPassagesJob
from graphiti_pkm.storage.journal.store import SqliteJournal

ROOT = Path(__file__).parents[2]

# Prints a write's uuid after the journal has acknowledged it, as a server answers its caller.
WRITER = """
import asyncio, pathlib, sys
from tests.builders import an_episode, an_intent
from graphiti_pkm.storage.journal.store import SqliteJournal
async def main(directory, count):
    journal = SqliteJournal(pathlib.Path(directory))
    for _ in range(count):
        intent = an_intent(episodes=[an_episode(content="x" * 3000)])
        await journal.append(intent, {}, "", {})
        print(intent.uuid, flush=True)
        await journal.written(intent.uuid)
    await journal.close()
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""

CLAIMER = """
import asyncio, pathlib, sys
from graphiti_pkm.storage.journal.store import SqliteJournal
async def main(directory, owner):
    journal = SqliteJournal(pathlib.Path(directory))
    sys.stdin.readline()
    while claimed := await journal.claim_job(owner, 600):
        print(claimed[0], flush=True)
        await journal.finish_job(claimed[0])
    await journal.close()
asyncio.run(main(sys.argv[1], sys.argv[2]))
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start Python on a script; whatever still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


async def test_no_acknowledged_write_is_lost_when_writers_are_killed(tmp_path: Path, start: Start) -> None:
    acknowledged: list[str] = []
    for kills in range(3):
        writer = start(WRITER, str(tmp_path), "100000")
        assert writer.stdout is not None
        heard = [writer.stdout.readline().strip() for _ in range(20 + 13 * kills)]
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        # The last line may be cut short by the kill: nobody was told about that write.
        acknowledged += [uuid for uuid in [*heard, *rest.splitlines()] if len(uuid) == 36]

    journal = SqliteJournal(tmp_path)
    kept = [row.intent.uuid for row in await journal.rows(0, 1_000_000)]
    assert set(acknowledged) <= set(kept)
    assert len(kept) == len(set(kept)) <= len(acknowledged) + 3
    assert len(acknowledged) >= 99
    await journal.check()
    await journal.close()


async def test_processes_that_start_together_share_one_journal(tmp_path: Path, start: Start) -> None:
    writers = [start(WRITER, str(tmp_path / "new"), "25") for _ in range(4)]
    acknowledged = [uuid for writer in writers for uuid in writer.communicate()[0].splitlines()]
    assert [writer.returncode for writer in writers] == [0] * 4
    journal = SqliteJournal(tmp_path / "new")
    rows = await journal.rows(0, 1000)
    assert {row.intent.uuid for row in rows} == set(acknowledged)
    assert len(rows) == 100
    assert (await journal.counts())["written"] == 100
    await journal.close()


async def test_two_processes_never_get_the_same_job(tmp_path: Path, start: Start) -> None:
    journal = SqliteJournal(tmp_path)
    jobs = tuple(EmbedPassagesJob(episode_uuid=str(n)) for n in range(200))
    await journal.append(an_intent(jobs=jobs), {}, "", {})
    claimers = [start(CLAIMER, str(tmp_path), owner) for owner in ("a", "b")]
    for claimer in claimers:
        assert claimer.stdin is not None
        claimer.stdin.write("go\n")
        claimer.stdin.flush()
    claimed = [int(line) for claimer in claimers for line in claimer.communicate()[0].splitlines()]
    assert len(claimed) == len(set(claimed)) == 200
    counts = await journal.counts()
    assert (counts["jobs_queued"], counts["jobs_running"], counts["jobs_failed"]) == (0, 0, 0)
    await journal.close()
