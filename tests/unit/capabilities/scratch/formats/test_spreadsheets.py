"""Lists of edges as spreadsheets and other programs write them, and what such a list leaves out."""

import pytest

from graphiti_pkm.capabilities.scratch.formats.registry import WriteFormat, left_out, parse, write
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.scratch_limits import ScratchLimits


def read(text: str) -> Content:
    return parse(text, "csv", ScratchLimits())


def edges(content: Content) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.target, edge.relation) for edge in content.edges]


@pytest.mark.parametrize(
    "text",
    [
        "source;target;relation;;\napi;auth;calls;;\nauth;db;reads;;\n",
        "source,target,relation,,\napi,auth,calls\nauth,db,reads, ,,,\n",
        "sep=;\nsource;target;relation\napi;auth;calls\nauth;db;reads\n",
        '\ufeff"sep=;"\r\nsource;target;relation\r\napi;auth;calls\r\nauth;db;reads\r\n',
        "sep=\t\nsource\ttarget\trelation\napi\tauth\tcalls\nauth\tdb\treads\n",
        "From,To,Relation\napi,auth,calls\nauth,db,reads\n",
        "to,relation,from\nauth,calls,api\ndb,reads,auth\n",
    ],
)
def test_what_spreadsheets_add(text: str) -> None:
    said = read(text)
    assert edges(said) == [("api", "auth", "calls"), ("auth", "db", "reads")]
    assert all(not edge.properties for edge in said.edges)
    assert said.warnings == ()


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("source,target,\na,b,c\n", 2, "there are 3 columns, and the header has 2"),
        ("sep=;\nsource;target\na;\n", 3, "the row has no target"),
        ("source,,target\na,,b\n", 1, "a column has no name"),
        ("source,from\na,b\n", 1, "no column target"),
    ],
)
def test_an_error_names_the_line(text: str, line: int, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text)
    assert refused.value.message.startswith(f"Line {line}: ")
    assert said in refused.value.message


def test_what_gephi_writes() -> None:
    head = "Source,Target,Type,Id,Label,timeset,Weight\n"
    said = read(head + "1,2,Directed,0,knows,,1.0\n2,3,Directed,1,,,2.5\n")
    assert edges(said) == [("1", "2", "knows"), ("2", "3", "related_to")]
    assert [dict(edge.properties) for edge in said.edges] == [{"Id": 0, "weight": 1.0}, {"Id": 1, "weight": 2.5}]
    assert said.warnings == ()
    said = read(head + "a,b,Undirected,0,,,1\nb,a,undirected,1,,,1\na,b,Directed,2,x,,1\n")
    assert edges(said) == [("a", "b", "related_to"), ("a", "b", "x")]
    assert "no direction" in said.warnings[0]


def test_what_stands_for_the_relation_where_no_column_is_called_so() -> None:
    assert edges(read("source,target,type\na,b,calls\nc,d,\n")) == [("a", "b", "calls"), ("c", "d", "related_to")]
    said = read("source,target,type,label\na,b,import,uses\n")
    assert edges(said) == [("a", "b", "uses")]
    assert said.edges[0].properties == {"type": "import"}
    said = read("source,target,relation,type,label,Weight\na,b,,Undirected,x,2\n")  # as we write properties
    assert said.edges == (ScratchEdge("a", "b", "related_to", {"type": "Undirected", "label": "x", "Weight": 2}),)
    assert said.warnings == ()


def test_a_header_alone_is_told() -> None:
    assert read("source,target,relation\n").warnings == ("The table has a header and no rows; nothing was in it.",)


def lost_in(content: Content, text_format: WriteFormat) -> list[str]:
    return left_out(content, write(content, text_format), text_format)


def test_what_a_table_leaves_out_is_told() -> None:
    nodes = (ScratchNode("a", "class"), ScratchNode("b", None, {"x": 1}), ScratchNode("c"), ScratchNode("d"))
    content = Content(nodes, (ScratchEdge("a", "b", "is"),))
    whole = "json and graphml hold everything."
    lost = (
        f"2 nodes without edges are not in the table, nor are types (1 node) and properties of nodes (1 node); {whole}"
    )
    assert lost_in(content, "csv") == lost_in(content, "tsv") == [lost]
    assert lost_in(Content(nodes[2:3], (ScratchEdge("c", "c", "is"),)), "csv") == []
    assert lost_in(content, "json") == []
    assert write(Content(nodes[2:]), "csv") == "source,target,relation\n"
    assert lost_in(Content(nodes[2:3]), "csv") == [
        "1 node without edges is not in the table; json and graphml hold everything."
    ]
    only_types = Content(nodes[:1], (ScratchEdge("a", "a", "is"),))
    assert lost_in(only_types, "csv") == ["Types (1 node) are not in the table; json and graphml hold everything."]
