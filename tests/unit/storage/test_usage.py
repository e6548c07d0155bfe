"""The queue of what searches returned: when it is written, in how many statements, and what a fault costs."""

import asyncio
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.builders import GROUP, a_fact, a_write, an_entity, new_uuid
from tests.fakes import FakeGraph, FakeJournal

from graphiti_pkm.core.model.fitness import Fitness
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage import usage
from graphiti_pkm.storage.usage import BATCH, USAGE, UsageQueue

QUERY = array("f", [1.0, 0.0])


class World:
    """A graph with fifty entities, and the counters of one process."""

    def __init__(self, *, records: bool = True) -> None:
        self.graph, self.journal = FakeGraph(), FakeJournal()
        self.queue = UsageQueue(self.journal.usage, self.graph.part(USAGE), records=records)
        self.entities = [an_entity(f"Entity {place}") for place in range(50)]
        self.fact = a_fact(self.entities[0], self.entities[1])

    async def begin(self) -> None:
        vectors = {one.uuid: QUERY for one in self.entities}
        await self.graph.writer.apply(a_write(*self.entities, self.fact), vectors)

    def search(self, *places: int) -> None:
        self.queue.searched(QUERY, [(self.entities[place].uuid, GROUP) for place in places])

    async def hits(self, place: int = 0) -> int:
        uuid = self.entities[place].uuid
        return (await self.queue.fitness([uuid], [GROUP])).get(uuid, Fitness()).hits

    @property
    def writes(self) -> int:
        return len(self.journal.usage.added)


@asynccontextmanager
async def running(queue: UsageQueue) -> AsyncIterator[asyncio.Event]:
    stop = asyncio.Event()
    loop = asyncio.create_task(queue.run(stop))
    for _ in range(20):  # it first looks for what an earlier process left
        await asyncio.sleep(0)
    yield stop
    stop.set()
    await loop


async def until(condition: object, turns: int = 200) -> None:
    """Let the loop go on until the condition holds."""
    assert callable(condition)
    for _ in range(turns):
        if condition():
            return
        await asyncio.sleep(0)
    pytest.fail("it never came to that")


async def test_ninety_nine_searches_wait_and_the_hundredth_is_written_with_them_at_once() -> None:
    world = World()
    await world.begin()
    async with running(world.queue):
        for _ in range(BATCH - 1):
            world.search(0)
        for _ in range(50):
            await asyncio.sleep(0)
        assert world.writes == 0
        world.search(0)
        await until(lambda: world.writes)
    assert (world.writes, await world.hits()) == (1, BATCH)


async def test_one_search_is_written_when_the_time_has_come() -> None:
    world = World()
    await world.begin()
    world.queue.flush_seconds = 0
    async with running(world.queue):
        world.search(0)
        await until(lambda: world.writes)
        assert await world.hits() == 1


async def test_what_waits_at_the_end_is_written() -> None:
    world = World()
    await world.begin()
    async with running(world.queue):
        for _ in range(5):
            world.search(0)
        assert world.writes == 0
    assert await world.hits() == 5


async def test_fifty_entities_are_one_statement_and_several_hits_of_one_are_one_row() -> None:
    world = World()
    await world.begin()
    world.search(*range(50))
    world.search(*range(50))
    await world.queue.flush()
    (rows,) = world.journal.usage.added
    assert [row.hits for row in rows] == [2] * 50
    assert sum(row.relevance for row in rows) == 100


async def test_a_fault_keeps_what_waits_and_the_next_time_writes_it_once() -> None:
    world = World()
    await world.begin()
    world.search(0)
    world.queue.traversed([(world.fact.uuid, GROUP)])
    world.journal.usage.fault = Unavailable("The disk is full.")
    with pytest.raises(Unavailable):
        await world.queue.flush()
    world.graph.is_down = True
    world.journal.usage.fault = None
    world.search(0)
    with pytest.raises(Unavailable):
        await world.queue.flush()
    world.graph.is_down = False
    await world.queue.flush()
    await world.queue.flush()
    assert await world.hits() == 2
    assert (await world.queue.fitness([world.fact.uuid], [GROUP]))[world.fact.uuid].hits == 1


async def test_the_loop_outlives_a_fault() -> None:
    world = World()
    await world.begin()
    world.queue.flush_seconds = 0
    world.graph.is_down = True
    async with running(world.queue):
        world.search(0)
        for _ in range(50):
            await asyncio.sleep(0)
        world.graph.is_down = False
        await until(lambda: world.writes)
    assert await world.hits() == 1


async def test_totals_that_did_not_reach_the_graph_are_sent_by_the_next_process() -> None:
    world = World()
    await world.begin()
    await world.journal.usage.add([usage.Usage(uuid=world.entities[0].uuid, group_id=GROUP, hits=7, relevance=3.5)])
    assert await world.hits() == 0
    async with running(world.queue):
        await until(lambda: not world.journal.usage.waiting)
        assert await world.hits() == 7


async def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MOST_WAITING", 20)
    world = World()
    await world.begin()
    world.graph.is_down = True
    for place in range(30):
        world.search(place)
        world.queue.traversed([(new_uuid(), GROUP)])
    world.graph.is_down = False
    await world.queue.flush()
    (rows,) = world.journal.usage.added
    assert len(rows) == 20


async def test_when_counting_is_off_only_what_is_said_counts() -> None:
    world = World(records=False)
    await world.begin()
    world.search(0)
    world.queue.traversed([(world.fact.uuid, GROUP)])
    await world.queue.flush()
    assert (world.writes, await world.hits()) == (0, 0)
    assert await world.queue.mark_useful(world.fact.uuid, GROUP) == Fitness(useful=1)
