"""Two hosts on one database: who writes, who waits, and who was paused too long, by the clock of the database."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from tests.builders import an_episode, an_intent
from tests.contracts.test_locks import Visitor, a_while

from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.group_locks import GroupLocks
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.database import Database
from graphiti_pkm.storage.graph.locks.leases import Fences, LeasedGroupLocks
from graphiti_pkm.storage.graph.locks.locks import FlockGroupLocks
from graphiti_pkm.storage.graph.queries.locks import lock_of, take
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore

SHORT, LONG = 0.3, 60.0


def note() -> WriteIntent:
    return an_intent(group_id="g", episodes=[an_episode(group_id="g")])


class Host:
    """A server host: its own file locks, fences and store, over the same database."""

    def __init__(self, name: str, directory: Path, database: Callable[[], Awaitable[Database]]) -> None:
        self.name = name
        self._directory = directory / name
        self._database = database
        self.fences = Fences()
        self.store = GraphStore(database, fences=self.fences)

    def locks(
        self,
        lease_seconds: float = LONG,
        patience_seconds: float = 20.0,
        kind: type[LeasedGroupLocks] = LeasedGroupLocks,
    ) -> LeasedGroupLocks:
        local: GroupLocks = FlockGroupLocks(self._directory)
        return kind(local, self.name, self._database, self.fences, lease_seconds, patience_seconds)


class Paused(LeasedGroupLocks):
    """A process that stands still: it renews nothing."""

    async def _renew(self, fence: object) -> None:  # noqa: ARG002
        await asyncio.Event().wait()


@pytest.fixture
def hosts(neo4j_graph: GraphStore, tmp_path: Path) -> tuple[Host, Host]:
    return Host("a", tmp_path, neo4j_graph.database), Host("b", tmp_path, neo4j_graph.database)


def paused(host: Host) -> LeasedGroupLocks:
    """Its leases run out soon although it holds them still."""
    return host.locks(SHORT, kind=Paused)


async def entered(lock: AbstractAsyncContextManager[None]) -> Visitor:
    visitor = Visitor(lock)
    await asyncio.wait_for(visitor.entered.wait(), 20)
    return visitor


async def test_a_group_is_written_by_one_host_at_a_time(hosts: tuple[Host, Host]) -> None:
    here, there = hosts
    first = await entered(here.locks().hold("g"))
    second = Visitor(there.locks().hold("g"))
    other = await entered(there.locks().hold("h"))
    await a_while()
    assert not second.entered.is_set()
    await first.leave()
    await asyncio.wait_for(second.entered.wait(), 20)
    await second.leave()
    await other.leave()


async def test_all_is_held_against_the_other_host_and_waits_for_it(hosts: tuple[Host, Host]) -> None:
    here, there = hosts
    writer = await entered(there.locks().hold("g"))
    everything = Visitor(here.locks().hold_all())
    late = Visitor(there.locks().hold("h"))
    await asyncio.sleep(0)
    await writer.leave()
    await asyncio.wait_for(everything.entered.wait(), 20)
    if late.entered.is_set():  # it came before the gate closed, and was waited for
        assert late.task.done() is False
    third = Visitor(there.locks().hold("i"))
    await a_while()
    assert not third.entered.is_set()
    await everything.leave()
    await asyncio.wait_for(third.entered.wait(), 20)
    await third.leave()
    await asyncio.wait_for(late.entered.wait(), 20)
    await late.leave()


async def test_who_was_paused_beyond_his_lease_cannot_write_any_more(hosts: tuple[Host, Host]) -> None:
    here, there = hosts
    stale, newer = note(), note()
    async with paused(here).hold("g"):
        async with there.locks().hold("g"):
            with pytest.raises(Unavailable, match="took over"):
                await here.store.writer.apply(stale, {})
            await there.store.writer.apply(newer, {})
            with pytest.raises(Unavailable, match="took over"):
                await here.store.writer.apply(stale, {})
        with pytest.raises(Unavailable, match="took over"):  # also when nobody holds it any more
            await here.store.writer.apply(stale, {})
    assert await here.store.writer.applied([stale.uuid, newer.uuid]) == {newer.uuid}
    async with here.locks().hold("g"):
        await here.store.writer.apply(stale, {})
        await here.store.writer.apply(stale, {})  # repeated, it is there already
    assert await here.store.writer.applied([stale.uuid]) == {stale.uuid}


async def test_a_paused_writer_cannot_write_beside_one_who_holds_all(hosts: tuple[Host, Host]) -> None:
    here, there = hosts
    stale, rebuilt = note(), note()
    async with paused(here).hold("g"):
        async with there.locks().hold_all():
            for _ in range(2):
                with pytest.raises(Unavailable, match="took over"):
                    await here.store.writer.apply(stale, {})
                await there.store.clear()
            await there.store.writer.apply(rebuilt, {})
        with pytest.raises(Unavailable, match="took over"):  # what a rebuild took away is nobody's
            await here.store.writer.apply(stale, {})
    assert await here.store.writer.applied([stale.uuid, rebuilt.uuid]) == {rebuilt.uuid}


async def test_a_lease_is_prolonged_as_long_as_it_is_held(hosts: tuple[Host, Host]) -> None:
    here, _ = hosts
    database, locks = await here.store.database(), here.locks()
    locks._heartbeat_seconds = 0.01
    ends = Query("end of lock", "MATCH (l:Meta {id: $lock}) RETURN l.until AS until", {"lock": lock_of("g")})
    async with locks.hold("g"), asyncio.timeout(20):
        ((first,),) = await database.read(ends)
        while True:
            ((now,),) = await database.read(ends)
            if now["until"] > first["until"]:
                break


async def test_who_waits_for_long_is_told_that_another_host_writes(hosts: tuple[Host, Host]) -> None:
    here, there = hosts
    async with here.locks().hold("g"):
        with pytest.raises(Unavailable, match="Another server has been writing into this group for long"):
            async with there.locks(patience_seconds=0).hold("g"):
                pytest.fail("two writers")
        await here.store.writer.apply(note(), {})


async def test_a_host_that_died_keeps_a_group_for_its_lease_only(hosts: tuple[Host, Host]) -> None:
    here, there = hosts
    holder = await entered(paused(here).hold("g"))
    async with there.locks().hold("g"):  # as soon as it has run out
        holder.task.cancel()
    await asyncio.gather(holder.task, return_exceptions=True)
    async with there.locks().hold("g"):  # what the first gave back was no longer his
        await there.store.writer.apply(note(), {})


async def test_what_a_killed_process_held_its_host_takes_over_at_once(hosts: tuple[Host, Host]) -> None:
    here, _ = hosts
    rows = await (await here.store.database()).write(take(lock_of("g"), here.name, 600_000))
    assert len(rows) == 1  # and never given back
    async with here.locks().hold("g"):
        await here.store.writer.apply(note(), {})


async def test_a_busy_host_lets_the_other_in(hosts: tuple[Host, Host]) -> None:
    here, there = hosts
    busy, done = here.locks(), asyncio.Event()

    async def again_and_again() -> None:
        while not done.is_set():
            async with busy.hold("g"):
                pass

    tasks = [asyncio.create_task(again_and_again()) for _ in range(3)]
    waiting = there.locks()
    for _ in range(3):
        async with asyncio.timeout(20), waiting.hold("g"):
            assert not any(task.done() for task in tasks)
    done.set()
    await asyncio.gather(*tasks)


async def test_a_lease_that_a_clock_set_back_left_far_ahead_does_not_hang(hosts: tuple[Host, Host]) -> None:
    """Its holder died; the database's clock was set back by a day since."""
    here, there = hosts
    db = await here.store.database()
    await db.write(take(lock_of("g"), "a", 60_000))
    ahead = Query(
        "test",
        "MATCH (l:Meta {id: $lock}) SET l.until = l.until + $day, l.wanted = 'c', l.wanted_at = timestamp() + $day, "
        "l.wanted_until = timestamp() + $day",
        {"lock": lock_of("g"), "day": 86_400_000},
    )
    await db.write(ahead)
    visitor = await entered(there.locks().hold("g"))
    await visitor.leave()


async def test_a_lease_within_its_time_is_not_taken_for_one_of_another_clock(hosts: tuple[Host, Host]) -> None:
    here, there = hosts
    first = await entered(here.locks(LONG).hold("g"))
    second = Visitor(there.locks(SHORT).hold("g"))
    await a_while()
    assert not second.entered.is_set()
    await first.leave()
    await asyncio.wait_for(second.entered.wait(), 20)
    await second.leave()
