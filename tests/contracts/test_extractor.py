"""Contract of ``Extractor``: the pipeline on a scripted model, and the fake that stands for it in unit tests."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from tests.builders import GROUP, at, new_uuid
from tests.fakes import FakeClock, FakeExtractionQueue
from tests.fakes.extractor import FakeExtractor
from tests.integration.pipeline_world import opened
from tests.scripted_model import FaultPlan, PermanentFault, ScriptedModel
from tests.worlds.extraction_world import Findings

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.ports.extraction import Budget, Extraction, ExtractionTask, Extractor, ModelLedger
from graphiti_pkm.errors import BudgetSpent, ModelRefused, ModelUnavailable, NotFound
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph

TEXT = "Anna Berg WORKS_AT Globex."
FAULTS = {"unauthorized": ModelRefused("Refused."), "unavailable": ModelUnavailable("Away.", retry_after=7)}


@dataclass
class Reading:
    """One episode, and who reads it."""

    extractor: Extractor
    task: ExtractionTask
    model: ScriptedModel | None = None
    fake: FakeExtractor | None = None

    @property
    def calls(self) -> int:
        """Answers that were paid for."""
        return (
            self.fake.calls
            if self.fake
            else sum(
                tally.calls
                for name, tally in self.model.stats.by_schema.items()
                if name.startswith("Extracted")  # type: ignore[union-attr]
            )
        )

    def breaks(self, kind: str) -> None:
        """From now on it answers with a fault."""
        if self.fake:
            self.fake.fail_next(FAULTS[kind])
        elif self.model:
            self.model.change(faults=FaultPlan(permanent=(PermanentFault(kind=kind),)))  # type: ignore[arg-type]


@pytest.fixture(params=["fake", "pipeline"])
def reading(request: pytest.FixtureRequest) -> Reading:
    """Not async: a fixture that is cannot ask for one that is."""
    made: Reading = request.getfixturevalue(f"{request.param}_reading")
    return made


@pytest.fixture
async def pipeline_reading(sqlite_graph: SqliteGraph, scripted_model: ScriptedModel) -> AsyncIterator[Reading]:
    async with opened(sqlite_graph, scripted_model) as world:
        episode = await world.told(TEXT)
        task = ExtractionTask(group_id=GROUP, episode_uuid=episode.uuid)
        yield Reading(world.extractor(), task, model=scripted_model)


@pytest.fixture
def fake_reading() -> Reading:
    def finds(_: ExtractionTask) -> Extraction:
        found = Findings()
        found.fact("Anna Berg", "WORKS_AT", "Globex", TEXT)
        return found.extraction

    fake = FakeExtractor(finds)
    task = ExtractionTask(group_id=GROUP, episode_uuid=new_uuid())
    fake.episodes = {task.episode_uuid}
    return Reading(fake, task, fake=fake)


async def a_ledger(budget: Budget | None = None) -> ModelLedger:
    """Of one job."""
    queue = FakeExtractionQueue(FakeClock(at(2026)))
    queue.add(GROUP, [ExtractJob(uuid="job", episode_uuid="episode")])
    claimed = await queue.claim("test", 30)
    assert claimed is not None
    return queue.ledger(claimed.id, budget or Budget(), "2026-01-01")


async def test_it_finds_entities_and_facts_between_them(reading: Reading) -> None:
    found = await reading.extractor.extract(reading.task, await a_ledger())
    names = {one.uuid: one.name for one in found.entities}
    assert [(names[one.source_uuid], one.relation, names[one.target_uuid]) for one in found.facts] == [
        ("Anna Berg", "WORKS_AT", "Globex")
    ]
    assert not any(one.is_known for one in (*found.entities, *found.facts))
    assert reading.extractor.model


async def test_what_was_paid_for_is_not_asked_again(reading: Reading) -> None:
    ledger = await a_ledger()
    first = await reading.extractor.extract(reading.task, ledger)
    paid = reading.calls
    again = await reading.extractor.extract(reading.task, ledger)
    assert paid > 0
    assert reading.calls == paid
    assert [one.text for one in again.facts] == [one.text for one in first.facts]


async def test_a_budget_that_is_spent_stops_it(reading: Reading) -> None:
    with pytest.raises(BudgetSpent):
        await reading.extractor.extract(reading.task, await a_ledger(Budget(calls_per_episode=0)))
    assert reading.calls == 0


async def test_an_episode_that_is_not_there_is_not_asked_about(reading: Reading) -> None:
    gone = reading.task.model_copy(update={"episode_uuid": new_uuid()})
    with pytest.raises(NotFound):
        await reading.extractor.extract(gone, await a_ledger())
    assert reading.calls == 0


@pytest.mark.parametrize(("kind", "error"), [("unauthorized", ModelRefused), ("unavailable", ModelUnavailable)])
async def test_errors_of_the_model_come_as_they_are(reading: Reading, kind: str, error: type[Exception]) -> None:
    reading.breaks(kind)
    with pytest.raises(error):
        await reading.extractor.extract(reading.task, await a_ledger())
