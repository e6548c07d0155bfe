"""Scores, fusion and where a page starts."""

import pytest

from graphiti_pkm.core.reading.ranking import (
    best_sentence,
    faded,
    floor_of,
    fuse,
    holding_all,
    items_after,
    kept_above,
    key_of,
    lifted,
    ranked,
    stem_counts,
    word_scores,
)


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = {"a": "the budget", "b": "the plan", "c": "the house", "d": "the boat"}
    scores = word_scores(["the", "budget"], texts)
    assert max(scores, key=scores.__getitem__) == "a"


def test_a_short_text_with_the_word_beats_a_long_one() -> None:
    scores = word_scores(["django"], {"short": "Django project", "long": "Django " + "and other things " * 50})
    assert scores["short"] > scores["long"]


def test_common_endings_match_as_the_database_matches_them() -> None:
    scores = word_scores(["databases"], {"a": "a database", "b": "a boat"})
    assert scores["a"] > scores["b"] > 0


def test_what_the_database_found_never_scores_nothing() -> None:
    assert word_scores(["xyz"], {"a": "no such word"})["a"] > 0
    assert word_scores(["xyz"], {}) == {}


def test_fusion_takes_half_of_each_side() -> None:
    scores = fuse({"a": 4.0, "b": 2.0}, {"b": 0.85, "c": 0.5}, only_words=False)
    assert scores == pytest.approx({"a": 0.5, "b": 0.75, "c": 0.25})


def test_what_has_nothing_in_common_is_not_found_by_meaning() -> None:
    assert fuse({}, {"a": 0.1, "b": 0.6}, only_words=False).keys() == {"b"}


def test_without_vectors_words_alone_decide() -> None:
    assert fuse({"a": 4.0, "b": 1.0}, {}, only_words=True) == {"a": 1.0, "b": 0.25}


def test_nearness_to_a_centre_lifts() -> None:
    assert [uuid for uuid, _ in ranked(lifted({"far": 0.5, "near": 0.4}, {"near": 1}))] == ["near", "far"]


def test_a_page_goes_on_after_the_last_one_seen_also_if_that_is_gone() -> None:
    ranking = [("a", 0.9), ("b", 0.5), ("c", 0.5), ("d", 0.1)]
    assert items_after(ranking, key_of("b", 0.5)) == ranking[2:]
    without = [one for one in ranking if one[0] != "b"]
    assert items_after(without, key_of("b", 0.5)) == ranking[2:]
    assert items_after(ranking, None) == ranking


def test_the_best_sentence_has_most_of_the_words() -> None:
    assert best_sentence(["budget", "cut"], ["We met.", "The budget was cut.", "A budget."]) == 1
    assert best_sentence(["zebra"], ["We met."]) is None
    assert best_sentence(["zebra"], []) is None


def test_the_floor_is_a_share_of_the_best_and_a_named_record_does_not_raise_it() -> None:
    assert floor_of([0.5, 0.1], 0.2) == pytest.approx(0.1)
    assert floor_of([2.0, 0.3], 0.2) == pytest.approx(0.2)
    assert floor_of([], 0.2) == 0


def test_what_holds_every_word_is_never_weak_and_keeps_its_order() -> None:
    scores = kept_above({"best": 1.0, "long": 0.15, "longer": 0.1, "near": 0.18}, ["best", "long", "longer"])
    assert [uuid for uuid, score in ranked(scores) if score >= floor_of(scores.values())] == ["best", "long", "longer"]


def test_all_words_are_held_in_any_form() -> None:
    counts = stem_counts({"a": "Records are Markdown files", "b": "Markdown", "c": "a record"})
    assert holding_all(["record", "markdown"], counts) == ["a"]
    assert holding_all(["markdown"], counts) == ["a", "b"]


def test_what_is_only_a_little_near_comes_after_the_fall_in_its_order() -> None:
    scores = faded({"name": 0.5, "near": 0.4, "faint": 0.45, "fainter": 0.3}, ["name", "near"])
    assert [uuid for uuid, _ in ranked(scores)] == ["name", "near", "faint", "fainter"]
    assert scores["near"] >= floor_of(scores.values()) > scores["faint"] > scores["fainter"] > 0


def test_of_hits_that_are_all_only_a_little_near_the_first_three_are_shown() -> None:
    scores = faded({uuid: score / 10 for uuid, score in zip("abcde", range(5, 0, -1), strict=True)}, [])
    floor = floor_of(scores.values())
    assert [uuid for uuid, score in ranked(scores) if score >= floor] == ["a", "b", "c"]
    assert [uuid for uuid, _ in ranked(scores)] == ["a", "b", "c", "d", "e"]
