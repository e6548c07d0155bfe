"""Numbers with their nouns."""

import pytest

from graphiti_pkm.core.model.counted import counted


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "fact", "0 facts"),
        (1, "fact", "1 fact"),
        (2, "saved graph", "2 saved graphs"),
        (1, "entity", "1 entity"),
        (2, "summary", "2 summaries"),
        (2, "day", "2 days"),
        (12_345, "entry", "12,345 entries"),
    ],
)
def test_a_noun_is_in_the_plural_unless_there_is_one(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said
