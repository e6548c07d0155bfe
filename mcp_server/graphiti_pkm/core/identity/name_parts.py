"""Single words of names: a first name may refer to the person who has it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from graphiti_pkm.core.identity.mentions import SHORTEST_PART, STOP_WORDS, capitalised_words, word_forms
from graphiti_pkm.core.identity.spelling import close_spelling, contains_name
from graphiti_pkm.core.model.names import normalise_name, words_of
from graphiti_pkm.core.model.records import Entity, Name

PERSON = "Person"
_SHORT = 2
_TITLES = words_of("mrs miss sir dame doctor prof professor herr frau madame monsieur señor señora von van der den")
_SHORT_TITLES = words_of("dr mr ms")
_CALENDAR = words_of(
    """january february march april june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday januar februar märz mai juni juli oktober dezember montag dienstag mittwoch
    donnerstag freitag samstag sonntag"""
)


@dataclass(frozen=True)
class NameParts:
    """Words of an entity's names, each shorter than the whole name."""

    own: list[str] = field(default_factory=list)
    """Words that refer to it when they stand alone."""
    doubtful: list[str] = field(default_factory=list)
    """Words that may mean something else: also in other names, in the calendar, or a common noun."""


def parts_of_names(names: Iterable[str]) -> dict[str, str]:
    """Capitalised words of multi-word names, as written, by their compared form."""
    listed = list(names)
    whole = {form for name in listed if len(forms := word_forms(name)) == 1 for form in forms}
    parts = {form: word for name in listed for form, word in capitalised_words(name).items()}
    return {form: word for form, word in parts.items() if form not in whole and form not in _TITLES}


def first_name(name: str) -> str | None:
    """The compared form of the first capitalised word: "lena" of "Dr. Lena Brandt" and of "my sister Lena"."""
    for word in name.split():
        if word.islower() or word.strip(".,").casefold() in _TITLES | _SHORT_TITLES:
            continue
        form = next(iter(capitalised_words(word)), None)
        return None if form is None or is_date_word(form) else form
    return None


def may_stand_alone(entity: Entity) -> bool:
    """Whether one word of the name is likely to refer to it: for a person, or for an all-caps name without a type.

    Not "Café" for a café, nor "Morning" for "Morning run".
    """
    if entity.label is not None:
        return entity.label == PERSON
    words = {form for form in word_forms(entity.name) if len(form) >= SHORTEST_PART}
    return words - STOP_WORDS - _TITLES <= capitalised_words(entity.name).keys()


def short_words(names: Iterable[str]) -> list[str]:
    """Words of two letters in multi-word names, as written: too short to refer to anything by themselves."""
    words = (word for name in names if len(name.split()) > 1 for word in name.split())
    return [word for word in words if len(word) == _SHORT and word[0].isupper() and word.casefold() not in STOP_WORDS]


def may_be_one(new: Entity, known: Entity | None) -> bool:
    """Whether two similar names may be one thing: not "Gothenburg half marathon", an event, and Gothenburg, a city.

    For a person, a shorter name may be of any type; of two identical spellings one may have a wrong type.
    """
    if known is None or not new.label or not known.label or new.label.casefold() == known.label.casefold():
        return True
    if close_spelling(normalise_name(new.name), normalise_name(known.name)):
        return True
    return known.label == PERSON and contains_name(known.name, new.name)


def is_date_word(form: str) -> bool:
    """Whether a word is probably a month or a weekday."""
    return form in _CALENDAR


def name_parts(entity: Entity, names: Iterable[str], known: Iterable[Name]) -> NameParts:
    """``names`` are all names of the entity, ``known`` those of its group."""
    parts = parts_of_names(names)
    taken: set[str] = set()
    for name in known:
        if parts and name.entity_uuid != entity.uuid:
            taken |= parts.keys() & {form for text in (name.text, *name.spellings) for form in word_forms(text)}
    found = NameParts()
    for form, word in parts.items():
        is_own = may_stand_alone(entity) and form not in taken and not is_date_word(form)
        (found.own if is_own else found.doubtful).append(word)
    return found
