"""First names that several people of a group have: whom a text means by one. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from graphiti_pkm.core.identity.name_parts import PERSON, may_stand_alone
from graphiti_pkm.core.model.records import Entity

_MOST_SHARED = 10
"""Shared first names of one text that are looked at."""


@dataclass(frozen=True)
class FirstName:
    """A word of a text that is the first name of several people, or the whole name of some of them."""

    word: str
    """As the text writes it."""
    entity_uuids: tuple[str, ...]


@dataclass(frozen=True)
class NamesInText:
    """What a text names, before it is settled whom it means by a shared first name."""

    ways: Mapping[str, set[str]]
    """By entity the single words that name it in the text; "" for names of several words."""
    parts: Mapping[str, str]
    """Words that are part of one entity's name, with its uuid."""
    shared: Mapping[str, FirstName]
    """By the compared form."""

    @property
    def mentioned(self) -> frozenset[str]:
        """All entities that the text names, whichever it means."""
        return frozenset(self.ways)

    @property
    def sharing(self) -> list[str]:
        """The entities whose types decide whom a shared first name may mean."""
        return list(dict.fromkeys(uuid for one in self.shared.values() for uuid in one.entity_uuids))


@dataclass(frozen=True)
class Settled:
    """The entities that a text means."""

    mentioned: frozenset[str]
    doubtful: Mapping[str, tuple[Entity, ...]]
    """Words by which the text may mean any of several people; by such a word none is linked."""


def shared_in(
    words: Mapping[str, str], ways: Mapping[str, set[str]], bearers: Mapping[str, tuple[str, ...]], new: Collection[str]
) -> dict[str, FirstName]:
    """The shared first names among the ``words`` of a text, by compared form; ``new``: those the call declares."""
    holders: dict[str, list[str]] = {}
    for uuid, forms in ways.items():
        for form in forms - {""}:
            holders.setdefault(form, []).append(uuid)
    found: dict[str, FirstName] = {}
    for form in dict.fromkeys((*words, *holders)):
        fitting = tuple(dict.fromkeys((*holders.get(form, ()), *bearers.get(form, ()))))
        if len(fitting) + (form in new) > 1 and fitting and len(found) < _MOST_SHARED:
            found[form] = FirstName(words.get(form, form), fitting)
    return found


def settle(
    found: NamesInText, entities: Mapping[str, Entity], declared: Collection[str], new: Collection[str]
) -> Settled:
    """Whom the text means: by a shared first name the person whom the call declares or the text names in full.

    ``declared``: known entities that the call names; ``new``: first names of people that it declares for the first
    time. Names of things are not shared: a person may be called like a place, whose name it stays.
    """
    certain = {*declared, *(uuid for uuid, forms in found.ways.items() if forms - found.shared.keys())}
    doubtful: dict[str, tuple[Entity, ...]] = {}
    unlinked: set[str] = set()
    for form, one in found.shared.items():
        people = people_among(one.entity_uuids, entities, is_joined=form in new)
        holders = {uuid for uuid, forms in found.ways.items() if form in forms}
        if not people or not holders <= {person.uuid for person in people}:
            continue
        unlinked.add(form)
        if form not in new and certain.isdisjoint(person.uuid for person in people):
            doubtful[one.word] = people
    kept = {uuid for uuid, forms in found.ways.items() if uuid in certain or forms - unlinked}
    return Settled(frozenset(kept), doubtful)


def people_among(
    uuids: Iterable[str], entities: Mapping[str, Entity], *, is_joined: bool = False
) -> tuple[Entity, ...]:
    """Those that may be people, if there are several with one who surely is; ``is_joined``: one more is declared."""
    people = tuple(entities[uuid] for uuid in uuids if uuid in entities and may_stand_alone(entities[uuid]))
    if len(people) + is_joined < 2 or not (is_joined or any(person.label == PERSON for person in people)):  # noqa: PLR2004
        return ()
    return people
