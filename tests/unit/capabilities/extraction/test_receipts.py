"""add_memory with a model: queued, waited for; what get_status tells of a receipt."""

import asyncio
from typing import Any

import pytest
from tests.builders import at
from tests.fakes.extractor import FakeExtractor
from tests.worlds.extraction_world import ExtractionWorld, Findings

from graphiti_pkm.capabilities.extraction.service import Extracting, Pace
from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.capabilities.status.service import Status
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.core.ports.extraction import Extraction
from graphiti_pkm.core.progress import no_progress
from graphiti_pkm.core.reading.receipts import MOST_FACTS, Receipts
from graphiti_pkm.errors import InvalidInput, ModelRefused, ModelUnavailable, NotFound
from graphiti_pkm.storage.commit import Committer

EVE = Caller(principal="eve")
TEXT = "Anna likes tea."


class World(ExtractionWorld):
    """A process with a model configured."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(at(2026, 6, 1), llm_model="fake-1", **settings)
        self.journal.now = self.clock
        self.queue = self.journal.extractions
        self.queue._now = self.clock
        self.extractor = FakeExtractor(lambda _: likes("Tea"))
        groups, committer = Groups(self.graph, self.context.settings), Committer(self.context)
        self.extracting = Extracting(
            self.context, self.queue, self.extractor, self.extractions, Pace(jitter=lambda: 0.5)
        )
        committer.on_extractions = self.extracting.notify
        self.receipts = Receipts(self.context, groups, self.queue, lambda: self.extracting.changed.next)
        self.writing = Writing(self.context, groups, committer, self.receipts)
        self.status = Status(self.context, groups, receipts=self.receipts)
        self.progress: list[tuple[float, float, str]] = []

    async def add(self, body: str = TEXT, wait: float = 0, caller: Caller = LOCAL, **fields: Any) -> AddMemoryResponse:
        request = AddMemory.model_validate({"episode_body": body, **fields})

        async def progress(done: float, most: float, what: str) -> None:
            self.progress.append((done, most, what))

        waiting = request.model_copy(update={"wait_seconds": wait})  # parts of a second too, which no tool takes
        return await self.writing.add_memory(caller, waiting, progress)


@pytest.fixture
def world() -> World:
    return World()


def likes(*targets: str) -> Extraction:
    found = Findings()
    for target in targets:
        found.fact("Anna", "LIKES", target, f"Anna likes {target}.")
    return found.extraction


async def test_a_note_is_queued_with_what_the_call_says_about_it(world: World) -> None:
    steering = {
        "excluded_entity_types": ["Place"],
        "custom_extraction_instructions": "Be brief.",
        "previous_episode_uuids": ["0a0a0a0a"],
        "update_communities": True,
        "saga": "trip",
    }
    answer = await world.add(**steering)
    jobs = [row.job for row in world.queue.table.values()]
    assert jobs == [
        ExtractJob(
            uuid=jobs[0].uuid,
            episode_uuid=answer.episode_uuid,
            excluded_entity_types=("Place",),
            instructions="Be brief.",
            previous_episode_uuids=("0a0a0a0a",),
            update_communities=True,
        )
    ]
    assert answer.extraction is None
    assert "receipt" in answer.message
    assert answer.unused == ["update_communities"]
    assert answer.next_steps is None
    assert world.extractor.tasks == []


@pytest.mark.parametrize(
    ("principal", "user_names", "name"),
    [("local", True, None), ("bot:anna", True, "anna"), ("bot:anna", False, None), ("bot:12345", True, None)],
)
async def test_a_model_learns_who_tells_a_note_if_accounts_are_named_after_persons(
    principal: str, user_names: bool, name: str | None
) -> None:
    world = World(user_names=user_names)
    await world.writing.add_memory(Caller(principal=principal), AddMemory(episode_body=TEXT))
    assert [row.job.person for row in world.queue.table.values()] == [name]


async def test_without_a_model_nothing_is_queued_and_no_wait_waits() -> None:
    world = ExtractionWorld()
    request = AddMemory(episode_body=TEXT, wait_seconds=45)
    answer = await world.writing.add_memory(LOCAL, request)
    assert (answer.extraction, world.journal.extractions.table) == (None, {})
    assert "receipt" not in answer.message


async def test_who_waits_is_told_how_far_it_is_and_what_was_found(world: World) -> None:
    world.extractor.may_answer.clear()
    stop = asyncio.Event()
    working = asyncio.create_task(world.extracting.run(stop))
    adding = asyncio.create_task(world.add(wait=45))
    await asyncio.wait_for(world.extractor.asked_for(1), 10)
    world.extractor.may_answer.set()
    answer = await asyncio.wait_for(adding, 10)
    stop.set()
    await working
    assert answer.extraction is not None
    assert (answer.extraction.state, [one.fact for one in answer.extraction.facts]) == ("done", ["Anna likes Tea."])
    assert "1 fact" in answer.message
    assert world.progress[0][1:] == (45, "extraction queued")


async def test_a_wait_ends_and_the_job_goes_on(world: World) -> None:
    answer = await world.add(wait=0.01)
    assert answer.extraction is not None
    assert answer.extraction.state == "queued"
    await world.extracting.run_once()
    receipt = await world.status.get_status(LOCAL, GetStatus(receipt=answer.episode_uuid[:8]))
    assert receipt.extraction is not None
    assert receipt.extraction.state == "done"


async def test_who_waits_is_answered_when_the_process_is_about_to_end(world: World) -> None:
    world.extractor.may_answer.clear()
    first = await world.add()
    working = asyncio.create_task(world.extracting.run_once())
    await asyncio.wait_for(world.extractor.asked_for(1), 10)
    waiting = asyncio.create_task(world.add(wait=10_000, uuid=first.episode_uuid))
    await asyncio.sleep(0)
    world.receipts.stop_waiting()
    answer = await asyncio.wait_for(waiting, 10)
    assert answer.extraction is not None
    assert answer.extraction.state == "running"
    world.extractor.may_answer.set()
    await working


async def test_a_repeat_waits_for_the_job_of_the_first_call(world: World) -> None:
    first = await world.add()
    await world.extracting.run_once()
    again = await world.add(wait=45, uuid=first.episode_uuid)
    assert again.status == "already_stored"
    assert again.extraction is not None
    assert again.extraction.state == "done"
    assert len(world.queue.table) == 1


async def test_a_journal_that_fails_while_waiting_does_not_unsay_what_was_stored(world: World) -> None:
    stored = await world.add()
    world.journal.is_down = True
    answer = await world.writing._with_extraction(stored, 1, no_progress)
    assert answer.episode_uuid == stored.episode_uuid


async def test_a_failure_is_told_with_reason_and_remedy(world: World) -> None:
    answer = await world.add()
    world.extractor.fail_next(ModelRefused("The key is refused.", "Set llm_api_key."))
    await world.extracting.run_once()
    told = await world.status.get_status(LOCAL, GetStatus(receipt=answer.episode_uuid))
    assert told.status == "degraded"
    assert told.message == (
        "Extraction failed: The key is refused. The text is stored and searchable. Set llm_api_key."
    )
    assert told.extraction is not None
    assert (told.extraction.reason, told.extraction.remedy) == ("The key is refused.", "Set llm_api_key.")
    whole = await world.status.get_status(LOCAL, GetStatus())
    assert whole.extractions == {"failed": 1}
    assert [one.remedy for one in whole.extraction_failures] == ["Set llm_api_key."]
    assert whole.extraction_model == "fake-1"


async def test_whoever_wants_communities_updated_is_told_what_does_it(world: World) -> None:
    for wanted, said in ((True, True), (False, False)):
        answer = await world.add(f"Anna likes tea: {wanted}.", update_communities=wanted)
        await world.extracting.run_once()
        told = (await world.status.get_status(LOCAL, GetStatus(receipt=answer.episode_uuid))).extraction
        assert told is not None
        assert ("build_communities" in (told.remedy or "")) is said


async def test_a_job_that_waits_says_why_and_until_when(world: World) -> None:
    answer = await world.add()
    world.extractor.fail_next(ModelUnavailable("Too busy.", retry_after=60))
    await world.extracting.run_once()
    told = (await world.status.get_status(LOCAL, GetStatus(receipt=answer.episode_uuid))).extraction
    assert told is not None
    assert (told.state, told.reason, told.attempts) == ("queued", "Too busy.", 1)
    assert told.next_attempt == "2026-06-01T00:01:00+00:00"
    whole = await world.status.get_status(LOCAL, GetStatus())
    assert (whole.status, whole.failures) == ("degraded", ["1 episode(s) wait to be read by a model: Too busy."])


async def test_what_waits_for_a_paused_queue_is_told(world: World) -> None:
    await world.queue.pause(paused=True)
    assert (await world.status.get_status(LOCAL, GetStatus())).status == "ok"
    await world.add()
    whole = await world.status.get_status(LOCAL, GetStatus())
    assert whole.failures == ["Reading by a model is paused; `graphiti-pkm queue resume` goes on."]
    await world.queue.pause(paused=False)
    assert (await world.status.get_status(LOCAL, GetStatus())).status == "ok"


async def test_episodes_that_could_not_be_read_degrade_the_whole(world: World) -> None:
    await world.add()
    world.extractor.fail_next(ModelRefused("The key is refused.", "Set llm_api_key."))
    await world.extracting.run_once()
    whole = await world.status.get_status(LOCAL, GetStatus())
    assert whole.status == "degraded"
    assert whole.failures == ["1 episode(s) could not be read by a model: see extraction_failures."]


async def test_tokens_and_cost_by_the_prices_of_the_settings() -> None:
    world = World(llm_price_input=2.0, llm_price_output=8.0)
    answer = await world.add()
    assert (await world.status.get_status(LOCAL, GetStatus())).spent == {}
    await world.extracting.run_once()
    told = (await world.status.get_status(LOCAL, GetStatus(receipt=answer.episode_uuid))).extraction
    assert told is not None
    assert (told.calls, told.tokens, told.cost) == (1, 15, pytest.approx(0.00006))
    await world.add("Anna likes tea, still.")
    world.clock.advance(days=1)
    await world.extracting.run_once()
    assert (await world.status.get_status(LOCAL, GetStatus())).spent == {
        "today": "1 call(s), 15 tokens, 0.0001",
        "in all": "2 call(s), 30 tokens, 0.0001",
    }


async def test_a_long_list_of_facts_is_cut_and_counted(world: World) -> None:
    names = [f"Tea {i}" for i in range(MOST_FACTS + 1)]
    world.extractor.finds = lambda _: likes(*names)
    answer = await world.add()
    await world.extracting.run_once()
    told = (await world.status.get_status(LOCAL, GetStatus(receipt=answer.episode_uuid))).extraction
    assert told is not None
    assert (len(told.facts), told.facts_total) == (MOST_FACTS, MOST_FACTS + 1)


async def test_a_receipt_is_only_for_who_may_see_the_group(world: World) -> None:
    mine, hers = await world.add(), await world.add(caller=EVE)
    for caller, other in ((EVE, mine), (LOCAL, hers)):
        with pytest.raises(NotFound):
            await world.status.get_status(caller, GetStatus(receipt=other.episode_uuid))
        assert (await world.status.get_status(caller, GetStatus())).extractions == {"queued": 1}
    for unknown, error in (("0" * 32, NotFound), ("no uuid", InvalidInput)):
        with pytest.raises(error):
            await world.status.get_status(LOCAL, GetStatus(receipt=unknown))
