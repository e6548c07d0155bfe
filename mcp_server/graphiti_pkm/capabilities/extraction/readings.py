"""Drops states in which a model repeats the caller's readings and amounts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from graphiti_pkm.capabilities.extraction.parsing import ReadExtraction, ReadFact
from graphiti_pkm.core.facts import rules
from graphiti_pkm.core.facts.parsed_facts import ParsedFact
from graphiti_pkm.core.identity.spelling import same_relation
from graphiti_pkm.core.model.names import fold, normalise_name
from graphiti_pkm.core.model.records import Fact


def without_readings(
    read: ReadExtraction, of_episode: Iterable[Fact], uuid_of: Callable[[str], str | None]
) -> ReadExtraction:
    """The extraction without such states, and without names that only they contain ("82 kg"); ``uuid_of``: by name."""
    amounts = [fact for fact in of_episode if fact.value and (fact.kind == "reading" or fact.unit)]
    again = [one for one in read.facts if not one.found.is_known and _is_recorded(one.parsed, amounts, uuid_of)]
    if not again:
        return read
    facts = tuple(one for one in read.facts if one not in again)
    brought = _ends(again) - _ends(facts)
    return replace(
        read,
        entities=tuple((one, name) for one, name in read.entities if one.is_known or one.uuid not in brought),
        facts=facts,
        parsed=replace(read.parsed, facts=tuple(one.parsed for one in facts)),
        left_out=read.left_out + len(again),
    )


def _ends(facts: Sequence[ReadFact]) -> set[str]:
    return {uuid for one in facts for uuid in (one.found.source_uuid, one.found.target_uuid)}


def _is_recorded(parsed: ParsedFact, amounts: Sequence[Fact], uuid_of: Callable[[str], str | None]) -> bool:
    for fact in amounts:
        for one, other in ((parsed.source, parsed.target), (parsed.target, parsed.source)):
            if uuid_of(one) == fact.source_uuid and _is_same(parsed, other, uuid_of(other), fact):
                return True
    return False


def _is_same(parsed: ParsedFact, end: str, end_uuid: str | None, fact: Fact) -> bool:
    """Whether it is the same: by the other name, by the words, or by the value if it is about the same thing.

    If entities and relation are equal, it is the fact itself, recorded again.
    """
    if end_uuid == fact.target_uuid:
        is_again = same_relation(parsed.relation, fact.relation)
        return not is_again and set(fold(fact.value or "").split()) <= set(fold(parsed.text).split())
    amounts = (fact.value or "", f"{fact.value} {fact.unit or ''}")
    return normalise_name(end) in map(normalise_name, amounts) or rules.same_text(parsed.text, fact.text)
