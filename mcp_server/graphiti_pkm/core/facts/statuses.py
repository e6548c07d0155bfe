"""Statuses: the word of the note is the value; words of one meaning are known, and a coarse class of each."""

from collections.abc import Mapping

from graphiti_pkm.core.identity.spelling import is_inflection
from graphiti_pkm.core.model.names import display_name, normalise_name
from graphiti_pkm.core.model.records import BECAUSE_OF, DUE, GOAL_OUTCOME, STATUS_WORD, Fact, PlanOutcome

HAS_STATUS = "HAS_STATUS"
SUPERSEDED = "superseded"
"""The status that the relation SUPERSEDES gives its target."""
DROPPED = "dropped"
DONE = "done"
OPEN = "open"
ACTIVE = "active"
OUTCOMES: Mapping[str, PlanOutcome] = {DONE: "fulfilled", DROPPED: "dropped"}
"""What became of a plan that was ended by a status of this class that its target has."""

_WITH_FIELDS = frozenset({BECAUSE_OF, DUE, GOAL_OUTCOME})
_AROUND = " .!,;:\"'"
_WORDS = {
    OPEN: (
        "proposed, proposal, draft, drafted, suggested, under discussion, in discussion, idea, rfc",
        "pending, open, todo, to do, waiting, undecided, not started",
        "reopened, re-opened, open again",
        "in review, under review",
        "planned, scheduled",
    ),
    ACTIVE: (
        "accepted, approved, agreed, adopted, decided, confirmed, ratified, signed off, in force",
        "in progress, active, ongoing, started, running, wip, work in progress",
    ),
    "on hold": ("on hold, paused, suspended", "postponed, deferred", "blocked"),
    DONE: (
        "done, finished, completed, complete, closed, resolved, implemented, shipped, released, delivered, fixed, live",
        "reached, achieved, met, attained, accomplished, fulfilled",
    ),
    DROPPED: (
        "superseded, replaced, deprecated, obsolete, retired, outdated, overruled",
        "rejected, declined, refused, denied",
        "dropped, abandoned, cancelled, canceled, discarded, withdrawn, given up",
    ),
}
_MEANINGS = {
    normalise_name(word): (name, meaning)
    for name, meanings in _WORDS.items()
    for meaning in meanings
    for word in meaning.split(",")
}
"""Class and meaning of each known word."""


def is_status_relation(relation: str) -> bool:
    """Whether a relation states a status, in any spelling."""
    return normalise_name(relation) == normalise_name(HAS_STATUS)


def is_superseding(relation: str) -> bool:
    """Whether a relation says that its target is no longer in force, in any form of the verb."""
    return is_inflection(relation, "SUPERSEDES")


def status_word(text: str) -> str:
    """A status as it is kept: the given word without quotes and punctuation around it."""
    word = display_name(text)
    return word.strip(_AROUND) or word


def status_key(text: str) -> str:
    """The form in which statuses are compared: "On-hold." and "on hold" are one."""
    return normalise_name(status_word(text))


def is_known_status(text: str | None) -> bool:
    """Whether it is one of the words that usually state a status."""
    return text is not None and status_key(text) in _MEANINGS


def same_meaning(one: str, other: str) -> bool:
    """Whether two statuses are one word, or two words of one meaning, such as accepted and approved."""
    keys = status_key(one), status_key(other)
    return keys[0] == keys[1] or _MEANINGS.get(keys[0], one) == _MEANINGS.get(keys[1], other)


def class_of_status(text: str) -> str | None:
    """Open, active, on hold, done or dropped; None for a word of one's own."""
    known = _MEANINGS.get(status_key(text))
    return known[0] if known else None


def keys_of_class(name: str) -> tuple[str, ...] | None:
    """The keys of all words of a class; None if there is no such class."""
    classes = {normalise_name(one): one for one in _WORDS}
    wanted = classes.get(status_key(name))
    return tuple(key for key, (one, _) in _MEANINGS.items() if one == wanted) or None


def keys_of_meaning(text: str) -> tuple[str, ...]:
    """The keys of all words that mean the same as this one, itself included."""
    wanted = _MEANINGS.get(status_key(text))
    return tuple(key for key, one in _MEANINGS.items() if one == wanted) if wanted else (status_key(text),)


def status_of_fact(fact: Fact) -> str | None:
    """The word for the status that a known state gives its source."""
    return word_of(fact) if is_status_relation(fact.relation) and fact.kind == "state" else None


def word_of(fact: Fact) -> str:
    """The word of a status, also where an earlier version kept it beside the value or as the target."""
    said = fact.attributes.get(STATUS_WORD)
    return said if isinstance(said, str) else fact.value or fact.target_name


def stated(fact: Fact) -> tuple[str | None, dict[str, object]]:
    """Value and attributes as they are shown, without those that have a field of their own.

    Of a status of an earlier version the user's word is the value.
    """
    shown = {name: value for name, value in fact.attributes.items() if name not in _WITH_FIELDS}
    if not is_status_relation(fact.relation) or not isinstance(fact.attributes.get(STATUS_WORD), str):
        return fact.value, shown
    return word_of(fact), {name: value for name, value in shown.items() if name != STATUS_WORD}
