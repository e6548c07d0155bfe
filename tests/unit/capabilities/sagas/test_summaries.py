"""summarize_saga and build_communities: one write a job, whatever fails or changes in between."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_name, a_write, an_entity, at, new_uuid
from tests.fakes.extractor import FakeExtractor
from tests.fakes.summarizer import FakeSummarizer
from tests.worlds.extraction_world import ExtractionWorld

from graphiti_pkm.capabilities.extraction.service import Extracting, Pace
from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge, DeleteEpisode
from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.capabilities.sagas import service
from graphiti_pkm.capabilities.sagas.assembly import COMMUNITIES
from graphiti_pkm.capabilities.sagas.jobs import SummaryJobs
from graphiti_pkm.capabilities.sagas.label_propagation import MOST_SUMMARIES, communities_uuid
from graphiti_pkm.capabilities.sagas.requests import BuildCommunities, SummarizeSaga
from graphiti_pkm.capabilities.sagas.service import SummaryService
from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.capabilities.status.service import Status
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import WriteIntent, WriteKind
from graphiti_pkm.core.model.saga_records import Saga
from graphiti_pkm.core.ports.extraction import ExtractionRecord
from graphiti_pkm.core.reading.receipts import Receipts
from graphiti_pkm.errors import (
    BudgetSpent,
    ConfigurationError,
    InvalidInput,
    ModelRefused,
    NotAllowed,
    NotFound,
    Unavailable,
)
from graphiti_pkm.storage.commit import Committer

SPENT = BudgetSpent("the day's budget is spent", "It goes on tomorrow.", is_of_day=True)


class World(ExtractionWorld):
    """A process with a model that sums up; ``running`` works in the background."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(at(2026, 6, 1), default_group=GROUP, **settings)
        self.group = GROUP
        self.journal.now = self.clock
        self.queue = self.journal.extractions
        self.queue._now = self.clock
        self.summarizer = FakeSummarizer(self.graph)
        self.groups, self.committer = Groups(self.graph, self.context.settings), Committer(self.context)
        communities, changes = self.graph.part(COMMUNITIES), self.graph.part(CHANGE_LISTS)
        self.extracting = Extracting(
            self.context,
            self.queue,
            FakeExtractor(),
            self.extractions,
            Pace(jitter=lambda: 0.5),
            SummaryJobs(self.context, self.committer, self.summarizer, communities),
        )
        receipts = Receipts(self.context, self.groups, self.queue, lambda: self.extracting.changed.next)
        self.status = Status(self.context, self.groups, receipts=receipts)
        self.summaries = SummaryService(
            self.context, self.groups, self.queue, receipts, self.extracting.notify, communities, changes
        )

    async def into(self, saga: str, *bodies: str, **fields: Any) -> list[str]:
        uuids = []
        for body in bodies:
            self.clock.advance(seconds=1)
            uuids.append((await self.tell(body, saga=saga, **fields)).episode_uuid)
        return uuids

    async def people(self, group: str = GROUP, joined: int = 3, **fields: Any) -> list[str]:
        """So many entities, each joined to the next; returns their uuids in order."""
        entities = [an_entity(f"P{n}", group_id=group, **fields) for n in range(joined)]
        facts = [a_fact(one, other) for one, other in itertools.pairwise(entities)]
        await self.committer.commit(a_write(*entities, *map(a_name, entities), *facts), {})
        return [entity.uuid for entity in entities]

    @property
    def saga(self) -> Saga:
        (saga,) = self.graph.tables.sagas.values()
        return saga

    def writes(self, kind: WriteKind) -> list[WriteIntent]:
        return [row.intent for row in self.journal.table.values() if row.intent.kind is kind]

    async def job(self, subject: str) -> ExtractionRecord:
        return (await self.queue.of_episodes([subject]))[0]

    async def enqueued(self, subject: str, task: Any) -> None:
        """A job of the default group, which nobody waits for."""
        await self.queue.enqueue(GROUP, [ExtractJob(uuid=new_uuid(), task=task, episode_uuid=subject)])


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def running(world: World) -> AsyncIterator[World]:
    """With its worker."""
    stop = asyncio.Event()
    task = asyncio.create_task(world.extracting.run(stop))
    yield world
    stop.set()
    await asyncio.wait_for(task, 10)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call waits for nothing."""
    monkeypatch.setattr(service, "LONGEST_WAIT", 0.0)


async def test_a_saga_is_summarised_by_one_write_and_again_only_with_what_is_new(running: World) -> None:
    world = running
    await world.into("Trip", "First.", "Second.")
    answer = await world.summaries.summarize_saga(LOCAL, SummarizeSaga(saga_name=" trip "))
    assert (answer.status, answer.uuid, answer.name, answer.summary) == (
        "done",
        world.saga.uuid,
        "Trip",
        "First. Second.",
    )
    job = await world.job(world.saga.uuid)
    assert [intent.uuid for intent in world.writes(WriteKind.SUMMARIZE_SAGA)] == [job.job_uuid]
    assert (job.usage.calls, job.usage.tokens) == (1, 15)
    await world.into("Trip", "Third.")
    again = await world.summaries.summarize_saga(LOCAL, SummarizeSaga(saga_name="Trip"))
    assert (again.summary, world.summarizer.calls) == ("First. Second. Third.", 2)
    await world.summaries.summarize_saga(LOCAL, SummarizeSaga(saga_name="Trip"))
    assert world.summarizer.calls == 2
    assert (await world.queue.spent(None)).calls == 2


async def test_a_long_saga_is_read_in_batches_within_one_job(running: World) -> None:
    running.summarizer._batch = 2
    await running.into("Trip", "a", "b", "c", "d", "e")
    assert (await running.summaries.summarize_saga(LOCAL, SummarizeSaga(saga_name="Trip"))).summary == "a b c d e"
    assert len(running.writes(WriteKind.SUMMARIZE_SAGA)) == 1
    assert running.summarizer.calls == 3


async def test_what_is_told_while_the_model_reads_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.into("Trip", "First.")
    summarize = world.summarizer.summarize

    async def slowly(saga: Saga, ledger: Any) -> Saga | None:
        found = await summarize(saga, ledger)
        if found is not None and world.saga.last_episode_uuid == saga.last_episode_uuid:
            await world.into("Trip", "Told meanwhile.")
        return found if world.summarizer.calls == 1 and saga.summary == "" else None

    monkeypatch.setattr(world.summarizer, "summarize", slowly)
    await world.enqueued(world.saga.uuid, "saga")
    assert await world.extracting.run_once()
    latest = world.graph.tables.episodes[world.saga.last_episode_uuid or ""]
    assert (world.saga.summary, latest.content) == ("First.", "Told meanwhile.")


async def test_an_episode_deleted_while_the_model_reads_does_not_come_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = await world.into("Trip", "Hidden.", "Second.")
    summarize = world.summarizer.summarize

    async def slowly(saga: Saga, ledger: Any) -> Saga | None:
        found = await summarize(saga, ledger)
        if first in world.graph.tables.episodes:
            await Deleting(world.context, world.groups, world.committer).delete_episode(
                LOCAL, DeleteEpisode(uuid=first)
            )
        return found

    monkeypatch.setattr(world.summarizer, "summarize", slowly)
    await world.enqueued(world.saga.uuid, "saga")
    assert await world.extracting.run_once()
    assert world.saga.summary == ""
    assert (await world.job(world.saga.uuid)).state == "queued"
    assert await world.extracting.run_once()
    assert world.saga.summary == "Second."


async def test_a_saga_that_has_gone_ends_its_job(world: World) -> None:
    (only,) = await world.into("Trip", "Only.")
    uuid = world.saga.uuid
    await world.enqueued(uuid, "saga")
    await Deleting(world.context, world.groups, world.committer).delete_episode(LOCAL, DeleteEpisode(uuid=only))
    assert await world.extracting.run_once()
    assert (await world.job(uuid)).state == "cancelled"
    assert world.summarizer.calls == 0


async def test_a_job_whose_write_is_there_is_done_without_the_model(world: World) -> None:
    await world.into("Trip", "First.")
    job = ExtractJob(uuid=new_uuid(), task="saga", episode_uuid=world.saga.uuid)
    await world.queue.enqueue(GROUP, [job])
    write = a_write(world.saga.model_copy(update={"summary": "Written."}), uuid=job.uuid, kind=WriteKind.SUMMARIZE_SAGA)
    await world.journal.append(write, {}, "", {})
    assert await world.extracting.run_once()
    assert ((await world.job(world.saga.uuid)).state, world.saga.summary, world.summarizer.calls) == (
        "done",
        "Written.",
        0,
    )


@pytest.mark.usefixtures("impatient")
async def test_a_call_that_waits_too_long_says_how_to_go_on_and_asks_once(world: World) -> None:
    await world.into("Trip", "First.")
    answers = [await world.summaries.summarize_saga(LOCAL, SummarizeSaga(saga_name="Trip")) for _ in range(2)]
    assert {answer.status for answer in answers} == {"queued"}
    assert f"get_status with receipt {world.saga.uuid}" in answers[0].message
    assert await world.extracting.run_once()
    assert not await world.extracting.run_once()
    shown = await world.status.get_status(LOCAL, GetStatus(receipt=world.saga.uuid))
    assert shown.extraction is not None
    assert (shown.extraction.state, shown.extraction.task, shown.extraction.calls) == ("done", "saga", 1)
    assert shown.message == "summarize_saga is done. Repeating the call shows the result."


@pytest.mark.usefixtures("impatient")
async def test_the_budget_of_the_day_puts_it_off_and_what_was_paid_for_stays(world: World) -> None:
    for n in range(2):
        await world.people(group=GROUP, joined=2 + n)
    world.summarizer.fail_next(None, SPENT)
    await world.enqueued(communities_uuid(GROUP), "communities")
    assert await world.extracting.run_once()
    assert (world.summarizer.calls, world.graph.tables.communities) == (1, {})
    waiting = await world.summaries.build_communities(LOCAL, BuildCommunities())
    assert waiting.status == "queued"
    assert await world.extracting.run_once()
    assert world.summarizer.calls == 2
    assert len(world.graph.tables.communities) == 2


async def test_a_failure_is_told_with_what_to_do_and_a_further_call_goes_on(running: World) -> None:
    await running.into("Trip", "First.")
    running.summarizer.fail_next(ModelRefused("The key is wrong.", "Set another key."))
    with pytest.raises(ModelRefused, match=r"The key is wrong\. .* paid for is kept.*Set another key\."):
        await running.summaries.summarize_saga(LOCAL, SummarizeSaga(saga_name="Trip"))
    assert (await running.summaries.summarize_saga(LOCAL, SummarizeSaga(saga_name="Trip"))).summary == "First."
    assert len(running.queue.table) == 1


async def test_communities_are_replaced_as_a_whole_by_one_write(running: World) -> None:
    world = running
    first, second = await world.people(joined=3), await world.people(joined=2)
    await world.people(OTHER_GROUP)
    answer = await world.summaries.build_communities(LOCAL, BuildCommunities())
    assert (answer.status, answer.community_count, answer.edge_count) == ("done", 2, 5)
    assert [(one.group_id, one.members) for one in answer.communities] == [(GROUP, 3), (GROUP, 2)]
    tables = world.graph.tables
    assert {frozenset(one.members) for one in tables.communities.values()} == {frozenset(first), frozenset(second)}
    assert all(uuid in tables.vectors for uuid in tables.communities)
    world.clock.advance(seconds=1)
    await world.tell("x", {"source": "P0", "relation": "LIKES", "target": "P1"})
    again = await world.summaries.build_communities(LOCAL, BuildCommunities())
    assert {one.uuid for one in again.communities}.isdisjoint(one.uuid for one in answer.communities)
    assert len(tables.communities) == 2
    assert len(world.writes(WriteKind.BUILD_COMMUNITIES)) == 2
    both = await world.summaries.build_communities(LOCAL, BuildCommunities(group_ids=[GROUP, OTHER_GROUP]))
    assert [one.group_id for one in both.communities].count(OTHER_GROUP) == 1


async def test_what_was_just_built_is_shown_again_and_paid_for_only_after_a_change_or_an_hour(running: World) -> None:
    world = running
    await world.people()
    world.clock.advance(seconds=1)
    built = await world.summaries.build_communities(LOCAL, BuildCommunities())
    again = await world.summaries.build_communities(LOCAL, BuildCommunities())
    assert (again.communities, again.message) == (
        built.communities,
        "No fact has changed since they were built: 1 communities.",
    )
    assert world.summarizer.calls == 1
    world.clock.advance(seconds=1)
    await world.tell("x", {"source": "P0", "relation": "LIKES", "target": "P1"})
    assert (await world.summaries.build_communities(LOCAL, BuildCommunities())).communities != built.communities
    assert world.summarizer.calls == 2
    world.clock.advance(seconds=3_661)
    await world.summaries.build_communities(LOCAL, BuildCommunities())
    assert world.summarizer.calls == 3
    world.graph.tables.communities.clear()
    await world.summaries.build_communities(LOCAL, BuildCommunities())
    assert world.summarizer.calls == 4


async def test_the_person_of_the_group_joins_nobody(running: World) -> None:
    one, other = await running.people(joined=2), await running.people(joined=2)
    me = an_entity("me")
    db = running.graph.tables
    facts = [a_fact(me, db.entities[uuid]) for uuid in (*one, *other)]
    await running.committer.commit(a_write(me, a_name(me, is_linkable=False), *facts), {})
    assert (await running.summaries.build_communities(LOCAL, BuildCommunities())).community_count == 2


async def test_a_model_reads_the_best_joined_members_by_summary_or_newest_facts(running: World) -> None:
    hub, plain = an_entity("Hub", summary="It holds all."), an_entity("Plain")
    others = [an_entity(f"O{n}") for n in range(MOST_SUMMARIES)]
    facts = [a_fact(hub, one, text=f"Hub holds {one.name}.") for one in others * 2]
    more = [
        a_fact(plain, hub, "LIKES", text="Plain likes the hub."),
        a_fact(hub, plain, text="Hub holds Plain."),
        a_fact(plain, others[0], voided=True, text="Wrong."),
    ]
    await running.committer.commit(a_write(hub, plain, *others, *facts, *more, a_fact(plain, others[0])), {})
    answer = await running.summaries.build_communities(LOCAL, BuildCommunities())
    assert answer.edge_count == MOST_SUMMARIES + 2
    (read,) = running.summarizer.read
    assert len(read) == MOST_SUMMARIES
    texts = {member.name: member.text for member in read}
    assert texts["Hub"] == "Hub: It holds all."
    assert "Plain likes the hub." in texts["Plain"]
    assert "Wrong." not in texts["Plain"]


async def test_without_an_embedder_communities_have_no_vector(running: World) -> None:
    await running.people()
    running.embedder.is_available = False
    assert (await running.summaries.build_communities(LOCAL, BuildCommunities())).community_count == 1
    assert running.graph.tables.vectors.keys().isdisjoint(running.graph.tables.communities)


async def test_a_group_without_joined_entities_has_no_communities_and_loses_old_ones(running: World) -> None:
    uuids = await running.people(joined=2)
    await running.summaries.build_communities(LOCAL, BuildCommunities())
    for fact in list(running.graph.tables.facts.values()):
        await Deleting(running.context, running.groups, running.committer).delete_entity_edge(
            LOCAL, DeleteEntityEdge(uuid=fact.uuid)
        )
    assert (await running.summaries.build_communities(LOCAL, BuildCommunities())).communities == []
    assert running.graph.tables.communities == {}
    assert set(uuids) <= set(running.graph.tables.entities)


async def test_a_database_that_is_away_costs_no_attempt(world: World) -> None:
    await world.people()
    await world.enqueued(communities_uuid(GROUP), "communities")
    world.summarizer.fail_next(Unavailable("The database is away."))
    assert await world.extracting.run_once()
    job = await world.job(communities_uuid(GROUP))
    assert (job.state, job.attempts) == ("queued", 0)


async def test_without_a_model_both_say_what_to_do(world: World) -> None:
    await world.into("Trip", "First.")
    without = SummaryService(
        world.context,
        world.groups,
        world.queue,
        None,
        lambda: None,
        world.graph.part(COMMUNITIES),
        world.graph.part(CHANGE_LISTS),
    )
    with pytest.raises(ConfigurationError, match=r"llm_model.*get_episodes"):
        await without.summarize_saga(LOCAL, SummarizeSaga(saga_name="Trip"))
    with pytest.raises(ConfigurationError, match=r"llm_model.*get_entity_subgraph"):
        await without.build_communities(LOCAL, BuildCommunities())
    assert world.queue.table == {}


async def test_what_cannot_be_asked_enqueues_nothing(world: World) -> None:
    await world.into("Trip", "First.", group_id=OTHER_GROUP)
    reader = Caller(principal="local", read_only=True)
    for name in ("Trip", "", "none"):
        with pytest.raises(NotFound, match="saga"):
            await world.summaries.summarize_saga(LOCAL, SummarizeSaga(saga_name=name))
    with pytest.raises(NotAllowed):
        await world.summaries.summarize_saga(reader, SummarizeSaga(saga_name="Trip", group_id=OTHER_GROUP))
    with pytest.raises(NotAllowed):
        await world.summaries.build_communities(reader, BuildCommunities())
    for groups in ([], [f"g{n}" for n in range(21)]):
        with pytest.raises(InvalidInput, match="Nothing was stored"):
            await world.summaries.build_communities(LOCAL, BuildCommunities.model_construct(group_ids=groups))
    assert world.queue.table == {}
