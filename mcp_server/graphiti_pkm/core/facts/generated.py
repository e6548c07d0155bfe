"""Sentences that the server composed of names, and the same under another name. Pure functions."""

from collections.abc import Collection, Iterator, Mapping

from graphiti_pkm.core.facts.parsed_facts import relation_words
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.records import Fact


def renamed_text(fact: Fact, uuid: str, names: Collection[str], others: Collection[str], new: str) -> str | None:
    """The text of a fact with the new name of one of its entities; None if no sentence of ours names it otherwise.

    ``names``: all normalised names of the entity, ``others``: those of the other end. A text that is not exactly of the
    form that ``parsed_facts`` composes is the user's.
    """
    sources = names if fact.source_uuid == uuid else others
    targets = names if fact.target_uuid == uuid else others
    for source, link, target, amount in _readings(fact) if fact.kind == "reading" else _sentences(fact):
        if normalise_name(source) not in sources or (target is not None and normalise_name(target) not in targets):
            continue
        first = new if fact.source_uuid == uuid else source
        last = new if fact.target_uuid == uuid else target
        said = f"{first}{link}" + ("" if target is None else f" {last}") + amount
        return None if said == fact.text else said
    return None


def under_names(fact: Fact, names: Mapping[str, str]) -> Fact:
    """The fact with other names of its entities, by uuid, also in a sentence that we composed."""
    for end, other in (("source", "target"), ("target", "source")):
        uuid, now = getattr(fact, f"{end}_uuid"), getattr(fact, f"{end}_name")
        if uuid not in names:
            continue
        others = {normalise_name(getattr(fact, f"{other}_name"))}
        text = renamed_text(fact, uuid, {normalise_name(now)}, others, names[uuid])
        fact = fact.model_copy(update={f"{end}_name": names[uuid], "text": text or fact.text})
    return fact


def _readings(fact: Fact) -> Iterator[tuple[str, str, None, str]]:
    """Ways to read a text as "Maria: weight 61 kg"; the measure is not called by a name."""
    said = " ".join(part for part in (fact.value, fact.unit) if part)
    for place in _places(fact.text, ": "):
        rest = fact.text[place:]
        if rest.endswith(f" {said}"):
            yield fact.text[:place], rest, None, ""


def _sentences(fact: Fact) -> Iterator[tuple[str, str, str | None, str]]:
    """Ways to read a text as "Maria works at Acme: 3 days", the target and the amount both optional."""
    link = f" {relation_words(fact.relation)}"
    for place in _places(fact.text, link):
        source, rest = fact.text[:place], fact.text[place + len(link) :]
        if not rest or rest.startswith(": "):
            yield source, link, None, rest
        elif rest.startswith(" "):
            for end in (*_places(rest, ": "), len(rest)):
                yield source, link, rest[1:end], rest[end:]


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)
