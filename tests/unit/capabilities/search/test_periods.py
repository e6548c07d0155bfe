"""Dates as questions name them."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from graphiti_pkm.capabilities.search.periods import (
    MOST_PERIODS,
    Period,
    in_years_before,
    nearness,
    periods_in,
    told_times,
)

NOW = datetime(2026, 11, 21, 15, tzinfo=UTC)  # a Saturday


def days(text: str, reference: datetime = NOW) -> list[tuple[str, str]]:
    """First day and the day after the last, in UTC."""
    return [(one.start.date().isoformat(), one.end.date().isoformat()) for one in periods_in(text, reference, UTC)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what happened on 2 September 1663?", "1663-09-02", "1663-09-03"),
        ("the 2nd of September, 1663", "1663-09-02", "1663-09-03"),
        ("September 2nd, 2025", "2025-09-02", "2025-09-03"),
        ("on 2 September", "2026-09-02", "2026-09-03"),
        ("on 24 December", "2025-12-24", "2025-12-25"),
        ("29 February", "2024-02-29", "2024-03-01"),
        ("notes of 2025-03-14", "2025-03-14", "2025-03-15"),
        ("notes of 2025-03", "2025-03-01", "2025-04-01"),
        ("the budget in March 2025", "2025-03-01", "2025-04-01"),
        ("Sept. 2025 budget", "2025-09-01", "2025-10-01"),
        ("what did I do last March?", "2026-03-01", "2026-04-01"),
        ("last November", "2025-11-01", "2025-12-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("early March 2025", "2025-03-01", "2025-03-11"),
        ("in the middle of March 2025", "2025-03-11", "2025-03-21"),
        ("at the end of last March", "2026-03-21", "2026-04-01"),
        ("in spring 2024", "2024-03-01", "2024-06-01"),
        ("the winter of 2024", "2024-12-01", "2025-03-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("last autumn", "2025-09-01", "2025-12-01"),
        ("this autumn", "2026-09-01", "2026-12-01"),
        ("in summer", "2026-06-01", "2026-09-01"),
        ("New Year's Eve 2024", "2024-12-31", "2025-01-01"),
        ("last Christmas", "2025-12-25", "2025-12-26"),
        ("two weeks ago", "2026-11-04", "2026-11-11"),
        ("a couple of months ago", "2026-09-06", "2026-10-07"),
        ("three days ago", "2026-11-18", "2026-11-19"),
        ("the last 3 weeks", "2026-10-31", "2026-11-22"),
        ("yesterday", "2026-11-20", "2026-11-21"),
        ("the day before yesterday", "2026-11-19", "2026-11-20"),
        ("today's notes", "2026-11-21", "2026-11-22"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last Saturday", "2026-11-14", "2026-11-15"),
        ("on Friday", "2026-11-20", "2026-11-21"),
        ("in 1664", "1664-01-01", "1665-01-01"),
        ("in early 2024", "2024-01-01", "2024-05-01"),
        ("late 2024", "2024-09-01", "2025-01-01"),
        ("between May and July 2025", "2025-05-01", "2025-08-01"),
        ("from November to February 2025", "2024-11-01", "2025-03-01"),
        ("from 3 May 2024 to 2024-06-02", "2024-05-03", "2024-06-03"),
        ("since March 2024", "2024-03-01", "2026-11-22"),
        ("after March 2024", "2024-04-01", "9999-12-31"),
        ("before 2024", "0001-01-01", "2024-01-01"),
    ],
)
def test_a_question_names_a_stretch_of_days(text: str, start: str, end: str) -> None:
    assert days(text) == [(start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "may I march in?",
        "it cost 1623 pounds",
        "on 31 September",
        "the second one",
        "spring cleaning and a fall",
        "call 555-2025-0102",
        "version 1.2025",
        "0 days",
        "",
    ],
)
def test_what_is_no_date_names_none(text: str) -> None:
    assert days(text) == []


def test_several_dates_are_several_stretches_and_a_list_of_them_is_none() -> None:
    assert days("2025-01-01 or 2025-02-01") == [("2025-01-01", "2025-01-02"), ("2025-02-01", "2025-02-02")]
    assert days(", ".join(f"2025-01-0{day}" for day in range(1, MOST_PERIODS + 2))) == []


@pytest.mark.parametrize(
    ("text", "plain", "count"),
    [
        ("Which database did we choose in March 2026?", "Which database did we choose in ?", 1),
        ("who left between May and July 2025", "who left and", 1),
        ("what did I do\nyesterday", "what did I do", 1),
        ("what changed three weeks ago", "what changed", 1),
        ("what did we eat at Christmas?", "what did we eat at ?", 1),
        ("who came on 2024-11-05", "who came on", 1),
        ("may I march in?", "may I march in?", 0),
        ("x " * 4_000 + "in March 2026", "x " * 4_000 + "in March 2026", 0),
        (
            ", ".join(f"on 2025-01-0{day}" for day in range(1, 9)),
            ", ".join(f"on 2025-01-0{day}" for day in range(1, 9)),
            0,
        ),
        ("Who approved the budget of 2025?", "Who approved the budget of 2025?", 0),
        ("Who approved the 5 May 2025 budget?", "Who approved the 5 May 2025 budget?", 0),
        ("Who organised the Christmas party?", "Who organised the Christmas party?", 0),
        ("who was at the Christmas party in May 2025", "who was at the Christmas party in", 1),
        ("What did Tom get from April?", "What did Tom get from April?", 0),
        ("Who set this year's budget?", "Who set this year's budget?", 0),
    ],
)
def test_a_date_that_says_when_leaves_a_text_and_one_of_a_name_stays(text: str, plain: str, count: int) -> None:
    left, found = told_times(text, NOW, UTC)
    assert (left.split(), len(found)) == (plain.split(), count)


def test_days_are_those_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    (found,) = periods_in("yesterday", datetime(2026, 3, 29, 22, 30, tzinfo=UTC), berlin)  # half past midnight there
    assert found == Period(
        start=datetime(2026, 3, 28, 23, tzinfo=UTC), end=datetime(2026, 3, 29, 22, tzinfo=UTC), is_yearly=False
    )


@pytest.mark.parametrize("reference", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)])
@pytest.mark.parametrize(
    "text",
    ["last March", "two years ago", "in winter", "today", "last week", "since May", "on 29 February", "this year"],
)
def test_the_ends_of_the_calendar_break_nothing(text: str, reference: datetime) -> None:
    for zone in (UTC, ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York")):
        assert all(one.start < one.end for one in periods_in(text, reference, zone))


def test_the_same_days_of_another_year_are_half_meant_where_none_is_named() -> None:
    (yearly,) = periods_in("on 2 September", NOW, UTC)
    (dated,) = periods_in("on 2 September 2026", NOW, UTC)
    (winter,) = periods_in("in winter", NOW, UTC)
    inside, other = datetime(2026, 9, 2, 23, tzinfo=UTC), datetime(1663, 9, 2, tzinfo=UTC)
    assert [nearness(moment, yearly, UTC) for moment in (inside, other)] == [1, 0.5]
    assert [nearness(moment, dated, UTC) for moment in (inside, other)] == [1, 0]
    assert nearness(datetime(2026, 9, 3, tzinfo=UTC), yearly, UTC) == 0
    assert nearness(datetime(2020, 1, 31, tzinfo=UTC), winter, UTC) == 0.5
    assert nearness(datetime(2020, 3, 1, tzinfo=UTC), winter, UTC) == 0


def test_the_same_days_of_years_before_go_back_from_the_latest_that_had_begun() -> None:
    (period,) = periods_in("on 2 September", NOW, UTC)
    (leap,) = periods_in("29 February", NOW, UTC)
    latest = datetime(1664, 9, 1, tzinfo=UTC)
    starts = [one.start.date().isoformat() for one in in_years_before(period, latest, UTC, 2)]
    assert starts == ["1663-09-02", "1662-09-02"]
    assert [one.start.day for one in in_years_before(leap, latest, UTC, 2)] == [29, 28]
    assert len(in_years_before(period, datetime(2, 12, 31, tzinfo=UTC), UTC, 5)) == 2
