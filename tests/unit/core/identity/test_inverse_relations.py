"""Which relations say the same from the two ends of a fact, and which verbs leave open whether something is over."""

import pytest

from graphiti_pkm.core.identity.near_relations import Relations
from graphiti_pkm.core.identity.relation_kinds import is_past, may_be_past


@pytest.mark.parametrize(
    ("one", "others"),
    [
        ("COACHES", {"HAS_COACH", "COACHED_BY"}),
        ("IS_COACH_OF", {"HAS_COACH", "COACHED_BY"}),
        ("HAS_MANAGER", {"MANAGES"}),
        ("USES", {"USED_BY", "HAS_USER"}),
        ("HAS_OWNER", {"OWNS"}),
        ("HAS_PART", {"PART_OF"}),
    ],
)
def test_relations_of_one_word_are_found_by_their_direction(one: str, others: set[str]) -> None:
    known = Relations(dict.fromkeys([one, *sorted(others), "WORKS_AT", "HAS_STATUS", "EMPLOYS", "DEPENDS_ON"], 1))
    assert set(known.inverse(one)) == others
    assert all(one in known.inverse(other) for other in others)


@pytest.mark.parametrize("relation", ["WORKS_AT", "REPORTS_TO", "HAS_STATUS", "IS", "HAS", "A_B_C", "U"])
def test_others_have_none(relation: str) -> None:
    known = Relations(dict.fromkeys(["WORKS_AT", "AT_WORKS", "HAS_STATUS", "IS", "HAS", "COACHES", "U"], 1))
    assert known.inverse(relation) == []


@pytest.mark.parametrize(
    ("relation", "past", "open_"),
    [
        ("WAS_IN", True, False),
        ("HAD_PASS", True, False),
        ("WORKED_AT", False, True),
        ("BASED_IN", False, True),
        ("COACHED_BY", False, False),
        ("RENTS", False, False),
        ("HAS_VISA", False, False),
    ],
)
def test_the_tense_of_a_relation(relation: str, *, past: bool, open_: bool) -> None:
    assert (is_past(relation), may_be_past(relation)) == (past, open_)
