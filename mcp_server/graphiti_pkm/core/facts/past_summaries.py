"""Whether a summary says what has ended since: "The user's coach." once that fact ended. Pure."""

from collections.abc import Iterable

from graphiti_pkm.core.identity.mentions import STOP_WORDS
from graphiti_pkm.core.identity.spelling import stems
from graphiti_pkm.core.model.names import fold, words_of
from graphiti_pkm.core.model.records import Entity, Fact

MOST_WORDS = 8
"""A longer summary says more than one fact does."""
_OF_ANYBODY = words_of("user s")


def may_have_ended(entity: Entity) -> bool:
    """Whether a single ended fact can have said all of the summary."""
    return 0 < len(_words(entity.summary) - _words(entity.name)) <= MOST_WORDS


def has_ended(entity: Entity, ended: Iterable[Fact]) -> bool:
    """Whether an ended fact said all that the summary says."""
    said = _words(entity.summary) - _words(entity.name)
    return may_have_ended(entity) and any(said <= _said(fact) for fact in ended)


def still_holds(entity: Entity, current: Iterable[Fact]) -> bool:
    """Whether current facts say it, together."""
    said = _words(entity.summary) - _words(entity.name)
    return said <= set().union(*map(_said, current))


def _said(fact: Fact) -> set[str]:
    return _words(f"{fact.relation} {fact.text} {fact.source_name} {fact.target_name} {fact.value or ''}")


def _words(text: str) -> set[str]:
    words = [word for word in fold(text.replace("_", " ")).split() if word not in STOP_WORDS | _OF_ANYBODY]
    return set(stems("_".join(words))) - {""}
