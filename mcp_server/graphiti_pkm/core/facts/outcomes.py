"""What became of a plan, as it is told: by the value of a plan that is told again, or in words of a reason. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, tzinfo

from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.facts.replacement import as_uuid_prefix
from graphiti_pkm.core.facts.rules import same_value, start_of
from graphiti_pkm.core.facts.statuses import status_key
from graphiti_pkm.core.model.date_phrases import START_WORDS
from graphiti_pkm.core.model.records import GOAL_OUTCOME, Fact, PlanOutcome

_WORDS: dict[PlanOutcome, tuple[str, ...]] = {
    "fulfilled": (
        *("kept", "fulfilled", "done", "finished", "completed", "accomplished", "achieved", "reached", "honoured"),
        *("honored", "came about", "carried out", "happened"),
    ),
    "dropped": (
        *("dropped", "abandoned", "cancelled", "canceled", "withdrawn", "given up", "gave up", "called off"),
        *("broken", "not kept", "not fulfilled"),
    ),
}
_BY_KEY = {status_key(word): outcome for outcome, words in _WORDS.items() for word in words}
_CLAUSE = re.compile(r"[.,;:!?()\n–—]+|\s-\s")
_DOUBTFUL = re.compile(
    r"\b(?:not|never|no|none|nothing|hardly|cannot|without|until|till|once|when|if|unless|before|after|instead|to be"
    r"|should|would|could|can|will|must|may|might|shall|almost|nearly|partly|half|not yet)\b|n['’]t\b"
)
_HELD = r"\b(?:kept|fulfilled|honou?red) (?:my|his|her|their|our|your|its|the|this|that) (?:promise|word)\b"
_KEPT = re.compile(rf"{_HELD}|\bpromise (?:(?:was|is|has been) )?kept\b|\bas promised\b")
_LAST_DAY = re.compile(r"(?:by|before|until|till|within)\b", re.IGNORECASE)
_SUBJECT = r"^(?:(?:i|we|he|she|it|they|this|that) )?(?:(?:have|has|had|was|were|is|are|been|got) )*"


def _one_of(outcome: PlanOutcome) -> str:
    return rf"(?:{'|'.join(word for word in _WORDS[outcome] if not word.startswith('not '))})"


_ENDS_AS_DONE = re.compile(rf"^{_one_of('fulfilled')}\b(?! with\b)|\b{_one_of('fulfilled')}$")
_IS_DROPPED = re.compile(rf"{_SUBJECT}{_one_of('dropped')}\b|\b{_one_of('dropped')}$")


def outcome_of_word(word: str | None) -> PlanOutcome | None:
    """What a single word says of a plan, e.g. kept or dropped."""
    return None if word is None else _BY_KEY.get(status_key(word))


def outcome_in(text: str, known: str = "") -> PlanOutcome | None:
    """What a text says of a plan, if it says one thing plainly; clauses of ``known``, the plan itself, do not count."""
    before = set(_clauses(known))
    said = {outcome for clause in _clauses(text) if clause not in before and (outcome := _said_by(clause))}
    return said.pop() if len(said) == 1 else None


def is_unknown(plan: Fact) -> bool:
    """Whether a plan has ended, and nothing says what became of it."""
    is_over = plan.kind == "plan" and plan.expired_at is not None and not plan.voided
    return is_over and plan.outcome is None and GOAL_OUTCOME not in plan.attributes


def as_told(parsed: ParsedFact, target_uuid: str, candidates: Iterable[Fact], note: datetime) -> ParsedFact:
    """A known plan that is told again with what became of it as its value: it ends, by the note if no day is told."""
    said = outcome_of_word(parsed.value)
    if parsed.kind != "plan" or said is None or parsed.is_correction or parsed.is_status:
        return parsed
    known = _meant(parsed, target_uuid, candidates)
    if not known or any(same_value(parsed.value, plan.value) for plan in known):
        return parsed
    end = parsed.invalid_at or note
    return replace(parsed, value=None, outcome=said, invalid_at=end, replaces=(), has_replaces=False)


def ended_before(parsed: ParsedFact, target_uuid: str, candidates: Iterable[Fact]) -> Fact | None:
    """The newest plan that had ended before a call says what became of it; first one of which that is not known."""
    if parsed.outcome is None:
        return None
    over = [plan for plan in _meant(parsed, target_uuid, candidates) if not plan.is_open]
    return min(over, key=lambda plan: not is_unknown(plan), default=None)


def told_of(parsed: ParsedFact, plan: Fact, end: datetime, zone: tzinfo) -> PlanOutcome | None:
    """What a call that ends a known plan says of it: by its value, else in words, else by the end."""
    if plan.kind != "plan" or parsed.outcome is not None:
        return parsed.outcome
    words = [parsed.text] if parsed.has_text else []
    return outcome_in(". ".join([*words, parsed.quote or ""]), plan.text) or outcome_by(plan, end, zone)


def outcome_by(plan: Fact, end: datetime, zone: tzinfo) -> PlanOutcome | None:
    """A plan that is over before its own day was dropped; one for any day until a last one may have been kept early."""
    planned = start_of(plan, zone)
    told = (str(plan.attributes.get(START_WORDS) or ""), plan.value or "")
    if planned is None or any(_LAST_DAY.match(words) for words in told):
        return None
    return "dropped" if end < planned.start else None


def _meant(parsed: ParsedFact, target_uuid: str, candidates: Iterable[Fact]) -> list[Fact]:
    """The plans that a call may tell again; by their uuid, if it names one as replaced."""
    plans = [one for one in candidates if one.kind == "plan" and one.target_uuid == target_uuid and not one.voided]
    prefixes = tuple(prefix for text in parsed.replaces if (prefix := as_uuid_prefix(text)))
    return [plan for plan in plans if plan.uuid.startswith(prefixes)] if prefixes else plans


def _clauses(text: str) -> Iterator[str]:
    return (clause for part in _CLAUSE.split(text.casefold()) if (clause := " ".join(part.split())))


def _said_by(clause: str) -> PlanOutcome | None:
    if (word := outcome_of_word(clause)) is not None:
        return word
    if _DOUBTFUL.search(clause):
        return None
    if _KEPT.search(clause) or _ENDS_AS_DONE.search(clause):
        return "fulfilled"
    return "dropped" if _IS_DROPPED.search(clause) else None
