"""Parses what a model found in an episode, as if a caller had sent it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from graphiti_pkm.core.facts.parsed_facts import ParsedEntity, ParsedFact, ParsedRequest, is_me, read_fact
from graphiti_pkm.core.identity.persons import Person
from graphiti_pkm.core.model.labels import as_label
from graphiti_pkm.core.model.names import display_name, normalise_name
from graphiti_pkm.core.model.records import Entity, Episode
from graphiti_pkm.core.model.requests import ME, FactInput
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.ports.extraction import ExtractedEntity, ExtractedFact, Extraction
from graphiti_pkm.errors import InvalidInput

_MAX_NAME = 200
_MAX_TEXT = 2_000
_SAME_MOMENT = timedelta(seconds=1)


@dataclass(frozen=True)
class ReadFact:
    """One fact that the model found, in both forms."""

    found: ExtractedFact
    parsed: ParsedFact


@dataclass(frozen=True)
class ReadExtraction:
    """An extraction, ready to be planned."""

    parsed: ParsedRequest
    entities: tuple[tuple[ExtractedEntity, str], ...]
    """Entities with their names here: that of the recognised known entity, else the model's."""
    facts: tuple[ReadFact, ...]
    recognised: Mapping[str, str]
    """Names of known entities in the model's spelling, with their uuids."""
    left_out: int


def read_extraction(
    found: Extraction, episode: Episode, known: Mapping[str, Entity], person: Person, zone: tzinfo
) -> ReadExtraction:
    """Parse an extraction; ``known``: those of its entities that the graph has by now, by uuid.

    A recognised entity that was deleted since is new again, under the model's name. A speaker who is nobody known is
    left out, with what is said of them.
    """
    names: dict[str, str] = {}
    for one in found.entities:
        held = known.get(one.uuid)
        name = ME if held and held.uuid == person.uuid else held.name if held else _name(one.name, person.name)
        if name and (person.is_known or not is_me(name, person.name)):
            names[one.uuid] = name
    facts = []
    for number, fact in enumerate(found.facts):
        if parsed := _fact(fact, number, names, episode.valid_at, person.name, zone):
            facts.append(ReadFact(fact, parsed))
    words = _status_words(facts, known)
    entities = tuple((one, names[one.uuid]) for one in found.entities if one.uuid in names and one.uuid not in words)
    return ReadExtraction(
        parsed=_parsed_request(episode, entities, facts),
        entities=entities,
        facts=tuple(facts),
        recognised={names[uuid]: uuid for uuid in reversed(names) if uuid in known and names[uuid] != ME},
        left_out=found.left_out + len(found.entities) - len(names) + len(found.facts) - len(facts),
    )


def _name(text: str, person: str) -> str | None:
    name = display_name(text)
    if not normalise_name(name) or len(name) > _MAX_NAME:
        return None
    return ME if is_me(name, person) else name


def _fact(
    fact: ExtractedFact, number: int, names: Mapping[str, str], reference_time: datetime, person: str, zone: tzinfo
) -> ParsedFact | None:
    """The parsed fact; None without usable entities, relation or text."""
    source, target = names.get(fact.source_uuid), names.get(fact.target_uuid)
    text = display_name(fact.text)
    if source is None or target is None or not normalise_name(text):
        return None
    start = fact.valid_at if fact.valid_at and not _is_now(fact.valid_at, reference_time) else None
    given = FactInput(
        source=source,
        relation=fact.relation,
        target=target,
        fact=text[:_MAX_TEXT],
        valid_at=iso(start) if start else None,
        invalid_at=iso(fact.invalid_at) if fact.invalid_at else None,
    )
    try:
        return read_fact(given, number, person, zone)
    except InvalidInput:
        return None


def _is_now(start: datetime, reference_time: datetime) -> bool:
    """Whether the start is only the episode's time, which a model gives to anything in the present tense."""
    return abs(start - reference_time) < _SAME_MOMENT


def _status_words(facts: Sequence[ReadFact], known: Mapping[str, Entity]) -> set[str]:
    """Entities that the model made only from the word of a status, such as "approved"."""
    words = {one.found.target_uuid for one in facts if one.parsed.is_status and not one.parsed.has_target}
    ends = {one.found.source_uuid for one in facts}
    ends |= {one.found.target_uuid for one in facts if not one.parsed.is_status or one.parsed.has_target}
    return words - ends - known.keys()


def _parsed_request(
    episode: Episode, entities: Sequence[tuple[ExtractedEntity, str]], facts: Sequence[ReadFact]
) -> ParsedRequest:
    return ParsedRequest(
        uuid=episode.uuid,
        name=episode.name,
        has_name=True,
        body=episode.content,
        source=episode.source,
        source_description=episode.source_description,
        reference_time=episode.valid_at,
        is_dated=True,
        entities=tuple(ParsedEntity(name, as_label(one.label or ""), None, ()) for one, name in entities),
        facts=tuple(one.parsed for one in facts),
        steering={},
        ignored_types=(),
    )
