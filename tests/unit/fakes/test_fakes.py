"""What tests rely on in the fakes beyond the contracts: faults, the clock and the record of calls."""

import asyncio
from datetime import timedelta

import pytest
from tests.builders import an_entity, an_episode, an_intent
from tests.fakes import FakeClock, FakeEmbedder, FakeGraph, FakeJournal, FakeLocks

from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.group_locks import GroupLocks
from graphiti_pkm.core.ports.ports import Embedder, Journal
from graphiti_pkm.errors import Unavailable, WriteFailed


def test_the_fakes_are_the_ports() -> None:
    ports: tuple[Graph, Journal, Embedder, GroupLocks] = (FakeGraph(), FakeJournal(), FakeEmbedder(), FakeLocks())
    assert len(ports) == 4


def test_the_clock_moves_only_when_told_to() -> None:
    clock = FakeClock()
    start = clock()
    assert clock() == start
    assert clock.advance(seconds=2) == start + timedelta(seconds=2)


def one_write() -> WriteIntent:
    return an_intent(episodes=[an_episode()], entities=[an_entity()])


async def test_a_fault_before_applying_leaves_nothing_and_happens_once() -> None:
    graph, intent = FakeGraph(), one_write()
    graph.fail_next_apply()
    with pytest.raises(Unavailable):
        await graph.writer.apply(intent, {})
    assert await graph.records.groups() == []
    await graph.writer.apply(intent, {})
    assert await graph.writer.applied([intent.uuid]) == {intent.uuid}
    assert graph.attempts == [intent.uuid, intent.uuid]


async def test_a_fault_halfway_leaves_part_of_the_write_without_its_marker() -> None:
    graph, intent = FakeGraph(), one_write()
    graph.fail_next_apply(when="halfway")
    with pytest.raises(Unavailable):
        await graph.writer.apply(intent, {})
    assert await graph.records.groups() == ["t1"]
    assert await graph.writer.applied([intent.uuid]) == set()


async def test_a_fault_after_applying_leaves_the_whole_write() -> None:
    graph, intent = FakeGraph(), one_write()
    graph.fail_next_apply(when="after")
    with pytest.raises(Unavailable):
        await graph.writer.apply(intent, {})
    assert await graph.writer.applied([intent.uuid]) == {intent.uuid}


async def test_a_refused_write_is_refused_every_time() -> None:
    graph, intent = FakeGraph(), one_write()
    graph.refused.add(intent.uuid)
    for _ in range(2):
        with pytest.raises(WriteFailed):
            await graph.writer.apply(intent, {})
    assert await graph.records.groups() == []


async def test_a_graph_that_is_down_answers_nothing() -> None:
    graph = FakeGraph()
    graph.is_down = True
    with pytest.raises(Unavailable):
        await graph.records.groups()
    with pytest.raises(Unavailable):
        await graph.writer.apply(one_write(), {})
    assert not await graph.ready()


async def test_an_append_can_fail_and_then_keeps_nothing() -> None:
    journal, intent = FakeJournal(), one_write()
    journal.fail_next_append()
    with pytest.raises(WriteFailed):
        await journal.append(intent, {}, "", {})
    assert await journal.unfinished(None) == []


async def test_the_embedder_records_its_calls_and_can_lose_its_weights() -> None:
    embedder = FakeEmbedder()
    await embedder.embed(["one", "two"])
    assert embedder.calls == [["one", "two"]]
    embedder.is_available = False
    assert not await embedder.available()
    with pytest.raises(Unavailable):
        await embedder.embed(["three"])


async def test_the_locks_show_who_holds_what() -> None:
    locks = FakeLocks()
    async with locks.hold("t1"):
        assert locks.held == {"t1"}
        waiting = asyncio.create_task(_hold_all(locks))
        await asyncio.sleep(0)
        assert not locks.everything
    await waiting
    assert locks.held == set()
    assert locks.history == ["t1", "*"]


async def _hold_all(locks: FakeLocks) -> None:
    async with locks.hold_all():
        assert locks.everything
