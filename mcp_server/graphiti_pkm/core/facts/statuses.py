"""Statuses: the six values by which entities are filtered, and the words people use for them."""

import re

from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.records import Fact

HAS_STATUS = "HAS_STATUS"
WORD = "word"
"""The attribute that keeps the user's own word for a status, if it differs from the value."""

_WORDS = {
    "proposed": "proposal, draft, drafted, suggested, under discussion, in discussion, idea, rfc",
    "pending": """open, todo, to do, waiting, on hold, in review, under review, in progress, ongoing, started, wip,
        work in progress, planned, scheduled, blocked, paused, deferred, postponed, undecided, not started""",
    "accepted": "approved, agreed, adopted, decided, confirmed, ratified, signed off",
    "superseded": "replaced, deprecated, obsolete, retired, outdated, overruled",
    "rejected": "declined, dropped, abandoned, cancelled, canceled, discarded, refused, withdrawn, denied",
    "done": "finished, completed, complete, closed, resolved, implemented, shipped, released, delivered, fixed, live",
}
_ALIKE = {status: (status, *re.split(r",\s*", " ".join(words.split()))) for status, words in _WORDS.items()}
_STATUSES = {normalise_name(word): status for status, words in _ALIKE.items() for word in words}


def is_status_relation(relation: str) -> bool:
    """Whether a relation states a status, in any spelling."""
    return normalise_name(relation) == normalise_name(HAS_STATUS)


def status_named(text: str | None) -> str | None:
    """The status that a word stands for; None if it is none of the six, and the word itself is the value."""
    return None if text is None else _STATUSES.get(normalise_name(text.strip(" .!,;:\"'")))


def words_of_status(text: str) -> tuple[str, ...]:
    """All words, in lower case, that an entity with this status may have: older facts store the user's word."""
    word = text.strip().lower()
    return _ALIKE.get(status_named(word) or "", (word,))


def status_of_fact(fact: Fact) -> str | None:
    """The status that a known fact gives its source: one of the six, or the user's own word.

    Older versions stored it as the target.
    """
    if not is_status_relation(fact.relation) or fact.kind != "state":
        return None
    said = fact.value or fact.target_name
    return status_named(said) or said


def word_of(fact: Fact) -> str | None:
    """What the user called it."""
    said = fact.attributes.get(WORD)
    return said if isinstance(said, str) else fact.value or fact.target_name
