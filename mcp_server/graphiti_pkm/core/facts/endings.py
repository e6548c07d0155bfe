"""When a fact ends whose end a call tells, and which known facts that end belongs to. Pure functions over records."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import TypeAlias

from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.rules import (
    end_of,
    end_of_fact,
    first_end_of,
    is_before,
    known_from,
    may_be_same_start,
    parsed_end,
    parsed_start,
    refines_end,
    same_stated_value,
    same_text,
)
from graphiti_pkm.core.model.date_phrases import DatePeriod
from graphiti_pkm.core.model.records import HAS_GOAL, Fact
from graphiti_pkm.errors import InvalidInput

ToldAt: TypeAlias = Callable[[Fact], datetime | None]
"""When the note was written that told the known end of a fact."""

_HALF_A_YEAR = timedelta(days=183)
_WHOLE = "the end of "
"""An end told as this is the end of its period."""


def check_year(parsed: ParsedFact, target_uuid: str, candidates: Iterable[Fact], note: datetime) -> None:
    """Refuse an end without a year of what is known to have ended about when the last such date was.

    "Until 30 May" of what ended this June, told in August, may be that May, or a return until the next one; what ended
    years ago may only be there again.

    Raises:
        InvalidInput: the year has to be said.
    """
    earlier = parsed.earlier_end
    alike = [fact for fact in candidates if _is_alike(parsed, fact, target_uuid) and not fact.voided]
    ends = [fact.invalid_at for fact in alike if fact.invalid_at is not None and fact.invalid_at <= note]
    if earlier is None or len(ends) < len(alike):
        return
    if any(abs(end - earlier) < _HALF_A_YEAR for end in ends):
        raise InvalidInput(
            f"facts[{parsed.number}].invalid_at: say the year. The same is known to have ended, so the last such date "
            "may be meant, or the next one if it has begun again. Nothing was stored."
        )


def placed_end(parsed: ParsedFact, start: datetime | None, note: datetime, zone: tzinfo) -> datetime | None:
    """The end to store that a call gives for a new fact that began at ``start``."""
    is_told_now = parsed.kind == "plan" or (parsed.end_bound is None and _is_present(parsed.relation))
    return _end(parsed, start, note, zone, is_to_come=is_told_now)


def closing_end(parsed: ParsedFact, fact: Fact, note: datetime, zone: tzinfo) -> datetime | None:
    """When a known fact ends that a call repeats with an end; a plan may be over before its day.

    Of a day that is known to be included it still is when the day alone is told.
    """
    known, told = end_of_fact(fact, zone), parsed_end(parsed, zone)
    if fact.kind == "state" and known and told and known.is_whole_day and told.is_day and told.start == known.start:
        return known.end
    is_dropped = parsed.kind == "plan" and parsed.valid_at is None
    is_repeated = parsed.end_bound is None and _repeats_end_to_come(parsed, fact, note, zone)
    end = _end(parsed, None if is_dropped else known_from(fact), note, zone, is_to_come=is_repeated)
    return None if end is None else end_of(fact, end, zone)


def end_in(
    told: DatePeriod, start: datetime | None, note: datetime, *, is_to_come: bool = False, is_in_it: bool = False
) -> datetime:
    """The end to store of what began at ``start``: of a told period its end, as it may hold until then.

    Of a period in which the note was written (``is_in_it``: by the day of its own place), the note: it says that this
    has ended. Not so if it says how long this goes on: "until April", "the end of April", or ``is_to_come``.
    """
    if told.words is None:
        return told.start
    is_over = (is_in_it or told.has(note)) and (start is None or start < note) and not told.words.startswith(_WHOLE)
    return note if is_over and not is_to_come and told.bound != "through" else told.end


@dataclass(frozen=True)
class Closed:
    """Known facts that the call repeats with an end, and those whose end it does not change."""

    ended: tuple[Fact, ...] = ()
    known_later: tuple[Fact, ...] = ()
    """Known to hold after that end."""
    known_over: tuple[Fact, ...] = ()
    """Known to have ended before that end, as a change or a newer note says, or after it, as a change says."""


def find_closed(
    parsed: ParsedFact, target_uuid: str, candidates: Iterable[Fact], note: datetime, zone: tzinfo, told_at: ToldAt
) -> Closed:
    """The facts that the call repeats in order to give their end: open ones, and those whose end it changes.

    It may tell the end more precisely, or another one, unless a newer note told the known one. A fact known to hold
    after that end is another period: it stays open, and is reported if the call gives no start. A plan may be over
    before its day; of several the call has to give the sentence or the day.
    """
    if parsed.invalid_at is None or parsed.is_correction or parsed.kind not in {"state", "plan"}:
        return Closed()
    if parsed.kind == "state" and parsed.valid_at is not None and parsed.valid_at >= parsed.invalid_at:
        return Closed()
    alike = [fact for fact in candidates if _is_alike(parsed, fact, target_uuid)]
    again = [fact for fact in alike if _gains_end(parsed, fact, note, zone, told_at(fact))]
    longer = max((fact for fact in alike if _is_longer(parsed, fact, zone)), key=_invalid_at, default=None)
    if not again and longer is not None and _may_go_on(parsed, longer, note, zone, told_at(longer)):
        again = [longer]
    elif not again and longer is not None and not _starts_anew(longer, note, parsed.invalid_at):
        return Closed(known_over=(longer,))
    elif not again and (over := [fact for fact in alike if _had_ended(parsed, fact, note, zone)]):
        return Closed(known_over=(max(over, key=_invalid_at),))
    if parsed.kind == "plan":
        same = [fact for fact in again if parsed.has_text and same_text(parsed.text, fact.text)]
        again = same or again
        days = {fact.valid_at for fact in again}
        return Closed(tuple(again)) if len(days) == 1 else Closed((), tuple(again))
    later = [fact for fact in again if is_before(closing_end(parsed, fact, note, zone) or note, known_from(fact))]
    ended = tuple(fact for fact in again if fact not in later)
    return Closed(ended, () if ended or parsed.valid_at is not None else tuple(later))


def is_other_end(told: DatePeriod, fact: Fact, zone: tzinfo) -> bool:
    """Whether a told end is another one than the known end of a fact, whatever their precision.

    A day that is included is another end than its beginning.
    """
    known = end_of_fact(fact, zone)
    if known is None or (told.is_whole_day and fact.invalid_at == told.start):
        return known is not None
    return not told.holds(known) and not known.holds(told)


def _is_alike(parsed: ParsedFact, fact: Fact, target_uuid: str) -> bool:
    """Whether a known fact says what a call says, as far as it gives a value."""
    is_of_kind = fact.target_uuid == target_uuid and fact.kind == parsed.kind
    return is_of_kind and (parsed.value is None or same_stated_value(parsed, fact))


def _is_longer(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether a call tells a later end of a known fact than the record; a start after that end is of another period."""
    told, known = parsed_end(parsed, zone), end_of_fact(fact, zone)
    if told is None or known is None or fact.voided or (fact.kind == "plan" and not fact.is_open):
        return False
    if told.end < known.end or not is_other_end(told, fact, zone):
        return False
    return _may_be_of(parsed, fact, zone) or (
        parsed.valid_at is not None and is_before(parsed.valid_at, first_end_of(fact, zone))
    )


def _had_ended(parsed: ParsedFact, fact: Fact, note: datetime, zone: tzinfo) -> bool:
    """Whether the record says that a state has ended, and later than the call tells."""
    told, end = parsed_end(parsed, zone), closing_end(parsed, fact, note, zone)
    if told is None or end is None or fact.kind != "state" or fact.is_open or fact.voided:
        return False
    return (
        _may_be_of(parsed, fact, zone)
        and is_before(end, fact.invalid_at)
        and not is_before(end, known_from(fact))
        and is_other_end(told, fact, zone)
    )


def _may_be_of(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether a call speaks of this period of a fact, as far as the start that it gives shows."""
    return parsed.valid_at is None or may_be_same_start(parsed, fact, zone)


def _may_go_on(parsed: ParsedFact, fact: Fact, note: datetime, zone: tzinfo, told_at: datetime | None) -> bool:
    """Whether a later end is that of a fact whose end is known, rather than of a return to it.

    It is if the note, no older than the one that told the known end, was written before that end, if the end was
    told ahead and nothing has ended the fact since, and if both are over.
    """
    end = fact.invalid_at
    if end is None or is_before(note, told_at):
        return False
    if is_before(note, end) or may_be_same_start(parsed, fact, zone):
        return True
    is_both_over = parsed.invalid_at is not None and parsed.invalid_at <= note
    return fact.is_open and (is_both_over or told_at is None or told_at < end)


def _starts_anew(fact: Fact, note: datetime, end: datetime) -> bool:
    """Whether what had ended before the note goes on by the note: a return, whose start is unknown."""
    return fact.invalid_at is not None and fact.invalid_at <= note < end


def _gains_end(parsed: ParsedFact, fact: Fact, note: datetime, zone: tzinfo, told_at: datetime | None) -> bool:
    """Whether the end that a call gives may be that of a known fact that is open, or known to end later.

    What an older note expected does not count beside an end that was told since.
    """
    end = closing_end(parsed, fact, note, zone)
    if end is None:
        return False
    is_later = fact.invalid_at is not None and fact.invalid_at > end and not is_before(note, told_at)
    is_endless = fact.is_open and (fact.invalid_at is None or is_later)
    if fact.kind == "plan":
        is_it = None in (parsed.valid_at, fact.valid_at) or may_be_same_start(parsed, fact, zone)
        return is_endless and is_it
    return (fact.valid_at is None or fact.valid_at < end) and (is_endless or refines_end(parsed, fact, zone))


def _end(
    parsed: ParsedFact, start: datetime | None, note: datetime, zone: tzinfo, *, is_to_come: bool
) -> datetime | None:
    """The end that is told; what begins and ends in one period, and a goal, last until that is over."""
    told, begun = _told(parsed, zone), parsed_start(parsed, zone)
    if told is None:
        return None
    is_to_come |= parsed.relation == HAS_GOAL or (begun is not None and told.holds(begun))
    return end_in(told, start, note, is_to_come=is_to_come, is_in_it=parsed.ends_on_its_day)


def _told(parsed: ParsedFact, zone: tzinfo) -> DatePeriod | None:
    told = parsed_end(parsed, zone)
    return told and told.model_copy(update={"bound": parsed.end_bound})


def _repeats_end_to_come(parsed: ParsedFact, fact: Fact, note: datetime, zone: tzinfo) -> bool:
    """Whether a fact is known to end in the told period, after the note."""
    told, known = parsed_end(parsed, zone), end_of_fact(fact, zone)
    return told is not None and known is not None and told.holds(known) and note < known.end


def _is_present(relation: str) -> bool:
    """Whether a relation says what is, as far as its verb shows: RENTS, HAS_VISA; not RENTED, WAS_AT."""
    verb = relation.split("_", 1)[0]
    return verb.endswith("S") and verb != "WAS"


def _invalid_at(fact: Fact) -> float:
    return fact.invalid_at.timestamp() if fact.invalid_at else float("-inf")
