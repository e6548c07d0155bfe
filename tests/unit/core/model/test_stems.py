"""Stems, and how often a text has them."""

import re

import pytest

from graphiti_pkm.core.model.names import fold
from graphiti_pkm.core.model.stems import counted, stem, text_stems

ENDINGS = re.compile(r"(?:ies|es|s|ed|ing|e|y)$")
TEXTS = (
    "Berries, boxes and boats were carried, tasted and eaten; the sea is near. Being tied, it dies.",
    "Die Haushaltsplanung steht; s-s, ies, ing, es. Straße, naïve, 東京都, 12 und 12es.",
)


def by_pattern(word: str) -> str:
    short = ENDINGS.sub("", word)
    return short if len(short) >= 3 else word


@pytest.mark.parametrize("text", TEXTS)
def test_a_stem_is_the_word_without_its_longest_common_ending_if_enough_is_left(text: str) -> None:
    words = fold(text).split()
    assert list(map(stem, words)) == list(map(by_pattern, words))
    assert stem("carries") == "carr"
    assert stem("ties") == "ties"


def test_what_is_asked_for_is_counted_as_words_and_inside_of_words() -> None:
    found = counted(text_stems("A boat, boats and houseboats; fire-works."), ["boat", "firework", "train"], ["boat"])
    assert found.counts == {"boat": 2, "firework": 1}
    assert found.inside == {"boat": 3}
    assert found.length == 8


def test_a_very_long_text_is_counted_up_to_a_bound() -> None:
    assert "zebra" not in text_stems("a boat " * 10_000 + "zebra")
