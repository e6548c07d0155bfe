"""Texts into scratch graphs and out of them, as a client sees it."""

import json

import pytest
from mcp.client import Client
from tests.protocol.support import EVERYTHING, World, answered, error_of, told

F5 = "digraph { api -> auth; api -> users; auth -> database; users -> database; }"
F6 = {
    "nodes": [
        {"label": "LoginController", "type": "controller", "properties": {"path": "/login"}},
        {"label": "AuthService", "type": "service"},
        {"label": "UserRepository", "type": "repository"},
        {"label": "PostgresDB", "type": "database"},
    ],
    "edges": [
        {"source": "LoginController", "target": "AuthService", "relation": "calls", "properties": {"weight": 2}},
        {"source": "AuthService", "target": "UserRepository", "relation": "queries"},
        {"source": "UserRepository", "target": "PostgresDB", "relation": "connects"},
    ],
}


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def import_of(client: Client, text_format: str, content: str, graph: str = "default") -> dict[str, object]:
    arguments = {"graph": graph, "format": text_format, "content": content}
    return answered(await client.call_tool("import_graph", arguments))


async def export_of(client: Client, text_format: str, **arguments: object) -> str:
    return str(answered(await client.call_tool("export_graph", {"format": text_format, **arguments}))["content"])


async def graphs(client: Client) -> dict[str, tuple[int, int]]:
    listed = answered(await client.call_tool("list_graphs", {}))["graphs"]
    return {one["name"]: (one["node_count"], one["edge_count"]) for one in listed}


async def test_an_import_makes_a_graph_and_a_second_one_adds_nothing(client: Client) -> None:
    first = await import_of(client, "dot", F5)
    assert (first["nodes_added"], first["edges_added"]) == (4, 4)
    second = await import_of(client, "dot", F5)
    assert (second["nodes_added"], second["edges_added"]) == (0, 0)
    merged = await import_of(client, "csv", "source,target\ndatabase,disk\n")
    assert (merged["nodes_added"], merged["edges_added"], merged["node_count"], merged["edge_count"]) == (1, 1, 5, 5)
    assert await graphs(client) == {"default": (5, 5)}


async def test_the_label_of_an_edge_is_its_relation_or_related_to(client: Client) -> None:
    await import_of(client, "dot", 'digraph { AuthController -> AuthService [label="calls"]; AuthService -> Db }')
    assert await export_of(client, "csv") == (
        "source,target,relation\nAuthController,AuthService,calls\nAuthService,Db,related_to\n"
    )


@pytest.mark.parametrize(
    ("text_format", "content", "said"),
    [
        ("dot", "digraph {\n a -> b;\n c ->\n}", "Line 4: "),
        ("csv", "source,target\na,b\nc,\n", "Line 3: "),
        ("json", '{"edges": [{"source": "a", "target": "b"}, {"source": "c"}]}', "edges[1]: "),
        ("graphml", '<graphml><graph><node id="a"/>\n<node></graph></graphml>', "Line 2: "),
    ],
)
async def test_a_broken_text_leaves_the_graph_as_it_was(
    client: Client, capsys: pytest.CaptureFixture[str], text_format: str, content: str, said: str
) -> None:
    await import_of(client, "dot", F5)
    for graph in ("default", "new"):
        arguments = {"graph": graph, "format": text_format, "content": content}
        message = error_of(await client.call_tool("import_graph", arguments))
        assert said in message
        assert message.count("Nothing was stored") == 1
    assert await graphs(client) == {"default": (4, 4)}
    assert capsys.readouterr().out == ""


async def test_an_import_meets_nodes_exactly_or_normalised_and_never_by_meaning(client: Client) -> None:
    await import_of(client, "json", json.dumps(F6))
    said = await import_of(
        client, "dot", 'digraph { "auth service" -> AuthServices; user_repository -> "C++" -> "C#" }'
    )
    assert (said["nodes_added"], said["edges_added"]) == (3, 3)  # AuthServices, C++ and C#


async def test_nodes_of_a_text_that_look_alike_stay_apart_and_another_type_is_told(client: Client) -> None:
    nodes = [{"label": "Parser", "type": "class"}, {"label": "parser", "type": "module"}]
    text = json.dumps({"nodes": nodes, "edges": [{"source": "parser", "target": "Parser", "relation": "defines"}]})
    said = await import_of(client, "json", text)
    assert (said["nodes_added"], said["edges_added"]) == (2, 1)
    assert "‘parser’ is now ‘parser (module)’" in str(said["warnings"])
    again = await import_of(client, "json", text)
    assert (again["nodes_added"], again["edges_added"], again["warnings"]) == (0, 0, said["warnings"])
    told = await import_of(client, "json", json.dumps({"nodes": [{"label": "PARSER", "type": "package"}, nodes[0]]}))
    assert "‘Parser’ stays class" in str(told["warnings"])
    other = await import_of(client, "json", json.dumps({"nodes": [{"label": "parser", "type": "module"}]}))
    assert other["warnings"] == [
        "The graph had nodes of these labels with another type, which they keep: ‘Parser’ stays class, not module."
    ]


async def test_more_than_a_graph_takes_is_refused_whole(client: Client) -> None:
    await import_of(client, "dot", F5)
    many = "source,target\n" + "\n".join(f"n{number},m{number}" for number in range(4_999))
    message = error_of(await client.call_tool("import_graph", {"format": "csv", "content": many}))
    assert "at most 10,000 nodes" in message
    assert await graphs(client) == {"default": (4, 4)}
    arguments = {"format": "dot", "content": "digraph { " + "a;" * 500_000 + "}"}
    assert "at most 1,000,000 are allowed" in error_of(await client.call_tool("import_graph", arguments))


async def test_undirected_edges_are_stored_once_with_a_warning(client: Client) -> None:
    said = await import_of(client, "dot", "graph { a -- b; b -- a }")
    assert (said["edges_added"], len(list(said["warnings"]))) == (1, 1)  # type: ignore[call-overload]


@pytest.mark.parametrize("text_format", ["json", "graphml", "dot", "csv", "tsv"])
async def test_an_export_is_imported_again(client: Client, text_format: str) -> None:
    await import_of(client, "json", json.dumps(F6))
    content = await export_of(client, text_format)
    again = await import_of(client, text_format, content, "copy")
    assert (again["nodes_added"], again["edges_added"]) == (4, 3)
    exact = "json" if text_format in ("json", "graphml") else "csv"
    assert await export_of(client, exact, graph="copy") == await export_of(client, exact)
    assert json.loads(await export_of(client, "json")) == F6


async def test_one_export_imported_into_another_graph_merges_the_two(client: Client) -> None:
    await import_of(client, "dot", F5, "one")
    await import_of(client, "dot", "digraph { Auth -> mail [label=uses]; api -> Auth; db [type=store] }", "other")
    one = await export_of(client, "json", graph="one")
    said = await import_of(client, "json", one, "other")
    assert (said["nodes_added"], said["edges_added"], said["node_count"], said["edge_count"]) == (2, 3, 6, 5)
    assert await graphs(client) == {"other": (6, 5), "one": (4, 4)}


async def test_the_text_of_an_export_is_whole_and_too_much_is_an_error(client: Client) -> None:
    many = "source,target,relation\n" + "\n".join(f"node {n},node {n + 1},is followed by" for n in range(1_500))
    await import_of(client, "csv", many)
    message = error_of(await client.call_tool("export_graph", {"format": "csv"}))
    assert "Send max_chars=" in message
    assert "in nodes (with the edges among them)" in message
    assert "csv" not in message
    arguments = {"format": "csv", "max_chars": 100_000}
    result = await client.call_tool("export_graph", arguments)
    assert told(result) == {key: value for key, value in answered(result).items() if value not in ([], None)}
    assert str(told(result)["content"]).strip() == many
    arguments = {"format": "csv", "nodes": ["node 7", " NODE-8", "node 100"]}
    part = answered(await client.call_tool("export_graph", arguments))
    assert part["content"] == "source,target,relation\nnode 7,node 8,is followed by\n"
    assert part["matched"] == [{"text": "NODE-8", "matched": "node 8", "similarity": 1.0}]
    assert (part["node_count"], part["edge_count"]) == (3, 1)
    await import_of(client, "dot", F5, "small")
    assert "wholly different" in error_of(
        await client.call_tool("export_graph", {"format": "csv", "graph": "small", "nodes": ["wholly different"]})
    )
    assert "There is no scratch graph 'nowhere'" in error_of(
        await client.call_tool("export_graph", {"format": "csv", "graph": "nowhere"})
    )


async def test_more_than_is_ever_sent_says_what_helps(client: Client) -> None:
    nodes = [{"label": f"n{number}", "properties": {"x": "y" * 5_000}} for number in range(45)]
    await import_of(client, "json", json.dumps({"nodes": nodes}))
    message = error_of(await client.call_tool("export_graph", {"format": "json", "max_chars": 200_000}))
    assert "At most 200,000 are sent (max_chars=200000): name the nodes that matter in nodes" in message
    assert "csv is shorter" in message
    (left_out,) = answered(await client.call_tool("export_graph", {"format": "csv"}))["warnings"]
    assert left_out.startswith("45 nodes without edges are not in the table, nor are properties of nodes (45 nodes)")


async def test_pictures_for_people(client: Client) -> None:
    await import_of(client, "dot", F5)
    assert await export_of(client, "text") == (
        "api\n├─ related_to → auth\n│  └─ related_to → database\n└─ related_to → users\n   └─ related_to → database\n"
    )
    mermaid = await export_of(client, "mermaid")
    assert mermaid.startswith('flowchart LR\n  n0["api"]\n')
    assert '  n0 -->|"related_to"| n1\n' in mermaid
    assert "->" in await export_of(client, "dot")
    assert await export_of(client, "text") == str(answered(await client.call_tool("export_graph", {}))["content"])


async def test_an_export_may_be_that_of_one_relation(client: Client) -> None:
    steps = (("a", "b", "calls"), ("b", "c", "Calls"), ("c", "d", "tests"))
    edges = [{"source": one, "target": other, "relation": relation} for one, other, relation in steps]
    answered(await client.call_tool("add_edges", {"edges": edges, "create_missing": True}))
    part = answered(await client.call_tool("export_graph", {"format": "json", "relation": "CALLS"}))
    assert (part["node_count"], part["edge_count"]) == (3, 2)
    assert '"d"' not in part["content"]
    asked = {"format": "svg", "relation": "tests", "nodes": ["c", "d"], "max_chars": 20_000}
    assert ">every edge: tests<" in answered(await client.call_tool("export_graph", asked))["content"]
    wrong = await client.call_tool("export_graph", {"format": "json", "relation": "cites"})
    assert "No edge of this graph has the relation 'cites'" in error_of(wrong)
