"""Graphiti itself on ``SqliteDriver``: episodes, triplets, communities, sagas and searches, with a scripted model."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.edges import EntityEdge, HasEpisodeEdge, NextEpisodeEdge
from graphiti_core.errors import NodeNotFoundError
from graphiti_core.llm_client import LLMConfig, OpenAIClient
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode, SagaNode
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_CROSS_ENCODER, COMBINED_HYBRID_SEARCH_MMR
from graphiti_core.utils.bulk_utils import RawEpisode
from graphiti_core.utils.maintenance.community_operations import update_community
from openai import AsyncOpenAI
from pydantic import BaseModel
from tests.builders import at
from tests.fakes import FakeEmbedder
from tests.scripted_model import ScriptedModel

from graphiti_pkm.graphiti_adapter import SqliteDriver
from graphiti_pkm.graphiti_adapter.pipeline_clients import JobEmbedder

GROUP = "diary"


class Person(BaseModel):
    """A person."""

    job: str | None = None


class Ranker(CrossEncoderClient):
    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        words = set(query.lower().split())
        return sorted(((one, len(words & set(one.lower().split())) / 10) for one in passages), key=lambda one: -one[1])


@pytest.fixture
async def graphiti(
    tmp_path: Path, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Graphiti]:
    monkeypatch.setenv("GRAPHITI_TELEMETRY_ENABLED", "false")
    config = LLMConfig(api_key="k", model="m", small_model="s")
    async with AsyncOpenAI(api_key="k", base_url=scripted_model.url, max_retries=3, timeout=10) as client:
        opened = Graphiti(
            graph_driver=SqliteDriver(tmp_path / "graph.sqlite3"),
            llm_client=OpenAIClient(config, client=client),
            embedder=JobEmbedder(FakeEmbedder()),
            cross_encoder=Ranker(),
        )
        await opened.build_indices_and_constraints()
        yield opened
        await opened.close()


async def told(graphiti: Graphiti, body: str, when: datetime, **more: Any) -> Any:
    return await graphiti.add_episode(
        name="note",
        episode_body=body,
        source_description="a note",
        source=EpisodeType.text,
        reference_time=when,
        group_id=GROUP,
        **more,
    )


async def facts(graphiti: Graphiti) -> dict[str, EntityEdge]:
    return {edge.fact: edge for edge in await EntityEdge.get_by_group_ids(graphiti.driver, [GROUP])}


async def test_episodes_are_read_and_a_later_fact_ends_an_earlier_one(graphiti: Graphiti) -> None:
    first = await told(
        graphiti,
        "Anna Berg WORKS_AT Globex Inc since 2024-03-01. Anna Berg is a Person. Anna Berg has job: cook.",
        at(2024, 3, 2),
        entity_types={"Person": Person},
    )
    second = await told(graphiti, "Anna Berg WORKS_AT Initech since 2025-03-01. Bo HAS_MET Anna Berg.", at(2025, 3, 2))

    nodes = {node.name: node for node in await EntityNode.get_by_group_ids(graphiti.driver, [GROUP])}
    assert set(nodes) == {"Anna Berg", "Globex Inc", "Initech", "Bo"}
    anna = nodes["Anna Berg"]
    assert (anna.labels, anna.attributes, anna.name_embedding is None) == (["Entity", "Person"], {"job": "cook"}, False)
    known = await facts(graphiti)
    globex = known["Anna Berg WORKS_AT Globex Inc since 2024-03-01."]
    assert (globex.valid_at, globex.invalid_at, globex.expired_at is None) == (at(2024, 3), at(2025, 3), False)
    assert known["Anna Berg WORKS_AT Initech since 2025-03-01."].invalid_at is None
    assert globex.episodes == [first.episode.uuid]
    assert len(await EpisodicNode.get_by_entity_node_uuid(graphiti.driver, anna.uuid)) == 2
    found = await graphiti.get_nodes_and_edges_by_episode([second.episode.uuid])
    assert {node.name for node in found.nodes} == {"Anna Berg", "Initech", "Bo"}
    assert {edge.uuid for edge in second.edges} <= {edge.uuid for edge in found.edges}
    episodes = await graphiti.retrieve_episodes(at(2026), group_ids=[GROUP])
    assert [one.uuid for one in episodes] == [first.episode.uuid, second.episode.uuid]


async def test_what_was_told_is_found_by_every_recipe(graphiti: Graphiti) -> None:
    await told(graphiti, "Anna Berg WORKS_AT Globex since 2024-03-01. Bo HAS_MET Anna Berg.", at(2024, 3, 2))
    found = await graphiti.search("Where does Anna Berg work? Globex", group_ids=[GROUP])
    assert found[0].fact == "Anna Berg WORKS_AT Globex since 2024-03-01."
    (anna,) = await EntityNode.get_by_names(graphiti.driver, ["Anna Berg"], [GROUP])
    near = await graphiti.search("met", center_node_uuid=anna.uuid, group_ids=[GROUP])
    assert {edge.name for edge in near} >= {"HAS_MET"}
    await graphiti.build_communities([GROUP])
    for recipe in (COMBINED_HYBRID_SEARCH_CROSS_ENCODER, COMBINED_HYBRID_SEARCH_MMR):
        results = await graphiti.search_("Anna Berg Globex", config=recipe, group_ids=[GROUP])
        assert {"Anna Berg", "Globex"} <= {node.name for node in results.nodes}
        assert {edge.name for edge in results.edges} >= {"WORKS_AT"}
        assert len(results.communities) == 1
    assert not (await graphiti.search_("Anna Berg", group_ids=["elsewhere"])).nodes


async def test_a_triplet_joins_known_entities_and_keeps_what_they_have(graphiti: Graphiti) -> None:
    anna = EntityNode(name="Anna Berg", group_id=GROUP, labels=["Person"], attributes={"age": 30})
    rome = EntityNode(name="Rome", group_id=GROUP, labels=["Entity"])
    lives = EntityEdge(
        source_node_uuid=anna.uuid,
        target_node_uuid=rome.uuid,
        group_id=GROUP,
        name="LIVES_IN",
        fact="Anna Berg LIVES_IN Rome.",
        created_at=at(2025),
        valid_at=at(2025),
    )
    await graphiti.add_triplet(anna, lives, rome)
    again = EntityNode(uuid=anna.uuid, name="Anna Berg", group_id=GROUP, attributes={"city": "Rome"})
    pisa = EntityNode(name="Pisa", group_id=GROUP)
    moved = EntityEdge(
        source_node_uuid=anna.uuid,
        target_node_uuid=pisa.uuid,
        group_id=GROUP,
        name="HAS_SEEN",
        fact="Anna Berg HAS_SEEN Pisa.",
        created_at=at(2025),
    )
    result = await graphiti.add_triplet(again, moved, pisa)
    assert {node.name for node in result.nodes} == {"Anna Berg", "Pisa"}
    found = await EntityNode.get_by_uuid(graphiti.driver, anna.uuid)
    assert (found.attributes, found.labels) == ({"age": 30, "city": "Rome"}, ["Entity", "Person"])
    assert set(await facts(graphiti)) == {"Anna Berg LIVES_IN Rome.", "Anna Berg HAS_SEEN Pisa."}


async def test_communities_are_built_updated_and_built_again(graphiti: Graphiti) -> None:
    await told(graphiti, "Anna Berg HAS_MET Bo. Bo HAS_MET Cleo Ray.", at(2025))
    nodes, edges = await graphiti.build_communities([GROUP])
    assert len(nodes) == 1
    assert len(edges) == 3
    (stored,) = await CommunityNode.get_by_group_ids(graphiti.driver, [GROUP])
    assert (stored.uuid, stored.name, stored.name_embedding is None) == (nodes[0].uuid, nodes[0].name, False)
    result = await told(graphiti, "Dan Fox HAS_MET Anna Berg.", at(2025, 2))
    (dan,) = (node for node in result.nodes if node.name == "Dan Fox")
    updated, joined = await update_community(graphiti.driver, graphiti.llm_client, graphiti.embedder, dan)
    assert ([one.uuid for one in updated], [edge.target_node_uuid for edge in joined]) == ([stored.uuid], [dan.uuid])
    (stored,) = await CommunityNode.get_by_group_ids(graphiti.driver, [GROUP])
    assert stored.summary == updated[0].summary
    await graphiti.build_communities([GROUP])
    (built,) = await CommunityNode.get_by_group_ids(graphiti.driver, [GROUP])
    assert built.uuid != stored.uuid


async def test_a_saga_joins_its_episodes_and_keeps_its_summary_when_it_goes_on(graphiti: Graphiti) -> None:
    first = await told(graphiti, "Anna Berg HAS_MET Bo.", at(2025), saga="The move")
    second = await told(graphiti, "Bo HAS_MET Cleo Ray.", at(2025, 2), saga="The move")
    (saga,) = await SagaNode.get_by_group_ids(graphiti.driver, [GROUP])
    assert (saga.name, saga.created_at) == ("The move", at(2025))
    assert (saga.first_episode_uuid, saga.last_episode_uuid) == (first.episode.uuid, second.episode.uuid)
    (link,) = await NextEpisodeEdge.get_by_group_ids(graphiti.driver, [GROUP])
    assert (link.source_node_uuid, link.target_node_uuid) == (first.episode.uuid, second.episode.uuid)
    steps = await HasEpisodeEdge.get_by_group_ids(graphiti.driver, [GROUP])
    assert {step.target_node_uuid for step in steps} == {first.episode.uuid, second.episode.uuid}

    summarized = await graphiti.summarize_saga(saga.uuid)
    assert summarized.summary
    third = await told(graphiti, "Cleo Ray HAS_MET Dan Fox.", at(2025, 3), saga="The move")
    (kept,) = await SagaNode.get_by_group_ids(graphiti.driver, [GROUP])
    assert (kept.summary, kept.last_episode_uuid) == (summarized.summary, third.episode.uuid)
    assert kept.last_summarized_at == summarized.last_summarized_at
    again = await graphiti.summarize_saga(saga.uuid)
    assert (again._summary_episodes_fetched, again.last_summarized_episode_valid_at) == (1, at(2025, 3))
    episodes = await graphiti.retrieve_episodes(at(2025, 2), 5, [GROUP], saga="The move")
    assert [one.uuid for one in episodes] == [first.episode.uuid, second.episode.uuid]


async def test_an_episode_is_removed_with_what_it_alone_told(graphiti: Graphiti) -> None:
    first = await told(graphiti, "Anna Berg HAS_MET Bo.", at(2025))
    second = await told(graphiti, "Anna Berg HAS_MET Cleo Ray.", at(2025, 2))
    await graphiti.remove_episode(second.episode.uuid)
    assert {node.name for node in await EntityNode.get_by_group_ids(graphiti.driver, [GROUP])} == {"Anna Berg", "Bo"}
    assert set(await facts(graphiti)) == {"Anna Berg HAS_MET Bo."}
    with pytest.raises(NodeNotFoundError):
        await EpisodicNode.get_by_uuid(graphiti.driver, second.episode.uuid)
    assert (await EpisodicNode.get_by_uuid(graphiti.driver, first.episode.uuid)).content == "Anna Berg HAS_MET Bo."


async def test_several_episodes_at_once(graphiti: Graphiti) -> None:
    bodies = ["Anna Berg HAS_MET Bo.", "Bo HAS_MET Cleo Ray.", "Anna Berg WORKS_AT Globex since 2024."]
    raw = [
        RawEpisode(name=f"n{i}", content=body, source_description="", source=EpisodeType.text, reference_time=at(2025))
        for i, body in enumerate(bodies)
    ]
    result = await graphiti.add_episode_bulk(raw, group_id=GROUP, saga="Week")
    assert len(result.episodes) == 3
    names = [node.name for node in await EntityNode.get_by_group_ids(graphiti.driver, [GROUP])]
    assert sorted(names) == ["Anna Berg", "Bo", "Cleo Ray", "Globex"]
    assert len(await facts(graphiti)) == 3
    assert len(await HasEpisodeEdge.get_by_group_ids(graphiti.driver, [GROUP])) == 3


async def test_episodes_of_several_groups_at_the_same_time_stay_apart(graphiti: Graphiti) -> None:
    async def tell(group: str) -> None:
        await graphiti.add_episode("n", f"Anna {group} HAS_MET Bo.", "", at(2025), EpisodeType.text, group)

    groups = [f"Group{i}" for i in range(4)]
    await asyncio.gather(*map(tell, groups))
    for group in groups:
        names = {node.name for node in await EntityNode.get_by_group_ids(graphiti.driver, [group])}
        assert names == {f"Anna {group}", "Bo"}


async def test_the_example_of_the_page_runs(
    graphiti: Graphiti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "DOCS" / "graphiti.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    printed: list[str] = []
    names: dict[str, Any] = {"print": lambda *said: printed.append(" ".join(map(str, said))), "__name__": "example"}
    exec(compile(example, "DOCS/graphiti.md", "exec"), names)  # noqa: S102 our own page
    clients = {name: getattr(graphiti, name) for name in ("llm_client", "embedder", "cross_encoder")}
    await names["main"](**clients)
    assert printed == ["Ada Byron HAS_MET Charles Babbage. 1833-06-05"]
    assert (tmp_path / "notes.sqlite3").exists()
