"""The queue of extractions on a real SQLite file: several processes, kill -9, and many jobs."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.builders import GROUP, new_uuid
from tests.fakes.clock import FakeClock

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import Deletions, EpisodeText, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.ports.extraction import Budget, Usage
from graphiti_pkm.storage.journal import extraction_reads, extractions, model_answers
from graphiti_pkm.storage.journal.store import SqliteJournal

ROOT = Path(__file__).parents[2]
LEASE = 30.0

# Takes jobs until none is left, telling which; with a third argument it keeps the first one, and an answer to it.
WORKER = """
import asyncio, pathlib, sys, uuid
from graphiti_pkm.core.ports.extraction import Budget, Usage
from graphiti_pkm.storage.journal.store import SqliteJournal
async def main(directory, keeps):
    journal = SqliteJournal(pathlib.Path(directory))
    queue = journal.extractions
    sys.stdin.readline()
    while (await queue.sizes(None))["queued"]:
        owner = str(uuid.uuid4())
        job = await queue.claim(owner, 600 if not keeps else 30)
        if job is None:
            continue
        if keeps:
            await queue.ledger(job.id, Budget(), "2026-03-01").record("asked", "paid for", Usage(calls=1))
        print(job.group_id, job.id, flush=True)
        if keeps:
            sys.stdin.readline()
        assert await queue.finish(job.id, owner)
    await journal.close()
asyncio.run(main(sys.argv[1], len(sys.argv) > 2))
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a worker that waits for a line; whatever still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *arguments],
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


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path, FakeClock(datetime.now(UTC)))
    yield journal
    await journal.close()


def some_jobs(count: int) -> list[ExtractJob]:
    return [ExtractJob(uuid=new_uuid(), episode_uuid=new_uuid()) for _ in range(count)]


def go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


async def test_two_processes_never_get_the_same_job_nor_two_of_one_group(
    tmp_path: Path, journal: SqliteJournal, start: Start
) -> None:
    ids = {name: await journal.extractions.enqueue(name, some_jobs(50)) for name in map(str, range(8))}
    workers = [start(str(tmp_path)) for _ in range(2)]
    for worker in workers:
        go(worker)
    told = [worker.communicate()[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    each = [list(zip(words[::2], map(int, words[1::2]), strict=True)) for words in told]
    assert sorted(job for one in each for _, job in one) == sorted(job for group in ids.values() for job in group)
    for taken in each:
        of_group = defaultdict(list)
        for group, job in taken:
            of_group[group].append(job)
        assert all(jobs == sorted(jobs) for jobs in of_group.values())
    assert (await journal.extractions.sizes(None))["done"] == 400


async def test_the_jobs_of_one_group_are_done_in_order_whoever_takes_them(
    tmp_path: Path, journal: SqliteJournal
) -> None:
    other = SqliteJournal(tmp_path, FakeClock(datetime.now(UTC)))
    ids = await journal.extractions.enqueue(GROUP, some_jobs(6))
    taken = []
    for queue, idle in [(journal.extractions, other.extractions), (other.extractions, journal.extractions)] * 3:
        job = await queue.claim("me", LEASE)
        assert job is not None
        assert await idle.claim("other", LEASE) is None
        await queue.finish(job.id, "me")
        taken.append(job.id)
    assert taken == ids
    await other.close()


async def test_the_job_of_a_killed_process_is_taken_over_with_what_it_paid_for(tmp_path: Path, start: Start) -> None:
    clock = FakeClock(datetime.now(UTC))
    journal = SqliteJournal(tmp_path, clock)
    queue = journal.extractions
    first, _ = await queue.enqueue(GROUP, some_jobs(2))
    worker = start(str(tmp_path), "keeps")
    go(worker)
    assert worker.stdout is not None
    assert worker.stdout.readline().split() == [GROUP, str(first)]
    worker.send_signal(signal.SIGKILL)
    worker.communicate()

    clock.instant = datetime.now(UTC)
    assert await queue.claim("me", LEASE) is None
    clock.advance(seconds=LEASE)
    taken = await queue.claim("me", LEASE)
    assert taken is not None
    assert (taken.id, taken.attempts) == (first, 1)
    ledger = queue.ledger(taken.id, Budget(), "2026-03-01")
    assert await ledger.recorded("asked") == "paid for"
    assert await queue.spent("2026-03-01") == Usage(calls=1)
    await journal.close()


async def test_asking_an_idle_queue_does_not_wait_for_writers(tmp_path: Path, journal: SqliteJournal) -> None:
    queue = journal.extractions
    running, _ = await queue.enqueue("busy", some_jobs(2))
    assert await queue.claim("me", LEASE) is not None
    (later,) = await queue.enqueue("later", some_jobs(1))
    assert await queue.claim("me", LEASE) is not None
    await queue.put_back(later, "me", "overloaded", 60, counts=True)
    with closing(sqlite3.connect(tmp_path / "journal.sqlite3", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert await queue.claim("me", LEASE) is None
        writer.execute("ROLLBACK")
        await queue.finish(running, "me")
        await queue.pause(paused=True)
        writer.execute("BEGIN IMMEDIATE")
        assert await queue.claim("me", LEASE) is None
        writer.execute("ROLLBACK")


def fill(file: sqlite3.Connection, count: int, state: str, group: str) -> None:
    with file:
        file.executemany(
            "INSERT INTO extractions (job, group_id, episode_uuid, payload, state, not_before, queued_at) "
            "VALUES (?, ?, ?, '{}', ?, 0, 0)",
            [(new_uuid(), group + str(n % 8), new_uuid(), state) for n in range(count)],
        )


def steps(file: sqlite3.Connection, work: Callable[[sqlite3.Connection], object]) -> int:
    """How many instructions of SQLite's machine the work takes: what it costs, without a clock."""
    taken = 0

    def step() -> None:
        nonlocal taken
        taken += 1

    file.set_progress_handler(step, 1)
    work(file)
    file.set_progress_handler(None, 1)
    return taken


async def test_what_is_asked_all_the_time_costs_the_same_with_many_jobs(journal: SqliteJournal) -> None:
    await journal.extractions.paused()
    with closing(sqlite3.connect(journal.path)) as file:
        asked: dict[str, Callable[[sqlite3.Connection], object]] = {
            "idle": lambda c: extractions.may_claim(c, 0),
            "claim": lambda c: extractions.claim(c, "me", 1, 2),
            "groups": lambda c: extraction_reads.sizes(c, ["few"]),
            "page": lambda c: extraction_reads.page(c, ["done", "queued"], ["g1"], 5, None),
            "newest": lambda c: extraction_reads.page(c, ["done", "queued", "failed"], None, 5, None),
            "recorded": lambda c: model_answers.find(c, 1, "asked"),
        }
        fill(file, 128, "done", "g")
        fill(file, 128, "queued", "g")
        few = {name: steps(file, work) for name, work in asked.items()}
        file.rollback()
        fill(file, 100_000, "done", "g")
        fill(file, 10_000, "queued", "g")
        many = {name: steps(file, work) for name, work in asked.items()}
    assert {name: many[name] for name in asked if many[name] > 2 * few[name]} == {}


async def test_no_query_of_the_queue_reads_the_whole_table(journal: SqliteJournal) -> None:
    await journal.extractions.paused()
    uuid = new_uuid()
    text = EpisodeText(uuid=uuid, name="", content="")
    forgetting = WriteIntent(
        uuid=new_uuid(),
        group_id=GROUP,
        kind=WriteKind.FORGET,
        recorded_at=datetime.now(UTC),
        deletions=Deletions(episodes=(uuid,), groups=(GROUP,)),
        forgets=Forgetting(episodes=(text,)),
    )
    asked: list[str] = []
    with closing(sqlite3.connect(journal.path, isolation_level=None)) as file:
        file.set_trace_callback(asked.append)
        (job_id,) = extractions.enqueue(file, None, GROUP, some_jobs(1), 0)
        extractions.may_claim(file, 1)
        extractions.claim(file, "me", 1, 2)
        extractions.heartbeat(file, job_id, "me", 3)
        model_answers.count(file, job_id, "2026-03-01", Usage(calls=1))
        model_answers.keep(file, job_id, "me", "asked", "{}")
        model_answers.find(file, job_id, "asked")
        model_answers.spent_by(file, job_id)
        model_answers.spent_on(file, "2026-03-01")
        extractions.put_back(file, job_id, "me", 1, 0, "", "", counts=True)
        extractions.fail(file, job_id, "me", 1, "", "")
        extractions.drop(file, job_id, "me", 1, "")
        extractions.finish(file, job_id, "me", 1)
        extractions.retry(file, [job_id], 1)
        extractions.cancel(file, [job_id], 1)
        extractions.forget(file, forgetting, 1, 1)
        extraction_reads.find(file, [job_id])
        extraction_reads.of_episodes(file, [uuid])
        extraction_reads.former(file, job_id)
        extraction_reads.sizes(file, [GROUP])
        extraction_reads.sizes(file, None)
        extraction_reads.page(file, ["done"], None, 5, 9)
        extraction_reads.page(file, ["done"], [GROUP], 5, 9)
        file.set_trace_callback(None)
        file.execute("DELETE FROM extractions")
        plans = {query: [row[3] for row in file.execute("EXPLAIN QUERY PLAN " + query)] for query in asked}
    read = {line: query for query, plan in plans.items() for line in plan if line.startswith("SCAN extractions")}
    # All jobs by state: one pass over the smallest index.
    assert list(read) == ["SCAN extractions USING COVERING INDEX extractions_by_state"]
    assert len(plans) > 20
