"""Parses dates in questions: "last March", "on 2 September", "in spring 2024", "two weeks ago".

A small grammar for English; anything it does not know is ignored. Periods are half-open and begin at local midnight. A
date without a year is the latest one that has begun; the same days of other years count half.
"""

import re
from calendar import isleap, monthrange
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TypeAlias

from graphiti_pkm.core.model.date_phrases import MONTH, MONTHS, SEASONS, WEEKDAYS, last_weekday
from graphiti_pkm.core.model.records import Record
from graphiti_pkm.core.model.times import in_zone

MOST_PERIODS = 4
"""More dates than this make a text a list of dates rather than a question about one."""
_READ = 4_000
"""Characters of a text that are searched."""
_HALF = 0.5

_Days: TypeAlias = tuple[date, date]
"""First day, and the day after the last."""
_Found: TypeAlias = tuple[_Days, bool, tuple[int, int]]
"""Days, whether no year was named, and the position in the text."""
_Match: TypeAlias = "re.Match[str]"
_Read: TypeAlias = Callable[[_Match, date], _Days]

_WEEKDAYS = tuple(name[:3] for name in WEEKDAYS)
_FEASTS = {"eve of new year": (12, 31), "day of new year": (1, 1), "eve": (12, 24), "": (12, 25)}
_NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PARTS = {"early": (1, 10), "beginning": (1, 10), "start": (1, 10), "mid": (11, 20), "middle": (11, 20)}
_LATE = 21
"""Early, middle and late are the first ten days of a month, the next ten, and the rest."""
_LEAP_DAY = (2, 29)
_FIRST, _LAST = date(1, 1, 1), date(9999, 12, 31)

_IN = r"(?:in|during|of|since|until|till|by|from|to|between|and|before|after|around|throughout)\s+"
_MONTH = rf"{MONTH}\b\.?"
_CAPITAL_MONTH = rf"(?=(?-i:[A-Z])){_MONTH}"
"""On their own, "may" and "march" count only with a capital."""
_YEAR = r"(?P<year>[12]\d{3})"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_PART = r"(?P<part>early|mid|late|beginning|start|middle|end)[\s-]+(?:in\s+|of\s+)?(?:the\s+year\s+)?"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_COUNT = r"(?P<count>\d{1,3}|a\s+couple\s+of|a\s+few|few|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_UNIT = r"(?P<unit>day|week|month|year)"


class Period(Record):
    """A period in UTC that a text names."""

    start: datetime
    end: datetime
    is_yearly: bool = False
    """True when no year was named."""


def periods_in(text: str, reference: datetime, zone: tzinfo) -> list[Period]:
    """The periods that a text names, in order, relative to ``reference``; empty if there are too many."""
    text = " ".join(text[:_READ].split())
    today = in_zone(reference, zone).date()
    found = list(_joined(text, _found(text, today), today))
    if len(found) > MOST_PERIODS:
        return []
    return [_period(days, zone, is_yearly=is_yearly) for days, is_yearly in found]


def told_times(text: str, reference: datetime, zone: tzinfo) -> tuple[str, list[Period]]:
    """The text without the dates that say when something was, and their periods.

    A date that may be part of a name stays: "the budget of 2025", "the Christmas party", "a gift from April".
    """
    plain, rest = " ".join(text[:_READ].split()), text[_READ:]
    today = in_zone(reference, zone).date()
    found = [one for one in _found(plain, today) if _says_when(plain, *one[2])]
    joined = list(_joined(plain, found, today))
    if not joined or len(joined) > MOST_PERIODS:
        return text, []
    for _, _, (begin, stop) in reversed(found):
        plain = plain[:begin] + plain[stop:]
    return plain + rest, [_period(days, zone, is_yearly=is_yearly) for days, is_yearly in joined]


def nearness(moment: datetime, period: Period, zone: tzinfo) -> float:
    """1 for an instant inside, 0.5 for the same days of another year if none was named, else 0."""
    if period.start <= moment < period.end:
        return 1.0
    if not period.is_yearly:
        return 0.0
    day, first = in_zone(moment, zone).date(), in_zone(period.start, zone).date()
    length = (period.end - period.start).days
    for year in (day.year, day.year - 1):  # a winter begins in the year before
        start = _day_of(year, first.month, first.day)
        if start <= day < _plus(start, max(length, 1)):
            return _HALF
    return 0.0


def in_years_before(period: Period, latest: datetime, zone: tzinfo, count: int) -> list[Period]:
    """The same days in so many years, the latest first that had begun by ``latest``; all count half."""
    first, until = in_zone(period.start, zone).date(), in_zone(latest, zone).date()
    length = max((period.end - period.start).days, 1)
    years = range(until.year, max(until.year - count - 1, 0), -1)
    starts = [start for year in years if (start := _day_of(year, first.month, first.day)) <= until][:count]
    return [
        Period(start=_midnight(start, zone), end=_midnight(_plus(start, length), zone), is_yearly=True)
        for start in starts
    ]


def _found(text: str, today: date) -> list[_Found]:
    """The matches of all rules; where two overlap, the earlier rule wins."""
    taken: list[_Found] = []
    for rule, read in _RULES:
        for match in rule.finditer(text):
            if any(match.start() < stop and begin < match.end() for _, _, (begin, stop) in taken):
                continue
            try:
                days = read(match, today)
            except (ValueError, OverflowError):  # no such day, or beyond the calendar
                continue
            given = match.groupdict()
            named = given.get("month") or given.get("season") or given.get("feast")
            is_yearly = bool(named) and not given.get("year") and not given.get("which")
            taken.append((days, is_yearly, match.span()))
            if len(taken) > 2 * MOST_PERIODS:  # too many, even if pairs of them are ranges
                return taken
    return sorted(taken, key=lambda each: each[2])


def _joined(text: str, found: list[_Found], today: date) -> Iterator[tuple[_Days, bool]]:
    """Joins two dates to a range, and a bound to an open period; other dates stay as they are."""
    place = 0
    while place < len(found):
        (start, end), is_yearly, (begin, stop) = found[place]
        place += 1
        head = _HEAD.match(text, begin, stop)
        lead = _LEAD.search(text, 0, head.end() if head else begin)
        word = lead["word"].lower() if lead else ""
        if word in {"between", "from"} and place < len(found):
            (start_2, end_2), is_yearly_2, (begin_2, stop_2) = found[place]
            if _AND.fullmatch(text[stop:begin_2]) or _AND_HEAD.match(text[begin_2:stop_2]):
                place += 1
                if is_yearly and not is_yearly_2:
                    start = _day_of(start_2.year, start.month, start.day)
                    start = start if start <= start_2 else _day_of(start_2.year - 1, start.month, start.day)
                if start < end_2:
                    yield (start, end_2), is_yearly and is_yearly_2
                continue
        days = {"since": (start, _plus(today, 1)), "after": (end, _LAST)}.get(word, (start, end))
        if word in {"before", "until", "till"}:
            days = _FIRST, start
        if days[0] < days[1]:
            yield days, is_yearly and days == (start, end)


def _says_when(text: str, begin: int, stop: int) -> bool:
    """Whether a date follows a word that dates have, or is one like "last week", and no noun or "'s" goes with it."""
    if not (_WHEN.match(text, begin, stop) or _WHEN_BEFORE.search(text, 0, begin) or _AGO.search(text, begin, stop)):
        return False
    return not _OWNS.match(text, stop) and not (_FEAST.search(text, begin, stop) and _NOUN.match(text, stop))


_AT = "in|on|at|over|during|since|until|till|before|after|around|throughout|between"
_WHEN = re.compile(rf"(?:{_AT}|last|past|this|yesterday|today|tonight|the\s+day\s+before)\b", re.IGNORECASE)
_WHEN_BEFORE = re.compile(rf"(?<!\w)(?:{_AT}|between\s[^.?!]{{1,40}}\sand)\s+(?:the\s+)?$", re.IGNORECASE)
_AGO = re.compile(r"\bago$", re.IGNORECASE)
_OWNS = re.compile(r"['’]")
_FEAST = re.compile(r"christmas|new\s+year", re.IGNORECASE)
_NOUN = re.compile(r"\s+(?!(?:and|or|did|do|does|was|were|is|are|with|in|at)\b)\w", re.IGNORECASE)
_HEAD = re.compile(_IN, re.IGNORECASE)
_LEAD = re.compile(r"(?<!\w)(?P<word>between|from|since|after|before|until|till)\s+(?:the\s+)?$", re.IGNORECASE)
_AND = re.compile(r"\s*+(?:,|and|to|until|till|-|–)?\s*+(?:the\s+)?", re.IGNORECASE)
_AND_HEAD = re.compile(r"(?:and|to|until|till)\s", re.IGNORECASE)


def _iso(match: _Match, _today: date) -> _Days:
    if match["day"]:
        return _one(date(int(match["year"]), int(match["number"]), int(match["day"])))
    return _month(int(match["year"]), int(match["number"]))


def _day_month(match: _Match, today: date) -> _Days:
    number, day = _number_of_month(match), int(match["day"])
    if match["year"]:
        return _one(date(int(match["year"]), number, day))
    if (number, day) == _LEAP_DAY:
        year = next((year for year in range(today.year, 0, -1) if _had_leap_day(year, today)), today.year)
        return _one(date(year, *_LEAP_DAY))
    return _one(_latest(today, lambda year: date(year, number, day)))


def _part_of_month(match: _Match, today: date) -> _Days:
    number = _number_of_month(match)
    year = match.groupdict().get("year")
    is_last = match.groupdict().get("which") in {"last", "past"}
    if year:
        start, end = _month(int(year), number)
    elif is_last:
        start, end = _month(*_month_before(today, number))
    else:
        start, end = _month(_latest(today, lambda year: date(year, number, 1)).year, number)
    return _part(match.groupdict().get("part"), start, end)


def _part_of_year(match: _Match, _today: date) -> _Days:
    start = date(int(match["year"]), 1, 1)
    third = {"early": (1, 4), "beginning": (1, 4), "start": (1, 4), "mid": (5, 8), "middle": (5, 8)}
    first, last = third.get(match["part"].lower(), (9, 12))
    return start.replace(month=first), _month(start.year, last)[1]


def _season(match: _Match, today: date) -> _Days:
    number = SEASONS[match["season"].lower()]
    if match.groupdict().get("year"):
        return _three_months(int(match["year"]), number)
    latest = _latest(today, lambda year: date(year, number, 1)).year
    days = _three_months(latest, number)
    if (match.groupdict().get("which") or "").lower() == "last" and days[1] > today:
        return _three_months(latest - 1, number)
    return days


def _feast(match: _Match, today: date) -> _Days:
    text = match["feast"].lower()
    eve = "eve" if "eve" in text else ""
    number, day = _FEASTS[f"{eve or 'day'} of new year" if "new" in text else eve]
    if match["year"]:
        return _one(date(int(match["year"]), number, day))
    return _one(_latest(today, lambda year: date(year, number, day)))


_NEAR = {"day": 0, "week": 3, "month": 15, "year": 45}
"""How many days before and after are included in "three weeks ago"."""


def _back(today: date, count: int, unit: str) -> date:
    """The day that many days, weeks, months or years ago."""
    if unit in {"day", "week"}:
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    return _months_back(today, count * (12 if unit == "year" else 1))


def _ago(match: _Match, today: date) -> _Days:
    count, unit = _count(match["count"]), match["unit"].lower()
    day = _back(today, count, unit)
    around = _NEAR[unit]
    return day - timedelta(days=around), _plus(day, around + 1)


def _last(match: _Match, today: date) -> _Days:
    unit = match["unit"].lower()
    if match["count"]:
        return _back(today, _count(match["count"]), unit), _plus(today, 1)
    if unit == "day":
        raise ValueError("no such expression")
    if unit == "week":
        monday = today - timedelta(days=today.weekday())
        return monday - timedelta(weeks=1), monday
    if unit == "month":
        return _month(*_month_before(today, (today.month - 2) % 12 + 1))
    return date(today.year - 1, 1, 1), date(today.year, 1, 1)


def _this(match: _Match, today: date) -> _Days:
    unit = match["unit"].lower()
    if unit == "week":
        monday = today - timedelta(days=today.weekday())
        return monday, _plus(monday, 7)
    if unit == "month":
        return _month(today.year, today.month)
    return date(today.year, 1, 1), _plus(date(today.year, 12, 31), 1)


def _weekday(match: _Match, today: date) -> _Days:
    return _one(last_weekday(today, _WEEKDAYS.index(match["weekday"][:3].lower())))


def _near_day(match: _Match, today: date) -> _Days:
    words = match["near"].lower()
    back = 2 if "before" in words else 1 if words.startswith(("yesterday", "last")) else 0
    return _one(today - timedelta(days=back))


def _whole_year(match: _Match, _today: date) -> _Days:
    start = date(int(match["year"]), 1, 1)
    return start, _plus(start.replace(month=12, day=31), 1)


def _rule(expression: str, read: _Read) -> tuple["re.Pattern[str]", _Read]:
    return re.compile(rf"(?<![\w.-])(?:{expression})(?![\w-])", re.IGNORECASE), read


_RULES = (
    _rule(r"(?P<year>\d{4})-(?P<number>\d{2})(?:-(?P<day>\d{2}))?", _iso),
    _rule(rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?", _day_month),
    _rule(rf"{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?", _day_month),
    _rule(rf"(?:{_PART})?{_MONTH}(?:\s+of)?,?\s+{_YEAR}", _part_of_month),
    _rule(rf"(?:{_PART})?(?P<which>last|this|past)\s+{_MONTH}", _part_of_month),
    _rule(rf"{_PART}{_CAPITAL_MONTH}", _part_of_month),
    _rule(rf"{_IN}{_CAPITAL_MONTH}", _part_of_month),
    _rule(rf"(?:the\s+)?{_SEASON}(?:\s+of)?,?\s+{_YEAR}", _season),
    _rule(rf"(?P<which>last|this|past)\s+{_SEASON}", _season),
    _rule(rf"{_IN}(?:the\s+)?{_SEASON}", _season),
    _rule(
        r"(?:(?P<which>last|this)\s+)?(?P<feast>new\s+year['’]?s\s+(?:eve|day)|christmas(?:\s+eve)?)(?:\s+day)?"
        rf"(?:,?\s+(?:of\s+)?{_YEAR})?",
        _feast,
    ),
    _rule(rf"{_COUNT}\s+{_UNIT}s?\s+ago", _ago),
    _rule(rf"(?:last|past)\s+(?:{_COUNT}\s+)?{_UNIT}s?", _last),
    _rule(rf"this\s+{_UNIT}", _this),
    _rule(r"(?:last|on|this|past)\s+(?P<weekday>mon|tues?|wednes|wed|thurs?|fri|satur|sat|sun)day", _weekday),
    _rule(r"(?P<near>the\s+day\s+before\s+yesterday|yesterday|last\s+night|today|tonight)(?:['’]s)?", _near_day),
    _rule(rf"{_PART}{_YEAR}", _part_of_year),
    _rule(rf"(?:{_IN}|(?:the\s+)?year\s+){_YEAR}", _whole_year),
)
"""Longer expressions first."""


def _period(days: _Days, zone: tzinfo, *, is_yearly: bool) -> Period:
    return Period(start=_midnight(days[0], zone), end=_midnight(days[1], zone), is_yearly=is_yearly)


def _midnight(day: date, zone: tzinfo) -> datetime:
    try:
        return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
    except OverflowError:  # the first or last day of the calendar
        return datetime.combine(day, time(), tzinfo=UTC)


def _one(day: date) -> _Days:
    return day, _plus(day, 1)


def _month(year: int, number: int) -> _Days:
    return date(year, number, 1), _plus(date(year, number, monthrange(year, number)[1]), 1)


def _three_months(year: int, number: int) -> _Days:
    last = (number + 1) % 12 + 1
    return date(year, number, 1), _month(year + (number > last), last)[1]


def _part(part: str | None, start: date, end: date) -> _Days:
    if not part:
        return start, end
    first, last = _PARTS.get(part.lower(), (_LATE, 0))
    return start.replace(day=first), _plus(start.replace(day=last), 1) if last else end


def _latest(today: date, in_year: Callable[[int], date]) -> date:
    """The latest such day of a year that has begun."""
    return day if (day := in_year(today.year)) <= today else in_year(today.year - 1)


def _had_leap_day(year: int, today: date) -> bool:
    return isleap(year) and date(year, *_LEAP_DAY) <= today


def _month_before(today: date, number: int) -> tuple[int, int]:
    """Year and number of the latest such month that has ended."""
    return (today.year if number < today.month else today.year - 1), number


def _months_back(today: date, count: int) -> date:
    years, month = divmod(today.year * 12 + today.month - 1 - count, 12)
    return _day_of(years, month + 1, today.day)


def _day_of(year: int, month: int, day: int) -> date:
    """That day, or the last day of a shorter month."""
    return date(year, month, min(day, monthrange(year, month)[1]))


def _plus(day: date, days: int) -> date:
    return day + timedelta(days=days) if (_LAST - day).days > days else _LAST


def _number_of_month(match: _Match) -> int:
    return MONTHS.index(match["month"][:3].lower()) + 1


def _count(text: str) -> int:
    words = text.lower().split()
    if "couple" in words:
        return 2
    if "few" in words:
        return 3
    return int(words[0]) if words[0].isdigit() else max(_NUMBERS.index("a" if words[0] == "an" else words[0]), 1)
