"""Two nodes that are one are merged, and a wrong label is corrected; both tell what became of the edges."""

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import call
from tests.protocol.support import EVERYTHING, World, error_of

EDGES = [
    {"source": "deploy", "target": "failover started", "relation": "causes", "properties": {"weight": 1}},
    {"source": "failover begun", "target": "outage", "relation": "causes", "properties": {"seen": "10:02"}},
    {
        "source": "failover started",
        "target": "outage",
        "relation": "causes",
        "properties": {"seen": "10:05", "by": "log"},
    },
    {"source": "failover begun", "target": "failover started", "relation": "precedes"},
    {"source": "failover begun", "target": "failover begun", "relation": "repeats"},
]


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


def ends(edges: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return sorted((one["source"], one["relation"], one["target"]) for one in edges)


async def test_merging_moves_the_edges_and_says_which_met(client: Client) -> None:
    await call(client, "add_edges", edges=EDGES, create_missing=True)
    await call(client, "add_node", label="failover begun", type="event", properties={"team": "ops", "at": "10:00"})
    await call(client, "add_node", label="failover started", properties={"team": "platform"})
    answer = await call(client, "merge_nodes", keep="failover started", remove="Failover-Begun")
    assert (answer["label"], answer["removed"]) == ("failover started", "failover begun")
    assert ends(answer["edges_moved"]) == [("failover started", "repeats", "failover started")]
    assert ends(answer["edges_met"]) == [("failover started", "causes", "outage")]
    assert ends(answer["edges_dropped"]) == [("failover begun", "precedes", "failover started")]
    assert answer["conflicts"] == [
        "property 'team' of the node stays as it was",
        "property 'seen' of 'failover started' -causes-> 'outage' stays as it was",
    ]
    edges = (await call(client, "find_edges"))["edges"]
    assert ends(edges) == [
        ("deploy", "causes", "failover started"),
        ("failover started", "causes", "outage"),
        ("failover started", "repeats", "failover started"),
    ]
    (met,) = [one for one in edges if one["target"] == "outage"]
    assert met["properties"] == {"seen": "10:05", "by": "log"}
    (node,) = (await call(client, "find_node", query="failover started"))["matches"]
    assert (node["type"], node["properties"]) == ("event", {"team": "platform", "at": "10:00"})
    assert (await call(client, "get_graph_info"))["node_count"] == 3


async def test_only_labels_are_merged_and_two_of_them(client: Client) -> None:
    await call(client, "add_edges", edges=EDGES, create_missing=True)
    message = error_of(await client.call_tool("merge_nodes", {"keep": "failover", "remove": "failover begun"}))
    assert "'failover'" in message
    message = error_of(await client.call_tool("merge_nodes", {"keep": "outage", "remove": "OUTAGE"}))
    assert "same node" in message
    assert (await call(client, "get_graph_info"))["edge_count"] == 5


async def test_what_would_make_properties_too_large_is_not_merged(client: Client) -> None:
    for label in "ab":
        await call(client, "add_node", label=label, properties={label: "x" * 6_000})
    message = error_of(await client.call_tool("merge_nodes", {"keep": "a", "remove": "b"}))
    assert "Nothing was changed" in message
    assert (await call(client, "list_nodes"))["total"] == 2


async def test_a_renamed_node_keeps_its_edges_and_is_found_by_its_new_label_only(client: Client) -> None:
    await call(client, "add_edges", edges=EDGES, create_missing=True)
    answer = await call(client, "rename_node", label="failover begun", new_label="switch to the standby")
    assert (answer["label"], answer["removed"]) == ("switch to the standby", "failover begun")
    assert len(answer["edges_moved"]) == 3
    assert ("switch to the standby", "causes", "outage") in ends((await call(client, "find_edges"))["edges"])
    assert (await call(client, "find_node", query="SWITCH-to-the-standby"))["matches"][0]["similarity"] == 1
    assert "switch to the standby" in {one["label"] for one in (await call(client, "list_nodes"))["nodes"]}
    message = error_of(await client.call_tool("rename_node", {"label": "deploy", "new_label": "Outage"}))
    assert "merge_nodes" in message
    spelled = await call(client, "rename_node", label="outage", new_label="Outage")
    assert spelled["label"] == "Outage"
    assert (await call(client, "add_node", label="failover begun"))["created"] is True
