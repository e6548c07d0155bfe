"""Resolves names to entities: the one that has the name, else a new one; similar names are never merged."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from graphiti_pkm.core.facts.parsed_facts import ParsedEntity, ParsedRequest
from graphiti_pkm.core.facts.replacement import is_current_word
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Entity, Name
from graphiti_pkm.core.model.requests import ME

PERSON_LABEL = "Person"
_MOST_SPELLINGS = 50
"""Spellings of one name that differ only in capitals, spaces and hyphens."""


@dataclass
class Resolved:
    """An entity that a call names."""

    entity: Entity
    """The entity with its new values."""
    is_new: bool
    is_declared: bool = False
    is_derived: bool = True
    """Whether it is named after what a fact measures or states, not by the caller."""
    is_old: bool = True
    """Whether it is named only as an old value."""
    is_changed: bool = False
    gains_vector: bool = False
    """Whether it needs a vector: new, or named for the first time. Names that only a relation gives are found by
    their word."""
    named: dict[str, Name] = field(default_factory=dict)
    """Names that are new or have new values, by key."""
    new_aliases: dict[str, None] = field(default_factory=dict)
    """Declared aliases that were not known before."""
    replaced_summary: bool = False

    @property
    def new_names(self) -> list[Name]:
        """Names that the call adds or changes, in order."""
        return list(self.named.values())


@dataclass(frozen=True)
class TakenAlias:
    """An alias, or a name of the person, that belongs to another entity."""

    alias: str
    wanted_for: Resolved
    holder_uuid: str


def names_in(parsed: ParsedRequest, person: str) -> dict[str, None]:
    """Every name that must be looked up for the call, in order."""
    names: dict[str, None] = {}
    for entity in parsed.entities:
        names.update(dict.fromkeys((entity.name, *entity.aliases)))
    for fact in parsed.facts:
        names.update(dict.fromkeys((fact.source, fact.target, *fact.replaces)))
        if fact.because_of is not None:
            names[fact.because_of] = None
    if ME in names:
        names[person] = None
    return names


def names_given(parsed: ParsedRequest, person: str) -> list[str]:
    """Names that may create or refer to an entity, as they are stored; without words of relations."""
    names = {entity.name: None for entity in parsed.entities}
    for fact in parsed.facts:
        names[fact.source] = None
        if fact.has_target:
            names[fact.target] = None
            names.update((old, None) for old in fact.replaces if not is_current_word(old))
    return [person if name == ME else name for name in names]


class Resolution:
    """Resolves the names of one call; equal names are one entity."""

    def __init__(
        self,
        group_id: str,
        person: str,
        now: datetime,
        existing: Mapping[str, Name],
        entities: Mapping[str, Entity],
        new_uuid: Callable[[], str],
    ) -> None:
        self._group_id = group_id
        self._person = person
        self._now = now
        self._names = dict(existing)
        self._entities = entities
        self._new_uuid = new_uuid
        self._resolved: dict[str, Resolved] = {}
        self.taken: list[TakenAlias] = []

    @property
    def all(self) -> list[Resolved]:
        """All resolved entities in the order in which they were named."""
        return list(self._resolved.values())

    @property
    def person_uuid(self) -> str | None:
        """The group's person, if the call names them."""
        held = self._names.get(self._key(ME))
        return held.entity_uuid if held and held.entity_uuid in self._resolved else None

    def declare(self, declared: Iterable[ParsedEntity]) -> None:
        """Add the entities of the call: all names first, so that an alias never takes precedence over a name."""
        entities = list(declared)
        for entity in entities:
            resolved = self.resolve(entity.name, is_declared=True)
            self._describe(resolved, entity)
            if entity.name != ME:
                self._spell(resolved, entity.name)
        for entity in entities:
            resolved = self.resolve(entity.name)
            for alias in entity.aliases:
                before = self._names.get(self._key(alias))
                self._claim(resolved, alias)
                self._spell(resolved, alias)
                if self._names[self._key(alias)] is not before:
                    resolved.new_aliases[alias] = None

    def known(self, name: str) -> str | None:
        """The uuid of the entity that has this name by now, if any."""
        held = self._names.get(self._key(name))
        return held.entity_uuid if held else None

    def resolve(
        self,
        name: str,
        *,
        is_declared: bool = False,
        is_derived: bool = False,
        is_named: bool = True,
        is_measure: bool = False,
        is_old: bool = False,
    ) -> Resolved:
        """The entity with this name, created if necessary.

        ``is_named`` False: only a reading or a relation gives the name, so texts are not linked to it. A measure's
        name still gets a vector, so that it is found by meaning.
        """
        resolved = self._me() if name == ME else self._named(name, is_named=is_named, is_measure=is_measure)
        resolved.is_declared |= is_declared
        resolved.is_derived &= is_derived
        resolved.is_old &= is_old
        return resolved

    def _named(self, name: str, *, is_named: bool, is_measure: bool = False) -> Resolved:
        held = self._names.get(self._key(name))
        if held is None:
            resolved = self._create(name, label=None, is_linkable=is_named)
            resolved.gains_vector = is_named or is_measure
            return resolved
        resolved = self._resolved.get(held.entity_uuid) or self._existing(held)
        if is_named and not held.is_linkable and not self._is_person(resolved):
            self._store(resolved, held.model_copy(update={"is_linkable": True}))
            resolved.gains_vector = True
            resolved.is_changed = not resolved.is_new
        return resolved

    def _me(self) -> Resolved:
        """The group's person, found as "me" whatever their name; never linked by mention."""
        held = self._names.get(self._key(ME)) or self._names.get(self._key(self._person))
        if held is None:
            resolved = self._create(self._person, label=PERSON_LABEL, is_linkable=False)
            resolved.gains_vector = True
        else:
            resolved = self._resolved.get(held.entity_uuid) or self._existing(held)
        for text in (self._person, ME):
            self._claim(resolved, text, is_linkable=False)
        return resolved

    def _existing(self, held: Name) -> Resolved:
        entity = self._entities.get(held.entity_uuid) or Entity(
            uuid=held.entity_uuid, group_id=self._group_id, name=held.text, created_at=self._now
        )
        resolved = Resolved(entity=entity, is_new=False)
        self._resolved[entity.uuid] = resolved
        return resolved

    def _create(self, name: str, *, label: str | None, is_linkable: bool) -> Resolved:
        entity = Entity(uuid=self._new_uuid(), group_id=self._group_id, name=name, label=label, created_at=self._now)
        resolved = Resolved(entity=entity, is_new=True)
        self._resolved[entity.uuid] = resolved
        self._claim(resolved, name, is_linkable=is_linkable, is_alias=False)
        return resolved

    def _claim(self, resolved: Resolved, text: str, *, is_linkable: bool = True, is_alias: bool = True) -> None:
        key = self._key(text)
        held = self._names.get(key)
        if held is None:
            is_person = self._is_person(resolved)
            name = Name(
                key=key,
                group_id=self._group_id,
                text=text,
                entity_uuid=resolved.entity.uuid,
                is_alias=is_alias,
                is_linkable=is_linkable and not is_person,
            )
            self._store(resolved, name)
        elif held.entity_uuid == resolved.entity.uuid:
            if held.is_linkable and not is_linkable:  # a known entity turns out to be the person
                self._store(resolved, held.model_copy(update={"is_linkable": False}))
        else:
            self.taken.append(TakenAlias(text, resolved, held.entity_uuid))

    def _spell(self, resolved: Resolved, text: str) -> None:
        """Keep the spelling of a declared name or alias: capitals and spaces decide which texts it matches.

        The spelling in a fact is not kept: a "rose" there is a typo for Rose and must not link every rose.
        """
        held = self._names[self._key(text)]
        if len(held.spellings) == _MOST_SPELLINGS or text == held.text or text in held.spellings:
            return
        if held.entity_uuid == resolved.entity.uuid:
            self._store(resolved, held.model_copy(update={"spellings": (*held.spellings, text)}))

    def _store(self, resolved: Resolved, name: Name) -> None:
        """Store a name; one with new values replaces the one stored by this call."""
        self._names[name.key] = name
        resolved.named.pop(name.key, None)
        resolved.named[name.key] = name

    def _is_person(self, resolved: Resolved) -> bool:
        held = self._names.get(self._key(ME))
        return held is not None and held.entity_uuid == resolved.entity.uuid

    def _describe(self, resolved: Resolved, parsed: ParsedEntity) -> None:
        entity = resolved.entity
        changes: dict[str, object] = {}
        if parsed.label and not entity.label:
            changes["label"] = parsed.label
        if parsed.summary and parsed.summary != entity.summary:
            changes.update(summary=parsed.summary, summary_by_model=False)
            resolved.replaced_summary = bool(entity.summary)
        if changes:
            resolved.entity = entity.model_copy(update=changes)
            resolved.is_changed |= not resolved.is_new

    def _key(self, text: str) -> str:
        return name_key(self._group_id, text)
