"""Single words of names: a first name may refer to the person who has it. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from graphiti_pkm.core.identity.mentions import SHORTEST_PART, STOP_WORDS, capitalised_words, word_forms
from graphiti_pkm.core.identity.spelling import close_spelling, contains_name
from graphiti_pkm.core.model.names import fold, normalise_name, words_of
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
_KINDS = words_of(
    """project company organization organisation firm group ltd limited inc incorporated gmbh ag as s llc plc co corp
    corporation kg oy ab aps bv sa tool app application library framework language database city country programme
    program product service system the a an"""
)
_PARTS = words_of(
    """board team department office mobile web desktop cloud lite server client beta alpha api ui summit conference
    award meeting editor launch release rewrite migration survey budget review plan branch division foundation academy
    store dashboard module campus hall"""
)
_GROUPS = words_of(
    """all everyone nobody committee council group guild squad crew chapter staff leads lead manager managers owner
    owners head chief director architect architects developers developer engineers engineering maintainers contributors
    community stakeholders users customers architecture security platform product operations infrastructure"""
)
_DENYING = words_of("not no non never without un anti stop")
_COUNTERPARTS = tuple(
    frozenset(pair.split("/"))
    for pair in words_of(
        """mother/father mum/dad mom/dad sister/brother son/daughter wife/husband aunt/uncle front/back frontend/backend
        grandmother/grandfather input/output before/after first/second first/last north/south east/west old/new
        left/right start/end morning/evening high/low internal/external public/private weekday/weekend up/down
        upper/lower more/less"""
    )
)
_ORDINARY = words_of(
    """grace hope faith joy mark bill frank grant dawn rose will art sky summer winter spring autumn young long small
    big short brown white green black gray grey stone best price day king west north south east church wood woods hall
    page field bank rich pat sue drew jack chase miles pierce victor major iris ivy olive pearl ruby violet holly amber
    jasmine daisy heather christian may june august april good little love bell cook baker hunter fisher mason miller
    smith taylor walker ray gene dean earl duke guy harmony melody serenity charity mercy patience constance clay
    cliff glen lane heath forest brook river stark strong sharp swift bright moon star sunny sandy rusty dusty angel
    bishop pope knight ford wells banks hill hills marsh meadows waters rivers parks fields brooks"""
)
_LONGEST_NAME = 6
_LONGEST_TITLE = 4
_TITLE_END = re.compile(r" ?[:–—] | --? ")
_NUMBERED = re.compile(r"(0\d+)-[^\W\d]")
_NEAR = 60
_SENTENCE_END = re.compile(r"(?:[.!?:…][\"'”’)]*\s+|\n)[\"'“‘(]*$")
_NAME_AFTER = re.compile(r" ([A-ZÀ-ÖØ-Þ][\w'’-]+)")
_NAME_BEFORE = re.compile(r"[\w,;] ([A-ZÀ-ÖØ-Þ][\w-]+) $")


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


def short_titles(name: str) -> list[str]:
    """What stands before a colon or dash, and of that what stands after the last slash.

    "ADR 4" of "ADR 4: Use SQLite" and of "govuk/ADR 4", "0004" of "0004-use-sqlite".
    """
    title, *rest = _TITLE_END.split(name, maxsplit=1)
    last = title.rpartition("/")[2]
    titles = [title] if rest else []
    if last != title and any(map(str.isalpha, last)):
        titles.append(last)
    if numbered := _NUMBERED.match(last):
        titles.append(numbered[1])
    return [one for one in titles if 0 < len(one.split()) <= _LONGEST_TITLE]


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
    if known is None or close_spelling(normalise_name(new.name), normalise_name(known.name)):
        return True
    if new.label and known.label and new.label.casefold() != known.label.casefold():
        return known.label == PERSON and contains_name(known.name, new.name)
    return not (_are_opposites(new.name, known.name) or _is_part(new, known) or _are_namesakes(new, known))


def _are_opposites(one: str, other: str) -> bool:
    """Whether one name denies the other, or names its counterpart: "my mother", "my father"."""
    words, others = set(fold(one).split()), set(fold(other).split())
    if bool(words & _DENYING) != bool(others & _DENYING):
        return True
    own, their = words - others, others - words
    return any((own & pair) and (their & pair) for pair in _COUNTERPARTS)


def _is_part(one: Entity, other: Entity) -> bool:
    """Whether one name is the other and a word for a part of it: a company and its board, a tool and its rewrite.

    A word for what it is (Project Heron, Birkholm Ltd) or the rest of a proper name (Meridian Systems) makes no part.
    """
    longer, shorter = sorted((one, other), key=lambda entity: len(fold(entity.name).split()), reverse=True)
    if PERSON in {one.label, other.label} or not contains_name(longer.name, shorter.name):
        return False
    kinds = _KINDS | {fold(label) for entity in (one, other) if (label := entity.label)}
    known = set(fold(shorter.name).split())
    extra = [word for word in longer.name.split() if not set(fold(word).split()) <= known]
    return any(not set(fold(word).split()) <= kinds and (word.islower() or fold(word) in _PARTS) for word in extra)


def _are_namesakes(one: Entity, other: Entity) -> bool:
    """Whether two people have one first name and quite another surname: Gwen Pocock, Gwen Astley."""
    if {one.label, other.label} != {PERSON}:
        return False
    first, *own = fold(one.name).split()
    others_first, *others = fold(other.name).split()
    is_near = any(word == its or close_spelling(word, its) for word in own for its in others)
    return first == others_first and bool(own) and bool(others) and not is_near


def reads_as_name(text: str) -> bool:
    """Whether a text looks like a name rather than a phrase: of few words, with a capital or in a script without.

    A phrase may hold a name: "no laptop on Sundays" begins, "Tomas ready to lead" ends with a small letter.
    """
    words = text.split()
    if len(words) > _LONGEST_NAME:
        return False
    if len(words) > 1 and any(word[:1].islower() for word in (words[0], words[-1])):
        return False
    return text != text.lower() or not any(character.islower() or character.isdigit() for character in text)


def reads_as_person(text: str) -> bool:
    """Whether a name among people is one of a person: of several words, or in a script without capitals.

    A single word may be a team, an acronym or a handle.
    """
    words = text.split()
    if not reads_as_name(text) or any(one.isdigit() for one in text):
        return False
    if set(fold(text).split()) & (_KINDS | _PARTS | _GROUPS) or any(len(word) > 1 and word.isupper() for word in words):
        return False
    return len(words) > 1 or (text.isalpha() and text.lower() == text.upper())


def may_refer(text: str, word: str, name: str) -> bool:
    """Whether a capitalised word of a text may refer to the entity with this name, to judge by its neighbours.

    Not if it belongs to another name (Nora Lindqvist is not Nora Vester), nor if it only begins a sentence and is an
    ordinary word ("Grace periods end").
    """
    known = word_forms(name) | _TITLES | STOP_WORDS
    for found in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text):
        before, after = text[max(0, found.start() - _NEAR) : found.start()], text[found.end() : found.end() + _NEAR]
        begins = not before.strip() or bool(_SENTENCE_END.search(before))
        beside = [near[1] for near in (_NAME_BEFORE.search(before), _NAME_AFTER.match(after)) if near]
        is_other = any(
            not form_of <= known and not any(map(is_date_word, form_of)) for form_of in map(word_forms, beside)
        )
        if not is_other and not (begins and word.casefold() in _ORDINARY):
            return True
    return False


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
