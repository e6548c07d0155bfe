"""Interprets the events of one fact, newest first: open proposals, what can be undone, what became of a plan. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from graphiti_pkm.core.facts.goals import without_outcome
from graphiti_pkm.core.facts.statuses import OUTCOMES, class_of_status, status_of_fact
from graphiti_pkm.core.model.change_kinds import ChangeKind
from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS
from graphiti_pkm.core.model.records import Entity, EntityState, Fact, FactChange, Name, PlanOutcome, RecordedChange

MOST_EVENTS = 200
"""How many events of one fact are read; a fact has only a few."""

_ENDINGS = frozenset({"retired", "voided", "updated"})


def open_proposals(events: Iterable[RecordedChange]) -> list[RecordedChange]:
    """Proposals that no later event has settled, newest first."""
    proposals = []
    for event in events:
        if event.kind == "dated":
            continue
        if event.kind != "proposed":
            break
        proposals.append(event)
    return proposals


def to_undo(events: Iterable[RecordedChange]) -> RecordedChange | None:
    """The newest ending that has not been undone: each restoration undoes the newest one before it."""
    undone = 0
    for event in events:
        if event.kind == "restored":
            undone += 1
        elif event.kind in _ENDINGS:
            if not undone:
                return event
            undone -= 1
    return None


def is_later_end(event: FactChange, fact: Fact | None) -> bool:
    """Whether an ending moved the end of a fact to a later time; ``fact``: as it is now, None if it was deleted.

    A plan that is ended by hand is over, whatever end it was made for; a note that gives it a later end goes on
    planning it.
    """
    if event.kind != "retired" or event.replaced_by is not None:
        return False
    if event.invalid_at is None or event.previous_invalid_at is None:
        return False
    is_told = event.episode_uuid is not None or (fact is not None and fact.kind != "plan")
    return is_told and event.invalid_at > event.previous_invalid_at


def restored(fact: Fact, ending: FactChange) -> Fact:
    """The fact as it was before an ending; a start or episodes added since are kept."""
    said = ending.previous_end_words
    before = fact if said is None else with_end_words(fact, said or None)
    return before.model_copy(
        update={
            "invalid_at": ending.previous_invalid_at,
            "expired_at": ending.previous_expired_at,
            "voided": ending.previous_voided,
            "attributes": without_outcome(before.attributes),
        }
    )


def change_of(uuid: str, fact: Fact, kind: ChangeKind, recorded_at: datetime, **said: object) -> FactChange:
    """An event that keeps the fact's present values; ``said`` holds who caused it, the reason and the replacement."""
    return FactChange.model_validate(
        {
            "uuid": uuid,
            "fact_uuid": fact.uuid,
            "kind": kind,
            "recorded_at": recorded_at,
            "previous_valid_at": fact.valid_at,
            "previous_invalid_at": fact.invalid_at,
            "previous_expired_at": fact.expired_at,
            "previous_voided": fact.voided,
            "previous_told_at": fact.reference_time,
            "previous_start_words": _words(fact, START_WORDS),
            "previous_end_words": _words(fact, END_WORDS),
            **said,
        }
    )


def _words(fact: Fact, name: str) -> str:
    said = fact.attributes.get(name)
    return said if isinstance(said, str) else ""


def with_end_words(fact: Fact, words: object) -> Fact:
    """The fact with the words in which its end was told, in place of those of an earlier end."""
    others = {name: value for name, value in fact.attributes.items() if name != END_WORDS}
    return fact.model_copy(update={"attributes": others if words is None else {**others, END_WORDS: words}})


def after(now: datetime, events: Sequence[FactChange]) -> datetime:
    """Now, but always later than the newest event: events are ordered by time, even if the clock was set back."""
    return max([now, *(event.recorded_at + timedelta(microseconds=1) for event in events[:1])])


def known_state(events: Iterable[RecordedChange], at: datetime) -> EntityState | None:
    """What an entity was in the record at an instant, from its events; None if no update followed."""
    state = None
    for event in events:
        if event.recorded_at <= at:
            break
        state = event.entity_before or state
    return state


def state_of(entity: Entity, names: Iterable[Name], **links: Sequence[str]) -> EntityState:
    """The values of an entity, with those of the names and links that an update concerns."""
    return EntityState(
        name=entity.name,
        label=entity.label,
        summary=entity.summary,
        summary_by_model=entity.summary_by_model,
        names=tuple(names),
        **{kind: tuple(uuids) for kind, uuids in links.items()},
    )


def outcome_of(plan: Fact, by: Fact | None) -> PlanOutcome | None:
    """What became of a plan that has ended; ``by``: what took its place. SQL and Cypher say the same.

    That nothing took its place says neither that it was kept nor that it was dropped (``outcomes``).
    """
    if by is None:
        return None
    status = status_of_fact(by) if by.source_uuid == plan.target_uuid else None
    if status is not None and (said := OUTCOMES.get(class_of_status(status) or "")) is not None:
        return said
    is_it = (plan.source_uuid, plan.target_uuid, plan.value or "") == (by.source_uuid, by.target_uuid, by.value or "")
    return "fulfilled" if by.kind != "plan" and is_it else "replaced"
