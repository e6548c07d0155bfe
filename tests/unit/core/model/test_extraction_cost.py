"""Long episodes in parts, and what they cost."""

import pytest

from graphiti_pkm.core.model.extraction_cost import estimated_calls, split_parts
from graphiti_pkm.settings.model import PART_CHARACTERS

TEXTS = {
    "short": "Anna came.",
    "paragraphs": "One two three. Four five.\n\nSix seven\neight. Nine ten eleven twelve.\n\n" * 20,
    "lines": "one two three\n" * 50,
    "sentences": "One two. Three! Four? " * 50,
    "words": "word " * 200,
    "one run": "x" * 1_000,
    "chinese": "我搬到了柏林。他住在罗马。" * 40,
    "blank": "\n" * 500,
    "empty": "",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_parts_are_the_text_and_none_is_too_long_or_needlessly_short(text: str) -> None:
    parts = split_parts(text, 100)
    assert "".join(parts) == text
    assert all(len(part) <= 100 for part in parts)
    assert all(len(part) >= 50 for part in parts[:-1])


def test_a_text_is_cut_between_paragraphs_if_that_is_possible() -> None:
    assert split_parts("a" * 60 + ". b\nc\n\n" + "d" * 60, 100) == ["a" * 60 + ". b\nc\n\n", "d" * 60]
    assert split_parts("a" * 60 + ". b\nc" + "d" * 60, 100) == ["a" * 60 + ". b\n", "c" + "d" * 60]


def test_calls_grow_with_the_parts_and_with_what_they_may_tell() -> None:
    assert estimated_calls(0) == (2, 4)
    fewest, likely = estimated_calls(400)
    assert (fewest, likely) == (2, 6)
    assert estimated_calls(10 * PART_CHARACTERS) == (20, 40 + 10 * PART_CHARACTERS // 200)
