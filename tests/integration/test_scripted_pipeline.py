"""Graphiti's whole ``add_episode`` on a real Neo4j, with the scripted model in the place of a real one."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.driver import GraphProvider
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.graph_queries import get_fulltext_indices
from graphiti_core.llm_client import LLMClient, LLMConfig, OpenAIClient
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.nodes import EntityNode, EpisodeType
from openai import AsyncOpenAI
from pydantic import BaseModel
from tests.builders import at
from tests.scripted_model import FaultPlan, PermanentFault, ScriptedModel, Storm

from graphiti_pkm.storage.graph.store import GraphStore

CONFIG = LLMConfig(api_key="k", model="m", small_model="s")
DIARY = [
    "Anna Berg WORKS_AT Globex Inc since 2024-03-01. Anna Berg is a Person. Anna Berg has job: cook.",
    "Anna Berg WORKS_AT Initech since 2025-03-01. Bo HAS_MET Anna Berg.",
    "Bo! HAS_MET anna berg until 2025-06.\nLunch with [[Cleo Ray]].",
    "Anna Berg WORKS_AT Initech since 2025-03-01.",
]


class Person(BaseModel):
    """A person."""

    job: str | None = None


class NoReranker(CrossEncoderClient):
    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:  # noqa: ARG002
        raise AssertionError("nothing is ranked here")


Open = Callable[[LLMClient], Graphiti]


@pytest.fixture
async def openai_client(scripted_model: ScriptedModel) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(api_key="k", base_url=scripted_model.url, max_retries=3, timeout=10) as client:
        yield client


@pytest.fixture
async def open_graphiti(neo4j_graph: GraphStore, openai_client: AsyncOpenAI) -> AsyncIterator[Open]:
    """Graphiti with its own searches: ours see only what we wrote."""
    await neo4j_graph.ready()
    driver = await neo4j_graph.driver()
    driver.search_interface = None
    indexes = [text for text in get_fulltext_indices(GraphProvider.NEO4J) if ":Community" not in text]  # there is ours
    for text in (*indexes, "CALL db.awaitIndexes()"):
        await driver.execute_query(text)
    embedder = OpenAIEmbedder(OpenAIEmbedderConfig(api_key="k", embedding_dim=64), client=openai_client)
    yield lambda model: Graphiti(graph_driver=driver, llm_client=model, embedder=embedder, cross_encoder=NoReranker())
    for text in indexes:
        await driver.execute_query(f"DROP INDEX {text.split()[3]}")
    await driver.close()


async def tell(graphiti: Graphiti, group: str, *texts: str) -> None:
    for n, text in enumerate(texts):
        await graphiti.add_episode(
            f"note {n}",
            text,
            "diary",
            at(2026, 1, 1 + n),
            source=EpisodeType.text,
            group_id=group,
            entity_types={"Person": Person},
        )


async def held(graphiti: Graphiti, group: str) -> tuple[list[Any], list[Any]]:
    """Entities and facts, without what differs from run to run."""
    nodes = await EntityNode.get_by_group_ids(graphiti.driver, [group])
    edges = await EntityEdge.get_by_group_ids(graphiti.driver, [group])
    names = {node.uuid: node.name for node in nodes}
    entities = sorted((node.name, sorted(node.labels), node.attributes.get("job"), node.summary) for node in nodes)
    facts = [
        (names[edge.source_node_uuid], edge.name, names[edge.target_node_uuid], edge.valid_at, edge.invalid_at)
        for edge in edges
    ]
    episodes = [len(edge.episodes) for edge in edges]
    return entities, sorted(zip(facts, episodes, strict=True), key=str)


MODELS: dict[str, Callable[[AsyncOpenAI], LLMClient]] = {
    "json_schema": lambda client: OpenAIGenericClient(CONFIG, client=client),
    "json_object": lambda client: OpenAIGenericClient(CONFIG, client=client, structured_output_mode="json_object"),
    "responses": lambda client: OpenAIClient(CONFIG, client=client),
}


@pytest.mark.parametrize("form", MODELS)
async def test_a_diary_becomes_entities_and_facts(
    scripted_model: ScriptedModel, openai_client: AsyncOpenAI, open_graphiti: Open, form: str
) -> None:
    graphiti = open_graphiti(MODELS[form](openai_client))
    await tell(graphiti, "g", *DIARY)
    entities, facts = await held(graphiti, "g")
    assert [(name, labels, job) for name, labels, job, _ in entities] == [
        ("Anna Berg", ["Entity", "Person"], "cook"),
        ("Bo", ["Entity"], None),
        ("Cleo Ray", ["Entity"], None),
        ("Globex Inc", ["Entity"], None),
        ("Initech", ["Entity"], None),
    ]
    assert facts == [
        (("Anna Berg", "WORKS_AT", "Globex Inc", at(2024, 3), at(2025, 3)), 1),
        (("Anna Berg", "WORKS_AT", "Initech", at(2025, 3), None), 2),
        (("Bo", "HAS_MET", "Anna Berg", None, at(2025, 6)), 1),
        (("Bo", "HAS_MET", "Anna Berg", at(2026, 1, 2), None), 1),
    ]
    assert {name: summary for name, _, _, summary in entities}["Cleo Ray"] == "Lunch with [[Cleo Ray]]."
    asked = set(scripted_model.stats.by_schema)
    usual = {"ExtractedEntities", "ExtractedEdges", "EdgeDuplicate", "EdgeTimestamps", "SummarizedEntities"}
    assert asked == usual | {"NodeResolutions", "Person", "embeddings"}


async def test_a_run_that_is_disturbed_ends_as_one_that_is_not(
    scripted_model: ScriptedModel, openai_client: AsyncOpenAI, open_graphiti: Open
) -> None:
    graphiti = open_graphiti(MODELS["json_schema"](openai_client))
    await tell(graphiti, "calm", *DIARY)
    storm = Storm(rate=0.5, kinds=("rate_limited", "unavailable", "delay"), seconds=0.01, embeddings=True)
    scripted_model.change(faults=FaultPlan(storm=storm))
    await tell(graphiti, "stormy", *DIARY)
    assert await held(graphiti, "stormy") == await held(graphiti, "calm")
    assert sum(scripted_model.stats.faults.values()) > 0


async def test_an_episode_that_is_always_refused_fails_and_no_other(
    scripted_model: ScriptedModel, openai_client: AsyncOpenAI, open_graphiti: Open
) -> None:
    scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind="refusal", contains="forbidden"),)))
    graphiti = open_graphiti(MODELS["responses"](openai_client))
    with pytest.raises(Exception, match="Invalid response from LLM"):
        await tell(graphiti, "g", "A forbidden thing. Anna Berg WORKS_AT Globex Inc since 2024.")
    await tell(graphiti, "g", DIARY[0])
    entities, facts = await held(graphiti, "g")
    assert (len(entities), len(facts)) == (2, 1)
    assert set(scripted_model.stats.faults) == {"refusal"}
