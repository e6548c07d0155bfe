"""When two names are alike."""

import pytest
from tests.near_names import OTHER_NAMES

from graphiti_pkm.core.identity.near_relations import Measures, Relations, near_measure
from graphiti_pkm.core.identity.spelling import NameForm, close_spelling, contains_name


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
    ("text", "name"),
    [
        ("Tobais Wegner", "Tobias Wegner"),
        ("wegner tobais", "Tobias Wegner"),
        ("Jurgenn Möller", "Jürgen Möller"),
        ("Brssels Rollout 1990", "Brussels Rollout 1990"),
        ("server rackss 1 2", "Server rackses 1-2"),
        ("the Tobais", "Tobias"),
        ("Tobais", "Dr. Tobias Wegner"),
    ],
)
def test_a_text_misspells_a_name_by_one_typo_in_one_long_word(text: str, name: str) -> None:
    assert NameForm.of(text).misspells(NameForm.of(name))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *OTHER_NAMES,
        ("server rackks 12", "server rackkss 1-2"),
        ("presure -5", "pressure 5"),
        ("C# compilre", "C++ compiler"),
        ("Tobais Wegenr", "Tobias Wegner"),
        ("Tobais Weber", "Tobias Wegner"),
        ("Tobais Wegner 2", "Tobias Wegner 3"),
        ("Tobais Wegner", "Tobias"),
        ("Sprint11 review", "Sprint1 review"),
        ("Sprints", "Sprint1"),
        ("サクラホテル東館", "サクラホテル西館"),
        ("Tobias", "Tobias"),
        ("Toias", "Tobias"),
        ("the", "The Country"),
    ],
)
def test_another_name_is_not_taken_for_a_misspelling(text: str, name: str) -> None:
    assert not NameForm.of(text).misspells(NameForm.of(name))


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
