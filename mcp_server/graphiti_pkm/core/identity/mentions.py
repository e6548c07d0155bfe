"""Finds known names in a text, without a model.

A name matches as a whole. Spaces, ``-`` and ``_`` match each other or nothing inside a name, but not nothing between
two digits, and end a word in a text; a number with a sign is another one; a telephone number is found however it is
grouped, unless more digits follow that may belong to it;
quotes and a possessive 's are ignored, other punctuation is not (C, C++ and C# are three names). A name with a capital
matches only capitalised or all-caps text, a lower-case name any case; where several match, the longest wins. One-letter
names, lower-case names made only of stop words, and names that are not linkable are never found. An emoji is not a
letter.

``shared_names.settle`` decides whom a first name of several people means; ``Snapshot.mentioned`` has the result.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

from graphiti_pkm.core.model.names import (
    BETWEEN_DIGITS,
    MINUS,
    goes_on_as_phone,
    normalise_name,
    phone_number,
    signed,
    visible,
    words_of,
)
from graphiti_pkm.core.model.passages import without_left_out
from graphiti_pkm.core.model.records import Name

_QUOTES = "'’‘ʼ＇"
# Scripts whose vowel signs and tone marks belong to a word although ``re`` does not count them as word characters.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0970-\u0dff"
)
# Scripts written without spaces, or with joined endings: every character is a word of its own. Not Katakana.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTERS = rf"(?>(?:(?![{_UNSPACED}_])[\w{_MARKS}])+)"
_WORD = re.compile(rf"{_LETTERS}(?>(?:[{_QUOTES}]{_LETTERS})*)|[{_UNSPACED}]|[^\w\s\-‐‑‒–—'’‘ʼ＇\"“”„«»‹›`]")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*|[^\w\s\-'\"`]")
_POSSESSIVE = re.compile(rf"[{_QUOTES}]s\Z")
_APOSTROPHE = re.compile(rf"[{_QUOTES}]")
_VARIATION = re.compile("[\ufe00-\ufe0f]")
"""Chooses coloured or plain display of a symbol; invisible itself and often omitted."""
_JOINER = "\u200d"
_SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_FIRST_EMOJI = "\u2000"
SHORTEST_PART = 3
"""The fewest letters of a part of a name that may stand for the whole."""
_NEW_PARAGRAPH = re.compile(r"\n\s*\n")

STOP_WORDS = words_of(
    """a about above after again against all am an and any are as at be because been before being below between both
    but by can could did do does doing down during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let me more most must my myself no nor not now of
    off on once one only or other ought our ours ourselves out over own said same she should so some such than that
    the their theirs them themselves then there these they thing things this those through to today together
    tomorrow too under until up us very was we were what when where which while who whom why will with would yes
    yesterday you your yours yourself yourselves may might shall since still also many much like get got go"""
)


_Word: TypeAlias = "re.Match[str]"


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The matching rules of one name."""

    entity_uuid: str
    joints: frozenset[int]
    """Offsets in the compared form where the name has a space, ``-``, ``_`` or other mark."""
    apart: frozenset[int]
    """Those between two digits: there the text needs one too."""
    capitals: tuple[tuple[int, str], ...]
    """The offset of each capitalised word, and the word as written in the name."""
    phone: str | None = None
    """The telephone number that the name is: its digits may be grouped in any way."""


class MentionFinder:
    """A dictionary of names; search time depends on the text, hardly on the number of names.

    Names can be added but not removed: build a new one for that.
    """

    def __init__(self, names: Iterable[Name] = ()) -> None:
        self._patterns: dict[str, list[_Pattern]] = {}
        self._beginnings: set[str] = set()
        for name in names:
            self.add(name)

    def add(self, name: Name) -> None:
        """Add a name in all its spellings; names that are never linked are ignored."""
        if name.is_linkable:
            for spelling in (name.text, *name.spellings):
                self._add(spelling, name.entity_uuid)

    def _add(self, spelling: str, entity_uuid: str) -> None:
        text = _composed(visible(spelling))
        words = [word.group() for word in _words(text)]
        folded = [_folded(word) for word in words]
        whole = "".join(folded)
        is_letter = len(whole) == 1 and not _is_emoji(whole)
        if not whole or is_letter or (text == text.lower() and STOP_WORDS.issuperset(folded)):
            return
        phone = phone_number(spelling)
        offsets = list(range(len(whole) + 1)) if phone else list(accumulate(map(len, folded), initial=0))
        apart = frozenset(at for at in offsets[1:-1] if whole[at - 1].isdecimal() and whole[at].isdecimal())
        pattern = _Pattern(
            entity_uuid=entity_uuid,
            joints=frozenset(offsets),
            apart=apart if apart and BETWEEN_DIGITS in normalise_name(spelling) else frozenset(),
            capitals=tuple((at, word) for at, word in zip(offsets, words, strict=False) if word != word.lower()),
            phone=phone,
        )
        known = self._patterns.setdefault(whole, [])
        if pattern not in known:
            known.append(pattern)
            self._beginnings.update(whole[:offset] for offset in offsets[1:])

    def find(self, text: str) -> set[str]:
        """Uuids of the entities that the text names."""
        return set(self.ways(text))

    def ways(self, text: str, beside: "MentionFinder | None" = None) -> dict[str, set[str]]:
        """By entity the single words, in compared form, that name it in the text; "" for names of several words.

        ``beside`` has further names: of both the longest wins.
        """
        found: dict[str, set[str]] = {}
        finders = [finder for finder in (self, beside) if finder is not None and finder.beginnings]
        if finders:
            text = without_left_out(text, ".")
            whole = visible(text)
            if whole != text:  # an invisible character may occur inside a name, or between two names
                _add_ways(_composed(whole), finders, found)
            _add_ways(_composed(text), finders, found)
        return found

    @property
    def beginnings(self) -> AbstractSet[str]:
        """Words, single or joined, with which a name may begin."""
        return self._beginnings

    def is_at(self, text: str, words: list[_Word], folded: list[str], place: int) -> bool:
        """Whether a name begins at this word of a text."""
        return bool(self.longest(text, words, folded, place)[0])

    def longest(self, text: str, words: list[_Word], folded: list[str], first: int) -> tuple[set[str], int]:
        """The entities of the longest name that begins at this word, and the position after it."""
        found: tuple[set[str], int] = (set(), first + 1)
        joined = folded[first]
        starts = {0: words[first].group()}
        for place in range(first, len(words)):
            if place > first:
                if _NEW_PARAGRAPH.search(text, words[place - 1].end(), words[place].start()):
                    break
                starts[len(joined)] = words[place].group()
                joined += folded[place]
                if joined not in self._beginnings:
                    break
            patterns = self._patterns.get(joined)
            if patterns and _stands_alone(text, words[first].start(), words[place].end()):
                end = words[place].end()
                named = {one.entity_uuid for one in patterns if _fits(one, starts) and not _goes_on(one, text, end)}
                found = (named, place + 1) if named else found
        return found


class NamedIn:
    """Tells for single names whether a text contains them: the text is prepared once, each name is looked up in it."""

    def __init__(self, text: str) -> None:
        self._given = text
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        if name not in self._known:
            finder = MentionFinder([Name(key="", group_id="", text=name, entity_uuid="it")])
            places = (place for word in finder.beginnings for place in self._places.get(word, ()))
            self._known[name] = any(finder.is_at(*self._read, place) for place in places)
        return self._known[name]

    @cached_property
    def _read(self) -> tuple[str, list[_Word], list[str]]:
        text = _composed(self._given)
        words = _words(text)
        return text, words, [_folded(word.group()) for word in words]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self._read[2]):
            places.setdefault(word, []).append(place)
        return places


def _add_ways(text: str, finders: Sequence[MentionFinder], found: dict[str, set[str]]) -> None:
    words = _words(text)
    folded = [_folded(word.group()) for word in words]
    begun = [finder.beginnings for finder in finders]
    after = 0
    for place, word in enumerate(folded):
        if place < after or not any(word in beginnings for beginnings in begun):
            continue
        here = [finder.longest(text, words, folded, place) for finder in finders if word in finder.beginnings]
        longest = max((end for named, end in here if named), default=place + 1)
        for named, end in here:
            if end == longest:
                for uuid in named:
                    found.setdefault(uuid, set()).add(word if end == place + 1 else "")
        after = longest


def word_forms(text: str) -> set[str]:
    """The compared forms of all words of a text."""
    return {_folded(word.group()) for word in _words(_composed(text))}


def capitalised_words(text: str) -> dict[str, str]:
    """Words, as written, that may be part of a name, by their compared form; in order, without stop words."""
    text = _composed(text)
    found: dict[str, str] = {}
    for word in _words(text):
        raw = word.group()
        if len(raw) < SHORTEST_PART or raw.islower() or not _is_capitalised(raw, ""):
            continue
        form = _folded(raw)
        is_new = form not in found and form not in STOP_WORDS
        if is_new and len(form) >= SHORTEST_PART and form.isalpha() and _stands_alone(text, word.start(), word.end()):
            found[form] = _POSSESSIVE.sub("", raw)
    return found


def _fits(pattern: _Pattern, starts: dict[int, str]) -> bool:
    """``starts``: offset of each word of the text in the compared form, and the word as written there."""
    if not pattern.joints.issuperset(starts) or not pattern.apart <= starts.keys():
        return False
    return all(_is_capitalised(starts[at], word) for at, word in pattern.capitals if at in starts)


def _goes_on(pattern: _Pattern, text: str, end: int) -> bool:
    return pattern.phone is not None and goes_on_as_phone(pattern.phone, text, end)


def _is_capitalised(raw: str, in_name: str) -> bool:
    cased = next((character for character in raw if character.lower() != character.upper()), "")
    return cased.isupper() or cased.istitle() or raw == in_name


def _is_emoji(character: str) -> bool:
    is_symbol = unicodedata.category(character) == "So" and character > _FIRST_EMOJI
    return is_symbol and character not in _FLAG_LETTERS


def _stands_alone(text: str, start: int, end: int) -> bool:
    """False if punctuation joins it to more: "Notepad" in "Notepad++", "node" in "node.js" or an address.

    Also false for one emoji of a joined sequence, or one that a modifier colours.
    """
    if text[start - 1 : start] == _JOINER or text[end : end + 1] == _JOINER or text[end : end + 1] in _SKIN_TONES:
        return False
    before, earlier = text[start - 1 : start], text[start - 2 : start - 1]
    is_signed = before == MINUS and text[start].isdecimal()
    if is_signed or (before in {"@", "&"} and earlier.isalnum()):
        return False
    if before == "." and earlier.isalnum() and not text[start].isupper():
        return False
    after, later = text[end : end + 1], text[end + 1 : end + 2]
    if after in {"@", "&"}:
        return not later.isalnum()
    if after == ".":
        return not (later.isdigit() or later.islower())
    return after not in {"+", "#"} or later.isalnum()


def _words(text: str) -> list[_Word]:
    return list((_ASCII_WORD if text.isascii() else _WORD).finditer(text))


def _folded(word: str) -> str:
    low = word.casefold()
    return low if low.isalnum() else _APOSTROPHE.sub("", _POSSESSIVE.sub("", low))


def _composed(text: str) -> str:
    return signed(text if text.isascii() else _VARIATION.sub("", unicodedata.normalize("NFKC", text)))
