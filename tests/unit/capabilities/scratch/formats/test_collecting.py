"""Nodes of one text stay as many as they are, though a graph takes some of their labels for the same."""

import time

import pytest

from graphiti_pkm.capabilities.scratch.formats.registry import ReadFormat, parse, write
from graphiti_pkm.capabilities.scratch.graphs.graph import Applied, ScratchGraph
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.settings.scratch_limits import ScratchLimits

_JSON = (
    '{"nodes": [{"label": "Parser", "type": "class"}, {"label": "parser", "type": "module", "properties": {"k": 1}}],'
    '"edges": [{"source": "parser", "target": "Parser", "relation": "defines"}]}'
)
_GRAPHML = (
    '<graphml><graph edgedefault="directed"><node id="Graph"/><node id="graph"/>'
    '<edge source="Graph" target="graph"/></graph></graphml>'
)
_DOT = 'digraph { n3 [label="user id"]; n4 [label="user-id", type=column]; n3 -> n4 [label=is] }'
_CSV = "source,target\nInit,__init__\nfoo_bar,foobar\n"


def read(text: str, text_format: ReadFormat) -> Content:
    return parse(text, text_format, ScratchLimits())


@pytest.mark.parametrize(
    ("text_format", "text", "nodes", "edges"),
    [
        ("json", _JSON, ["Parser", "parser (module)"], [("parser (module)", "Parser", "defines")]),
        ("graphml", _GRAPHML, ["Graph", "graph (2)"], [("Graph", "graph (2)", "related_to")]),
        ("dot", _DOT, ["user id", "user-id (column)"], [("user id", "user-id (column)", "is")]),
        (
            "csv",
            _CSV,
            ["Init", "__init__ (2)", "foo_bar", "foobar (2)"],
            [("Init", "__init__ (2)", "related_to"), ("foo_bar", "foobar (2)", "related_to")],
        ),
    ],
)
def test_two_nodes_of_a_text_stay_two(
    text_format: ReadFormat, text: str, nodes: list[str], edges: list[tuple[str, str, str]]
) -> None:
    said, graph = read(text, text_format), ScratchGraph(ScratchLimits())
    assert graph.apply(said)[:2] == (len(nodes), len(edges))
    assert [node.label for node in graph.content().nodes] == nodes
    assert [(edge.source, edge.target, edge.relation) for edge in graph.content().edges] == edges
    assert [node.properties["label"] for node in said.nodes if "(" in node.label] == [
        label.partition(" (")[0] for label in nodes if "(" in label
    ]
    assert nodes[-1] in said.warnings[0]
    before = graph.content()
    assert graph.apply(read(text, text_format)) == Applied(0, 0)
    assert graph.content() == before
    copy = read(write(before, "json"), "json")
    assert (copy.nodes, copy.edges, copy.warnings) == (before.nodes, before.edges, ())


def test_a_name_that_tells_apart_is_nobody_elses() -> None:
    labels = ["a", "A", "a (2)", "_a", "A (module)"]
    said = read('{"nodes": [' + ",".join(f'{{"label": "{one}", "type": "module"}}' for one in labels) + "]}", "json")
    assert [node.label for node in said.nodes] == ["a", "A (3)", "a (2)", "_a (4)", "A (module)"]
    assert "2 nodes" in said.warnings[0]
    types = ["", "class", "class", "file"]
    texts = (f'{{"label": "{"_" * number}x", "type": "{kind}"}}' for number, kind in enumerate(types))
    said = read('{"nodes": [' + ",".join(texts) + "]}", "json")
    assert [node.label for node in said.nodes] == ["x", "_x (2)", "__x (3)", "___x (file)"]


def test_a_label_of_the_text_is_kept_beside_the_one_that_tells_apart() -> None:
    said = read(
        '{"nodes": [{"id": "n1", "label": "X"}, {"id": "N1", "label": "X"}, {"id": "y", "properties": {"label": "z"}},'
        '{"id": "Y", "properties": {"label": 3}}]}',
        "json",
    )
    assert [(node.label, dict(node.properties)) for node in said.nodes] == [
        ("n1", {"label": "X"}),
        ("N1 (2)", {"label": "X", "id": "N1"}),
        ("y", {"label": "z"}),
        ("Y (2)", {"label": 3, "id": "Y"}),
    ]


def test_an_end_that_nobody_lists_is_the_one_node_that_counts_as_the_same() -> None:
    said = read(
        '{"nodes": ["Auth Service"], "edges": [{"source": "auth_service", "target": "Db"},'
        '{"source": "Auth Service", "target": "Db"}]}',
        "json",
    )
    assert said.nodes == (ScratchNode("Auth Service"), ScratchNode("Db"))
    assert said.edges == (ScratchEdge("Auth Service", "Db", "related_to"),)
    assert len(said.warnings) == 1
    assert "‘auth_service’ for ‘Auth Service’" in said.warnings[0]
    said = read('{"nodes": ["A", "a"], "edges": [{"source": "_a", "target": "a"}]}', "json")
    assert said.edges == (ScratchEdge("_a (3)", "a (2)", "related_to"),)


@pytest.mark.timeout(20)
def test_thousands_that_look_alike_hold_nobody_up() -> None:
    began = time.thread_time()
    said = read("source,target\n" + "".join(f"{'-' * n}a,{'_' * n}a\n" for n in range(1, 490)), "csv")
    assert len({node.label for node in said.nodes}) == 978
    stem = "x" * 495
    texts = [f"{stem}{end}{number},{stem.upper()}{end}{number}" for end in "abc" for number in range(300)]
    said = read("source,target\n" + "\n".join(texts), "csv")
    assert len({node.label for node in said.nodes}) == 1_800
    assert max(len(node.label) for node in said.nodes) <= 500
    assert len(said.warnings[0]) < 800
    print(f"{time.thread_time() - began:.3f} s of CPU")  # noqa: T201
