"""What the adapter of Neo4j makes of shared queries and their values."""

from array import array
from datetime import UTC, datetime

import pytest
from neo4j.time import DateTime

from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.neo4j.cypher import UNKNOWN, native, parameters, plain, translated
from graphiti_pkm.storage.graph.neo4j.schema import is_new_enough
from graphiti_pkm.storage.graph.values import FullText, Instant, SearchText


@pytest.mark.parametrize(
    ("shared", "neo4j"),
    [
        ("SET n.name_embedding = vecf32(r.vector)", "SET n.name_embedding = r.vector"),
        (
            "1 - vec.cosineDistance(e.fact_embedding, vecf32($vector)) AS score",
            "2 * vector.similarity.cosine(e.fact_embedding, $vector) - 1 AS score",
        ),
        ("1 - vec.cosineDistance(p.embedding, v)", "2 * vector.similarity.cosine(p.embedding, v) - 1"),
        (
            "CALL db.idx.vector.queryNodes('Entity', 'name_embedding', $k, vecf32($vector)) YIELD node",
            "CALL db.index.vector.queryNodes('pkm_Entity_name_embedding', $k, $vector) YIELD node",
        ),
        (
            "[k IN keys(e) WHERE NOT k ENDS WITH '_embedding' AND typeOf(e[k]) <> 'Vectorf32' | [k, e[k]]]",
            "[k IN keys(e) WHERE NOT k ENDS WITH '_embedding' | [k, e[k]]]",
        ),
        ("MATCH (n) RETURN n.name", "MATCH (n) RETURN n.name"),
    ],
)
def test_what_neo4j_says_otherwise_is_translated(shared: str, neo4j: str) -> None:
    assert translated(shared) == neo4j


def test_instants_are_date_times_and_come_back_as_they_were() -> None:
    moment = datetime(2026, 3, 14, 9, 30, 0, 123456, tzinfo=UTC)
    assert native({"at": [Instant.of(moment)]}) == {"at": [moment]}
    assert plain([DateTime.from_native(moment), {"at": DateTime.from_native(moment)}]) == [
        Instant.of(moment),
        {"at": str(Instant.of(moment))},
    ]


def test_a_text_that_looks_like_an_instant_stays_a_text() -> None:
    assert native("2026-03-14T09:30:00+00:00") == "2026-03-14T09:30:00+00:00"


def test_what_is_before_and_after_all_is_added_where_it_is_asked_for() -> None:
    assert parameters("RETURN $dawn", {"now": None}) == {"now": None, "dawn": UNKNOWN["dawn"]}
    assert parameters("RETURN 1", {}) == {}
    assert UNKNOWN["dawn"] <= DateTime.from_native(datetime.min.replace(tzinfo=UTC))
    assert UNKNOWN["dusk"] >= DateTime.from_native(datetime.max.replace(tzinfo=UTC))


def test_words_that_lucene_drops_are_kept_the_same_way_in_texts_and_questions() -> None:
    assert native(SearchText("will the runner come")) == "will0 the0 runner come"
    assert native(FullText(["s1"], ["will"])) == '+scope:(s1)^0 +text:("will0")'


def test_scopes_and_phrases_are_lucenes() -> None:
    assert native(FullText(["s1", "s2"], ["anna", "0archi"], "search_")) == (
        '+search_scope:(s1 OR s2)^0 +search_text:("anna" OR "0archi")'
    )
    assert native(FullText(["s1"], ["to be", "tobe"], are_phrases=True)) == (
        '+scope:(s1)^0 +text:("to0 be0" OR "tobe")'
    )


@pytest.mark.parametrize(
    "value",
    ["a\x00b", "\ud800", 2**63, float("nan"), array("f", [float("inf")]), {"": 1}, {"a`b": 1}, object()],
)
def test_what_the_other_database_refuses_is_refused_here(value: object) -> None:
    with pytest.raises(InvalidInput):
        native(value)


@pytest.mark.parametrize(
    ("version", "is_enough"),
    [("5.25.1", False), ("4.4.40", False), ("5.26.0", True), ("5.26-aura", True), ("2025.04.0", True)],
)
def test_versions_of_neo4j_are_compared_by_their_numbers(version: str, is_enough: bool) -> None:
    assert is_new_enough(version) == is_enough
