"""Graphiti's records through ``SqliteDriver``: each comes back as it was saved, and every method is there."""

import inspect
import sqlite3
from array import array
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from graphiti_core.driver.graph_operations.graph_operations import GraphOperationsInterface
from graphiti_core.driver.search_interface.search_interface import SearchInterface
from graphiti_core.edges import CommunityEdge, Edge, EntityEdge, EpisodicEdge, HasEpisodeEdge, NextEpisodeEdge
from graphiti_core.errors import EdgeNotFoundError, GroupsEdgesNotFoundError, NodeNotFoundError
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode, Node, SagaNode
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk
from graphiti_core.utils.maintenance.graph_data_operations import clear_data
from pydantic import BaseModel
from tests.fakes import FakeEmbedder

from graphiti_pkm.errors import ConfigurationError, InvalidInput, PkmError, WriteFailed
from graphiti_pkm.graphiti_adapter import SqliteDriver
from graphiti_pkm.graphiti_adapter.pipeline_clients import JobEmbedder
from graphiti_pkm.storage.graph.sqlite.graphiti_reading import embeddings

GROUP = "g-1"
WHEN = datetime(2025, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)
EAST = datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=5, minutes=45)))
NAIVE = datetime(2031, 7, 9, 1, 2, 3, 4)  # noqa: DTZ001 callers of Graphiti save such
ATTRIBUTES = {"age": 30, "ratio": 0.5, "is_in": True, "no": None, "tags": ["a", "b"], "nested": {"deep": [{"x": 1}]}}


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[SqliteDriver]:
    async with SqliteDriver(tmp_path / "graph.sqlite3") as opened:
        yield opened


def entity(name: str = "Ada", **fields: Any) -> EntityNode:
    return EntityNode(**{"name": name, "group_id": GROUP, "created_at": WHEN, "labels": ["Entity"], **fields})


def episode(name: str = "note", **fields: Any) -> EpisodicNode:
    given = {"source": EpisodeType.text, "source_description": "a note", "content": "Ada met Bo.", "valid_at": WHEN}
    return EpisodicNode(**{"name": name, "group_id": GROUP, "created_at": WHEN, **given, **fields})


def fact(source: EntityNode, target: EntityNode, **fields: Any) -> EntityEdge:
    given = {"source_node_uuid": source.uuid, "target_node_uuid": target.uuid, "name": "HAS_MET", "fact": "Ada met Bo."}
    return EntityEdge(**{"group_id": GROUP, "created_at": WHEN, **given, **fields})


def edge(of: type[Edge], source: Node, target: Node, **fields: Any) -> Any:
    ends = {"source_node_uuid": source.uuid, "target_node_uuid": target.uuid}
    return of(**{"group_id": GROUP, "created_at": WHEN, **ends, **fields})


def plain(record: BaseModel) -> dict[str, Any]:
    """All fields; embeddings are kept with the precision of float32."""
    fields = record.model_dump()
    for name in ("name_embedding", "fact_embedding"):
        if fields.get(name) is not None:
            fields[name] = array("f", fields[name]).tolist()
    return fields


ENTITIES = [
    entity(),
    entity(labels=["Entity", "Person"], summary="A mathematician.", attributes=ATTRIBUTES, name_embedding=[0.1, 0.2]),
    entity(labels=["Entity", "Author", "Person", "_Odd"], created_at=NAIVE, attributes={"summary_by_model": True}),
    entity("Zoë 漢字 \N{ROCKET}", created_at=EAST, group_id="", labels=["Entity", "P" * 80]),
    entity(attributes={"summary_by_model": False, "quote'\"$.": 1}),
]


@pytest.mark.parametrize("node", ENTITIES, ids=range(len(ENTITIES)))
async def test_an_entity_comes_back_as_it_was(driver: SqliteDriver, node: EntityNode) -> None:
    await node.save(driver)
    found = await EntityNode.get_by_uuid(driver, node.uuid)
    await found.load_name_embedding(driver)
    assert plain(found) == plain(node) == plain((await EntityNode.get_by_group_ids(driver, [node.group_id]))[0])
    assert [one.uuid for one in await EntityNode.get_by_names(driver, [node.name, "?"], [node.group_id])] == [node.uuid]


EPISODES = [
    episode(),
    episode(
        source=EpisodeType.json,
        content='{"a": "\\u0041"}',
        created_at=NAIVE,
        valid_at=EAST,
        entity_edges=["one", "two"],
        episode_metadata={"channel": "mail", "ids": [1, 2]},
        labels=["Episodic"],
    ),
]


@pytest.mark.parametrize("node", EPISODES, ids=range(len(EPISODES)))
async def test_an_episode_comes_back_as_it_was(driver: SqliteDriver, node: EpisodicNode) -> None:
    await node.save(driver)
    found = await EpisodicNode.get_by_uuid(driver, node.uuid)
    assert plain(found) == plain(node) == plain((await EpisodicNode.get_by_group_ids(driver, [GROUP]))[0])
    assert (found.valid_at.tzinfo, found.created_at.tzinfo is None) == (UTC, node.created_at.tzinfo is None)


async def test_communities_and_sagas_come_back_as_they_were(driver: SqliteDriver) -> None:
    nodes = [
        CommunityNode(name="Friends", group_id=GROUP, created_at=WHEN),
        CommunityNode(
            name="F", group_id=GROUP, created_at=NAIVE, summary="s", labels=["Community"], name_embedding=[1.0]
        ),
        SagaNode(name="Move", group_id=GROUP, created_at=WHEN),
        SagaNode(
            name="Move",
            group_id=GROUP,
            created_at=NAIVE,
            labels=["Saga"],
            summary="It goes on.",
            first_episode_uuid="a",
            last_episode_uuid="b",
            last_summarized_at=NAIVE,
            last_summarized_episode_valid_at=EAST,
        ),
    ]
    for node in nodes:
        await node.save(driver)
        assert plain(await type(node).get_by_uuid(driver, node.uuid)) == plain(node)
        assert plain((await type(node).get_by_uuids(driver, [node.uuid, "?"]))[0]) == plain(node)
    assert {one.uuid for one in await CommunityNode.get_by_group_ids(driver, [GROUP])} == {
        one.uuid for one in nodes[:2]
    }
    assert {one.uuid for one in await SagaNode.get_by_group_ids(driver, [GROUP])} == {one.uuid for one in nodes[2:]}


FACTS: list[dict[str, Any]] = [
    {},
    {
        "fact_embedding": [0.5, -0.25, 0.125],
        "episodes": ["e-2", "e-1", "e-2"],
        "expired_at": WHEN,
        "valid_at": EAST,
        "invalid_at": WHEN,
        "reference_time": WHEN,
        "attributes": ATTRIBUTES,
    },
    {"created_at": NAIVE, "valid_at": NAIVE, "invalid_at": WHEN, "group_id": "another"},
    {"attributes": {"kind": "event", "voided": True, "measure": "weight", "quote_start": 3}},
    {"attributes": {"kind": "friend", "voided": "no", "measure": 7, "quote_start": "x", "quote": None}},
    {"attributes": {"kind": "state", "voided": False}},
]


@pytest.mark.parametrize("fields", FACTS, ids=range(len(FACTS)))
async def test_a_fact_comes_back_as_it_was(driver: SqliteDriver, fields: dict[str, Any]) -> None:
    ada, bo = entity(), entity("Bo")
    known = fact(ada, bo, **fields)
    for one in (ada, bo, known):
        await one.save(driver)
    found = await EntityEdge.get_by_uuid(driver, known.uuid)
    await found.load_fact_embedding(driver)
    assert plain(found) == plain(known) == plain((await EntityEdge.get_by_group_ids(driver, [known.group_id]))[0])
    assert {key: type(one) for key, one in found.attributes.items()} == {
        key: type(one) for key, one in known.attributes.items()
    }


async def test_edges_come_back_as_they_were_and_go_by_uuid(driver: SqliteDriver) -> None:
    ada, told, later = entity(), episode(), episode("later")
    friends = CommunityNode(name="Friends", group_id=GROUP)
    all_of_them = CommunityNode(name="All", group_id=GROUP)
    saga = SagaNode(name="Move", group_id=GROUP)
    for node in (ada, told, later, friends, all_of_them, saga):
        await node.save(driver)
    edges = [
        edge(EpisodicEdge, told, ada, created_at=NAIVE, group_id="another"),
        edge(CommunityEdge, friends, ada),
        edge(CommunityEdge, all_of_them, friends, created_at=NAIVE),
        edge(HasEpisodeEdge, saga, told),
        edge(NextEpisodeEdge, told, later, created_at=EAST),
    ]
    for one in edges:
        await one.save(driver)
        of = type(one)
        assert plain(await of.get_by_uuid(driver, one.uuid)) == plain(one)
        assert [plain(found) for found in await of.get_by_uuids(driver, [one.uuid])] == [plain(one)]
        assert one.uuid in [found.uuid for found in await of.get_by_group_ids(driver, [one.group_id])]
    again = edge(EpisodicEdge, told, ada)
    await again.save(driver)
    with pytest.raises(EdgeNotFoundError):
        await EpisodicEdge.get_by_uuid(driver, edges[0].uuid)
    for one in (again, *edges[1:3]):
        await one.delete(driver)
    for one in edges[3:]:
        await type(one).delete_by_uuids(driver, [one.uuid])
    for one in (again, *edges[1:]):
        with pytest.raises(EdgeNotFoundError):
            await type(one).get_by_uuid(driver, one.uuid)


async def test_what_is_not_there_is_said(driver: SqliteDriver) -> None:
    for kind in (EntityNode, EpisodicNode, CommunityNode, SagaNode):
        with pytest.raises(NodeNotFoundError):
            await kind.get_by_uuid(driver, "?")
        assert await kind.get_by_uuids(driver, ["?"]) == await kind.get_by_group_ids(driver, ["?"]) == []
    for of in (EntityEdge, EpisodicEdge, CommunityEdge, HasEpisodeEdge, NextEpisodeEdge):
        with pytest.raises(EdgeNotFoundError):
            await of.get_by_uuid(driver, "?")
    for of in (EntityEdge, EpisodicEdge):
        with pytest.raises(GroupsEdgesNotFoundError):
            await of.get_by_group_ids(driver, ["?"])
    for missing in (entity(), CommunityNode(name="c", group_id=GROUP)):
        with pytest.raises(NodeNotFoundError):
            await missing.load_name_embedding(driver)
    with pytest.raises(EdgeNotFoundError):
        await fact(entity(), entity("Bo")).load_fact_embedding(driver)


async def test_an_edge_without_an_end_is_refused_and_nothing_of_its_transaction_kept(driver: SqliteDriver) -> None:
    ada, nobody, told = entity(), entity("nobody"), episode()
    await ada.save(driver)
    for one in (
        fact(ada, nobody),
        edge(EpisodicEdge, told, ada),
        edge(CommunityEdge, nobody, ada),
        edge(HasEpisodeEdge, nobody, told),
        edge(NextEpisodeEdge, told, told),
    ):
        with pytest.raises(NodeNotFoundError):
            await one.save(driver)
    embedder = JobEmbedder(FakeEmbedder())
    with pytest.raises(NodeNotFoundError):
        await add_nodes_and_edges_bulk(driver, [told], [], [entity("Cleo")], [fact(ada, nobody)], embedder)
    assert [one.name for one in await EntityNode.get_by_group_ids(driver, [GROUP])] == ["Ada"]
    assert await EpisodicNode.get_by_group_ids(driver, [GROUP]) == []


async def test_a_bulk_keeps_what_single_saves_keep(driver: SqliteDriver) -> None:
    ada = entity(labels=["Entity", "Person"], attributes=ATTRIBUTES)
    bo = entity("Bo")
    told = episode(episode_metadata={"a": 1})
    known = fact(ada, bo, attributes={"how": "at work"}, episodes=[told.uuid], valid_at=WHEN)
    told.entity_edges = [known.uuid]
    mention = edge(EpisodicEdge, told, ada)
    await add_nodes_and_edges_bulk(driver, [told], [mention], [ada, bo], [known], JobEmbedder(FakeEmbedder()))
    for record in (ada, bo):
        found = await EntityNode.get_by_uuid(driver, record.uuid)
        await found.load_name_embedding(driver)
        assert plain(found) == plain(record)
    assert plain(await EpisodicNode.get_by_uuid(driver, told.uuid)) == plain(told)
    assert plain(await EpisodicEdge.get_by_uuid(driver, mention.uuid)) == plain(mention)
    (found_fact,) = await EntityEdge.get_by_group_ids(driver, [GROUP], with_embeddings=True)
    assert plain(found_fact) == plain(known)


async def test_what_is_saved_again_takes_the_place_of_what_was(driver: SqliteDriver) -> None:
    ada, bo = entity(name_embedding=[1.0, 0.0], summary="old", attributes={"a": 1}), entity("Bo")
    known = fact(ada, bo, fact_embedding=[0.0, 1.0], episodes=["e"], attributes={"kind": "plan"})
    for one in (ada, bo, known):
        await one.save(driver)
    ada.summary, ada.attributes, ada.name_embedding = "new", {}, None
    known.fact, known.fact_embedding, known.episodes, known.attributes = "Ada knows Bo.", None, [], {}
    await ada.save(driver)
    await known.save(driver)
    found = await EntityNode.get_by_uuid(driver, ada.uuid)
    assert (found.summary, found.attributes) == ("new", {})
    await found.load_name_embedding(driver)
    assert found.name_embedding == [1.0, 0.0], "an embedding that was not loaded stays while its text does"
    found_fact = await EntityEdge.get_by_uuid(driver, known.uuid)
    await found_fact.load_fact_embedding(driver)
    assert plain(found_fact) == plain(known), "an embedding of another text goes"


async def test_a_record_that_changes_its_group_is_found_there_alone(driver: SqliteDriver) -> None:
    ada = entity(name_embedding=[1.0, 0.0])
    await ada.save(driver)
    ada.group_id, ada.name_embedding = "there", None
    await ada.save(driver)
    search: Any = driver.search_interface
    for group, expected in ((GROUP, []), ("there", [ada.uuid])):
        assert [one.uuid for one in await EntityNode.get_by_group_ids(driver, [group])] == expected
        by_word = await search.node_fulltext_search(driver, "Ada", SearchFilters(), [group])
        by_vector = await search.node_similarity_search(driver, [1.0, 0.0], SearchFilters(), [group])
        assert [one.uuid for one in by_word] == [one.uuid for one in by_vector] == expected


async def test_vectors_of_another_dimension_are_refused_until_there_are_none(driver: SqliteDriver) -> None:
    ada = entity(name_embedding=[1.0, 0.0])
    await ada.save(driver)
    for wrong in ([1.0, 0.0, 0.0], [0.0, 0.0], [float("inf"), 1.0]):
        with pytest.raises(WriteFailed, match="Nothing was stored"):
            await entity("Bo", name_embedding=wrong).save(driver)
    assert await EntityNode.get_by_names(driver, ["Bo"], [GROUP]) == []
    await ada.delete(driver)
    await entity("Bo", name_embedding=[1.0, 0.0, 0.0]).save(driver)


async def test_what_json_has_no_form_for_is_refused_and_instants_become_texts(driver: SqliteDriver) -> None:
    for wrong in (object(), b"bytes", float("nan")):
        with pytest.raises(InvalidInput, match="Nothing was stored"):
            await entity(attributes={"a": wrong}).save(driver)
    ada = entity(attributes={"born": WHEN, "day": WHEN.date(), "set": {"b", "a"}})
    await ada.save(driver)
    found = await EntityNode.get_by_uuid(driver, ada.uuid)
    assert found.attributes == {"born": WHEN.isoformat(), "day": "2025-03-01", "set": ["a", "b"]}


async def test_pages_go_from_the_last_uuid_to_the_first(driver: SqliteDriver) -> None:
    nodes = [entity(f"n{i}", uuid=f"u{i}") for i in range(5)]
    for node in nodes:
        await node.save(driver)
    first = await EntityNode.get_by_group_ids(driver, [GROUP], limit=2)
    second = await EntityNode.get_by_group_ids(driver, [GROUP], limit=2, uuid_cursor=first[-1].uuid)
    assert [one.uuid for one in (*first, *second)] == ["u4", "u3", "u2", "u1"]
    assert [one.uuid for one in await EntityNode.get_by_uuids(driver, ["u3", "u0", "u3"])] == ["u3", "u0"]
    assert await EntityNode.get_by_uuids(driver, ["u3"], group_id="another") == []


async def test_deleting_takes_edges_words_and_vectors_along(driver: SqliteDriver, tmp_path: Path) -> None:
    ada, bo, told = entity(name_embedding=[1.0]), entity("Bo"), episode()
    friends, saga = (
        CommunityNode(name="Friends", group_id=GROUP, name_embedding=[1.0]),
        SagaNode(name="s", group_id=GROUP),
    )
    known = fact(ada, bo, fact_embedding=[1.0], valid_at=NAIVE)
    joined = (
        known,
        edge(EpisodicEdge, told, ada, created_at=NAIVE),
        edge(CommunityEdge, friends, ada, created_at=NAIVE),
        edge(HasEpisodeEdge, saga, told, created_at=NAIVE),
        edge(NextEpisodeEdge, told, told, created_at=NAIVE),
    )
    for one in (ada, bo, told, friends, saga, *joined):
        await one.save(driver)
    await Node.delete_by_uuids(driver, [ada.uuid, told.uuid, friends.uuid])
    assert [one.name for one in await EntityNode.get_by_group_ids(driver, [GROUP])] == ["Bo"]
    await EntityNode.delete_by_group_id(driver, GROUP)
    assert [one.name for one in await SagaNode.get_by_group_ids(driver, [GROUP])] == ["s"], "Graphiti keeps sagas here"
    await SagaNode.delete_by_group_id(driver, GROUP)
    await driver.close()
    with sqlite3.connect(tmp_path / "graph.sqlite3") as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%STRICT%'")]
        left = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}  # noqa: S608
    db.close()
    assert {table for table, count in left.items() if count} == {"graph_meta", "groups", "vector_removals"}


@pytest.mark.parametrize("kind", ["episodic_node", "community_node", "saga_node"])
async def test_nodes_of_one_kind_are_saved_and_deleted_alone(driver: SqliteDriver, kind: str) -> None:
    of: Any = driver.graph_operations_interface
    nodes = {
        "episodic_node": episode(uuid="a"),
        "community_node": CommunityNode(uuid="a", name="c", group_id=GROUP),
        "saga_node": SagaNode(uuid="a", name="s", group_id=GROUP),
    }
    node = nodes[kind]
    others = [node.model_copy(update={"uuid": uuid}) for uuid in "bcd"]
    ada = entity()
    await ada.save(driver)

    async def left() -> set[str]:
        return {one.uuid for one in await getattr(of, f"{kind}_get_by_group_ids")(type(node), driver, [GROUP])}

    await getattr(of, f"{kind}_save")(node, driver)
    await getattr(of, f"{kind}_save_bulk")(type(node), driver, None, [others[0], dict(others[1]), dict(others[2])])
    assert await left() == set("abcd")
    await getattr(of, f"{kind}_delete")(node, driver)
    await getattr(of, f"{kind}_delete_by_uuids")(type(node), driver, ["c", ada.uuid], "elsewhere")
    assert await left() == set("bcd")
    await getattr(of, f"{kind}_delete_by_uuids")(type(node), driver, ["c", ada.uuid], GROUP)
    assert await left() == set("bd")
    await getattr(of, f"{kind}_delete_by_group_id")(type(node), driver, GROUP)
    assert await left() == set()
    assert (await EntityNode.get_by_uuid(driver, ada.uuid)).name == "Ada"


@pytest.mark.parametrize("kind", ["edge", "episodic_edge", "community_edge", "has_episode_edge", "next_episode_edge"])
async def test_edges_of_one_kind_are_saved_and_deleted_alone(driver: SqliteDriver, kind: str) -> None:
    of: Any = driver.graph_operations_interface
    ada, bo, told, later = entity(), entity("Bo"), episode(), episode("later")
    friends, saga = CommunityNode(name="c", group_id=GROUP), SagaNode(name="s", group_id=GROUP)
    for node in (ada, bo, told, later, friends, saga):
        await node.save(driver)
    all_edges: dict[str, list[Any]] = {
        "edge": [fact(ada, bo), fact(bo, ada)],
        "episodic_edge": [edge(EpisodicEdge, told, ada), edge(EpisodicEdge, told, bo)],
        "community_edge": [edge(CommunityEdge, friends, ada), edge(CommunityEdge, friends, bo)],
        "has_episode_edge": [edge(HasEpisodeEdge, saga, told), edge(HasEpisodeEdge, saga, later)],
        "next_episode_edge": [edge(NextEpisodeEdge, told, later), edge(NextEpisodeEdge, later, told)],
    }
    for name, edges in all_edges.items():
        if bulk := getattr(of, f"{name}_save_bulk", None):
            await bulk(None, driver, None, [edges[0], edges[1].model_dump()])
        else:
            for one in edges:
                await getattr(of, f"{name}_save")(one, driver)

    async def others() -> dict[str, int]:
        found = {}
        for name, edges in all_edges.items():
            uuids = [one.uuid for one in edges]
            if name != kind:
                found[name] = len(await getattr(of, f"{name}_get_by_uuids")(None, driver, uuids))
        return found

    first, second = all_edges[kind]
    get, delete = getattr(of, f"{kind}_get_by_uuid"), getattr(of, f"{kind}_delete_by_uuids")
    await delete(type(second), driver, [second.uuid], "elsewhere")
    assert (await get(type(second), driver, second.uuid)).uuid == second.uuid
    await delete(type(second), driver, [second.uuid], GROUP)
    await getattr(of, f"{kind}_delete")(first, driver)
    for one in (first, second):
        with pytest.raises(EdgeNotFoundError):
            await get(type(one), driver, one.uuid)
    assert set((await others()).values()) == {2}


async def test_data_is_cleared_by_group_or_altogether(driver: SqliteDriver) -> None:
    for group in ("a", "b", "c"):
        for node in (entity(group_id=group), episode(group_id=group), SagaNode(name="s", group_id=group)):
            await node.save(driver)
    await clear_data(driver, ["a", "?"])
    kinds = (EntityNode, EpisodicNode, SagaNode)
    assert [len(await kind.get_by_group_ids(driver, ["a", "b", "c"])) for kind in kinds] == [2, 2, 2]
    await clear_data(driver)
    assert [len(await kind.get_by_group_ids(driver, ["a", "b", "c"])) for kind in kinds] == [0, 0, 0]


async def test_a_transaction_writes_at_its_end_or_not_at_all(driver: SqliteDriver) -> None:
    operations: Any = driver.graph_operations_interface
    async with driver.transaction() as tx:
        await operations.node_save_bulk(None, driver, tx, [entity()])
        assert await EntityNode.get_by_group_ids(driver, [GROUP]) == []
    assert len(await EntityNode.get_by_group_ids(driver, [GROUP])) == 1

    async def fails() -> None:
        async with driver.transaction() as tx:
            await operations.node_save_bulk(None, driver, tx, [entity("Bo").model_dump()])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fails()
    assert len(await EntityNode.get_by_group_ids(driver, [GROUP])) == 1


async def test_indexes_are_made_and_dropped_and_change_no_answer(driver: SqliteDriver) -> None:
    ada, told = entity(), episode()
    mention = edge(EpisodicEdge, told, ada)
    for one in (ada, told, mention):
        await one.save(driver)
    for delete in (False, True):
        await driver.build_indices_and_constraints(delete_existing=delete)
        assert (await EpisodicEdge.get_by_uuid(driver, mention.uuid)).uuid == mention.uuid
    plan = await driver._opened.file.read(
        lambda db: [row[3] for row in db.execute("EXPLAIN QUERY PLAN SELECT * FROM mention WHERE uuid = 'x'")]
    )
    assert "graphiti_mention_uuid" in plan[0]
    await driver.delete_all_indexes()
    assert (await EpisodicEdge.get_by_uuid(driver, mention.uuid)).uuid == mention.uuid


async def test_two_drivers_share_a_file_and_a_directory_gets_one(tmp_path: Path) -> None:
    (tmp_path / ".download.partial").write_text("of another program")
    async with SqliteDriver(tmp_path) as one, SqliteDriver(tmp_path / "graphiti.sqlite3") as other:
        ada = entity(name_embedding=[1.0, 0.0])
        await ada.save(one)
        assert (await EntityNode.get_by_uuid(other, ada.uuid)).name == "Ada"
        ada.name_embedding = [0.0, 1.0]
        await ada.save(other)
        assert await one._opened.file.read(lambda db: embeddings(db, [ada.uuid])) == {ada.uuid: [0.0, 1.0]}
        assert one.clone("g") is one
    assert (tmp_path / ".download.partial").exists(), "files of others in the directory are left alone"


async def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.sqlite3"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    text = tmp_path / "text.sqlite3"
    text.write_text("no database at all, but long enough to be read as one" * 40)
    for path in (foreign, text):
        before = path.read_bytes()
        with pytest.raises(ConfigurationError, match="left as it is"):
            SqliteDriver(path)
        assert path.read_bytes() == before


def test_graphiti_core_is_imported_on_first_use_alone() -> None:
    import graphiti_pkm.graphiti_adapter as package  # noqa: PLC0415

    assert package.__all__ == ["SqliteDriver"]
    with pytest.raises(AttributeError):
        package.__getattr__("Nothing")


REFUSED: set[str] = set()
"""Methods of Graphiti's interfaces that are not answered: none."""


@pytest.mark.parametrize("interface", [GraphOperationsInterface, SearchInterface])
def test_every_method_of_the_interface_is_answered_with_its_parameters(
    interface: type[BaseModel], tmp_path: Path
) -> None:
    driver = SqliteDriver(tmp_path / "graph.sqlite3")
    ours: Any = driver.graph_operations_interface if interface is GraphOperationsInterface else driver.search_interface
    declared = {name: found for name, found in vars(interface).items() if inspect.isfunction(found)}
    missing = {name for name in declared if getattr(type(ours), name) is getattr(interface, name)}
    assert missing == REFUSED
    assert len(declared) >= 14
    for name, found in declared.items():
        theirs, own = inspect.signature(found).parameters, inspect.signature(getattr(type(ours), name)).parameters
        assert list(own) == list(theirs), name
        assert [one.default for one in own.values()] == [one.default for one in theirs.values()], name


def test_the_errors_are_none_that_graphiti_takes_for_a_missing_method() -> None:
    assert not issubclass(PkmError, NotImplementedError)
