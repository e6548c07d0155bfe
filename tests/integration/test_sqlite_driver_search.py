"""Graphiti's searches and rerankers through ``SqliteDriver``, and the queries that it sends in Cypher."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from graphiti_core.edges import CommunityEdge, EntityEdge, EpisodicEdge, HasEpisodeEdge
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode, SagaNode
from graphiti_core.search import search_utils
from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, PropertyFilter, SearchFilters
from graphiti_core.utils.maintenance.community_operations import (
    determine_entity_community,
    get_community_clusters,
    remove_communities,
)
from graphiti_core.utils.maintenance.edge_operations import filter_existing_duplicate_of_edges
from graphiti_core.utils.maintenance.graph_data_operations import retrieve_episodes

from graphiti_pkm.errors import ConfigurationError, InvalidInput, TooLarge
from graphiti_pkm.graphiti_adapter import SqliteDriver
from graphiti_pkm.storage.graph.sqlite import graphiti_graph_search

GROUP = "g"
DAY = datetime(2025, 3, 1, tzinfo=UTC)
ANY = SearchFilters()


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[SqliteDriver]:
    async with SqliteDriver(tmp_path / "graph.sqlite3") as opened:
        yield opened


class World:
    """Ada → Bo → Cleo → Dan; a note mentions Ada, and Ada and Bo are friends."""

    def __init__(self) -> None:
        vectors = {"Ada": [1.0, 0.0, 0.0], "Bo": [0.8, 0.6, 0.0], "Cleo": [0.0, 1.0, 0.0], "Dan": [0.0, 0.0, 1.0]}
        labels = {"Ada": ["Person", "Author"], "Bo": ["Person"], "Cleo": ["Cat"], "Dan": []}
        self.nodes = {
            name: EntityNode(
                uuid=name,
                name=name,
                group_id=GROUP,
                labels=["Entity", *labels[name]],
                created_at=DAY,
                summary=f"{name} plays chess." if name != "Dan" else "",
                name_embedding=vector,
                attributes={"age": place, "mail": f" {name}@x.org\n"},
            )
            for place, (name, vector) in enumerate(vectors.items())
        }
        self.facts = [
            EntityEdge(
                uuid=f"{source}-{target}",
                source_node_uuid=source,
                target_node_uuid=target,
                group_id=GROUP,
                name=relation,
                fact=f"{source} {relation.lower()} {target}",
                created_at=DAY + timedelta(days=place),
                valid_at=valid_at,
                fact_embedding=vectors[source],
                episodes=["note"],
                attributes={"place": place},
            )
            for place, (source, relation, target, valid_at) in enumerate(
                (("Ada", "KNOWS", "Bo", DAY), ("Bo", "FEEDS", "Cleo", None), ("Cleo", "HUNTS", "Dan", DAY))
            )
        ]
        self.note = EpisodicNode(
            uuid="note",
            name="note",
            group_id=GROUP,
            source=EpisodeType.text,
            source_description="from the archive",
            content="Ada wrote a letter.",
            created_at=DAY,
            valid_at=DAY,
        )
        self.friends = CommunityNode(uuid="f", name="Good friends", group_id=GROUP, name_embedding=[1.0, 0.0, 0.0])
        self.edges = [
            EpisodicEdge(source_node_uuid="note", target_node_uuid="Ada", group_id=GROUP, created_at=DAY),
            CommunityEdge(source_node_uuid="f", target_node_uuid="Ada", group_id=GROUP, created_at=DAY),
            CommunityEdge(source_node_uuid="f", target_node_uuid="Bo", group_id=GROUP, created_at=DAY),
        ]

    async def save(self, driver: SqliteDriver) -> None:
        for one in (*self.nodes.values(), *self.facts, self.note, self.friends, *self.edges):
            await one.save(driver)


@pytest.fixture
async def world(driver: SqliteDriver) -> World:
    made = World()
    await made.save(driver)
    return made


def uuids(found: Any) -> list[str]:
    return [one.uuid for one in found]


async def test_words_find_every_kind(driver: SqliteDriver, world: World) -> None:
    for groups in ([GROUP], None):
        assert set(uuids(await search_utils.node_fulltext_search(driver, "chess", ANY, groups))) == {
            "Ada",
            "Bo",
            "Cleo",
        }
        assert uuids(await search_utils.edge_fulltext_search(driver, "feeds", ANY, groups)) == ["Bo-Cleo"]
        for words in ("letter", "archive"):
            assert uuids(await search_utils.episode_fulltext_search(driver, words, ANY, groups)) == ["note"]
        assert uuids(await search_utils.community_fulltext_search(driver, "friend", groups)) == ["f"]
    for of in ("node_fulltext_search", "edge_fulltext_search", "episode_fulltext_search"):
        assert await getattr(search_utils, of)(driver, "chess letter feeds", ANY, ["elsewhere"]) == []
    assert await search_utils.community_fulltext_search(driver, "friend", ["elsewhere"]) == []
    world.friends.name = "Enemies"
    await world.friends.save(driver)
    assert await search_utils.community_fulltext_search(driver, "friend", [GROUP]) == []


async def test_vectors_find_every_kind_above_a_score(driver: SqliteDriver, world: World) -> None:  # noqa: ARG001
    near = [1.0, 0.0, 0.0]
    assert uuids(await search_utils.node_similarity_search(driver, near, ANY, [GROUP], 10, 0.6)) == ["Ada", "Bo"]
    assert uuids(await search_utils.node_similarity_search(driver, near, ANY, [GROUP], 10, 0.95)) == ["Ada"]
    assert uuids(await search_utils.node_similarity_search(driver, near, ANY, [GROUP], 1, 0.6)) == ["Ada"]
    found = await search_utils.edge_similarity_search(driver, near, None, None, ANY, [GROUP], 10, 0.6)
    assert uuids(found) == ["Ada-Bo", "Bo-Cleo"]
    found = await search_utils.edge_similarity_search(driver, near, "Bo", "Cleo", ANY, [GROUP], 10, 0.6)
    assert uuids(found) == ["Bo-Cleo"]
    for groups in ([GROUP], None):
        assert uuids(await search_utils.community_similarity_search(driver, near, groups, 10, 0.9)) == ["f"]
    assert await search_utils.community_similarity_search(driver, [0.0, 0.0, 1.0], [GROUP], 10, 0.9) == []


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"node_labels": ["Entity"]}, {"Ada-Bo", "Bo-Cleo", "Cleo-Dan"}),
    ({"node_labels": ["Author", "Person"]}, {"Ada-Bo"}),
    ({"node_labels": ["Cat", "Person"]}, {"Ada-Bo", "Bo-Cleo"}),
    ({"edge_types": ["KNOWS", "FEEDS"]}, {"Ada-Bo", "Bo-Cleo"}),
    ({"edge_uuids": ["Cleo-Dan"]}, {"Cleo-Dan"}),
    ({"edge_source_node_uuids": ["Ada"]}, {"Ada-Bo"}),
    ({"edge_target_node_uuids": ["Dan", "Bo"]}, {"Ada-Bo", "Cleo-Dan"}),
    ({"valid_at": [[DateFilter(comparison_operator=ComparisonOperator.is_null)]]}, {"Bo-Cleo"}),
    ({"valid_at": [[DateFilter(date=DAY, comparison_operator=ComparisonOperator.equals)]]}, {"Ada-Bo", "Cleo-Dan"}),
    (
        {"created_at": [[DateFilter(date=DAY, comparison_operator=ComparisonOperator.greater_than)]]},
        {"Bo-Cleo", "Cleo-Dan"},
    ),
]


@pytest.mark.parametrize(("fields", "expected"), FILTERS, ids=range(len(FILTERS)))
async def test_a_filter_holds_for_every_search_of_facts(
    driver: SqliteDriver, world: World, fields: dict[str, Any], expected: set[str]
) -> None:
    wanted = SearchFilters(**fields)
    by_word = await search_utils.edge_fulltext_search(driver, "knows feeds hunts", wanted, [GROUP])
    by_vector = await search_utils.edge_similarity_search(
        driver, [1.0, 1.0, 1.0], None, None, wanted, [GROUP], min_score=-1
    )
    by_walk = await search_utils.edge_bfs_search(driver, ["Ada"], 3, wanted, [GROUP])
    assert set(uuids(by_word)) == set(uuids(by_vector)) == set(uuids(by_walk)) == expected
    for edge in world.facts:
        (touching,) = await search_utils.get_edge_invalidation_candidates(driver, [edge], wanted, -1)
        around = {one for one in ("Ada-Bo", "Bo-Cleo", "Cleo-Dan") if set(one.split("-")) & set(edge.uuid.split("-"))}
        assert set(uuids(touching)) == expected & around
        (between,) = await search_utils.get_relevant_edges(driver, [edge], wanted, -1)
        assert set(uuids(between)) == expected & {edge.uuid}


async def test_entities_are_filtered_by_any_label_and_by_attributes(driver: SqliteDriver, world: World) -> None:  # noqa: ARG001
    operations: Any = driver.graph_operations_interface
    for labels, expected in ((["Author"], {"Ada"}), (["Person", "Cat"], {"Ada", "Bo", "Cleo"})):
        wanted = SearchFilters(node_labels=labels)
        for found in (
            await search_utils.node_fulltext_search(driver, "chess", wanted, [GROUP]),
            await search_utils.node_similarity_search(driver, [1.0, 1.0, 1.0], wanted, [GROUP], min_score=-1),
            await operations.node_get_by_attribute_values(None, driver, GROUP, {}, labels),
        ):
            assert set(uuids(found)) == expected
    older = PropertyFilter(property_name="age", property_value=0, comparison_operator=ComparisonOperator.greater_than)
    found = await search_utils.node_fulltext_search(driver, "chess", SearchFilters(property_filters=[older]), [GROUP])
    assert set(uuids(found)) == {"Bo", "Cleo"}
    find = operations.node_get_by_attribute_values
    assert uuids(await find(EntityNode, driver, GROUP, {"mail": "Bo@x.org", "age": 1}, ["Person"])) == ["Bo"]
    assert await find(EntityNode, driver, GROUP, {"mail": "Bo@x.org", "age": 2}) == []
    assert len(await find(EntityNode, driver, GROUP, {}, ["Entity"], 2)) == 2
    with pytest.raises(InvalidInput):
        await find(EntityNode, driver, GROUP, {'a"b': 1})
    for build in ("build_node_search_filters", "build_edge_search_filters"):
        where, parameters = getattr(driver.search_interface, build)(SearchFilters(node_labels=["Person"]))
        assert ":labels" in where
        assert parameters == {"labels": '["Person"]'}


async def test_walks_follow_mentions_and_facts_as_far_as_asked(
    driver: SqliteDriver, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def edges(origin: str, depth: int, limit: int = 10) -> list[str]:
        return uuids(await search_utils.edge_bfs_search(driver, [origin], depth, ANY, [GROUP], limit))

    async def nodes(origin: str, depth: int, limit: int = 10) -> list[str]:
        return uuids(await search_utils.node_bfs_search(driver, [origin], ANY, depth, [GROUP], limit))

    assert [await edges("Ada", depth) for depth in (0, 1, 2)] == [[], ["Ada-Bo"], ["Ada-Bo", "Bo-Cleo"]]
    assert [await edges("note", depth) for depth in (1, 2)] == [[], ["Ada-Bo"]]
    assert await edges("Ada", 3, 2) == ["Ada-Bo", "Bo-Cleo"], "the nearest first"
    assert [await nodes("Ada", depth) for depth in (0, 1, 2)] == [[], ["Bo"], ["Bo", "Cleo"]]
    assert [await nodes("note", depth) for depth in (1, 2)] == [["Ada"], ["Ada", "Bo"]]
    assert await nodes("Ada", 3, 1) == ["Bo"]
    for origins in (None, [], ["?"]):
        assert await search_utils.node_bfs_search(driver, origins, ANY, 2, [GROUP]) == []
        assert await search_utils.edge_bfs_search(driver, origins, 2, ANY, [GROUP]) == []
    assert await search_utils.node_bfs_search(driver, ["Ada"], ANY, 2, ["elsewhere"]) == []
    world.nodes["Bo"].group_id = "elsewhere"
    await world.nodes["Bo"].save(driver)
    found = await search_utils.node_bfs_search(driver, ["Ada"], ANY, 2, None)
    assert uuids(found) == ["Cleo"], "what is in another group than the origin is passed, not found"
    monkeypatch.setattr(graphiti_graph_search, "MOST_WALKED", 1)
    with pytest.raises(TooLarge):
        await nodes("Ada", 3)


async def test_rerankers_and_embeddings(driver: SqliteDriver, world: World) -> None:
    ranked = await search_utils.node_distance_reranker(driver, ["Cleo", "Ada", "Dan", "Bo"], "Cleo")
    assert ranked == (["Cleo", "Dan", "Bo", "Ada"], [10.0, 1.0, 1.0, 0.0])
    assert await search_utils.node_distance_reranker(driver, ["Ada", "Bo"], "Cleo", 0.5) == (["Bo"], [1.0])
    assert await search_utils.episode_mentions_reranker(driver, [["Bo", "Ada"], ["Bo"]]) == (["Ada", "Bo"], [1.0, 0.0])
    assert await search_utils.episode_mentions_reranker(driver, [["Bo", "Ada"]], 1) == (["Ada"], [1.0])
    assert await search_utils.get_embeddings_for_communities(driver, [world.friends]) == {"f": [1.0, 0.0, 0.0]}
    assert (await search_utils.get_embeddings_for_nodes(driver, [world.nodes["Ada"]])) == {"Ada": [1.0, 0.0, 0.0]}
    assert list(await search_utils.get_embeddings_for_edges(driver, world.facts)) == uuids(world.facts)


async def test_what_stands_around_records(driver: SqliteDriver, world: World) -> None:
    assert uuids(await search_utils.get_mentioned_nodes(driver, [world.note])) == ["Ada"]
    assert uuids(await search_utils.get_communities_by_nodes(driver, [world.nodes["Bo"]])) == ["f"]
    assert uuids(await EpisodicNode.get_by_entity_node_uuid(driver, "Ada")) == ["note"]
    assert uuids(await EntityEdge.get_by_node_uuid(driver, "Bo")) == ["Ada-Bo", "Bo-Cleo"]
    assert uuids(await EntityEdge.get_between_nodes(driver, "Ada", "Bo")) == ["Ada-Bo"]
    assert await EntityEdge.get_between_nodes(driver, "Bo", "Ada") == []


async def test_episodes_before_an_instant(driver: SqliteDriver) -> None:
    saga = SagaNode(name="Move", group_id="a")
    await saga.save(driver)
    for i in range(6):
        note = EpisodicNode(
            uuid=f"e{i}",
            name="n",
            group_id="ab"[i % 2],
            source=EpisodeType.json if i == 2 else EpisodeType.text,
            source_description="",
            content=f"{i}" if i != 4 else "",
            created_at=DAY + timedelta(hours=i),
            valid_at=DAY + timedelta(days=i),
        )
        await note.save(driver)
        if i in {0, 2, 4}:
            edge = HasEpisodeEdge(source_node_uuid=saga.uuid, target_node_uuid=note.uuid, group_id="a", created_at=DAY)
            await edge.save(driver)
    at = DAY + timedelta(days=4)
    assert uuids(await retrieve_episodes(driver, at, 3, None)) == ["e2", "e3", "e4"]
    assert uuids(await retrieve_episodes(driver, at.replace(tzinfo=None), 3, ["a"])) == ["e0", "e2", "e4"]
    assert uuids(await retrieve_episodes(driver, at, 9, ["a", "b"], EpisodeType.json)) == ["e2"]
    assert uuids(await retrieve_episodes(driver, at, 2, ["a"], saga="Move")) == ["e2", "e4"]
    assert await retrieve_episodes(driver, at, 2, ["b"], saga="Move") == []
    operations: Any = driver.graph_operations_interface
    assert await operations.saga_get_previous_episode_uuid(driver, saga.uuid, "e4") == "e2"
    assert await operations.saga_get_previous_episode_uuid(driver, "?", "e4") is None
    assert await operations.saga_get_episode_contents(driver, saga.uuid, DAY, 5) == [
        ("2", DAY + timedelta(days=2), DAY + timedelta(hours=2))
    ]


async def test_communities_are_found_around_entities(driver: SqliteDriver, world: World) -> None:
    found, is_new = await determine_entity_community(driver, world.nodes["Ada"])
    assert (found and found.uuid, is_new) == ("f", False)
    found, is_new = await determine_entity_community(driver, world.nodes["Cleo"])
    assert (found and found.uuid, is_new) == ("f", True)
    assert await determine_entity_community(driver, world.nodes["Dan"]) == (None, False)
    alone = EntityNode(name="Eve", group_id="h", created_at=DAY)
    await alone.save(driver)
    twice = world.facts[0].model_copy(update={"uuid": "again"})
    await twice.save(driver)
    clusters = await get_community_clusters(driver, None)
    found_names = sorted(sorted(node.name for node in cluster) for cluster in clusters)
    assert found_names == [["Ada", "Bo"], ["Cleo", "Dan"], ["Eve"]], (
        "two facts join Ada and Bo: Graphiti's own would hang"
    )
    assert [[node.name for node in cluster] for cluster in await get_community_clusters(driver, ["h"])] == [["Eve"]]
    other = CommunityNode(name="c", group_id="h")
    await other.save(driver)
    await remove_communities(driver, ["h"])
    assert uuids(await CommunityNode.get_by_group_ids(driver, ["h", GROUP])) == ["f"]
    await remove_communities(driver)
    assert await CommunityNode.get_by_group_ids(driver, ["h", GROUP]) == []


async def test_relevant_nodes_are_found_by_vector_and_by_name(driver: SqliteDriver, world: World) -> None:
    ada = world.nodes["Ada"]
    (found,) = await search_utils.get_relevant_nodes(driver, [ada], ANY, min_score=0.6)
    assert uuids(found) == ["Ada", "Bo"]
    (found,) = await search_utils.get_relevant_nodes(driver, [ada], SearchFilters(node_labels=["Author"]), 0.6)
    assert uuids(found) == ["Ada"]
    assert (found[0].labels, found[0].attributes["age"]) == (["Entity", "Author", "Person"], 0)
    ada.name_embedding = None
    (found,) = await search_utils.get_relevant_nodes(driver, [ada], ANY)
    assert uuids(found) == ["Ada"]
    bare = world.facts[0].model_copy(update={"fact_embedding": None})
    assert await search_utils.get_relevant_edges(driver, [bare], ANY) == [[]]


async def test_pairs_that_are_known_duplicates_are_left_out(driver: SqliteDriver, world: World) -> None:
    ada, bo, cleo = (world.nodes[name] for name in ("Ada", "Bo", "Cleo"))
    same = world.facts[0].model_copy(update={"uuid": "same", "name": "IS_DUPLICATE_OF"})
    await same.save(driver)
    assert await filter_existing_duplicate_of_edges(driver, [(ada, bo), (bo, cleo), (bo, ada)]) == [
        (bo, cleo),
        (bo, ada),
    ]


async def test_a_query_that_is_not_known_is_refused_by_the_name_of_its_sender(driver: SqliteDriver) -> None:
    with pytest.raises(ConfigurationError, match=r"^The caller asks .*Nothing was changed"):
        await driver.execute_query("MATCH (n) RETURN n")
    async with driver.session() as session, driver.transaction() as tx:
        for run in (session.run, tx.run):
            with pytest.raises(ConfigurationError):
                await run("MATCH (n) DETACH DELETE n")
    strange = SearchFilters.model_construct(**{**ANY.model_dump(), "edge_types": ["A"], "node_labels": ["A"]})
    driver.search_interface = None
    with pytest.raises(ConfigurationError, match=r"graphiti_core\.search\.search_utils\.edge_fulltext_search"):
        await search_utils.edge_fulltext_search(driver, "words", strange)
    known = "MATCH (e:Episodic)-[:MENTIONS]->(n:Entity {uuid: $uuid}) RETURN count(*) AS episode_count"
    assert (await driver.execute_query(known, params={"uuid": "?"}, routing_="r"))[0] == [{"episode_count": 0}]
    with pytest.raises(ConfigurationError):
        await driver.execute_query(f"{known} LIMIT 1", uuid="?")


async def test_a_condition_that_graphiti_does_not_build_is_refused(driver: SqliteDriver, world: World) -> None:
    sent: list[str] = []
    ask = driver._known.answer

    async def listening(query: str, parameters: Any) -> Any:
        sent.append(query)
        return await ask(query, parameters)

    driver._known.answer = listening  # type: ignore[method-assign]
    await search_utils.get_relevant_edges(driver, world.facts, SearchFilters(edge_types=["A"]))
    await search_utils.get_relevant_nodes(driver, list(world.nodes.values()), SearchFilters(node_labels=["A"]))
    edges, nodes = sent
    given = {"edges": [world.facts[0].model_dump()], "limit": 5, "min_score": 0.1, "edge_types": ["A"]}
    with pytest.raises(ConfigurationError):
        await driver.execute_query(edges.replace("e.name in $edge_types", "e.fact CONTAINS 'x'"), **given)
    with pytest.raises(ConfigurationError):
        await driver.execute_query(nodes.replace("n:A", "n.age > 1"), nodes=[], group_id="g", limit=1, min_score=0)
