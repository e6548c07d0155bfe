"""Which values a store can hold, and how words are indexed and asked."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.queries.search import asked_words, episodes_naming, indexed, scope
from graphiti_pkm.storage.graph.queries.values import (
    checked_integer,
    checked_number,
    checked_text,
    day_number,
    digest,
    storable,
)


@pytest.mark.parametrize("text", ["", "\x01", "🦉", 'a"b\\c`'])
def test_a_text_is_kept_as_it_is(text: str) -> None:
    assert checked_text(text) == text


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_a_text_that_a_store_would_mangle_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        checked_text(text)


@pytest.mark.parametrize("value", [2**63, -(2**63)])
def test_an_integer_has_64_bits(value: int) -> None:
    assert checked_integer(2**63 - 1) == 2**63 - 1
    with pytest.raises(InvalidInput):
        checked_integer(value)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_is_finite(value: float) -> None:
    assert checked_number(0.5) == 0.5
    with pytest.raises(InvalidInput):
        checked_number(value)


def test_what_is_nested_becomes_json_text() -> None:
    assert storable(("a", 1)) == ["a", 1]
    assert storable({"ä": [1, {}]}) == '{"ä": [1, {}]}'
    assert storable([None]) == "[null]"


def test_a_day_is_one_of_utc() -> None:
    assert day_number(datetime(2026, 3, 14, 23, tzinfo=timezone(timedelta(hours=-2)))) == 20260315
    assert day_number(datetime.min.replace(tzinfo=UTC)) == 10101


def test_scopes_and_digests_are_plain_words() -> None:
    assert scope("a-b", "fact").isalnum()
    assert scope("a-b", "fact") != scope("a-b", "entity") != scope("ab", "entity")
    assert digest(" \x01\ud800").isalnum()


def test_words_that_lucene_drops_are_kept_the_same_way_in_texts_and_questions() -> None:
    assert indexed("will the runner come") == "will0 the0 runner come"
    assert asked_words(["Will"], ["g"], "entity") == [f'+scope:({scope("g", "entity")})^0 +text:("will0")']


def test_scopes_and_phrases_are_lucenes() -> None:
    one, other = (scope(group, "fact") for group in ("g", "h"))
    assert asked_words(["anna", '+x:(y)"'], ["g", "h"], "fact") == [
        f'+search_scope:({one} OR {other})^0 +search_text:("{word}")' for word in ("anna", "x", "y")
    ]
    assert asked_words(["anna"], [], "fact") == []
    words = episodes_naming("g", "To-Be", datetime.now(UTC), None, 5, only_linking=False).parameters["words"]
    assert (
        words == f'+scope:({scope("g", "episode")})^0 +text:("to0 be0" OR "tobe" OR "to0 s be0" OR "t obe" OR "tob e")'
    )
