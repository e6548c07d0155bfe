"""GraphML: safe to read, typed, and understood by NetworkX."""

import io

import networkx as nx
import pytest

from graphiti_pkm.capabilities.scratch.formats.registry import parse, write
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.scratch_limits import ScratchLimits


def read(text: str, limits: ScratchLimits | None = None) -> Content:
    return parse(text, "graphml", limits or ScratchLimits())


def document(inside: str, keys: str = "") -> str:
    return f'<?xml version="1.0"?>\n<graphml>{keys}<graph edgedefault="directed">\n{inside}\n</graph></graphml>'


BOMB = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<graphml><graph><node id="&b;"/></graph></graphml>"""
EXTERNAL = (
    """<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><graphml><graph><node id="&f;"/></graph></graphml>"""
)


def test_nothing_is_declared_resolved_or_fetched_and_nested_properties_are_written() -> None:
    for text in (BOMB, EXTERNAL, '<!DOCTYPE graphml SYSTEM "http://localhost/x.dtd"><graphml/>'):
        with pytest.raises(InvalidInput, match="document type and entity declarations are not supported"):
            read(text)
    content = Content(nodes=(ScratchNode("A", None, {"nested": {"a": [1, None]}, "none": None}),))
    assert read(write(content, "graphml")) == content


def test_networkx_reads_ours_and_we_read_networkx() -> None:
    content = Content(
        (ScratchNode("Auth & Co", "service", {"port": 80, "open": True, "load": 0.5}), ScratchNode("<B>")),
        (ScratchEdge("Auth & Co", "<B>", "calls", {"weight": 2}), ScratchEdge("Auth & Co", "<B>", "imports")),
    )
    graph = nx.read_graphml(io.BytesIO(write(content, "graphml").encode()), force_multigraph=True)
    assert graph.nodes["Auth & Co"] == {"type": "service", "port": 80, "open": True, "load": 0.5}
    assert [values["relation"] for _, _, values in graph.edges(data=True)] == ["calls", "imports"]
    assert read("\n".join(nx.generate_graphml(graph))) == content
    plain = nx.Graph([("x", "y"), ("y", "z")])
    plain.graph["node_default"] = {"kind": "letter"}
    said = read("\n".join(nx.generate_graphml(plain)))
    assert [(edge.source, edge.target) for edge in said.edges] == [("x", "y"), ("y", "z")]
    assert "no direction" in said.warnings[0]


def test_labels_of_other_programs_and_defaults_of_keys() -> None:
    keys = """<key id="n" for="node" attr.name="name" attr.type="string"/>
      <key id="t" for="node" attr.name="type" attr.type="string"><default>part</default></key>
      <key id="g" for="node" yfiles.type="nodegraphics"/><key id="e" for="edge" yfiles.type="edgegraphics"/>
      <key id="w" for="edge" attr.name="weight" attr.type="double"/>"""
    said = read(
        document(
            """<node id="n0"><data key="n">Auth</data></node>
            <node id="n1"><data key="g"><y:ShapeNode xmlns:y="u"><y:NodeLabel>User
              Repo</y:NodeLabel></y:ShapeNode></data><graph><node id="n1::n2"><port name="p"/></node></graph></node>
            <edge source="n0" target="n1"><data key="e"><y:EdgeLabel xmlns:y="u">calls</y:EdgeLabel></data></edge>
            <edge source="n1" target="n1::n2" directed="false"><data key="w"> 1.5 </data></edge>
            <hyperedge/>""",
            keys,
        )
    )
    assert [(node.label, node.type) for node in said.nodes] == [
        ("Auth", "part"),
        ("User Repo", "part"),
        ("n1::n2", "part"),
    ]
    assert [(edge.source, edge.target, edge.relation) for edge in said.edges] == [
        ("Auth", "User Repo", "calls"),
        ("User Repo", "n1::n2", "related_to"),
    ]
    assert said.edges[1].properties == {"weight": 1.5}
    assert all(not node.properties for node in said.nodes)
    assert len(said.warnings) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Line 1: this is not XML (no element found)"),
        ("<svg/>", "Line 1: this is not GraphML"),
        ("<graphml>\n<graph>", "Line 2: this is not XML"),
        (document("<node/>"), "Line 3: an element node has no id"),
        (document('<edge source="a"/>'), "Line 3: an element edge has no target"),
        (document('<node id="&nothing;"/>'), 'Line 3: this is not XML (undefined entity), near ‘<node id="&nothing;'),
        (document('<node id=" "/>'), "an element node has no id"),
        (document("<x>" * 200 + "</x>" * 200), "nested more than 100 deep"),
        (
            document(
                '<node id="a"><data key="k">x</data></node>', '<key id="k" for="node" attr.name="n" attr.type="int"/>'
            ),
            "Line 3: the data n is not of type int, near ‘x’",
        ),
        (
            document(
                '<node id="a"><data key="k">1e999</data></node>', '<key id="k" attr.name="n" attr.type="double"/>'
            ),
            "Line 3: the data n is not of type double",
        ),
        (
            document('<node id="a"><data key="p">[</data></node>', '<key id="p" for="node" attr.name="properties"/>'),
            "Line 3: the data properties must be a JSON object",
        ),
    ],
)
def test_an_error_names_the_line(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text)
    assert said in refused.value.message
    assert len(refused.value.message) < 300


def test_what_a_graph_would_not_take_is_refused() -> None:
    limits = ScratchLimits(nodes=3, edges=2)
    with pytest.raises(InvalidInput, match="more than 3 nodes"):
        read(document("".join(f'<node id="{number}"/>' for number in range(4))), limits)
    with pytest.raises(InvalidInput, match="more than 2 edges"):
        read(document('<edge source="a" target="b"/>' * 3), limits)
    keys = "".join(f'<key id="k{one}" attr.name="k{one}"><default>x</default></key>' for one in range(500))
    with pytest.raises(InvalidInput, match="values of properties"):
        read(document("".join(f'<node id="{number}"/>' for number in range(5_000)), keys))
