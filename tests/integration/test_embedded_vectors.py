"""Vector indexes of the embedded database: never in the way of a start, and back by themselves."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.integration.embedded_support import end_database, endpoint, stopped
from tests.integration.vector_world import LARGE, SIZE, THRESHOLD, VectorWorld, all_built, facts, until_built, watch

from graphiti_pkm.storage.graph.embedded.embedded import EmbeddedDatabase
from graphiti_pkm.storage.graph.opening import OpenFalkor
from graphiti_pkm.storage.graph.store import GraphStore


@pytest.fixture
async def data_dir(tmp_path: Path) -> AsyncIterator[Path]:
    directory = tmp_path / "data"
    directory.mkdir()
    yield directory
    await end_database(directory)


class Share:
    """One process's share in the database, with its store."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.database = EmbeddedDatabase(data_dir, idle_seconds=0.1)
        self.store = GraphStore(OpenFalkor(self.database.acquire, self.database.recover), THRESHOLD)

    async def end(self) -> None:
        await self.store.close()
        self.database.release()

    async def end_and_stop(self) -> None:
        await self.end()
        await stopped(self.data_dir)


async def filled(share: Share) -> VectorWorld:
    """With indexes that the database has begun to build."""
    world = VectorWorld(share.store)
    await world.fill(LARGE, SIZE)
    await share.store.vectors.tend_vector_indexes()
    return world


async def finds_all(world: VectorWorld, store: GraphStore) -> bool:
    query = world.vector()
    found = await store.search.nearest_facts(query, facts(), 10)
    return list(found) == world.nearest(world.facts, query, 10)


async def test_a_stop_in_order_leaves_no_index_that_the_next_start_would_wait_for(data_dir: Path) -> None:
    first = Share(data_dir)
    world = await filled(first)
    await until_built(first.store, all_built)
    await first.end_and_stop()
    second = Share(data_dir)
    assert await second.store.vectors.vector_indexes() == ()
    assert await finds_all(world, second.store)
    watched = watch(second.store)
    await second.store.vectors.tend_vector_indexes()
    await until_built(second.store, all_built)
    assert await finds_all(world, second.store)
    assert watched.answered == ["facts"]
    await second.end()


async def test_a_stop_waits_for_an_index_that_is_being_built(data_dir: Path) -> None:
    """It can only be dropped once it is complete, and must not get into what is loaded."""
    first = Share(data_dir)
    world = await filled(first)
    await first.end_and_stop()
    second = Share(data_dir)
    assert await second.store.vectors.vector_indexes() == ()
    assert await finds_all(world, second.store)
    await second.end()


async def test_after_a_crash_the_database_answers_exactly_and_completes_its_indexes_by_itself(data_dir: Path) -> None:
    share = Share(data_dir)
    world = await filled(share)
    await until_built(share.store, all_built)
    assert await share.store.writer.wait_durable()
    os.kill(endpoint(data_dir).redis_pid, signal.SIGKILL)
    assert await finds_all(world, share.store)
    await until_built(share.store, all_built)
    answered = len(world.watched.answered)
    assert await finds_all(world, share.store)
    assert world.watched.answered[answered:] == ["facts"]
    await share.end()
