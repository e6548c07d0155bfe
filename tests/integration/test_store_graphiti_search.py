"""Graphiti's own ``search_`` on our driver: the same code as our tools, and only the groups asked for."""

from array import array
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.driver import GraphDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder import EmbedderClient
from graphiti_core.llm_client import LLMClient
from graphiti_core.nodes import CommunityNode
from graphiti_core.search import search_utils
from graphiti_core.search.search_config_recipes import (
    COMBINED_HYBRID_SEARCH_RRF,
    COMMUNITY_HYBRID_SEARCH_RRF,
    EDGE_HYBRID_SEARCH_MMR,
    EDGE_HYBRID_SEARCH_RRF,
    NODE_HYBRID_SEARCH_RRF,
)
from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, PropertyFilter, SearchFilters
from tests.builders import RECORDED, a_fact, a_mention, a_write, an_entity, an_episode, at
from tests.integration.vector_world import LARGE, SIZE, SMALL, VectorWorld, all_built, until_built

from graphiti_pkm.core.model.records import Fact, Vector
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.graph.store import GraphStore

HYPHENS, UUID_LIKE, PLAIN = "my-own-group", "550e8400-e29b-41d4-a716-446655440000", "other"
AHEAD, ASIDE = [0.6, 0.8], [0.8, -0.6]
EVERYTHING = SearchFilters()
Op = ComparisonOperator


class Unused(EmbedderClient, CrossEncoderClient, LLMClient):
    """Every search here brings its vector, and none is ranked by a model."""

    def __init__(self) -> None:
        LLMClient.__init__(self, None)

    async def create(self, input_data: object) -> list[float]:  # noqa: ARG002
        raise AssertionError("nothing is embedded here")

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:  # noqa: ARG002
        raise AssertionError("nothing is ranked here")

    async def _generate_response(self, *_: object, **__: object) -> dict[str, Any]:
        raise AssertionError("nothing is generated here")


@pytest.fixture
def graphiti(driver: GraphDriver) -> Graphiti:
    unused = Unused()
    return Graphiti(graph_driver=driver, llm_client=unused, embedder=unused, cross_encoder=unused)


@pytest.fixture
def searching(graph: GraphStore | SqliteGraph) -> GraphDriver:
    """All that Graphiti's searches ask of a driver that has ours."""
    return SimpleNamespace(search_interface=graph.graphiti_search())  # type: ignore[return-value]


async def given(store: GraphStore, group: str, cosine_with: list[float] = AHEAD) -> dict[str, str]:
    """The same in each group: an entity, a fact and an episode, by kind."""
    sarah = an_entity("Sarah", group_id=group, label="Person")
    fact = a_fact(sarah, sarah, "LIKES", text="Sarah likes bridges.", valid_at=at(2025))
    episode = an_episode("Sarah came over the bridges.", group_id=group)
    vectors: dict[str, Vector] = {one.uuid: _array(cosine_with) for one in (sarah, fact)}
    await store.writer.apply(a_write(sarah, fact, episode, a_mention(episode, sarah), group_id=group), vectors)
    return {"node": sarah.uuid, "edge": fact.uuid, "episode": episode.uuid}


def _array(values: list[float]) -> Vector:
    return array("f", values)


@pytest.mark.parametrize("group", [HYPHENS, UUID_LIKE, PLAIN])
async def test_only_the_groups_asked_for_are_found_whatever_their_spelling(
    store: GraphStore, graphiti: Graphiti, group: str
) -> None:
    theirs = {name: await given(store, name) for name in (HYPHENS, UUID_LIKE, PLAIN)}
    found = await graphiti.search_("bridges Sarah", COMBINED_HYBRID_SEARCH_RRF, [group], query_vector=AHEAD)
    assert [edge.uuid for edge in found.edges] == [theirs[group]["edge"]]
    assert [node.uuid for node in found.nodes] == [theirs[group]["node"]]
    assert [episode.uuid for episode in found.episodes] == [theirs[group]["episode"]]


async def test_several_groups_are_ranked_as_one_and_none_means_all(store: GraphStore, graphiti: Graphiti) -> None:
    theirs = {name: await given(store, name) for name in (HYPHENS, UUID_LIKE, PLAIN)}
    two = await graphiti.search_("bridges", EDGE_HYBRID_SEARCH_RRF, [HYPHENS, PLAIN], query_vector=AHEAD)
    assert {edge.uuid for edge in two.edges} == {theirs[HYPHENS]["edge"], theirs[PLAIN]["edge"]}
    every = await graphiti.search_("bridges", COMBINED_HYBRID_SEARCH_RRF, None, query_vector=AHEAD)
    assert {edge.uuid for edge in every.edges} == {one["edge"] for one in theirs.values()}
    assert {node.uuid for node in every.nodes} == {one["node"] for one in theirs.values()}
    assert {episode.uuid for episode in every.episodes} == {one["episode"] for one in theirs.values()}


async def test_words_find_what_the_meaning_is_far_from(store: GraphStore, graphiti: Graphiti) -> None:
    mine = await given(store, HYPHENS, cosine_with=[-0.6, -0.8])
    for query, recipe, kind in (("likes", EDGE_HYBRID_SEARCH_RRF, "edges"), ("sarah", NODE_HYBRID_SEARCH_RRF, "nodes")):
        found = await graphiti.search_(query, recipe, [HYPHENS], query_vector=AHEAD)
        assert [one.uuid for one in getattr(found, kind)] == [mine[kind.removesuffix("s")]]
    nothing = await graphiti.search_("ocean", COMBINED_HYBRID_SEARCH_RRF, [HYPHENS], query_vector=AHEAD)
    assert (nothing.edges, nothing.nodes, nothing.episodes) == ([], [], [])


async def test_what_is_found_can_be_saved_again_and_loses_nothing(store: GraphStore, graphiti: Graphiti) -> None:
    """``add_episode`` ends the facts it finds, and saves what it has read."""
    mine = await given(store, HYPHENS)
    before = await store.records.get_facts([mine["edge"]], [HYPHENS])
    found = await graphiti.search_("bridges", EDGE_HYBRID_SEARCH_RRF, [HYPHENS], query_vector=AHEAD)
    (edge,) = found.edges
    assert isinstance(edge, EntityEdge)
    assert (edge.fact, edge.source_node_uuid, edge.valid_at) == ("Sarah likes bridges.", mine["node"], at(2025))
    await edge.load_fact_embedding(graphiti.driver)
    await edge.save(graphiti.driver)
    assert await store.records.get_facts([mine["edge"]], [HYPHENS]) == before
    again = await graphiti.search_("bridges", EDGE_HYBRID_SEARCH_RRF, [HYPHENS], query_vector=ASIDE)
    assert [one.uuid for one in again.edges] == [mine["edge"]]


async def test_reranking_for_diversity_works_on_what_is_found(store: GraphStore, graphiti: Graphiti) -> None:
    mine = await given(store, HYPHENS)
    found = await graphiti.search_("bridges", EDGE_HYBRID_SEARCH_MMR, [HYPHENS], query_vector=AHEAD)
    assert [edge.uuid for edge in found.edges] == [mine["edge"]]


async def test_communities_are_searched_by_graphiti_itself(driver: GraphDriver, graphiti: Graphiti) -> None:
    for group in (HYPHENS, PLAIN):
        community = CommunityNode(name="Bridges", group_id=group, name_embedding=AHEAD, created_at=RECORDED)
        await community.save(driver)
    found = await graphiti.search_("bridges", COMMUNITY_HYBRID_SEARCH_RRF, [HYPHENS], query_vector=AHEAD)
    assert [one.group_id for one in found.communities] == [HYPHENS]


def a_date(operator: ComparisonOperator, date: datetime | None = None) -> DateFilter:
    return DateFilter(date=date, comparison_operator=operator)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (SearchFilters(valid_at=[[a_date(Op.less_than, at(2025))]]), {"early"}),
        (SearchFilters(valid_at=[[a_date(Op.less_than_equal, at(2025))]]), {"early", "middle"}),
        (SearchFilters(valid_at=[[a_date(Op.greater_than, at(2025))]]), {"late"}),
        (SearchFilters(valid_at=[[a_date(Op.greater_than_equal, at(2025))]]), {"middle", "late"}),
        (SearchFilters(valid_at=[[a_date(Op.equals, at(2025))]]), {"middle"}),
        (SearchFilters(valid_at=[[a_date(Op.not_equals, at(2025))]]), {"early", "late"}),
        (SearchFilters(valid_at=[[a_date(Op.is_null)]]), {"unknown"}),
        (SearchFilters(valid_at=[[a_date(Op.is_not_null)]]), {"early", "middle", "late"}),
        (
            SearchFilters(valid_at=[[a_date(Op.greater_than, at(2024)), a_date(Op.less_than, at(2026))]]),
            {"middle"},
        ),
        (
            SearchFilters(valid_at=[[a_date(Op.less_than, at(2025))], [a_date(Op.greater_than, at(2025))]]),
            {"early", "late"},
        ),
        (
            SearchFilters(invalid_at=[[a_date(Op.is_null)], [a_date(Op.greater_than, at(2024, 7))]]),
            {"middle", "late", "unknown"},
        ),
        (SearchFilters(created_at=[[a_date(Op.less_than, RECORDED)]]), set()),
        (SearchFilters(expired_at=[[a_date(Op.is_null)]]), {"early", "middle", "late", "unknown"}),
        (SearchFilters(edge_types=["RETIRED"]), {"late"}),
        (SearchFilters(edge_types=[]), set()),
        (SearchFilters(node_labels=["Person"]), {"early", "middle", "unknown"}),
        (
            SearchFilters(
                property_filters=[
                    PropertyFilter(property_name="mood", property_value="glad", comparison_operator=Op.equals)
                ]
            ),
            {"middle"},
        ),
    ],
)
async def test_filters_mean_the_same_by_words_and_by_meaning(
    graph: Graph, searching: GraphDriver, wanted: SearchFilters, found: set[str]
) -> None:
    sarah, tom = (an_entity(name, group_id=HYPHENS, label=label) for name, label in (("S", "Person"), ("T", "Place")))
    told = [
        a_fact(sarah, sarah, text="bridge early", valid_at=at(2024), invalid_at=at(2024, 6)),
        a_fact(sarah, sarah, text="bridge middle", valid_at=at(2025), attributes={"mood": "glad"}),
        a_fact(sarah, tom, "RETIRED", text="bridge late", valid_at=at(2026)),
        a_fact(sarah, sarah, text="bridge unknown"),
    ]
    await graph.writer.apply(a_write(sarah, tom, *told, group_id=HYPHENS), {one.uuid: _array(AHEAD) for one in told})
    near = await search_utils.edge_similarity_search(searching, AHEAD, None, None, wanted, [HYPHENS], 10)
    worded = await search_utils.edge_fulltext_search(searching, "bridge", wanted, [HYPHENS], 10)
    assert {edge.fact.removeprefix("bridge ") for edge in near} == found
    assert {edge.fact.removeprefix("bridge ") for edge in worded} == found


async def test_a_date_filter_without_a_date_is_refused(searching: GraphDriver) -> None:
    wanted = SearchFilters(valid_at=[[a_date(Op.less_than)]])
    with pytest.raises(InvalidInput, match="valid_at"):
        await search_utils.edge_fulltext_search(searching, "bridge", wanted, [HYPHENS])


async def test_facts_between_two_entities_are_found_by_meaning(graph: Graph, searching: GraphDriver) -> None:
    sarah, tom = an_entity("Sarah"), an_entity("Tom")
    there, back = a_fact(sarah, tom), a_fact(tom, sarah)
    await graph.writer.apply(a_write(sarah, tom, there, back), {one.uuid: _array(AHEAD) for one in (there, back)})
    near = await search_utils.edge_similarity_search(searching, AHEAD, sarah.uuid, tom.uuid, EVERYTHING, ["t1"], 10)
    assert [edge.uuid for edge in near] == [there.uuid]


@pytest.mark.parametrize("min_score", [0.0, 0.5, 0.6, 0.79, 0.9])
async def test_scores_are_cut_where_graphitis_own_scan_cuts_them(
    store: GraphStore, driver: GraphDriver, min_score: float
) -> None:
    sarah = an_entity("Sarah", group_id=PLAIN)
    vectors = [[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0], [-0.6, 0.8], [-1.0, 0.0]]
    told: list[Fact] = [a_fact(sarah, sarah, text=str(vector)) for vector in vectors]
    embedded = {one.uuid: _array(vector) for one, vector in zip(told, vectors, strict=True)}
    await store.writer.apply(a_write(sarah, *told, group_id=PLAIN), embedded)
    asked = ([1.0, 0.0], None, None, EVERYTHING, [PLAIN], 10, min_score)
    ours = await search_utils.edge_similarity_search(driver, *asked)
    driver.search_interface = None
    theirs = await search_utils.edge_similarity_search(driver, *asked)
    assert [edge.uuid for edge in ours] == [edge.uuid for edge in theirs]


async def test_a_large_group_is_searched_through_its_index(store: GraphStore, driver: GraphDriver) -> None:
    world = VectorWorld(store)
    await world.fill(LARGE, SIZE)
    await world.fill(SMALL, 30)
    await store.vectors.tend_vector_indexes()
    await until_built(store, all_built)
    query = world.vector()
    large, small = ([one for one in world.facts if one.group_id == group] for group in (LARGE, SMALL))
    found = await search_utils.edge_similarity_search(driver, list(query), None, None, EVERYTHING, [LARGE], 10, 0.0)
    assert [edge.uuid for edge in found] == world.nearest(large, query, 10)
    nodes = await search_utils.node_similarity_search(driver, list(query), EVERYTHING, [LARGE], 10, 0.0)
    assert [node.uuid for node in nodes] == world.nearest(world.large(world.entities), query, 10)
    assert world.watched.answered == ["facts", "entities"]
    few = await search_utils.edge_similarity_search(driver, list(query), None, None, EVERYTHING, [SMALL], 10, 0.0)
    assert [edge.uuid for edge in few] == world.nearest(small, query, 10)
    assert world.watched.answered == ["facts", "entities"]
    some = await search_utils.edge_similarity_search(
        driver,
        list(query),
        None,
        None,
        SearchFilters(valid_at=[[a_date(Op.less_than, at(2021))]]),
        [LARGE],
        10,
        0.0,
    )
    assert [edge.uuid for edge in some] == world.nearest([one for one in large if one.valid_at == at(2020)], query, 10)
