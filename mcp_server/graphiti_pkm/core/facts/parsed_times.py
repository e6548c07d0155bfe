"""Finds the facts that a given time refers to, and decides whether several facts cover one period."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from itertools import combinations

from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.rules import coincide, known_from, overlap
from graphiti_pkm.core.model.records import Fact


def fitting(parsed: ParsedFact, facts: Sequence[Fact], zone: tzinfo) -> list[Fact]:
    """The facts that the given time selects: the same interval, else the same start, else those that held then.

    All facts if the call gives no time, or one at which none held.
    """
    start, end = parsed.valid_at, parsed.invalid_at
    if start is not None and end is not None and end <= start:
        end = None
    if start is None and end is None:
        return list(facts)
    exact = [fact for fact in facts if _meets(start, fact.valid_at, zone) and _meets(end, fact.invalid_at, zone)]
    begun = [fact for fact in facts if start is not None and _meets(start, fact.valid_at, zone)]
    held = [fact for fact in facts if _held(fact, start, end)]
    near = [fact for fact in facts if overlap(start, end, known_from(fact), fact.invalid_at)]
    return exact or begun or held or near or list(facts)


def holds_at(fact: Fact, at: datetime) -> bool:
    """Whether a fact is known to hold at an instant."""
    start = known_from(fact)
    return (start is None or start <= at) and (fact.invalid_at is None or at < fact.invalid_at)


def overlaps_given_time(parsed: ParsedFact, fact: Fact) -> bool:
    """Whether the fact holds at some time within the given interval; a bound that is not given is open."""
    return overlap(parsed.valid_at, parsed.invalid_at, known_from(fact), fact.invalid_at)


def is_one_period(facts: Sequence[Fact]) -> bool:
    """Whether all of the facts overlap in time, so that they are one period without a gap."""
    return all(
        overlap(known_from(one), one.invalid_at, known_from(other), other.invalid_at)
        for one, other in combinations(facts, 2)
    )


def _held(fact: Fact, start: datetime | None, end: datetime | None) -> bool:
    if end is None:
        return start is not None and holds_at(fact, start)
    if start is not None:
        return overlap(start, end, known_from(fact), fact.invalid_at)
    begin = known_from(fact)
    return (begin is None or begin < end) and (fact.invalid_at is None or end <= fact.invalid_at)


def _meets(given: datetime | None, known: datetime | None, zone: tzinfo) -> bool:
    """A bound that the call left out matches any."""
    return given is None or (known is not None and coincide(given, known, zone))
