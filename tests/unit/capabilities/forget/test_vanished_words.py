"""Which texts were made of words that no other text tells."""

import pytest

from graphiti_pkm.capabilities.forget.words import RemovedWords, VanishedWords, words_in


def vanished(sentence: str, told: str = "", *, asked: str = "") -> VanishedWords:
    return VanishedWords(RemovedWords.of([sentence], certain=asked.split()).without(words_in(told)), words_in(told))


@pytest.mark.parametrize(
    ("sentence", "told", "text"),
    [
        ("She hid Quolltext there.", "", "Knows Quolltext"),
        ("She hid it behind door x71.", "", "Behind door x71"),
        ("She hid it behind door 4711.", "", "Behind door 4711"),
        ("She is pregnant.", "", "Is pregnant"),
        ("She is pregnant.", "", "is PREGNANT!"),
        ("Er verrät Zéphyrin.", "", "kennt Zephyrin"),
        ("她把密码藏在抽屉里。", "", "知道密码"),
        ("Her IBAN is told.", "", "IBAN of her"),
    ],
)
def test_a_text_that_holds_a_mark_or_mostly_such_words_is_taken(sentence: str, told: str, text: str) -> None:
    assert vanished(sentence, told).takes(text)
    assert not vanished(sentence, f"{told} {sentence}").takes(text)


@pytest.mark.parametrize(
    ("sentence", "told", "text"),
    [
        ("She took a walk.", "Tom bakes bread", "Tom bakes bread on a walk"),
        ("Again she came.", "", "In the garden"),
        ("She came in 2019.", "Founded by Tom", "Founded by Tom in 2019"),
        ("She saw the Old Mill.", "the town has a man", "an old man of the town"),
        ("She did [forgotten] it.", "", "[forgotten]"),
        ("She and I were there.", "", "I was there with her"),
    ],
)
def test_a_text_of_other_words_is_not(sentence: str, told: str, text: str) -> None:
    assert not vanished(sentence, told).takes(text)


def test_a_capital_at_the_beginning_is_no_mark_and_asked_words_are_in_any_case() -> None:
    assert not vanished("Walks are fine.").marks("Likes Walks")
    assert vanished("Walks are fine.", asked="walks").marks("likes walks")
    assert not vanished("Walks are fine.", "Walks", asked="walks").marks("likes walks")


def test_words_that_are_no_evidence_do_not_count() -> None:
    words = vanished("She met Tobias at the lake.", "Tobias slept")
    assert not words.takes("Tobias slept at the lake", ["slept"])
    assert words.takes("Tobias at the lake", ["slept", "tobias"], ["tobias"])
    assert not words.holds("at the lake", ["lake"])


def test_elsewhere_one_capital_among_told_words_is_not_enough() -> None:
    words = vanished("She met Quolltext Zephyr, code 471147, in Lisbon.", "he was born there")
    assert not words.covers_elsewhere("He was born in Lisbon")
    assert words.covers_elsewhere("He was born in Lisbon as Zephyr")
    assert words.covers_elsewhere("He was born as 471147")
    assert words.covers_elsewhere("Lisbon")
