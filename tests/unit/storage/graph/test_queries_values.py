"""Parameters as Cypher text, and compact answers."""

import math
from array import array

import pytest

from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.falkordb.connection import FalkorRefused
from graphiti_pkm.storage.graph.queries.search import scope
from graphiti_pkm.storage.graph.queries.values import Query, digest, literal, rows


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (0.5, "0.5"),
        ('a"b\\c', '"a\\"b\\\\c"'),
        (["a", 1], '["a",1]'),
        ((), "[]"),
        ({"x y": None}, "{`x y`:null}"),
        (array("f", [0.5, -0.25]), "[0.500000,-0.250000]"),
        (array("f"), "[]"),
    ],
)
def test_values_are_written_as_cypher(value: object, text: str) -> None:
    assert literal(value) == text


@pytest.mark.parametrize(
    "value", ["\x00", "\ud800", math.nan, math.inf, 2**63, {"": 1}, {"a`b": 1}, {"\x00": 1}, object()]
)
def test_what_the_database_would_mangle_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        literal([value])


def test_input_stays_a_parameter() -> None:
    query = Query("test", "RETURN $a", {"a": '" RETURN 1 //'})
    assert query.command() == 'CYPHER a="\\" RETURN 1 //" RETURN $a'


def test_a_compact_answer_becomes_rows_by_column() -> None:
    answer = [[[1, "a"], [1, "b"]], [[[3, 1], [6, [[2, "x"], [1, None]]]], [[5, "1.5"], [10, ["k", [4, "true"]]]]], []]
    assert rows(answer) == [{"a": 1, "b": ["x", None]}, {"a": 1.5, "b": {"k": True}}]
    assert rows([["statistics"]]) == []


def test_a_vector_in_an_answer_is_a_mistake() -> None:
    with pytest.raises(TypeError):
        rows([[[1, "v"]], [[[12, ["0.1"]]]], []])


def test_an_error_tells_its_kind_and_nothing_else() -> None:
    refused = FalkorRefused("search", Exception("MISCONF planted text"))
    assert (refused.is_transient, refused.is_missing_graph) == (True, False)
    assert str(refused) == "the database refused the query search"


def test_scopes_and_digests_are_plain_words() -> None:
    assert scope("a-b", "fact").isalnum()
    assert scope("a-b", "fact") != scope("a-b", "entity") != scope("ab", "entity")
    assert digest(" \x01").isalnum()
