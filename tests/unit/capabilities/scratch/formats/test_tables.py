"""Lists of edges as CSV and TSV."""

import pytest

from graphiti_pkm.capabilities.scratch.formats.registry import ReadFormat, parse, write
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.settings.scratch_limits import ScratchLimits


def read(text: str, text_format: ReadFormat = "csv") -> Content:
    return parse(text, text_format, ScratchLimits())


def edges(content: Content) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.target, edge.relation) for edge in content.edges]


@pytest.mark.parametrize("text_format", ["csv", "tsv"])
@pytest.mark.parametrize(
    "text",
    [
        "source,target,relation\napi,auth,calls\nauth,database,queries\napi,users,calls\n",
        "source\ttarget\trelation\napi\tauth\tcalls\nauth\tdatabase\tqueries\napi\tusers\tcalls\n",
        "\ufeffSource;Target;Relation\r\napi;auth;calls\r\n\r\nauth;database;queries\r\napi;users;calls\r\n",
        'relation,"source",target\r\n"calls",api ,auth\r\nqueries,auth,database\rcalls,api,users',
    ],
)
def test_a_list_of_edges_however_it_is_written(text: str, text_format: ReadFormat) -> None:
    said = read(text, text_format)
    assert len(said.nodes) == 4
    assert edges(said) == [("api", "auth", "calls"), ("auth", "database", "queries"), ("api", "users", "calls")]


def test_quotes_hold_commas_and_lines_and_further_columns_are_properties() -> None:
    said = read('source,target,relation,weight,note,zip\n"a, b","say ""hi""",,2.5,"two\nlines",007\nc,d,,,,\n')
    assert edges(said) == [("a, b", 'say "hi"', "related_to"), ("c", "d", "related_to")]
    assert said.edges[0].properties == {"weight": 2.5, "note": "two\nlines", "zip": "007"}
    assert said.edges[1].properties == {}


def test_a_list_without_relations_gets_the_default_one() -> None:
    assert edges(read("source,target\na,b")) == [("a", "b", "related_to")]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("origin,target\na,b", 1, "no column source"),
        ("\n\nsource,aim\na,b", 3, "no column target"),
        ("", 1, "no column source"),
        ("source,target\na,b\nc,\n", 3, "the row has no target"),
        ("source,target\na,b\n,d\n", 3, "the row has no source"),
        ("source,target\na,b,c\n", 2, "there are 3 columns"),
        ("source,target,x,x\na,b\n", 1, "the same name"),
        ('source,target\na,"b\nc,d\n', 3, "the quotes"),
        ('source,target\na,"b"c\n', 2, "the quotes"),
        (f"source,target\na,{'b' * 501}\n", 2, "longer than 500"),
        (f"source,target,{','.join(map(str, range(300)))}\n", 1, "302 columns"),
        (f"source,target\na,{'b' * 200_000}\n", 2, "the quotes"),
    ],
)
def test_an_error_names_the_line(text: str, line: int, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(text)
    assert refused.value.message.startswith(f"Line {line}: ")
    assert said in refused.value.message
    assert len(refused.value.message) < 300


def test_what_is_written_is_read_again() -> None:
    strange = {"source": "x", "property_a": 1, "weight": 2.5, "nested": {"a": [1]}, "is": True}
    content = Content(
        edges=(ScratchEdge("a, b", 'c"d', "is\ta"), ScratchEdge("ü", "a, b", "x", strange), ScratchEdge("a", "b", "y"))
    )
    for text_format in ("csv", "tsv"):
        said = read(write(content, text_format), text_format)
        assert edges(said) == edges(content)
        assert said.edges[1].properties == strange | {"nested": '{"a":[1]}', "is": "true"}


def test_properties_of_too_many_names_are_no_table() -> None:
    content = Content(edges=(ScratchEdge("a", "b", "x", {f"p{number}": 1 for number in range(300)}),))
    with pytest.raises(InvalidInput, match="format json"):
        write(content, "csv")
