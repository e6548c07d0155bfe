"""Contract of ``ModelLedger``: nothing is paid twice or beyond the budget, and what was forgotten is not kept."""

import pytest
from tests.builders import GROUP, OTHER_GROUP, an_intent, new_uuid
from tests.fakes import FakeClock, FakeJournal

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import Deletions, EpisodeText, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.ports.extraction import Budget, ClaimedExtraction, ExtractionQueue, ModelLedger, Usage
from graphiti_pkm.errors import BudgetSpent
from graphiti_pkm.storage.journal.store import SqliteJournal

LEASE = 30.0
DAY = "2026-03-01"
COST = Usage(calls=1, prompt_tokens=100, completion_tokens=20)
AnyJournal = FakeJournal | SqliteJournal


@pytest.fixture
def queue(journal: AnyJournal) -> ExtractionQueue:
    return journal.extractions


def a_job(**fields: object) -> ExtractJob:
    return ExtractJob.model_validate({"uuid": new_uuid(), "episode_uuid": new_uuid(), **fields})


async def start(queue: ExtractionQueue, group_id: str = GROUP, **fields: object) -> ClaimedExtraction:
    """Enqueue one job and claim it."""
    await queue.enqueue(group_id, [a_job(**fields)])
    return await again(queue)


async def again(queue: ExtractionQueue, owner: str = "me") -> ClaimedExtraction:
    found = await queue.claim(owner, LEASE)
    assert found is not None
    return found


def of(queue: ExtractionQueue, job: ClaimedExtraction, **limits: int) -> ModelLedger:
    return queue.ledger(job.id, Budget.model_validate(limits), DAY)


async def refusal(ledger: ModelLedger) -> BudgetSpent:
    with pytest.raises(BudgetSpent) as refused:
        await ledger.allow()
    return refused.value


async def test_an_answer_is_kept_for_its_job_and_its_request_until_the_job_ends(
    queue: ExtractionQueue, clock: FakeClock
) -> None:
    job, other = await start(queue), await start(queue, OTHER_GROUP)
    await of(queue, job).record("asked", '{"a": 1}', COST)
    await of(queue, job).record("asked", '{"a": 2}', COST)
    assert await of(queue, job).recorded("asked") == '{"a": 2}'
    assert await of(queue, job).recorded("other") is None
    assert await of(queue, other).recorded("asked") is None
    clock.advance(seconds=LEASE)
    job = await again(queue, "next")
    assert await of(queue, job).recorded("asked") == '{"a": 2}'
    await queue.finish(job.id, "next")
    assert await of(queue, job).recorded("asked") is None


async def test_what_cannot_be_used_is_paid_for_and_not_kept(queue: ExtractionQueue) -> None:
    job = await start(queue)
    await of(queue, job).record("asked", None, COST)
    assert await of(queue, job).recorded("asked") is None
    (found,) = await queue.find([job.id])
    assert found.usage == await queue.spent(DAY) == COST
    assert await queue.spent("2026-03-02") == Usage()
    assert await queue.spent(None) == COST


async def test_a_failed_job_is_retried_with_what_was_paid_for(queue: ExtractionQueue) -> None:
    job = await start(queue)
    await of(queue, job).record("asked", "{}", COST)
    await queue.fail(job.id, "me", "refused", "")
    await queue.retry([job.id])
    assert await of(queue, await again(queue)).recorded("asked") == "{}"


@pytest.mark.parametrize("way", ["cancel", "drop"])
async def test_what_is_cancelled_keeps_no_answer_and_takes_none_later(queue: ExtractionQueue, way: str) -> None:
    job = await start(queue)
    ledger = of(queue, job)
    await ledger.record("before", "{}", COST)
    if way == "cancel":
        await queue.cancel([job.id])
    else:
        await queue.drop(job.id, "me", "gone")
    await ledger.record("after", "{}", COST)
    assert [await ledger.recorded(asked) for asked in ("before", "after")] == [None, None]
    assert (await queue.spent(DAY)).calls == 2


@pytest.mark.parametrize(
    ("limit", "spent", "is_of_day"),
    [
        ("calls_per_day", 2, True),
        ("tokens_per_day", 240, True),
        ("calls_per_episode", 2, False),
        ("tokens_per_episode", 240, False),
    ],
)
async def test_a_spent_budget_says_which_setting_is_it_and_when_it_ends(
    queue: ExtractionQueue, limit: str, spent: int, is_of_day: bool
) -> None:
    job = await start(queue)
    ledger = of(queue, job, **{limit: spent})
    for asked in ("one", "two"):
        await ledger.allow()
        await ledger.record(asked, "{}", COST)
    error = await refusal(ledger)
    assert (error.is_of_day, f"llm_{limit} = {spent}" in error.message, f"llm_{limit}" in error.remedy) == (
        is_of_day,
        True,
        True,
    )
    assert await ledger.recorded("two") == "{}"
    other = of(queue, await start(queue, OTHER_GROUP), **{limit: spent})
    if is_of_day:
        await refusal(other)
        await queue.ledger(job.id, Budget.model_validate({limit: spent}), "2026-03-02").allow()
    else:
        await other.allow()


async def test_calls_under_way_are_not_allowed_twice(queue: ExtractionQueue) -> None:
    mine = of(queue, await start(queue), calls_per_day=2, calls_per_episode=1)
    other = of(queue, await start(queue, OTHER_GROUP), calls_per_day=2)
    await mine.allow()
    assert not (await refusal(mine)).is_of_day
    await other.allow()
    assert (await refusal(other)).is_of_day
    await mine.record("asked", "{}", COST)
    assert (await refusal(other)).is_of_day


async def test_a_call_that_was_allowed_and_never_made_is_given_back_with_its_job(queue: ExtractionQueue) -> None:
    job = await start(queue)
    await of(queue, job, calls_per_day=1).allow()
    await refusal(of(queue, job, calls_per_day=1))
    await queue.put_back(job.id, "me", "unreachable", 0, counts=True)
    await of(queue, await again(queue), calls_per_day=1).allow()


def a_forgetting(*texts: str, **deletions: tuple[str, ...]) -> WriteIntent:
    """Of words in episodes, and of whatever is deleted."""
    left = tuple(EpisodeText(uuid=uuid, name="A note", content="[forgotten]") for uuid in texts)
    forgets, gone = Forgetting(episodes=left), Deletions.model_validate(deletions)
    return an_intent(kind=WriteKind.FORGET, deletions=gone, forgets=forgets)


async def test_forgetting_takes_all_answers_of_its_group_and_what_runs_starts_anew(
    journal: AnyJournal, queue: ExtractionQueue
) -> None:
    failed = await start(queue)
    await of(queue, failed).record("asked", "secret", COST)
    await queue.fail(failed.id, "me", "refused", "")
    running, other = await start(queue), await start(queue, OTHER_GROUP)
    late = of(queue, running)
    for ledger in (late, of(queue, other)):
        await ledger.record("asked", "secret", COST)
    await journal.append(a_forgetting(new_uuid()), {}, "", {})

    assert await of(queue, other).recorded("asked") == "secret"
    assert await of(queue, failed).recorded("asked") is None
    assert await late.recorded("asked") is None
    assert not await queue.heartbeat(running.id, "me", LEASE)
    fresh = await again(queue, "next")
    assert (fresh.id, fresh.attempts) == (running.id, 0)
    await late.record("asked", "secret", COST)
    assert await late.recorded("asked") is None
    await of(queue, fresh).record("asked", "without", COST)
    assert await late.recorded("asked") == "without"


@pytest.mark.parametrize("what", ["episode", "group"])
async def test_what_was_asked_for_goes_with_its_episode(journal: AnyJournal, queue: ExtractionQueue, what: str) -> None:
    waiting, failed, kept = a_job(instructions="secret"), a_job(instructions="secret"), a_job(instructions="stays")
    told = an_intent(extractions=(failed, waiting))
    await journal.append(told, {}, "", {})
    await queue.enqueue(OTHER_GROUP, [kept])
    await queue.fail((await again(queue)).id, "me", "refused", "Ask another.")
    if what == "episode":
        await journal.append(a_forgetting(episodes=(waiting.episode_uuid, failed.episode_uuid)), {}, "", {})
    else:
        await journal.append(a_forgetting(groups=(GROUP,)), {}, "", {})
    states = {one.job_uuid: one.state for one in await queue.page(["queued", "cancelled", "failed"], None, 9, None)}
    assert states == {waiting.uuid: "cancelled", failed.uuid: "failed", kept.uuid: "queued"}
    await queue.retry([one.id for one in await queue.page(["cancelled", "failed"], None, 9, None)])
    asked = []
    while (found := await queue.claim("me", LEASE)) is not None:
        asked.append(found.job.instructions)
        await queue.finish(found.id, "me")
    assert asked == ["", "", "stays"]
    assert (await journal.rows(0, 9))[0].intent.extractions == ()


async def test_an_episode_that_loses_words_is_read_again_without_what_was_asked_for(
    journal: AnyJournal, queue: ExtractionQueue
) -> None:
    job = a_job(instructions="secret")
    await journal.append(an_intent(extractions=(job,)), {}, "", {})
    await journal.append(a_forgetting(job.episode_uuid), {}, "", {})
    left = job.model_copy(update={"instructions": ""})
    assert (await again(queue)).job == left
    assert (await journal.rows(0, 9))[0].intent.extractions == (left,)
