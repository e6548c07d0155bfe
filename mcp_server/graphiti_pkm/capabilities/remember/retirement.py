"""Retires and corrects facts of one call, each with an event."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, Literal

from graphiti_pkm.core.facts import rules
from graphiti_pkm.core.facts.history import change_of, with_end_words
from graphiti_pkm.core.facts.world import FactWorld
from graphiti_pkm.core.identity.spelling import is_inflection
from graphiti_pkm.core.model.answers import RetiredFact
from graphiti_pkm.core.model.date_phrases import START_WORDS
from graphiti_pkm.core.model.records import CONFIDENTIAL, GOAL_OUTCOME, Fact, FactChange
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.settings.loader import RetirementPolicy


@dataclass
class Retirements:
    """Ends and voids facts of a world."""

    world: FactWorld
    episode_uuid: str
    now: datetime
    recorded_at: datetime
    """Never before anything already recorded, whatever the clock says."""
    caller: str
    policy: RetirementPolicy
    new_uuid: Callable[[], str]
    changes: list[FactChange] = field(default_factory=list)
    answers: list[RetiredFact] = field(default_factory=list)
    corrected_episodes: dict[str, None] = field(default_factory=dict)
    proposed: int = 0

    def retire(
        self,
        old: Fact,
        at: datetime,
        by: Fact | None,
        words: str | None = None,
        outcome: str | None = None,
    ) -> bool:
        """End a fact at an instant; False if it starts, or is known to hold, only later; it is then unchanged.

        ``words``: how the instant was told; without them those of the replacement's start. ``outcome``: what became of
        a goal or plan.
        """
        old = self.world.latest(old)
        end_rule = rules.ended if by else rules.ended_explicitly
        new_values = end_rule(old, at, self.now, self.recorded_at)
        if new_values is None:
            return False
        if outcome is not None:
            new_values = new_values.model_copy(update={"attributes": {**new_values.attributes, GOAL_OUTCOME: outcome}})
        self._change(old, new_values, "retired", by, words)
        if outcome == "fulfilled":
            self.answers[-1] = self.answers[-1].model_copy(update={"kind": outcome})
        return True

    def settle(self, over: Fact, outcome: str) -> None:
        """Say what became of a plan that has ended already."""
        over = self.world.latest(over)
        self.world.change(over.model_copy(update={"attributes": {**over.attributes, GOAL_OUTCOME: outcome}}))
        self._record(over, "retired", None, over.invalid_at)
        kind = "fulfilled" if outcome == "fulfilled" else "retired"
        self.answers.append(_retired(over, kind=kind, invalid_at=over.invalid_at and iso(over.invalid_at)))

    def prolong(self, old: Fact, at: datetime, words: str | None) -> None:
        """Move the end of a fact to a later instant; the former one is kept as that of an ending."""
        old = self.world.latest(old)
        self.world.change(with_end_words(rules.with_later_end(old, at, self.now, self.recorded_at), words))
        self._record(old, "retired", None, at)
        self.answers.append(_retired(old, invalid_at=iso(at), kind="moved", former_invalid_at=_former_end(old, at)))

    def propose(self, old: Fact, at: datetime, by: Fact | None) -> bool:
        """Record that a fact may have ended and leave it open; False if it cannot have ended then."""
        old = self.world.latest(old)
        new_values = rules.ended(old, at, self.now, self.recorded_at)
        if new_values is None or new_values == old:
            return False
        self._record(old, "proposed", by, new_values.invalid_at)
        self.proposed += 1
        return True

    def follow(self, wrong: Fact, right: Fact, zone: tzinfo) -> list[Fact]:
        """Move ends that a corrected fact had set to the correction's start; returns facts that cannot be reopened.

        An end that was changed since, or a fact that was replaced otherwise, is left as it is.
        """
        stuck = []
        for old in self._ended_by(wrong):
            if right.valid_at is None or not _is_end_of(old, wrong, zone) or not _same_place(old, right):
                continue
            end = rules.end_of(old, right.valid_at, zone)
            known_at = None if _is_told_as_over(old) else old.reference_time
            open_again = old.model_copy(update={"invalid_at": None, "expired_at": None, "reference_time": known_at})
            new_values = rules.ended(open_again, end, self.now, self.recorded_at)
            if new_values is None:
                stuck.append(old)
            elif end != old.invalid_at:
                told = new_values.model_copy(update={"reference_time": old.reference_time})
                self._change(old, told, "retired", right)
        return stuck

    def next_start(self, replaced: Sequence[Fact], series: Sequence[Fact], zone: tzinfo) -> datetime | None:
        """When the replacement of replaced facts starts; None if they are open or were not replaced."""
        over = [fact for fact in replaced if fact.kind == "state" and fact.invalid_at is not None]
        taken = {change.replaced_by for change in self.changes if change.replaced_by is not None}
        starts = [
            start
            for fact in series
            if fact.kind == "state"
            and not fact.voided
            and (fact.uuid in taken or self.world.ended_by(fact.uuid))
            and any(_is_end_of(old, fact, zone) for old in over)
            and (start := rules.known_from(fact)) is not None
        ]
        return min(starts, default=None)

    def _ended_by(self, wrong: Fact) -> list[Fact]:
        here = {one.fact_uuid for one in self.changes if one.replaced_by == wrong.uuid and one.kind == "retired"}
        earlier = {fact.uuid: fact for fact in self.world.ended_by(wrong.uuid)}
        current = {fact.uuid: fact for fact in (*self.world.known, *self.world.created) if fact.uuid in here}
        return [fact for fact in (earlier | current).values() if not fact.voided and fact.kind == "state"]

    def is_done(self, old: Fact, by: Fact) -> bool:
        """Whether an ending that the caller did not name is carried out, not only proposed."""
        if self.policy == "guarded":
            ends = {by.source_uuid, by.target_uuid}
            return {old.source_uuid, old.target_uuid} == ends or is_inflection(old.relation, by.relation)
        return self.policy == "automatic"

    def fulfil(self, plan: Fact, by: Fact) -> None:
        """A plan was fulfilled: it ends in the record, but nothing that was true has ended."""
        plan = self.world.latest(plan)
        self.world.change(rules.ended(plan, self.now, self.now, self.recorded_at) or plan)
        self._record(plan, "retired", by)
        self.answers.append(_retired(plan, kind="fulfilled", replaced_by=by.uuid))

    def record_ended(self, old: Fact, at: datetime, by: Fact) -> None:
        """Add a fact that was never recorded, ended at an instant: nothing says that it held later."""
        self.world.add(old)
        new_values = rules.ended(old.model_copy(update={"reference_time": None}), at, self.now, self.recorded_at) or old
        self._change(old, new_values.model_copy(update={"reference_time": old.reference_time}), "retired", by)

    def void(self, old: Fact, by: Fact) -> None:
        """Void a fact: it never held, and its episodes are marked."""
        old = self.world.latest(old)
        self._change(old, rules.voided(old, self.recorded_at), "voided", by)
        self.corrected_episodes.update(dict.fromkeys(old.episodes))

    def date(self, old: Fact, new_values: Fact) -> None:
        """Give a known fact its start, or an earlier known time, which the record lacked until now."""
        is_known = not self.world.is_new(old.uuid)
        self.world.change(new_values)
        if is_known:
            self._record(old, "dated", None)

    def _change(
        self,
        old: Fact,
        new_values: Fact,
        kind: Literal["retired", "voided"],
        by: Fact | None,
        words: object = None,
    ) -> None:
        if by is not None and by.valid_at == new_values.invalid_at:
            words = by.attributes.get(START_WORDS)
        if kind == "retired" and (words is not None or new_values.invalid_at != old.invalid_at):
            new_values = with_end_words(new_values, words)
        self.world.change(new_values)
        end = new_values.invalid_at
        self._record(old, kind, by, end if kind == "retired" else None)
        said = {"invalid_at": iso(end) if end else None, "replaced_by": by.uuid if by else None}
        former = _former_end(old, end) if kind == "retired" else None
        self.answers.append(_retired(old, kind=kind, former_invalid_at=former, **said))

    def _record(
        self,
        old: Fact,
        kind: Literal["retired", "voided", "proposed", "dated"],
        by: Fact | None,
        end: datetime | None = None,
    ) -> None:
        said = {"episode_uuid": self.episode_uuid, "replaced_by": by.uuid if by else None, "invalid_at": end}
        self.changes.append(change_of(self.new_uuid(), old, kind, self.recorded_at, **said, caller=self.caller))


def _retired(old: Fact, **said: Any) -> RetiredFact:
    public = {"confidential": True} if CONFIDENTIAL in old.attributes else {}
    return RetiredFact(uuid=old.uuid, fact=old.text, **said, **public)


def _former_end(old: Fact, end: datetime | None) -> str | None:
    return iso(old.invalid_at) if old.invalid_at is not None and old.invalid_at != end else None


def _is_end_of(old: Fact, wrong: Fact, zone: tzinfo) -> bool:
    """Whether a fact still ends where its replacement started."""
    start = wrong.valid_at or wrong.reference_time
    return start is not None and old.invalid_at == rules.end_of(old, start, zone)


def _is_told_as_over(old: Fact) -> bool:
    """Whether the note that told of a fact came after its end: it is then not known to have held at any instant."""
    if old.valid_at is not None or old.reference_time is None:
        return False
    return old.invalid_at is not None and old.invalid_at <= old.reference_time


def _same_place(old: Fact, new: Fact) -> bool:
    shares_end = old.source_uuid == new.source_uuid or old.target_uuid == new.target_uuid
    return shares_end and is_inflection(old.relation, new.relation)
