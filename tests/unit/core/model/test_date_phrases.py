"""Dates as people tell them: which forms are read, as which period, and what is refused."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.builders import at

from graphiti_pkm.core.model.date_phrases import (
    YearChoice,
    date_at,
    parse_date_phrase,
    parse_end_phrase,
    told_around,
    words_at,
)
from graphiti_pkm.errors import InvalidInput

TUESDAY = at(2026, 3, 10, 9)

FORMS = [
    ("2017", at(2017), at(2018), "2017"),
    ("2017-05", at(2017, 5), at(2017, 6), "2017-05"),
    ("2017-05-03", at(2017, 5, 3), at(2017, 5, 4), None),
    ("2017-05-03T09:30", at(2017, 5, 3, 9, 30), at(2017, 5, 3, 9, 31), None),
    ("May 2017", at(2017, 5), at(2017, 6), "May 2017"),
    ("in Sept. 2017", at(2017, 9), at(2017, 10), "September 2017"),
    ("since May, 2017", at(2017, 5), at(2017, 6), "May 2017"),
    ("14 March 2026", at(2026, 3, 14), at(2026, 3, 15), None),
    ("the 14th of March 2026", at(2026, 3, 14), at(2026, 3, 15), None),
    ("March 14, 2026", at(2026, 3, 14), at(2026, 3, 15), None),
    ("29 February 2024", at(2024, 2, 29), at(2024, 3), None),
    ("Autumn 2026", at(2026, 9), at(2026, 12), "autumn 2026"),
    ("early autumn 2026", at(2026, 9), at(2026, 10), "early autumn 2026"),
    ("by the end of summer 2026", at(2026, 8), at(2026, 9), "by the end of summer 2026"),
    ("winter 2026/27", at(2026, 12), at(2027, 3), "winter 2026/27"),
    ("winter 1999/2000", at(1999, 12), at(2000, 3), "winter 1999/00"),
    ("by autumn 2027", at(2027, 9), at(2027, 12), "by autumn 2027"),
    ("by 2027-05-31", at(2027, 5, 31), at(2027, 6), "by 2027-05-31"),
    ("Q3 2026", at(2026, 7), at(2026, 10), "Q3 2026"),
    ("the 1990s", at(1990), at(2000), "1990s"),
    ("early 2017", at(2017), at(2017, 5), "early 2017"),
    ("late 2017", at(2017, 9), at(2018), "late 2017"),
    ("the end of 2017", at(2017, 12), at(2018), "the end of 2017"),
    ("mid-May 2017", at(2017, 5, 11), at(2017, 5, 21), "mid May 2017"),
    ("end of February 2026", at(2026, 2, 22), at(2026, 3), "the end of February 2026"),
    ("start of March 2026", at(2026, 3), at(2026, 3, 8), "the start of March 2026"),
    ("the week of 2026-03-02", at(2026, 3, 2), at(2026, 3, 9), "the week of 2026-03-02"),
    ("today", at(2026, 3, 10), at(2026, 3, 11), None),
    ("Yesterday", at(2026, 3, 9), at(2026, 3, 10), None),
    ("the day before yesterday", at(2026, 3, 8), at(2026, 3, 9), None),
    ("last week", at(2026, 3, 2), at(2026, 3, 9), "the week of 2026-03-02"),
    ("next month", at(2026, 4), at(2026, 5), "2026-04"),
    ("last year", at(2025), at(2026), "2025"),
    ("3 months ago", at(2025, 12), at(2026), "2025-12"),
    ("two weeks ago", at(2026, 2, 23), at(2026, 3, 2), "the week of 2026-02-23"),
    ("a year ago", at(2025), at(2026), "2025"),
    ("in 3 months", at(2026, 6), at(2026, 7), "2026-06"),
    ("in ten days", at(2026, 3, 20), at(2026, 3, 21), None),
    ("until the end of next month", at(2026, 4, 24), at(2026, 5), "the end of April 2026"),
    ("the end of the month", at(2026, 3, 25), at(2026, 4), "the end of March 2026"),
    ("end of this month", at(2026, 3, 25), at(2026, 4), "the end of March 2026"),
    ("at the end of last month", at(2026, 2, 22), at(2026, 3), "the end of February 2026"),
    ("by the end of the year", at(2026, 12), at(2027), "by the end of 2026"),
    ("end of next year", at(2027, 12), at(2028), "the end of 2027"),
    ("end of last year", at(2025, 12), at(2026), "the end of 2025"),
    ("beginning of next month", at(2026, 4), at(2026, 4, 8), "the beginning of April 2026"),
    ("early next year", at(2027), at(2027, 5), "early 2027"),
    ("late last month", at(2026, 2, 21), at(2026, 3), "late February 2026"),
    ("the end of the week", at(2026, 3, 13), at(2026, 3, 16), "the end of the week of 2026-03-09"),
    ("end of this week", at(2026, 3, 13), at(2026, 3, 16), "the end of the week of 2026-03-09"),
    ("until the end of next week", at(2026, 3, 20), at(2026, 3, 23), "the end of the week of 2026-03-16"),
    ("end of last week", at(2026, 3, 6), at(2026, 3, 9), "the end of the week of 2026-03-02"),
    ("next Friday", at(2026, 3, 13), at(2026, 3, 14), None),
    ("since last Friday", at(2026, 3, 6), at(2026, 3, 7), None),
    ("next Tuesday", at(2026, 3, 17), at(2026, 3, 18), None),  # the note is of a Tuesday
    ("last Tuesday", at(2026, 3, 3), at(2026, 3, 4), None),
    ("last Monday", at(2026, 3, 9), at(2026, 3, 10), None),
    ("since Sunday", at(2026, 3, 8), at(2026, 3, 9), None),
    ("until Sunday", at(2026, 3, 15), at(2026, 3, 16), None),
    ("by Sunday", at(2026, 3, 15), at(2026, 3, 16), "by 2026-03-15"),
    ("on Tuesday", at(2026, 3, 10), at(2026, 3, 11), None),
    ("the end of 14 March", at(2026, 3, 14), at(2026, 3, 15), "the end of 2026-03-14"),
    ("end of 2026-03-14", at(2026, 3, 14), at(2026, 3, 15), "the end of 2026-03-14"),
    ("until the end of tomorrow", at(2026, 3, 11), at(2026, 3, 12), "the end of 2026-03-11"),
]

YEARS = [
    ("31 December", "future", at(2026, 12, 31)),
    ("31 December", "past", at(2025, 12, 31)),
    ("1 March", None, at(2026, 3, 1)),
    ("20 March", None, at(2026, 3, 20)),
    ("march", None, at(2026, 3)),
    ("end of March", None, at(2026, 3, 25)),
    ("end of March", "past", at(2025, 3, 25)),
    ("autumn", "future", at(2026, 9)),
    ("autumn", "past", at(2025, 9)),
    ("since autumn", None, at(2025, 9)),
    ("until autumn", None, at(2026, 9)),
    ("till July", None, at(2026, 7)),
    ("by the end of January", None, at(2027, 1, 25)),
    ("until the end of February", None, at(2026, 2, 22)),  # it ended less than a month before the note
    ("until autumn", "past", at(2025, 9)),
    ("winter", "past", at(2025, 12)),
    ("on Sunday", "past", at(2026, 3, 8)),
    ("on Sunday", "future", at(2026, 3, 15)),
    ("this Sunday", "future", at(2026, 3, 15)),
    ("Tuesday", "past", at(2026, 3, 10)),
    ("Tuesday", "future", at(2026, 3, 10)),
]

REFUSED = [
    ("31 November", "there is no such date"),
    ("29 February 2025", "there is no such date"),
    ("32 March 2026", "there is no such date"),
    ("autumn", "say the year: the note does not tell which one is meant"),
    ("31 December", "say the year"),
    ("winter 2026", "a winter lies in two years: send for example winter 2026/27"),
    ("winter 2026/28", "a winter lies in two years"),
    ("autumn 2026/27", "there is no such date"),
    ("in 999 years", None),
    ("999 years ago", None),
    ("December 9999", "there is no such date"),
    ("soon", "is not a date. Use 2026-03-14, "),
    ("on Sunday", "say the date, or last or next Sunday: the note does not tell which one is meant"),
    ("Sunday next month", "is not a date"),
    ("the month", "is not a date"),
    ("late the month", "is not a date"),
    ("early next week", "is not a date"),
    ("after 2017", "is not a date"),
    ("around 2017", "is not a date"),
    ("end of 2026-03", "is not a date"),
    ("end of 2026-03-14T10:00", "is not a date"),
    ("2026-13", "is not a date"),
    ("5/6/2026", "is not a date"),
    ("mai 2017", "is not a date"),
    ("2０17", "is not a date"),
    ("by by 2017", "is not a date"),
    ("", "is not a date"),
    ("a" * 500, "this text is not a date"),
]


@pytest.mark.parametrize(("text", "start", "end", "words"), FORMS)
def test_a_date_is_a_period_and_keeps_its_words(text: str, start: datetime, end: datetime, words: str | None) -> None:
    found = parse_date_phrase(text, UTC, "valid_at", TUESDAY)
    assert (found.start, found.end, found.words) == (start, end, words)


@pytest.mark.parametrize("words", sorted({words for *_, words in FORMS if words}))
def test_what_is_shown_is_read_again_without_a_note(words: str) -> None:
    assert parse_date_phrase(words, UTC, "valid_at", None).words == words


@pytest.mark.parametrize(("text", "choice", "start"), YEARS)
def test_a_year_that_is_not_said_is_the_one_that_the_note_decides(
    text: str, choice: YearChoice, start: datetime
) -> None:
    assert parse_date_phrase(text, UTC, "valid_at", TUESDAY, choice).start == start


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_nothing_is_guessed(text: str, why: str | None) -> None:
    if why is None:  # far away, but in the calendar
        assert parse_date_phrase(text, UTC, "valid_at", TUESDAY)
        return
    with pytest.raises(InvalidInput) as refused:
        parse_date_phrase(text, UTC, "facts[0].valid_at", TUESDAY)
    assert refused.value.message.startswith("facts[0].valid_at: ")
    assert why in refused.value.message
    assert refused.value.message.endswith("Nothing was stored.")


@pytest.mark.parametrize(
    "text", ["in 3 months", "yesterday", "last week", "two years ago", "end of next month", "last Friday", "Friday"]
)
def test_nothing_counts_from_a_note_before_1900_or_from_none(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"reference_time before 1900; say the date itself\. Nothing was stored"):
        parse_date_phrase(text, UTC, "valid_at", at(1899, 12, 31))
    with pytest.raises(InvalidInput, match="say the date itself"):
        parse_date_phrase(text, UTC, "valid_at", None)


def test_days_are_those_of_the_zone() -> None:
    oslo = ZoneInfo("Europe/Oslo")
    late = at(2026, 3, 9, 23, 30)  # the tenth in Oslo
    assert parse_date_phrase("yesterday", oslo, "valid_at", late).start == at(2026, 3, 8, 23)
    assert parse_date_phrase("May 2017", oslo, "valid_at", late).start == at(2017, 4, 30, 22)


def test_words_belong_to_the_instants_of_their_period() -> None:
    assert words_at(at(2017), "2017", UTC) == "2017"
    assert words_at(at(2017, 5, 4), "2017", UTC) == "2017"
    assert words_at(at(2018), "2017", UTC, is_end=True) == "2017"
    assert words_at(at(2018, 1, 2), "2017", UTC, is_end=True) is None
    assert words_at(at(2018), "2017", UTC) is None
    assert words_at(at(2017), "nonsense", UTC) is None
    assert words_at(at(2017), ["2017"], UTC) is None
    assert words_at(None, "2017", UTC) is None
    assert date_at(at(2018), "2017", UTC).end == at(2018, 1, 2)


def test_a_date_holds_a_more_precise_one_within_it() -> None:
    year, month, other = (parse_date_phrase(text, UTC, "valid_at", None) for text in ("2017", "May 2017", "2018-01-01"))
    by = parse_date_phrase("by autumn 2027", UTC, "valid_at", None)
    assert year.holds(month)
    assert not month.holds(year)
    assert not year.holds(other)
    assert by.holds(month)  # it has no beginning
    assert not by.holds(parse_date_phrase("2027-12-01", UTC, "valid_at", None))


@pytest.mark.parametrize(
    "words",
    [
        *("2017", "2017-05", "May 2017", "Q3 2026", "1990s", "autumn 2026", "winter 2026/27", "early May 2017"),
        *("late 2017", "the end of March 2026", "the beginning of 2026", "mid summer 2026", "by autumn 2027"),
        *("the week of 2026-03-04", "the end of the week of 2026-03-09", "the end of 2026-03-09"),
    ],
)
def test_a_told_period_is_found_by_its_instants_and_its_end(words: str) -> None:
    period = parse_date_phrase(words, ZoneInfo("Europe/Oslo"), "valid_at", None)
    inside = period.start + (period.end - period.start) / 2
    for instant, is_around in (
        (period.start, True),
        (inside, True),
        (period.end, True),
        (period.start - timedelta(minutes=1), False),
        (period.end + timedelta(minutes=1), False),
    ):
        assert (period in told_around(instant, ZoneInfo("Europe/Oslo"))) == is_around, instant


@pytest.mark.parametrize(
    "text", ["until 14 March", "till March 14", "through 2026-03-14", "by 14 March", "until Saturday"]
)
def test_an_end_after_until_includes_its_day(text: str) -> None:
    end = parse_end_phrase(text, UTC, "invalid_at", TUESDAY, "future")
    assert (end.start, end.end, end.words) == (at(2026, 3, 14), at(2026, 3, 15), "the end of 2026-03-14")
    assert end.is_whole_day
    assert not end.is_day


@pytest.mark.parametrize("text", ["14 March", "on 14 March", "2026-03-14", "until 2026-03-14T10:00", "until May"])
def test_any_other_end_is_read_like_a_start(text: str) -> None:
    read = parse_date_phrase(text, UTC, "invalid_at", TUESDAY, "future")
    assert parse_end_phrase(text, UTC, "invalid_at", TUESDAY, "future") == read
    assert not read.is_whole_day
