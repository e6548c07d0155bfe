"""The queue of durable jobs on a real SQLite file: leases, retries, and processes that do not come back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.builders import GROUP, RECORDED, an_intent
from tests.fakes.clock import FakeClock

from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedPassagesJob
from graphiti_pkm.storage.journal.jobs import MAX_ATTEMPTS
from graphiti_pkm.storage.journal.store import SqliteJournal

LEASE = 30.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def journal(tmp_path: Path, clock: FakeClock) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path, clock)
    yield journal
    await journal.close()


@pytest.fixture
async def other(tmp_path: Path, clock: FakeClock) -> AsyncIterator[SqliteJournal]:
    """Another process on the same directory."""
    journal = SqliteJournal(tmp_path, clock)
    yield journal
    await journal.close()


def a_link(entity_uuid: str = "e", after: str | None = None) -> BackLinkJob:
    return BackLinkJob(entity_uuid=entity_uuid, names=("Sarah",), before=RECORDED, after=after)


async def enqueue(journal: SqliteJournal, *jobs: BackLinkJob | EmbedPassagesJob) -> None:
    await journal.append(an_intent(jobs=jobs), {}, "", {})


async def test_jobs_are_leased_oldest_first_and_once(journal: SqliteJournal, other: SqliteJournal) -> None:
    await enqueue(journal, a_link(), EmbedPassagesJob(episode_uuid="x"))
    first, second = await journal.claim_job("a", LEASE), await other.claim_job("b", LEASE)
    assert first is not None
    assert second is not None
    assert (first[1:], second[1:]) == ((GROUP, a_link()), (GROUP, EmbedPassagesJob(episode_uuid="x")))
    assert await other.claim_job("b", LEASE) is None
    assert (await journal.counts())["jobs_running"] == 2


async def test_a_finished_job_is_never_leased_again(journal: SqliteJournal) -> None:
    await enqueue(journal, a_link())
    claimed = await journal.claim_job("a", LEASE)
    assert claimed is not None
    assert await journal.pending_links(["e", "f"]) == {"e"}
    await journal.finish_job(claimed[0])
    assert await journal.claim_job("a", LEASE) is None
    assert await journal.pending_links(["e", "f"]) == set()


async def test_progress_is_kept(journal: SqliteJournal) -> None:
    await enqueue(journal, a_link())
    claimed = await journal.claim_job("a", LEASE)
    assert claimed is not None
    await journal.advance_job(claimed[0], a_link(after="m"))
    assert await journal.claim_job("a", LEASE) == (claimed[0], GROUP, a_link(after="m"))


async def test_a_lease_that_ran_out_is_taken_over_and_its_late_holder_changes_nothing(
    journal: SqliteJournal, other: SqliteJournal, clock: FakeClock
) -> None:
    await enqueue(journal, a_link())
    late = await journal.claim_job("a", LEASE)
    assert late is not None
    clock.advance(seconds=LEASE - 1)
    assert await other.claim_job("b", LEASE) is None
    clock.advance(seconds=1)
    taken = await other.claim_job("b", LEASE)
    assert taken == late

    await journal.finish_job(late[0])
    assert await other.pending_links(["e"]) == {"e"}
    await other.advance_job(late[0], a_link(after="z"))
    assert await other.claim_job("b", LEASE) == (late[0], GROUP, a_link(after="z"))


async def test_a_failure_waits_and_the_last_one_is_shown(journal: SqliteJournal, clock: FakeClock) -> None:
    await enqueue(journal, a_link())
    for _ in range(MAX_ATTEMPTS):
        claimed = await journal.claim_job("a", LEASE)
        assert claimed is not None
        await journal.retry_job(claimed[0], "no model", 10)
        assert await journal.claim_job("a", LEASE) is None
        clock.advance(seconds=10)
    assert await journal.claim_job("a", LEASE) is None
    assert (await journal.counts())["jobs_failed"] == 1
    assert await journal.pending_links(["e"]) == {"e"}


async def test_a_job_that_kills_its_process_every_time_is_set_aside(journal: SqliteJournal, clock: FakeClock) -> None:
    await enqueue(journal, a_link())
    for _ in range(MAX_ATTEMPTS):
        assert await journal.claim_job("a", LEASE) is not None
        clock.advance(seconds=LEASE)
    assert await journal.claim_job("a", LEASE) is None
    assert (await journal.counts())["jobs_failed"] == 1
