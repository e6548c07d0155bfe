"""Which stored episodes are read again, and what that is estimated to take."""

import pytest
from tests.builders import at
from tests.worlds.extraction_world import ExtractionWorld

from graphiti_pkm.capabilities.extraction.reextracting import Reextracting
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.extraction_cost import estimated_calls
from graphiti_pkm.errors import InvalidInput, NotFound


class World(ExtractionWorld):
    """A memory with a few notes."""

    def __init__(self) -> None:
        super().__init__(at(2026, 6, 1))
        self.queue = self.journal.extractions
        self.again = Reextracting(self.context, Groups(self.graph, self.context.settings), self.queue)


@pytest.fixture
def world() -> World:
    return World()


async def test_one_episode_by_the_start_of_its_uuid(world: World) -> None:
    episode = await world.note("Anna likes tea.")
    choice = await world.again.one(LOCAL, episode[:8])
    assert [one.uuid for one in choice.episodes] == [episode]
    jobs = await world.again.enqueue(choice)
    assert [(row.id, row.job.episode_uuid, row.group_id) for row in world.queue.table.values()] == [
        (jobs[0], episode, "default")
    ]


async def test_it_is_read_as_its_add_memory_said(world: World) -> None:
    steering = {"excluded_entity_types": ["Place"], "custom_extraction_instructions": "Be brief.", "saga": "x"}
    episode = await world.note("Anna likes tea.", **steering)
    await world.again.enqueue(await world.again.one(LOCAL, episode))
    (job,) = [row.job for row in world.queue.table.values()]
    assert (job.excluded_entity_types, job.instructions) == (("Place",), "Be brief.")


async def test_a_period_oldest_first_of_one_group_or_all(world: World) -> None:
    days = ["2026-01-01", "2026-02-01", "2026-03-01"]
    notes = [await world.note(f"Of {day}.", reference_time=day) for day in reversed(days)][::-1]
    other = await world.note("Elsewhere.", reference_time="2026-02-15", group_id="work")
    whole = await world.again.since(LOCAL, at(2026, 2), None)
    assert [one.uuid for one in whole.episodes] == [notes[1], other, notes[2]]
    of_group = await world.again.since(LOCAL, at(2026, 2), "work")
    assert [one.uuid for one in of_group.episodes] == [other]
    jobs = await world.again.enqueue(whole)
    assert len(jobs) == 3
    assert {row.group_id for row in world.queue.table.values()} == {"default", "work"}


async def test_staging_and_archives_are_read_again_only_when_named(world: World) -> None:
    note = await world.note("Relied on.", reference_time="2026-02-01")
    tried = await world.note("Tried out.", reference_time="2026-02-01", group_id="default_staging")
    await world.note("Put away.", reference_time="2026-02-01", group_id="default_archive")
    assert [one.uuid for one in (await world.again.since(LOCAL, at(2026), None)).episodes] == [note]
    assert [one.uuid for one in (await world.again.since(LOCAL, at(2026), "default_staging")).episodes] == [tried]


async def test_more_than_a_page(world: World) -> None:
    notes = {await world.note(f"Note {i}.") for i in range(203)}
    choice = await world.again.since(LOCAL, at(2020), None)
    assert {one.uuid for one in choice.episodes} == notes
    assert len(choice.episodes) == 203


async def test_what_waits_already_is_not_queued_twice(world: World) -> None:
    first, second = await world.note("One."), await world.note("Two.")
    await world.again.enqueue(await world.again.one(LOCAL, first))
    choice = await world.again.since(LOCAL, at(2020), None)
    assert ([one.uuid for one in choice.episodes], choice.already_queued) == ([second], 1)


async def test_the_estimate_grows_with_the_texts(world: World) -> None:
    await world.note("Short.")
    short = await world.again.since(LOCAL, at(2020), None)
    await world.note("Long. " * 5_000)
    both = await world.again.since(LOCAL, at(2020), None)
    assert short.calls == estimated_calls(6)
    assert both.characters == 30_006
    assert both.calls[0] > short.calls[0]
    assert both.calls[1] > both.calls[0]
    assert both.tokens > short.tokens > 0


async def test_nobody_chooses_what_they_may_not_see(world: World) -> None:
    hers = await world.note("Hers.", caller=Caller(principal="eve"))
    assert (await world.again.since(LOCAL, at(2020), None)).episodes == ()
    for wrong, error in ((hers, NotFound), ("0" * 32, NotFound), ("x", InvalidInput)):
        with pytest.raises(error):
            await world.again.one(LOCAL, wrong)
    with pytest.raises(NotFound):
        await world.again.since(LOCAL, at(2020), "nowhere")
