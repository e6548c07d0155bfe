"""DOT as people and models write it."""

import pytest

from graphiti_pkm.capabilities.scratch.formats.registry import parse
from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.scratch_limits import ScratchLimits


def read(text: str, limits: ScratchLimits | None = None) -> Content:
    return parse(text, "dot", limits or ScratchLimits())


def edges(content: Content) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.target, edge.relation) for edge in content.edges]


def labels(content: Content) -> list[str]:
    return [node.label for node in content.nodes]


def test_edges_without_a_label_get_the_default_relation() -> None:
    said = read("digraph { api -> auth; api -> users; auth -> database; users -> database; }")
    assert labels(said) == ["api", "auth", "users", "database"]
    assert edges(said) == [
        ("api", "auth", "related_to"),
        ("api", "users", "related_to"),
        ("auth", "database", "related_to"),
        ("users", "database", "related_to"),
    ]
    assert said.warnings == ()


def test_the_label_of_an_edge_is_its_relation_without_quotes() -> None:
    said = read('digraph G { AuthController -> AuthService [label="calls"]; }')
    assert edges(said) == [("AuthController", "AuthService", "calls")]


def test_nodes_in_subgraphs_stay_quotes_go_and_ports_make_no_nodes() -> None:
    said = read(
        """strict digraph "my graph" {
             rankdir=LR; node [shape=box, type=service]; edge [label=calls]
             subgraph cluster_back { label="Back end"; "auth service":f0:ne -> users:w }
             { a } [color=red]; { a; b } -> { c d } -> e [weight=2.5 color="red"];
             edge [label=""]; e -> "auth service";
           }"""
    )
    assert labels(said) == ["auth service", "users", "a", "b", "c", "d", "e"]
    assert {node.type for node in said.nodes} == {"service"}
    assert [node.properties for node in said.nodes[:3]] == [{"cluster": "Back end"}, {"cluster": "Back end"}, {}]
    assert edges(said) == [
        ("auth service", "users", "calls"),
        *[(one, other, "calls") for one, other in (("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"))],
        ("c", "e", "calls"),
        ("d", "e", "calls"),
        ("e", "auth service", "related_to"),
    ]
    assert said.edges[1].properties == {"weight": 2.5}  # a colour is a matter of drawing


def test_a_node_is_called_by_its_label_unless_others_are_called_so_too() -> None:
    said = read(
        'digraph { n1 [label="Auth\\nService"]; n1 -> n2; a [label=x]; b [label=x]; c [label=n2]; d [label="\\N"] }'
    )
    assert labels(said) == ["Auth Service", "n2", "a", "b", "c", "d"]
    assert edges(said) == [("Auth Service", "n2", "related_to")]
    assert [node.properties.get("label") for node in said.nodes] == [None, None, "x", "x", "n2", None]
    assert said.warnings == ("Several nodes have the same label; they are known by their ids.",)


def test_names_of_every_kind() -> None:
    said = read(
        'digraph { "say \\"hi\\"" -> "long" + " name" -> -1.5 -> <<b>bold</b> &amp; more>; é_1 -> "C++"\n'
        "# a line of the preprocessor\n c; # as in a shell\n // to the end\n /* over\n lines */"
        '"back\\\\slash" -> "two\\\nlines" }'
    )
    assert labels(said) == [
        'say "hi"', "long name", "-1.5", "bold & more", "é_1", "C++", "c", "back\\slash", "twolines"
    ]  # fmt: skip


@pytest.mark.parametrize("shape", ["record", "Mrecord"])
def test_the_fields_of_a_record_are_no_label(shape: str) -> None:
    assert labels(read(f'digraph {{ node [shape={shape}]; a [label="<f0> one|two"]; a:f0 -> b }}')) == ["a", "b"]


def test_an_edge_without_direction_is_stored_once_with_a_warning() -> None:
    said = read("graph { a -- b; b -- a; b -- c [label=knows]; c -- b [label=knows] }")
    assert edges(said) == [("a", "b", "related_to"), ("b", "c", "knows")]
    assert len(said.warnings) == 1
    assert "no direction" in said.warnings[0]


@pytest.mark.parametrize(
    ("text", "line", "said", "near"),
    [
        ("digraph {\n a -> \n}", 3, "a node or a subgraph is expected", "}"),
        ("digraph {\n auth-service -> b }", 2, "a name with - needs quotes", "auth-service"),
        ("digraph {\n node-1 -> b }", 2, "node is a keyword", "-1"),
        ("digraph {\n auth-1 -> b }", 2, "needs quotes", "auth-1"),
        ("digraph {\n 2fast -> b }", 2, "needs quotes", "2fast"),
        ('digraph {\n a -> "b }', 2, "never closed", '"b }'),
        ("digraph {\n a -- b }", 2, "-> in a digraph", "b }"),
        ("graph {\n\n a -> b }", 3, "-- in a graph", "b }"),
        ("digraph { a [label=<b> }", 1, "a name is expected", "}"),
        ("digraph { a [x=<b }", 1, "opened with <", "<b }"),
        ("digraph { a ", 1, "a } is missing", ""),
        ("digraph { a /* ", 1, "a comment is opened", "/*"),
        ("digraph { a } digraph { b }", 1, "a text may contain only one graph", "digraph { b }"),
        ('digraph {\n "" -> b }', 2, "a label is empty", ""),
        ("digraph { a [color=#ff0000] }", 1, "a name is expected", ""),
        ("nodes: a, b", 1, "begins with digraph", "nodes"),
        ("", 1, "begins with digraph", ""),
        ('digraph { a [x="b" + c] }', 1, "another quoted text is expected", "c]"),
        ("digraph {" + "{" * 60 + "}" * 60 + "}", 1, "nested more than 50 deep", "{"),
        (f'digraph {{ "{"x" * 501}" }}', 1, "longer than 500", "xxx"),
    ],
)
def test_an_error_names_the_line_and_a_piece_of_it(text: str, line: int, said: str, near: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text)
    assert refused.value.message.startswith(f"Line {line}: ")
    assert said in refused.value.message
    assert near in refused.value.message
    assert len(refused.value.message) < 300


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("digraph { a -> b -> c -> d }", "3 nodes"),
        ("digraph { {a b} -> {b c} }", "2 edges"),
        ("digraph { a -> b; b -> c; c -> a }", "2 edges"),
    ],
)
def test_what_a_graph_would_not_take_is_refused(text: str, most: str) -> None:
    with pytest.raises(InvalidInput, match=f"more than {most}"):
        read(text, ScratchLimits(nodes=3, edges=2))


def test_few_words_that_would_make_millions_of_values_are_refused() -> None:
    defaults = ", ".join(f"k{number}=v" for number in range(500))
    many = " ".join(f"n{number}" for number in range(5_000))
    with pytest.raises(InvalidInput, match="values of properties"):
        read(f"digraph {{ node [{defaults}]; {many} }}")
    hub = f'digraph {{ {{ {many} }} -> {{ a b c d }} [note="{"x" * 9_000}"] }}'
    with pytest.raises(InvalidInput, match="characters of properties"):
        read(hub)
