"""The checks that ``curate run`` knows, some of which an entity has to pass before it is promoted."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from graphiti_pkm.core.model.records import Quality

Check: TypeAlias = Literal["orphans", "low-confidence", "stale-plans", "duplicates", "placement"]
CHECKS: tuple[Check, ...] = get_args(Check)
"""In the order in which they run: those that need no embedding model first."""
LOW_CONFIDENCE = 0.5
"""What is less waits for a look."""
SIMILAR = "May be the same as another entity."
REASONS: Mapping[Check, str] = {
    "orphans": "No episode mentions it, no fact names it and no quote is evidence of it.",
    "low-confidence": "Its confidence is below 0.5.",
    "stale-plans": "A plan with it is open although its day has passed.",
    "duplicates": SIMILAR,
    "placement": "Linked to semantically distant concepts",
}
"""None has a word of the memory in it, so that forgetting leaves them."""


def is_settled(held: Quality, check: Check, others: Sequence[str] = ()) -> bool:
    """Whether somebody cleared the flag of such a finding, with the same ``others``: it is not flagged again."""
    return not held.is_flagged and check in held.checks and set(others) <= set(held.found_with)


def with_findings(held: Quality, check: Check, others: Sequence[str] = ()) -> Quality:
    """What is kept of a finding, so that it can be settled. ``others``: uuids of entities or plans it is about."""
    return held.model_copy(
        update={
            "checks": tuple(dict.fromkeys((*held.checks, check))),
            "found_with": tuple(dict.fromkeys((*held.found_with, *others))),
            "similar_to": tuple(others) if check == "duplicates" else (),
        }
    )


def is_told_at(one: Quality, other: Quality, until: datetime | None = None) -> bool:
    """Whether a list of flagged entities, the last flagged first, tells that both may be one at the other already.

    ``until``: only flags that were set until then are in the list.
    """
    if one.flagged_at is None or other.flagged_at is None or (until is not None and other.flagged_at > until):
        return False
    if other.uuid not in one.similar_to or one.uuid not in other.similar_to:
        return False
    return other.flagged_at > one.flagged_at or (other.flagged_at == one.flagged_at and other.uuid < one.uuid)
