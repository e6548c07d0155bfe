"""Contract of ``ExtractionQueue``: durable jobs in order within a group, leases, retries, and who may end them."""

from datetime import timedelta

import pytest
from tests.builders import GROUP, OTHER_GROUP, an_intent, new_uuid
from tests.fakes import FakeClock, FakeJournal

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import WriteKind
from graphiti_pkm.core.ports.extraction import LOST, MAX_ATTEMPTS, ClaimedExtraction, ExtractionQueue, ExtractionRecord
from graphiti_pkm.errors import WriteFailed
from graphiti_pkm.storage.journal.store import SqliteJournal

LEASE = 30.0
AnyJournal = FakeJournal | SqliteJournal


def a_job(**fields: object) -> ExtractJob:
    return ExtractJob.model_validate({"uuid": new_uuid(), "episode_uuid": new_uuid(), **fields})


@pytest.fixture
def queue(journal: AnyJournal) -> ExtractionQueue:
    return journal.extractions


async def claimed(queue: ExtractionQueue, owner: str = "me") -> ClaimedExtraction:
    found = await queue.claim(owner, LEASE)
    assert found is not None
    return found


async def shown(queue: ExtractionQueue, job_id: int) -> ExtractionRecord:
    (found,) = await queue.find([job_id])
    return found


async def counts(queue: ExtractionQueue) -> dict[str, int]:
    """States that hold any job."""
    return {state: count for state, count in (await queue.sizes(None)).items() if count}


async def test_jobs_come_with_their_write_and_go_with_it(journal: AnyJournal, queue: ExtractionQueue) -> None:
    first, second = a_job(instructions="Only people.", excluded_entity_types=("City",)), a_job()
    gone = an_intent(extractions=(first,))
    await journal.append(gone, {}, "", {})
    await journal.append(an_intent(extractions=(second,)), {}, "", {})
    assert await counts(queue) == {"queued": 2}
    found = await claimed(queue)
    assert (found.job, found.group_id, found.attempts) == (first, GROUP, 0)
    await journal.withdraw(gone.uuid)
    assert not await queue.heartbeat(found.id, "me", LEASE)
    assert not await queue.finish(found.id, "me")
    assert (await claimed(queue)).job == second
    assert await counts(queue) == {"running": 1}


async def test_jobs_are_found_by_their_uuids(queue: ExtractionQueue) -> None:
    first, second = a_job(), a_job()
    await queue.enqueue(GROUP, [first, second])
    assert [one.job_uuid for one in await queue.of_jobs([second.uuid, new_uuid()])] == [second.uuid]
    assert await queue.of_jobs([]) == []


async def test_jobs_enqueued_later_stand_behind_the_others_and_no_uuid_twice(queue: ExtractionQueue) -> None:
    jobs = [a_job(), a_job()]
    ids = await queue.enqueue(GROUP, jobs)
    assert [(await shown(queue, job_id)).job_uuid for job_id in ids] == [job.uuid for job in jobs]
    with pytest.raises(ValueError, match="already"):
        await queue.enqueue(OTHER_GROUP, [a_job(), jobs[0]])
    assert await counts(queue) == {"queued": 2}


async def test_one_job_of_a_group_at_a_time_in_order_and_groups_beside_each_other(queue: ExtractionQueue) -> None:
    first, second, third = await queue.enqueue(GROUP, [a_job(), a_job(), a_job()])
    (other,) = await queue.enqueue(OTHER_GROUP, [a_job()])
    assert [(await claimed(queue, owner)).id for owner in ("a", "b")] == [first, other]
    assert await queue.claim("c", LEASE) is None
    assert await queue.finish(first, "a")
    assert (await claimed(queue, "c")).id == second
    assert await queue.fail(second, "c", "refused", "")
    assert (await claimed(queue, "d")).id == third


async def test_a_group_waits_for_a_job_that_waits_itself(queue: ExtractionQueue, clock: FakeClock) -> None:
    first, second = await queue.enqueue(GROUP, [a_job(), a_job()])
    await claimed(queue)
    assert await queue.put_back(first, "me", "overloaded", 10, counts=True)
    clock.advance(seconds=9)
    assert await queue.claim("me", LEASE) is None
    clock.advance(seconds=1)
    assert (await claimed(queue)).id == first
    assert await queue.drop(first, "me", "its episode is gone")
    assert (await claimed(queue)).id == second


async def test_what_is_retried_waits_for_a_younger_job_that_runs(queue: ExtractionQueue) -> None:
    first, second, third = await queue.enqueue(GROUP, [a_job(), a_job(), a_job()])
    await queue.cancel([first])
    assert (await claimed(queue)).id == second
    assert await queue.retry([first]) == 1
    assert await queue.claim("other", LEASE) is None
    await queue.finish(second, "me")
    assert [(await claimed(queue)).id, await queue.claim("me", LEASE)] == [first, None]
    await queue.finish(first, "me")
    assert (await claimed(queue)).id == third


async def test_a_lease_is_kept_as_long_as_it_is_prolonged(queue: ExtractionQueue, clock: FakeClock) -> None:
    (job_id,) = await queue.enqueue(GROUP, [a_job()])
    await claimed(queue)
    for _ in range(3):
        clock.advance(seconds=LEASE - 1)
        assert await queue.heartbeat(job_id, "me", LEASE)
    clock.advance(seconds=LEASE - 1)
    assert await queue.claim("other", LEASE) is None
    clock.advance(seconds=1)
    taken = await claimed(queue, "other")
    assert (taken.id, taken.attempts) == (job_id, 1)


async def test_a_late_holder_changes_nothing(queue: ExtractionQueue, clock: FakeClock) -> None:
    (job_id,) = await queue.enqueue(GROUP, [a_job()])
    await claimed(queue, "late")
    clock.advance(seconds=LEASE)
    await claimed(queue, "other")
    assert not await queue.heartbeat(job_id, "late", LEASE)
    assert not await queue.finish(job_id, "late")
    assert not await queue.put_back(job_id, "late", "overloaded", 1000, counts=False)
    assert not await queue.fail(job_id, "late", "refused", "")
    assert not await queue.drop(job_id, "late", "gone")
    assert await counts(queue) == {"running": 1}
    assert await queue.finish(job_id, "other")


async def test_a_job_whose_workers_never_come_back_fails_with_reason_and_remedy(
    queue: ExtractionQueue, clock: FakeClock
) -> None:
    first, second = await queue.enqueue(GROUP, [a_job(), a_job()])
    for attempt in range(MAX_ATTEMPTS):
        assert (await claimed(queue)).attempts == attempt
        clock.advance(seconds=LEASE)
    assert (await claimed(queue)).id == second
    failed = await shown(queue, first)
    assert (failed.state, failed.attempts, failed.reason) == ("failed", MAX_ATTEMPTS, LOST)
    assert "queue retry" in failed.remedy
    assert failed.finished_at == clock()


async def test_attempts_that_count_end_and_those_that_do_not_go_on(queue: ExtractionQueue) -> None:
    first, second = await queue.enqueue(GROUP, [a_job()]) + await queue.enqueue(OTHER_GROUP, [a_job()])
    for _ in range(MAX_ATTEMPTS):
        for _ in range(2):
            job = await claimed(queue)
            await queue.put_back(job.id, "me", "overloaded", 0, counts=job.id == first, remedy="Wait.")
    ended, waiting = await shown(queue, first), await shown(queue, second)
    assert (ended.state, ended.attempts, ended.reason, ended.remedy) == ("failed", MAX_ATTEMPTS, "overloaded", "Wait.")
    assert (waiting.state, waiting.attempts, waiting.reason) == ("queued", 0, "overloaded")
    assert ended.finished_at is not None
    assert waiting.finished_at is None


async def test_a_waiting_job_says_until_when_and_why(queue: ExtractionQueue, clock: FakeClock) -> None:
    (job_id,) = await queue.enqueue(GROUP, [a_job()])
    queued_at = clock()
    await claimed(queue)
    clock.advance(seconds=5)
    await queue.put_back(job_id, "me", "the budget is spent", 60, counts=False, remedy="Raise it.")
    found = await shown(queue, job_id)
    assert (found.state, found.reason, found.remedy) == ("queued", "the budget is spent", "Raise it.")
    assert (found.queued_at, found.not_before) == (queued_at, queued_at + timedelta(seconds=65))


async def test_a_finished_job_is_done_for_good_with_what_its_write_stored(
    journal: AnyJournal, queue: ExtractionQueue, clock: FakeClock
) -> None:
    job = a_job(instructions="Only people.")
    (job_id,) = await queue.enqueue(GROUP, [job])
    await claimed(queue)
    clock.advance(seconds=5)
    await journal.append(an_intent(uuid=job.uuid, kind=WriteKind.EXTRACT), {}, "", {"facts": 3})
    assert (await shown(queue, job_id)).answer == {}
    assert await queue.finish(job_id, "me")
    found = await shown(queue, job_id)
    assert (found.state, found.answer, found.finished_at) == ("done", {"facts": 3}, clock())
    assert await queue.retry([job_id]) == 0
    assert await queue.cancel([job_id]) == 0
    clock.advance(days=1)
    assert await queue.claim("me", LEASE) is None


async def test_what_a_write_of_a_done_job_was_is_not_told_once_that_failed(
    journal: AnyJournal, queue: ExtractionQueue
) -> None:
    job = a_job()
    (job_id,) = await queue.enqueue(GROUP, [job])
    await claimed(queue)
    await journal.append(an_intent(uuid=job.uuid, kind=WriteKind.EXTRACT), {}, "", {"facts": 3})
    await queue.finish(job_id, "me")
    await journal.fail(job.uuid, "refused")
    assert (await shown(queue, job_id)).answer == {}


async def test_retry_queues_what_failed_was_cancelled_or_waits_with_all_its_attempts(
    queue: ExtractionQueue,
) -> None:
    ids = [(await queue.enqueue(f"g{n}", [a_job()]))[0] for n in range(4)]
    for job_id in ids[:3]:
        assert (await claimed(queue)).id == job_id
    await queue.fail(ids[0], "me", "wrong key", "Set the key.")
    await queue.put_back(ids[1], "me", "overloaded", 1000, counts=True)
    await queue.drop(ids[2], "me", "gone")
    assert await counts(queue) == {"failed": 1, "queued": 2, "cancelled": 1}
    assert await queue.retry([*ids, 99]) == 3
    for job_id in ids:
        found = await shown(queue, job_id)
        assert (found.state, found.attempts, found.reason, found.remedy) == ("queued", 0, "", "")
        assert found.finished_at is None
        assert (await claimed(queue)).id == job_id


async def test_a_cancelled_job_is_taken_from_whoever_works_on_it(queue: ExtractionQueue, clock: FakeClock) -> None:
    running, waiting, done = await queue.enqueue(GROUP, [a_job(), a_job()]) + await queue.enqueue("g3", [a_job()])
    await claimed(queue)
    assert (await claimed(queue)).id == done
    await queue.finish(done, "me")
    assert await queue.cancel([running, waiting, done, 99]) == 2
    assert not await queue.heartbeat(running, "me", LEASE)
    assert not await queue.finish(running, "me")
    assert await counts(queue) == {"cancelled": 2, "done": 1}
    assert (await shown(queue, waiting)).finished_at == clock()
    assert await queue.claim("me", LEASE) is None


async def test_a_job_whose_write_is_journalled_is_past_being_cancelled(
    journal: AnyJournal, queue: ExtractionQueue
) -> None:
    job = a_job()
    (job_id,) = await queue.enqueue(GROUP, [job])
    await claimed(queue)
    await journal.append(an_intent(uuid=job.uuid, kind=WriteKind.EXTRACT), {}, "", {})
    assert await queue.cancel([job_id]) == 0
    assert await queue.finish(job_id, "me")


async def test_the_write_of_a_cancelled_job_is_not_kept(journal: AnyJournal, queue: ExtractionQueue) -> None:
    job = a_job()
    (job_id,) = await queue.enqueue(GROUP, [job])
    await claimed(queue)
    await queue.cancel([job_id])
    with pytest.raises(WriteFailed, match=r"^Nothing was stored.*cancelled"):
        await journal.append(an_intent(uuid=job.uuid, kind=WriteKind.EXTRACT), {}, "", {})
    assert await journal.rows(0, 9) == []


async def test_a_pause_holds_for_new_jobs_and_lets_running_ones_end(queue: ExtractionQueue) -> None:
    first, second = await queue.enqueue(GROUP, [a_job(), a_job()])
    await claimed(queue)
    for _ in range(2):
        await queue.pause(paused=True)
    assert await queue.paused()
    assert await queue.heartbeat(first, "me", LEASE)
    assert await queue.finish(first, "me")
    assert await queue.claim("me", LEASE) is None
    await queue.pause(paused=False)
    assert not await queue.paused()
    assert (await claimed(queue)).id == second


async def test_pages_and_sizes_are_of_states_and_groups_newest_first(queue: ExtractionQueue) -> None:
    mine = await queue.enqueue(GROUP, [a_job() for _ in range(3)])
    other = await queue.enqueue(OTHER_GROUP, [a_job() for _ in range(3)])
    await queue.cancel([mine[0], other[0]])

    async def ids(
        *states: str, groups: list[str] | None = None, limit: int = 9, before: int | None = None
    ) -> list[int]:
        return [one.id for one in await queue.page(states, groups, limit, before)]  # type: ignore[arg-type]

    assert await ids("queued", "cancelled") == [*reversed(mine + other)]
    assert await ids("cancelled") == [other[0], mine[0]]
    assert await ids("queued", "cancelled", "done", groups=[GROUP]) == [*reversed(mine)]
    assert await ids("queued", groups=[GROUP, OTHER_GROUP, "none"], limit=3) == [other[2], other[1], mine[2]]
    assert await ids("queued", "cancelled", limit=2, before=other[0]) == [mine[2], mine[1]]
    assert await ids("queued", groups=[]) == await ids() == []
    assert (await queue.sizes(None))["queued"] == 4
    assert await queue.sizes([GROUP]) == {"queued": 2, "running": 0, "done": 0, "failed": 0, "cancelled": 1}
    assert set((await queue.sizes([])).values()) == {0}


async def test_an_episode_is_shown_with_its_latest_job(queue: ExtractionQueue) -> None:
    one, two = new_uuid(), new_uuid()
    jobs = [a_job(episode_uuid=one), a_job(episode_uuid=two), a_job(episode_uuid=one), a_job()]
    _, second, third, _ = await queue.enqueue(GROUP, jobs)
    found = await queue.of_episodes([one, two, "unknown"])
    assert [(record.id, record.episode_uuid, record.group_id) for record in found] == [
        (second, two, GROUP),
        (third, one, GROUP),
    ]
    assert await queue.of_episodes([]) == await queue.find([]) == []


async def test_the_former_job_is_the_latest_of_the_episode_that_was_done(queue: ExtractionQueue) -> None:
    episode = new_uuid()
    jobs = [a_job(), *(a_job(episode_uuid=episode) for _ in range(4))]
    other, first, second, third, fourth = await queue.enqueue(GROUP, jobs)
    for job_id in (other, first, second):
        assert (await claimed(queue)).id == job_id
        await queue.finish(job_id, "me")
    await queue.fail((await claimed(queue)).id, "me", "refused", "")
    former = [await queue.former(job_id) for job_id in (other, first, second, third, fourth, 99)]
    assert [record and record.id for record in former] == [None, None, first, second, second, None]
