"""The worker: one write a job, whatever fails, is taken away or dies in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from tests.builders import at, new_uuid
from tests.fakes.extractor import FakeExtractor
from tests.worlds.extraction_world import ExtractionWorld, Findings

from graphiti_pkm.capabilities.extraction.service import MAX_OUTDATED, Extracting, Pace
from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.ports.extraction import ExtractionRecord
from graphiti_pkm.errors import (
    ModelNonsense,
    ModelRefused,
    ModelUnavailable,
    NotFound,
    PkmError,
    Unavailable,
    WriteFailed,
)
from graphiti_pkm.storage.commit import Committer

NOW = at(2026, 6, 1, 22)


class World(ExtractionWorld):
    """A process that extracts, with a model that finds that Anna likes tea."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(NOW, **settings)
        self.journal.now = self.clock
        self.queue = self.journal.extractions
        self.queue._now = self.clock
        self.extractor = FakeExtractor(lambda _: likes_tea())
        self.extracting = self.worker()

    def worker(self, heartbeat_seconds: float = 10) -> Extracting:
        pace = Pace(heartbeat_seconds=heartbeat_seconds, jitter=lambda: 0.5)
        return Extracting(self.context, self.queue, self.extractor, self.extractions, pace)

    async def queued(self, body: str = "Anna likes tea.", group: str = "default") -> str:
        """A note with a job; returns its episode's uuid."""
        answer = await self.tell(body, group_id=group)
        await self.queue.enqueue(group, [ExtractJob(uuid=new_uuid(), episode_uuid=answer.episode_uuid)])
        return answer.episode_uuid

    async def job(self, episode: str) -> ExtractionRecord:
        return (await self.queue.of_episodes([episode]))[0]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Event]:
        """The worker in the background."""
        stop = asyncio.Event()
        task = asyncio.create_task(self.extracting.run(stop))
        try:
            yield stop
        finally:
            stop.set()
            await asyncio.wait_for(task, 10)

    async def until(self, *states: str, episode: str) -> ExtractionRecord:
        """The job once it is in one of the states."""
        async with asyncio.timeout(10):
            while True:
                changed = self.extracting.changed.next
                if (job := await self.job(episode)).state in states:
                    return job
                await changed.wait()


@pytest.fixture
def world() -> World:
    return World()


def likes_tea() -> Any:
    found = Findings()
    found.fact("Anna", "LIKES", "Tea", "Anna likes tea.")
    return found.extraction


async def test_a_job_becomes_one_write_and_is_done(world: World) -> None:
    episode = await world.queued()
    assert await world.extracting.run_once()
    assert not await world.extracting.run_once()
    job = await world.job(episode)
    assert (job.state, job.usage.calls, job.usage.tokens) == ("done", 1, 15)
    assert [intent.uuid for intent in world.extracted] == [job.job_uuid]
    assert [fact.text for fact in world.facts] == ["Anna likes tea."]
    assert [one["fact"] for one in job.answer["facts"]] == ["Anna likes tea."]


async def test_the_model_is_told_what_the_caller_told(world: World) -> None:
    answer = await world.tell("x", {"source": "Anna", "relation": "LIKES", "target": "Milk", "fact": "Anna likes milk"})
    job = ExtractJob(
        uuid=new_uuid(),
        episode_uuid=answer.episode_uuid,
        instructions="Be brief.",
        excluded_entity_types=("Place",),
        previous_episode_uuids=(answer.episode_uuid[:8], "ffffffff"),
    )
    await world.queue.enqueue("default", [job])
    await world.extracting.run_once()
    task = world.extractor.tasks[0]
    assert task.supplied_facts == ("Anna likes milk",)
    assert (task.instructions, task.excluded_entity_types) == ("Be brief.", ("Place",))
    assert task.previous_episode_uuids == (answer.episode_uuid,)


async def test_a_job_whose_write_is_there_is_done_without_a_call(world: World) -> None:
    episode = await world.queued()
    owner, seconds = "dead", 30.0
    claimed = await world.queue.claim(owner, seconds)
    assert claimed is not None
    world.journal.is_down = False
    await world.extracting._extract(claimed, owner)  # and dies before it says so
    world.clock.advance(seconds=seconds)
    assert await world.extracting.run_once()
    job = await world.job(episode)
    assert (job.state, job.attempts, world.extractor.calls, len(world.extracted)) == ("done", 1, 1, 1)


async def test_a_write_that_the_graph_did_not_take_is_done_all_the_same(world: World) -> None:
    episode = await world.queued()
    world.graph.fail_next_apply()
    await world.extracting.run_once()
    assert ((await world.job(episode)).state, world.facts) == ("done", [])
    await world.extractions.finish("default")
    assert [fact.text for fact in world.facts] == ["Anna likes tea."]


@pytest.mark.parametrize(
    ("error", "state", "attempts", "delay"),
    [
        (ModelUnavailable("Busy."), "queued", 1, 2),
        (ModelUnavailable("Busy.", retry_after=90), "queued", 1, 90),
        (ModelUnavailable("Busy.", retry_after=9_999), "queued", 1, 9_999),
        (ModelUnavailable("Busy.", retry_after=999_999), "queued", 1, 86_400),
        (ModelNonsense("No JSON."), "queued", 1, 2),
        (ModelRefused("Wrong key.", "Set another."), "failed", 1, 0),
        (Unavailable("Database away."), "queued", 0, 5),
        (WriteFailed("Refused."), "queued", 1, 2),
        (NotFound("Gone."), "cancelled", 0, 0),
        (ValueError("Anna is a secret"), "queued", 1, 2),
    ],
)
async def test_what_an_error_does(world: World, error: Exception, state: str, attempts: int, delay: float) -> None:
    episode = await world.queued()
    world.extractor.fail_next(error)
    await world.extracting.run_once()
    job = await world.job(episode)
    assert (job.state, job.attempts) == (state, attempts)
    if state == "queued":
        assert job.not_before == world.clock.instant + timedelta(seconds=delay)
    assert job.remedy == (getattr(error, "remedy", "") or job.remedy)
    assert "Anna" not in job.reason
    assert bool(job.reason)


async def test_a_caller_sees_the_reason_of_the_model(world: World) -> None:
    episode = await world.queued()
    world.extractor.fail_next(ModelRefused("Wrong key.", "Set another."))
    await world.extracting.run_once()
    job = await world.job(episode)
    assert (job.reason, job.remedy) == ("Wrong key.", "Set another.")


@pytest.mark.parametrize("kind", [Unavailable, WriteFailed])
async def test_a_callers_reason_names_no_directory_of_the_machine(
    world: World, kind: type[Unavailable | WriteFailed]
) -> None:
    episode = await world.queued()
    world.extractor.fail_next(kind(f"The disk of {world.context.settings.data_dir} is full."))
    await world.extracting.run_once()
    assert (await world.job(episode)).reason == "The disk of DATA_DIR is full."


async def test_delays_grow_and_attempts_end(world: World) -> None:
    episode = await world.queued()
    world.extractor.fail_next(*[ModelUnavailable("Busy.") for _ in range(8)])
    delays = []
    for _ in range(7):
        await world.extracting.run_once()
        job = await world.job(episode)
        delays.append((job.not_before - world.clock.instant).total_seconds())
        world.clock.advance(seconds=delays[-1])
    assert delays == [2, 8, 32, 128, 512, 2_048, 3_600]
    await world.extracting.run_once()
    assert (await world.job(episode)).state == "failed"


async def test_nonsense_is_asked_for_three_times(world: World) -> None:
    episode = await world.queued()
    world.extractor.fail_next(*[ModelNonsense("No JSON.") for _ in range(3)])
    for _ in range(3):
        await world.extracting.run_once()
        world.clock.advance(seconds=100)
    job = await world.job(episode)
    assert (job.state, job.attempts, job.reason) == ("failed", 3, "No JSON.")
    await world.queue.retry([job.id])
    await world.extracting.run_once()
    assert (await world.job(episode)).state == "done"


async def test_the_budget_of_a_day_waits_for_the_next_one() -> None:
    world = World(llm_calls_per_day=1, timezone="Europe/Berlin")
    first, second = await world.queued(), await world.queued("Anna likes tea, too.")
    await world.extracting.run_once()
    await world.extracting.run_once()
    assert (await world.job(first)).state == "done"
    job = await world.job(second)
    assert (job.state, job.attempts, job.not_before) == ("queued", 0, at(2026, 6, 2, 22))  # it is the 2nd there already
    world.clock.instant = job.not_before
    await world.extracting.run_once()
    assert (await world.job(second)).state == "done"


async def test_the_budget_of_an_episode_fails_it_with_a_remedy() -> None:
    world = World(llm_calls_per_episode=0)
    episode = await world.queued()
    await world.extracting.run_once()
    job = await world.job(episode)
    assert job.state == "failed"
    assert "llm_calls_per_episode" in job.remedy


async def test_a_deleted_episode_is_never_asked_about(world: World) -> None:
    episode = await world.queued()
    del world.graph.tables.episodes[episode]
    await world.extracting.run_once()
    assert ((await world.job(episode)).state, world.extractor.tasks) == ("cancelled", [])


async def test_what_is_deleted_while_the_model_thinks_does_not_come_back(world: World) -> None:
    episode = await world.queued()
    world.extractor.may_answer.clear()
    deleting = Deleting(world.context, Groups(world.graph, world.context.settings), Committer(world.context))
    async with world.running():
        await world.extractor.asked_for(1)
        await deleting.delete_episode(LOCAL, DeleteEpisode(uuid=episode))
        world.extractor.may_answer.set()
        job = await world.until("cancelled", episode=episode)
    assert (job.state, world.facts, world.extracted) == ("cancelled", [], [])
    assert world.graph.tables.entities == {}


async def test_a_cancelled_job_writes_nothing(world: World) -> None:
    episode = await world.queued()
    world.extractor.may_answer.clear()
    async with world.running():
        await world.extractor.asked_for(1)
        assert await world.queue.cancel([(await world.job(episode)).id]) == 1
        world.extractor.may_answer.set()
    assert ((await world.job(episode)).state, world.extracted) == ("cancelled", [])


async def test_the_lease_lost_the_work_stops(world: World) -> None:
    episode = await world.queued()
    world.extractor.may_answer.clear()
    world.extracting = world.worker(heartbeat_seconds=0)
    async with world.running():
        await world.extractor.asked_for(1)
        ended = world.extracting.changed.next
        await world.queue.cancel([(await world.job(episode)).id])
        await asyncio.wait_for(ended.wait(), 10)
    assert world.extracted == []


async def test_stopped_it_puts_back_what_is_under_way(world: World) -> None:
    episode = await world.queued()
    world.extractor.may_answer.clear()
    async with world.running():
        await world.extractor.asked_for(1)
    job = await world.job(episode)
    assert (job.state, job.attempts, job.not_before) == ("queued", 0, world.clock.instant)


async def test_what_changes_under_the_model_is_read_again(world: World) -> None:
    episode = await world.queued()
    world.extractor.finds = lambda task: _rewrites(world, task.episode_uuid)
    await world.extracting.run_once()
    job = await world.job(episode)
    assert (job.state, job.attempts, world.facts) == ("queued", 0, [])
    await world.extracting.run_once()
    assert (await world.job(episode)).state == "done"


async def test_a_group_that_changes_all_the_time_does_not_keep_the_model_busy_for_ever(world: World) -> None:
    episode = await world.queued()
    world.extractor.finds = lambda task: _rewrites(world, task.episode_uuid)
    for reading in range(MAX_OUTDATED + 1):
        for row in world.queue.table.values():
            row.answers.clear()
        text = world.graph.tables.episodes[episode].model_copy(update={"content": f"Version {reading}"})
        world.graph.tables.episodes[episode] = text
        await world.extracting.run_once()
    job = await world.job(episode)
    assert (job.state, job.attempts) == ("queued", 1)
    assert job.not_before > world.clock.instant


def _rewrites(world: World, episode_uuid: str) -> Any:
    episode = world.graph.tables.episodes[episode_uuid]
    world.graph.tables.episodes[episode_uuid] = episode.model_copy(update={"content": "[forgotten]"})
    return likes_tea()


async def test_groups_are_read_at_once_and_a_group_in_order() -> None:
    world = World(extraction_parallel=3)
    episodes = [await world.queued(f"Note {i}", group=f"g{i % 5}") for i in range(10)]
    world.extractor.may_answer.clear()
    async with world.running():
        await asyncio.wait_for(world.extractor.asked_for(3), 10)
        assert {task.group_id for task in world.extractor.tasks} == {"g0", "g1", "g2"}
        world.extractor.may_answer.set()
        for episode in episodes:
            await world.until("done", episode=episode)
    assert world.extractor.most_at_once == 3
    order = [task.episode_uuid for task in world.extractor.tasks]
    for group in range(5):
        assert order.index(episodes[group]) < order.index(episodes[group + 5])


async def test_a_new_job_is_started_at_once(world: World) -> None:
    async with world.running():
        episode = await world.queued()
        world.extracting.notify()
        await world.until("done", episode=episode)


async def test_a_journal_that_is_away_stops_nothing(world: World) -> None:
    world.journal.is_down = True
    assert not await world.extracting.run_once()
    world.journal.is_down = False
    episode = await world.queued()
    world.extractor.fail_next(PkmError("Odd."))
    await world.extracting.run_once()
    assert (await world.job(episode)).reason == "Odd."


async def test_a_second_reading_is_compared_with_the_first(world: World) -> None:
    episode = await world.queued()
    await world.extracting.run_once()
    world.extractor.finds = lambda _: Findings().extraction
    await world.queue.enqueue("default", [ExtractJob(uuid=new_uuid(), episode_uuid=episode)])
    await world.extracting.run_once()
    job = await world.job(episode)
    assert [one["fact"] for one in job.answer["not_found"]] == ["Anna likes tea."]
    assert len(world.facts) == 1
