"""The number that a told value says."""

import math
import random

import pytest

from graphiti_pkm.core.facts.amounts import SECONDS, Amount, amount_of, unit_key

WORDS = (
    "five",
    "and a half",
    "-",
    "/",
    "of",
    "to",
    "million",
    "hours",
    "7",
    "1,250.50",
    "20m",
    "½",
    "and",
    "between",
    "€",
)


@pytest.mark.parametrize(
    ("value", "unit", "amount"),
    [
        ("5.5", "h", Amount(5.5, unit="h")),
        ("5 and a half hours", None, Amount(5.5, unit="h")),
        ("5½", "hours", Amount(5.5, unit="h")),
        ("half an hour", None, Amount(0.5, unit="h")),
        ("5 hours a night", None, Amount(5, unit="h")),
        ("7h 20m", None, Amount(7 + 20 / 60, unit="h")),
        ("7 hours and 30 minutes", None, Amount(7.5, unit="h")),
        ("7:30", "h", Amount(7.5, unit="h")),
        ("1.25 million", None, Amount(1_250_000)),
        ("€1.2M", None, Amount(1_200_000, unit="eur")),
        ("1.25 million", "EUR", Amount(1_250_000, unit="eur")),
        ("five", None, Amount(5)),
        ("twenty-five", "min", Amount(25, unit="min")),
        ("two hundred and fifty", None, Amount(250)),
        ("6/10", None, Amount(6, unit="/10")),
        ("6 out of ten", None, Amount(6, unit="/10")),
        ("4-5", None, Amount(4, 5)),
        ("between 4 and 5", None, Amount(4, 5)),
        ("4 to 5", "h", Amount(4, 5, "h")),
        ("4h-5h", None, Amount(4, 5, "h")),
        ("4-5/10", None, Amount(4, 5, "/10")),
        ("about 5", None, Amount(5)),
        ("1,250.50", None, Amount(1250.5)),
        ("1.250,50", None, Amount(1250.5)),
        ("1,250", None, Amount(1250)),
        ("0,125", None, Amount(0.125)),
        ("7,5", None, Amount(7.5)),
        ("1 250", None, Amount(1250)),
        ("-3", "°C", Amount(-3, unit="°c")),
        ("45%", None, Amount(45, unit="%")),
        ("1.000 EUR", None, Amount(1000, unit="eur")),
        ("1.000", "€", Amount(1000, unit="eur")),
        ("1.25 EUR", None, Amount(1.25, unit="eur")),
        ("1.000", "kg", Amount(1, unit="kg")),
        ("5 nights", "h", Amount(5, unit="night")),
    ],
)
def test_what_is_one_number(value: str, unit: str | None, amount: Amount) -> None:
    assert amount_of(value, unit) == amount


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            "bad",
            "-",
            "between",
            "15 March",
            "1st",
            "3 pm",
            "2026-03-01",
            "2026-01",
            "7:20",
            "v2.1",
            "Q3",
            "1.2.3",
            "1e5",
        ),
        *("120/80", "7.8 (was 6.9)", "5, 7", "5+", "5 or more", "5-4", "1 2 3 4 5 6 7 8 9 10", "4-5-6", "2 of the 3"),
    ],
)
def test_what_is_none_or_several_has_none(value: str) -> None:
    assert amount_of(value) is None


def test_a_range_counts_as_its_middle_and_times_are_compared_in_seconds() -> None:
    assert Amount(4, 5).middle == 4.5
    assert Amount(90, unit="min").middle == Amount(1.5, unit="h").middle
    assert {Amount(1, unit=unit).kind for unit in SECONDS} == {"time"}
    assert Amount(1, unit="/10").kind != Amount(1, unit="/100").kind


def test_every_plain_number_is_read_as_it_is() -> None:
    chosen = random.Random(4)  # noqa: S311 not for secrets
    for _ in range(2_000):
        number = round(chosen.uniform(-1e6, 1e6), chosen.randrange(4))
        texts = [repr(number), *([f"{number:,}"] if abs(number) >= 1_000 else [])]
        assert {amount_of(text) for text in texts} == {Amount(number)}


def test_any_words_give_a_finite_number_in_order_or_none() -> None:
    chosen = random.Random(5)  # noqa: S311 not for secrets
    for _ in range(5_000):
        value = " ".join(chosen.choices(WORDS, k=chosen.randrange(1, 9)))
        amount = amount_of(value, chosen.choice([None, "h", "points"]))
        if amount is not None:
            assert math.isfinite(amount.middle)
            assert amount.high is None or amount.low <= amount.high


@pytest.mark.parametrize("value", ["9" * 200, "1" * 4_300, "9" * 400 + " million", "1," * 3_000, "five " * 1_000])
def test_a_long_value_is_no_trouble(value: str) -> None:
    amount = amount_of(value)
    assert amount is None or math.isfinite(amount.middle)


def test_a_unit_has_one_spelling() -> None:
    assert {unit_key(text) for text in ("h", "Hours", "hrs", "hours a night")} == {"h"}
    assert {unit_key(text) for text in ("point", "Points")} == {"point"}
    assert unit_key(" ") is None
