"""Two servers with queues of their own on one graph: a job is read by one, whichever of them is there."""

import asyncio

import pytest
from tests.builders import at
from tests.fakes.extractor import FakeExtractor
from tests.fakes.shared_extraction_jobs import FakeSharedExtractionJobs
from tests.fakes.tables import Tables
from tests.worlds.extraction_world import ExtractionWorld, Findings

from graphiti_pkm.capabilities.extraction.service import Extracting, Pace
from graphiti_pkm.capabilities.extraction.takeover import TAKEN, Takeover
from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode
from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.answers import ExtractionReceipt
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.ports.extraction import Extraction
from graphiti_pkm.core.ports.takeover import Lease
from graphiti_pkm.core.progress import no_progress
from graphiti_pkm.core.reading.receipts import Receipts, in_words
from graphiti_pkm.errors import ModelRefused, NotFound, Unavailable
from graphiti_pkm.storage.commit import Committer

LEASE = Lease(seconds=30, jitter=lambda: 0.5)
EVE = Caller(principal="eve")


class Server(ExtractionWorld):
    """One server; ``tables`` are what it shares with others, whose clock is the database's."""

    def __init__(self, name: str, other: "Server | None" = None) -> None:
        super().__init__(at(2026, 6, 1), llm_model="fake-1", user_names=True)
        self.graph.server = name
        if other is not None:
            self.graph.tables = other.graph.tables
        self.tables: Tables = self.graph.tables
        self.queue = self.journal.extractions
        self.extractor = FakeExtractor(lambda _: likes_tea())
        self.shared = FakeSharedExtractionJobs(self.graph._db, name, other.shared.clock if other is not None else None)
        groups, committer = Groups(self.graph, self.context.settings), Committer(self.context)
        pace = Pace(jitter=lambda: 0.5)
        self.extracting = Extracting(
            self.context, self.queue, self.extractor, self.extractions, pace, shared=self.shared
        )
        self.receipts = Receipts(self.context, groups, self.queue, shared=self.shared)
        self.writing = Writing(self.context, groups, committer, self.receipts)
        self.deleting = Deleting(self.context, groups, committer)
        self.told = 0
        self.takeover = Takeover(self.shared, self.queue, self.notified, LEASE)

    def notified(self) -> None:
        self.told += 1

    async def add(self, body: str = "Anna likes tea.", caller: Caller = LOCAL) -> str:
        """An episode for a model to read."""
        return (await self.writing.add_memory(caller, AddMemory(episode_body=body))).episode_uuid

    async def state(self, episode: str) -> tuple[str, str]:
        """Of its job in this server's queue."""
        (found,) = await self.queue.of_episodes([episode])
        return found.state, found.reason

    async def receipt(self, episode: str, caller: Caller = LOCAL) -> ExtractionReceipt:
        return await self.receipts.of(caller, episode)

    def texts(self) -> list[str]:
        """Of all facts in the graph."""
        return [fact.text for fact in self.tables.facts.values()]


def likes_tea() -> Extraction:
    found = Findings()
    found.fact("Anna", "LIKES", "Tea", "Anna likes tea.")
    return found.extraction


@pytest.fixture
async def one() -> Server:
    """There, and for longer than a lease."""
    server = Server("one")
    await server.takeover.run_once()
    return server


@pytest.fixture
async def two(one: Server) -> Server:
    """As the other, on the same graph."""
    server = Server("two", one)
    for _ in range(4):
        for each in (one, server):
            await each.takeover.run_once()
        one.shared.clock.advance(10)
    for each in (one, server):
        await each.takeover.run_once()
    return server


async def gone(server: Server, *others: Server) -> None:
    """One tells nothing for longer than a lease, the others do."""
    for _ in range(4):
        server.shared.clock.advance(10)
        for other in others:
            await other.takeover.run_once()


async def test_a_job_of_a_server_that_is_gone_is_read_by_another_once(one: Server, two: Server) -> None:
    episode = await one.add()
    await gone(one, two)
    assert two.told == 1
    assert await two.extracting.run_once()
    assert two.texts() == ["Anna likes tea."]
    assert await two.state(episode) == ("done", "")
    await one.takeover.run_once()
    assert await one.extracting.run_once()
    assert await one.state(episode) == ("cancelled", TAKEN)
    assert one.extractor.tasks == []
    await gone(two, one)
    assert (await one.state(episode), not await one.extracting.run_once()) == (("cancelled", TAKEN), True)
    assert len(one.texts()) == 1


async def test_while_both_are_there_each_keeps_its_own(one: Server, two: Server) -> None:
    episode = await one.add()
    for _ in range(5):
        one.shared.clock.advance(10)
        for each in (one, two):
            await each.takeover.run_once()
    assert two.queue.table == {}
    assert await one.extracting.run_once()
    assert await one.state(episode) == ("done", "")


async def test_what_was_asked_for_is_asked_there_too(one: Server, two: Server) -> None:
    request = AddMemory.model_validate(
        {"episode_body": "Anna likes tea.", "custom_extraction_instructions": "Only drinks."}
    )
    await one.writing.add_memory(Caller(principal="bot:anna"), request)
    (asked,) = [row.job for row in one.queue.table.values()]
    await gone(one, two)
    assert [row.job for row in two.queue.table.values()] == [asked]
    assert (asked.instructions, asked.person) == ("Only drinks.", "anna")


async def test_a_server_that_was_only_away_does_not_write_what_another_took(one: Server, two: Server) -> None:
    """It thinks on while the other takes its job; both are there again when it has the answer."""
    episode = await one.add()
    one.extractor.may_answer.clear()
    working = asyncio.create_task(one.extracting.run_once())
    await asyncio.wait_for(one.extractor.asked_for(1), 10)
    await gone(one, two)
    await one.takeover.run_once()
    one.extractor.may_answer.set()
    await asyncio.wait_for(working, 10)
    assert one.texts() == []
    assert (await one.state(episode))[0] == "queued"
    assert await one.extracting.run_once()
    assert await one.state(episode) == ("cancelled", TAKEN)
    assert await two.extracting.run_once()
    assert two.texts() == ["Anna likes tea."]


async def test_a_job_that_comes_back_is_queued_again(one: Server, two: Server) -> None:
    episode = await one.add()
    await gone(one, two)
    await one.takeover.run_once()
    await one.extracting.run_once()
    assert await one.state(episode) == ("cancelled", TAKEN)
    await one.takeover.run_once()
    await gone(two, one)
    assert await one.state(episode) == ("queued", "")
    assert await one.extracting.run_once()
    assert await one.state(episode) == ("done", "")
    assert one.texts() == ["Anna likes tea."]


async def test_a_process_that_ended_between_taking_over_and_queueing_loses_nothing(one: Server, two: Server) -> None:
    episode = await one.add()
    one.shared.clock.advance(20)
    await two.shared.heartbeat(LEASE.seconds)
    one.shared.clock.advance(20)
    await two.shared.heartbeat(LEASE.seconds)
    assert len(await two.shared.take_over(LEASE.seconds, 5)) == 1
    assert two.queue.table == {}
    await two.takeover.run_once()
    assert await two.state(episode) == ("queued", "")


async def test_who_has_enough_to_do_or_is_paused_takes_nothing(one: Server, two: Server) -> None:
    await one.add()
    await two.queue.pause(paused=True)
    await gone(one, two)
    assert two.queue.table == {}
    await two.queue.pause(paused=False)
    for number in range(10):
        await two.add(f"Anna likes tea {number}.")
    await gone(one, two)
    assert len(two.queue.table) == 10
    await two.extracting.run_once()
    await gone(one, two)
    assert len(two.queue.table) == 11


@pytest.mark.parametrize("how", ["failed", "cancelled"])
async def test_what_ended_without_a_write_is_nobodys(one: Server, two: Server, how: str) -> None:
    episode = await one.add()
    if how == "failed":
        one.extractor.fail_next(ModelRefused("The key is refused.", "Set llm_api_key."))
        await one.extracting.run_once()
    else:
        await one.queue.cancel(list(one.queue.table))
    await one.takeover.run_once()
    await gone(one, two)
    assert two.queue.table == {}
    told = await two.receipt(episode)
    assert told.state == how
    assert ("could not read" in (told.reason or "")) is (how == "failed")
    await one.queue.retry(list(one.queue.table))
    await one.takeover.run_once()
    assert await one.extracting.run_once()
    assert (await two.receipt(episode)).state == "done"


async def test_every_one_of_many_is_looked_at_in_turn(one: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphiti_pkm.capabilities.extraction.takeover._PAGE", 2)
    for number in range(5):
        await one.add(f"Anna likes tea {number}.")
    await one.queue.cancel(list(one.queue.table)[4:])
    for _ in range(3):
        await one.takeover.run_once()
    assert [each.state for each in one.tables.readings.values()] == ["queued"] * 4 + ["cancelled"]


async def test_a_receipt_tells_on_another_server_how_far_it_is(one: Server, two: Server) -> None:
    episode, hers = await one.add(), await one.add(caller=EVE)
    told = await two.receipt(episode)
    assert (told.state, told.reason) == ("queued", "another server of this memory is to read it")
    assert "another server" in in_words(told)
    one.extractor.may_answer.clear()
    working = asyncio.create_task(one.extracting.run_once())
    await asyncio.wait_for(one.extractor.asked_for(1), 10)
    assert (await two.receipt(episode)).state == "running"
    one.extractor.may_answer.set()
    await working
    told = await two.receipt(episode)
    assert (told.state, [fact.fact for fact in told.facts], told.reason) == ("done", ["Anna likes tea."], None)
    for caller, other in ((EVE, episode), (LOCAL, hers)):
        with pytest.raises(NotFound):
            await two.receipt(other, caller)
    assert (await two.receipt(hers, EVE)).state == "queued"


async def test_who_waits_for_a_job_that_another_server_took_is_told_so(one: Server, two: Server) -> None:
    episode = await one.add()
    await gone(one, two)
    await one.takeover.run_once()
    await one.extracting.run_once()
    told = await one.receipts.wait(episode, 45, no_progress)
    assert told is not None
    assert (told.state, told.reason) == ("queued", "another server of this memory is to read it")
    await two.extracting.run_once()
    told = await one.receipts.wait(episode, 45, no_progress)
    assert told is not None
    assert (told.state, len(told.facts)) == ("done", 1)


async def test_a_deleted_episode_is_taken_over_by_nobody(one: Server, two: Server) -> None:
    episode = await one.add()
    await two.deleting.delete_episode(LOCAL, DeleteEpisode(uuid=episode))
    assert one.tables.readings == {}
    await gone(one, two)
    assert two.queue.table == {}
    await one.extracting.run_once()
    assert (await one.state(episode))[0] == "cancelled"
    assert one.tables.readings == {}


async def test_after_an_outage_nobody_takes_over_who_is_there_again(one: Server, two: Server) -> None:
    episode = await one.add()
    two.graph.is_down = True
    with pytest.raises(Unavailable):
        await two.takeover.run_once()
    one.shared.clock.advance(60)
    two.graph.is_down = False
    await two.takeover.run_once()
    assert two.queue.table == {}
    await one.takeover.run_once()
    await one.extracting.run_once()
    assert await one.state(episode) == ("done", "")


async def test_the_loop_goes_on_when_the_database_is_back(one: Server) -> None:
    answers = iter([None, None])
    found, stop = asyncio.Event(), asyncio.Event()

    async def connect() -> Tables:
        if next(answers, one) is None:
            raise Unavailable("The database does not answer.")
        return one.tables

    await one.add()
    one.queue.table.clear()
    readings = FakeSharedExtractionJobs(connect, "one", one.shared.clock)
    running = asyncio.create_task(Takeover(readings, one.queue, found.set, Lease(0.001)).run(stop))
    await asyncio.wait_for(found.wait(), 10)
    stop.set()
    await asyncio.wait_for(running, 10)
    assert len(one.queue.table) == 1
