"""How much a brief add_memory asks and hands over: counted, never timed."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from tests.builders import a_write, at
from tests.fakes import FakeEmbedder
from tests.fakes.reads import FakeRecords
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.core.model.records import Deletions, Name, Vector

MET = {"source": "Mr Creed", "relation": "MET_AT", "target": "Whitehall", "fact": "Mr Creed was met at Whitehall."}
NEW = {"source": "Mr Moore", "relation": "MET_AT", "target": "Deptford", "fact": "Mr Moore was met at Deptford."}


class CountingExecutor(ThreadPoolExecutor):
    """Runs what it is given, and says how often it was given something."""

    given = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        return super().submit(fn, *args, **kwargs)


class WatchedRecords(FakeRecords):
    """The records of the fake graph, which say how often names were asked for."""

    asked = 0

    async def get_names(self, keys: Sequence[str]) -> dict[str, Name]:
        self.asked += 1
        return await super().get_names(keys)


class InterruptedEmbedder(FakeEmbedder):
    """Lets somebody else write while it embeds."""

    meanwhile: Callable[[], Any] | None = None

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return await super().embed(texts, patience)


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6, 1, 12))


@pytest.mark.parametrize(("fact", "names"), [(MET, "known"), (NEW, "new")])
async def test_a_brief_note_is_read_planned_and_answered_without_other_threads(
    world: WritingWorld, fact: dict[str, Any], names: str
) -> None:
    await world.tell("Whitehall with Mr Creed.", MET)
    threads = CountingExecutor()
    asyncio.get_running_loop().set_default_executor(threads)

    answer = await world.tell(f"A note about {names} names.", fact)

    assert (len(answer.facts), threads.given) == (1, 0)


async def test_a_long_note_is_read_and_planned_in_threads(world: WritingWorld) -> None:
    threads = CountingExecutor()
    asyncio.get_running_loop().set_default_executor(threads)

    await world.tell("A line of a long note. " * 1_000, MET)

    assert threads.given >= 3


async def test_names_that_are_known_are_looked_up_once(world: WritingWorld) -> None:
    await world.tell("Whitehall with Mr Creed.", MET)
    await world.tell("The cached names are read after the names were stored.", MET)
    world.graph.records = records = WatchedRecords(world.graph)

    await world.tell("Whitehall with Mr Creed again.", MET)
    assert records.asked == 1

    await world.tell("Deptford with Mr Moore.", NEW)
    assert records.asked == 3


async def test_names_that_others_stored_while_a_call_was_embedded_are_found() -> None:
    embedder = InterruptedEmbedder()
    world = WritingWorld(now=at(2026, 6, 1, 12), embedder=embedder)
    await world.tell("Whitehall with Mr Creed.", MET)
    await world.tell("The cached names are read after the names were stored.", MET)
    embedder.meanwhile = lambda: world.tell("Deptford with Mr Moore.", NEW)

    await world.tell("Mr Moore at Whitehall.", {**MET, "source": "Mr Moore", "fact": "Mr Moore was met at Whitehall."})

    assert world.lines() == [
        "Mr Creed MET_AT Whitehall",
        "Mr Moore MET_AT Deptford",
        "Mr Moore MET_AT Whitehall",
    ]
    assert world.entity("Mr Moore")


async def test_a_known_name_that_others_took_away_while_a_call_was_embedded_is_stored_anew() -> None:
    embedder = InterruptedEmbedder()
    world = WritingWorld(now=at(2026, 6, 1, 12), embedder=embedder)
    first = await world.tell("Whitehall with Mr Creed.", MET)
    await world.tell("The cached names are read after the names were stored.", MET)
    former = {one.name: one.uuid for one in first.entities}

    async def delete() -> None:
        gone = Deletions(entities=(former["Mr Creed"],), facts=(first.facts[0].uuid,))
        await world.graph.writer.apply(a_write(group_id=world.group, deletions=gone), {})

    embedder.meanwhile = delete

    await world.tell("Whitehall with Mr Creed again.", MET)

    assert world.entity("Mr Creed").uuid != former["Mr Creed"]
    assert world.fact("Mr Creed MET_AT Whitehall").source_uuid == world.entity("Mr Creed").uuid
