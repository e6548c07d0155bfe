"""Contract of ``SharedExtractionJobs``: who owns a job, what ends it, and who takes over from a lost server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_write, an_episode, new_uuid
from tests.fakes import FakeGraph
from tests.fakes.shared_extraction_jobs import FakeSharedExtractionJobs

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import Deletions, Episode, EpisodeText, Forgetting, WriteKind
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.takeover import SharedExtractionJob, SharedExtractionJobs
from graphiti_pkm.storage.graph.store import GraphStore

LONG, NONE = 600.0, 0.0


@dataclass
class Host:
    """One server on the database that all share."""

    graph: Graph
    readings: SharedExtractionJobs

    async def tell(self, *episodes: Episode, **job: object) -> list[ExtractJob]:
        """Store episodes that a model is to read."""
        jobs = [ExtractJob.model_validate({"uuid": new_uuid(), "episode_uuid": one.uuid, **job}) for one in episodes]
        await self.graph.writer.apply(a_write(*episodes, extractions=tuple(jobs)), {})
        return jobs

    async def latest(self, episode: Episode) -> SharedExtractionJob | None:
        return await self.readings.of_episode(episode.uuid, [episode.group_id])

    async def owned(self) -> list[str]:
        return [one.job.uuid for one in await self.readings.own(0, 100)]


Hosts = Callable[[str], Host]


@pytest.fixture(params=["fake", "neo4j"])
def shared_graph(request: pytest.FixtureRequest) -> "GraphStore | FakeGraph":
    """An empty graph."""
    if request.param == "fake":
        return FakeGraph()
    found: GraphStore = request.getfixturevalue("neo4j_graph")
    return found


@pytest.fixture
async def hosts(shared_graph: "GraphStore | FakeGraph") -> AsyncIterator[Hosts]:
    """Servers by name."""
    stores: list[GraphStore] = []

    def host(name: str) -> Host:
        if isinstance(shared_graph, FakeGraph):
            fake = FakeGraph(name)
            fake.tables = shared_graph.tables
            return Host(fake, FakeSharedExtractionJobs(fake._db, name))
        store = GraphStore(shared_graph._opened.open_database, server=name)
        stores.append(store)
        assert store.shared_extraction_jobs is not None
        return Host(store, store.shared_extraction_jobs)

    yield host
    for store in stores:
        await store.close()


@pytest.fixture
async def here(hosts: Hosts) -> Host:
    """A server that is there."""
    host = hosts("here")
    await host.readings.heartbeat(LONG)
    return host


@pytest.fixture
async def there(hosts: Hosts) -> Host:
    """Another one."""
    host = hosts("there")
    await host.readings.heartbeat(LONG)
    return host


async def test_a_write_tells_what_is_to_be_read_and_by_whom(here: Host, there: Host) -> None:
    episode, other = an_episode(), an_episode()
    first, second = await here.tell(
        episode,
        other,
        instructions="Only people.",
        person="anna",
        previous_episode_uuids=("0a",),
        excluded_entity_types=("Place",),
        update_communities=True,
    )
    found = await there.latest(episode)
    assert found is not None
    assert (found.job, found.group_id, found.state, found.owner) == (first, GROUP, "queued", "here")
    assert found.queued_at > 0
    assert sorted(await here.owned()) == sorted([first.uuid, second.uuid])
    assert await there.owned() == []
    assert len(await here.readings.own(0, 1)) == 1
    assert await here.readings.own(found.queued_at + 60_000, 100) == []
    assert await there.readings.of_episode(episode.uuid, [OTHER_GROUP]) is None
    assert await there.readings.of_episode(new_uuid(), [GROUP]) is None


async def test_a_task_that_reads_no_episode_is_nobody_elses(here: Host) -> None:
    await here.tell(an_episode(), task="saga")
    assert await here.owned() == []


async def test_only_one_of_two_who_are_there_begins(here: Host, there: Host) -> None:
    (job,) = await here.tell(an_episode())
    assert not await there.readings.begin(GROUP, job, "theirs")
    assert await here.readings.begin(GROUP, job, "ours")
    assert await here.readings.holds(job.uuid, "ours")
    assert not await there.readings.holds(job.uuid, "ours")
    assert not await there.readings.begin(GROUP, job, "theirs")
    assert await here.readings.holds(job.uuid, "ours")


async def test_a_new_turn_of_the_same_server_ends_its_older_one(here: Host) -> None:
    (job,) = await here.tell(an_episode())
    assert await here.readings.begin(GROUP, job, "first")
    assert await here.readings.begin(GROUP, job, "second")
    assert not await here.readings.holds(job.uuid, "first")
    assert await here.readings.holds(job.uuid, "second")


async def test_a_job_that_no_write_told_of_is_told_of_by_its_beginning(here: Host, there: Host) -> None:
    episode = an_episode()
    await here.graph.writer.apply(a_write(episode), {})
    job = ExtractJob(uuid=new_uuid(), episode_uuid=episode.uuid, person="anna")
    assert await here.readings.begin(GROUP, job, "ours")
    found = await there.latest(episode)
    assert found is not None
    assert (found.job, found.state, found.owner) == (job, "running", "here")
    assert not await there.readings.begin(GROUP, job, "theirs")


async def test_nothing_is_told_of_an_episode_that_is_not_there(here: Host) -> None:
    job = ExtractJob(uuid=new_uuid(), episode_uuid=new_uuid())
    assert await here.readings.begin(GROUP, job, "ours")
    assert not await here.readings.holds(job.uuid, "ours")
    assert await here.owned() == []


async def test_the_write_of_the_job_ends_it_for_all(here: Host, there: Host) -> None:
    episode = an_episode()
    (job,) = await here.tell(episode, instructions="Only people.", person="anna")
    assert await here.readings.begin(GROUP, job, "ours")
    await here.graph.writer.apply(a_write(uuid=job.uuid, kind=WriteKind.EXTRACT), {})
    assert not await here.readings.holds(job.uuid, "ours")
    assert await here.owned() == []
    for host in (here, there):
        found = await host.latest(episode)
        assert found is not None
        assert (found.state, found.owner) == ("done", None)
        assert found.job == ExtractJob(uuid=job.uuid, episode_uuid=episode.uuid)
        assert not await host.readings.begin(GROUP, job, "again")


async def test_what_ended_otherwise_may_be_begun_again_by_anybody(here: Host, there: Host) -> None:
    episode = an_episode()
    (job,) = await here.tell(episode)
    await there.readings.end([job.uuid], "cancelled")  # it is not theirs
    assert await here.owned() == [job.uuid]
    await here.readings.end([job.uuid, new_uuid()], "failed")
    assert await here.owned() == []
    found = await there.latest(episode)
    assert found is not None
    assert (found.state, found.owner) == ("failed", None)
    assert await there.readings.begin(GROUP, job, "theirs")
    assert not await here.readings.begin(GROUP, job, "ours")


async def test_what_a_server_had_to_do_is_taken_over_once_it_is_gone(here: Host, there: Host) -> None:
    jobs = await there.tell(an_episode(), an_episode(), person="anna")
    assert await there.readings.begin(GROUP, jobs[0], "theirs")
    assert await here.readings.take_over(NONE, 10) == []
    await there.readings.heartbeat(NONE)
    taken = await here.readings.take_over(NONE, 10)
    assert sorted((one.job.uuid, one.job.person) for one in taken) == sorted((job.uuid, "anna") for job in jobs)
    assert {(one.state, one.owner) for one in taken} == {("queued", "here")}
    assert await here.readings.take_over(NONE, 10) == []
    assert not await there.readings.holds(jobs[0].uuid, "theirs")
    await there.readings.heartbeat(LONG)  # it was only away
    assert not await there.readings.begin(GROUP, jobs[0], "again")
    assert await there.owned() == []
    assert len(await here.owned()) == 2


async def test_no_more_is_taken_over_than_asked_for(here: Host, there: Host) -> None:
    await there.tell(an_episode(), an_episode(), an_episode())
    await there.readings.heartbeat(NONE)
    assert [len(await here.readings.take_over(NONE, 2)) for _ in range(3)] == [2, 1, 0]


async def test_nothing_is_taken_over_by_who_is_not_there_or_has_just_come(hosts: Hosts, there: Host) -> None:
    (job,) = await there.tell(an_episode())
    await there.readings.heartbeat(NONE)
    late = hosts("late")
    assert await late.readings.take_over(NONE, 10) == []
    await late.readings.heartbeat(LONG)
    assert await late.readings.take_over(LONG, 10) == []
    assert [one.job.uuid for one in await late.readings.take_over(NONE, 10)] == [job.uuid]


async def test_a_break_in_being_there_begins_anew(here: Host, there: Host) -> None:
    """As after an outage of the database, in which nobody could tell that it is there."""
    await there.tell(an_episode())
    for host in (here, there):
        await host.readings.heartbeat(NONE)
    await here.readings.heartbeat(LONG)
    assert await here.readings.take_over(LONG, 10) == []


async def test_a_job_in_ones_own_queue_is_begun_though_a_server_that_is_gone_has_it(here: Host, there: Host) -> None:
    (job,) = await there.tell(an_episode())
    await there.readings.heartbeat(NONE)
    assert await here.readings.begin(GROUP, job, "ours")
    assert await here.readings.holds(job.uuid, "ours")


async def test_of_many_who_take_over_at_once_one_gets_each(hosts: Hosts, there: Host) -> None:
    jobs = await there.tell(*(an_episode() for _ in range(6)))
    takers = [hosts(f"taker {i}") for i in range(4)]
    for taker in takers:
        await taker.readings.heartbeat(LONG)
    await there.readings.heartbeat(NONE)
    taken = await asyncio.gather(*(taker.readings.take_over(NONE, 6) for taker in takers))
    got = sorted(one.job.uuid for each in taken for one in each)
    assert got == sorted(job.uuid for job in jobs)


async def test_who_reads_while_something_of_the_group_is_forgotten_reads_again(here: Host, there: Host) -> None:
    episode, other = an_episode("Words."), an_episode(group_id=OTHER_GROUP)
    (job,) = await here.tell(episode, instructions="Only words.")
    (apart,) = await here.tell(other)
    assert await here.readings.begin(GROUP, job, "ours")
    assert await here.readings.begin(OTHER_GROUP, apart, "ours")
    text = EpisodeText(uuid=episode.uuid, name="", content="Left.", source_description="")
    await there.graph.writer.apply(a_write(kind=WriteKind.FORGET, forgets=Forgetting(episodes=(text,))), {})
    assert not await here.readings.holds(job.uuid, "ours")
    assert await here.readings.holds(apart.uuid, "ours")
    found = await there.latest(episode)
    assert found is not None
    assert (found.state, found.owner, found.job.instructions) == ("queued", "here", "")


@pytest.mark.parametrize("gone", ["episode", "group"])
async def test_with_its_episode_or_group_it_goes(here: Host, there: Host, gone: str) -> None:
    episode, stays = an_episode(), an_episode(group_id=OTHER_GROUP)
    await here.tell(episode)
    (kept,) = await here.tell(stays)
    deletions = Deletions(episodes=(episode.uuid,)) if gone == "episode" else Deletions(groups=(GROUP,))
    await there.graph.writer.apply(a_write(kind=WriteKind.DELETE_EPISODE, deletions=deletions), {})
    assert await there.latest(episode) is None
    assert await here.owned() == [kept.uuid]


async def test_a_server_alone_with_its_database_tells_nothing(
    shared_graph: "GraphStore | FakeGraph", here: Host
) -> None:
    episode = an_episode()
    job = ExtractJob(uuid=new_uuid(), episode_uuid=episode.uuid)
    await shared_graph.writer.apply(a_write(episode, extractions=(job,)), {})
    assert await here.latest(episode) is None
