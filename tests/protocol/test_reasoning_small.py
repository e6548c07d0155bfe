"""Small courtesies of the tools over scratch graphs: what was made, how many came, what a bare text means."""

import pytest
from mcp.client import Client
from tests.protocol.scratch_support import F6_EDGES, build_f6, call
from tests.protocol.support import EVERYTHING, World, error_of

CSV = "source,target,relation\nA,B,calls\n"


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("add_node", {"label": "A"}),
        ("add_nodes", {"nodes": [{"label": "A"}]}),
        ("add_edge", {"source": "A", "target": "B", "relation": "calls", "create_missing": True}),
        ("add_edges", {"edges": F6_EDGES, "create_missing": True}),
        ("import_graph", {"format": "csv", "content": CSV}),
    ],
)
async def test_a_write_that_makes_a_graph_says_so_and_names_graphs_called_alike(
    client: Client, tool: str, arguments: dict[str, object]
) -> None:
    for graph in ("codebase", "Code Base"):
        await call(client, "add_node", label="A", graph=graph)
    first = await call(client, tool, **arguments, graph="code_base")
    assert (first["graph_created"], first["similar_graphs"]) == (True, ["Code Base", "codebase"])
    again = await call(client, tool, **arguments, graph="code_base")
    assert (again["graph_created"], again["similar_graphs"]) == (None, None)
    other = await call(client, tool, **arguments, graph="papers")
    assert (other["graph_created"], other["similar_graphs"]) == (True, None)


async def test_a_write_that_adds_nothing_made_no_graph(client: Client) -> None:
    assert (await call(client, "add_nodes", nodes=[{"label": ""}]))["graph_created"] is None
    assert (await call(client, "list_graphs"))["total"] == 0


async def test_bare_texts_are_labels(client: Client) -> None:
    assert (await call(client, "add_nodes", nodes=["Auth", {"label": "Mailer", "type": "service"}]))["added"] == 2
    assert (await call(client, "add_nodes", nodes='["Cache"]'))["added"] == 1
    listed = (await call(client, "list_nodes"))["nodes"]
    assert [(one["label"], one["type"]) for one in listed] == [("Auth", None), ("Mailer", "service"), ("Cache", None)]


async def test_too_many_items_are_counted(client: Client) -> None:
    many = [{"label": f"n{number}"} for number in range(501)]
    assert "nodes has 501 items, at most 500 are allowed" in error_of(
        await client.call_tool("add_nodes", {"nodes": many})
    )


async def test_a_name_that_does_not_do_is_blamed_on_its_parameter(client: Client) -> None:
    await build_f6(client)
    for tool in ("save_graph", "open_graph"):
        assert error_of(await client.call_tool(tool, {"name": "x" * 101})).startswith("name must be a name of 1 to"), (
            tool
        )
        assert error_of(await client.call_tool(tool, {"graph": "x" * 101})).startswith(
            "graph must be a name of 1 to"
        ), tool


async def test_only_labels_that_were_found_otherwise_are_told_as_matched(client: Client) -> None:
    await build_f6(client)
    edges = [{"source": "auth_service", "target": "POSTGRES DB", "relation": "a"}]
    edges.append({"source": "AuthServices", "target": "user repositories", "relation": "b"})
    assert len((await call(client, "add_edges", edges=edges[1:]))["failed"]) == 1
    edges[1]["source"] = "AuthService"
    answer = await call(client, "add_edges", edges=edges)
    assert answer["matched"] == [{"text": "user repositories", "matched": "UserRepository", "similarity": 1.0}]


async def test_an_unexpected_error_of_a_scratch_tool_names_where_to_look(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    await build_f6(client)
    monkeypatch.setattr("graphiti_pkm.capabilities.scratch.graphs.graph.ScratchGraph.apply", fail)
    message = error_of(await client.call_tool("add_node", {"label": "A"}))
    assert "look with list_graphs" in message
    assert "get_episodes" not in message


async def test_a_path_tells_the_relations_of_its_steps(client: Client) -> None:
    await build_f6(client)
    await call(client, "add_edge", source="AuthService", target="UserRepository", relation="owns")
    path = await call(client, "shortest_path", source="LoginController", target="UserRepository")
    assert path["relations"] == [["calls"], ["queries", "owns"]]
    only = await call(client, "shortest_path", source="LoginController", target="UserRepository", undirected=True)
    assert only["relations"] == path["relations"]
    back = await call(
        client, "shortest_path", source="UserRepository", target="AuthService", undirected=True, relation="OWNS"
    )
    assert back["relations"] == [["owns"]]
    assert (await call(client, "shortest_path", source="AuthService", target="AuthService"))["relations"] == []
    none = await call(client, "shortest_path", source="PostgresDB", target="AuthService")
    assert none["relations"] is None
