"""Pictures of scratch graphs: their addresses, what they show, and what a client reads there."""

import json
from base64 import b64decode
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import BlobResourceContents, TextResourceContents
from tests.protocol.support import EVERYTHING, World, answered, error_of, told

CHAIN = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("a", "d"), ("c", "b")]


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def draw(client: Client, edges: list[tuple[str, ...]], graph: str = "default") -> None:
    items = [dict(zip(("source", "target", "relation"), (*edge, "imports"), strict=False)) for edge in edges]
    answered(await client.call_tool("add_edges", {"graph": graph, "edges": items, "create_missing": True}))


async def export(client: Client, **asked: Any) -> dict[str, Any]:
    return answered(await client.call_tool("export_graph", asked))


async def read(client: Client, address: str) -> str:
    (content,) = (await client.read_resource(address)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "image/svg+xml"
    return content.text


async def edges_of(client: Client, **asked: Any) -> set[tuple[str, str]]:
    found = json.loads((await export(client, format="json", **asked))["content"])
    return {(edge["source"], edge["target"]) for edge in found["edges"]}


async def test_a_picture_is_an_address_with_its_size(client: Client) -> None:
    await draw(client, CHAIN)
    result = await client.call_tool("export_graph", {"format": "svg"})
    found = answered(result)
    assert (found["content"], found["picture"]) == (None, "pkm://scratch/default.svg")
    assert len(str(told(result))) < 600
    (tool,) = [one for one in (await client.list_tools()).tools if one.name == "export_graph"]
    assert "max_chars" not in {*tool.input_schema["properties"], *found["message"].replace("=", " ").split()}
    svg = await read(client, found["picture"])
    assert svg.startswith(
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{found['width']}' height='{found['height']}'"
    )
    assert len(svg.encode()) == found["bytes"]
    assert all(f">{label}</text>" in svg for label in "abcd")
    assert (await export(client, format="svg", max_chars=20_000))["content"] == svg
    await draw(client, [("d", "e")])
    assert ">e</text>" in await read(client, found["picture"])  # of the graph as it is


async def test_a_png_is_of_the_same_picture(client: Client) -> None:
    await draw(client, CHAIN)
    found = await export(client, format="svg", rank=2)
    assert found["png"] == found["picture"].replace(".svg", ".png") == "pkm://scratch/default.png?rank=2"
    (content,) = (await client.read_resource(found["png"])).contents
    assert isinstance(content, BlobResourceContents)
    assert content.mime_type == "image/png"
    png = b64decode(content.blob)
    assert png[:4] == b"\x89PNG"
    assert int.from_bytes(png[16:20]) == 2 * found["width"]


async def test_an_address_holds_the_name_and_all_that_was_asked_for(client: Client) -> None:
    name, odd = "Before/after: 50% & more?", 'x, "y" & z/..'
    await draw(client, [*CHAIN, (odd, "a", "is part of"), ("b", odd, "imports")], name)
    asked = {"graph": name, "nodes": [odd, "b"], "hops": 1, "relation": "imports", "rank": 3, "reduce": True}
    found = await export(client, format="svg", **asked)
    assert found["picture"].startswith("pkm://scratch/Before%2Fafter%3A%2050%25%20%26%20more%3F.svg?nodes=")
    svg = await read(client, found["picture"])
    assert svg == (await export(client, format="svg", max_chars=20_000, **asked))["content"]
    assert (found["node_count"], svg.count("<rect")) == (3, 3)
    short = await read(client, "pkm://scratch/Before%2Fafter%3A%2050%25%20%26%20more%3F.svg?nodes=b&hops=1")
    assert ">c</text>" in short


async def test_neighbours_are_shown_on_request(client: Client) -> None:
    await draw(client, [("a", "b"), ("b", "c"), ("d", "c"), ("c", "e", "tests")])
    assert await edges_of(client, nodes=["b"]) == set()
    assert await edges_of(client, nodes=["b"], hops=1) == {("a", "b"), ("b", "c")}
    assert await edges_of(client, nodes=["B"], hops=2, relation="imports") == {("a", "b"), ("b", "c"), ("d", "c")}
    message = error_of(await client.call_tool("export_graph", {"hops": 1}))
    assert "hops goes with nodes" in message


async def test_the_highest_nodes_are_shown_on_request_and_the_named_ones_stay(client: Client) -> None:
    await draw(client, [*((f"n{number}", "hub") for number in range(9)), ("hub", "core")])
    found = await export(client, rank=2)
    assert (found["node_count"], found["edge_count"], found["warnings"]) == (
        *(2, 1),
        ["Left out: 9 nodes of lower PageRank."],
    )
    assert await edges_of(client, rank=2) == {("hub", "core")}
    assert await edges_of(client, rank=3, nodes=["n4"], hops=9) == {("n4", "hub"), ("hub", "core")}
    assert (await export(client, rank=50))["warnings"] == []


async def test_a_reduced_picture_leaves_the_graph_as_it_is(client: Client) -> None:
    await draw(client, [*CHAIN, ("a", "d", "tests")])
    found = await export(client, format="svg", reduce=True)
    assert found["warnings"] == ["Left out: 1 edge implied by longer paths of the same relation."]
    assert await edges_of(client, reduce=True, relation="imports") == {*CHAIN} - {("a", "d")}  # b and c are a cycle
    assert ("a", "d") in await edges_of(client, reduce=True)  # no longer path of tests
    assert await edges_of(client) == {*CHAIN}


async def test_an_address_that_would_be_too_long_says_what_helps(client: Client) -> None:
    labels = [f"{number:03} " + "x" * 100 for number in range(60)]
    await draw(client, [(one, "hub") for one in labels])
    message = error_of(await client.call_tool("export_graph", {"format": "svg", "nodes": labels}))
    assert "4,000 are the most" in message
    assert "hops" in message
    assert "max_chars" not in message  # which the definition of the tool does not name
    assert (await export(client, format="svg", nodes=labels, max_chars=100_000))["node_count"] == 60


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("pkm://scratch/nowhere.svg", "There is no scratch graph 'nowhere'"),
        ("pkm://scratch/default.svg?relation=cites", "has the relation 'cites'"),
        ("pkm://scratch/default.svg?nodes=nobody", "nobody"),
        ("pkm://scratch/default.svg?rank=0", "rank must be"),
        ("pkm://scratch/a%0Ab.svg", "graph must be a name"),
        ("pkm://scratch/default.gif", "Unknown resource"),
    ],
)
async def test_an_address_that_shows_nothing_says_why(client: Client, address: str, said: str) -> None:
    await draw(client, CHAIN)
    with pytest.raises(MCPError, match=said):
        await client.read_resource(address)


async def test_what_answers_addresses_is_no_tool(client: Client) -> None:
    result = await client.call_tool("draw_graph", {"format": "svg"})
    assert "There is no such tool" in error_of(result)
    assert "draw_graph" not in {tool.name for tool in (await client.list_tools()).tools}
    templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
    assert "pkm://scratch/{graph}.svg{?nodes,hops,relation,rank,reduce}" in templates


async def test_a_picture_of_too_many_crossing_edges_says_what_would_show_less(client: Client) -> None:
    order = [(f"m{one:02}", f"m{other:02}") for one in range(16) for other in range(one)]
    await draw(client, order)
    reduced = "reduce=true leaves out 105 that longer paths imply"
    ranked = "rank=8 draws the nodes of the highest PageRank"
    around = "nodes with hops=1 draws what is around one"
    for asked, ways in (({}, [reduced, ranked, around]), ({"nodes": ["m00"], "hops": 1}, [reduced, ranked])):
        (said,) = (await export(client, format="svg", **asked))["warnings"]
        assert said == f"120 edges among 16 nodes cross one another. To see more in less: {'; '.join(ways)}."
    assert (await export(client, format="dot"))["warnings"] == []
    assert (await export(client, format="svg", reduce=True))["warnings"] == [
        "Left out: 105 edges implied by longer paths of the same relation."
    ]
    await draw(client, [(other, one) for one, other in order])
    (said,) = (await export(client, format="svg"))["warnings"]
    assert said.endswith(f"in less: {ranked}; {around}.")  # edges of a cycle imply nothing
