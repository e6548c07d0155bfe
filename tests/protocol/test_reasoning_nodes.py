"""Nodes of scratch graphs through the tools."""

from typing import Any

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import F6_NODES, build_f6, call
from tests.protocol.support import EVERYTHING, World, error_of

DEEP = [[[[[[[[[[1]]]]]]]]]]
"""One level more than what can be read back."""


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def test_a_node_is_added_once(client: Client) -> None:
    node = {"label": "AuthService", "type": "service", "properties": {"lines": 120, "tags": ["core"]}}
    first, second = (await call(client, "add_node", **node), await call(client, "add_node", **node))
    assert (first["node"], first["created"]) == (node, True)
    assert (second["node"], second["created"]) == (node, False)
    empty = (await call(client, "add_node", label=" Bare "))["node"]
    assert empty == {"label": "Bare", "type": None, "properties": {}}


async def test_a_second_call_merges_and_tells_what_it_did_not_take(client: Client) -> None:
    await call(client, "add_node", label="A", properties={"a": 1})
    second = await call(client, "add_node", label="a", type="service", properties={"b": 2})
    assert second["node"] == {"label": "A", "type": "service", "properties": {"a": 1, "b": 2}}
    assert second["conflicts"] is None
    third = await call(client, "add_node", label="A", type="module")
    assert third["node"]["type"] == "service"
    assert third["conflicts"] == ["'A' stays of type 'service', not 'module'"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"label": ""}, "1 to 500 characters"),
        ({"label": " \n "}, "1 to 500 characters"),
        ({"label": "x" * 501}, "1 to 500 characters, this one 501"),
        ({"label": "A", "properties": {"text": "x" * 10_000}}, "10,000 characters as JSON"),
        ({"label": "A", "properties": {"": 1}}, "1 to 100 characters"),
        ({"label": "A", "properties": {"x" * 101: 1}}, "1 to 100 characters"),
        ({"label": "A", "properties": {"a\tb": 1}}, "none of them for control"),
        ({"label": "A", "properties": {"a": DEEP}}, "nested more than 10 deep"),
        ({"label": "A", "type": "x" * 300}, "type has 1 to 200"),
        ({"label": "A", "properties": "text"}, "properties must be"),
    ],
)
async def test_what_cannot_be_a_node_is_refused(client: Client, arguments: dict[str, Any], said: str) -> None:
    assert said in error_of(await client.call_tool("add_node", arguments))
    assert (await call(client, "list_graphs"))["total"] == 0


async def test_many_nodes_are_added_at_once_and_counted(client: Client) -> None:
    first = await call(client, "add_nodes", nodes=F6_NODES)
    assert (first["added"], first["existing"], first["failed"]) == (4, 0, [])
    second = await call(client, "add_nodes", nodes=F6_NODES)
    assert (second["added"], second["existing"]) == (0, 4)
    twice = await call(client, "add_nodes", nodes=[{"label": "Cache"}, {"label": "cache"}], graph="other")
    assert (twice["added"], twice["existing"]) == (1, 1)


async def test_wrong_items_of_a_batch_are_told_and_the_others_added(client: Client) -> None:
    answer = await call(client, "add_nodes", nodes=[{"label": "A"}, {"label": ""}, {"label": 7}])
    assert (answer["added"], len(answer["failed"])) == (2, 1)
    assert answer["failed"][0]["node"] == "''"
    assert "1 to 500" in answer["failed"][0]["reason"]
    assert [one["label"] for one in (await call(client, "list_nodes"))["nodes"]] == ["A", "7"]
    many = [{"label": f"n{number}"} for number in range(501)]
    assert "at most 500" in error_of(await client.call_tool("add_nodes", {"nodes": many}))
    assert (await call(client, "add_nodes", nodes=many[:500]))["added"] == 500


async def test_many_failures_fit_into_an_answer(client: Client) -> None:
    answer = await call(client, "add_nodes", nodes=[{"label": "y" * 501 + str(number)} for number in range(500)])
    assert answer["failed_total"] == 500
    assert 20 < len(answer["failed"]) < 500


async def test_nodes_are_listed_as_they_were_added_and_by_type(client: Client) -> None:
    await build_f6(client)
    whole = await call(client, "list_nodes")
    assert [one["label"] for one in whole["nodes"]] == [node["label"] for node in F6_NODES]
    assert (whole["total"], whole["truncated"], whole["next_cursor"]) == (4, False, None)
    services = await call(client, "list_nodes", type="Service")
    assert services["nodes"] == [{"label": "AuthService", "type": "service", "properties": {}}]
    page = await call(client, "list_nodes", limit=2)
    assert (len(page["nodes"]), page["total"], page["truncated"]) == (2, 4, True)
    await call(client, "remove_node", label="AuthService")
    rest = await call(client, "list_nodes", limit=2, cursor=page["next_cursor"])
    assert [one["label"] for one in rest["nodes"]] == ["UserRepository", "PostgresDB"]
    wrong = await client.call_tool("list_nodes", {"type": "x", "cursor": page["next_cursor"]})
    assert "other arguments" in error_of(wrong)
    assert "from 1 to 500" in error_of(await client.call_tool("list_nodes", {"limit": 501}))


async def test_nodes_are_listed_by_their_properties_and_by_what_they_point_to(client: Client) -> None:
    await build_f6(client)
    await call(client, "add_nodes", nodes=[{"label": "AuthService", "properties": {"team": "core", "open": True}}])
    found = await call(client, "list_nodes", properties={"team": "core", "open": True})
    assert [one["label"] for one in found["nodes"]] == ["AuthService"]
    assert (await call(client, "list_nodes", properties={"team": "other"}))["total"] == 0
    assert (await call(client, "list_nodes", properties={"team": None}))["total"] == 3
    assert (await call(client, "list_nodes", min_out_degree=1))["total"] == 3
    calling = await call(client, "list_nodes", min_out_degree=1, relation="calls")
    assert [one["label"] for one in calling["nodes"]] == ["LoginController"]
    assert "find_edges" in error_of(await client.call_tool("list_nodes", {"relation": "calls"}))


async def test_what_nothing_points_to_is_found(client: Client) -> None:
    edges = [
        {"source": source, "target": target, "relation": "related_to"}
        for source, target in (("api", "auth"), ("api", "users"), ("auth", "database"), ("users", "database"))
    ]
    await call(client, "add_edges", edges=edges, create_missing=True)
    assert [one["label"] for one in (await call(client, "list_nodes", max_in_degree=0))["nodes"]] == ["api"]
    assert [one["label"] for one in (await call(client, "list_nodes", max_out_degree=0))["nodes"]] == ["database"]


async def test_what_nothing_explains_is_found_by_relation(client: Client) -> None:
    edges = [
        {"source": source, "target": target, "relation": relation}
        for source, relation, target in (
            ("leak", "explains", "slow"),
            ("log", "contradicts", "crash"),
            ("leak", "Explains", "leak"),
            ("log", "supports", "leak"),
        )
    ]
    await call(client, "add_edges", edges=edges, create_missing=True)
    unexplained = await call(client, "list_nodes", max_in_degree=0, relation="EXPLAINS")
    assert [one["label"] for one in unexplained["nodes"]] == ["log", "crash"]
    assert [one["label"] for one in (await call(client, "list_nodes", max_in_degree=0))["nodes"]] == ["log"]
    ends = await call(client, "list_nodes", max_out_degree=0, relation="explains", limit=1)
    assert [one["label"] for one in ends["nodes"]] == ["slow"]
    rest = await call(client, "list_nodes", max_out_degree=0, relation="explains", cursor=ends["next_cursor"])
    assert [one["label"] for one in rest["nodes"]] == ["log", "crash"]
    other = await client.call_tool("list_nodes", {"max_out_degree": 0, "cursor": ends["next_cursor"]})
    assert "other arguments" in error_of(other)
    unknown = await call(client, "list_nodes", max_in_degree=0, relation="expalins")
    assert (unknown["total"], unknown["note"]) == (
        4,
        "no edge has the relation 'expalins'; there are: 'explains', 'contradicts', 'supports'",
    )
    message = error_of(await client.call_tool("list_nodes", {"relation": "explains"}))
    assert "max_in_degree or max_out_degree" in message


async def test_a_type_that_no_node_has_is_answered_with_those_there_are(client: Client) -> None:
    await build_f6(client)
    await call(client, "add_node", label="Bare")
    found = await call(client, "list_nodes", type="servce")
    assert (found["nodes"], found["total"]) == ([], 0)
    assert found["note"] == (
        "no node is of type 'servce'; there are: 'controller', 'service', 'repository', 'database', 'untyped'"
    )
    assert (await call(client, "list_nodes", type="service"))["note"] is None
    await call(client, "add_nodes", nodes=[{"label": f"n{number}", "type": f"t{number}"} for number in range(30)])
    assert "'t14' and 15 more (get_graph_info)" in (await call(client, "list_nodes", type="x"))["note"]


async def test_lists_of_a_large_graph_are_short_and_complete_in_pages(client: Client) -> None:
    nodes = [{"label": f"Module number {number} of the large graph", "type": "module"} for number in range(2_000)]
    for start in range(0, len(nodes), 500):
        await call(client, "add_nodes", nodes=nodes[start : start + 500])
    hub = [
        {"source": "Module number 0 of the large graph", "target": node["label"], "relation": "imports"}
        for node in nodes[1:501]
    ]
    await call(client, "add_edges", edges=hub)
    for tool, arguments, items in (
        ("list_nodes", {}, "nodes"),
        ("list_nodes", {"limit": 500}, "nodes"),
        ("find_edges", {"limit": 500}, "edges"),
        ("get_neighbors", {"node": "Module number 0 of the large graph", "limit": 500}, "neighbors"),
        ("subgraph", {"nodes": [node["label"] for node in nodes[:500]]}, "nodes"),
    ):
        result = await client.call_tool(tool, arguments)
        assert len(str(result.structured_content)) < 45_000, tool
        assert (result.structured_content or {})["truncated"] is True, tool
        assert (result.structured_content or {})[items]
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await call(client, "find_edges", limit=300, **cursor)
        seen += [edge["target"] for edge in page["edges"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == [node["label"] for node in nodes[1:501]]
