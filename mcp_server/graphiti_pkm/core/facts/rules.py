"""The temporal rules for facts: validity, duplicates, conflicts, endings. Pure functions over records."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from graphiti_pkm.core.facts.goals import without_outcome
from graphiti_pkm.core.facts.observations import is_observation
from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.statuses import is_known_status, same_meaning, status_key, status_of_fact, word_of
from graphiti_pkm.core.identity.relation_kinds import has_single_target
from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS, DatePeriod, date_at, parse_date_phrase
from graphiti_pkm.core.model.records import Fact, FactUpdate
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.errors import InvalidInput

MAX_CONFLICTS = 5
LONG_BEFORE = timedelta(days=31)
"""An event that precedes the planned time by more than this may not fulfil the plan."""

_PLAIN_QUOTES = str.maketrans("‘’‚‛“”„‟«»", "'" * 4 + '"' * 6)
_YEAR = re.compile(r"\b[12]\d{3}\b")
_AROUND_SLASH = re.compile(r"(?<!\s)\s*/\s*")
_SENTENCE_ENDS = ".,;:!…。！ "


@dataclass(frozen=True)
class Validity:
    """A resolved interval ``[valid_at, invalid_at)``; ``is_empty``: the given end was before the start, so left out."""

    valid_at: datetime | None
    invalid_at: datetime | None
    is_empty: bool = False


def holding_on(facts: Iterable[Fact], at: datetime) -> tuple[Fact, ...]:
    """Those of the facts that had not ended by an instant."""
    return tuple(fact for fact in facts if fact.invalid_at is None or fact.invalid_at > at)


def placed_start(parsed: ParsedFact, before: Iterable[Fact], note: datetime, zone: tzinfo) -> datetime | None:
    """The start to store: of a told period the first instant that is after the starts of what the state follows.

    ``before``: the facts that it follows; only those that begin within the period count, and that the note can know of.
    The start is not after the note, if that is not before theirs.
    """
    told = parsed_start(parsed, zone)
    if told is None or told.words is None:
        return parsed.valid_at
    starts = (known_from(fact) for fact in before)
    begun = [at for at in starts if at is not None and told.has(at) and (at <= note or note < told.start)]
    if not begun:
        return parsed.valid_at
    last = max(begun)
    latest = (told.end - timedelta.resolution, *([note] if last <= note else []))
    return min(date_at(last, None, zone).end, *latest)


def validity_of(parsed: ParsedFact, reference_time: datetime) -> Validity:
    """When a fact holds: a given time first; a state that replaces one, and a reading, start with the episode.

    Otherwise the start is unknown, also of an event. An end alone leaves the start open. An end at or before the start
    is impossible: the fact is stored without it.
    """
    is_new_state = parsed.kind == "state" and bool(parsed.replaces) and not parsed.is_correction
    start = parsed.valid_at
    if start is None and (is_new_state or parsed.kind == "reading"):
        start = reference_time
    if parsed.invalid_at is None or start is None or start < parsed.invalid_at:
        return Validity(start, parsed.invalid_at)
    if parsed.valid_at is None:
        return Validity(None, parsed.invalid_at)
    return Validity(start, None, is_empty=True)


def corrected_validity(parsed: ParsedFact, old: Fact, reference_time: datetime) -> Validity:
    """The interval of the corrected fact, where the correction does not give its own."""
    start = parsed.valid_at or old.valid_at
    if start is None and parsed.kind == "reading":
        start = old.reference_time or reference_time
    end = parsed.invalid_at or old.invalid_at
    if start is not None and end is not None and end <= start:
        return Validity(start, None, is_empty=parsed.invalid_at is not None)
    return Validity(start, end)


def known_start(
    valid_at: datetime | None, invalid_at: datetime | None, reference_time: datetime | None
) -> datetime | None:
    """From when a fact counts: its start, else the time of its episode; None if it had ended by then."""
    if valid_at is not None or reference_time is None:
        return valid_at
    return reference_time if invalid_at is None or reference_time < invalid_at else None


def known_from(fact: Fact) -> datetime | None:
    """From when a known fact counts."""
    return known_start(fact.valid_at, fact.invalid_at, fact.reference_time)


def is_known_earlier(parsed: ParsedFact, fact: Fact, reference_time: datetime) -> bool:
    """Whether an older episode records a state without a start, so that it is known from that time on."""
    if (
        fact.kind != "state"
        or fact.valid_at is not None
        or parsed.valid_at is not None
        or parsed.invalid_at is not None
    ):
        return False
    return fact.reference_time is not None and reference_time < fact.reference_time


def coincide(one: datetime, other: datetime, zone: tzinfo) -> bool:
    """Whether two instants may be the same at their precision: midnight stands for its day, others for the minute."""
    return one == other or _falls_in(one, other, zone) or _falls_in(other, one, zone)


def start_of(fact: Fact, zone: tzinfo) -> DatePeriod | None:
    """The start of a known fact as it was told."""
    return None if fact.valid_at is None else date_at(fact.valid_at, fact.attributes.get(START_WORDS), zone)


def parsed_start(parsed: ParsedFact, zone: tzinfo) -> DatePeriod | None:
    """The start that a call gives for a fact."""
    return None if parsed.valid_at is None else date_at(parsed.valid_at, parsed.start_words, zone)


def parsed_end(parsed: ParsedFact, zone: tzinfo) -> DatePeriod | None:
    """The end that a call gives for a fact."""
    return None if parsed.invalid_at is None else date_at(parsed.invalid_at, parsed.end_words, zone, is_end=True)


def end_of_fact(fact: Fact, zone: tzinfo) -> DatePeriod | None:
    """The end of a known fact as it was told."""
    at, words = fact.invalid_at, fact.attributes.get(END_WORDS)
    return None if at is None else date_at(at, words, zone, is_end=True)


def first_end(told: DatePeriod | None, start: datetime | None, at: datetime | None) -> datetime | None:
    """The first instant at which a fact may end that is stored with the end ``at``, told as ``told``."""
    if told is None or told.words is None or (start is not None and told.start <= start):
        return at
    return told.start


def may_be_same_end(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether the given end and the known one are one date, with more or less precision."""
    told, known = parsed_end(parsed, zone), end_of_fact(fact, zone)
    return told is not None and known is not None and (told.holds(known) or known.holds(told))


def refines_end(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether a told end lies within the known, less precise one."""
    told, known = parsed_end(parsed, zone), end_of_fact(fact, zone)
    if fact.voided or told is None or known is None or known.words is None:
        return False
    return known.holds(told) and not told.holds(known)


def repeats_end(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether a call tells of a known fact, without a start, that it ended in the period in which it did."""
    told, known = parsed_end(parsed, zone), end_of_fact(fact, zone)
    return parsed.valid_at is None and told is not None and known is not None and told.holds(known)


def may_be_same_start(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether the given start and the known one are one date, with more or less precision."""
    told, known = parsed_start(parsed, zone), start_of(fact, zone)
    return told is not None and known is not None and (told.holds(known) or known.holds(told))


def is_coarse(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether one of two starts was told less precisely than a day."""
    known = start_of(fact, zone)
    return parsed.start_words is not None or (known is not None and known.words is not None)


def refines(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether a told start lies within the known, less precise one and contradicts nothing that is known."""
    told, known, told_at = parsed_start(parsed, zone), start_of(fact, zone), fact.reference_time
    if told is None or known is None or known.words is None or not known.holds(told) or told.holds(known):
        return False
    if fact.invalid_at is not None and told.start >= fact.invalid_at:
        return False
    return fact.kind == "plan" or told_at is None or told_at < known.start or told.start <= told_at


def precedes(one: DatePeriod | None, other: datetime | None, zone: tzinfo) -> bool:
    """Whether a told date is over when an instant comes, each with its precision."""
    return one is not None and other is not None and one.end <= other and not coincide(one.start, other, zone)


def told_words(parsed: ParsedFact, start: datetime | None, end: datetime | None, old: Fact | None) -> dict[str, object]:
    """The words of the dates that a fact gets: those of the call, else those of the fact that has the same date."""
    words: dict[str, object] = {}
    for name, at, said, before in (
        (START_WORDS, start, (parsed.valid_at, parsed.start_words), old and old.valid_at),
        (END_WORDS, end, (parsed.invalid_at, parsed.end_words), old and old.invalid_at),
    ):
        if at is not None and said[0] == at:
            words[name] = said[1]
        elif at is not None and old is not None and before == at:
            words[name] = old.attributes.get(name)
    return {name: text for name, text in words.items() if text is not None}


def end_of(fact: Fact, at: datetime, zone: tzinfo) -> datetime:
    """The end of a fact for a given instant: an end on the day it was recorded is not before it was recorded."""
    told_at = fact.reference_time
    if fact.valid_at is None and told_at is not None and at < told_at and coincide(at, told_at, zone):
        return told_at
    return at


def overlap(
    start: datetime | None, end: datetime | None, other_start: datetime | None, other_end: datetime | None
) -> bool:
    """Whether two half-open intervals overlap; None is unbounded."""
    begins_in_time = start is None or other_end is None or start < other_end
    return begins_in_time and (other_start is None or end is None or other_start < end)


def is_current(fact: Fact, now: datetime) -> bool:
    """Whether it is a state that holds now, both in the world and in the record."""
    return fact.kind == "state" and (fact.valid_at is None or fact.valid_at <= now) and still_holds(fact, now)


def still_holds(fact: Fact, now: datetime) -> bool:
    """Whether it is open in the record and has not ended in the world."""
    return fact.is_open and (fact.invalid_at is None or fact.invalid_at > now)


def same_value(one: str | None, other: str | None) -> bool:
    """Compares values as text, never as numbers: 3.1 and 3.10 are two versions, BBB and BBB- two ratings.

    Two ways to write one date with its year are the same: 2026-07-01 and "1 July 2026".
    """
    if one is None or other is None:
        return one is other
    return same_text(_AROUND_SLASH.sub("/", one), _AROUND_SLASH.sub("/", other)) or _is_same_date(one, other)


def same_text(one: str, other: str) -> bool:
    """Compares texts without case, spacing, final punctuation and enclosing quotes; every other character counts."""
    return _compared(one) == _compared(other)


def same_stated_value(parsed: ParsedFact, fact: Fact) -> bool:
    """Whether the values are equal; for a status, whether the words are."""
    if parsed.is_status and parsed.value is not None:
        return status_key(parsed.value) == status_key(word_of(fact))
    return same_value(parsed.value, fact.value)


def is_same_statement(parsed: ParsedFact, fact: Fact) -> bool:
    """Whether the values are equal, and the texts unless the call gave none."""
    if parsed.has_text:
        return same_text(parsed.text, fact.text) and (parsed.value is None or same_stated_value(parsed, fact))
    return same_stated_value(parsed, fact)


def is_other_plan(parsed: ParsedFact, fact: Fact) -> bool:
    """Whether it is another plan than the known one: for another time, or in other words."""
    if parsed.kind != "plan":
        return False
    times = ((parsed.valid_at, fact.valid_at), (parsed.invalid_at, fact.invalid_at))
    is_moved = any(said is not None and said != known for said, known in times)
    return is_moved or (parsed.has_text and not same_text(parsed.text, fact.text))


def find_duplicate(
    parsed: ParsedFact,
    validity: Validity,
    reference_time: datetime,
    target_uuid: str,
    candidates: Iterable[Fact],
    episode_uuid: str,
    zone: tzinfo,
) -> Fact | None:
    """The known fact that the call repeats; a reading only if a correction repeats it, of the same time and note.

    An event is the same at the same given instant, without one within the same episode. A note that follows may give
    the instant that the only such event lacks (``gains_start``).
    """
    if parsed.kind == "reading":
        return _told_reading(parsed, reference_time, target_uuid, candidates) if parsed.is_correction else None
    start = known_start(validity.valid_at, validity.invalid_at, reference_time)
    same = [
        fact
        for fact in candidates
        if (fact.target_uuid, fact.kind, fact.voided) == (target_uuid, parsed.kind, False)
        and is_same_statement(parsed, fact)
    ]
    undated = [fact for fact in same if parsed.kind == "event" and fact.valid_at is None]
    for fact in same:
        if fact.kind == "plan" and (not fact.is_open or (parsed.replaces and is_other_plan(parsed, fact))):
            continue
        if parsed.kind == "event":
            if fact.valid_at == validity.valid_at and (parsed.valid_at is not None or episode_uuid in fact.episodes):
                return fact
            if is_coarse(parsed, fact, zone) and may_be_same_start(parsed, fact, zone):
                return fact
        else:
            is_dated_anew = parsed.valid_at is not None and not may_be_same_start(parsed, fact, zone)
            end = first_end_of(fact, zone) if is_dated_anew else fact.invalid_at
            if overlap(start, validity.invalid_at, known_from(fact), end) or repeats_end(parsed, fact, zone):
                return fact
    is_known = len(undated) == 1 and is_told_later(undated[0], reference_time)
    return undated[0] if is_known and gains_start(undated[0], parsed.valid_at) else None


def _told_reading(
    parsed: ParsedFact, reference_time: datetime, target_uuid: str, candidates: Iterable[Fact]
) -> Fact | None:
    told = (target_uuid, "reading", False, parsed.valid_at, reference_time)
    same = (
        fact
        for fact in candidates
        if (fact.target_uuid, fact.kind, fact.voided, fact.valid_at, fact.reference_time) == told
    )
    return next((fact for fact in same if is_same_statement(parsed, fact)), None)


def is_told_later(event: Fact, reference_time: datetime) -> bool:
    """Whether a note is not older than the one that told of an event."""
    return event.reference_time is None or event.reference_time <= reference_time


def gains_start(fact: Fact, start: datetime | None) -> bool:
    """Whether a told start fills an unknown one: it may not be later than a time at which the fact was known to hold.

    The day of a plan lies ahead of the note that told of it.
    """
    told_at = fact.reference_time
    if start is None or fact.valid_at is not None or (fact.invalid_at is not None and start >= fact.invalid_at):
        return False
    return fact.kind == "plan" or told_at is None or start <= told_at


def find_conflicts(
    parsed: ParsedFact,
    validity: Validity,
    reference_time: datetime,
    target_uuid: str,
    candidates: Iterable[Fact],
    rivals: Iterable[Fact],
    zone: tzinfo,
) -> list[Fact]:
    """Other states of the same source and relation that surely hold at the same time, at most five.

    Two targets contradict each other only where a source has one at a time (LIVES_IN, HAS_BUDGET), two values of one
    target always; two statuses never. ``rivals``: states of other sources, where a target normally has a single source.
    """
    if parsed.kind != "state":
        return []
    start = known_start(validity.valid_at, validity.invalid_at, reference_time)
    told = None if validity.invalid_at is None else date_at(validity.invalid_at, parsed.end_words, zone, is_end=True)
    end = first_end(told, start, validity.invalid_at)
    others = [fact for fact in candidates if _is_other_statement(parsed, target_uuid, fact)]
    conflicts = [
        fact
        for fact in (*rivals, *others)
        if fact.kind == "state"
        and not fact.voided
        and (fact.expired_at is None or fact.invalid_at is not None)
        and overlap(start, end, known_from(fact), first_end_of(fact, zone))
    ]
    return conflicts[:MAX_CONFLICTS]


@dataclass(frozen=True)
class Fulfilled:
    """Open plans that were fulfilled, and those planned for much later."""

    met: tuple[Fact, ...] = ()
    maybe: tuple[Fact, ...] = ()


def find_fulfilled(parsed: ParsedFact, fact: Fact, candidates: Iterable[Fact], zone: tzinfo) -> Fulfilled:
    """Open plans that a state or event fulfils, except plans made after it began."""
    if parsed.kind not in {"state", "event"} or parsed.is_correction:
        return Fulfilled()
    start = fact.valid_at or fact.reference_time
    begun = start_of(fact, zone) or (date_at(start, None, zone) if start else None)
    plans = [
        plan
        for plan in candidates
        if plan.kind == "plan"
        and plan.is_open
        and plan.target_uuid == fact.target_uuid
        and not _other_value(parsed, plan)
        and not precedes(begun, plan.reference_time, zone)
    ]
    maybe = tuple(plan for plan in plans if start and plan.valid_at and plan.valid_at - start > LONG_BEFORE)
    return Fulfilled(tuple(plan for plan in plans if plan not in maybe), maybe)


def fulfils(parsed: ParsedFact, plan: Fact, fact: Fact) -> bool:
    """Whether a state or event is what a plan with the same ends says."""
    ends = (fact.source_uuid, fact.target_uuid)
    is_so = parsed.kind in {"state", "event"} and plan.kind == "plan"
    return is_so and (plan.source_uuid, plan.target_uuid) == ends and not _other_value(parsed, plan)


def end_before_later(start: datetime, replaced: Iterable[Fact], series: Iterable[Fact]) -> datetime | None:
    """The end of a state that is recorded late: where the next one begins; None if it replaces only earlier states."""
    later = [at for fact in replaced if (at := _state_start(fact)) is not None and at > start]
    if not later:
        return None
    return min([*later, *(at for fact in series if (at := _state_start(fact)) is not None and at > start)])


def other_statuses(parsed: ParsedFact, pool: Iterable[Fact]) -> list[Fact]:
    """Other statuses of the same entity at any time, since an entity has one status at a time.

    Empty if the call names what it replaces, or gives an end but no start.
    """
    if (
        not parsed.is_status
        or parsed.kind != "state"
        or parsed.replaces
        or (parsed.invalid_at is not None and parsed.valid_at is None)
    ):
        return []
    return [
        fact
        for fact in pool
        if status_of_fact(fact) is not None
        and not fact.voided
        and (fact.expired_at is None or fact.invalid_at is not None)
        and not same_stated_value(parsed, fact)
    ]


def ended(fact: Fact, at: datetime, now: datetime, recorded_at: datetime | None = None) -> Fact | None:
    """The fact once it ends at an instant; None if it starts, or is known to hold, only later.

    A fact that ends at its own start never held. The record retires it when the end has come; ``recorded_at``: when
    that is recorded, if not now.
    """
    expired_at = recorded_at or now
    if fact.kind == "plan":  # fulfilled, dropped or moved: it has ended in the record, whatever its planned time
        return fact.model_copy(update={"expired_at": expired_at, "attributes": without_outcome(fact.attributes)})
    if is_before(at, known_from(fact)):
        return None
    end = at if fact.invalid_at is None else min(at, fact.invalid_at)
    values = {"invalid_at": end, "expired_at": expired_at if end <= now else None}
    return fact.model_copy(update={**values, "attributes": without_outcome(fact.attributes)})


def with_later_end(fact: Fact, at: datetime, now: datetime, recorded_at: datetime | None = None) -> Fact:
    """The fact once its end is moved to a later instant; a plan stays open: what is planned takes longer."""
    expired_at = (recorded_at or now) if fact.kind != "plan" and at <= now else None
    values = {"invalid_at": at, "expired_at": expired_at}
    return fact.model_copy(update={**values, "attributes": without_outcome(fact.attributes)})


def ended_explicitly(fact: Fact, at: datetime, now: datetime, recorded_at: datetime | None = None) -> Fact | None:
    """As ``ended``, for an end that was given explicitly: a plan keeps it too, even if its day is still to come."""
    over = ended(fact, at, now, recorded_at)
    return over.model_copy(update={"invalid_at": at}) if over is not None and fact.kind == "plan" else over


def voided(fact: Fact, now: datetime) -> Fact:
    """The fact once it is corrected: it never held."""
    return fact.model_copy(update={"voided": True, "expired_at": now})


def interval_update(fact: Fact) -> FactUpdate:
    """The values of a fact that ending or restoring it changes."""
    return FactUpdate(
        uuid=fact.uuid,
        episodes=fact.episodes,
        valid_at=fact.valid_at,
        invalid_at=fact.invalid_at,
        expired_at=fact.expired_at,
        voided=fact.voided,
    )


def update_of(fact: Fact, before: Fact) -> FactUpdate:
    """The new values of a changed fact as a record; the quote is included only if it had none before."""
    names = fact.attributes.keys() | before.attributes.keys()
    changed = {name: fact.attributes.get(name) for name in sorted(names)}
    attributes = {name: value for name, value in changed.items() if value != before.attributes.get(name)}
    words = ("quote", "quote_start", "quote_end", "quote_episode_uuid") if fact.quote != before.quote else ()
    told_at = fact.reference_time if fact.reference_time != before.reference_time else None
    said = {"reference_time": told_at, "attributes": attributes, **{name: getattr(fact, name) for name in words}}
    return interval_update(fact).model_copy(update=said)


def first_end_of(fact: Fact, zone: tzinfo) -> datetime | None:
    """The first instant at which a known fact may end."""
    return first_end(end_of_fact(fact, zone), known_from(fact), fact.invalid_at)


def _other_value(parsed: ParsedFact, fact: Fact) -> bool:
    if parsed.is_status and parsed.value is not None:
        return not same_meaning(parsed.value, word_of(fact))
    return parsed.value is not None and fact.value is not None and not same_value(parsed.value, fact.value)


def _is_other_statement(parsed: ParsedFact, target_uuid: str, fact: Fact) -> bool:
    """Whether a known state says something else that cannot be true at the same time."""
    if is_observation(fact):
        return False
    if is_known_status(parsed.value or parsed.target) and is_known_status(fact.value or fact.target_name):
        return False
    is_other = _other_value(parsed, fact)
    if parsed.has_target and fact.target_uuid == target_uuid:
        return is_other
    return has_single_target(parsed.relation) and (is_other or fact.target_uuid != target_uuid)


def is_before(at: datetime, start: datetime | None) -> bool:
    """Whether an instant comes before a start; not if that is unknown."""
    return start is not None and at < start


def _is_same_date(one: str, other: str) -> bool:
    if not (_YEAR.search(one) and _YEAR.search(other)):
        return False
    try:
        dates = [parse_date_phrase(text, UTC, "value", None, None) for text in (one, other)]
    except InvalidInput:
        return False
    return (dates[0].start, dates[0].end) == (dates[1].start, dates[1].end)


def _state_start(fact: Fact) -> datetime | None:
    return known_from(fact) if fact.kind == "state" and not fact.voided else None


def _falls_in(coarse: datetime, exact: datetime, zone: tzinfo) -> bool:
    if coarse.second or coarse.microsecond:
        return False
    return show_time(exact, zone).startswith(show_time(coarse, zone))


def _compared(text: str) -> str:
    compared = " ".join(unicodedata.normalize("NFC", text).casefold().translate(_PLAIN_QUOTES).split())
    while True:
        shorter = compared.rstrip(_SENTENCE_ENDS) or compared
        if len(shorter) > 1 and shorter[0] == shorter[-1] and shorter[0] in "'\"":
            shorter = shorter[1:-1].strip() or shorter
        if shorter == compared:
            return compared
        compared = shorter
