"""What a text cannot hold is said with it, and a table of edges can have one of nodes beside it."""

import pytest

from graphiti_pkm.capabilities.scratch.formats.registry import WriteFormat, left_out, parse, write
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.errors import InvalidInput, TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

PLAIN = Content((ScratchNode("a"), ScratchNode("b")), (ScratchEdge("a", "b", "calls", {"weight": 2, "by": "log"}),))
RICH = Content(
    (ScratchNode("a", "service", {"on": True}), ScratchNode("b")),
    (ScratchEdge("a", "b", "calls", {"tags": ["x"], "sure": False, "code": "007", "none": None, "at": {"x": 1}}),),
)


def lost(content: Content, text_format: WriteFormat) -> str:
    return " ".join(left_out(content, write(content, text_format), text_format))


@pytest.mark.parametrize("text_format", ["json", "graphml", "dot", "csv", "tsv"])
def test_what_comes_back_whole_has_no_warning(text_format: WriteFormat) -> None:
    assert lost(PLAIN, text_format) == ""


@pytest.mark.parametrize("text_format", ["json", "graphml"])
def test_these_hold_everything(text_format: WriteFormat) -> None:
    assert lost(RICH, text_format) == ""


@pytest.mark.parametrize("text_format", ["csv", "tsv", "dot"])
def test_values_that_come_back_otherwise_are_counted_by_kind(text_format: WriteFormat) -> None:
    told = lost(RICH, text_format)
    for part in ("1 lists", "1 objects", "json and graphml hold everything"):
        assert part in told
    assert ("Types (1 node)" in told) is (text_format != "dot")
    assert ("1 booleans" in told) is (text_format != "dot")


@pytest.mark.parametrize("text_format", ["mermaid", "svg", "text"])
def test_pictures_hold_no_properties(text_format: WriteFormat) -> None:
    assert "Properties of 1 node and 1 edge are not in it" in lost(RICH, text_format)
    assert "Properties of 1 edge are not in it" in lost(PLAIN, text_format)


def test_nodes_without_edges_come_from_a_table_beside_the_edges() -> None:
    nodes = 'Label,type,size,note\napi,service,3,\nlone,,,"said, so"\n'
    said = parse("source,target\napi,db\n", "csv", ScratchLimits(), nodes)
    assert [(node.label, node.type, dict(node.properties)) for node in said.nodes] == [
        ("api", "service", {"size": 3}),
        ("lone", None, {"note": "said, so"}),
        ("db", None, {}),
    ]
    assert len(said.edges) == 1


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ("name,type\na,b\n", "no column label"),
        ("label,type\n,b\n", "no label"),
        ("label\na,b\n", "columns"),
        ("label,size,size\na,1,2\n", "same name"),
    ],
)
def test_a_table_of_nodes_that_is_none_is_refused(nodes: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse("source,target\napi,db\n", "csv", ScratchLimits(), nodes)


def test_only_a_table_has_its_nodes_apart_and_both_together_are_bounded() -> None:
    with pytest.raises(InvalidInput, match="csv or tsv"):
        parse("digraph { a -> b }", "dot", ScratchLimits(), "label\na\n")
    with pytest.raises(TooLarge, match="1 MB"):
        parse("source,target\n" + "a,b\n" * 100_000, "csv", ScratchLimits(), "label\n" + "abcdef\n" * 100_000)
