"""Quotes located in the body."""

import pytest

from graphiti_pkm.core.facts.quotes import QuotedText


@pytest.mark.parametrize(
    ("body", "quote", "found"),
    [
        ("We use RDS now.", "use RDS", "use RDS"),
        ("We use RDS now.", "we USE rds", "We use RDS"),
        ("We use\n  RDS now.", "use RDS", "use\n  RDS"),
        ("It’s “fine” – really", 'It\'s "fine" - really', "It’s “fine” – really"),
        ("It's fine", "It’s fine", "It's fine"),
        ("It is fine.", "“It is fine.”", "It is fine."),
        ("It is fine.", "…is fine", "is fine"),
        ("It is fine.", "It is fine...", "It is fine"),
        ("Cafe\u0301 open", "Café", "Cafe\u0301"),
        ("Café open", "Cafe\u0301", "Café"),
        ("😀 yes (a+b)*c", "(a+b)*c", "(a+b)*c"),
        ("a a", "a", "a"),
        ("in der GROSSEN Straße, cafe\u0301 dort", "großen strasse, CAFÉ Dort", "GROSSEN Straße, cafe\u0301 dort"),
        ("Straßencafe\u0301 Nord", "encafé n", "encafe\u0301 N"),
        ("\u0130zmir, \u1112\u1161\u11ab guk", "ZMIR, 한 GUK", "zmir, \u1112\u1161\u11ab guk"),
    ],
)
def test_words_are_found_whatever_space_case_and_quotation_marks(body: str, quote: str, found: str) -> None:
    place = QuotedText(body).locate(quote)
    assert place is not None
    assert body[slice(*place)] == found


@pytest.mark.parametrize(
    ("body", "quote"), [("We use RDS.", "We use MySQL"), ("x", ""), ("x", "  "), ("x", '""'), ("x", "…")]
)
def test_other_words_are_not_found(body: str, quote: str) -> None:
    assert QuotedText(body).locate(quote) is None


def test_offsets_are_those_of_the_first_place() -> None:
    assert QuotedText("yes no yes").locate("yes") == (0, 3)
    assert QuotedText("Yes yes").locate("yes") == (4, 7)
