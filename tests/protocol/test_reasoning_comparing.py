"""What two scratch graphs differ in, through the tool."""

import asyncio
from typing import Any

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import build_f6, call
from tests.protocol.support import EVERYTHING, World, error_of, text

NOTHING = {
    f"{things}_{where}": [] for things in ("nodes", "edges") for where in ("only_in_graph", "only_in_other", "changed")
}


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


def lists(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in NOTHING}


async def test_what_is_only_in_one_graph_and_what_differs_is_told(client: Client) -> None:
    await build_f6(client)
    await build_f6(client, graph="later")
    before = await call(client, "compare_graphs", other="later")
    assert (before["equal"], before["truncated"], lists(before)) == (True, False, NOTHING)
    assert before["node_counts"] == {"in_both": 4, "only_in_graph": 0, "only_in_other": 0, "changed": 0}
    await call(client, "remove_node", label="PostgresDB", graph="later")
    await call(client, "add_node", label="Cache", type="database", graph="later")
    await call(client, "add_node", label="AuthService", properties={"lines": 3, "tags": ["a"]})
    await call(client, "add_node", label="AuthService", properties={"lines": 4, "tags": ["a"]}, graph="later")
    await call(client, "add_edge", source="AuthService", target="Cache", relation="reads", graph="later")
    edge = {"source": "LoginController", "target": "AuthService", "relation": "CALLS"}
    await call(client, "add_edge", **edge, properties={"weight": 2}, graph="later")
    after = await call(client, "compare_graphs", other="later")
    assert (after["graph"], after["other"], after["equal"]) == ("default", "later", False)
    assert after["node_counts"] == {"in_both": 3, "only_in_graph": 1, "only_in_other": 1, "changed": 1}
    assert after["edge_counts"] == {"in_both": 2, "only_in_graph": 1, "only_in_other": 1, "changed": 1}
    assert lists(after) == {
        "nodes_only_in_graph": [{"label": "PostgresDB", "type": "database"}],
        "nodes_only_in_other": [{"label": "Cache", "type": "database"}],
        "nodes_changed": [
            {
                "label": "AuthService",
                "differences": [{"name": "lines", "value": 3, "other_value": 4}],
                "more_differences": None,
            }
        ],
        "edges_only_in_graph": [{"source": "UserRepository", "target": "PostgresDB", "relation": "connects"}],
        "edges_only_in_other": [{"source": "AuthService", "target": "Cache", "relation": "reads"}],
        "edges_changed": [
            {
                "source": "LoginController",
                "target": "AuthService",
                "relation": "calls",
                "differences": [{"name": "weight", "value": None, "other_value": 2}],
                "more_differences": None,
            }
        ],
    }


async def test_labels_and_relations_are_compared_as_graphs_do(client: Client) -> None:
    edge = {"source": "Auth Service", "target": "C", "relation": "Calls"}
    await call(client, "add_edges", edges=[edge], create_missing=True)
    same = {"source": "auth_service", "target": "c", "relation": "CALLS"}
    await call(client, "add_edges", edges=[same], create_missing=True, graph="later")
    assert (await call(client, "compare_graphs", other="later"))["equal"] is True
    await call(client, "add_node", label="C++", graph="later")
    await call(client, "add_node", label="C", type="language", properties={"type": 1, "flag": 1, "none": None})
    await call(client, "add_node", label="c", properties={"flag": True}, graph="later")
    found = await call(client, "compare_graphs", other="later")
    assert [one["label"] for one in found["nodes_only_in_other"]] == ["C++"]
    assert [tuple(one.values()) for one in found["nodes_changed"][0]["differences"]] == [
        ("type", "language", None),
        ("properties.type", 1, None),
        ("flag", 1, True),
    ]


async def test_a_graph_is_not_compared_with_itself_or_with_none(client: Client) -> None:
    await build_f6(client)
    assert "the same graph" in error_of(await client.call_tool("compare_graphs", {"other": " default "}))
    assert "no scratch graph 'later'" in error_of(await client.call_tool("compare_graphs", {"other": "later"}))
    assert error_of(await client.call_tool("compare_graphs", {"other": " "})).startswith("other must be a name")


async def test_two_comparisons_the_other_way_round_do_not_wait_for_each_other(client: Client) -> None:
    await build_f6(client)
    await build_f6(client, graph="later")
    calls = [{"graph": "default", "other": "later"}, {"graph": "later", "other": "default"}] * 10
    answers = await asyncio.gather(*(call(client, "compare_graphs", **arguments) for arguments in calls))
    assert all(one["equal"] for one in answers)


async def test_long_comparisons_are_cut_and_counted(client: Client) -> None:
    many = [{"label": f"{number} {'long ' * 60}", "properties": {"x" * 100: "y" * 900}} for number in range(300)]
    await call(client, "add_nodes", nodes=many)
    changed = [{**node, "properties": {f"p{at}": "z" * 300 for at in range(30)}} for node in many[:150]]
    await call(client, "add_nodes", nodes=[{"label": "new"}, *changed], graph="later")
    edges = [{"source": "new", "target": node["label"], "relation": "to"} for node in changed]
    await call(client, "add_edges", edges=edges, graph="later")
    result = await client.call_tool("compare_graphs", {"other": "later", "limit": 500})
    found = result.structured_content or {}
    assert found["truncated"] is True
    assert found["node_counts"] == {"in_both": 150, "only_in_graph": 150, "only_in_other": 1, "changed": 150}
    assert found["edge_counts"]["only_in_other"] == 150
    for name in ("nodes_only_in_graph", "nodes_changed", "edges_only_in_other"):
        assert 0 < len(found[name]) < 150, name
    assert len(found["nodes_changed"][0]["differences"]) == 20
    assert found["nodes_changed"][0]["more_differences"] == 11
    assert len(text(result)) <= 24_000
    assert "omitted" not in text(result)
