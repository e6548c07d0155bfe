"""JSON: our own shape and that of other programs."""

import json

import networkx as nx
import pytest

from graphiti_pkm.capabilities.scratch.formats.registry import parse
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.scratch_limits import ScratchLimits


def read(said: object, limits: ScratchLimits | None = None) -> Content:
    return parse(said if isinstance(said, str) else json.dumps(said), "json", limits or ScratchLimits())


def test_the_shape_of_the_document() -> None:
    said = read(
        {
            "nodes": [{"label": "A", "type": "service", "properties": {"a": None, "b": [1, {"c": "d"}]}}, "B"],
            "edges": [{"source": "A", "target": "C", "relation": "calls", "properties": {"weight": 2}}],
        }
    )
    assert said.nodes == (
        ScratchNode("A", "service", {"a": None, "b": [1, {"c": "d"}]}),
        ScratchNode("B"),
        ScratchNode("C"),  # named by an edge alone
    )
    assert said.edges == (ScratchEdge("A", "C", "calls", {"weight": 2}),)


def test_ids_of_other_programs_become_labels_where_nodes_have_none() -> None:
    said = read(
        {
            "nodes": [
                {"id": 1, "label": "Auth", "size": 3},
                {"id": 2},
                {"id": "x", "name": "2"},
                {"name": "N", "id": None},
            ],
            "links": [{"source": 1, "target": {"id": 2}}, {"from": "x", "to": "Auth", "label": "uses", "value": 1}],
        }
    )
    assert [(node.label, dict(node.properties)) for node in said.nodes] == [
        ("Auth", {"size": 3}),
        ("2", {}),
        ("x", {"label": "2"}),
        ("N", {}),
    ]
    assert [(edge.source, edge.target, edge.relation, dict(edge.properties)) for edge in said.edges] == [
        ("Auth", "2", "related_to", {}),
        ("x", "Auth", "uses", {"value": 1}),
    ]


def test_what_networkx_writes_is_read() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("A", type="service", port=80)
    graph.add_edge("A", "B", relation="calls", weight=2)
    graph.add_edge("A", "B", relation="imports")
    said = read(nx.node_link_data(graph, edges="edges"))
    assert said.nodes == (ScratchNode("A", "service", {"port": 80}), ScratchNode("B"))
    assert said.edges == (ScratchEdge("A", "B", "calls", {"weight": 2}), ScratchEdge("A", "B", "imports"))
    undirected = read(nx.node_link_data(nx.path_graph(3), edges="links"))
    assert [(edge.source, edge.target) for edge in undirected.edges] == [("0", "1"), ("1", "2")]
    assert "no direction" in undirected.warnings[0]


def test_links_by_number_as_d3_had_them() -> None:
    nodes = [{"name": "Myriel", "group": 1}, {"name": "Napoleon"}, {"name": "Valjean"}]
    links = [{"source": 0, "target": 1, "value": 1}, {"source": 2, "target": 0}, {"source": "Valjean", "target": 1}]
    said = read({"nodes": nodes, "links": links})
    assert [node.label for node in said.nodes] == ["Myriel", "Napoleon", "Valjean"]
    assert [(edge.source, edge.target) for edge in said.edges] == [
        ("Myriel", "Napoleon"),
        ("Valjean", "Myriel"),
        ("Valjean", "Napoleon"),
    ]
    assert "counted from 0" in said.warnings[0]
    for beyond in (3, -1):
        with pytest.raises(
            InvalidInput, match=rf"edges\[0\]\.target: {beyond} is neither a label nor the position of a node"
        ):
            read({"nodes": nodes, "links": [{"source": 0, "target": beyond}]})


@pytest.mark.parametrize(
    "nodes", [[], ["2", "x"], [{"label": "1"}, {"label": "2"}], [{"id": "a", "label": "x"}, {"id": 2}], [1, 2]]
)
def test_numbers_are_labels_or_ids_where_nodes_have_such(nodes: list[object]) -> None:
    said = read({"nodes": nodes, "edges": [{"source": 1, "target": 2}]})
    assert [(edge.source, edge.target) for edge in said.edges] == [("1", "2")]
    assert said.warnings == ()


def test_nodes_of_networkx_that_are_no_texts() -> None:
    said = read(nx.node_link_data(nx.grid_2d_graph(2, 2, create_using=nx.DiGraph), edges="edges"))
    assert [node.label for node in said.nodes] == ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"]
    assert ("[0, 0]", "[0, 1]") in [(edge.source, edge.target) for edge in said.edges]
    said = read({"nodes": [{"id": 1.5}, {"id": ["a", 2.0, None, True]}], "links": [{"source": 1.5, "target": 2.0}]})
    assert [node.label for node in said.nodes] == ["1.5", '["a", 2.0, null, true]', "2.0"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"nodes": [{"id": 1e999}]}', "nodes[0].id: it must be a text"),
        ('{"nodes": [{"id": [[1], [2]]}]}', "nodes[0].id: it must be a text, a number or a list of these"),
        ('{"edges": [{"source": [], "target": 1}]}', "edges[0].source: it must be a text"),
        ('{"edges": [{"source": [{"a": 1}], "target": 1}]}', "edges[0].source: it must be a text"),
        ('{"nodes": [\n{"label": "A"},\n]}', "Line 3: this is not JSON"),
        ("", "Line 1: this is not JSON"),
        ("[1]", "it must be an object"),
        ("{}", "neither nodes nor edges"),
        ('{"nodes": {"A": 1}}', "nodes: it must be a list"),
        ('{"nodes": ["A", {"type": "x"}]}', "nodes[1]: a node needs a label"),
        ('{"nodes": [{"label": ["A"]}]}', "nodes[0].label: it must be a text"),
        ('{"nodes": [{"label": "A", "properties": [1]}]}', "nodes[0].properties: it must be an object"),
        ('{"nodes": [{"label": "A", "type": 1}]}', "nodes[0]: a type must be a text"),
        ('{"nodes": [true]}', "nodes[0].label: it must be a text"),
        ('{"edges": [["A", "B"]]}', "edges[0]: an edge must be an object"),
        ('{"edges": [{"source": "A"}]}', "edges[0]: the edge has no target"),
        ('{"edges": [{"source": "A", "target": " "}]}', "edges[0]: a label is empty"),
        ('{"nodes": [{"label": "A", "x": NaN}]}', "NaN is not a JSON number"),
        ('{"nodes": [{"label": "A", "x": 1e999}]}', "a number that JSON cannot hold"),
        ('{"nodes": [{"label": "A", "x": ' + "9" * 5_000 + "}]}", "a number is too long"),
        ('{"nodes": [{"label": "A", "x": ' + "[" * 20 + "]" * 20 + "}]}", "nested more than 10 deep"),
        ("[" * 100_000, "nested too deep"),
        ('{"nodes": ["\\ud800"]}', "half a surrogate pair"),
        ('{"nodes": ["a\\u0000b"]}', "a NUL"),
        ('{"nodes": [{"label": "A", "x": ["a\\u0000b"]}]}', "a NUL"),
        ('{"nodes": [{"label": "A", "x": "' + "y" * 11_000 + '"}]}', "larger than 10,000 characters"),
        ('{"nodes": [{"label": "A", "a\\u0001b": 1}]}', "the name of a property"),
        ('{"nodes": [{"label": "A", "' + "y" * 101 + '": 1}]}', "the name of a property"),
    ],
)
def test_an_error_names_the_place(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text)
    assert said in refused.value.message
    assert "Nothing was stored" in refused.value.message
    assert len(refused.value.message) < 300


def test_a_text_that_speaks_of_escapes_holds_none() -> None:
    assert read({"nodes": [{"label": "A", "x": "\\u0000"}]}).nodes[0].properties == {"x": "\\u0000"}


def test_what_a_graph_would_not_take_is_refused() -> None:
    limits = ScratchLimits(nodes=3, edges=2)
    with pytest.raises(InvalidInput, match="more than 3 nodes"):
        read({"nodes": list("abcd")}, limits)
    with pytest.raises(InvalidInput, match="more than 2 edges"):
        read({"edges": [{"source": a, "target": b} for a, b in ("ab", "bc", "ca")]}, limits)
    with pytest.raises(InvalidInput, match="larger than 1 MB"):
        read('{"nodes": ["' + "ü" * 500_001 + '"]}')
