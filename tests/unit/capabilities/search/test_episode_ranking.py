"""What speaks for an episode, and what its surroundings add."""

import pytest

from graphiti_pkm.capabilities.search.episode_candidates import phrases, without_stop_words
from graphiti_pkm.capabilities.search.episode_ranking import (
    Signs,
    Surroundings,
    best_of,
    holding_parts,
    own_scores,
    possible_score,
    steps_in,
    unknown_terms,
    with_surroundings,
    word_shares,
)
from graphiti_pkm.core.model.places import Steps
from graphiti_pkm.core.model.stems import StemCounts, counted, stems_of, text_stems
from graphiti_pkm.core.reading.ranking import Scores
from graphiti_pkm.settings.weights import EpisodeWeights


def counts_of(texts: dict[str, str], *terms: str, parts: tuple[str, ...] = ()) -> dict[str, StemCounts]:
    return {uuid: counted(text_stems(text), stems_of(terms), parts) for uuid, text in texts.items()}


ONLY_OWN = EpisodeWeights(words=1, meaning=1, date=0.5, entity=0.5, neighbour=0, day=0)


def test_a_document_with_all_the_words_has_a_greater_share_than_one_with_the_common_ones() -> None:
    texts = {"a": "the budget was cut", "b": "the boat was lost", "c": "the house", "d": "the sea"}
    counts = counts_of(texts, "the", "budget")
    shares = word_shares(["the", "budget"], counts)
    assert best_of(shares, 1) == ["a"]
    assert 0 < shares["d"] < shares["a"] <= 1


def test_where_most_words_of_a_question_occur_nowhere_the_best_by_words_says_little() -> None:
    texts = {"a": "an old boat", "b": "a house", "c": "the sea", "d": "a garden"}
    asked = ["boat", "sovereign", "pyrotechnics", "recorder"]
    known = word_shares(["boat"], counts_of(texts, "boat"))["a"]
    rare = word_shares(asked, counts_of(texts, *asked))["a"]
    assert rare < known / 3


def test_what_only_the_databases_stemmer_found_has_a_small_share() -> None:
    assert 0 < word_shares(["xyz"], counts_of({"a": "no such word"}, "xyz"))["a"] < 0.1
    assert word_shares(["xyz"], {}) == {}


def test_words_that_no_document_has_may_be_inside_others() -> None:
    texts = {"a": "Die Haushaltsplanung steht", "b": "Ein Boot"}
    counts = counts_of(texts, "planung", "boot")
    assert unknown_terms(["planung", "boot"], counts) == ["planung"]
    holding = holding_parts(counts_of(texts, "planung", "boot", parts=("planung",)))
    assert list(holding) == ["a"]
    assert word_shares(["planung"], {**counts, **holding})["a"] > word_shares(["planung"], counts)["a"]


def test_a_word_with_a_hyphen_counts_as_one_and_as_its_parts() -> None:
    for text in ("The fire-works were played", "The fire-\nworks were played"):
        for asked in ("fireworks", "works", "fire"):
            counts = counts_of({"a": text, "b": "a boat"}, asked)
            assert best_of(word_shares([asked], counts), 1) == ["a"]
            assert not unknown_terms([asked], counts)


def test_an_own_score_is_the_weighted_sum_of_what_speaks_for_an_episode() -> None:
    signs = Signs(words={"a": 0.5}, cosines={"a": 0.25, "b": 0.75}, dates={"a": 1, "b": 0})
    assert own_scores(signs, ONLY_OWN, 1).by_uuid == {"a": pytest.approx(1.25), "b": pytest.approx(0.75)}
    assert own_scores(signs, ONLY_OWN, 2).why("a") == {"words": 0.25, "meaning": 0.125, "date": 0.25}
    assert own_scores(signs, EpisodeWeights(words=0, meaning=1, date=0), 1).by_uuid["a"] == pytest.approx(0.25)


def test_neighbours_and_the_day_lift_and_nothing_exceeds_one() -> None:
    own = {"question": 0.1, "answer": 0.5, "far": 0.1}
    around = Surroundings(
        steps=steps_in(["question", "answer", "later"], own), days={"question": 1, "answer": 1, "later": 1, "far": 2}
    )
    weights = EpisodeWeights(neighbour=0.2, day=0.2)
    scores = with_surroundings(Scores().then("words", own), around, weights)
    lifted = scores.by_uuid
    assert scores.why("question") == {"words": 0.1, "neighbour": 0.1, "day": pytest.approx(0.033)}
    assert lifted["answer"] > lifted["question"] > lifted["far"]
    assert "later" not in lifted  # nothing speaks for it
    possible = possible_score(weights, meaning=False, dates=False, entities=False)
    best = own_scores(Signs(dict.fromkeys("abcd", 1), {}), weights, possible)
    most = with_surroundings(best, Surroundings({"a": Steps(next="b")}, dict.fromkeys("abcd", 1)), weights)
    assert most.by_uuid["a"] == pytest.approx(1)
    without = with_surroundings(Scores().then("words", own), around, EpisodeWeights(neighbour=0, day=0))
    assert without.by_uuid == own


def test_the_best_possible_score_counts_only_what_the_query_asks() -> None:
    assert possible_score(ONLY_OWN, meaning=True, dates=True, entities=True) == 3
    assert possible_score(ONLY_OWN, meaning=False, dates=False, entities=False) == 1
    nothing = EpisodeWeights(words=0, meaning=1)
    assert possible_score(nothing, meaning=False, dates=False, entities=False) == 1


def test_small_words_are_left_out_unless_there_are_no_others() -> None:
    assert without_stop_words(["what", "did", "the", "king", "say"]) == ["king", "say"]
    assert without_stop_words(["who", "was", "it"]) == ["who", "was", "it"]


def test_a_name_in_a_question_is_up_to_three_words_without_marks() -> None:
    found = phrases("What did Mr. Coventry's clerk, (Anna) say?")
    assert {"Mr. Coventry", "Mr. Coventry's", "Coventry", "Anna", "Coventry's clerk"} <= set(found)
    assert not {"What", "did", "What did"} & set(found)
    assert found.index("Mr. Coventry") < found.index("Coventry")
