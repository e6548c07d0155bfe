"""Goals: states with the relation HAS_GOAL, whose value is the deadline as it was told, and what became of them."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo

from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.statuses import ACTIVE, DONE, DROPPED, OPEN, class_of_status
from graphiti_pkm.core.model.date_phrases import DatePeriod, date_at
from graphiti_pkm.core.model.names import normalise_name, words_of
from graphiti_pkm.core.model.records import DUE, GOAL_OUTCOME, HAS_GOAL, Fact

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_REACHING = frozenset(
    map(normalise_name, words_of("REACHED REACHES ACHIEVED ACHIEVES MET ATTAINED ACCOMPLISHED FULFILLED COMPLETED"))
)
_DROPPING = frozenset(
    map(normalise_name, words_of("DROPPED DROPS ABANDONED ABANDONS GAVE_UP GIVES_UP GIVEN_UP CANCELLED CANCELED QUIT"))
)


def is_goal(fact: Fact) -> bool:
    """Whether a known fact says that somebody has a goal."""
    return fact.kind == "state" and fact.relation == HAS_GOAL


def outcome_said(parsed: ParsedFact) -> str | None:
    """What a state or event says of a goal, if it concerns one: reached or dropped."""
    if parsed.kind not in {"state", "event"} or parsed.is_correction or parsed.invalid_at is not None:
        return None
    if parsed.is_status and parsed.value is not None:
        return {DONE: "reached", DROPPED: "dropped"}.get(class_of_status(parsed.value) or "")
    relation = normalise_name(parsed.relation)
    return "reached" if relation in _REACHING else "dropped" if relation in _DROPPING else None


def concerned(
    parsed: ParsedFact, fact: Fact, candidates: Iterable[Fact], at: datetime, ended_here: Collection[str] = ()
) -> list[Fact]:
    """The open goals that a new fact is about: those with its two ends, and everybody's for a status of what is wanted.

    ``at``: when it says so; of a goal that had ended by then it says nothing. ``ended_here``: goals that the same call
    has ended count too, until it is known what became of them.
    """
    goals = [
        one
        for one in candidates
        if is_goal(one)
        and (
            (one.is_open and (one.invalid_at is None or at < one.invalid_at))
            or (one.uuid in ended_here and not one.voided and GOAL_OUTCOME not in one.attributes)
        )
    ]
    ends = (fact.source_uuid, fact.target_uuid)
    return [
        one
        for one in goals
        if (one.source_uuid, one.target_uuid) == ends or (parsed.is_status and one.target_uuid == fact.source_uuid)
    ]


def over_by(parsed: ParsedFact, candidates: Iterable[Fact], source_uuid: str, told_at: datetime) -> list[Fact]:
    """The goals that the status of what is wanted ends; as somebody had them until then, it holds from then on."""
    if not parsed.is_status or outcome_said(parsed) is None:
        return []
    goals = [one for one in candidates if is_goal(one) and one.is_open and one.target_uuid == source_uuid]
    return [one for one in goals if (one.valid_at or one.reference_time or told_at) < told_at]


def with_other_deadline(parsed: ParsedFact, target_uuid: str, candidates: Iterable[Fact]) -> list[Fact]:
    """Open goals of the same source and target with another deadline, or none, than the one that a call gives."""
    if parsed.due is None or parsed.replaces or parsed.invalid_at is not None:
        return []
    return [
        one
        for one in candidates
        if is_goal(one) and one.target_uuid == target_uuid and one.is_open and one.value != parsed.value
    ]


def deadline_of(fact: Fact, zone: tzinfo) -> DatePeriod | None:
    """When a goal is due; None if it has no deadline, or its value is none."""
    seconds = fact.attributes.get(DUE)
    if not is_goal(fact) or not isinstance(seconds, int):
        return None
    return date_at(_EPOCH + timedelta(seconds=seconds), fact.value, zone)


def taken_up(word: str, goals: Iterable[Fact], at: datetime) -> list[Fact]:
    """The goals that a status of what is wanted may bring back at an instant: the last of each person who has none now.

    What was dropped is by any word that does not say it again; what was reached only by one that says it is not done.
    """
    kind = class_of_status(word)
    held = [goal for goal in goals if is_goal(goal) and not goal.voided]
    last = {goal.source_uuid: goal for goal in sorted(held, key=lambda one: (one.is_open, one.invalid_at or at))}
    brings_back = {"dropped": kind not in {DONE, DROPPED}, "reached": kind in {OPEN, ACTIVE}}
    return [
        goal
        for goal in last.values()
        if not goal.is_open
        and goal.invalid_at is not None
        and goal.invalid_at <= at
        and brings_back.get(str(goal.attributes.get(GOAL_OUTCOME)), False)
    ]


def without_outcome(attributes: Mapping[str, object]) -> dict[str, object]:
    """A fact's attributes without what became of a goal or plan."""
    return {name: value for name, value in attributes.items() if name != GOAL_OUTCOME}
