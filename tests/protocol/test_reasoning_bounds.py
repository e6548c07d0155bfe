"""Whatever is put into a scratch graph, answers about it stay small."""

import json

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import call
from tests.protocol.support import EVERYTHING, World, error_of

HALF, MORE = {"a": "x" * 6_000}, {"b": "y" * 6_000}
BOUND = "10,000 characters"


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def test_properties_do_not_outgrow_their_bound_by_merging(client: Client) -> None:
    edge = {"source": "A", "target": "B", "relation": "uses"}
    await call(client, "add_node", label="A", properties=HALF)
    await call(client, "add_edge", **edge, properties=HALF, create_missing=True)
    assert BOUND in error_of(await client.call_tool("add_node", {"label": "a", "properties": MORE}))
    assert BOUND in error_of(await client.call_tool("add_edge", {**edge, "properties": MORE}))
    nodes = await call(client, "add_nodes", nodes=[{"label": "C"}, {"label": "A", "properties": MORE}])
    assert (nodes["added"], nodes["existing"], nodes["failed"][0]["node"]) == (1, 0, "'A'")
    assert BOUND in nodes["failed"][0]["reason"]
    edges = await call(
        client, "add_edges", edges=[{**edge, "relation": "has"}, {**edge, "properties": MORE}], create_missing=True
    )
    assert (edges["added"], edges["existing"], BOUND in edges["failed"][0]["reason"]) == (1, 0, True)
    text = json.dumps({"nodes": [{"label": "New"}, {"label": "A", "properties": MORE}], "edges": []})
    assert BOUND in error_of(await client.call_tool("import_graph", {"format": "json", "content": text}))
    assert [node["label"] for node in (await call(client, "list_nodes"))["nodes"]] == ["A", "B", "C"]


LONG = [f"{number:03} {'x' * 490}" for number in range(120)]


@pytest.mark.parametrize(
    ("tool", "arguments", "lists"),
    [
        ("bridges", {}, {"bridges": "bridges_total", "articulation_points": "articulation_points_total"}),
        ("transitive_reduction", {}, {"edges": "total"}),
        ("pagerank", {"top_n": 100}, {"rankings": "total"}),
        ("degree_centrality", {"top_n": 100}, {"rankings": "total"}),
        ("betweenness_centrality", {"top_n": 100}, {"rankings": "total"}),
        ("impact_of_removal", {"node": LONG[60]}, {"newly_unreachable": "newly_unreachable_total"}),
    ],
)
async def test_long_labels_make_lists_shorter_and_the_answer_says_so(
    client: Client, tool: str, arguments: dict[str, object], lists: dict[str, str]
) -> None:
    steps = [(one, one + 1) for one in range(119)]
    if tool == "transitive_reduction":
        steps += [(one, one + 2) for one in range(118)]
    edges = [{"source": LONG[one], "target": LONG[other], "relation": "next"} for one, other in steps]
    await call(client, "add_edges", edges=edges, create_missing=True)
    answer = await call(client, tool, **arguments)
    assert len(json.dumps(answer)) < 26_000
    assert answer["truncated"]
    for name, total in lists.items():
        assert 0 < len(answer[name]) < answer[total]
