"""Where a name may stand in another form: in any case, inflected, inside an address. To be reported, never to act on.

A name is found as whole words, whatever their case, composition or accents, also where an address or an identifier
holds them, or with an ending that languages put on names: "Annas", "Анне", "anna@example.org". Other words that begin
alike are not: Al is no part of "also".
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from graphiti_pkm.core.model.names import fold, visible, words_of

_CHUNK = re.compile(r"\S+")
_WORD = re.compile(r"[^\W_]+")
_EDGES = ".,;:!?\"'()[]{}<>«»„“”‚‘’…–—*"
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_SURE = words_of("s es ns ens")
"""Endings that a name of any length may have."""
_ENDINGS = words_of(
    """a e i n u y an en ie in om em ou owi owie ei lla lle lta sta ssa
    а е и у ы ю я ам ами ах ев ем ов ой ом ою ей ею"""
)
_ENDING_VOWELS = frozenset("aeioyаеийоыьэюя")
"""A name that ends in one may have an ending in its place; without accents "й" is "и"."""
_LONG = 4
_STEM = 3
_MOST_LETTERS = 200
"""A longer run of letters is no name."""


class NameForms:
    """All forms of the names of one thing."""

    def __init__(self, names: Iterable[str]) -> None:
        given = [visible(name) for name in names]
        words = {tuple(_words(name)) for name in given}
        self._names = {form for form in words if form} | {("".join(form),) for form in words if form}
        self._firsts = tuple({form[0][:_STEM] for form in self._names})
        self._unspaced = [name for name in given if _UNSPACED.search(name)]

    def __bool__(self) -> bool:
        return bool(self._names)

    def found(self, text: str) -> list[str]:
        """As they are written, each with whatever stands around it without a space; in order, each once."""
        text = visible(text)
        chunks = [chunk.group() for chunk in _CHUNK.finditer(text)]
        listed = [(word, place) for place, chunk in enumerate(chunks) for word in _WORD.findall(chunk)]
        found = dict.fromkeys(name for name in self._unspaced if name in text)
        for at, (word, place) in enumerate(listed):
            if len(word) <= _MOST_LETTERS and _folded(word).startswith(self._firsts):
                for form in self._names:
                    if self._is_at(form, listed, at):
                        last = listed[at + len(form) - 1][1]
                        found[" ".join(chunks[place : last + 1]).strip(_EDGES)] = None
        return list(found)

    @staticmethod
    def _is_at(form: tuple[str, ...], listed: list[tuple[str, int]], at: int) -> bool:
        words = [word for word, _ in listed[at : at + len(form)]]
        return len(words) == len(form) and all(_is_form(word, own) for word, own in zip(words, form, strict=True))


def _is_form(word: str, own: str) -> bool:
    """Whether a word is a word of a name, or that with an ending."""
    folded = _folded(word)
    if folded == own:
        return True
    ending = folded.removeprefix(own)
    is_long = len(own) >= _LONG
    if folded.startswith(own) and (is_long or word[:1].isupper()):
        return ending in _SURE or (is_long and ending in _ENDINGS)
    stem = own[:-1]
    if is_long and own[-1] in _ENDING_VOWELS and folded.startswith(stem):
        return folded.removeprefix(stem) in _ENDINGS
    return False


def _words(name: str) -> list[str]:
    return [_folded(word) for word in _WORD.findall(name)]


@lru_cache(maxsize=10_000)
def _folded(word: str) -> str:
    """As ``names.fold``, of one word."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def folded_words(text: str) -> frozenset[str]:
    """The words of a text as full text compares them, and as they are without characters that are not seen."""
    return frozenset(fold(text).split()) | frozenset(fold(visible(text)).split())
