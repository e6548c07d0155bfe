"""Edges of scratch graphs through the tools."""

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import F6_EDGES, F6_NODES, build_f6, call
from tests.protocol.support import EVERYTHING, World, error_of


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def test_a_relation_is_one_call_in_natural_names(client: Client) -> None:
    await call(client, "add_nodes", nodes=[{"label": "Order Service"}, {"label": "Event Bus"}])
    answer = await call(client, "add_edge", source="orderservice", target="event-bus", relation="publishes to")
    assert answer["edge"] == {"source": "Order Service", "target": "Event Bus", "relation": "publishes to"}


async def test_two_relations_between_the_same_nodes_are_two_edges(client: Client) -> None:
    await call(client, "add_nodes", nodes=[{"label": "A"}, {"label": "B"}])
    for relation in ("calls", "imports", "CALLS"):
        await call(client, "add_edge", source="A", target="B", relation=relation)
    found = (await call(client, "find_edges", source="A", target="B"))["edges"]
    assert [edge["relation"] for edge in found] == ["calls", "imports"]


async def test_properties_of_an_edge_are_merged(client: Client) -> None:
    edge = {"source": "A", "target": "B", "relation": "calls", "create_missing": True}
    await call(client, "add_edge", **edge, properties={"weight": 1})
    again = await call(client, "add_edge", **{**edge, "relation": "Calls"}, properties={"times": 3})
    assert (again["created"], again["edge"]["relation"]) == (False, "calls")
    (found,) = (await call(client, "find_edges"))["edges"]
    assert found["properties"] == {"weight": 1, "times": 3}


async def test_many_edges_are_added_at_once_and_what_failed_says_which_end(client: Client) -> None:
    await call(client, "add_nodes", nodes=F6_NODES)
    answer = await call(client, "add_edges", edges=F6_EDGES)
    assert (answer["added"], answer["existing"], answer["failed"]) == (3, 0, [])
    more = [
        F6_EDGES[0],
        {"source": "AuthService", "target": "Mailer", "relation": "calls"},
        {"source": "auth-service", "target": "PostgresDB", "relation": "reads"},
        {"source": "AuthService", "target": "PostgresDB", "relation": " "},
    ]
    answer = await call(client, "add_edges", edges=more)
    assert (answer["added"], answer["existing"]) == (1, 1)
    empty, unknown = answer["failed"]
    assert unknown["edge"] == more[1]
    assert unknown["reason"].startswith("target: No node 'Mailer'")
    assert "relation has 1 to 200" in empty["reason"]
    assert answer["matched"] == []
    assert "at most 500" in error_of(await client.call_tool("add_edges", {"edges": [more[0]] * 501}))


async def test_a_batch_may_create_its_nodes(client: Client) -> None:
    answer = await call(client, "add_edges", edges=F6_EDGES, create_missing=True)
    assert (answer["added"], answer["nodes_created"], answer["failed"]) == (3, 4, [])
    assert (await call(client, "find_node", query="auth service"))["matches"][0]["label"] == "AuthService"


async def test_edges_are_found_by_any_of_their_parts(client: Client) -> None:
    await build_f6(client)
    await call(client, "add_edge", source="AuthService", target="PostgresDB", relation="Queries")
    whole = await call(client, "find_edges")
    assert (whole["total"], whole["truncated"], len(whole["edges"])) == (4, False, 4)
    assert whole["edges"][0] == {**F6_EDGES[0], "properties": {}}
    assert (await call(client, "find_edges", source="AuthService"))["total"] == 2
    assert (await call(client, "find_edges", relation="QUERIES"))["total"] == 2
    both = await call(client, "find_edges", relation="queries", target="PostgresDB")
    assert [edge["source"] for edge in both["edges"]] == ["AuthService"]
    first = await call(client, "find_edges", limit=3)
    rest = await call(client, "find_edges", limit=3, cursor=first["next_cursor"])
    assert [edge["relation"] for edge in rest["edges"]] == ["queries"]
    none = await call(client, "find_edges", relation="imports")
    assert none["edges"] == []
    assert "'calls', 'queries', 'connects'" in none["note"]


async def test_edges_are_removed_one_by_one_or_all_and_never_the_other_way_round(client: Client) -> None:
    await call(client, "add_nodes", nodes=[{"label": "A"}, {"label": "B"}])
    for source, target, relation in (
        ("A", "B", "calls"),
        ("A", "B", "imports"),
        ("A", "B", "uses"),
        ("B", "A", "calls"),
    ):
        await call(client, "add_edge", source=source, target=target, relation=relation)
    one = await call(client, "remove_edge", source="A", target="B", relation="Calls")
    assert (one["success"], one["edges_removed"]) == (True, 1)
    again = await call(client, "remove_edge", source="A", target="B", relation="calls")
    assert again["success"] is False
    assert "'imports', 'uses'" in again["reason"]
    assert (await call(client, "remove_edge", source="a", target="b"))["edges_removed"] == 2
    (left,) = (await call(client, "find_edges"))["edges"]
    assert (left["source"], left["target"]) == ("B", "A")
    gone = await call(client, "remove_edge", source="A", target="B")
    assert "the other way round there is one" in gone["reason"]


async def test_neighbours_come_with_relation_and_direction(client: Client) -> None:
    await build_f6(client)
    answer = await call(client, "get_neighbors", node="AuthService")
    assert answer["neighbors"] == [
        {"label": "LoginController", "relation": "calls", "direction": "in"},
        {"label": "UserRepository", "relation": "queries", "direction": "out"},
    ]
    assert [
        one["label"] for one in (await call(client, "get_neighbors", node="AuthService", direction="out"))["neighbors"]
    ] == ["UserRepository"]
    assert (await call(client, "get_neighbors", node="AuthService", relation="CALLS"))["total"] == 1
    await call(client, "add_edge", source="UserRepository", target="AuthService", relation="notifies")
    await call(client, "add_edge", source="AuthService", target="AuthService", relation="calls")
    both = (await call(client, "get_neighbors", node="AuthService"))["neighbors"]
    assert [(one["label"], one["direction"]) for one in both] == [
        ("LoginController", "in"),
        ("UserRepository", "out"),
        ("UserRepository", "in"),
        ("AuthService", "in"),
        ("AuthService", "out"),
    ]
    first = await call(client, "get_neighbors", node="AuthService", limit=4)
    rest = await call(client, "get_neighbors", node="AuthService", limit=4, cursor=first["next_cursor"])
    assert first["neighbors"] + rest["neighbors"] == both


async def test_a_part_of_a_graph_with_what_is_among_it(client: Client) -> None:
    await build_f6(client)
    labels = ["LoginController", "auth service"]
    part = await call(client, "subgraph", nodes=labels)
    assert [one["label"] for one in part["nodes"]] == ["LoginController", "AuthService"]
    assert part["edges"] == [{**F6_EDGES[0], "properties": {}}]
    assert part["matched"] == [{"text": "auth service", "matched": "AuthService", "similarity": 1}]
    assert (await call(client, "subgraph", nodes=labels, include_edges=False))["edges"] == []
    other = await call(client, "subgraph", nodes=["PostgresDB", "Mailer"])
    assert other["not_found"] == ["Mailer"]
    assert len(other["nodes"]) == 1


async def test_adding_what_is_there_says_whether_properties_changed(client: Client) -> None:
    await build_f6(client)
    one = {**F6_EDGES[0], "properties": {"seen": 1}}
    first = await call(client, "add_edge", **one)
    assert (first["created"], first["changed"]) == (False, True)
    again = await call(client, "add_edge", **one)
    assert (again["created"], again["changed"]) == (False, False)
    new = {"source": "PostgresDB", "target": "AuthService", "relation": "logs", "properties": {"seen": 1}}
    edges = [one, {**F6_EDGES[1], "properties": {"seen": 2}}, F6_EDGES[2], new, {**new, "properties": {"by": "log"}}]
    batch = await call(client, "add_edges", edges=edges)
    assert (batch["added"], batch["existing"], batch["changed"]) == (1, 4, 1)


async def test_edges_are_found_by_the_types_of_their_ends_by_properties_and_between_two_groups(client: Client) -> None:
    await build_f6(client)
    back = {"source": "PostgresDB", "target": "LoginController", "relation": "notifies", "properties": {"async": True}}
    await call(client, "add_edge", **back)

    async def found(**filters: object) -> list[str]:
        return [one["relation"] for one in (await call(client, "find_edges", **filters))["edges"]]

    assert await found(source_type="Service") == ["queries"]
    assert await found(target_type="database") == ["connects"]
    assert await found(source_type="service", target_type="database") == []
    assert await found(properties={"async": True}) == ["notifies"]
    groups = [["LoginController", "UserRepository"], ["postgres db"]]
    assert await found(between=groups) == ["connects", "notifies"]
    assert await found(between=groups, relation="connects") == ["connects"]
    page = await call(client, "find_edges", between=groups, limit=1)
    assert (page["total"], page["returned"], page["truncated"]) == (2, 1, True)
    rest = await call(client, "find_edges", between=groups, limit=1, cursor=page["next_cursor"])
    assert [one["relation"] for one in rest["edges"]] == ["notifies"]
    assert "No node" in error_of(await client.call_tool("find_edges", {"between": [["Nobody"], ["AuthService"]]}))
