"""Group locks within a process and between processes."""

import asyncio
from pathlib import Path

import pytest
from tests.integration.lock_client import Client

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.locks.locks import FlockGroupLocks


@pytest.fixture
def locks(tmp_path: Path) -> FlockGroupLocks:
    return FlockGroupLocks(tmp_path)


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_one_holder_a_group_served_in_order(locks: FlockGroupLocks) -> None:
    seen: list[str] = []

    async def work(name: str) -> None:
        async with locks.hold("g"):
            seen.append(f"{name} in")
            await settle()
            seen.append(f"{name} out")

    await asyncio.gather(*(work(str(n)) for n in range(5)))
    assert seen == [f"{n} {way}" for n in range(5) for way in ("in", "out")]


async def test_groups_do_not_wait_for_each_other(locks: FlockGroupLocks) -> None:
    async with locks.hold("g"), locks.hold("other"), locks.hold("a/b\x00\U0001f600"):
        pass


async def test_an_error_inside_frees_the_lock(locks: FlockGroupLocks) -> None:
    with pytest.raises(ValueError, match="inside"):
        async with locks.hold("g"):
            raise ValueError("inside")
    async with locks.hold("g"):
        pass


async def test_another_process_waits_and_is_let_in(locks: FlockGroupLocks, tmp_path: Path) -> None:
    with Client(tmp_path) as other:
        async with locks.hold("g"):
            assert await other.ask("hold free") == "held"
            assert await other.ask("done") == "freed"
            other.tell("hold g")
            answer = asyncio.create_task(other.heard())
            done, _ = await asyncio.wait([answer], timeout=0.1)
            assert not done
        assert await answer == "held"
        waiting = asyncio.create_task(_pass_through(locks, "g"))
        await settle()
        assert not waiting.done()
        assert await other.ask("done") == "freed"
        await waiting


async def test_a_killed_holder_frees_everything(locks: FlockGroupLocks, tmp_path: Path) -> None:
    for name in ("g", "*"):
        with Client(tmp_path) as other:
            assert await other.ask(f"hold {name}") == "held"
            waiting = asyncio.create_task(_pass_through(locks, "g"))
            await settle()
            assert not waiting.done()
            other.process.kill()
            await waiting


async def test_hold_all_waits_for_every_holder_and_excludes_new_ones(locks: FlockGroupLocks) -> None:
    order: list[str] = []

    async def everything() -> None:
        async with locks.hold_all():
            order.append("all")

    async def one(name: str) -> None:
        async with locks.hold(name):
            order.append(name)

    async with locks.hold("a"), locks.hold("b"):
        all_of_it = asyncio.create_task(everything())
        await settle()
        late = asyncio.create_task(one("late"))  # behind hold_all, or a stream of them would keep it out for ever
        await settle()
        order.append("a and b")
    await asyncio.gather(all_of_it, late)
    assert order == ["a and b", "all", "late"]


async def test_hold_all_excludes_other_processes(locks: FlockGroupLocks, tmp_path: Path) -> None:
    with Client(tmp_path) as other:
        async with locks.hold_all():
            other.tell("hold g")
            answer = asyncio.create_task(other.heard())
            done, _ = await asyncio.wait([answer], timeout=0.1)
            assert not done
        assert await answer == "held"
        waiting = asyncio.create_task(_pass_through(locks, "*"))
        await settle()
        assert not waiting.done()
        assert await other.ask("done") == "freed"
        await waiting


async def test_a_cancelled_waiter_leaves_no_lock_behind(locks: FlockGroupLocks, tmp_path: Path) -> None:
    with Client(tmp_path) as other:
        for held, wanted in (("g", "g"), ("*", "g"), ("g", "*")):
            assert await other.ask(f"hold {held}") == "held"
            waiting = asyncio.create_task(_pass_through(locks, wanted))
            await settle()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await other.ask("done") == "freed"
            async with locks.hold_all():
                pass
            async with locks.hold("g"):
                pass


async def test_waiters_cancelled_at_any_moment_leave_no_lock_behind(locks: FlockGroupLocks) -> None:
    for steps in range(30):
        async with locks.hold_all():
            waiting = asyncio.create_task(_pass_through(locks, "g"))
            await settle()
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with locks.hold_all():
        pass


async def test_a_process_that_does_not_let_go_of_a_group_is_named_and_the_lock_is_not_kept(tmp_path: Path) -> None:
    locks = FlockGroupLocks(tmp_path, patience=0.2)
    with Client(tmp_path) as other:
        assert await other.ask("hold g") == "held"
        with pytest.raises(Unavailable, match=r"Another process .* Nothing was stored"):
            await _pass_through(locks, "g")
        await _pass_through(locks, "elsewhere")
        assert await other.ask("done") == "freed"
        await _pass_through(locks, "g")
        assert await other.ask("hold g") == "held", "the wait that was given up took the lock afterwards"


async def _pass_through(locks: FlockGroupLocks, name: str) -> None:
    async with locks.hold_all() if name == "*" else locks.hold(name):
        pass
