"""Contract of ``Journal``: the queue of durable jobs."""

from tests.builders import RECORDED, an_intent
from tests.fakes import FakeClock

from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedPassagesJob, Job
from graphiti_pkm.core.ports.ports import Journal

LEASE = 30.0
ATTEMPTS = 8


def a_link(entity_uuid: str = "sarah", after: str | None = None) -> BackLinkJob:
    return BackLinkJob(entity_uuid=entity_uuid, names=("Sarah", "Sal"), before=RECORDED, after=after)


async def enqueue(journal: Journal, *jobs: Job, group_id: str = "t1") -> str:
    write = an_intent(jobs=list(jobs), group_id=group_id)
    await journal.append(write, {}, "", {})
    return write.uuid


async def claimed(journal: Journal) -> tuple[int, str, Job]:
    found = await journal.claim_job("me", LEASE)
    assert found is not None
    return found


async def counts(journal: Journal) -> tuple[int, int, int]:
    """Queued, running, failed."""
    found = await journal.counts()
    return found["jobs_queued"], found["jobs_running"], found["jobs_failed"]


async def test_jobs_are_enqueued_with_their_write_and_leased_oldest_first(journal: Journal) -> None:
    embed = EmbedPassagesJob(episode_uuid="long")
    await enqueue(journal, a_link("sarah"), embed)
    await enqueue(journal, a_link("tom"), group_id="t2")
    assert await counts(journal) == (3, 0, 0)
    found = [(await claimed(journal))[1:] for _ in range(3)]
    assert found == [("t1", a_link("sarah")), ("t1", embed), ("t2", a_link("tom"))]
    assert await journal.claim_job("me", LEASE) is None
    assert await counts(journal) == (0, 3, 0)


async def test_a_finished_job_never_comes_again(journal: Journal, clock: FakeClock) -> None:
    await enqueue(journal, a_link())
    await journal.finish_job((await claimed(journal))[0])
    clock.advance(days=1)
    assert await journal.claim_job("me", LEASE) is None
    assert await counts(journal) == (0, 0, 0)


async def test_a_lease_is_kept_until_it_runs_out(journal: Journal, clock: FakeClock) -> None:
    await enqueue(journal, a_link())
    first = await claimed(journal)
    clock.advance(seconds=LEASE - 1)
    assert await journal.claim_job("other", LEASE) is None
    clock.advance(seconds=1)
    assert await journal.claim_job("other", LEASE) == first


async def test_progress_is_kept_and_the_job_waits_again(journal: Journal) -> None:
    await enqueue(journal, a_link())
    job_id, _, _ = await claimed(journal)
    await journal.advance_job(job_id, a_link(after="m"))
    assert await counts(journal) == (1, 0, 0)
    assert await claimed(journal) == (job_id, "t1", a_link(after="m"))


async def test_a_failed_attempt_waits_before_the_next(journal: Journal, clock: FakeClock) -> None:
    await enqueue(journal, a_link(), EmbedPassagesJob(episode_uuid="long"))
    job_id, _, _ = await claimed(journal)
    await journal.retry_job(job_id, "no model", 10)
    assert (await claimed(journal))[2] == EmbedPassagesJob(episode_uuid="long")
    assert await journal.claim_job("me", LEASE) is None
    clock.advance(seconds=10)
    assert (await claimed(journal))[0] == job_id


async def test_after_eight_attempts_a_job_is_failed_and_shown(journal: Journal) -> None:
    await enqueue(journal, a_link())
    for attempt in range(1, ATTEMPTS + 1):
        await journal.retry_job((await claimed(journal))[0], "no model", 0)
        assert await counts(journal) == ((1, 0, 0) if attempt < ATTEMPTS else (0, 0, 1))
    assert await journal.claim_job("me", LEASE) is None


async def test_progress_gives_a_job_all_its_attempts_again(journal: Journal) -> None:
    await enqueue(journal, a_link())
    for _ in range(ATTEMPTS - 1):
        await journal.retry_job((await claimed(journal))[0], "no model", 0)
    await journal.advance_job((await claimed(journal))[0], a_link(after="m"))
    for _ in range(ATTEMPTS - 1):
        await journal.retry_job((await claimed(journal))[0], "no model", 0)
    assert await counts(journal) == (1, 0, 0)


async def test_a_job_whose_workers_never_come_back_is_failed_too(journal: Journal, clock: FakeClock) -> None:
    await enqueue(journal, a_link())
    for _ in range(ATTEMPTS):
        await claimed(journal)
        clock.advance(seconds=LEASE)
    assert await journal.claim_job("me", LEASE) is None
    assert await counts(journal) == (0, 0, 1)


async def test_a_withdrawn_write_takes_its_jobs_along(journal: Journal) -> None:
    gone = await enqueue(journal, a_link("sarah"))
    await enqueue(journal, a_link("tom"))
    await journal.withdraw(gone)
    assert (await claimed(journal))[2] == a_link("tom")
    assert await journal.claim_job("me", LEASE) is None
    assert await journal.pending_links(["sarah"]) == set()


async def test_an_entity_is_being_linked_until_its_last_job_is_done(journal: Journal) -> None:
    await enqueue(journal, a_link("sarah"), a_link("sarah"), a_link("tom"), EmbedPassagesJob(episode_uuid="long"))
    asked = ["sarah", "long", "nobody"]
    assert await journal.pending_links(asked) == {"sarah"}
    await journal.finish_job((await claimed(journal))[0])
    assert await journal.pending_links(asked) == {"sarah"}
    job_id, _, _ = await claimed(journal)
    assert await journal.pending_links(asked) == {"sarah"}
    await journal.finish_job(job_id)
    assert await journal.pending_links(asked) == set()
    assert await journal.pending_links([]) == set()


async def test_what_was_not_leased_is_neither_finished_nor_moved(journal: Journal) -> None:
    await enqueue(journal, a_link())
    job_id, _, _ = await claimed(journal)
    await journal.advance_job(job_id, a_link(after="m"))
    await journal.finish_job(job_id)
    await journal.advance_job(job_id, a_link(after="z"))
    await journal.retry_job(job_id, "late", 1000)
    assert await claimed(journal) == (job_id, "t1", a_link(after="m"))
