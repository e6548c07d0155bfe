"""Contract of ``GroupLocks``: one writer a group, none beside ``hold_all``."""

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from graphiti_pkm.core.ports.group_locks import GroupLocks


class Inside:
    """Counts who is inside a lock at once."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.passed = 0

    async def visit(self, lock: AbstractAsyncContextManager[None]) -> None:
        async with lock:
            self.now += 1
            self.most = max(self.most, self.now)
            for _ in range(5):
                await asyncio.sleep(0)
            self.now -= 1
            self.passed += 1


async def enter(lock: AbstractAsyncContextManager[None], entered: asyncio.Event, leave: asyncio.Event) -> None:
    async with lock:
        entered.set()
        await leave.wait()


class Visitor:
    """A task that holds a lock until it is told to leave."""

    def __init__(self, lock: AbstractAsyncContextManager[None]) -> None:
        self.entered, self._leave = asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(enter(lock, self.entered, self._leave))

    async def leave(self) -> None:
        self._leave.set()
        await self.task


async def a_while() -> None:
    """Long enough for any task that can go on to go on; only ever proves that something was entered too early."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_one_writer_at_a_time_is_inside_a_group(locks: GroupLocks) -> None:
    inside = Inside()
    await asyncio.gather(*(inside.visit(locks.hold("t1")) for _ in range(10)))
    assert (inside.most, inside.passed) == (1, 10)


async def test_writers_of_different_groups_are_inside_together(locks: GroupLocks) -> None:
    first = Visitor(locks.hold("t1"))
    await first.entered.wait()
    second = Visitor(locks.hold("t2"))
    await second.entered.wait()
    await second.leave()
    await first.leave()


@pytest.mark.parametrize("group", ["a/b", "../x", "ä 🙂", "x" * 200, "A", "a", ""])
async def test_any_group_can_be_locked(locks: GroupLocks, group: str) -> None:
    inside = Inside()
    await asyncio.gather(inside.visit(locks.hold(group)), inside.visit(locks.hold(group)))
    assert (inside.most, inside.passed) == (1, 2)


async def test_group_names_that_differ_in_case_are_two_groups(locks: GroupLocks) -> None:
    async with locks.hold("Home"), locks.hold("home"):
        pass


async def test_holding_all_waits_for_every_writer(locks: GroupLocks) -> None:
    writers = [Visitor(locks.hold(group)) for group in ("t1", "t2")]
    for writer in writers:
        await writer.entered.wait()
    everything = Visitor(locks.hold_all())
    await a_while()
    assert not everything.entered.is_set()
    await writers[0].leave()
    await a_while()
    assert not everything.entered.is_set()
    await writers[1].leave()
    await everything.entered.wait()
    await everything.leave()


async def test_no_writer_enters_while_all_is_held(locks: GroupLocks) -> None:
    everything = Visitor(locks.hold_all())
    await everything.entered.wait()
    writers = [Visitor(locks.hold(group)) for group in ("t1", "t2")]
    await a_while()
    assert not any(writer.entered.is_set() for writer in writers)
    await everything.leave()
    for writer in writers:
        await writer.entered.wait()
        await writer.leave()


async def test_all_is_held_by_one_at_a_time(locks: GroupLocks) -> None:
    inside = Inside()
    await asyncio.gather(*(inside.visit(locks.hold_all()) for _ in range(4)))
    assert (inside.most, inside.passed) == (1, 4)


async def test_an_error_inside_gives_the_lock_back(locks: GroupLocks) -> None:
    with pytest.raises(RuntimeError, match="inside"):
        async with locks.hold("t1"):
            raise RuntimeError("inside")
    with pytest.raises(RuntimeError, match="inside"):
        async with locks.hold_all():
            raise RuntimeError("inside")
    async with locks.hold("t1"):
        pass


async def test_a_cancelled_holder_gives_the_lock_back(locks: GroupLocks) -> None:
    holder = Visitor(locks.hold("t1"))
    await holder.entered.wait()
    holder.task.cancel()
    await asyncio.gather(holder.task, return_exceptions=True)
    async with locks.hold_all():
        pass


async def test_one_who_gives_up_waiting_does_not_keep_the_others_out(locks: GroupLocks) -> None:
    holder = Visitor(locks.hold("t1"))
    await holder.entered.wait()
    impatient, patient = Visitor(locks.hold("t1")), Visitor(locks.hold("t1"))
    everything = Visitor(locks.hold_all())
    await a_while()
    for waiting in (impatient, everything):
        waiting.task.cancel()
        await asyncio.gather(waiting.task, return_exceptions=True)
    await holder.leave()
    await patient.entered.wait()
    assert not impatient.entered.is_set()
    await patient.leave()


async def test_a_lock_of_all_groups_is_seen_without_waiting_for_it(locks: GroupLocks) -> None:
    assert not locks.is_closed()
    async with locks.hold("a"):
        assert not locks.is_closed()
    async with locks.hold_all():
        assert locks.is_closed()
    assert not locks.is_closed()
