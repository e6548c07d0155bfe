"""Contract of ``JournalBacklog``: ages of what is open, and attempts that failed."""

from datetime import timedelta

from tests.builders import an_intent, new_uuid
from tests.fakes import FakeClock, FakeJournal

from graphiti_pkm.core.model.job_records import BackLinkJob, ExtractJob
from graphiti_pkm.core.ports.metrics import Backlog
from graphiti_pkm.storage.journal.store import SqliteJournal

LEASE = 30.0
AnyJournal = FakeJournal | SqliteJournal


async def test_an_empty_journal_has_nothing_to_do(journal: AnyJournal) -> None:
    assert await journal.backlog() == Backlog()


async def test_the_age_of_a_write_counts_until_it_is_in_the_graph(journal: AnyJournal, clock: FakeClock) -> None:
    writes = [an_intent(recorded_at=clock() - timedelta(seconds=seconds, microseconds=1)) for seconds in (60, 90)]
    for write in writes:
        await journal.append(write, {}, "", {})
    assert (await journal.backlog()).oldest_write == 90.000001
    await journal.written(writes[1].uuid)
    assert (await journal.backlog()).oldest_write == 60.000001
    await journal.fail(writes[0].uuid, "refused")
    assert await journal.backlog() == Backlog()


async def test_a_job_counts_from_its_write_on_until_it_is_done_or_given_up(
    journal: AnyJournal, clock: FakeClock
) -> None:
    job = BackLinkJob(entity_uuid="sarah", names=("Sarah",), before=clock())
    write = an_intent(jobs=[job], recorded_at=clock() - timedelta(seconds=5))
    await journal.append(write, {}, "", {})
    await journal.written(write.uuid)
    clock.advance(seconds=5)
    assert await journal.backlog() == Backlog(oldest_job=10)
    for attempt in range(8):
        found = await journal.claim_job("me", LEASE)
        assert found is not None
        assert await journal.backlog() == Backlog(oldest_job=10, job_attempts=attempt)
        await journal.retry_job(found[0], "no", 0)
    assert await journal.backlog() == Backlog(job_attempts=8)


async def test_what_a_model_is_to_read_counts_from_when_it_was_queued(journal: AnyJournal, clock: FakeClock) -> None:
    queue = journal.extractions
    await queue.enqueue("t1", [ExtractJob(uuid=new_uuid(), episode_uuid=new_uuid())])
    clock.advance(seconds=7)
    claimed = await queue.claim("me", LEASE)
    assert claimed is not None
    assert await journal.backlog() == Backlog(oldest_extraction=7)
    await queue.put_back(claimed.id, "me", "busy", 0, counts=True)
    assert await journal.backlog() == Backlog(oldest_extraction=7, extraction_attempts=1)
    again = await queue.claim("me", LEASE)
    assert again is not None
    await queue.finish(again.id, "me")
    assert await journal.backlog() == Backlog()
