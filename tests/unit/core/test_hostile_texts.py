"""Texts that are made to take long: what is done with them grows no faster than they do."""

import pytest
from tests.growth import growth

from graphiti_pkm.core.facts.quotes import QuotedText
from graphiti_pkm.core.facts.replacement import as_uuid_prefix, looks_like_uuid
from graphiti_pkm.core.model.passages import split_passages

DESCRIBED = "3ec0d07f1b2c4d5e6f708192a3b4c5d6e7f80912-dirty"
"""What ``git describe --dirty`` prints."""


@pytest.mark.parametrize("text", ["0{}!", "00000000{}-dirty", "0-{}g", "a1{}é", "{}"])
@pytest.mark.parametrize("unit", ["0", "-0", "0-", "1a", "--"])
def test_what_is_no_uuid_is_seen_in_linear_time(text: str, unit: str) -> None:
    for reads in (as_uuid_prefix, looks_like_uuid):
        assert growth(lambda size, reads=reads: lambda: reads(text.format(unit * size))) is None  # type: ignore[misc]


def test_a_described_commit_is_no_uuid() -> None:
    assert as_uuid_prefix(DESCRIBED) is None
    assert looks_like_uuid(DESCRIBED)


@pytest.mark.parametrize("body", ["a ", "a", " ", "a\n", "ab ", "é ", "e\u0301", "“a” ", "ß"])
@pytest.mark.parametrize("quote", ["a b", "x", "a  a a…", "e\u0301e", '"a" "b"'])
def test_words_are_looked_for_in_linear_time(body: str, quote: str) -> None:
    def search(size: int, *, is_long: bool) -> object:
        text, words = body * size, body * (size // 2 if is_long else 0) + quote
        return lambda: QuotedText(text).locate(words)

    for is_long in (False, True):
        assert growth(lambda size, is_long=is_long: search(size, is_long=is_long)) is None  # type: ignore[misc,return-value]


@pytest.mark.parametrize(
    "unit",
    [
        "a. ",
        ". ",
        " ",
        "\n",
        "\n ",
        "\t\n",
        "a",
        "a.",
        "1. ",
        "(a) ",
        "- ",
        "a b ",
        "A: ",
        "。",
        "“",
        "x, ",
        "?! ",
        "é ",
        "i. ",
    ],
)
@pytest.mark.parametrize("form", ["{}", " {}x", "\n\n{}\n\n", "{}.\u00a0", "{}:"])
def test_a_text_is_cut_in_linear_time(unit: str, form: str) -> None:
    assert growth(lambda size: lambda: split_passages(form.format(unit * size))) is None


def test_blanks_before_many_short_sentences_are_read_once() -> None:
    assert growth(lambda size: lambda: split_passages(" " * size + "a. " * size)) is None
