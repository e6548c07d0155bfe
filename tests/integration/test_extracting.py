"""The worker on the real database and journal: what is deleted while the model thinks does not come back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.fakes.extractor import FakeExtractor
from tests.integration.planted import files_with
from tests.worlds.extraction_world import Findings

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.extraction.service import Extracting
from graphiti_pkm.capabilities.extraction.writing import ExtractionWriting
from graphiti_pkm.capabilities.forget.requests import ClearGraph, DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import CLEARING, DELETING, FORGETTING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.ports.extraction import Extraction, ExtractionRecord
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer

pytestmark = pytest.mark.timeout(120)

HIDDEN = "Zephyrinquolltext"
TEXT = f"Maria told me of {HIDDEN} yesterday. Tom runs with Sarah."


@dataclass
class World:
    """A memory whose model thinks until it is let go on."""

    memory: Memory
    extractor: FakeExtractor
    extracting: Extracting

    async def queued(self, body: str = TEXT) -> str:
        answer = await self.memory.services[WRITING].add_memory(LOCAL, AddMemory(episode_body=body))
        job = ExtractJob(uuid=f"job-{answer.episode_uuid}", episode_uuid=answer.episode_uuid)
        await self.memory.journal.extractions.enqueue("default", [job])
        return answer.episode_uuid

    async def job(self, episode: str) -> ExtractionRecord:
        return (await self.memory.journal.extractions.of_episodes([episode]))[0]

    async def names(self) -> set[str]:
        """Of all entities there are."""
        found, _ = await self.memory.context.graph.records.entity_page(
            EntityFilter(group_ids=("default",)), Window(limit=99)
        )
        return {entity.name for entity in found}

    @asynccontextmanager
    async def thinking(self) -> AsyncIterator[None]:
        """While the model thinks; it answers when this is left, and the job ends."""
        self.extractor.may_answer.clear()
        working = asyncio.create_task(self.extracting.run_once())
        await asyncio.wait_for(self.extractor.asked_for(len(self.extractor.tasks) + 1), 20)
        yield
        self.extractor.may_answer.set()
        await asyncio.wait_for(working, 20)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        extractor = FakeExtractor()
        extractor.finds = lambda _: told_of()
        groups, committer = Groups(memory.context.graph, memory.context.settings), Committer(memory.context)
        writing = ExtractionWriting(memory.context, groups, committer)
        yield World(memory, extractor, Extracting(memory.context, memory.journal.extractions, extractor, writing))


def told_of() -> Extraction:
    found = Findings()
    found.fact("Maria", "TOLD_OF", HIDDEN, f"Maria told of {HIDDEN}.")
    found.fact("Tom", "RUNS_WITH", "Sarah", "Tom runs with Sarah.")
    return found.extraction


def runs() -> Extraction:
    found = Findings()
    found.fact("Tom", "RUNS_WITH", "Sarah", "Tom runs with Sarah.")
    return found.extraction


async def test_left_alone_it_is_written(world: World) -> None:
    episode = await world.queued()
    async with world.thinking():
        pass
    assert (await world.job(episode)).state == "done"
    assert await world.names() == {"Maria", HIDDEN, "Tom", "Sarah"}


async def test_a_deleted_episode_does_not_come_back(world: World, tmp_path: Path) -> None:
    episode = await world.queued()
    async with world.thinking():
        await world.memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=episode))
    assert (await world.job(episode)).state == "cancelled"
    assert not await world.extracting.run_once()
    assert await world.names() == set()
    assert files_with(tmp_path, HIDDEN) == []


async def test_a_cleared_group_stays_empty(world: World, tmp_path: Path) -> None:
    episode = await world.queued()
    clear = world.memory.services[CLEARING].clear_graph
    async with world.thinking():
        preview = await clear(LOCAL, ClearGraph(group_ids=["default"]))
        await clear(LOCAL, ClearGraph(group_ids=["default"], confirm=preview.confirm))
    assert (await world.job(episode)).state == "cancelled"
    assert not await world.extracting.run_once()
    assert await world.names() == set()
    assert files_with(tmp_path, HIDDEN) == []


async def test_what_is_forgotten_is_read_again_without_it(world: World, tmp_path: Path) -> None:
    episode = await world.queued()
    forget = world.memory.services[FORGETTING].forget
    async with world.thinking():
        preview = await forget(LOCAL, Forget(query=HIDDEN))
        await forget(LOCAL, Forget(query=HIDDEN, confirm=preview.confirm))
    job = await world.job(episode)
    assert (job.state, job.attempts) == ("queued", 0)
    assert await world.names() == set()
    world.extractor.finds = lambda _: runs()
    async with world.thinking():
        pass
    assert (await world.job(episode)).state == "done"
    assert await world.names() == {"Tom", "Sarah"}
    assert files_with(tmp_path, HIDDEN) == []


async def test_a_job_of_a_process_that_died_goes_on_with_what_was_paid_for(world: World) -> None:
    episode = await world.queued()
    queue = world.memory.journal.extractions
    claimed = await queue.claim("dead", 0.0)  # its lease runs out at once
    assert claimed is not None
    task = await world.extracting._writing.task_of("default", claimed.job)
    await world.extractor.extract(task, queue.ledger(claimed.id, world.extracting._budget, "2026-01-01"))
    async with world.thinking():
        pass
    job = await world.job(episode)
    assert (job.state, job.attempts, world.extractor.calls) == ("done", 1, 1)
