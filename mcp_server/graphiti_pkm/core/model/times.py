"""Parses instants, dates, months and years as callers write them, and shows validity.

Accepted: an ISO-8601 datetime, a date, a month (``2026-02``) or a year (``2026``), with hyphens. A month or year means
its first instant; dates of facts are read as periods by ``date_phrases``. Text without an offset is in the configured
zone; values are stored in UTC.
"""

import re
from datetime import MAXYEAR, UTC, datetime, time, timedelta, tzinfo
from typing import Literal

from graphiti_pkm.core.model.records import FactKind, Record
from graphiti_pkm.errors import InvalidInput

Precision = Literal["year", "month", "day", "instant"]

_YEAR = re.compile(r"[0-9]{4}")
_MONTH = re.compile(r"([0-9]{4})-([0-9]{1,2})")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_STARTS_WITH_A_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ]|$)")
"""Python accepts more: weeks (2026-W03) and days without hyphens, which may as well be plain numbers."""
_LONGEST = 40
_DECEMBER = 12
_DAY_CHARS = len("2026-03-14")
_EDGES = ("the beginning", "the start", "the end")


class TimePoint(Record):
    """An instant with its precision."""

    instant: datetime
    precision: Precision
    offset: timedelta | None = None
    """The offset that the text gives."""


def parse_time(text: str, zone: tzinfo, field: str = "date") -> TimePoint:
    """The instant that ``text`` means, aware UTC; ``field`` is named in the error.

    Raises:
        InvalidInput: it is no ISO date, datetime, month or year, or lies outside the years 1 to 9999.
    """
    given = text.strip()
    try:
        local, precision = _read(given)
        aware = local if local.tzinfo is not None else local.replace(tzinfo=zone)
        return TimePoint(instant=aware.astimezone(UTC), precision=precision, offset=local.utcoffset())
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{field}: {_shown(given)} is not a date. Use 2026-03-14, 2026-03-14T09:30:00+01:00, 2026-03 or 2026."
        ) from None


def parse_instant(text: str, zone: tzinfo, field: str = "date") -> datetime:
    """As ``parse_time``, without the precision."""
    return parse_time(text, zone, field).instant


def check_period(
    after: datetime | None, before: datetime | None, names: tuple[str, str], between: str = "date"
) -> None:
    """Raises InvalidInput if nothing can lie between two instants that a caller gave under these names."""
    if after is not None and before is not None and before <= after:
        first, end = names
        raise InvalidInput(f"{end} must be later than {first}: {first} <= {between} < {end}.")


def whole_period(text: str, zone: tzinfo, field: str = "date") -> tuple[datetime, datetime] | None:
    """The start of a month or year and of the next one; None for anything else, and for the last in the calendar.

    Raises:
        InvalidInput: it is no date.
    """
    point = parse_time(text, zone, field)
    if point.precision not in {"month", "year"}:
        return None
    local = in_zone(point.instant, zone)
    month = 1 if point.precision == "year" or local.month == _DECEMBER else local.month + 1
    year = local.year + (month == 1)
    return (point.instant, parse_instant(f"{year:04d}-{month:02d}", zone)) if year <= MAXYEAR else None


def iso(moment: datetime) -> str:
    """Canonical ISO-8601 in UTC with offset; a naive datetime is taken as UTC."""
    return as_utc(moment).isoformat()


def as_utc(moment: datetime) -> datetime:
    """Aware UTC; a naive datetime is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def month_key(moment: datetime, zone: tzinfo) -> str:
    """The month of an instant in a zone, "2026-03"."""
    local = in_zone(moment, zone)
    return f"{local.year:04d}-{local.month:02d}"


def day_bounds(moment: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """Start of the day of an instant in a zone, and of the next day, in UTC."""
    local = in_zone(moment, zone)
    try:
        start = datetime.combine(local.date(), time(), tzinfo=local.tzinfo)
        end = datetime.combine(local.date() + timedelta(days=1), time(), tzinfo=local.tzinfo)
        return start.astimezone(UTC), end.astimezone(UTC)
    except OverflowError:  # the first or last day of the calendar
        return datetime.combine(local.date(), time.min, tzinfo=UTC), datetime.combine(
            local.date(), time.max, tzinfo=UTC
        )


def shifted(moment: datetime, by: timedelta) -> datetime:
    """An instant moved, within the calendar."""
    try:
        return moment + by
    except OverflowError:
        return datetime(1, 1, 1, tzinfo=UTC) if by < timedelta() else datetime(9999, 12, 31, tzinfo=UTC)


def show_time(moment: datetime, zone: tzinfo) -> str:
    """A date, with the time of day only if it is not midnight in the zone."""
    local = in_zone(moment, zone)
    day = f"{local.year:04d}-{local.month:02d}-{local.day:02d}"
    if (local.hour, local.minute, local.second) == (0, 0, 0):
        return day
    return f"{day} {local.hour:02d}:{local.minute:02d}"


def show_validity(
    kind: FactKind, start: str | None, end: str | None, reference_time: datetime | None, zone: tzinfo
) -> str:
    """A resolved validity in words, e.g. "from 2026-03-01" or "since at least 2026-03-01, start unknown".

    ``start`` and ``end``: as they are shown, ``show_time`` or the words in which they were told.
    """
    if kind in {"event", "reading"} and start:
        is_day = start[-1:].isdigit() and len(start) >= _DAY_CHARS and start[0].isdigit()
        before = "on" if is_day else "at" if start.startswith(_EDGES) else "in"
        return f"from {start} until {end}" if end else f"{before} {start}"
    if kind == "plan":
        planned = f"planned {start if start.startswith('by ') else f'for {start}'}" if start else "planned, no date"
        return f"{planned}, until {end}" if end else planned
    if start:
        return f"from {start} until {end}" if end else f"from {start}"
    told = show_time(reference_time, zone) if reference_time else ""
    if kind in {"event", "reading"}:
        known = told and f"known from {told}, "
        return f"{known}until {end}, no date" if end else f"{known}no date"
    since = told and f"since at least {told}, "
    return f"until {end}, start unknown" if end else f"{since}start unknown"


def _read(given: str) -> tuple[datetime, Precision]:
    if not given.isascii() or len(given) > _LONGEST:
        raise ValueError
    if _YEAR.fullmatch(given):
        return datetime(int(given), 1, 1), "year"  # noqa: DTZ001  the caller's zone is applied by parse_time
    if month := _MONTH.fullmatch(given):
        return datetime(int(month[1]), int(month[2]), 1), "month"  # noqa: DTZ001  same
    if not _STARTS_WITH_A_DAY.match(given):
        raise ValueError
    return datetime.fromisoformat(given), "day" if _DAY.fullmatch(given) else "instant"


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """An instant in local time of a zone."""
    try:
        return as_utc(moment).astimezone(zone)
    except OverflowError:  # the first or last day of the calendar, shifted out of it
        return as_utc(moment)


def _shown(given: str) -> str:
    return repr(given) if len(given) <= _LONGEST else "this text"
