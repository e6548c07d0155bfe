"""What the messages around a message say about a query."""

from datetime import timedelta

import pytest
from tests.builders import DAY_ONE, RECORDED

from graphiti_pkm.capabilities.search.talk import talk_shares
from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.stems import StemCounts

RARITIES = {"boat": 2.0, "sail": 1.0}


def said(**words: int) -> StemCounts:
    return StemCounts(sum(words.values()), words)


def at(seconds: int, uuid: str, group: str = "t1") -> Place:
    return Place(uuid, group, DAY_ONE + timedelta(seconds=seconds), RECORDED)


def test_a_message_between_two_that_have_the_words_is_lifted_and_one_far_away_is_not() -> None:
    counts = {"a": said(boat=1), "b": said(), "c": said(sail=1), "d": said()}
    places = {"a": at(0, "a"), "b": at(20, "b"), "c": at(40, "c"), "d": at(40_000, "d")}
    found = talk_shares(RARITIES, counts, {}, places)
    assert found["b"] > 0.15
    assert found["d"] == pytest.approx(0, abs=1e-9)
    alone = talk_shares(RARITIES, {**counts, "c": said()}, {}, places)
    assert alone["b"] < found["b"]


def test_its_own_words_count_once() -> None:
    one = talk_shares(RARITIES, {"a": said(boat=1)}, {}, {"a": at(0, "a")})
    assert one["a"] == pytest.approx(2.0 * 2.2 / 2.2 / (3.0 * 2.2) / 2)


def test_a_near_message_lifts_those_after_it_and_not_those_before() -> None:
    places = {uuid: at(30 * number, uuid) for number, uuid in enumerate("abc")}
    found = talk_shares(RARITIES, {}, {"a": 0.2, "b": 0.8, "c": 0.2}, places)
    assert found["a"] == found["b"] == 0
    assert found["c"] == pytest.approx(0.6 * 0.5**0.5 / 2)


def test_nothing_is_heard_in_another_group_nor_depends_on_the_order_given() -> None:
    counts = {"a": said(boat=1), "b": said(boat=3), "c": said()}
    places = {"a": at(0, "a"), "b": at(1, "b", "t2"), "c": at(2, "c")}
    found = talk_shares(RARITIES, counts, {"b": 0.9}, places)
    assert found == talk_shares(RARITIES, counts, {"b": 0.9}, dict(reversed(places.items())))
    without = talk_shares(RARITIES, counts, {}, {uuid: places[uuid] for uuid in "ac"})
    assert {uuid: found[uuid] for uuid in "ac"} == without
