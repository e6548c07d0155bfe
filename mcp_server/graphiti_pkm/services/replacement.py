"""What a fact replaces: finding the old facts that ``replaces`` names, by target, value, uuid or "current"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from graphiti_pkm.domain.names import normalise_name
from graphiti_pkm.domain.records import Fact
from graphiti_pkm.services.fact_rules import is_current, same_value, still_holds
from graphiti_pkm.services.told import ToldFact

CURRENT = "current"
_UUID_START = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]+)*-?")
_WHOLE_UUID = 36

Problem = Literal["several", "none", "ends_nothing"]


def as_uuid_prefix(text: str) -> str | None:
    """The text as the first characters of a uuid, if it can be one."""
    lowered = text.strip().lower()
    return lowered if _UUID_START.fullmatch(lowered) and len(lowered) <= _WHOLE_UUID else None


@dataclass(frozen=True)
class Unsettled:
    """One of ``replaces`` that ends nothing, with the facts it may have meant."""

    wanted: str
    problem: Problem
    candidates: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Replaced:
    """What ``replaces`` comes to."""

    facts: tuple[Fact, ...] = ()
    unrecorded: tuple[str, ...] = ()
    """Old targets or values that were never recorded."""
    unsettled: tuple[Unsettled, ...] = ()


def find_replaced(
    told: ToldFact,
    target_uuid: str,
    pools: Sequence[Sequence[Fact]],
    by_uuid: Sequence[Fact],
    known: Callable[[str], str | None],
    now: datetime,
) -> Replaced:
    """The old facts that a told fact ends or corrects.

    ``pools``: facts of the same source, those of the same relation (or series) first, those of near relations after
    them; newest first. ``by_uuid``: facts whose uuids ``replaces`` may name. ``known``: entity uuid of a name.
    """
    facts: dict[str, Fact] = {}
    unrecorded: list[str] = []
    unsettled: list[Unsettled] = []
    finder = _Finder(told, target_uuid, by_uuid, known, now)
    for wanted in told.replaces:
        found = next((hit for pool in pools if (hit := finder.find(wanted, pool)) is not None), None)
        if isinstance(found, Unsettled):
            unsettled.append(found)
        elif found is not None:
            facts.update((fact.uuid, fact) for fact in found)
        elif finder.may_record(wanted):
            unrecorded.append(wanted)
        else:
            unsettled.append(
                Unsettled(wanted, "none", tuple(fact for pool in pools for fact in pool if still_holds(fact, now)))
            )
    return Replaced(tuple(facts.values()), tuple(unrecorded), tuple(unsettled))


@dataclass(frozen=True)
class _Finder:
    told: ToldFact
    target_uuid: str
    by_uuid: Sequence[Fact]
    known: Callable[[str], str | None]
    now: datetime

    def may_record(self, wanted: str) -> bool:
        """Only a named target or value of something that changed, never of a plan, a reading or a correction."""
        if wanted.lower() == CURRENT or self.told.is_correction or self.told.kind in {"plan", "reading"}:
            return False
        return as_uuid_prefix(wanted) is None or len(wanted) < _WHOLE_UUID

    def find(self, wanted: str, pool: Sequence[Fact]) -> tuple[Fact, ...] | Unsettled | None:
        """The facts meant (none: they ended before); None if nothing fits."""
        if self.told.kind == "reading" and not self.told.is_correction:
            return Unsettled(wanted, "ends_nothing")
        if wanted.lower() == CURRENT:
            return self._current(wanted, pool)
        named = self._named(wanted, pool)
        if not named:
            return None
        return self._chosen(wanted, named)

    def _current(self, wanted: str, pool: Sequence[Fact]) -> tuple[Fact, ...] | Unsettled | None:
        others = [fact for fact in pool if self.told.is_correction or not self._is_itself(fact)]
        if self.told.is_correction and self.told.kind in {"reading", "event"}:
            of_kind = [fact for fact in others if fact.kind == self.told.kind and not fact.voided]
            newest = max(of_kind, key=lambda fact: (fact.valid_at or self.now, fact.created_at), default=None)
            return None if newest is None else (newest,)
        kind = "plan" if self.told.kind == "plan" else "state"
        open_ones = [fact for fact in others if fact.kind == kind and still_holds(fact, self.now)]
        current = [fact for fact in open_ones if is_current(fact, self.now)] or open_ones
        if not current and self.told.is_correction:
            current = [fact for fact in others if not fact.voided]
        if not current:
            repeated = any(still_holds(fact, self.now) and self._is_itself(fact) for fact in pool)
            return () if repeated and not self.told.is_correction else None
        return tuple(current) if _is_one_statement(current) else Unsettled(wanted, "several", tuple(current))

    def _named(self, wanted: str, pool: Sequence[Fact]) -> list[Fact]:
        prefix = as_uuid_prefix(wanted)
        if prefix is not None:
            hits = [fact for fact in (*self.by_uuid, *pool) if fact.uuid.startswith(prefix) and not fact.voided]
            if hits:
                return list({fact.uuid: fact for fact in hits}.values())
        entity_uuid = self.known(wanted)
        name = normalise_name(wanted)
        return [
            fact
            for fact in pool
            if not fact.voided
            and (
                (entity_uuid is not None and fact.target_uuid == entity_uuid)
                or normalise_name(fact.target_name) == name
                or self._has_value(fact, wanted)
            )
        ]

    def _has_value(self, fact: Fact, wanted: str) -> bool:
        if fact.value is None:
            return False
        with_unit = f"{fact.value} {fact.unit}" if fact.unit else fact.value
        return same_value(fact.value, wanted) or normalise_name(with_unit) == normalise_name(wanted)

    def _chosen(self, wanted: str, named: list[Fact]) -> tuple[Fact, ...] | Unsettled:
        told = self.told
        if told.is_correction:
            preferred = (
                [fact for fact in named if is_current(fact, self.now)]
                or [fact for fact in named if fact.kind == told.kind and still_holds(fact, self.now)]
                or named
            )
            if told.kind in {"reading", "event"}:
                preferred = [max(preferred, key=lambda fact: (fact.valid_at or self.now, fact.created_at))]
            return tuple(preferred) if _is_one_statement(preferred) else Unsettled(wanted, "several", tuple(preferred))
        states = [fact for fact in named if fact.kind == "state" and told.kind != "plan"]
        plans = [fact for fact in named if fact.kind == "plan"]
        open_ones = [fact for fact in states if still_holds(fact, self.now)] or [
            fact for fact in plans if still_holds(fact, self.now)
        ]
        if not open_ones:
            return () if states or plans else Unsettled(wanted, "ends_nothing", tuple(named))
        others = [fact for fact in open_ones if not self._is_itself(fact)]
        return tuple(others) if _is_one_statement(others) else Unsettled(wanted, "several", tuple(others))

    def _is_itself(self, fact: Fact) -> bool:
        return (
            fact.target_uuid == self.target_uuid
            and fact.kind == self.told.kind
            and (self.told.value is None or same_value(self.told.value, fact.value))
        )


def _is_one_statement(facts: Sequence[Fact]) -> bool:
    """Whether all say one thing, however often it was told in other words."""
    first = facts[0] if facts else None
    return all(
        first is not None
        and (fact.source_uuid, fact.target_uuid, fact.kind) == (first.source_uuid, first.target_uuid, first.kind)
        and same_value(fact.value, first.value)
        for fact in facts
    )
