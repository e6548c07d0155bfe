"""What a fact replaces: finding the old facts that ``replaces`` names, by target, value, uuid or "current"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from graphiti_pkm.core.facts.other_relations import known_otherwise
from graphiti_pkm.core.facts.parsed_facts import ToldFact
from graphiti_pkm.core.facts.parsed_times import fitting, held_at, is_one_period, overlaps_told
from graphiti_pkm.core.facts.replaced import Around, Ends, Replaced, Unsettled
from graphiti_pkm.core.facts.rules import coincide, is_current, is_other_plan, same_said, same_value, still_holds
from graphiti_pkm.core.facts.statuses import status_named, status_of_fact
from graphiti_pkm.core.identity.spelling import close_spelling, contains_name, inflected_alike, says_of_source
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.records import Fact

CURRENT = "current"
_UUID_START = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f])*+-?")
"""One hyphen at most between two digits, each read once: nothing is tried in two ways."""
_HEX = re.compile(r"[0-9a-f]")
_MIXED = re.compile(r"[0-9][a-f]|[a-f][0-9]")
_SHORTEST_UUID = 8
_UUID = 36
_NEARLY_WHOLE = 30
_MOSTLY = 0.85


def is_current_word(text: str) -> bool:
    """Whether ``replaces`` means whatever is current."""
    return text.lower() == CURRENT


def as_uuid_prefix(text: str) -> str | None:
    """The text as the first characters of a uuid, if it can be one; hyphens may be left out."""
    bare = _bare(text)
    if len(bare) > _UUID or not _UUID_START.fullmatch(bare):
        return None
    parts = (bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:])
    return bare if "-" in bare else "-".join(part for part in parts if part)


def looks_like_uuid(text: str) -> bool:
    """Whether a text is a uuid, a part of one, or one with a slip: never what anything is called.

    Dates and spans of numbers are none: of those with hyphens in other places some group mixes digits and letters.
    """
    bare = _bare(text)
    digits = len(_HEX.findall(bare))
    if digits + bare.count("-") == len(bare) and digits >= _SHORTEST_UUID:
        return bool(_UUID_START.match(bare) or _MIXED.search(bare))
    is_whole = len(bare) >= _NEARLY_WHOLE and not re.search(r"\s", bare)
    return is_whole and digits + bare.count("-") >= _MOSTLY * len(bare)


def _bare(text: str) -> str:
    return text.strip().strip("{}()<>[]\"'`").lower()


def find_replaced(
    told: ToldFact,
    ends: Ends,
    around: Around,
    known: Callable[[str], str | None],
    is_said: Callable[[str], bool],
    reference_time: datetime,
    now: datetime,
    zone: tzinfo,
) -> Replaced:
    """The old facts that a told fact ends or corrects.

    ``known``: entity uuid of a name. ``is_said``: whether these words stand in the body. ``reference_time``: from when
    the fact counts that tells no start.
    """
    facts: dict[str, Fact] = {}
    guessed: dict[str, Fact] = {}
    unrecorded: list[str] = []
    unsettled: list[Unsettled] = []
    finder = _Finder(told, ends, around, known, told.valid_at or reference_time, now, zone)
    for wanted in told.replaces:
        found = next((hit for pool in around.pools if (hit := finder.find(wanted, pool)) is not None), None)
        found = finder.otherwise(wanted, found)
        if isinstance(found, Unsettled):
            unsettled.append(found)
        elif found is not None:
            is_guess = is_current_word(wanted) and not told.is_correction
            for fact in found:
                is_other = is_guess and not inflected_alike(fact.relation, told.relation)
                (guessed if is_other else facts)[fact.uuid] = fact
        elif finder.is_old_state(wanted, is_said):
            unrecorded.append(wanted)
        else:
            may_tell = finder.may_record(wanted)
            unsettled.append(Unsettled(wanted, "none", tuple(finder.open_ones()), may_tell=may_tell))
    only_guessed = tuple(fact for uuid, fact in guessed.items() if uuid not in facts)
    return Replaced(tuple(facts.values()), only_guessed, tuple(unrecorded), tuple(unsettled))


@dataclass(frozen=True)
class _Finder:
    told: ToldFact
    ends: Ends
    around: Around
    known: Callable[[str], str | None]
    start: datetime
    now: datetime
    zone: tzinfo

    def may_record(self, wanted: str) -> bool:
        """Only a named target or value of something that changed, never of a plan, a reading or a correction."""
        told = self.told
        if is_current_word(wanted) or told.is_correction or told.kind in {"plan", "reading"}:
            return False
        is_new_one = self.known(wanted) == self.ends.target_uuid if told.has_target else same_value(wanted, told.value)
        is_number = wanted.isdecimal() and not told.has_target  # a value: a telephone number, a compact date
        return not is_new_one and (is_number or not looks_like_uuid(wanted))

    def is_old_state(self, wanted: str, is_said: Callable[[str], bool]) -> bool:
        """Whether a name that nothing recorded fits is an old state told only now, and not a wrong name.

        It is one where nothing else is current that it could mean, or where the body says it and it is no slip.
        """
        if not self.may_record(wanted):
            return False
        open_ones = self.open_ones()
        return not open_ones or (is_said(wanted) and not any(self._is_near(wanted, fact) for fact in open_ones))

    def open_ones(self) -> list[Fact]:
        """What a name that fits nothing may have meant: what still holds of this source and relation."""
        told = self.told
        kinds = {told.kind} if told.is_correction or told.kind in {"plan", "reading"} else {"state"}
        own = [
            fact
            for pool in self.around.pools
            for fact in pool
            if fact.kind in kinds and still_holds(fact, self.now) and (told.is_correction or not self._is_itself(fact))
        ]
        return [*own, *self._open_rivals()]

    def _is_near(self, wanted: str, fact: Fact) -> bool:
        texts = (fact.target_name, fact.source_name, fact.value or "")
        name = normalise_name(wanted)
        return any(
            close_spelling(name, normalise_name(text)) or contains_name(text, wanted) or contains_name(wanted, text)
            for text in texts
        )

    def find(self, wanted: str, pool: Sequence[Fact]) -> tuple[Fact, ...] | Unsettled | None:
        """The facts meant (none: they ended before); None if nothing fits."""
        if self.told.kind == "reading" and not self.told.is_correction:
            return Unsettled(wanted, "ends_nothing", self._readings(wanted, pool))
        if is_current_word(wanted):
            return self._current(wanted, pool)
        named = self._named(wanted, pool)
        if not named:
            return None
        return self._chosen(wanted, named)

    def otherwise(self, wanted: str, found: tuple[Fact, ...] | Unsettled | None) -> tuple[Fact, ...] | Unsettled | None:
        """What is known under another relation, where nothing of the told one can be meant."""
        is_over = not found or (isinstance(found, Unsettled) and found.problem == "ends_nothing")
        if not is_over or self.told.kind == "reading" or is_current_word(wanted):
            return found
        named = (wanted, self.known(wanted))
        hit = known_otherwise(self.told, self.ends, named, self.around.others, self.start, self.now, self.zone)
        if isinstance(hit, Unsettled) and found is None:
            return replace(hit, may_tell=self.may_record(wanted))
        return found if hit is None or isinstance(hit, Unsettled) else hit

    def _readings(self, wanted: str, pool: Sequence[Fact]) -> tuple[Fact, ...]:
        """Which readings of its series a new one may be meant to correct: those with this value, else the last."""
        series = [fact for fact in pool if fact.kind == "reading" and not fact.voided]
        return tuple(self._named(wanted, series) or series[:1])

    def _current(self, wanted: str, pool: Sequence[Fact]) -> tuple[Fact, ...] | Unsettled | None:
        others = [fact for fact in pool if self.told.is_correction or not self._is_itself(fact)]
        if self.told.is_correction and self.told.kind in {"reading", "event"}:
            return self._one(wanted, [fact for fact in others if fact.kind == self.told.kind and not fact.voided])
        kind = "plan" if self.told.kind == "plan" else "state"
        open_ones = [fact for fact in others if fact.kind == kind and still_holds(fact, self.now)]
        current = [fact for fact in open_ones if is_current(fact, self.now)] or open_ones
        if self.told.is_correction:
            current = self._narrowed(current, [fact for fact in others if fact.kind == kind and not fact.voided])
        moved = [fact for fact in current if fact.target_uuid != self.ends.target_uuid]
        rivals = self._open_rivals() if moved or not current else []
        if current:  # one of its own: what the call does with the others is told
            rivals = [fact for fact in rivals if fact.uuid not in self.around.placed]
        if rivals:
            return Unsettled(wanted, "several" if current else "other_source", (*current, *rivals))
        if not current:
            repeated = any(still_holds(fact, self.now) and self._is_itself(fact) for fact in pool)
            return () if repeated and not self.told.is_correction else None
        return self._settled(wanted, current)

    def _settled(self, wanted: str, found: Sequence[Fact]) -> tuple[Fact, ...] | Unsettled:
        """What is one statement, of a correction also of one period; anything else is asked about."""
        is_one = _is_one_statement(found) and (not self.told.is_correction or is_one_period(found))
        return tuple(found) if is_one else Unsettled(wanted, "several", tuple(found))

    def _open_rivals(self) -> list[Fact]:
        """Current facts of other sources, where "current" may mean one of theirs."""
        if self.told.kind != "state" or says_of_source(self.told.relation):
            return []
        return [fact for fact in self.around.rivals if fact.kind == "state" and still_holds(fact, self.now)]

    def _narrowed(self, current: list[Fact], all_states: list[Fact]) -> list[Fact]:
        """Which states a correction means: of the same target or start, if it names one, before the current one."""
        told = self.told
        named = [fact for fact in all_states if told.has_target and fact.target_uuid == self.ends.target_uuid]
        at_start = [fact for fact in all_states if self._is_at_told_start(fact)]
        meant = [fact for fact in named if fact in at_start] or [*named, *(f for f in at_start if f not in named)]
        if not meant:
            return self._held_then(current, all_states)
        holding = [fact for fact in meant if fact in current]
        if told.valid_at is None and told.invalid_at is None:
            return holding or [*meant, *current]
        is_moved = told.has_replaces and told.invalid_at is None  # "current", said so, with another start
        return (holding if is_moved else []) or fitting(told, meant, self.zone)

    def _held_then(self, current: list[Fact], all_states: list[Fact]) -> list[Fact]:
        """Which states a correction means that names none: the current one, unless the told time is another's.

        A start before that of the current one may be its own, or tell when another was wrong.
        """
        told = self.told
        if not current:
            return fitting(told, all_states, self.zone)
        if told.invalid_at is not None:
            is_current_time = any(overlaps_told(told, fact) for fact in current)
            return current if is_current_time else fitting(told, all_states, self.zone)
        is_meant = told.has_replaces or (told.value is not None and any(same_said(told, fact) for fact in current))
        if told.valid_at is None or is_meant or any(held_at(fact, told.valid_at) for fact in current):
            return current
        return [*current, *(fact for fact in all_states if fact not in current and held_at(fact, told.valid_at))]

    def _one(self, wanted: str, found: list[Fact]) -> tuple[Fact, ...] | Unsettled | None:
        """The one event or reading that a correction means, by target, value and date; "current" is the newest."""
        told = self.told
        named = [
            fact
            for fact in found
            if (
                fact.target_uuid == self.ends.target_uuid
                if told.kind == "event"
                else told.valid_at is not None and same_value(told.value, fact.value)
            )
        ]
        at_start = [fact for fact in found if self._is_at_told_start(fact)]
        meant = (
            [fact for fact in named if fact in at_start]
            or (at_start if told.kind == "reading" else [])
            or [*named, *(fact for fact in at_start if fact not in named)]
            or found
        )
        if meant == found and told.has_replaces and told.kind == "reading":  # "current", said so
            meant = sorted(found, key=lambda fact: (fact.valid_at or self.now, fact.created_at))[-1:]
        if len(meant) > 1:
            return Unsettled(wanted, "several", tuple(meant))
        return tuple(meant) or None

    def _is_at_told_start(self, fact: Fact) -> bool:
        start = self.told.valid_at
        return start is not None and fact.valid_at is not None and coincide(start, fact.valid_at, self.zone)

    def _named(self, wanted: str, pool: Sequence[Fact]) -> list[Fact]:
        prefix = as_uuid_prefix(wanted)
        if prefix is not None:
            hits = [fact for fact in (*self.around.by_uuid, *pool) if fact.uuid.startswith(prefix) and not fact.voided]
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
        ] + [
            fact
            for fact in self.around.rivals
            if not fact.voided and (fact.source_uuid == entity_uuid or normalise_name(fact.source_name) == name)
        ]

    def _has_value(self, fact: Fact, wanted: str) -> bool:
        if fact.value is None:
            return False
        with_unit = f"{fact.value} {fact.unit}" if fact.unit else fact.value
        if status_of_fact(fact) is not None and status_named(wanted) is not None:
            return status_of_fact(fact) == status_named(wanted)
        return any(same_value(said, wanted) for said in (fact.value, with_unit, with_unit.replace(" ", "")))

    def _chosen(self, wanted: str, named: list[Fact]) -> tuple[Fact, ...] | Unsettled:
        told = self.told
        if told.is_correction:
            return self._corrected(wanted, named)
        states = [fact for fact in named if fact.kind == "state" and told.kind != "plan"]
        plans = [fact for fact in named if fact.kind == "plan"]
        open_ones = [fact for fact in states if still_holds(fact, self.now)] or [
            fact for fact in plans if still_holds(fact, self.now)
        ]
        if told.kind == "state":
            open_ones = self._at_start(open_ones, states)
        if not open_ones:
            return () if states or plans else Unsettled(wanted, "ends_nothing", tuple(named))
        others = [fact for fact in open_ones if not self._is_itself(fact)]
        return self._settled(wanted, others)

    def _corrected(self, wanted: str, named: list[Fact]) -> tuple[Fact, ...] | Unsettled:
        """What a correction means of all that has this name: what held at the told time, else what holds."""
        told = self.told
        own = [fact for fact in named if fact.kind == told.kind]
        preferred = (
            [fact for fact in named if is_current(fact, self.now)]
            or [fact for fact in own if still_holds(fact, self.now)]
            or named
        )
        if told.kind == "state" and own and (told.valid_at is not None or told.invalid_at is not None):
            preferred = fitting(told, own, self.zone)
        elif told.kind == "plan":
            preferred = [fact for fact in own if self._is_at_told_start(fact)] or preferred
        if told.kind in {"reading", "event"}:
            at_start = [fact for fact in preferred if self._is_at_told_start(fact)]
            preferred = at_start if len(at_start) == 1 else preferred
            return tuple(preferred) if len(preferred) == 1 else Unsettled(wanted, "several", tuple(preferred))
        return self._settled(wanted, preferred)

    def _at_start(self, open_ones: list[Fact], states: list[Fact]) -> list[Fact]:
        """What is known to hold when a state starts, also if it is over by now: what is told late has its place."""
        over = [
            fact
            for fact in states
            if not still_holds(fact, self.now) and fact.invalid_at is not None and fact.invalid_at > self.start
        ]
        then = [fact for fact in over if held_at(fact, self.start)]
        if then and not any(held_at(fact, self.start) for fact in open_ones):
            return then
        return open_ones or over

    def _is_itself(self, fact: Fact) -> bool:
        return (
            (fact.source_uuid, fact.target_uuid) == (self.ends.source_uuid, self.ends.target_uuid)
            and fact.kind == self.told.kind
            and (self.told.value is None or same_said(self.told, fact))
            and not is_other_plan(self.told, fact)
        )


def _is_one_statement(facts: Sequence[Fact]) -> bool:
    """Whether all say one thing, however often it was told in other words."""
    first = facts[0] if facts else None
    return all(
        first is not None
        and (fact.source_uuid, fact.target_uuid, fact.kind) == (first.source_uuid, first.target_uuid, first.kind)
        and same_value(fact.value, first.value)
        and (fact.kind != "plan" or fact.valid_at == first.valid_at)
        for fact in facts
    )
