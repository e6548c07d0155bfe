"""Sagas and communities with Graphiti's own code, a scripted model behind real HTTP, journal and database."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder import EmbedderClient
from graphiti_core.llm_client import LLMClient
from graphiti_core.nodes import CommunityNode, SagaNode
from graphiti_core.search.search_config_recipes import COMMUNITY_HYBRID_SEARCH_MMR, COMMUNITY_HYBRID_SEARCH_RRF
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.scripted_model import FaultPlan, PermanentFault, ScriptedModel
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.forget.requests import Forget
from graphiti_pkm.capabilities.forget.tools import FORGETTING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.sagas.assembly import COMMUNITIES
from graphiti_pkm.capabilities.sagas.requests import BuildCommunities, SummarizeSaga
from graphiti_pkm.capabilities.sagas.tools import SUMMARIES
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.errors import ModelRefused
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.store import GraphStore

pytestmark = pytest.mark.timeout(120)

HIDDEN = "Zephyrinquolltext"
TEAMS = (("Anna Berg", "Tom Vance", "Globex Inc"), ("Mia Roth", "Leo Stern", "Acme"))


class Unused(EmbedderClient, CrossEncoderClient, LLMClient):
    """Searches here bring their vector, and none is ranked by a model."""

    def __init__(self) -> None:
        LLMClient.__init__(self, None)

    async def create(self, input_data: object) -> list[float]:  # noqa: ARG002 Graphiti's
        raise AssertionError("nothing is embedded here")

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:  # noqa: ARG002 Graphiti's
        raise AssertionError("nothing is ranked here")

    async def _generate_response(self, *_: object, **__: object) -> dict[str, Any]:
        raise AssertionError("nothing is generated here")


def settings(data_dir: Path, model: ScriptedModel, **more: Any) -> Settings:
    return Settings(
        data_dir=data_dir,
        llm_model="scripted",
        llm_base_url=model.url,
        llm_api_key="k",
        llm_structured_output="json_schema",
        **more,
    )


@pytest.fixture
async def memory(tmp_path: Path, scripted_model: ScriptedModel) -> AsyncIterator[Memory]:
    """Its model reads no episodes here: the queue is cleared of them."""
    async with open_memory(settings(tmp_path, scripted_model)) as memory:
        yield memory


@pytest.fixture
async def on_neo4j(
    neo4j_server: Neo4jAddress, tmp_path: Path, scripted_model: ScriptedModel
) -> AsyncIterator[tuple[Memory, Graphiti]]:
    """A memory with Graphiti's own code beside it."""
    empty(neo4j_server)
    address = {"neo4j_uri": neo4j_server.uri, "neo4j_username": neo4j_server.username}
    given = settings(tmp_path, scripted_model, **address, neo4j_password=neo4j_server.password)
    async with open_memory(given) as memory:
        store = memory.context.graph
        assert isinstance(store, GraphStore)
        driver = await store.driver()
        unused = Unused()
        yield memory, Graphiti(graph_driver=driver, llm_client=unused, embedder=unused, cross_encoder=unused)
        await driver.close()


async def told(memory: Memory, body: str, saga: str | None = None, **fields: Any) -> AddMemoryResponse:
    steering = {"saga": saga} if saga else {}
    request = AddMemory.model_validate({"episode_body": body, **steering, **fields, "wait_seconds": 40})
    return await memory.services[WRITING].add_memory(LOCAL, request)


async def teams(memory: Memory) -> None:
    """Two groups of people who work together, which nothing joins."""
    for one, other, company in TEAMS:
        entities = [{"name": one, "summary": f"{one} leads."}, {"name": other}, {"name": company}]
        facts = [
            {"source": one, "relation": "WORKS_AT", "target": company},
            {"source": other, "relation": "WORKS_AT", "target": company},
            {"source": one, "relation": "WORKS_WITH", "target": other},
        ]
        await told(memory, f"Of {company}.", entities=entities, facts=facts)


def calls(model: ScriptedModel, schema: str) -> int:
    tally = model.stats.by_schema.get(schema)
    return tally.calls if tally else 0


async def test_a_saga_is_summarised_in_steps(memory: Memory, scripted_model: ScriptedModel) -> None:
    summarize = memory.services[SUMMARIES].summarize_saga
    for body in ("Anna Berg WORKS_AT Acme.", "Tom Vance WORKS_AT Acme."):
        await told(memory, body, "Acme")
    first = await summarize(LOCAL, SummarizeSaga(saga_name="acme"))
    assert (first.status, first.name) == ("done", "Acme")
    assert "Anna Berg WORKS_AT Acme" in first.summary
    assert calls(scripted_model, "SagaSummary") == 1
    again = await summarize(LOCAL, SummarizeSaga(saga_name="Acme"))
    assert (again.summary, calls(scripted_model, "SagaSummary")) == (first.summary, 1)
    await told(memory, "Mia Roth WORKS_AT Acme.", "Acme")
    renewed = await summarize(LOCAL, SummarizeSaga(saga_name="Acme"))
    assert "Anna Berg" in renewed.summary
    assert "Mia Roth" in renewed.summary
    prompt = scripted_model.requests[-1].prompt
    assert prompt.count("Mia Roth WORKS_AT Acme") == 1


async def test_graphiti_reads_a_saga_and_finds_communities(on_neo4j: tuple[Memory, Graphiti]) -> None:
    memory, graphiti = on_neo4j
    for body in ("Anna Berg WORKS_AT Acme.", "Tom Vance WORKS_AT Acme."):
        await told(memory, body, "Acme")
    saga = await memory.services[SUMMARIES].summarize_saga(LOCAL, SummarizeSaga(saga_name="Acme"))
    node = await SagaNode.get_by_uuid(graphiti.driver, saga.uuid)
    assert (node.name, node.summary, node.group_id) == ("Acme", saga.summary, "default")
    assert node.last_summarized_at is not None
    assert await graphiti._saga_get_previous_episode_uuid(saga.uuid, "none") == node.last_episode_uuid
    assert (await graphiti.summarize_saga(saga.uuid)).summary == saga.summary

    await teams(memory)
    one = (await memory.services[SUMMARIES].build_communities(LOCAL, BuildCommunities())).communities[0]
    (vector,) = await memory.context.embedder.embed([one.name])
    for recipe in (COMMUNITY_HYBRID_SEARCH_RRF, COMMUNITY_HYBRID_SEARCH_MMR):
        found = await graphiti.search_(one.name, recipe, ["default"], query_vector=vector.tolist())
        assert found.communities[0].uuid == one.uuid
        assert found.communities[0].summary == one.summary
        elsewhere = await graphiti.search_(one.name, recipe, ["elsewhere"], query_vector=vector.tolist())
        assert elsewhere.communities == []
    far = [-number for number in vector.tolist()]
    worded = await graphiti.search_(one.name.split()[1], COMMUNITY_HYBRID_SEARCH_RRF, ["default"], query_vector=far)
    assert [community.uuid for community in worded.communities] == [one.uuid]
    found_again = await CommunityNode.get_by_uuid(graphiti.driver, one.uuid)
    await found_again.load_name_embedding(graphiti.driver)
    assert found_again.name_embedding == pytest.approx(vector.tolist(), abs=1e-6)


async def test_a_long_saga_is_read_twenty_episodes_at_a_time(memory: Memory, scripted_model: ScriptedModel) -> None:
    await memory.journal.extractions.pause(paused=True)
    for number in range(23):
        request = AddMemory(episode_body=f"Part {number} of it.", saga="Long")
        await memory.services[WRITING].add_memory(LOCAL, request)
    queue = memory.journal.extractions
    await queue.cancel([one.id for one in await queue.page(["queued"], None, 100, None)])
    await queue.pause(paused=False)
    answer = await memory.services[SUMMARIES].summarize_saga(LOCAL, SummarizeSaga(saga_name="Long"))
    assert calls(scripted_model, "SagaSummary") == 2
    assert all(f"Part {number} of it" in answer.summary for number in (0, 19, 20, 22))


async def test_concurrent_writers_share_one_saga_and_its_chain(memory: Memory) -> None:
    await memory.journal.extractions.pause(paused=True)
    add = memory.services[WRITING].add_memory
    requests = [AddMemory(episode_body=f"Part {n}.", saga="Trip") for n in range(6)]
    uuids = [answer.episode_uuid for answer in await asyncio.gather(*(add(LOCAL, one) for one in requests))]
    graph = memory.context.graph
    (held,) = await graph.sagas.sagas_of_episodes(uuids, ["default"], [])
    assert len(await graph.sagas.episodes_of_saga(held.saga.uuid, None, 50)) == 6
    links = await graph.sagas.links_around(uuids)
    assert len({previous for previous, _ in links}) == len({following for _, following in links}) == len(links) == 5


async def test_communities_are_built_and_made_anew_by_a_rebuild(
    memory: Memory, scripted_model: ScriptedModel, tmp_path: Path
) -> None:
    await teams(memory)
    build = memory.services[SUMMARIES].build_communities
    answer = await build(LOCAL, BuildCommunities())
    assert (answer.status, answer.community_count, answer.edge_count) == ("done", 2, 6)
    assert {community.members for community in answer.communities} == {3}
    assert any("Anna Berg leads" in community.summary for community in answer.communities)
    assert calls(scripted_model, "Summary") == 4
    assert calls(scripted_model, "SummaryDescription") == 2

    assert {community.uuid for community in (await build(LOCAL, BuildCommunities())).communities} == {
        c.uuid for c in answer.communities
    }
    await told(memory, "Told since.", facts=[{"source": "Mia Roth", "relation": "LIKES", "target": "Acme"}])
    renewed = await build(LOCAL, BuildCommunities())
    assert {community.uuid for community in renewed.communities}.isdisjoint({c.uuid for c in answer.communities})
    before = dump(tmp_path)
    await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
    assert differences(before, dump(tmp_path)) == []
    assert len(before.of("community")) == 2


async def test_what_is_forgotten_is_in_no_saga_no_community_and_no_file(memory: Memory, tmp_path: Path) -> None:
    entities = [{"name": "Maria", "summary": f"Maria knows {HIDDEN}."}, {"name": "Tom"}]
    facts = [{"source": "Maria", "relation": "TOLD", "target": "Tom", "fact": f"Maria told Tom of {HIDDEN}."}]
    note = await told(memory, f"Maria told Tom of {HIDDEN}.", f"On {HIDDEN}", entities=entities, facts=facts)
    await told(memory, "Tom runs.", f"On {HIDDEN}")
    await memory.services[SUMMARIES].summarize_saga(LOCAL, SummarizeSaga(saga_name=f"On {HIDDEN}"))
    await memory.services[SUMMARIES].build_communities(LOCAL, BuildCommunities())
    assert len(await memory.context.graph.part(COMMUNITIES).communities(["default"], 9)) == 1
    forget = memory.services[FORGETTING].forget
    preview = await forget(LOCAL, Forget(query=HIDDEN))
    await forget(LOCAL, Forget(query=HIDDEN, confirm=preview.confirm))
    graph = memory.context.graph
    (held,) = await graph.sagas.sagas_of_episodes([note.episode_uuid], ["default"], [])
    assert (held.saga.name, held.saga.summary) == ("[forgotten]", "")
    assert await graph.part(COMMUNITIES).communities(["default"], 9) == []
    assert files_with(tmp_path, HIDDEN) == []


async def test_what_was_paid_for_is_not_paid_again_after_a_failure(
    memory: Memory, scripted_model: ScriptedModel
) -> None:
    await teams(memory)
    scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind="refusal", contains="Leo Stern"),)))
    with pytest.raises(ModelRefused, match="what was paid for is kept"):
        await memory.services[SUMMARIES].build_communities(LOCAL, BuildCommunities())
    assert await memory.context.graph.part(COMMUNITIES).communities(["default"], 9) == []
    scripted_model.change(faults=FaultPlan())
    answer = await memory.services[SUMMARIES].build_communities(LOCAL, BuildCommunities())
    assert answer.community_count == 2
    assert max(scripted_model.stats.answered.values()) == 1
