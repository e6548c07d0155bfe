"""Which sentence of an episode is shown."""

from graphiti_pkm.core.reading.excerpts import matching_sentence

DULL = "One more line of a report that never ends.\n" * 4_000


def test_words_that_come_only_late_in_a_very_long_text_are_found_there() -> None:
    sentence = "Then a quagga crossed the courtyard."
    content = f"{DULL}{sentence} It did not look back.\n{DULL}"
    span = matching_sentence(content, None, ["quagga"])
    assert span is not None
    assert content[slice(*span)] == sentence


def test_words_that_are_nowhere_have_no_sentence() -> None:
    assert matching_sentence(DULL, None, ["quagga"]) is None
