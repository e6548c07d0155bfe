"""When two names are alike."""

import pytest

from graphiti_pkm.core.identity.near_relations import Measures, Relations, near_measure
from graphiti_pkm.core.identity.spelling import close_spelling, contains_name


@pytest.mark.parametrize(
    ("one", "other", "close"),
    [
        ("sarah", "sara", False),
        ("sarahh", "sarah", True),
        ("postgresql", "postgreslq", True),
        ("postgresql", "postgersqll", True),
        ("postgresql", "postgres", False),
        ("berlin", "merlin", True),
        ("anna", "anne", False),
        ("sprint11", "sprint12", False),
        ("sarah", "sarah", False),
        ("", "", False),
        ("kubernetes", "kubernetez", True),
        ("kubernetes", "cybernetics", False),
    ],
)
def test_a_slip_or_two_by_length(one: str, other: str, *, close: bool) -> None:
    assert close_spelling(one, other) == close
    assert close_spelling(other, one) == close


@pytest.mark.parametrize(
    ("longer", "shorter", "contains"),
    [
        ("Sarah Chen", "Sarah", True),
        ("Dr. Sarah Chen", "Sarah", True),
        ("Dr. Sarah Chen", "Sarah Chen", True),
        ("Project Atlas", "Atlas", True),
        ("Sarah", "Sarah Chen", False),
        ("Sarah", "sarah", False),
        ("ADR 12", "ADR", False),
        ("address plan of ADR 4", "ADR 4", False),
        ("An Ox", "Ox", False),
    ],
)
def test_a_name_within_a_name(longer: str, shorter: str, *, contains: bool) -> None:
    assert contains_name(longer, shorter) == contains


@pytest.mark.parametrize(
    ("relation", "near"),
    [
        ("WORK_AT", ["WORKS_AT"]),
        ("WORKSAT", ["WORKS_AT"]),
        ("WORKING_FOR", ["WORKS_AT"]),
        ("USE", ["USES"]),
        ("SUPERSEDED", ["SUPERSEDES"]),
        ("SUPERSEDED_BY", []),
        ("MOVED_FROM", []),
        ("USES", []),
        ("REPORTS_TO", []),
        ("REPORT_TO", ["REPORTS_TO"]),
    ],
)
def test_near_relations(relation: str, near: list[str]) -> None:
    existing = Relations(dict.fromkeys(["WORKS_AT", "USES", "SUPERSEDES", "MOVED_TO", "REPORTS_TO"], 1))
    assert existing.near(relation, is_plan=False) == near
    assert not {"USES", "SUPERSEDES"} & set(existing.near(relation, is_plan=True))


@pytest.mark.parametrize(
    ("measure", "series"),
    [
        ("Sleep", "sleep"),
        ("hours of sleep", "sleep"),
        ("sleeping time", "sleep"),
        ("sleep quality", None),
        ("stres level", None),
        ("stress level", "stress"),
        ("resting heart rate", "resting heart-rate"),
        ("weight", None),
        ("level", None),
    ],
)
def test_near_measures(measure: str, series: str | None) -> None:
    assert near_measure(measure, Measures(["sleep", "stress", "resting heart-rate"])) == series
