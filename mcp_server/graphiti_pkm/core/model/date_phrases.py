"""Reads dates in words, with the precision that was given: "2017", "autumn 2026", "end of March", "last week".

A date is a period; an instant of it is stored (``facts.rules`` says which), and its words with it. Only the forms below
are read: nothing is guessed. A date without a year, a weekday and words such as "yesterday" count from the note; "last
week" is kept as "the week of 2026-03-02". Seasons are those of the northern hemisphere and begin with their month.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal, TypeAlias

from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.times import TimePoint, in_zone, parse_time, shifted
from graphiti_pkm.errors import InvalidInput

START_WORDS, END_WORDS = "told_start", "told_end"
"""Attributes of a fact: the words of its start and end, where these are less precise than a day."""

YearChoice: TypeAlias = Literal["past", "future", "near", "near or future"] | None
"""Which year to assume for a date without one: the past one for what happened, the next one for plans; "near": the
only one that is near to the note; "near or future": else the next one. None: as the words say, else "near"."""

Bound: TypeAlias = Literal["through", "within"] | None
"""What words say of an end in a period: "until March" is through it, "in March" and "this month" are within it."""

_Days: TypeAlias = tuple[date, date]
"""First day, and the day after the last."""
_Read: TypeAlias = "tuple[_Days, str | None]"
"""Days and the words to keep; none for a day."""
_Match: TypeAlias = "re.Match[str]"

_LONGEST = 60
_NEAR = timedelta(days=31)
"""A state of "31 December" is of the year in which that is so near to the note, if it is in one only."""
_FIRST_YEAR = 1900
"""Notes of earlier times say their dates in full: weeks and months are not counted from them."""
_DECEMBER = 12
_LEAP = 8
"""Years between two leap days, at most."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""Their first months. Questions, which are read more loosely, name months and seasons in the same words."""
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DAYS_FROM = {"day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "day after tomorrow": 2}
_WHICH = {"last": -1, "this": 0, "the": 0, "next": 1}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""Questions name them in the same words."""
_FRIDAY = timedelta(days=4)
_WEEK = timedelta(days=7)
_MINUTE = timedelta(minutes=1)
"""How long an instant is that is told to the minute."""
_BY_DAY = re.compile(r"by [0-9]{4}-[0-9]{2}-[0-9]{2}")
_WHOLE_DAY = re.compile(r"the end of [0-9]{4}-[0-9]{2}-[0-9]{2}")
_END_OF = "end of "

MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_MONTH = rf"{MONTH}\.?"
_YEAR = r"(?P<year>[0-9]{4})"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_WARM_SEASON = r"(?P<season>spring|summer|autumn|fall)"
_PART = r"(?:(?P<part>early|mid|late)[ -]|(?P<edge>beginning|start|middle|end) of )"
_COUNT = r"(?P<count>[0-9]{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_UNIT = r"(?P<unit>day|week|month|year)"
_BEFORE = re.compile(r"^(?:(?:in|on|at|since|from|until|till|through|during|the) )*", re.IGNORECASE)
_BOUNDS: Mapping[Literal["through", "within"], tuple[str, ...]] = {
    "through": ("until ", "till ", "through ", "by "),
    "within": ("in ", "during ", "this "),
}
_FORMS = (
    "2026-03-14, 2026-03-14T09:30:00+01:00, 2026-03, 2026, 14 March 2026, autumn 2026, winter 2026/27, Q3 2026, 1990s, "
    "end of March 2026, early 2017, by autumn 2027, last week, 3 months ago, in 2 weeks, end of next month, next Friday"
)


class DatePeriod(Record):
    """A period ``[start, end)``; ``words``: how it is shown, None where the first instant says it all."""

    start: datetime
    end: datetime
    words: str | None = None
    bound: Bound = None

    def holds(self, other: "DatePeriod") -> bool:
        """Whether another date lies within this one; a date given as "by autumn" has no beginning."""
        begins = (self.words or "").startswith("by ") or self.start <= other.start
        return begins and other.end <= self.end

    def has(self, at: datetime) -> bool:
        """Whether an instant lies within it."""
        return self.start <= at < self.end

    @property
    def is_day(self) -> bool:
        """Whether it is one day, rather than an instant or a longer period."""
        return self.end - self.start > _MINUTE and (self.words is None or bool(_BY_DAY.fullmatch(self.words)))

    @property
    def is_whole_day(self) -> bool:
        """Whether it is a day that what ends with it includes."""
        return self.words is not None and bool(_WHOLE_DAY.fullmatch(self.words))


class _Undecided(Exception):
    """The text is understood, but not which date it means."""


def parse_date_phrase(
    text: str, zone: tzinfo, field: str, reference: datetime | None, choice: YearChoice = None
) -> DatePeriod:
    """The date that ``text`` means in an episode of the date ``reference``; ``field`` is named in the error.

    Raises:
        InvalidInput: it has none of the forms, there is no such day, or its year is not said and not clear.
    """
    given = text.strip()
    try:
        found = _read(given, zone, reference, choice)
    except (ValueError, OverflowError):
        raise _wrong(field, given, "there is no such date in the calendar. Nothing was stored.") from None
    except _Undecided as error:
        raise _wrong(field, given, f"{error} Nothing was stored.") from None
    if found is None:
        raise _wrong(field, given, f"is not a date. Use {_FORMS}. Nothing was stored.")
    return found


def parse_end_phrase(
    text: str, zone: tzinfo, field: str, reference: datetime | None, choice: YearChoice = None
) -> DatePeriod:
    """As ``parse_date_phrase``, of an end: "until 30 April" includes that day, which the day alone does not say."""
    found = parse_date_phrase(text, zone, field, reference, choice)
    return _whole_day(found, zone) if found.bound == "through" and found.is_day else found


def first_instant(reference: datetime, zone: tzinfo) -> datetime:
    """The first instant of the day from which the words of a note count."""
    return _midnight(_day_of(reference, zone), zone)


def date_at(at: datetime, words: object, zone: tzinfo, *, is_end: bool = False) -> DatePeriod:
    """A stored instant with the words stored with it, if it lies within what they say; else its day or its minute.

    ``is_end``: a fact may also end where the period does.
    """
    if isinstance(words, str):
        try:
            found = _read(words, zone, None, None)
        except (ValueError, OverflowError, _Undecided):
            found = None
        if found is not None and (found.has(at) or (is_end and at == found.end)):
            return found
    local = in_zone(at, zone)
    length = timedelta(days=1) if local.time() == time() else _MINUTE
    if local.second or local.microsecond:
        length = timedelta(microseconds=1)
    return DatePeriod(start=at, end=shifted(at, length))


def words_at(at: datetime | None, words: object, zone: tzinfo, *, is_end: bool = False) -> str | None:
    """The words stored with an instant, if they say when it is."""
    return None if at is None or words is None else date_at(at, words, zone, is_end=is_end).words


def told_around(at: datetime, zone: tzinfo) -> list[DatePeriod]:
    """All periods that can be told and that an instant lies in, or is the end of: "2026", "by May 2026", "Q2 2026"."""
    local = in_zone(at, zone).date()
    found: list[DatePeriod | None] = []
    for words in dict.fromkeys(_told_around(local)):
        with suppress(ValueError, OverflowError):  # at the edges of the calendar
            found.append(_read(words, zone, None, None))
    around = [period for period in found if period is not None and period.start <= at <= period.end]
    return [
        *around,
        *(period.model_copy(update={"words": f"by {period.words}", "bound": "through"}) for period in around),
    ]


def _told_around(day: date) -> Iterator[str]:
    """Words of the periods of a day, of the one before it, and of a few more."""
    before = day - timedelta(days=1) if day > date.min else day
    for year in dict.fromkeys((day.year, before.year)):
        wholes = [f"{year:04d}", *(f"{name} {year:04d}" for name in SEASONS if name != "winter")]
        wholes += [f"{_NAMES[one.month - 1]} {one.year:04d}" for one in (day, before) if one.year == year]
        for whole in wholes:
            yield whole
            yield from (f"{part} {whole}" for part in ("early", "mid", "late"))
            yield from (f"the {edge} of {whole}" for edge in ("beginning", "start", "middle", "end"))
        yield from (f"Q{quarter} {year:04d}" for quarter in range(1, 5))
        yield f"{year // 10 * 10:04d}s"
        if date.min.year < year < date.max.year:
            yield from (f"winter {one:04d}/{(one + 1) % 100:02d}" for one in (year - 1, year))
    yield from (f"{one.year:04d}-{one.month:02d}" for one in (day, before))
    days = [(day - timedelta(days=past)).isoformat() for past in range(8) if day.toordinal() > past]
    yield from (f"{part}the week of {one}" for one in days for part in ("", "the end of "))
    yield from (f"the end of {one}" for one in days[:2])


def without_date_words(attributes: Mapping[str, object]) -> dict[str, object]:
    """A fact's attributes without the words of its dates."""
    return {name: value for name, value in attributes.items() if name not in {START_WORDS, END_WORDS}}


def _wrong(field: str, given: str, what: str) -> InvalidInput:
    shown = repr(given) if len(given) <= _LONGEST else "this text"
    return InvalidInput(f"{field}: {shown} {what}" if what.startswith("is ") else f"{field}: {shown}: {what}")


def _read(given: str, zone: tzinfo, reference: datetime | None, choice: YearChoice) -> DatePeriod | None:
    if not given.isascii() or len(given) > _LONGEST:
        return None
    plain = " ".join(given.split())
    text = plain.lower()
    bound = next((one for one, words in _BOUNDS.items() if text.startswith(words)), None)
    is_by = text.startswith("by ")
    text = text.removeprefix("by ")
    today = None if reference is None else _day_of(reference, zone)
    if text.startswith("since "):
        choice = "past"
    elif choice is None and (is_by or text.startswith(("until ", "till "))):
        choice = "near or future"
    bare = _BEFORE.sub("", plain[3:] if is_by else plain, count=1)
    found = _iso(bare, zone) or _in_words(text, zone, today, choice) or _end_of_day(bare, zone, today, choice)
    if found is None:
        return None
    found = found.model_copy(update={"bound": bound})
    if not is_by:
        return found
    return found.model_copy(update={"words": f"by {found.words or in_zone(found.start, zone).date().isoformat()}"})


def _iso(given: str, zone: tzinfo) -> DatePeriod | None:
    try:
        point = parse_time(given, zone)
    except InvalidInput:
        return None
    return DatePeriod(start=point.instant, end=_end_of(point, zone), words=_iso_words(point, zone))


def _end_of(point: TimePoint, zone: tzinfo) -> datetime:
    day = in_zone(point.instant, zone).date()
    if point.precision == "instant":
        return shifted(point.instant, _MINUTE)
    lengths = {"day": 1, "month": monthrange(day.year, day.month)[1], "year": (date(day.year, 12, 31) - day).days + 1}
    return shifted(_midnight(day, zone), timedelta(days=lengths[point.precision]))


def _iso_words(point: TimePoint, zone: tzinfo) -> str | None:
    day = in_zone(point.instant, zone).date()
    return {"year": f"{day.year:04d}", "month": f"{day.year:04d}-{day.month:02d}"}.get(point.precision)


def _in_words(text: str, zone: tzinfo, today: date | None, choice: YearChoice) -> DatePeriod | None:
    bare = _BEFORE.sub("", text, count=1)
    for form in dict.fromkeys((text, bare)):
        for rule, read in _RULES:
            if match := rule.fullmatch(form):
                (first, after), words = read(match, today, choice)
                return DatePeriod(start=_midnight(first, zone), end=_midnight(after, zone), words=words)
    return None


def _end_of_day(given: str, zone: tzinfo, today: date | None, choice: YearChoice) -> DatePeriod | None:
    """The end of a day that is told in any form; other periods have forms of their own for their ends."""
    text = given.lower()
    if not text.startswith(_END_OF):
        return None
    day = _iso(given[len(_END_OF) :], zone) or _in_words(text.removeprefix(_END_OF), zone, today, choice)
    return _whole_day(day, zone) if day is not None and day.is_day else None


def _whole_day(day: DatePeriod, zone: tzinfo) -> DatePeriod:
    return day.model_copy(update={"words": f"the {_END_OF}{in_zone(day.start, zone).date().isoformat()}"})


def _month_day(match: _Match, today: date | None, choice: YearChoice) -> _Read:
    number, day = _number_of(match), int(match["day"])
    return _in_year(match, today, choice, lambda year: _one(date(year, number, day))), None


def _whole_month(match: _Match, today: date | None, choice: YearChoice) -> _Read:
    number = _number_of(match)
    days = _in_year(match, today, choice, lambda year: _months(year, number, 1))
    return days, f"{_NAMES[number - 1]} {days[0].year:04d}"


def _season(match: _Match, today: date | None, choice: YearChoice) -> _Read:
    name, number = match["season"], SEASONS[match["season"]]
    to = match["to"]
    if number != _DECEMBER and to:
        raise ValueError("only a winter lies in two years")
    is_right = bool(to) and int(to) == (int(match["year"]) + 1) % 10 ** len(to)
    if number == _DECEMBER and match["year"] and not is_right:
        raise _Undecided("a winter lies in two years: send for example winter 2026/27.")
    days = _in_year(match, today, choice, lambda year: _months(year, number, 3))
    year = days[0].year
    return days, f"{name} {year:04d}" + (f"/{(year + 1) % 100:02d}" if number == _DECEMBER else "")


def _part_of_month(match: _Match, today: date | None, choice: YearChoice) -> _Read:
    number, part = _number_of(match), match["part"] or match["edge"]
    days = _in_year(match, today, choice, lambda year: _days_of_part(part, year, number))
    return days, _part_words(match, f"{_NAMES[number - 1]} {days[0].year:04d}")


def _days_of_part(part: str, year: int, number: int) -> _Days:
    first, after = _months(year, number, 1)
    third, late = first.replace(day=11), first.replace(day=21)
    return {"early": (first, third), "late": (late, after), "end": (after - _WEEK, after)}.get(
        part, (first, first + _WEEK) if part in {"beginning", "start"} else (third, late)
    )


def _part_of_year(match: _Match, _today: date | None, _choice: YearChoice) -> _Read:
    return _part_of(match, int(match["year"]))


def _part_of(match: _Match, year: int) -> _Read:
    part = match["part"] or match["edge"]
    first, count = {"early": (1, 4), "late": (9, 4), "end": (12, 1), "mid": (5, 4), "middle": (5, 4)}.get(part, (1, 1))
    return _months(year, first, count), _part_words(match, f"{year:04d}")


def _part_of_unit(match: _Match, today: date | None, _choice: YearChoice) -> _Read:
    """A part of the month or year of the note, or of the one before or after it."""
    (first, _), _words = _unit(_counted(today), _WHICH[match["which"]], match["unit"])
    if match["unit"] == "year":
        return _part_of(match, first.year)
    days = _days_of_part(match["part"] or match["edge"], first.year, first.month)
    return days, _part_words(match, f"{_NAMES[first.month - 1]} {first.year:04d}")


def _end_of_week(match: _Match, today: date | None, _choice: YearChoice) -> _Read:
    """Friday to Sunday, or the last three of any seven days."""
    if match["date"]:
        first = date.fromisoformat(match["date"])
    else:
        (first, _), _words = _unit(_counted(today), _WHICH[match["which"]], "week")
    return (first + _FRIDAY, first + _WEEK), f"the end of the week of {first.isoformat()}"


def _part_of_season(match: _Match, today: date | None, choice: YearChoice) -> _Read:
    """One of its three months; parts of a winter, which lies in two years, are told as months."""
    part, first = match["part"] or match["edge"], SEASONS[match["season"]]
    month = first + {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1}.get(part, 2)
    days = _in_year(match, today, choice, lambda year: _months(year, month, 1))
    return days, _part_words(match, f"{match['season']} {days[0].year:04d}")


def _part_words(match: _Match, whole: str) -> str:
    return f"{match['part']} {whole}" if match["part"] else f"the {match['edge']} of {whole}"


def _quarter(match: _Match, _today: date | None, _choice: YearChoice) -> _Read:
    year, quarter = int(match["year"]), int(match["quarter"])
    return _months(year, 3 * quarter - 2, 3), f"Q{quarter} {year:04d}"


def _decade(match: _Match, _today: date | None, _choice: YearChoice) -> _Read:
    first = int(match["decade"])
    return (date(first, 1, 1), date(first + 10, 1, 1)), f"{first:04d}s"


def _week(match: _Match, _today: date | None, _choice: YearChoice) -> _Read:
    day = date.fromisoformat(match["date"])
    return (day, day + _WEEK), f"the week of {day.isoformat()}"


def _near_day(match: _Match, today: date | None, _choice: YearChoice) -> _Read:
    return _one(_counted(today) + timedelta(days=_DAYS_FROM[match["near"]])), None


def last_weekday(today: date, number: int) -> date:
    """The last such weekday before a day; ``number``: 0 for Monday."""
    return today - timedelta(days=(today.weekday() - number) % 7 or 7)


def _weekday(match: _Match, today: date | None, choice: YearChoice) -> _Read:
    """The last one before the note, or the next one after it; without either word as a day without a year is read."""
    day, number = _counted(today), WEEKDAYS.index(match["weekday"])
    last = last_weekday(day, number)
    following = last + _WEEK if last + _WEEK > day else last + 2 * _WEEK
    if match["which"] in {"last", "next"}:
        return _one(last if match["which"] == "last" else following), None
    name = match["weekday"].capitalize()
    around = [_one(one) for one in (last, *([day] if day.weekday() == number else []), following)]
    return _decided(around, day, choice, f"say the date, or last or next {name}"), None


def _which(match: _Match, today: date | None, _choice: YearChoice) -> _Read:
    return _unit(_counted(today), _WHICH[match["which"]], match["unit"])


def _ago(match: _Match, today: date | None, _choice: YearChoice) -> _Read:
    return _unit(_counted(today), -_count(match), match["unit"])


def _ahead(match: _Match, today: date | None, _choice: YearChoice) -> _Read:
    return _unit(_counted(today), _count(match), match["unit"])


def _unit(today: date, count: int, unit: str) -> _Read:
    """The day, week, month or year that lies so many of them ahead."""
    if unit == "day":
        return _one(today + timedelta(days=count)), None
    if unit == "week":
        monday = today + timedelta(days=7 * count - today.weekday())
        return (monday, monday + _WEEK), f"the week of {monday.isoformat()}"
    if unit == "year":
        return _months(today.year + count, 1, 12), f"{today.year + count:04d}"
    year, month = divmod(today.year * 12 + today.month - 1 + count, 12)
    return _months(year, month + 1, 1), f"{year:04d}-{month + 1:02d}"


_RULES: tuple[tuple["re.Pattern[str]", Callable[[_Match, date | None, YearChoice], _Read]], ...] = (
    (re.compile(rf"{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?"), _month_day),
    (re.compile(rf"{_MONTH} {_DAY}(?:,? {_YEAR})?"), _month_day),
    (re.compile(rf"{_MONTH}(?:,? {_YEAR})?"), _whole_month),
    (re.compile(rf"{_SEASON}(?: (?:of )?{_YEAR}(?:/(?P<to>[0-9]{{2}}|[0-9]{{4}}))?)?"), _season),
    (re.compile(rf"{_PART}{_MONTH}(?: {_YEAR})?"), _part_of_month),
    (re.compile(rf"{_PART}{_WARM_SEASON}(?: {_YEAR})?"), _part_of_season),
    (re.compile(rf"{_PART}{_YEAR}"), _part_of_year),
    (re.compile(rf"q(?P<quarter>[1-4]) {_YEAR}"), _quarter),
    (re.compile(r"(?P<decade>[0-9]{3}0)s"), _decade),
    (re.compile(r"week of (?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"), _week),
    (re.compile(rf"(?P<near>{'|'.join(_DAYS_FROM)})"), _near_day),
    (re.compile(r"(?P<which>last|this|next) (?P<unit>week|month|year)"), _which),
    (re.compile(rf"{_PART}(?P<which>last|this|next|(?<=of )the) (?P<unit>month|year)"), _part_of_unit),
    (
        re.compile(r"end of (?:the week of (?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})|(?P<which>last|this|the|next) week)"),
        _end_of_week,
    ),
    (re.compile(rf"(?:(?P<which>last|this|next) )?(?P<weekday>{'|'.join(WEEKDAYS)})"), _weekday),
    (re.compile(rf"{_COUNT} {_UNIT}s? ago"), _ago),
    (re.compile(rf"in {_COUNT} {_UNIT}s?"), _ahead),
)


def _in_year(match: _Match, today: date | None, choice: YearChoice, days_of: Callable[[int], _Days]) -> _Days:
    """The days in the year that is said; without one, those that the note decides."""
    if match["year"]:
        return days_of(int(match["year"]))
    if today is None:
        raise _Undecided("say the year.")
    return _decided(list(_around(today.year, days_of)), today, choice, "say the year")


def _decided(around: Sequence[_Days], today: date, choice: YearChoice, ask: str) -> _Days:
    """Those of several days, in order, that the note decides; else the error asks for what is missing."""
    last = next((days for days in reversed(around) if days[0] <= today), None)
    following = next((days for days in around if days[1] > today), None)
    if last is None or following is None:
        raise ValueError("no such day near the note")
    if last == following or choice == "past":
        return last
    if choice == "future":
        return following
    is_near = (today - last[1] < _NEAR, following[0] - today < _NEAR)
    if is_near[0] == is_near[1]:
        if choice == "near or future":
            return following
        raise _Undecided(f"{ask}: the note does not tell which one is meant.")
    return last if is_near[0] else following


def _around(year: int, days_of: Callable[[int], _Days]) -> Iterator[_Days]:
    """The days in each year near this one that has them: 29 February is in some years only."""
    for one in range(year - _LEAP, year + _LEAP + 1):
        with suppress(ValueError):
            yield days_of(one)


def _day_of(reference: datetime, zone: tzinfo) -> date:
    """The day on which a note was written: that of its own offset, if it has one; UTC says nothing of where it was."""
    return reference.date() if reference.utcoffset() else in_zone(reference, zone).date()


def _counted(today: date | None) -> date:
    """The day from which relative words count."""
    if today is None:
        raise _Undecided("say the date itself.")
    if today.year < _FIRST_YEAR:
        raise _Undecided(f"it counts from a reference_time before {_FIRST_YEAR}; say the date itself.")
    return today


def _count(match: _Match) -> int:
    said = match["count"]
    return int(said) if said.isdigit() else 1 if said in {"a", "an"} else _NUMBERS.index(said)


def _number_of(match: _Match) -> int:
    return MONTHS.index(match["month"][:3]) + 1


def _one(day: date) -> _Days:
    return day, day + timedelta(days=1)


def _months(year: int, first: int, count: int) -> _Days:
    years, last = divmod(first - 1 + count, 12)
    return date(year, first, 1), date(year + years, last + 1, 1)


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
