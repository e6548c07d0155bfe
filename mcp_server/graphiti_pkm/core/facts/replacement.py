"""Finds the old facts that ``replaces`` names: by target, value, uuid, given time or "current"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import combinations

from graphiti_pkm.core.facts.other_relations import find_by_other_relations
from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.replaced import Ends, Replaced, ReplacementPool, UnresolvedReplacement
from graphiti_pkm.core.facts.rules import (
    coincide,
    is_current,
    is_other_plan,
    known_from,
    may_be_same_end,
    may_be_same_start,
    overlap,
    same_stated_value,
    same_value,
    still_holds,
)
from graphiti_pkm.core.facts.sentences import nearest_sentences, reads_as_sentence, same_sentence
from graphiti_pkm.core.facts.statuses import same_meaning, stated, status_of_fact
from graphiti_pkm.core.identity.spelling import close_spelling, contains_name, describes_source, is_inflection
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.records import Fact

CURRENT = "current"
_UUID_START = re.compile(r"[0-9a-f]{8}(?>(?:-?[0-9a-f])*)-?")
"""At most one hyphen between two digits; each character can match in only one way, so the pattern cannot backtrack."""
_HEX = re.compile(r"[0-9a-f]")
_MIXED = re.compile(r"[0-9][a-f]|[a-f][0-9]")
_SHORTEST_UUID = 8
_UUID = 36
_NEARLY_WHOLE = 30
_MOSTLY = 0.85


def is_current_word(text: str) -> bool:
    """Whether an entry of ``replaces`` is the word "current"."""
    return text.lower() == CURRENT


def as_uuid_prefix(text: str) -> str | None:
    """The text as the first characters of a uuid, if it can be one; hyphens may be left out."""
    bare = _bare(text)
    if len(bare) > _UUID or not _UUID_START.fullmatch(bare):
        return None
    parts = (bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:])
    return bare if "-" in bare else "-".join(part for part in parts if part)


def looks_like_uuid(text: str) -> bool:
    """Whether a text is a uuid, a part of one, or one with a typo, and therefore no name.

    Dates and number ranges do not count: if the hyphens are elsewhere than in a uuid, some group must mix digits and
    letters.
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
    parsed: ParsedFact,
    ends: Ends,
    around: ReplacementPool,
    known: Callable[[str], str | None],
    is_said: Callable[[str], bool],
    reference_time: datetime,
    now: datetime,
    zone: tzinfo,
) -> Replaced:
    """The old facts that a parsed fact ends or corrects.

    ``known``: the entity uuid of a name. ``is_said``: whether these words occur in the body. ``reference_time``: from
    when a fact without a start counts.
    """
    facts: dict[str, Fact] = {}
    guessed: dict[str, Fact] = {}
    unrecorded: list[str] = []
    unresolved: list[UnresolvedReplacement] = []
    finder = _Finder(parsed, ends, around, known, parsed.valid_at or reference_time, now, zone)
    for wanted in parsed.replaces:
        found = next((hit for pool in around.pools if (hit := finder.find(wanted, pool)) is not None), None)
        found = finder.by_other_relations(wanted, found)
        if isinstance(found, UnresolvedReplacement):
            unresolved.append(found)
        elif found is not None:
            is_guess = is_current_word(wanted) and not parsed.is_correction
            for fact in found:
                is_other = is_guess and not is_inflection(fact.relation, parsed.relation)
                (guessed if is_other else facts)[fact.uuid] = fact
        elif finder.is_old_state(wanted, is_said):
            unrecorded.append(wanted)
        else:
            may_be_unrecorded = finder.may_record(wanted)
            unresolved.append(
                UnresolvedReplacement(wanted, "none", finder.candidates(wanted), may_be_unrecorded=may_be_unrecorded)
            )
    only_guessed = tuple(fact for uuid, fact in guessed.items() if uuid not in facts)
    return Replaced(tuple(facts.values()), only_guessed, tuple(unrecorded), tuple(unresolved))


@dataclass(frozen=True)
class _Finder:
    parsed: ParsedFact
    ends: Ends
    around: ReplacementPool
    known: Callable[[str], str | None]
    start: datetime
    now: datetime
    zone: tzinfo

    def may_record(self, wanted: str) -> bool:
        """Whether an old state may be created: for a named target or value, not for plans, readings and corrections.

        A sentence names neither.
        """
        parsed = self.parsed
        if is_current_word(wanted) or parsed.is_correction or parsed.kind in {"plan", "reading"}:
            return False
        if self._is_sentence(wanted):
            return False
        is_new_one = (
            self.known(wanted) == self.ends.target_uuid if parsed.has_target else same_value(wanted, parsed.value)
        )
        is_number = wanted.isdecimal() and not parsed.has_target  # a value: a telephone number, a compact date
        return not is_new_one and (is_number or not looks_like_uuid(wanted))

    def is_old_state(self, wanted: str, is_said: Callable[[str], bool]) -> bool:
        """Whether a name that matches no fact is an old state, recorded only now, rather than a wrong name.

        It is one if no current fact could be meant, or if the body contains it and it is not a typo.
        """
        if not self.may_record(wanted):
            return False
        open_ones = self.open_ones()
        return not open_ones or (is_said(wanted) and not any(self._is_near(wanted, fact) for fact in open_ones))

    def _is_sentence(self, wanted: str) -> bool:
        is_said = bool(self._saying(wanted)) or reads_as_sentence(wanted, self.parsed.relation)
        return is_said and self.known(wanted) is None

    def candidates(self, wanted: str) -> tuple[Fact, ...]:
        """Facts that an entry without a match may refer to; for a sentence first those that say nearly the same."""
        near: Sequence[Fact] = ()
        if self._is_sentence(wanted):
            kinds = {self.parsed.kind} if self.parsed.is_correction else {"state", "plan"}
            own = [fact for fact in self._own() if fact.kind in kinds and still_holds(fact, self.now)]
            near = [*self._saying(wanted), *nearest_sentences(wanted, own)]
        return tuple({fact.uuid: fact for fact in (*near, *self.open_ones())}.values())

    def _own(self) -> list[Fact]:
        """Facts of this source, of whatever relation."""
        source = self.ends.source_uuid
        return [fact for fact in self.around.others if fact.source_uuid == source and not fact.voided]

    def open_ones(self) -> list[Fact]:
        """Facts that a name without a match may refer to: those of this source and relation that still hold.

        Readings and events stand in the order of how near they are to the given time, others are newest first.
        """
        parsed = self.parsed
        kinds = {parsed.kind} if parsed.is_correction or parsed.kind in {"plan", "reading"} else {"state"}
        own = [
            fact
            for pool in self.around.pools
            for fact in pool
            if fact.kind in kinds
            and still_holds(fact, self.now)
            and (parsed.is_correction or not self._is_itself(fact))
        ]
        if parsed.kind in {"reading", "event"}:
            own.sort(key=lambda fact: abs((known_from(fact) or self.start) - self.start))
        return [*own, *self._open_rivals()]

    def _is_near(self, wanted: str, fact: Fact) -> bool:
        texts = (fact.target_name, fact.source_name, fact.value or "")
        name = normalise_name(wanted)
        return any(
            close_spelling(name, normalise_name(text)) or contains_name(text, wanted) or contains_name(wanted, text)
            for text in texts
        )

    def find(self, wanted: str, pool: Sequence[Fact]) -> tuple[Fact, ...] | UnresolvedReplacement | None:
        """The facts meant (empty if they ended before); None if nothing matches."""
        if self.parsed.kind == "reading" and not self.parsed.is_correction:
            return UnresolvedReplacement(wanted, "ends_nothing", self._readings(wanted, pool))
        if is_current_word(wanted):
            return self._current(wanted, pool)
        named, turned = self._named(wanted, pool), self._inverse(wanted)
        if not named:
            return self._chosen(wanted, turned) if turned else None
        chosen = self._chosen(wanted, named)
        if isinstance(chosen, UnresolvedReplacement) or not chosen:
            return chosen
        return (*chosen, *(fact for fact in turned if fact.kind == "state" and still_holds(fact, self.now)))

    def by_other_relations(
        self, wanted: str, found: tuple[Fact, ...] | UnresolvedReplacement | None
    ) -> tuple[Fact, ...] | UnresolvedReplacement | None:
        """Matches under other relations, if no fact of the given relation can be meant."""
        is_over = not found or (isinstance(found, UnresolvedReplacement) and found.problem == "ends_nothing")
        if not is_over or self.parsed.kind == "reading" or is_current_word(wanted):
            return found
        named = (wanted, self.known(wanted))
        hit = find_by_other_relations(
            self.parsed, self.ends, named, self.around.others, self.start, self.now, self.zone
        )
        if isinstance(hit, UnresolvedReplacement) and found is None:
            return replace(hit, may_be_unrecorded=self.may_record(wanted))
        return found if hit is None or isinstance(hit, UnresolvedReplacement) else hit

    def _readings(self, wanted: str, pool: Sequence[Fact]) -> tuple[Fact, ...]:
        """The readings of its series that a new one may correct: those with this value, else the last."""
        series = [fact for fact in pool if fact.kind == "reading" and not fact.voided]
        return tuple(self._named(wanted, series) or series[:1])

    def _current(self, wanted: str, pool: Sequence[Fact]) -> tuple[Fact, ...] | UnresolvedReplacement | None:
        others = [fact for fact in pool if self.parsed.is_correction or not self._is_itself(fact)]
        if self.parsed.is_correction and self.parsed.kind in {"reading", "event"}:
            return self._one(wanted, [fact for fact in others if fact.kind == self.parsed.kind and not fact.voided])
        kind = "plan" if self.parsed.kind == "plan" else "state"
        open_ones = [fact for fact in others if fact.kind == kind and still_holds(fact, self.now)]
        current = [fact for fact in open_ones if is_current(fact, self.now)] or open_ones
        if self.parsed.is_correction:
            current = self._narrowed(current, [fact for fact in others if fact.kind == kind and not fact.voided])
        elif self.parsed.has_target:  # another value of the very thing that the call names, as of one of two goals
            current = [fact for fact in current if fact.target_uuid == self.ends.target_uuid] or current
        moved = [fact for fact in current if fact.target_uuid != self.ends.target_uuid]
        rivals = self._open_rivals() if moved or not current else []
        rivals += [] if current else [fact for fact in self.around.inverse if is_current(fact, self.now)]
        if current:  # one of its own: what the call does with the others is reported
            rivals = [fact for fact in rivals if fact.uuid not in self.around.placed]
        if rivals:
            return UnresolvedReplacement(wanted, "several" if current else "other_source", (*current, *rivals))
        if not current:
            repeated = any(still_holds(fact, self.now) and self._is_itself(fact) for fact in pool)
            return () if repeated and not self.parsed.is_correction else None
        return self._settled(wanted, current)

    def _settled(self, wanted: str, found: Sequence[Fact]) -> tuple[Fact, ...] | UnresolvedReplacement:
        """The facts if they are one statement (for a correction, also one period); anything else becomes a question."""
        is_one = _is_one_statement(found) and (not self.parsed.is_correction or is_one_period(found))
        return tuple(found) if is_one else UnresolvedReplacement(wanted, "several", tuple(found))

    def _open_rivals(self) -> list[Fact]:
        """Current facts of other sources that "current" may refer to."""
        if self.parsed.kind != "state" or describes_source(self.parsed.relation):
            return []
        return [fact for fact in self.around.rivals if fact.kind == "state" and still_holds(fact, self.now)]

    def _narrowed(self, current: list[Fact], all_states: list[Fact]) -> list[Fact]:
        """States that a correction refers to: those of the given target or start, if any, else the current one."""
        parsed = self.parsed
        named = [fact for fact in all_states if parsed.has_target and fact.target_uuid == self.ends.target_uuid]
        at_start = [fact for fact in all_states if self._has_given_start(fact)]
        meant = [fact for fact in named if fact in at_start] or [*named, *(f for f in at_start if f not in named)]
        if not meant:
            return self._with_facts_then(current, all_states)
        holding = [fact for fact in meant if fact in current]
        if parsed.valid_at is None and parsed.invalid_at is None:
            return holding or [*meant, *current]
        is_moved = (
            parsed.has_replaces and parsed.invalid_at is None
        )  # "current" was given explicitly, with another start
        return (holding if is_moved else []) or fitting(parsed, meant, self.zone)

    def _with_facts_then(self, current: list[Fact], all_states: list[Fact]) -> list[Fact]:
        """The states that an unnamed correction refers to: the current one, unless the given time belongs to another.

        A start before that of the current state may be its own, or the time at which another one was wrong.
        """
        parsed = self.parsed
        if not current:
            return fitting(parsed, all_states, self.zone)
        if parsed.invalid_at is not None:
            is_current_time = any(overlaps_given_time(parsed, fact) for fact in current)
            return current if is_current_time else fitting(parsed, all_states, self.zone)
        is_meant = parsed.has_replaces or (
            parsed.value is not None and any(same_stated_value(parsed, fact) for fact in current)
        )
        if parsed.valid_at is None or is_meant or any(holds_at(fact, parsed.valid_at) for fact in current):
            return current
        return [*current, *(fact for fact in all_states if fact not in current and holds_at(fact, parsed.valid_at))]

    def _one(self, wanted: str, found: list[Fact]) -> tuple[Fact, ...] | UnresolvedReplacement | None:
        """The event or reading that a correction refers to, by target, value and date; "current" is the newest.

        A reading of another day is only meant if it is the newest and has the value, so that its date is wrong.
        """
        parsed = self.parsed
        named = [
            fact
            for fact in found
            if (
                fact.target_uuid == self.ends.target_uuid
                if parsed.kind == "event"
                else parsed.valid_at is not None and same_value(parsed.value, fact.value)
            )
        ]
        at_start = [fact for fact in found if self._has_given_start(fact)]
        if parsed.kind == "reading" and not at_start and (parsed.has_replaces or parsed.valid_at is not None):
            newest = sorted(found, key=lambda fact: (fact.valid_at or self.now, fact.created_at))[-1:]
            return tuple(fact for fact in newest if parsed.valid_at is None or fact in named) or None
        meant = (
            [fact for fact in named if fact in at_start]
            or (at_start if parsed.kind == "reading" else [])
            or [*named, *(fact for fact in at_start if fact not in named)]
            or found
        )
        if len(meant) > 1:
            return UnresolvedReplacement(wanted, "several", tuple(meant))
        return tuple(meant) or None

    def _has_given_start(self, fact: Fact) -> bool:
        return _has_start(self.parsed, fact, self.zone)

    def _named(self, wanted: str, pool: Sequence[Fact]) -> list[Fact]:
        prefix = as_uuid_prefix(wanted)
        if prefix is not None:
            hits = [fact for fact in (*self.around.by_uuid, *pool) if fact.uuid.startswith(prefix) and not fact.voided]
            if hits:
                return list({fact.uuid: fact for fact in hits}.values())
        entity_uuid = self.known(wanted)
        name = normalise_name(wanted)
        named = [
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
        return named or self._meant_by(wanted)

    def _saying(self, sentence: str) -> list[Fact]:
        """Facts with just this sentence."""
        return [fact for fact in self.around.said if not fact.voided and same_sentence(fact.text, sentence)]

    def _meant_by(self, sentence: str) -> list[Fact]:
        """The facts with this sentence: of this source under any relation, else those that may be named at all."""
        said = self._saying(sentence)
        own = [fact for fact in said if fact.source_uuid == self.ends.source_uuid]
        return own or [fact for fact in said if fact in self.around.rivals or fact in self.around.inverse]

    def _inverse(self, wanted: str) -> list[Fact]:
        """Facts of the named entity that say from the other end what the call says."""
        entity_uuid, name = self.known(wanted), normalise_name(wanted)
        return [
            fact
            for fact in self.around.inverse
            if not fact.voided and (fact.source_uuid == entity_uuid or normalise_name(fact.source_name) == name)
        ]

    def _has_value(self, fact: Fact, wanted: str) -> bool:
        if fact.value is None:
            return False
        with_unit = f"{fact.value} {fact.unit}" if fact.unit else fact.value
        status = status_of_fact(fact)
        if status is not None:
            return same_meaning(status, wanted)
        return any(same_value(said, wanted) for said in (fact.value, with_unit, with_unit.replace(" ", "")))

    def _chosen(self, wanted: str, named: list[Fact]) -> tuple[Fact, ...] | UnresolvedReplacement:
        parsed = self.parsed
        if parsed.is_correction:
            return self._corrected(wanted, named)
        states = [fact for fact in named if fact.kind == "state" and parsed.kind != "plan"]
        plans = [fact for fact in named if fact.kind == "plan"]
        open_ones = [fact for fact in states if still_holds(fact, self.now)] or [
            fact for fact in plans if still_holds(fact, self.now)
        ]
        if parsed.kind == "state":
            open_ones = self._at_start(open_ones, states)
        if not open_ones:
            return () if states or plans else UnresolvedReplacement(wanted, "ends_nothing", tuple(named))
        others = [fact for fact in open_ones if not self._is_itself(fact)]
        return self._settled(wanted, others)

    def _corrected(self, wanted: str, named: list[Fact]) -> tuple[Fact, ...] | UnresolvedReplacement:
        """Facts with this name that a correction refers to: what held at the given time, else what holds now."""
        parsed = self.parsed
        own = [fact for fact in named if fact.kind == parsed.kind]
        preferred = (
            [fact for fact in named if is_current(fact, self.now)]
            or [fact for fact in own if still_holds(fact, self.now)]
            or named
        )
        if parsed.kind == "state" and own and (parsed.valid_at is not None or parsed.invalid_at is not None):
            preferred = fitting(parsed, own, self.zone)
        elif parsed.kind == "plan":
            preferred = [fact for fact in own if self._has_given_start(fact)] or preferred
        if parsed.kind in {"reading", "event"}:
            at_start = [fact for fact in preferred if self._has_given_start(fact)]
            preferred = at_start if len(at_start) == 1 else preferred
            return (
                tuple(preferred) if len(preferred) == 1 else UnresolvedReplacement(wanted, "several", tuple(preferred))
            )
        return self._settled(wanted, preferred)

    def _at_start(self, open_ones: list[Fact], states: list[Fact]) -> list[Fact]:
        """What held when a state starts, even if it has ended since: facts recorded late are placed in time."""
        over = [
            fact
            for fact in states
            if not still_holds(fact, self.now) and fact.invalid_at is not None and fact.invalid_at > self.start
        ]
        then = [fact for fact in over if holds_at(fact, self.start)]
        if then and not any(holds_at(fact, self.start) for fact in open_ones):
            return then
        return open_ones or over

    def _is_itself(self, fact: Fact) -> bool:
        return (
            (fact.source_uuid, fact.target_uuid) == (self.ends.source_uuid, self.ends.target_uuid)
            and fact.kind == self.parsed.kind
            and (self.parsed.value is None or same_stated_value(self.parsed, fact))
            and not is_other_plan(self.parsed, fact)
        )


def _is_one_statement(facts: Sequence[Fact]) -> bool:
    """Whether all facts make the same statement, in whatever words."""
    first = facts[0] if facts else None
    return all(
        first is not None
        and (fact.source_uuid, fact.target_uuid, fact.kind) == (first.source_uuid, first.target_uuid, first.kind)
        and same_value(stated(fact)[0], stated(first)[0])
        and (fact.kind != "plan" or fact.valid_at == first.valid_at)
        for fact in facts
    )


def fitting(parsed: ParsedFact, facts: Sequence[Fact], zone: tzinfo) -> list[Fact]:
    """The facts that the given time selects: the same interval, else the same start, else those that held then.

    All facts if the call gives no time, or one at which none held.
    """
    start, end = parsed.valid_at, parsed.invalid_at
    if start is not None and end is not None and end <= start:
        end = None
    if start is None and end is None:
        return list(facts)
    exact = [
        fact
        for fact in facts
        if (start is None or _has_start(parsed, fact, zone)) and (end is None or may_be_same_end(parsed, fact, zone))
    ]
    begun = [fact for fact in facts if _has_start(parsed, fact, zone)]
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


def _has_start(parsed: ParsedFact, fact: Fact, zone: tzinfo) -> bool:
    """Whether the fact starts when the call says, as precisely as either is told."""
    if parsed.valid_at is None or fact.valid_at is None:
        return False
    return coincide(parsed.valid_at, fact.valid_at, zone) or may_be_same_start(parsed, fact, zone)
