"""Dates as callers write them."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from tests.builders import at

from graphiti_pkm.core.model.times import iso, month_key, parse_time, show_time, show_validity, whole_period
from graphiti_pkm.errors import InvalidInput

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "instant", "precision"),
    [
        ("2026", at(2026), "year"),
        ("2026-02", at(2026, 2), "month"),
        ("2026-2", at(2026, 2), "month"),
        (" 2026-03-14 ", at(2026, 3, 14), "day"),
        ("2026-03-14T0930", at(2026, 3, 14, 9, 30), "instant"),
        ("2026-03-14T09:30", at(2026, 3, 14, 9, 30), "instant"),
        ("2026-03-14 09:30:00Z", at(2026, 3, 14, 9, 30), "instant"),
        ("2026-03-14T09:30:00+02:00", at(2026, 3, 14, 7, 30), "instant"),
        ("2026-03-14T09:30:00.123456789Z", datetime(2026, 3, 14, 9, 30, 0, 123456, UTC), "instant"),
        ("1660-02-01", at(1660, 2), "day"),
        ("0079", at(79), "year"),
    ],
)
def test_dates_months_and_years_stand_for_their_first_instant(text: str, instant: datetime, precision: str) -> None:
    point = parse_time(text, UTC)
    assert (point.instant, point.precision) == (instant, precision)


def test_input_without_offset_is_in_the_configured_zone() -> None:
    assert parse_time("2026-03", BERLIN).instant == at(2026, 2, 28, 23)
    assert parse_time("2026-07-01T10:00", BERLIN).instant == at(2026, 7, 1, 8)
    assert parse_time("2026-07-01T10:00Z", BERLIN).instant == at(2026, 7, 1, 10)


@pytest.mark.parametrize(
    "text",
    [
        *("", "last March", "03/14/2026", "14.03.2026", "2026-13", "2026-02-30", "10:30", "20", "12345", "2026-"),
        *("2026-W03", "2026W03", "2026-W03-1", "20260102", "20260102T0930", "2026-0102"),
        *("２０２６", "0001-01-01T00:00+05:00", "9999-12-31T23:00-05:00", "2026-03-14T25:00", "2026-03-14" * 50),
    ],
)
def test_everything_else_is_an_error_that_names_the_field_and_shows_the_forms(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^facts\[1\]\.valid_at: .* is not a date\. Use 2026-03-14, "):
        parse_time(text, UTC, "facts[1].valid_at")


def test_iso_is_utc_with_offset() -> None:
    assert iso(at(1660, 2, 1)) == "1660-02-01T00:00:00+00:00"
    assert iso(datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1)))) == "2026-02-28T23:00:00+00:00"
    assert iso(datetime(2026, 3, 1)) == "2026-03-01T00:00:00+00:00"  # noqa: DTZ001  a naive one is UTC


def test_months_are_counted_in_the_zone() -> None:
    assert month_key(at(2026, 2, 28, 23, 30), BERLIN) == "2026-03"
    assert month_key(at(2026, 2, 28, 23, 30), UTC) == "2026-02"
    assert month_key(datetime.min.replace(tzinfo=UTC), ZoneInfo("America/New_York")) == "0001-01"


def test_a_time_of_day_is_shown_only_if_it_is_not_midnight() -> None:
    assert show_time(at(2026, 3, 14), UTC) == "2026-03-14"
    assert show_time(at(2026, 3, 14, 9, 30), UTC) == "2026-03-14 09:30"
    assert show_time(at(2026, 2, 28, 23), BERLIN) == "2026-03-01"


@pytest.mark.parametrize(
    ("kind", "valid", "invalid", "shown"),
    [
        ("state", None, None, "since at least 2026-01-01, start unknown"),
        ("state", at(2026, 3), None, "from 2026-03-01"),
        ("state", at(2026, 3), at(2026, 4), "from 2026-03-01 until 2026-04-01"),
        ("state", None, at(2026, 4), "until 2026-04-01, start unknown"),
        ("event", at(2026, 3), None, "on 2026-03-01"),
        ("reading", at(2026, 3), None, "on 2026-03-01"),
        ("plan", None, None, "planned, no date"),
        ("plan", at(2026, 3), None, "planned for 2026-03-01"),
    ],
)
def test_validity_is_shown_in_words(kind: str, valid: datetime | None, invalid: datetime | None, shown: str) -> None:
    start, end = (moment and show_time(moment, UTC) for moment in (valid, invalid))
    assert show_validity(kind, start, end, at(2026), UTC) == shown  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "start", "shown"),
    [
        ("state", "2017", "from 2017"),
        ("event", "2017", "in 2017"),
        ("event", "autumn 2026", "in autumn 2026"),
        ("event", "the week of 2026-03-02", "in the week of 2026-03-02"),
        ("event", "the end of March 2026", "at the end of March 2026"),
        ("event", "1990s", "in 1990s"),
        ("event", None, "known from 2026-01-01, no date"),
        ("plan", "autumn 2027", "planned for autumn 2027"),
        ("plan", "by autumn 2027", "planned by autumn 2027"),
    ],
)
def test_told_words_are_shown_as_a_date(kind: str, start: str | None, shown: str) -> None:
    assert show_validity(kind, start, None, at(2026), UTC) == shown  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("2026-03", (at(2026, 2, 28, 23), at(2026, 3, 31, 22))),
        ("2026-12", (at(2026, 11, 30, 23), at(2026, 12, 31, 23))),
        ("2026", (at(2025, 12, 31, 23), at(2026, 12, 31, 23))),
        ("2026-03-01", None),
        ("2026-03-01T00:00", None),
        ("9999-11", (at(9999, 10, 31, 23), at(9999, 11, 30, 23))),
        ("9999-12", None),
        ("9999", None),
    ],
)
def test_a_month_or_a_year_has_a_start_and_an_end(text: str, period: tuple[datetime, datetime] | None) -> None:
    assert whole_period(text, BERLIN) == period
