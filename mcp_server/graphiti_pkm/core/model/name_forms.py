"""The forms in which a name may occur: used both for what forgetting removes and for what it searches afterwards.

Surely the name, to be acted on: its words as whole words of an identifier, "Bertrada" in ASKED_BERTRADA. In sentences
the rules of mentions decide.

Perhaps the name, to be reported and never acted on:

- in any case, with other accents or their transliteration ("Uenal" for "Ünal"), or with an ending that languages put on
  names ("Annas", "Анне");
- its words joined, divided or in another order ("WangXiaoming", "hild-burg", "Xiaoming Wang");
- inside an address or an identifier, beside digits or a capital ("anna@example.org", "Anna1987", "askedAnna");
- inside any other word, if it has at least five letters ("xHildburgx"): Al is no part of "also";
- the given or the family name alone of a name in Chinese characters or Hangul;
- a word of a name that is too short, or not distinctive enough, to be the name by itself: a whole word as written
  ("Bo" of Li Bo).

What has other numbers is another name, as in ``names.normalise_name``: "rack 11-2" is not perhaps "rack 1-12". Seven
digits or more (of telephones, accounts) may be the same however they are grouped.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, permutations, product

from graphiti_pkm.core.model.names import SHORTEST_PART, fold, signed, visible, words_of

_CHUNK = re.compile(r"\S+")
_WORD = re.compile(r"[^\W_]+")
_EDGES = ".,;:!?\"'()[]{}<>«»„“”‚‘’…–—*"
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_OF_CHARACTERS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{3,6}")
"""Names in Chinese characters or Hangul, whose parts may stand alone: single characters occur in too many words."""
_WITH_LONG_FAMILY_NAME = 4
_SURE = words_of("s es ns ens")
"""Endings that a name of any length may take."""
_ENDINGS = words_of(
    """a e i n u y an en ie in om em ou owi owie ei lla lle lta sta ssa
    а е и у ы ю я ам ами ах ев ем ов ои ом ою еи ею"""
)
"""Without accents: "й" is "и"."""
_ENDING_VOWELS = frozenset("aeioyаеийоыьэюя")
"""Final vowels that an ending may replace; without accents "й" is "и"."""
_LONG = 4
_STEM = 3
_NUMBER = re.compile(r"\u2212?\d+")
_LONG_NUMBER = 7
"""Digits of which the grouping says little."""
_CODE = 4
"""A shorter word with a digit occurs by chance once the spaces are gone: "A1" in "a 1"."""
_MOST_LETTERS = 200
"""A longer run of letters is not a name."""
_MOST_ORDERED = 3
"""Names of up to this many words are searched in every order; longer ones as given, and with the last word first."""
_PLAIN = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ŋ": "n"}
)
"""Letters that do not decompose into a base letter and an accent."""
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "ð": "dh", "đ": "dj"})
_SPELT = frozenset("äöüøåðđ")
_FOLDS = (False, True)
NEUTRAL_RELATION = "RELATES_TO"
"""The relation that replaces one whose words were all part of a name."""


class NameForms:
    """All forms of the names of one thing; ``certain`` are those that an identifier always refers to, in any case."""

    def __init__(self, names: Iterable[str], certain: Iterable[str] = (), words: Iterable[str] = ()) -> None:
        """``words``: of names, which alone may mean the same."""
        given = [visible(name) for name in names]
        forms = (tuple(_words(name, is_spelt=is_spelt)) for name in given for is_spelt in _FOLDS)
        self._names = {form for form in forms if form}
        self._firsts = tuple({form[0][:_STEM] for form in self._names})
        self._joined: dict[str, int] = {}
        self._numbers: defaultdict[str, set[str]] = defaultdict(set)
        for name, is_spelt in product(given, _FOLDS):
            for order in _orders(tuple(_parts(name, is_spelt=is_spelt))):
                if len(joined := "".join(order)) > 1:
                    self._joined[joined] = len(order)
                    if numbers := _numbers(name).strip():
                        self._numbers[joined].add(f" {numbers} ")
        self._stems = {_stem(form[0]) for form in self._names} | self._joined.keys()
        self._words = {visible(word) for word in words}
        self._unspaced = [name for name in given if _UNSPACED.search(name)]
        self._alone = {part for name in given if _OF_CHARACTERS.fullmatch(name) for part in _characters(name)}
        self._certain = sorted({form for name in certain if (form := tuple(_parts(visible(name))))}, key=len)[::-1]

    def __bool__(self) -> bool:
        return bool(self._names)

    def found(self, text: str) -> list[str]:
        """Occurrences as written, each with adjoining characters up to the next space; without duplicates."""
        text = visible(text)
        found = dict.fromkeys(name for name in self._unspaced if name in text)
        if self._alone:
            rest = _without(text, self._unspaced)
            found |= dict.fromkeys(part for part in self._alone if part in rest)
        chunks: list[str] | None = None
        for is_spelt in _FOLDS if not _SPELT.isdisjoint(text.casefold()) else _FOLDS[:1]:
            compact = "".join(_words(text, is_spelt=is_spelt))
            if any(stem in compact for stem in self._stems):
                chunks = chunks or [chunk.group() for chunk in _CHUNK.finditer(text)]
                glued = self._glued(_Letters.of(chunks, is_spelt=is_spelt), chunks)
                places = dict.fromkeys(chain(self._inflected(chunks, is_spelt=is_spelt), glued))
                found |= {" ".join(chunks[first : last + 1]).strip(_EDGES): None for first, last in places}
        if self._words:
            left = _WORD.findall(_without(text, found))
            found |= dict.fromkeys(word for word in left if word in self._words)
        return list(found)

    def without(self, identifier: str) -> str:
        """A relation or a type without the words that certainly are a name; unchanged if there are none."""
        words = identifier_words(identifier)
        folded = [_folded(word) for word in words]
        gone: set[int] = set()
        for at in range(len(words)):
            for form in self._certain:
                if tuple(folded[at : at + len(form)]) == form:
                    gone.update(range(at, at + len(form)))
        return left_of_identifier(identifier, [word for at, word in enumerate(words) if at not in gone])

    def _inflected(self, chunks: Sequence[str], *, is_spelt: bool) -> Iterator[tuple[int, int]]:
        """The first and last chunk of each name whose words may have endings."""
        listed = [(word, place) for place, chunk in enumerate(chunks) for word in _WORD.findall(chunk)]
        begun = {word: self._begun_by(word, is_spelt=is_spelt) for word in {word for word, _ in listed}}
        for at, (word, place) in enumerate(listed):
            for form in begun[word]:
                if _is_at(form, listed, at, is_spelt=is_spelt):
                    last = listed[at + len(form) - 1][1]
                    if self._has_numbers("".join(form), chunks[place : last + 1]):
                        yield place, last

    def _has_numbers(self, joined: str, chunks: Sequence[str]) -> bool:
        """Whether the numbers of a name stand in a part of a text that has its letters and digits.

        Not asked of a long run without spaces, which would be read again for each name in it.
        """
        asked = self._numbers.get(joined)
        if asked is None or sum(map(len, chunks)) > _MOST_LETTERS:
            return True
        held = _numbers(" ".join(chunks))
        return any(numbers in held or _are_grouped(numbers, held) for numbers in asked)

    def _begun_by(self, word: str, *, is_spelt: bool) -> list[tuple[str, ...]]:
        """Names of which a word may be the first."""
        if len(word) > _MOST_LETTERS or not _folded(word, is_spelt=is_spelt).startswith(self._firsts):
            return []
        return [form for form in self._names if _is_form(word, form[0], is_spelt=is_spelt)]

    def _glued(self, text: "_Letters", chunks: Sequence[str]) -> Iterator[tuple[int, int]]:
        """The same for each name that appears once everything between its letters is removed."""
        for name, words in self._joined.items():
            at = text.letters.find(name)
            while at >= 0:
                end = at + len(name)
                if not _goes_on(text.letters, at, end) and text.stands_out(at, end, words):
                    first, last = text.chunk(at), text.chunk(end - 1)
                    if self._has_numbers(name, chunks[first : last + 1]):
                        yield first, last
                at = text.letters.find(name, end)


@dataclass(frozen=True)
class _Letters:
    """Letters and digits of a text in compared form, with their positions."""

    letters: str
    chunks: Sequence[int]
    """The start of each run without a space."""
    words: Sequence[int]
    edges: frozenset[int]
    """The bounds of words, and of parts that a capital or a digit sets off."""

    @classmethod
    def of(cls, chunks: Iterable[str], *, is_spelt: bool) -> "_Letters":
        parts: list[str] = []
        of_chunks, of_words, edges, at = [], [], {0}, 0
        for chunk in chunks:
            of_chunks.append(at)
            for word in _WORD.findall(chunk):
                of_words.append(at)
                for part in _set_off(word, by_digits=True):
                    parts.append(_folded(part, is_spelt=is_spelt))
                    at += len(parts[-1])
                    edges.add(at)
        return cls("".join(parts), of_chunks, of_words, frozenset(edges))

    def chunk(self, at: int) -> int:
        return bisect_right(self.chunks, at) - 1

    def stands_out(self, at: int, end: int, words: int) -> bool:
        """Whether a run of letters is more likely a name of so many words than part of another word."""
        is_long = end - at >= SHORTEST_PART
        if is_long and self.chunk(at) == self.chunk(end - 1) and not _UNSPACED.search(self.letters, at, end):
            return True
        is_code = end - at >= _CODE and any(map(str.isdigit, self.letters[at:end]))
        is_one_word = bisect_right(self.words, at) == bisect_right(self.words, end - 1)
        return self.edges.issuperset((at, end)) and (is_long or is_one_word or words > 1 or is_code)


def identifier_words(identifier: str) -> list[str]:
    """The words of a relation or type, separated by ``_``, spaces or capitals."""
    return [part for word in _WORD.findall(identifier) for part in _set_off(word)]


def left_of_identifier(identifier: str, words: Sequence[str]) -> str:
    """The identifier with only these words; unchanged if they are all of them."""
    if len(words) == len(identifier_words(identifier)):
        return identifier
    return "_".join(words).upper() or NEUTRAL_RELATION


@lru_cache(maxsize=10_000)
def _set_off(word: str, *, by_digits: bool = False) -> tuple[str, ...]:
    """The parts of a word separated by a capital after a small letter, or by digits."""
    if word.isalpha() and word[1:].islower():
        return (word,)
    parts: list[str] = []
    start = 0
    for at in range(1, len(word)):
        before, here, after = word[at - 1], word[at], word[at + 1 : at + 2]
        is_capital = here.isupper() and (before.islower() or (before.isupper() and after.islower()))
        if is_capital or (by_digits and before.isdigit() != here.isdigit()):
            parts.append(word[start:at])
            start = at
    return (*parts, word[start:])


def _orders(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not words:
        return iter(())
    if len(words) <= _MOST_ORDERED:
        return iter(permutations(words))
    return iter((words, (words[-1], *words[:-1])))


def _characters(name: str) -> Iterator[str]:
    """The given name after a family name of one or two characters, and a family name of two."""
    for start in range(1, len(name) - 1):
        yield name[start:]
    if len(name) >= _WITH_LONG_FAMILY_NAME:
        yield name[:2]


def _goes_on(letters: str, at: int, end: int) -> bool:
    """Whether a number at the edge of a name continues with more digits, and so is another number."""
    before, after = letters[at - 1 : at], letters[end : end + 1]
    return (before.isdigit() and letters[at].isdigit()) or (after.isdigit() and letters[end - 1].isdigit())


def _numbers(text: str) -> str:
    """The numbers of a text in order, with their signs, a space around each."""
    return f" {' '.join(_NUMBER.findall(signed(text)))} "


def _are_grouped(numbers: str, held: str) -> bool:
    """Whether they are long and stand there in other groups of digits."""
    digits = numbers.replace(" ", "")
    return len(digits) >= _LONG_NUMBER and digits in held.replace(" ", "")


def _without(text: str, names: Iterable[str]) -> str:
    for name in names:
        text = text.replace(name, " ")
    return text


def _is_at(form: tuple[str, ...], listed: Sequence[tuple[str, int]], at: int, *, is_spelt: bool) -> bool:
    """Whether the words after the first are there as well."""
    if at + len(form) > len(listed):
        return False
    return all(_is_form(listed[at + more][0], form[more], is_spelt=is_spelt) for more in range(1, len(form)))


@lru_cache(maxsize=10_000)
def _is_form(word: str, own: str, *, is_spelt: bool) -> bool:
    """Whether a word is a word of a name, possibly with an ending."""
    folded = _folded(word, is_spelt=is_spelt)
    if folded == own:
        return True
    ending = folded.removeprefix(own)
    is_long = len(own) >= _LONG
    if folded.startswith(own) and (is_long or word[:1].isupper()):
        return ending in _SURE or (is_long and ending in _ENDINGS)
    stem = _stem(own)
    if stem != own and folded.startswith(stem):
        return folded.removeprefix(stem) in _ENDINGS
    return False


def _stem(word: str) -> str:
    """The beginning that all its forms share."""
    return word[:-1] if len(word) >= _LONG and word[-1] in _ENDING_VOWELS else word


def _words(text: str, *, is_spelt: bool = False) -> list[str]:
    return [_folded(word, is_spelt=is_spelt) for word in _WORD.findall(text)]


def _parts(name: str, *, is_spelt: bool = False) -> list[str]:
    return [_folded(part, is_spelt=is_spelt) for part in identifier_words(name)]


@lru_cache(maxsize=10_000)
def _folded(word: str, *, is_spelt: bool = False) -> str:
    """As ``names.fold`` for one word; ``is_spelt``: accents are transliterated, "ue" for "ü"."""
    if word.isascii():
        return word.lower()
    low = unicodedata.normalize("NFC", word.casefold())
    plain = (low.translate(_SPELT_OUT) if is_spelt else low).translate(_PLAIN)
    decomposed = unicodedata.normalize("NFKD", plain)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def folded_words(text: str) -> frozenset[str]:
    """The words of a text as full text compares them, with and without invisible characters."""
    return frozenset(fold(text).split()) | frozenset(fold(visible(text)).split())
