"""What the events of one fact come to, newest first: what was proposed, what may be undone. Pure functions."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from graphiti_pkm.core.model.records import ChangeKind, Fact, FactChange, RecordedChange

MOST_EVENTS = 200
"""Events of one fact that are looked at; a fact has a few."""

_ENDINGS = frozenset({"retired", "voided"})


def open_proposals(events: Iterable[RecordedChange]) -> list[RecordedChange]:
    """Proposals that nothing has settled since, newest first."""
    proposals = []
    for event in events:
        if event.kind == "dated":
            continue
        if event.kind != "proposed":
            break
        proposals.append(event)
    return proposals


def to_undo(events: Iterable[RecordedChange]) -> RecordedChange | None:
    """The newest ending that no restoring has undone: each restoring undoes the newest one before it."""
    undone = 0
    for event in events:
        if event.kind == "restored":
            undone += 1
        elif event.kind in _ENDINGS:
            if not undone:
                return event
            undone -= 1
    return None


def restored(fact: Fact, ending: FactChange) -> Fact:
    """The fact as it was before an ending; what it gained since, a start or an episode, it keeps."""
    return fact.model_copy(
        update={
            "invalid_at": ending.previous_invalid_at,
            "expired_at": ending.previous_expired_at,
            "voided": ending.previous_voided,
        }
    )


def change_of(uuid: str, fact: Fact, kind: ChangeKind, recorded_at: datetime, **said: object) -> FactChange:
    """An event with the values that the fact has before it; ``said``: who, why, what takes its place."""
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
            **said,
        }
    )


def after(now: datetime, events: Sequence[FactChange]) -> datetime:
    """Now, but later than the newest event: the order of events is that of their times, whatever a clock does."""
    return max([now, *(event.recorded_at + timedelta(microseconds=1) for event in events[:1])])
