"""Durable jobs: done in batches, by whichever process is there, whatever fails in between."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.builders import (
    GROUP,
    RECORDED,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    an_intent,
)
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.graph import FakeGraph
from tests.fakes.journal import FakeJournal
from tests.fakes.locks import FakeLocks
from tests.fakes.search import FakeSearch

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedPassagesJob, Job
from graphiti_pkm.core.model.queries import EpisodeFilter, Window
from graphiti_pkm.core.model.records import Deletions, Entity, Episode, Vectors, WriteIntent, WriteKind
from graphiti_pkm.errors import WriteFailed
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.jobs import Jobs

LATER = RECORDED + timedelta(days=1)


class World:
    """One process: jobs with the fakes around them."""

    def __init__(self, graph: FakeGraph | None = None, journal: FakeJournal | None = None) -> None:
        self.clock = FakeClock()
        self.graph, self.journal = graph or FakeGraph(), journal or FakeJournal(self.clock)
        self.embedder, self.locks = FakeEmbedder(), FakeLocks()
        context = Context(
            graph=self.graph,
            journal=self.journal,
            embedder=self.embedder,
            locks=self.locks,
            settings=Settings(data_dir=Path("unused")),
            now=self.clock,
        )
        self.committer = Committer(context)
        self.jobs = Jobs(context, self.committer)

    async def write(self, *records: Any, **fields: Any) -> None:
        await self.committer.commit(a_write(*records, **fields), {})

    async def sarah(self, episodes: int) -> Entity:
        """An entity whose earlier episodes are left to a job."""
        await self.write(*(an_episode(f"Sarah, day {n}.", uuid=f"{n:08d}") for n in range(episodes)))
        sarah = an_entity("Sarah")
        job = BackLinkJob(entity_uuid=sarah.uuid, names=("Sarah",), before=LATER)
        await self.write(sarah, a_name(sarah), job)
        return sarah

    async def long_text(self, passages: int) -> Episode:
        """An episode whose passages are left to a job."""
        episode = an_episode("".join(f"{n:04d} " for n in range(passages)))
        parts = [a_passage(episode, 5 * n, 5 * n + 4, sentence=n) for n in range(passages)]
        await self.write(episode, *parts, EmbedPassagesJob(episode_uuid=episode.uuid))
        return episode

    async def mentions(self, entity: Entity) -> int:
        wanted = EpisodeFilter(group_ids=(GROUP,))
        return (await self.graph.episodes.timeline(entity.uuid, wanted, Window(limit=1))).total

    async def drain(self, most: int = 50) -> int:
        """Batches until nothing is left; fails when it never ends."""
        for batches in range(most):
            if not await self.jobs.run_once():
                return batches
        raise AssertionError("the jobs never end")

    async def left(self) -> dict[str, int]:
        counts = await self.journal.counts()
        return {name: count for name, count in counts.items() if name.startswith("jobs_") and count}


class NoVectorsKept(FakeGraph):
    """A graph that loses the vectors it is given."""

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        parts = {passage.uuid for passage in intent.passages}
        await super().apply(intent, {uuid: vector for uuid, vector in vectors.items() if uuid not in parts})


class BrokenSearch(FakeSearch):
    """A part with a mistake in its code."""

    async def episodes_naming(self, *args: Any, **kwargs: Any) -> list[Episode]:
        raise KeyError("a planted secret", len(args), len(kwargs))


@pytest.fixture
def world() -> World:
    return World()


async def test_nothing_to_do_is_said(world: World) -> None:
    assert not await world.jobs.run_once()


async def test_earlier_episodes_are_linked_in_batches(world: World) -> None:
    sarah = await world.sarah(episodes=450)
    assert await world.journal.pending_links([sarah.uuid]) == {sarah.uuid}
    assert await world.drain() == 3
    assert await world.mentions(sarah) == 450
    assert await world.journal.pending_links([sarah.uuid]) == set()
    kinds = [row.intent.kind for row in await world.journal.rows(0, 100)]
    assert kinds[2:] == [WriteKind.JOB] * 3
    assert world.locks.history.count(GROUP) == 3


async def test_a_longer_name_of_another_entity_is_not_taken_for_it(world: World) -> None:
    await world.write(an_episode("Sarah Lee came."), an_episode("Sarah came."))
    lee = an_entity("Sarah Lee")
    await world.write(lee, a_name(lee))
    sarah = await world.sarah(episodes=0)
    await world.drain()
    assert await world.mentions(sarah) == 1


async def test_an_entity_deleted_meanwhile_ends_its_job(world: World) -> None:
    sarah = await world.sarah(episodes=5)
    await world.committer.commit(
        an_intent(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(entities=(sarah.uuid,))), {}
    )
    assert await world.drain() == 1
    assert await world.left() == {}


async def test_a_job_waits_for_the_write_it_came_with(world: World) -> None:
    await world.write(*(an_episode("Sarah.") for _ in range(3)))
    sarah = an_entity("Sarah")
    job = BackLinkJob(entity_uuid=sarah.uuid, names=("Sarah",), before=LATER)
    await world.journal.append(a_write(sarah, a_name(sarah), job), {}, "", {})
    assert await world.drain() == 1
    assert await world.mentions(sarah) == 3


@pytest.mark.parametrize("when", ["before", "halfway", "after"])
async def test_a_database_that_dies_in_a_batch_loses_no_link_and_makes_none_twice(world: World, when: Any) -> None:
    sarah = await world.sarah(episodes=250)
    world.graph.fail_next_apply(when=when)
    await world.jobs.run_once()
    await world.drain()
    assert await world.mentions(sarah) == 250
    assert len(world.graph.tables.mentions) == 250
    assert (await world.journal.counts())["intent"] == 0


async def test_a_database_that_is_away_costs_no_attempt(world: World) -> None:
    sarah = await world.sarah(episodes=5)
    world.graph.is_down = True
    for _ in range(20):
        assert not await world.jobs.run_once()
    world.graph.is_down = False
    assert await world.drain() == 1
    assert await world.mentions(sarah) == 5


async def test_a_batch_that_is_refused_is_tried_again_later(world: World) -> None:
    sarah = await world.sarah(episodes=5)
    world.graph.fail_next_apply(WriteFailed("No room."))
    assert await world.drain() == 1
    assert await world.mentions(sarah) == 0
    world.clock.advance(seconds=2)
    assert await world.drain() == 1
    assert await world.mentions(sarah) == 5


async def test_a_broken_job_is_given_up_after_some_attempts_without_its_content() -> None:
    graph = FakeGraph()
    graph.search = BrokenSearch(graph)
    world = World(graph=graph)
    await world.sarah(episodes=1)
    for _ in range(8):
        assert await world.jobs.run_once()
        world.clock.advance(seconds=300)
    assert not await world.jobs.run_once()
    assert await world.left() == {"jobs_failed": 1}
    [job] = world.journal.jobs.values()
    assert job.reason == "KeyError"


async def test_a_job_whose_process_died_is_taken_over(world: World) -> None:
    sarah = await world.sarah(episodes=450)
    await world.jobs.run_once()
    assert await world.journal.claim_job("a process that is killed now", 60) is not None
    other = World(world.graph, world.journal)
    assert await other.drain() == 0
    world.clock.advance(seconds=60)
    assert await other.drain() == 2
    assert await world.mentions(sarah) == 450


async def test_a_process_killed_between_a_batch_and_its_progress_does_no_harm(world: World) -> None:
    sarah = await world.sarah(episodes=250)
    claimed = await world.journal.claim_job("killed", 60)
    assert claimed is not None
    await world.jobs._batch(*claimed)  # and never tells the queue
    world.clock.advance(seconds=60)
    await World(world.graph, world.journal).drain()
    assert await world.mentions(sarah) == 250
    uuids = {mention.uuid for mention in world.graph.tables.mentions.values()}
    assert len(uuids) == 250


async def test_the_passages_of_a_long_text_get_their_vectors_outside_the_lock(world: World) -> None:
    episode = await world.long_text(passages=300)
    assert await world.drain() == 4
    assert await world.graph.episodes.passages(episode.uuid, without_vector=True, limit=1) == []
    assert [len(call) for call in world.embedder.calls] == [128, 128, 44]
    assert world.embedder.calls[0][:2] == ["0000", "0001"]
    rebuilt = FakeGraph()
    for row in await world.journal.rows(0, 100):
        await rebuilt.apply(row.intent, row.vectors)
    assert rebuilt.tables.vectors == world.graph.tables.vectors


async def test_a_text_deleted_meanwhile_ends_its_job(world: World) -> None:
    episode = await world.long_text(passages=3)
    await world.committer.commit(
        an_intent(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(episode.uuid,))), {}
    )
    assert await world.drain() == 1
    assert world.embedder.calls == []


async def test_without_a_model_links_go_on(world: World) -> None:
    episode = await world.long_text(passages=3)
    sarah = await world.sarah(episodes=3)
    world.embedder.is_available = False
    await world.drain()
    assert await world.mentions(sarah) == 3
    world.embedder.is_available = True
    world.clock.advance(seconds=300)
    await world.drain()
    assert await world.graph.episodes.passages(episode.uuid, without_vector=True, limit=1) == []


async def test_vectors_that_are_never_kept_do_not_fill_the_journal_for_ever() -> None:
    world = World(graph=NoVectorsKept())
    await world.long_text(passages=3)
    for _ in range(30):
        await world.jobs.run_once()
        world.clock.advance(seconds=300)
    assert await world.left() == {"jobs_failed": 1}
    assert len(await world.journal.rows(0, 100)) == 2


async def test_the_loop_starts_at_once_after_a_write_with_a_job_and_ends_when_told(world: World) -> None:
    stop, linked = asyncio.Event(), asyncio.Event()

    class Watching(FakeJournal):
        async def finish_job(self, job_id: int) -> None:
            await super().finish_job(job_id)
            linked.set()

    world = World(journal=Watching(world.clock))
    loop = asyncio.create_task(world.jobs.run(stop))
    sarah = await world.sarah(episodes=3)
    await linked.wait()
    stop.set()
    await loop
    assert await world.mentions(sarah) == 3


async def test_the_loop_outlives_a_journal_that_is_away(world: World) -> None:
    world.journal.is_down = True
    assert not await world.jobs._turn()


async def test_links_made_already_are_not_made_again(world: World) -> None:
    episode = an_episode("Sarah came.")
    sarah = an_entity("Sarah")
    job = BackLinkJob(entity_uuid=sarah.uuid, names=("Sarah",), before=LATER)
    await world.write(episode, sarah, a_name(sarah), a_mention(episode, sarah, uuid="first"), job)
    await world.drain()
    assert [mention.uuid for mention in world.graph.tables.mentions.values()] == ["first"]


class JournalThatBreaksOnce(FakeJournal):
    """Its first answer is an error of a kind that nobody expects."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.has_broken = asyncio.Event()

    async def claim_job(self, owner: str, lease_seconds: float) -> tuple[int, str, Job] | None:
        if not self.has_broken.is_set():
            self.has_broken.set()
            raise OSError("too many open files")
        return await super().claim_job(owner, lease_seconds)


async def test_the_loop_goes_on_after_any_error() -> None:
    world = World()
    journal = JournalThatBreaksOnce(world.clock)
    broken = World(world.graph, journal)
    await broken.write(an_episode("Sarah.", uuid="1"))
    stop = asyncio.Event()
    loop = asyncio.create_task(broken.jobs.run(stop))
    await journal.has_broken.wait()
    stop.set()
    await loop
