"""Scratch graphs as wholes through the tools: made by writing, listed, deleted, gone when idle, of one tenant each."""

from datetime import timedelta

import pytest
from mcp.client import Client
from tests.protocol.access import Doors, a_world
from tests.protocol.scratch_support import F6_NODES, build_f6, call
from tests.protocol.serving import connected, served
from tests.protocol.support import EVERYTHING, Mode, World, definitions, error_of, told


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def test_the_first_write_makes_a_graph_and_without_a_name_the_default_one(client: Client) -> None:
    assert (await call(client, "list_graphs"))["graphs"] == []
    assert (await call(client, "add_node", label="A"))["created"] is True
    (graph,) = (await call(client, "list_graphs"))["graphs"]
    assert (graph["name"], graph["node_count"], graph["edge_count"]) == ("default", 1, 0)


async def test_reading_an_unknown_graph_makes_none_and_lists_those_there_are(client: Client) -> None:
    await call(client, "add_node", label="A", graph="codebase")
    for tool, arguments in (
        ("get_graph_info", {}),
        ("compare_graphs", {"other": "codebase"}),
        ("find_node", {"query": "A"}),
        ("list_nodes", {}),
        ("find_edges", {}),
        ("get_neighbors", {"node": "A"}),
        ("subgraph", {"nodes": ["A"]}),
        ("remove_node", {"label": "A"}),
        ("remove_edge", {"source": "A", "target": "A"}),
    ):
        message = error_of(await client.call_tool(tool, {**arguments, "graph": "codebsae"}))
        assert "'codebase'" in message, tool
    assert [one["name"] for one in (await call(client, "list_graphs"))["graphs"]] == ["codebase"]


async def test_a_write_that_adds_nothing_leaves_no_graph(client: Client) -> None:
    arguments = {"source": "A", "target": "B", "relation": "r"}
    assert (await client.call_tool("add_edge", arguments)).is_error
    assert (await call(client, "add_nodes", nodes=[{"label": " "}]))["failed_total"] is None
    assert (await call(client, "list_graphs"))["total"] == 0


async def test_names_of_graphs_are_trimmed_texts_of_one_line(client: Client) -> None:
    for name in ("a\nb", "x" * 101, "a\u202eb"):
        assert "name of 1 to 100 characters" in error_of(
            await client.call_tool("add_node", {"label": "A", "graph": name})
        )
    for name in (" my graph ", "My graph", "é" * 100):
        await call(client, "add_node", label="A", graph=name)
    names = {one["name"] for one in (await call(client, "list_graphs"))["graphs"]}
    assert names == {"my graph", "My graph", "é" * 100}


async def test_graphs_are_listed_last_used_first_with_their_times(client: Client, world: World) -> None:
    await build_f6(client)
    world.clock.advance(seconds=60)
    await call(client, "add_node", label="A", graph="research")
    world.clock.advance(seconds=60)
    listed = (await call(client, "list_graphs"))["graphs"]
    assert [(one["name"], one["node_count"], one["edge_count"]) for one in listed] == [
        ("research", 1, 0),
        ("default", 4, 3),
    ]
    assert listed[1]["created_at"] == "2026-03-01T12:00:00+00:00"
    await call(client, "find_node", query="AuthService")
    assert [one["name"] for one in (await call(client, "list_graphs"))["graphs"]] == ["default", "research"]
    default = (await call(client, "list_graphs"))["graphs"][0]
    assert default["last_accessed"] == "2026-03-01T12:02:00+00:00"
    assert default["expires_at"] == "2026-03-01T14:02:00+00:00"


async def test_a_graph_goes_once_nobody_has_used_it_for_two_hours(client: Client, world: World) -> None:
    await build_f6(client)
    world.clock.advance(seconds=timedelta(hours=1, minutes=59).total_seconds())
    assert (await call(client, "get_graph_info"))["node_count"] == 4
    world.clock.advance(seconds=timedelta(hours=1, minutes=59).total_seconds())
    assert (await call(client, "list_graphs"))["total"] == 1
    world.clock.advance(seconds=timedelta(minutes=2).total_seconds())
    assert (await call(client, "list_graphs"))["graphs"] == []
    assert "not used for 2:00:00 expires" in error_of(await client.call_tool("list_nodes", {}))


async def test_zero_hours_keep_a_graph_for_ever() -> None:
    world = World(EVERYTHING.model_copy(update={"scratch_idle_hours": 0}))
    async with world.connect() as client:
        await call(client, "add_node", label="A")
        world.clock.advance(days=400)
        (graph,) = (await call(client, "list_graphs"))["graphs"]
        assert graph["expires_at"] is None


async def test_deleting_tells_what_went_and_of_an_unknown_name_what_there_is(client: Client) -> None:
    await build_f6(client)
    await call(client, "add_node", label="A", graph="other")
    answer = await call(client, "delete_graph")
    assert answer["success"] is True
    assert (answer["graph"], answer["nodes_deleted"], answer["edges_deleted"]) == ("default", 4, 3)
    again = await call(client, "delete_graph")
    assert again["success"] is False
    assert again["reason"]
    assert again["existing"] == ["other"]
    (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "delete_graph"]
    assert tool.annotations is not None
    assert tool.annotations.destructive_hint is True


async def test_a_graph_in_figures(client: Client) -> None:
    await build_f6(client)
    info = await call(client, "get_graph_info")
    expected = {
        "name": "default",
        "node_count": 4,
        "edge_count": 3,
        "is_directed": True,
        "density": 0.25,
        "is_connected": True,
        "is_dag": True,
        "node_types": {"controller": 1, "service": 1, "repository": 1, "database": 1},
        "relation_types": {"calls": 1, "queries": 1, "connects": 1},
    }
    assert {key: info[key] for key in expected} == expected
    await call(client, "add_node", label="Loner")
    info = await call(client, "get_graph_info")
    assert (info["node_types"]["untyped"], info["is_connected"]) == (1, False)
    await call(client, "remove_node", label="Loner")
    for node in F6_NODES:
        await call(client, "remove_node", label=node["label"])
    info = await call(client, "get_graph_info")
    assert (info["node_count"], info["density"], info["is_connected"], info["is_dag"]) == (0, 0, False, True)


async def test_an_edge_to_itself_is_kept_and_is_a_cycle(client: Client) -> None:
    await call(client, "add_edge", source="A", target="A", relation="calls", create_missing=True)
    info = await call(client, "get_graph_info")
    assert (info["edge_count"], info["is_dag"], info["density"]) == (1, False, 0)


async def test_every_tool_but_the_list_takes_a_graph_that_may_be_left_out() -> None:
    settings = EVERYTHING.model_copy(update={"toolsets": ("reasoning",)})
    tools = [tool for tool in await definitions(settings) if tool.name not in {"list_graphs", "open_graph"}]
    assert len(tools) >= 27
    for tool in tools:
        graph = tool.input_schema["properties"]["graph"]
        assert (graph["type"], graph["default"]) == ("string", "default"), tool.name
        assert "graph" not in tool.input_schema.get("required", [])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_graphs_are_found_after_a_reconnect_and_by_nobody_else(mode: Mode, doors: Doors) -> None:
    anna, ben = doors.add("anna"), doors.add("ben")
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets, "writes_per_minute": 100})
    world = a_world(doors)
    async with served(doors.settings, world.start) as url:
        async with connected(f"{url}/mcp", mode, **anna) as client:
            await build_f6(client)
        async with connected(f"{url}/mcp", mode, **ben) as client:
            assert (await call(client, "list_graphs"))["graphs"] == []
            message = error_of(await client.call_tool("get_neighbors", {"node": "AuthService"}))
            assert "There are: none" in message
            assert (await call(client, "delete_graph"))["success"] is False
        async with connected(f"{url}/mcp", mode, **anna) as client:
            assert (await call(client, "get_graph_info"))["node_count"] == 4


async def test_beyond_a_limit_nothing_is_added_and_the_limit_is_named() -> None:
    limits = {"scratch_nodes": 5, "scratch_edges": 3, "scratch_graphs": 2}
    world = World(EVERYTHING.model_copy(update=limits))
    async with world.connect() as client:
        await build_f6(client)
        nodes = [{"label": "E"}, {"label": "F"}]
        assert "at most 5 nodes" in error_of(await client.call_tool("add_nodes", {"nodes": nodes}))
        edges = [{"source": "PostgresDB", "target": "AuthService", "relation": "feeds"}]
        assert "at most 3 edges" in error_of(await client.call_tool("add_edges", {"edges": edges}))
        info = await call(client, "get_graph_info")
        assert (info["node_count"], info["edge_count"]) == (4, 3)
        await call(client, "add_node", label="A", graph="second")
        message = error_of(await client.call_tool("add_node", {"label": "A", "graph": "third"}))
        assert "scratch_graphs" in message
        assert "'second'" in message


async def test_the_text_of_an_empty_list_says_so(client: Client) -> None:
    assert "no scratch graphs" in told(await client.call_tool("list_graphs", {}))["message"]


async def test_a_server_that_starts_again_has_no_graphs() -> None:
    world = World(EVERYTHING)
    async with world.connect() as client:
        await build_f6(client)
    async with world.connect() as client:
        assert (await call(client, "list_graphs"))["graphs"] == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_toolset_is_off_by_default(mode: Mode) -> None:
    async with World().connect(mode) as client:
        assert "list_graphs" not in {tool.name for tool in (await client.list_tools()).tools}
        assert "cratch" not in (client.instructions or "")
