"""Plans the facts of one call in order: created, recorded again, ended, corrected."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.retirement import Retirements
from graphiti_pkm.core.facts import endings, goals, outcomes, rules
from graphiti_pkm.core.facts.observations import OBSERVATION
from graphiti_pkm.core.facts.parsed_facts import ParsedFact, fact_text
from graphiti_pkm.core.facts.quotes import QuotedText
from graphiti_pkm.core.facts.readings import Readings
from graphiti_pkm.core.facts.replaced import Ends, Replaced, ReplacementPool
from graphiti_pkm.core.facts.replacement import as_uuid_prefix, find_replaced, is_current_word
from graphiti_pkm.core.facts.resolution import Resolution
from graphiti_pkm.core.facts.statuses import DROPPED, HAS_STATUS, class_of_status, status_word, word_of
from graphiti_pkm.core.facts.world import FactWorld
from graphiti_pkm.core.identity.mentions import NamedIn
from graphiti_pkm.core.identity.near_relations import Relations
from graphiti_pkm.core.identity.relation_kinds import may_mean_same
from graphiti_pkm.core.identity.spelling import has_exclusive_target, same_relation
from graphiti_pkm.core.model.answers import Attention, FactResult
from graphiti_pkm.core.model.date_phrases import without_date_words
from graphiti_pkm.core.model.records import BECAUSE_OF, CONFIDENTIAL, DUE, GOAL_OUTCOME, Entity, Fact
from graphiti_pkm.core.model.times import show_validity
from graphiti_pkm.core.reading.views import shown_ending, shown_start
from graphiti_pkm.settings.loader import RetirementPolicy


@dataclass(frozen=True)
class FactContext:
    """The episode that records the facts, and when it is recorded."""

    episode_uuid: str
    group_id: str
    body: str
    reference_time: datetime
    now: datetime
    recorded_at: datetime
    zone: tzinfo
    caller: str
    """The principal of the call."""
    policy: RetirementPolicy
    facts: tuple[ParsedFact, ...] = ()
    """All facts of the call."""
    is_confidential: bool = False
    """Whether all of them are not public."""


@dataclass
class FactOutcome:
    """The results for the facts of a call, in addition to the changed world."""

    results: list[FactResult] = field(default_factory=list)
    attention: list[Attention] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """Texts to embed, by the uuid of the created fact."""
    moved: list[tuple[Fact, Fact]] = field(default_factory=list)
    """Facts whose start was corrected, with what took their place."""


class FactPlanner:
    """Applies the fact rules to one parsed fact after another."""

    def __init__(
        self,
        context: FactContext,
        resolution: Resolution,
        world: FactWorld,
        relations: Relations,
        measures: Mapping[str, Mapping[str, int]],
        writer: AttentionWriter,
        new_uuid: Callable[[], str],
        unlike: Collection[tuple[str, str]] = (),
        measure_names: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """``unlike``: pairs of relations that lead to different kinds of things, however similar their words are.

        ``measure_names``: other names of the measures that the call gives readings of.
        """
        self._at = context
        self._body, self._said = QuotedText(context.body), NamedIn(context.body)
        self._resolution = resolution
        self._world = world
        self._relations = relations
        self._readings = Readings(world, measures, measure_names or {})
        self._writer = writer
        self._new_uuid = new_uuid
        self._unlike = unlike
        self._near_reported: set[str] = set()
        self._read: dict[tuple[str, str], tuple[int, Fact]] = {}
        """The last new reading of each series, and its place among the results."""
        self.outcome = FactOutcome()
        at = context
        self.retirements = Retirements(world, at.episode_uuid, at.now, at.recorded_at, at.caller, at.policy, new_uuid)

    def plan(self, parsed: ParsedFact) -> None:
        """Add the next fact."""
        source = self._resolution.resolve(parsed.source).entity
        sent_measure, parsed = parsed.measure, self._readings.in_series(parsed, source.uuid)
        target = self._resolution.resolve(
            parsed.target,
            is_derived=not parsed.has_target,
            is_named=parsed.has_target,
            is_measure=parsed.is_named,
        ).entity
        pool = self._pool(parsed, source.uuid)
        parsed = outcomes.as_told(parsed, target.uuid, pool, self._at.reference_time)
        endings.check_year(parsed, target.uuid, pool, self._at.reference_time)
        replaced = self._replaced(parsed, source.uuid, target.uuid, pool)
        statuses = [*rules.other_statuses(parsed, pool), *goals.with_other_deadline(parsed, target.uuid, pool)]
        first_instant = parsed.valid_at
        parsed = self._placed(parsed, replaced, statuses)
        if parsed.valid_at is not None and parsed.valid_at != first_instant:
            replaced = replace(replaced, facts=rules.holding_on(replaced.facts, parsed.valid_at))
        over = goals.over_by(
            parsed, self._world.facts_at(source.uuid, source.uuid), source.uuid, self._at.reference_time
        )
        validity, reference_time = self._validity(parsed, replaced, pool, [*statuses, *over])
        chosen = [*replaced.guessed, *self._still(statuses, validity.valid_at)]
        gone = {fact.uuid for fact in (*replaced.facts, *chosen)}
        pool = [fact for fact in pool if fact.uuid not in gone]
        note, zone, told_at = self._at.reference_time, self._at.zone, self._world.end_told_at
        closed = endings.Closed() if gone else endings.find_closed(parsed, target.uuid, pool, note, zone, told_at)
        past = None if closed.ended or closed.known_later else outcomes.ended_before(parsed, target.uuid, pool)
        known = next(iter(closed.ended), past) or rules.find_duplicate(
            parsed, validity, reference_time, target.uuid, pool, self._at.episode_uuid, self._at.zone
        )
        itself = [known] if known else replaced.facts if parsed.is_correction else []
        old = replaced.facts[0] if parsed.is_correction and replaced.facts else None
        kept = old.cause_uuid if old and (known is None or known.cause_uuid is None) else None
        cause = self._not_circular(parsed, self._cause(parsed) or kept, itself)
        if known:
            fact = self._record_again(parsed, known, cause)
        else:
            told = rules.told_words(parsed, validity.valid_at, validity.invalid_at, old)
            fact = self._new(parsed, (source, target), validity, reference_time, self._attributes(parsed, told, cause))
        if parsed.is_correction and any(CONFIDENTIAL in old.attributes for old in replaced.facts):
            fact = self._mark(fact)
        start = self._new_start(parsed, fact, is_again=known is not None)
        self._end_old(parsed, fact, replaced, start)
        self._end_chosen(parsed, fact, chosen, start)
        self._close(parsed, closed)
        self._settle(parsed, past)
        self._fulfil(parsed, fact, pool)
        self._report_unresolved(parsed, fact, replaced, start)
        self._end_goals(parsed, fact)
        if validity.is_empty and not closed.ended and not past:
            self.outcome.attention.append(self._writer.empty_interval(parsed))
        if known is None:
            asked = {one.uuid for unresolved in replaced.unresolved for one in unresolved.candidates}
            others = [one for one in pool if one.uuid not in asked]
            self._report(parsed, fact, sent_measure, others, self._rivals(parsed, fact, asked), is_handled=bool(gone))
        self._answer(parsed, fact, known, is_updated=bool(closed.ended))

    def show_series(self) -> None:
        """Show each series once, at the last reading of the call, as it is after all that the call corrects."""
        results = self.outcome.results
        for place, fact in self._read.values():
            results[place] = results[place].model_copy(update={"series": self._readings.shown(fact, self._at.zone)})

    def plan_implied(self, parsed: ParsedFact) -> None:
        """Add the status of what a new fact of the call supersedes, unless it was dropped otherwise before."""
        base = self.outcome.results[parsed.follows or 0]
        source = self._resolution.known(parsed.source) or ""
        standing = [
            fact for fact in self._world.with_relation(source, [HAS_STATUS]) if rules.is_current(fact, self._at.now)
        ]
        is_dropped = any(class_of_status(word_of(fact)) == DROPPED for fact in standing)
        if base.outcome == "created" and not is_dropped:
            self.plan(replace(self._after_undated(parsed, standing), because_of=base.uuid))

    def _after_undated(self, parsed: ParsedFact, standing: list[Fact]) -> ParsedFact:
        """What is superseded is not accepted again: a status told without a date, by this note or before, is over."""
        known = [fact.reference_time for fact in standing if fact.valid_at is None and fact.reference_time is not None]
        last = max((at for at in known if at <= self._at.reference_time), default=None)
        told = rules.parsed_start(parsed, self._at.zone)
        if last is None or told is None or told.end > last:
            return parsed
        return replace(parsed, valid_at=last, start_words=None)

    def _pool(self, parsed: ParsedFact, source_uuid: str) -> list[Fact]:
        if parsed.kind == "reading" and parsed.measure is not None:
            return list(reversed(self._world.series(source_uuid, parsed.measure)))
        return self._world.with_relation(source_uuid, [parsed.relation])

    def _replaced(self, parsed: ParsedFact, source_uuid: str, target_uuid: str, pool: list[Fact]) -> Replaced:
        if not parsed.replaces:
            return Replaced()
        near = self._relations.near(parsed.relation, is_plan=False)
        pools = [pool, self._world.with_relation(source_uuid, near)] if near else [pool]
        prefixes = tuple(prefix for text in parsed.replaces if (prefix := as_uuid_prefix(text)))
        by_uuid = [fact for fact in self._world.known if fact.uuid.startswith(prefixes)] if prefixes else []
        rivals = self._world.into(target_uuid, parsed.relation, not_from=source_uuid) if parsed.has_target else []
        placed = {fact.uuid for fact in rivals if self._world.is_new(fact.uuid) or self._is_placed(fact)}
        others = self._world.facts_at(source_uuid, target_uuid if has_exclusive_target(parsed.relation) else None)
        turned = self._relations.inverse(parsed.relation) if parsed.has_target and parsed.kind == "state" else ()
        inverse = [fact for one in turned for fact in self._world.into(source_uuid, one, not_from=target_uuid)]
        said = [fact for text in parsed.replaces for fact in self._world.saying(text)]
        around = ReplacementPool(pools, rivals, by_uuid, others, placed, inverse, said)
        ends, known, at = Ends(source_uuid, target_uuid), self._resolution.known, self._at
        return find_replaced(parsed, ends, around, known, self._is_said, at.reference_time, at.now, at.zone)

    def _is_placed(self, rival: Fact) -> bool:
        """Whether the call itself gives the replacement of another source's fact."""
        known = self._resolution.known
        return any(
            parsed.kind == "state"
            and known(parsed.source) == rival.source_uuid
            and known(parsed.target) != rival.target_uuid
            and same_relation(parsed.relation, rival.relation)
            and any(is_current_word(text) or known(text) == rival.target_uuid for text in parsed.replaces)
            for parsed in self._at.facts
        )

    def _rivals(self, parsed: ParsedFact, fact: Fact, asked: set[str]) -> list[Fact]:
        """Earlier facts of other sources with a target that normally has a single source."""
        if not parsed.has_target or not has_exclusive_target(parsed.relation):
            return []
        rivals = self._world.into(fact.target_uuid, parsed.relation, not_from=fact.source_uuid)
        return [one for one in rivals if one.uuid not in asked and not self._world.is_new(one.uuid)]

    def _placed(self, parsed: ParsedFact, replaced: Replaced, statuses: list[Fact]) -> ParsedFact:
        """The fact with the instants of its dates, of which a call may only tell the period."""
        note, zone = self._at.reference_time, self._at.zone
        follows = parsed.kind == "state" and not parsed.is_correction
        before = [*replaced.facts, *replaced.guessed, *statuses] if follows else []
        start = rules.placed_start(parsed, before, note, zone)
        corrected = replaced.facts[0].valid_at if parsed.is_correction and replaced.facts else None
        return replace(parsed, valid_at=start, invalid_at=endings.placed_end(parsed, start or corrected, note, zone))

    def _is_said(self, words: str) -> bool:
        return words.lower() in self._said

    def _validity(
        self, parsed: ParsedFact, replaced: Replaced, pool: list[Fact], statuses: list[Fact]
    ) -> tuple[rules.Validity, datetime]:
        if parsed.is_correction and replaced.facts:
            old = replaced.facts[0]
            validity = rules.corrected_validity(parsed, old, self._at.reference_time)
            told_at = old.reference_time if validity.valid_at is None else None
            return validity, told_at or self._at.reference_time
        validity = rules.validity_of(parsed, self._at.reference_time)
        if statuses and validity.valid_at is None:
            validity = replace(validity, valid_at=self._at.reference_time)
        if parsed.kind == "state" and validity.valid_at is not None and validity.invalid_at is None:
            before = [*replaced.facts, *statuses]
            ended_too_early = [fact for fact in before if self._end_of(fact, validity.valid_at) is None]
            series = pool if any(is_current_word(text) for text in parsed.replaces) else []
            end = rules.end_before_later(validity.valid_at, ended_too_early, series)
            ended = [fact for fact in replaced.facts if fact not in ended_too_early]
            validity = replace(validity, invalid_at=end or self.retirements.next_start(ended, pool, self._at.zone))
        return validity, self._at.reference_time

    def _still(self, statuses: list[Fact], start: datetime | None) -> list[Fact]:
        """Statuses that still hold when another one starts."""
        if start is None:
            return []
        held = [fact for fact in statuses if fact.invalid_at is None or fact.invalid_at > start]
        return [fact for fact in held if self._end_of(fact, start) is not None]

    def _end_of(self, old: Fact, start: datetime) -> datetime | None:
        """When a replaced fact ends; None if it is known to hold only later."""
        at = rules.end_of(old, start, self._at.zone)
        return None if rules.ended(old, at, self._at.now) is None else at

    def _cause(self, parsed: ParsedFact) -> str | None:
        """The uuid of what the fact follows from; reported if there is no such entity or fact."""
        named = parsed.because_of
        if named is None:
            return None
        if any(named == one.source or (one.has_target and named == one.target) for one in self._at.facts):
            return self._resolution.resolve(named).entity.uuid
        if (known := self._resolution.known(named)) is not None:
            return known
        prefix = as_uuid_prefix(named)
        found = self._world.starting_with(prefix) if prefix else []
        if len(found) == 1:
            return found[0].uuid
        self.outcome.attention.append(self._writer.unknown_cause(parsed))
        return None

    def _not_circular(self, parsed: ParsedFact, cause: str | None, itself: Sequence[Fact]) -> str | None:
        """The cause, unless the fact (or the one that it corrects) is its own cause; that is reported."""
        if cause is None or not any(self._world.follows_from(cause, fact.uuid) for fact in itself):
            return cause
        self.outcome.attention.append(self._writer.circular_cause(parsed))
        return None

    def _record_again(self, parsed: ParsedFact, known: Fact, cause: str | None = None) -> Fact:
        """A known fact gains the episode, its cause, and a start, an earlier known time or a quote that it lacked."""
        episodes = (
            known.episodes if self._at.episode_uuid in known.episodes else (*known.episodes, self._at.episode_uuid)
        )
        changes: dict[str, object] = {"episodes": episodes}
        attributes = known.attributes
        start, told_at = parsed.valid_at, known.reference_time
        if rules.gains_start(known, start) or rules.refines(parsed, known, self._at.zone):
            changes["valid_at"] = start
            attributes = without_date_words(attributes) | rules.told_words(parsed, start, known.invalid_at, known)
        elif rules.is_known_earlier(parsed, known, self._at.reference_time):
            changes["reference_time"] = self._at.reference_time
        if known.quote is None:
            changes.update(self._quoted(parsed))
        changes["attributes"] = self._attributes(parsed, attributes, cause)
        fact = known.model_copy(update=changes)
        if (fact.valid_at, fact.reference_time) == (known.valid_at, known.reference_time):
            self._world.change(fact)
        else:
            self.retirements.date(known, fact)
            self.retirements.follow(known, fact, self._at.zone)
        if start is not None and not self._has_start(parsed, fact) and not parsed.replaces:
            is_same_day = told_at is not None and rules.coincide(start, told_at, self._at.zone)
            if fact.valid_at is not None or not is_same_day:
                self.outcome.attention.append(self._writer.start_kept(parsed, fact))
        return fact

    def _has_start(self, parsed: ParsedFact, fact: Fact) -> bool:
        """Whether a fact starts when the call says, or within the period that it names."""
        told, known = rules.parsed_start(parsed, self._at.zone), rules.start_of(fact, self._at.zone)
        is_within = told is not None and known is not None and told.words is not None and told.holds(known)
        return fact.valid_at == parsed.valid_at or is_within

    def _attributes(self, parsed: ParsedFact, told: dict[str, object], cause: str | None) -> dict[str, object]:
        attributes = told if cause is None else {**told, BECAUSE_OF: cause}
        if parsed.due is not None:
            attributes = {**attributes, DUE: parsed.due}
        return {**attributes, CONFIDENTIAL: True} if self._is_confidential(parsed) else attributes

    def _new(
        self,
        parsed: ParsedFact,
        ends: tuple[Entity, Entity],
        validity: rules.Validity,
        reference_time: datetime,
        attributes: dict[str, object],
    ) -> Fact:
        source, target = ends
        fact = Fact(
            uuid=self._new_uuid(),
            group_id=self._at.group_id,
            source_uuid=source.uuid,
            target_uuid=target.uuid,
            source_name=source.name,
            target_name=target.name,
            relation=parsed.relation,
            text=parsed.text,
            kind=parsed.kind,
            measure=parsed.measure,
            value=parsed.value,
            unit=parsed.unit,
            valid_at=validity.valid_at,
            invalid_at=validity.invalid_at,
            reference_time=reference_time,
            created_at=self._at.recorded_at,
            episodes=(self._at.episode_uuid,),
            attributes=attributes,
        )
        return self._add(fact.model_copy(update=self._quoted(parsed)))

    def _is_confidential(self, parsed: ParsedFact) -> bool:
        return parsed.is_confidential or self._at.is_confidential

    def _mark(self, fact: Fact) -> Fact:
        """What corrects a fact that is not public is not public either."""
        marked = fact.model_copy(update={"attributes": {**fact.attributes, CONFIDENTIAL: True}})
        self._world.change(marked)
        return marked

    def _quoted(self, parsed: ParsedFact) -> dict[str, object]:
        """The quoted words of a call with their position in its body; empty if the body does not contain them."""
        place = self._body.locate(parsed.quote) if parsed.quote else None
        if place is None:
            if parsed.quote:
                self.outcome.attention.append(self._writer.quote_not_found(parsed))
            return {}
        start, end = place
        words = self._at.body[start:end]
        return {
            "quote": words,
            "quote_start": start,
            "quote_end": end,
            "quote_episode_uuid": self._at.episode_uuid,
        }

    def _add(self, fact: Fact) -> Fact:
        self._world.add(fact)
        self.outcome.texts[fact.uuid] = fact.text
        return fact

    def _new_start(self, parsed: ParsedFact, fact: Fact, *, is_again: bool) -> datetime:
        """When replaced facts end: a fact that has held for long replaces another one only when it is recorded."""
        return (parsed.valid_at if is_again else fact.valid_at) or self._at.reference_time

    def _end_old(self, parsed: ParsedFact, fact: Fact, replaced: Replaced, start: datetime) -> None:
        for old in replaced.facts:
            if parsed.is_correction:
                self.retirements.void(old, fact)
                if (
                    old.kind != "reading"
                    and None not in (old.valid_at, fact.valid_at)
                    and old.valid_at != fact.valid_at
                ):
                    self.outcome.moved.append((old, fact))
                for stuck in self.retirements.follow(old, fact, self._at.zone):
                    self.outcome.attention.append(self._writer.empty_ending(parsed, stuck, start, is_ended=False))
            else:
                self._supersede(parsed, old, fact, start)
        for name in replaced.unrecorded:
            self._record_ended(parsed, name, fact, start)

    def _report_unresolved(self, parsed: ParsedFact, fact: Fact, replaced: Replaced, start: datetime) -> None:
        """What ``replaces`` did not find, unless it was the plan that the call has fulfilled."""
        for unresolved in replaced.unresolved:
            is_plan = is_current_word(unresolved.wanted) and not unresolved.candidates and self._fulfilled(fact)
            if not is_plan:
                self.outcome.attention.append(self._writer.unresolved(parsed, unresolved, start, fact.uuid))

    def _fulfilled(self, fact: Fact) -> bool:
        """Whether the call has fulfilled a plan of the fact's source, with its relation or target."""
        done = {one.uuid for one in self.retirements.answers if one.kind == "fulfilled"}
        return any(
            plan.uuid in done and (same_relation(plan.relation, fact.relation) or plan.target_uuid == fact.target_uuid)
            for plan in self._world.facts_at(fact.source_uuid, None)
        )

    def _end_chosen(self, parsed: ParsedFact, fact: Fact, chosen: list[Fact], start: datetime) -> None:
        """Facts that the rules choose without the call naming them: ended, or only proposed."""
        for old in chosen:
            if self.retirements.is_done(old, fact):
                self._supersede(parsed, old, fact, start)
            else:
                self._propose(old, fact, start)

    def _propose(self, old: Fact, fact: Fact, start: datetime) -> None:
        if self.retirements.propose(old, rules.end_of(old, start, self._at.zone), fact):
            self.outcome.attention.append(self._writer.proposed_ending(fact, old))

    def _supersede(self, parsed: ParsedFact, old: Fact, fact: Fact, start: datetime) -> None:
        if rules.fulfils(parsed, old, fact):
            self.retirements.fulfil(old, fact)
            return
        is_ended = self.retirements.retire(old, rules.end_of(old, start, self._at.zone), fact)
        if not is_ended or (old.kind != "plan" and old.valid_at is not None and start <= old.valid_at):
            self.outcome.attention.append(self._writer.empty_ending(parsed, old, start, is_ended=is_ended))

    def _record_ended(self, parsed: ParsedFact, name: str, fact: Fact, start: datetime) -> None:
        """Record a named old target or value that was unknown: unknown start, ended where the new fact starts."""
        target = self._resolution.resolve(name, is_old=True).entity if parsed.has_target else None
        old = fact.model_copy(
            update={
                "uuid": self._new_uuid(),
                "target_uuid": target.uuid if target else fact.target_uuid,
                "target_name": target.name if target else fact.target_name,
                "text": fact_text(
                    fact.source_name, fact.relation, target.name if target else None, None if target else name, None
                ),
                "kind": "state",
                "value": None if target else status_word(name) if parsed.is_status else name,
                "unit": None,
                **dict.fromkeys(("quote", "quote_start", "quote_end", "quote_episode_uuid")),
                "valid_at": None,
                "invalid_at": None,
                "reference_time": self._at.reference_time,
                "episodes": (self._at.episode_uuid,),
                "created_at": self._at.recorded_at,
                "expired_at": None,
                "attributes": {CONFIDENTIAL: True} if CONFIDENTIAL in fact.attributes else {},
            }
        )
        self.outcome.texts[old.uuid] = old.text
        self.retirements.record_ended(old, start, fact)

    def _close(self, parsed: ParsedFact, closed: endings.Closed) -> None:
        for old in closed.ended:
            end = endings.closing_end(parsed, old, self._at.reference_time, self._at.zone)
            if end is None:
                continue
            outcome = outcomes.told_of(parsed, old, end, self._at.zone)
            is_later = old.invalid_at is not None and end > old.invalid_at
            if is_later and outcome is None:
                self.retirements.prolong(old, end, parsed.end_words)
                continue
            end = min(end, old.invalid_at or end)
            self.retirements.retire(old, end, None, parsed.end_words, outcome)
            if old.kind == "plan" and outcome is None:
                self.outcome.attention.append(self._writer.unknown_outcome(old))
        if closed.known_over:
            self.outcome.attention.append(self._writer.end_kept(parsed, closed.known_over))
        if closed.known_later:
            self.outcome.attention.append(self._writer.known_later(parsed, closed.known_later))

    def _settle(self, parsed: ParsedFact, past: Fact | None) -> None:
        """Say what became of a plan that had ended before."""
        if past is not None and parsed.outcome is not None and outcomes.is_unknown(past):
            self.retirements.settle(past, parsed.outcome)

    def _fulfil(self, parsed: ParsedFact, fact: Fact, pool: list[Fact]) -> None:
        fulfilled = rules.find_fulfilled(parsed, fact, pool, self._at.zone)
        for plan in fulfilled.met:
            if self.retirements.is_done(plan, fact):
                self.retirements.fulfil(plan, fact)
            else:
                self._propose(plan, fact, fact.valid_at or self._at.reference_time)
        if fulfilled.maybe:
            self.outcome.attention.append(self._writer.planned_later(parsed, fulfilled.maybe))

    def _end_goals(self, parsed: ParsedFact, fact: Fact) -> None:
        """End the goals that a status of what is wanted, or an event with the same ends, says to be over."""
        outcome = goals.outcome_said(parsed)
        if outcome is None:
            return
        at = fact.valid_at or self._at.reference_time
        over = {one.uuid for one in self.retirements.answers if one.kind == "retired"}
        for goal in goals.concerned(parsed, fact, self._world.facts_at(fact.source_uuid, fact.source_uuid), at, over):
            if goal.uuid in over:
                self._world.change(goal.model_copy(update={"attributes": {**goal.attributes, GOAL_OUTCOME: outcome}}))
            elif self._at.policy == "propose":
                self._propose(goal, fact, at)
            else:
                self.retirements.retire(goal, rules.end_of(goal, at, self._at.zone), fact, outcome=outcome)

    def _report(
        self,
        parsed: ParsedFact,
        fact: Fact,
        sent_measure: str | None,
        pool: list[Fact],
        rivals: list[Fact],
        *,
        is_handled: bool,
    ) -> None:
        attention = self.outcome.attention
        if sent_measure and parsed.measure and self._readings.may_be_another(sent_measure, fact):
            attention.append(self._writer.near_measure(sent_measure, fact))
        others = self._readings.other_series(parsed, fact)
        if others:
            attention.append(self._writer.unnamed_measure(parsed, fact, others))
        near = self._near(parsed)
        if near:
            attention.append(self._writer.near_relation(parsed, fact, near))
        if is_handled:
            return
        before = [one for one in pool if not self._world.is_new(one.uuid)]
        validity = rules.Validity(fact.valid_at, fact.invalid_at)
        reference_time = fact.reference_time or self._at.reference_time
        conflicts = rules.find_conflicts(
            parsed, validity, reference_time, fact.target_uuid, before, rivals, self._at.zone
        )
        start = rules.known_start(fact.valid_at, fact.invalid_at, reference_time)
        held = [one for one in conflicts if one.source_uuid != fact.source_uuid]
        for alike in (held, [one for one in conflicts if one not in held]):
            if alike:
                attention.append(self._writer.possible_conflict(parsed, fact.uuid, start, alike))

    def _near(self, parsed: ParsedFact) -> list[str]:
        """Existing relations that a new relation may be a variant of; reported once per call.

        None for a reading: its series is found by its measure.
        """
        if parsed.kind == "reading" or parsed.relation in self._relations or parsed.relation in self._near_reported:
            return []
        self._near_reported.add(parsed.relation)
        found = self._relations.near(parsed.relation, is_plan=parsed.kind == "plan")
        near = [
            one
            for one in found
            if one != OBSERVATION and (parsed.relation, one) not in self._unlike and may_mean_same(parsed.relation, one)
        ]
        return sorted(near, key=lambda one: (not same_relation(one, parsed.relation), -self._relations[one]))

    def _answer(self, parsed: ParsedFact, fact: Fact, known: Fact | None, *, is_updated: bool) -> None:
        fact = self._world.latest(fact)
        is_marked = known is not None and CONFIDENTIAL in fact.attributes and CONFIDENTIAL not in known.attributes
        is_updated |= known is not None and _shown(fact) != _shown(known)
        updated = known is not None and (is_updated or is_marked)
        is_inherited = known is None and CONFIDENTIAL in fact.attributes and not self._is_confidential(parsed)
        if parsed.kind == "reading" and parsed.measure is not None and not parsed.is_correction:
            self._read[fact.source_uuid, parsed.measure] = len(self.outcome.results), fact
        self.outcome.results.append(
            FactResult(
                uuid=fact.uuid,
                outcome="updated" if updated else "duplicate" if known else "created",
                interval=show_validity(
                    fact.kind,
                    shown_start(fact, self._at.zone),
                    shown_ending(fact, self._at.zone),
                    fact.reference_time,
                    self._at.zone,
                ),
                fact=None if parsed.has_text and known is None else fact.text,
                confidential=True if is_marked or is_inherited else None,
            )
        )


def _shown(fact: Fact) -> tuple[object, ...]:
    """What a note may add to a known fact."""
    return fact.valid_at, fact.quote, fact.cause_uuid
