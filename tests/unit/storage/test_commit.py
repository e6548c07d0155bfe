"""One write from decision to graph: whatever fails, the error says whether it is kept."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_write, an_episode, an_intent
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.graph import FakeGraph
from tests.fakes.journal import FakeJournal
from tests.fakes.locks import FakeLocks

from graphiti_pkm.core import call_time
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.records import Deletions, Vectors, WriteIntent, WriteKind
from graphiti_pkm.errors import Unavailable, WriteFailed, WritePending
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import MAX_REFUSALS, MAX_UNENDED, Committer


class SlowGraph(FakeGraph):
    """A graph whose ``apply`` waits until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.started, self.may_end = asyncio.Event(), asyncio.Event()

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        self.started.set()
        await self.may_end.wait()
        await super().apply(intent, vectors)


class BrokenGraph(FakeGraph):
    """A graph with a mistake in its code, whose error holds content."""

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        raise KeyError(f"a planted secret in {intent.uuid} with {len(vectors)} vectors")


class ForgetfulJournal(FakeJournal):
    """A journal on a disk that is full: nothing but appends get through."""

    async def written(self, write_uuid: str) -> None:
        raise Unavailable(f"The disk is full; {write_uuid} is not marked.")

    async def withdraw(self, write_uuid: str) -> None:
        raise Unavailable(f"The disk is full; {write_uuid} is not withdrawn.")


def a_committer(graph: FakeGraph, journal: FakeJournal) -> Committer:
    return Committer(
        Context(
            graph=graph,
            journal=journal,
            embedder=FakeEmbedder(),
            locks=FakeLocks(),
            settings=Settings(data_dir=Path("unused")),
            now=FakeClock(),
        )
    )


@pytest.fixture
def graph() -> FakeGraph:
    return FakeGraph()


@pytest.fixture
def journal() -> FakeJournal:
    return FakeJournal()


@pytest.fixture
def committer(graph: FakeGraph, journal: FakeJournal) -> Committer:
    return a_committer(graph, journal)


def content(graph: FakeGraph) -> dict[str, object]:
    """Everything but the counters that only tell how often something changed."""
    return {name: table for name, table in vars(graph.tables).items() if "version" not in name}


async def states(journal: FakeJournal) -> dict[str, int]:
    return {name: count for name, count in (await journal.counts()).items() if count}


async def test_a_write_ends_in_the_graph_and_is_marked_written(
    committer: Committer, graph: FakeGraph, journal: FakeJournal
) -> None:
    episode = an_episode()
    await committer.commit(a_write(episode), {}, "hash", {"message": "stored"})
    assert episode.uuid in graph.tables.episodes
    assert await states(journal) == {"written": 1}
    assert await journal.stored_answer(episode.uuid) == ("hash", {"message": "stored"})


async def test_what_the_journal_refuses_never_reaches_the_graph(
    committer: Committer, graph: FakeGraph, journal: FakeJournal
) -> None:
    journal.fail_next_append(WriteFailed("Nothing was stored. The disk is full."))
    with pytest.raises(WriteFailed, match="Nothing was stored"):
        await committer.commit(a_write(an_episode()), {})
    assert graph.attempts == []


class LateRefusal(FakeGraph):
    """A graph that refuses a write only when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.refuses_now = asyncio.Event()

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        if not self.refuses_now.is_set():
            await self.refuses_now.wait()
            raise WriteFailed("The database refused the write; nothing of it is kept.")
        await super().apply(intent, vectors)


async def test_a_write_that_was_answered_as_kept_is_not_withdrawn_when_the_graph_refuses_it_later(
    journal: FakeJournal,
) -> None:
    """The caller was told not to send it again: it stays in the journal, where it is retried or shown as failed."""
    graph = LateRefusal()
    committer = a_committer(graph, journal)
    episode = an_episode()
    ended = asyncio.Event()

    async def write() -> None:
        try:
            await committer.commit(a_write(episode), {})
        finally:
            ended.set()

    with pytest.raises(WritePending, match=episode.uuid):
        await call_time.within(0.01, write(), "Nothing was stored.")
    graph.refuses_now.set()
    await ended.wait()
    assert await states(journal) == {"intent": 1}
    assert committer.waiting == {GROUP}
    assert await committer.finish(GROUP) == 1
    assert episode.uuid in graph.tables.episodes


async def test_what_the_graph_refuses_is_withdrawn_and_said_to_be_not_kept(
    committer: Committer, graph: FakeGraph, journal: FakeJournal
) -> None:
    write = a_write(an_episode())
    graph.refused.add(write.uuid)
    with pytest.raises(WriteFailed, match="Nothing was kept"):
        await committer.commit(write, {})
    assert await states(journal) == {}


@pytest.mark.parametrize("when", ["before", "halfway", "after"])
async def test_a_database_that_dies_leaves_the_write_kept_and_the_next_writer_finishes_it(
    committer: Committer, graph: FakeGraph, journal: FakeJournal, when: Any
) -> None:
    episode = an_episode()
    graph.fail_next_apply(when=when)
    with pytest.raises(WritePending, match=f"Kept as {episode.uuid}, do not send it again"):
        await committer.commit(a_write(episode), {})
    assert await states(journal) == {"intent": 1}
    assert committer.waiting == {GROUP}

    assert await committer.catch_up(GROUP) == 1

    assert episode.uuid in graph.tables.episodes
    assert await states(journal) == {"written": 1}
    assert committer.waiting == set()


async def test_a_pending_deletion_is_named_as_such(committer: Committer, graph: FakeGraph) -> None:
    for kind, deletions in (
        (WriteKind.DELETE_EPISODE, Deletions(episodes=("e1",))),
        (WriteKind.DELETE_FACT, Deletions(facts=("f1",))),
    ):
        graph.fail_next_apply()
        with pytest.raises(WritePending, match=r"Kept as the deletion of (episode e1|fact f1),"):
            await committer.commit(an_intent(kind=kind, deletions=deletions), {})


async def test_a_mistake_of_ours_in_the_graph_is_said_to_be_kept_without_its_text(
    journal: FakeJournal,
) -> None:
    committer = a_committer(BrokenGraph(), journal)
    with pytest.raises(WritePending) as raised:
        await committer.commit(a_write(an_episode()), {})
    assert "planted" not in raised.value.message
    assert await states(journal) == {"intent": 1}


async def test_a_lost_mark_is_no_error_and_is_healed_by_the_marker_in_the_graph(graph: FakeGraph) -> None:
    journal = ForgetfulJournal()
    write = a_write(an_episode())
    await a_committer(graph, journal).commit(write, {})
    assert await states(journal) == {"intent": 1}

    healthy = FakeJournal()
    healthy.table = journal.table
    assert await a_committer(graph, healthy).catch_up(GROUP) == 1
    assert await states(healthy) == {"written": 1}
    assert graph.attempts == [write.uuid]


async def test_a_refused_write_that_cannot_be_withdrawn_is_said_to_be_kept(graph: FakeGraph) -> None:
    write = a_write(an_episode())
    graph.refused.add(write.uuid)
    with pytest.raises(WritePending, match="disk is full"):
        await a_committer(graph, ForgetfulJournal()).commit(write, {})


async def test_unfinished_writes_are_finished_in_order_and_only_in_their_group(
    committer: Committer, graph: FakeGraph, journal: FakeJournal
) -> None:
    first, second, other = a_write(an_episode()), a_write(an_episode()), an_intent(group_id=OTHER_GROUP)
    for write in (first, second, other):
        await journal.append(write, {}, "", {})
    assert await committer.catch_up(GROUP) == 2
    assert graph.attempts == [first.uuid, second.uuid]
    assert await committer.catch_up(GROUP) == 0


async def test_no_new_write_goes_before_one_that_waits_for_the_database(
    committer: Committer, graph: FakeGraph, journal: FakeJournal
) -> None:
    await journal.append(a_write(an_episode()), {}, "", {})
    graph.is_down = True
    with pytest.raises(WriteFailed, match=r"Nothing was stored: an earlier write"):
        await committer.catch_up(GROUP)
    assert await states(journal) == {"intent": 1}


async def test_a_write_that_is_refused_again_and_again_is_set_aside_and_frees_its_group(
    committer: Committer, graph: FakeGraph, journal: FakeJournal
) -> None:
    poison, next_one = a_write(an_episode()), a_write(an_episode())
    graph.refused.add(poison.uuid)
    for write in (poison, next_one):
        await journal.append(write, {}, "", {})
    for _ in range(MAX_REFUSALS - 1):
        with pytest.raises(WriteFailed):
            await committer.catch_up(GROUP)
    await committer.catch_up(GROUP)
    assert await states(journal) == {"failed": 1, "written": 1}
    assert "refused 3 times" in journal.table[poison.uuid].reason
    assert graph.attempts[-1] == next_one.uuid


async def test_a_write_that_breaks_the_adapter_is_set_aside_as_well(
    journal: FakeJournal,
) -> None:
    committer = a_committer(BrokenGraph(), journal)
    poison = a_write(an_episode())
    await journal.append(poison, {}, "", {})
    for _ in range(MAX_REFUSALS - 1):
        with pytest.raises(WriteFailed):
            await committer.catch_up(GROUP)
    await committer.catch_up(GROUP)
    assert journal.table[poison.uuid].reason == "refused 3 times: KeyError"


async def test_a_write_at_which_processes_end_is_set_aside_by_a_later_one(
    graph: FakeGraph, journal: FakeJournal
) -> None:
    poison, next_one = a_write(an_episode()), a_write(an_episode())
    for write in (poison, next_one):
        await journal.append(write, {}, "", {})
    for _ in range(MAX_UNENDED):
        await journal.begin_attempt(poison.uuid)  # and the process ended
    await a_committer(graph, journal).catch_up(GROUP)
    assert await states(journal) == {"failed": 1, "written": 1}
    assert "never ended" in journal.table[poison.uuid].reason


async def test_attempts_that_end_do_not_count_as_fatal(graph: FakeGraph, journal: FakeJournal) -> None:
    write = a_write(an_episode())
    await journal.append(write, {}, "", {})
    graph.is_down = True
    for _ in range(MAX_UNENDED + 1):
        with pytest.raises(WriteFailed):
            await a_committer(graph, journal).catch_up(GROUP)
    graph.is_down = False
    await a_committer(graph, journal).catch_up(GROUP)
    assert await states(journal) == {"written": 1}


@pytest.mark.parametrize("cancels", [1, 3])
async def test_a_cancelled_write_is_finished_before_the_lock_can_be_released(
    journal: FakeJournal, cancels: int
) -> None:
    graph = SlowGraph()
    write = a_write(an_episode())
    task = asyncio.create_task(a_committer(graph, journal).commit(write, {}))
    await graph.started.wait()
    for _ in range(cancels):
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
    graph.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await states(journal) == {"written": 1}
    assert await graph.writer.applied([write.uuid]) == {write.uuid}


async def test_a_cancelled_write_that_fails_leaves_its_row_for_the_next_one(journal: FakeJournal) -> None:
    graph = SlowGraph()
    graph.fail_next_apply()
    task = asyncio.create_task(a_committer(graph, journal).commit(a_write(an_episode()), {}))
    await graph.started.wait()
    task.cancel()
    graph.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await states(journal) == {"intent": 1}


async def run_until_killed(writes: Sequence[WriteIntent], steps: int) -> tuple[FakeGraph, FakeJournal]:
    """Do the steps of commits one by one and stop after ``steps``, as kill -9 does."""
    graph, journal = FakeGraph(), FakeJournal()
    done = 0
    for write in writes:
        for step in (
            lambda write=write: journal.append(write, {}, "", {}),
            lambda write=write: graph.writer.apply(write, {}),
            lambda write=write: journal.written(write.uuid),
        ):
            if done == steps:
                return graph, journal
            await step()
            done += 1
    return graph, journal


@pytest.mark.parametrize("steps", range(1, 7))
async def test_a_process_killed_between_any_two_steps_leaves_the_same_graph_after_catching_up(steps: int) -> None:
    writes = [a_write(an_episode(uuid="1")), a_write(an_episode(uuid="2"))]
    graph, journal = await run_until_killed(writes, steps)

    await a_committer(graph, journal).catch_up(GROUP)

    acknowledged = [write for write in writes if write.uuid in journal.table]
    expected = FakeGraph()
    for write in acknowledged:
        await expected.apply(write, {})
    assert content(graph) == content(expected)
    assert await states(journal) == {"written": len(acknowledged)}
