"""What was said up to a message about a query."""

from datetime import timedelta

import pytest
from tests.builders import DAY_ONE, RECORDED

from graphiti_pkm.capabilities.search.talk import talk_shares, talk_weights
from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.stems import StemCounts

WEIGHTS = {"boat": 2.0, "sail": 1.0}


def said(**words: int) -> StemCounts:
    return StemCounts(sum(words.values()), words)


def at(seconds: int, uuid: str, group: str = "t1") -> Place:
    return Place(uuid, group, DAY_ONE + timedelta(seconds=seconds), RECORDED)


def test_a_message_after_one_that_has_the_words_is_lifted_and_one_far_away_or_before_is_not() -> None:
    counts = {"a": said(), "b": said(boat=1), "c": said(sail=1), "d": said()}
    places = {"a": at(0, "a"), "b": at(20, "b"), "c": at(80, "c"), "d": at(40_000, "d")}
    found = talk_shares(WEIGHTS, counts, places, {})
    assert found["a"] == 0
    assert found["c"] == pytest.approx((2.0 * 0.5 * 2.2 / 1.7 + 1.0) / (3.0 * 2.2))
    assert found["d"] == pytest.approx(0, abs=1e-9)


def test_a_message_that_has_no_counts_hears_what_was_said_before() -> None:
    found = talk_shares(WEIGHTS, {"a": said(boat=1)}, {"a": at(0, "a"), "b": at(60, "b")}, {})
    assert 0 < found["b"] < found["a"] == pytest.approx(2.0 / (3.0 * 2.2))


def test_the_very_next_message_hears_a_half_however_late_it_comes() -> None:
    counts, places = {"a": said(boat=1)}, {"a": at(0, "a"), "b": at(1_700, "b")}
    assert talk_shares(WEIGHTS, counts, places, {"a": "b"})["b"] == pytest.approx(2.0 * 0.5 * 2.2 / 1.7 / (3.0 * 2.2))
    assert talk_shares(WEIGHTS, counts, places, {"a": "c"})["b"] == pytest.approx(0, abs=1e-6)


def test_nothing_is_heard_in_another_group_nor_depends_on_the_order_given() -> None:
    counts = {"a": said(boat=1), "b": said(boat=3), "c": said()}
    places = {"a": at(0, "a"), "b": at(1, "b", "t2"), "c": at(2, "c")}
    found = talk_shares(WEIGHTS, counts, places, {})
    assert found == talk_shares(WEIGHTS, counts, dict(reversed(places.items())), {})
    without = talk_shares(WEIGHTS, counts, {uuid: places[uuid] for uuid in "ac"}, {})
    assert {uuid: found[uuid] for uuid in "ac"} == without


def test_a_rare_word_weighs_more_than_several_common_ones_and_one_that_nobody_said_most() -> None:
    weights = talk_weights(["boats", "engine", "houston", "zeppelin"], {"boats": 3, "engine": 900, "houston": 900})
    assert weights["boat"] > 5 * weights["houston"]
    assert max(weights, key=weights.__getitem__) == "zeppelin"
    assert talk_weights([], {}) == {}
