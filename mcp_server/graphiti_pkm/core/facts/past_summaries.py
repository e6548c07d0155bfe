"""Whether a summary says what has ended since: "The user's coach." once that fact ended. Pure."""

from collections.abc import Iterable

from graphiti_pkm.core.identity.mentions import STOP_WORDS
from graphiti_pkm.core.identity.spelling import stems
from graphiti_pkm.core.model.names import fold, words_of
from graphiti_pkm.core.model.records import Entity, Fact

MOST_WORDS = 8
"""A longer summary says more than one fact does."""
_MOST_BESIDE = 1
"""Words of a summary that the fact need not say, such as what somebody is at a company."""
_OF_ANYBODY = words_of("user s")


def may_have_ended(entity: Entity) -> bool:
    """Whether a single ended fact can have said all of the summary."""
    return 0 < len(_words(entity.summary) - _words(entity.name)) <= MOST_WORDS


def has_ended(entity: Entity, ended: Iterable[Fact]) -> bool:
    """Whether an ended fact said all that the summary says, but for a word of what one was there ("Engineer at Acme").

    Such a word counts only with the name of the other end of the fact.
    """
    said = _words(entity.summary) - _words(entity.name)
    return may_have_ended(entity) and any(_covers(fact, said, entity) for fact in ended)


def still_holds(entity: Entity, current: Iterable[Fact]) -> bool:
    """Whether current facts say it, together."""
    said = _words(entity.summary) - _words(entity.name)
    facts = list(current)
    return said <= set().union(*map(_said, facts)) or any(_covers(fact, said, entity) for fact in facts)


def _covers(fact: Fact, said: set[str], entity: Entity) -> bool:
    other = _words(fact.target_name if fact.source_uuid == entity.uuid else fact.source_name)
    more = said - _said(fact)
    return not more or (bool(other) and other <= said and len(more) <= _MOST_BESIDE)


def _said(fact: Fact) -> set[str]:
    return _words(f"{fact.relation} {fact.text} {fact.source_name} {fact.target_name} {fact.value or ''}")


def _words(text: str) -> set[str]:
    words = [word for word in fold(text.replace("_", " ")).split() if word not in STOP_WORDS | _OF_ANYBODY]
    return set(stems("_".join(words))) - {""}
