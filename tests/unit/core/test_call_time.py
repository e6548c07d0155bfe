"""A call beyond its time limit: stopped while nothing is stored, answered as kept once the journal has it."""

import asyncio

import pytest

from graphiti_pkm.core.call_time import allow_requested_wait, commit_begins, journalled, within
from graphiti_pkm.errors import TookTooLong, WriteFailed, WritePending

UNDONE = "Nothing was changed."
SOON = 0.01


async def test_a_call_within_its_limit_answers_or_fails_as_ever() -> None:
    async def answers() -> str:
        return "answer"

    async def fails() -> str:
        raise WriteFailed("refused")

    assert await within(60, answers(), UNDONE) == "answer"
    with pytest.raises(WriteFailed, match="refused"):
        await within(60, fails(), UNDONE)


async def test_a_call_that_committed_nothing_is_stopped_and_says_so() -> None:
    ended = asyncio.Event()

    async def never() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(TookTooLong, match=r"longer than 0\.01 s and was stopped\. Nothing was changed\."):
        await within(SOON, never(), UNDONE)
    await ended.wait()


async def test_a_stopped_call_can_no_longer_commit() -> None:
    """What runs in a thread cannot be stopped; what comes after it must not be stored."""
    stopped, committed = asyncio.Event(), asyncio.Event()
    refused: list[BaseException] = []

    async def stubborn() -> None:
        while not stopped.is_set():
            try:
                await stopped.wait()
            except asyncio.CancelledError:
                continue
        try:
            commit_begins()
        except WriteFailed as error:
            refused.append(error)
        committed.set()

    with pytest.raises(TookTooLong):
        await within(SOON, stubborn(), UNDONE)
    stopped.set()
    await committed.wait()
    assert len(refused) == 1


async def test_a_journalled_write_is_reported_as_kept_and_is_completed() -> None:
    goes_on, done = asyncio.Event(), asyncio.Event()

    async def writes() -> None:
        commit_begins()
        journalled("11111111")
        await goes_on.wait()
        done.set()

    with pytest.raises(WritePending, match="Kept as 11111111, do not send it again"):
        await within(SOON, writes(), UNDONE)
    assert not done.is_set()
    goes_on.set()
    await done.wait()


async def test_at_the_limit_a_commit_is_waited_for_until_the_journal_has_it_or_refused_it() -> None:
    async def writes(end: asyncio.Future[None]) -> str:
        commit_begins()
        await end
        return "stored"

    for refusal in (None, WriteFailed("disk full")):
        end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        call = asyncio.ensure_future(within(SOON, writes(end), UNDONE))
        await asyncio.wait({call}, timeout=10 * SOON)
        assert not call.done()
        if refusal is None:
            end.set_result(None)
            assert await call == "stored"
        else:
            end.set_exception(refusal)
            with pytest.raises(WriteFailed, match="disk full"):
                await call


async def test_a_wait_that_was_asked_for_is_not_cut_off() -> None:
    goes_on = asyncio.Event()

    async def waits() -> str:
        allow_requested_wait()
        await goes_on.wait()
        return "found"

    call = asyncio.ensure_future(within(SOON, waits(), UNDONE))
    await asyncio.wait({call}, timeout=10 * SOON)
    assert not call.done()
    goes_on.set()
    assert await call == "found"


async def test_a_cancelled_call_ends_at_once_unless_it_commits() -> None:
    goes_on = asyncio.Event()
    begun = asyncio.Event()

    async def writes() -> None:
        commit_begins()
        begun.set()
        while not goes_on.is_set():
            try:
                await goes_on.wait()
            except asyncio.CancelledError:
                continue

    async def reads() -> None:
        begun.set()
        await asyncio.Event().wait()

    call = asyncio.ensure_future(within(60, reads(), UNDONE))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    begun.clear()
    call = asyncio.ensure_future(within(60, writes(), UNDONE))
    await begun.wait()
    call.cancel()
    await asyncio.wait({call}, timeout=SOON)
    assert not call.done()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_outside_of_a_call_nothing_is_limited() -> None:
    commit_begins()
    journalled("11111111")
    allow_requested_wait()
