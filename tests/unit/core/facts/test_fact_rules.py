"""The pure rules for facts at their edges."""

from datetime import datetime
from typing import Any

import pytest
from tests.builders import a_fact, an_entity, at

from graphiti_pkm.core.facts.rules import ended, is_current, known_start, overlap, same_text, same_value, voided

SARAH, ACME = an_entity("Sarah"), an_entity("Acme")
NOW = at(2026, 6)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ((1, 3), (3, 5), False),
        ((1, 3), (2, 5), True),
        ((1, None), (5, 6), True),
        ((None, 3), (None, None), True),
        ((None, 3), (3, None), False),
        ((2, 2), (1, 3), True),
    ],
)
def test_intervals_are_half_open(one: tuple[int | None, ...], other: tuple[int | None, ...], *, shared: bool) -> None:
    first, second = ([at(2026, day) if day else None for day in days] for days in (one, other))
    assert overlap(*first, *second) == shared
    assert overlap(*second, *first) == shared


@pytest.mark.parametrize(
    ("valid", "invalid", "reference", "start"),
    [
        (at(2026, 2), None, at(2026, 3), at(2026, 2)),
        (None, None, at(2026, 3), at(2026, 3)),
        (None, at(2026, 4), at(2026, 3), at(2026, 3)),
        (None, at(2026, 3), at(2026, 3), None),
        (None, at(2026, 2), at(2026, 3), None),
        (None, None, None, None),
    ],
)
def test_an_unknown_start_counts_from_the_episode_unless_it_had_ended_by_then(
    valid: datetime | None, invalid: datetime | None, reference: datetime | None, start: datetime | None
) -> None:
    assert known_start(valid, invalid, reference) == start


@pytest.mark.parametrize(
    ("fields", "current"),
    [
        ({}, True),
        ({"valid_at": NOW}, True),
        ({"valid_at": at(2026, 7)}, False),
        ({"invalid_at": NOW}, False),
        ({"invalid_at": at(2026, 7)}, True),
        ({"expired_at": at(2026, 5)}, False),
        ({"voided": True}, False),
        ({"kind": "plan"}, False),
        ({"kind": "event"}, False),
        ({"kind": "reading"}, False),
    ],
)
def test_only_a_state_that_holds_is_current(fields: dict[str, Any], *, current: bool) -> None:
    assert is_current(a_fact(SARAH, ACME, **fields), NOW) == current


@pytest.mark.parametrize(
    ("valid", "invalid", "end", "becomes"),
    [
        (None, None, at(2026, 3), (at(2026, 3), NOW)),
        (None, None, NOW, (NOW, NOW)),
        (None, None, at(2026, 9), (at(2026, 9), None)),
        (None, at(2026, 2), at(2026, 3), (at(2026, 2), NOW)),
        (at(2026, 3), None, at(2026, 3), (at(2026, 3), NOW)),
        (at(2026, 4), None, at(2026, 3), None),
    ],
)
def test_a_fact_ends_where_it_is_told_to(
    valid: datetime | None,
    invalid: datetime | None,
    end: datetime,
    becomes: tuple[datetime | None, datetime | None] | None,
) -> None:
    fact = ended(a_fact(SARAH, ACME, valid_at=valid, invalid_at=invalid), end, NOW)
    assert (fact and (fact.invalid_at, fact.expired_at)) == becomes


def test_a_plan_is_over_in_the_record_only() -> None:
    plan = ended(a_fact(SARAH, ACME, kind="plan", valid_at=at(2027)), at(2026, 3), NOW)
    assert plan is not None
    assert (plan.valid_at, plan.invalid_at, plan.expired_at) == (at(2027), None, NOW)


def test_a_voided_fact_keeps_its_interval() -> None:
    fact = voided(a_fact(SARAH, ACME, valid_at=at(2020), invalid_at=at(2024)), NOW)
    assert (fact.voided, fact.expired_at, fact.valid_at, fact.invalid_at) == (True, NOW, at(2020), at(2024))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("6.5", " 6.5", True),
        ("accepted.", "Accepted", True),
        ("“accepted”", '"accepted"', True),
        ("6", "6.0", False),
        ("3.1", "3.10", False),
        ("1e3", "1000", False),
        ("BBB", "BBB-", False),
        ("50", "-50", False),
        ("+5%", "-5%", False),
        ("C++", "C#", False),
        ('5"', "5'", False),
        ("1 2", "12", False),
        ("😀", "👍", False),
        ("Accepted", "accepted", True),
        ("6/10", "6 / 10", True),
        ("4-5", "45", False),
        ("+5", "-5", False),
        ("6", None, False),
        (None, None, True),
        ("C", "C++", False),
    ],
)
def test_values_are_compared_as_text(one: str | None, other: str | None, *, same: bool) -> None:
    assert same_value(one, other) == same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I work at Acme", "i work  at ACME.", True),
        ("I work at Acme", "I worked at Acme", False),
        ("Café", "CAFE\u0301", True),
        ("Café", "cafe", False),
        ("I use C++", "I use C#.", False),
        ("It fell by 5%", "It fell by -5%", False),
        ("I’m “here”", 'I\'m "here"!', True),
        ("“I am here.”", "I am here", True),
        ("Feeling 😀", "Feeling 😢", False),
        ("😀", "😀", True),
        ("😀", "👍", False),
    ],
)
def test_texts_are_compared_without_case_and_the_end_of_the_sentence(one: str, other: str, *, same: bool) -> None:
    assert same_text(one, other) == same
