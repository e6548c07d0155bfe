"""The pipeline writes nothing, pays once, survives odd answers, and tells whose fault an end was."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from graphiti_core.llm_client import LLMClient
from graphiti_core.nodes import EntityNode
from graphiti_core.search.search_filters import SearchFilters
from tests.builders import GROUP, a_fact, an_entity, at
from tests.integration.pipeline_world import (
    ACME,
    ANNA,
    COMPANY,
    PERSON,
    WORKS_AT,
    PipelineWorld,
    a_ledger,
    entities_of,
    opened,
    works_at_acme,
)
from tests.scripted_model import FaultPlan, PermanentFault, ScriptedModel
from tests.scripted_model.counting import Tally

from graphiti_pkm.core.model.records import Name
from graphiti_pkm.core.ports.extraction import ModelLedger
from graphiti_pkm.errors import ConfigurationError, ModelNonsense, ModelUnavailable, Unavailable
from graphiti_pkm.graphiti_adapter.pipeline import GraphitiExtractor
from graphiti_pkm.graphiti_adapter.pipeline_graph import ModelDriver, ModelReads, ModelSearch, Seen, node_of
from graphiti_pkm.graphiti_adapter.pipeline_types import read_types
from graphiti_pkm.storage.graph.sqlite.core_parts import Records
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph


@pytest.fixture
async def world(sqlite_graph: SqliteGraph, scripted_model: ScriptedModel) -> AsyncIterator[PipelineWorld]:
    async with opened(sqlite_graph, scripted_model) as made:
        yield made


TYPED = "Anna Berg is a Person. Acme is a Company. Globex is a Company. "
RUNS = {
    "new": "Bob OWNS_IT Boat since 2020. Bob KNOWS_WITH Tom Vance.",
    "known": "Anna Berg KNOWS_WITH Tom Vance. anna-berg LIVES_IN Rome.",
    "again": "Anna Berg WORKS_AT Acme.",
    "contradicted": "Anna Berg WORKS_AT Globex since 2025-02.",
    "told late": "Anna Berg WORKS_AT Globex since 2019 until 2020.",
    "types": TYPED + "Anna Berg WORKS_AT Globex since 2025-02.",
    "long": ("word " * 300)
    + "Anna Berg WORKS_AT Globex since 2025-02. "
    + ("word " * 300)
    + "Anna Berg LIVES_IN Rome.",
    "nothing": "Nothing is said.",
}


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
async def test_the_graph_is_the_same_to_the_last_byte(world: PipelineWorld, text: str) -> None:
    saga = "A series"
    await world.keep(ANNA, ACME, works_at_acme(), an_entity("Tom Vance"))
    episode = await world.told(text, source_description=saga)
    before = world.graph()
    await world.extract(episode, world.extractor((PERSON, COMPANY), (WORKS_AT,), part_characters=1_000))
    assert world.graph() == before


async def test_a_query_or_a_save_of_graphitis_own_is_refused(world: PipelineWorld) -> None:
    episode = await world.told("Anna Berg WORKS_AT Globex.")
    before = world.graph()
    reads = ModelReads(world.store, node_of(ANNA), [], Seen())  # type: ignore[arg-type]
    driver = ModelDriver(ModelSearch(world.store, Seen()), reads)
    node = EntityNode(name=episode.name, group_id=episode.group_id, labels=["Entity"])
    for ask in (node.save(driver), node.delete(driver), driver.execute_query("CREATE (:X)")):
        with pytest.raises(ConfigurationError, match=r"requirements\.lock"):
            await ask
    with pytest.raises(ConfigurationError):
        driver.session()
    assert driver.refusal is not None
    assert world.graph() == before


async def test_a_job_that_is_taken_up_again_pays_for_nothing_twice(world: PipelineWorld) -> None:
    await world.keep(ANNA, ACME, works_at_acme())
    episode = await world.told(RUNS["types"])
    ledger = await a_ledger()
    extractor = world.extractor((PERSON, COMPANY), (WORKS_AT,))
    first = await world.extract(episode, extractor, ledger)
    paid = world.model.stats.calls
    await world.told("Told meanwhile.", at(2024), created_at=at(2027))
    second = await world.extract(episode, extractor, ledger)
    assert world.model.stats.calls == paid
    assert [one.text for one in second.facts] == [one.text for one in first.facts]
    assert [one.fact_uuid for one in second.endings] == [one.fact_uuid for one in first.endings]


async def test_an_outage_that_graphiti_passes_over_is_told(world: PipelineWorld) -> None:
    outage = PermanentFault(kind="unavailable", schema_name="EdgeTimestamps")
    world.model.change(faults=FaultPlan(permanent=(outage,)))
    with pytest.raises(ModelUnavailable):
        await world.extract(await world.told("Anna Berg WORKS_AT Globex."))


async def test_an_answer_of_another_shape_is_nonsense(world: PipelineWorld) -> None:
    wrong = PermanentFault(kind="wrong_shape", schema_name="ExtractedEdges")
    world.model.change(faults=FaultPlan(permanent=(wrong,)))
    with pytest.raises(ModelNonsense):
        await world.extract(await world.told("Anna Berg WORKS_AT Globex."))


class NamesAway(Records):
    """The database goes away for one read, the error of which Graphiti passes over."""

    async def get_names(self, keys: Any) -> dict[str, Name]:  # noqa: ARG002
        raise Unavailable("The database does not answer.")


async def test_a_database_that_goes_away_meanwhile_makes_no_second_entity(world: PipelineWorld) -> None:
    await world.keep(ANNA)
    episode = await world.told("Anna Berg WORKS_AT Globex.")
    whole = world.store
    world.store = SqliteGraph(whole._opened.file._file)
    world.store.records = NamesAway(world.store._opened)
    with pytest.raises(Unavailable):
        await world.extract(episode)
    await world.store.close()
    world.store = whole


ODD: dict[str, dict[str, Any]] = {
    "entity of no type": {
        "ExtractedEntities": {"extracted_entities": [_entity := {"name": "Anna", "entity_type_id": 99}]}
    },
    "no name": {"ExtractedEntities": {"extracted_entities": [{**_entity, "name": " "}, {**_entity, "name": "\u200b"}]}},
    "a name too long": {"ExtractedEntities": {"extracted_entities": [{**_entity, "name": "A" * 5_000}]}},
    "characters": {"ExtractedEntities": {"extracted_entities": [{**_entity, "name": "Anna\x00\ud800"}]}},
}


@pytest.mark.parametrize("script", ODD.values(), ids=ODD)
async def test_odd_entities_are_left_out_or_put_right(world: PipelineWorld, script: dict[str, Any]) -> None:
    answers = {
        schema: {"": {name: [{"episode_indices": [0], **one} for one in many] for name, many in answer.items()}}
        for schema, answer in script.items()
    }
    world.model.change(script=answers)
    found = await world.extract(await world.told("Whatever."))
    assert set(entities_of(found)) <= {"Anna"}


DATES: list[tuple[str | None, str | None, Any, Any]] = [
    ("2024-05-01T10:00:00", None, at(2024, 5, 1, 10), None),
    ("2024-05-01T10:00:00+02:00", None, at(2024, 5, 1, 8), None),
    ("2024-05", "2025", at(2024, 5), at(2025)),
    ("2024-05-01T00:00:00Z", "9999-12-31T23:59:59Z", at(2024, 5), None),
    ("0001-01-01T00:00:00+14:00", "2024-05-01", None, at(2024, 5)),
    ("2024-05-01", "2023-01-01", at(2024, 5), None),
    ("2024-05-01", "2024-05-01", at(2024, 5), None),
    ("2024-13-45", "2024-05-01", None, at(2024, 5)),
    ("1850-05-01", None, at(1850, 5), None),
    ("once", "never", at(2025), None),
]


@pytest.mark.parametrize(("told_start", "told_end", "start", "end"), DATES)
async def test_dates_are_read_with_care(
    world: PipelineWorld, told_start: str | None, told_end: str | None, start: Any, end: Any
) -> None:
    edge = {"source_entity_name": "Anna", "target_entity_name": "Rome", "relation_type": "lives in", "fact": "So."}
    told = {**edge, "valid_at": told_start, "invalid_at": told_end, "episode_indices": [0]}
    world.model.change(script={"ExtractedEdges": {"Anna": {"edges": [told]}}, "EdgeTimestamps": {
        "So": {"valid_at": "2025-01-01T00:00:00Z", "invalid_at": None}}})  # fmt: skip
    (fact,) = (await world.extract(await world.told("Anna LIVES_IN Rome."))).facts
    assert (fact.relation, fact.valid_at, fact.invalid_at) == ("LIVES_IN", start, end)


async def test_an_end_before_the_start_does_not_hide_what_the_fact_ends(world: PipelineWorld) -> None:
    job = works_at_acme()
    await world.keep(ANNA, ACME, job)
    edge = {"source_entity_name": "Anna Berg", "target_entity_name": "Globex", "relation_type": "WORKS_AT"}
    told = {**edge, "fact": "Anna Berg WORKS_AT Globex.", "episode_indices": [0]}
    dated = {**told, "valid_at": "2025-02-01", "invalid_at": "2023-01-01"}
    world.model.change(script={"ExtractedEdges": {"Anna": {"edges": [dated]}}})
    found = await world.extract(await world.told("Anna Berg WORKS_AT Globex."))
    assert [(one.fact_uuid, one.invalid_at) for one in found.endings] == [(job.uuid, at(2025, 2))]


async def test_what_is_found_for_graphiti_holds_no_attributes(world: PipelineWorld) -> None:
    anna = ANNA.model_copy(update={"attributes": {"bias": "skewed"}})
    await world.keep(anna, ACME, works_at_acme(value="8 hours", attributes={"counter": 3}))
    search = ModelSearch(world.store, Seen())
    (vector,) = await world.embedder.embed(["Anna Berg WORKS_AT Acme."])
    near = await search.edge_similarity_search(None, vector.tolist(), None, None, SearchFilters(), [GROUP])
    nodes = await search.node_fulltext_search(None, "Anna", SearchFilters(), [GROUP])
    assert [one.attributes for one in (*near, *nodes)] == [{}, {}]


class Odd:
    """A model whose client gives what fits no question: beyond what can be scripted, as our client checks answers."""

    name = "odd"

    def for_job(self, ledger: ModelLedger) -> Any:  # noqa: ARG002
        return OddClient()


class OddClient(LLMClient):
    def __init__(self) -> None:
        super().__init__(None)

    async def finish(self) -> None:
        """Nothing is left running."""

    async def generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"extracted_entities": [{"name": "planted-secret"}]}

    async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise NotImplementedError


async def test_what_graphiti_fails_on_is_nonsense_and_quoted_nowhere(
    world: PipelineWorld, caplog: pytest.LogCaptureFixture
) -> None:
    episode = await world.told("Anna Berg WORKS_AT Globex.")
    extractor = GraphitiExtractor(world.store, world.embedder, Odd(), read_types([], [], []))
    with pytest.raises(ModelNonsense) as raised:
        await world.extract(episode, extractor)
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("graphiti_pkm")]
    assert ours
    assert "planted-secret" not in f"{raised.value.message} {raised.value.remedy} {ours}"
    assert raised.value.__cause__ is None


async def test_a_fact_ended_by_what_a_model_dates_before_it_stays(world: PipelineWorld) -> None:
    """The ends of a fact told again are those of the graph, whatever else the episode says."""
    berlin = an_entity("Berlin")
    home = a_fact(ANNA, berlin, "LIVES_IN", text="Anna Berg LIVES_IN Berlin.", valid_at=at(2023), invalid_at=at(2024))
    await world.keep(ANNA, berlin, home)
    found = await world.extract(await world.told("Anna Berg LIVES_IN Berlin. Anna Berg LIVES_IN Rome since 2025-02."))
    again = next(one for one in found.facts if one.is_known)
    assert (again.uuid, again.valid_at, again.invalid_at) == (home.uuid, at(2023), at(2024))
    assert found.endings == ()


def test_nothing_slow_is_imported_before_an_episode_is_read() -> None:
    script = (
        "import sys; from graphiti_pkm.graphiti_adapter.pipeline import GraphitiExtractor; "
        "print([name for name in ('graphiti_core', 'openai', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_no_more_calls_at_once_than_are_allowed(world: PipelineWorld) -> None:
    await world.keep(ANNA, ACME, works_at_acme())
    episode = await world.told(" ".join(f"Anna Berg WORKS_AT Firm {name} since 2025-02." for name in "ABCDEFGH"))
    world.model.change(latency_ms=20)
    await world.extract(episode, world.extractor(parallel_calls=3))
    assert world.calls()["EdgeDuplicate"] == 8
    assert world.model.stats.in_flight_max == 3


async def test_a_job_that_is_given_up_leaves_no_call_running(world: PipelineWorld) -> None:
    hang = PermanentFault(kind="hang", schema_name="EdgeTimestamps")
    world.model.change(faults=FaultPlan(permanent=(hang,)))
    episode = await world.told("Anna Berg WORKS_AT Globex. Anna Berg LIVES_IN Rome.")
    job = asyncio.create_task(world.extract(episode))
    await asyncio.to_thread(
        world.model.wait_for, lambda stats: stats.by_schema.get("EdgeTimestamps", Tally()).calls == 2
    )
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    await asyncio.to_thread(world.model.wait_for, lambda stats: stats.in_flight == 0)
