"""Whether a group states already what a fact of another one states, by the rule for a fact that is told again."""

from collections.abc import Collection, Mapping

from graphiti_pkm.core.facts.generated import under_names
from graphiti_pkm.core.facts.rules import same_text
from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS
from graphiti_pkm.core.model.records import Fact


def stated(fact: Fact) -> tuple[object, ...]:
    """What it says of its ends, but for words and times."""
    return (fact.relation, fact.kind, fact.measure, fact.value, fact.unit)


def same_words(there: Fact, here: Fact) -> bool:
    """Whether their texts are the same, also if we composed them and an entity has another name in the other group."""
    names = {there.source_uuid: here.source_name, there.target_uuid: here.target_name}
    return same_text(there.text, here.text) or same_text(under_names(there, names).text, here.text)


def is_repeated(there: Fact, here: Fact, episodes: Collection[str], attributes: Mapping[str, object]) -> bool:
    """Whether nothing of a fact there is lost if it is taken for one between the same ends here.

    ``episodes`` and ``attributes``: those that it would have here. Without a date, an event is the same only in the
    same episode.
    """
    if (stated(there), _holds(there)) != (stated(here), _holds(here)) or not same_words(there, here):
        return False
    if there.kind == "event" and there.valid_at is None and set(episodes).isdisjoint(here.episodes):
        return False
    names = {*attributes, START_WORDS, END_WORDS}
    return all(attributes.get(name) == here.attributes.get(name) for name in names)


def _holds(fact: Fact) -> tuple[object, ...]:
    return (fact.valid_at, fact.invalid_at, fact.is_open)
