"""Normal forms of labels, and the lexical similarity of two labels.

Adding a node ignores only what memory ignores in names: case, spaces, hyphens and underscores. ``C``, ``C++`` and
``C#`` therefore remain different nodes, as do ``.env`` and ``env``. The end of a new edge may also be in the other
number. Lookups may ignore all punctuation, since they change nothing.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from graphiti_pkm.core.model.names import NUMBERS_APART, same_key

_SEPARATORS = re.compile(r"[\s_\-/\\|‐‑–—]+|::|->|(?<=[^\W\d_])\.(?=[^\W\d_])")
"""A dot separates only between letters: ``v1.2`` is one word."""
_EMPTY_WORDS = frozenset({"a", "an", "and", "der", "die", "das", "for", "in", "of", "on", "the", "to", "und"})
_MOST_WORDS = 24
_LONGEST = 40
"""Texts with more characters are not compared letter by letter."""
_SHORTEST_START = 3
_START = 0.7
_LEAST_ALIKE = 0.6
_NOT_THE_SAME = 0.98
"""The highest similarity of labels that differ in more than punctuation."""
_MOST_KNOWN_WORDS, _MOST_KNOWN_SCORES = 1_000, 200
"""Bound what one call keeps: the words of its texts, and of each its similarities to words of labels."""
_LAST_WORD = re.compile(r"(?:^|[ -])([^\W\d_]+)$")
_SHORTEST_SINGULAR = 3
_SHORTEST_CUT = 4


def loose_key(label: str) -> str:
    """Only letters and digits, numbers apart; empty for a label without any, which then matches no other."""
    key = same_key(label)
    if key.isalnum() and key.isascii():
        return key
    return "".join(char for char in key if char in NUMBERS_APART or unicodedata.category(char)[0] in "LNM")


def words(label: str) -> str:
    """A label split into words for the embedding model: ``HTTPServer_v2`` becomes "HTTP Server v2"."""
    spaced = _SEPARATORS.sub(" ", label)
    cuts = [] if spaced == spaced.lower() else [at for at in range(1, len(spaced)) if _is_start(spaced, at)]
    parts = (spaced[start:end] for start, end in pairwise([0, *cuts, len(spaced)]))
    return " ".join(" ".join(parts).split()) or label.strip()


def in_other_number(label: str) -> list[str]:
    """The label with its last word in the singular instead of the plural, or the other way round.

    Only words of a sentence have both: ``errors`` in "network errors", not in ``app.errors``, ``HTTPErrors``.
    """
    found = _LAST_WORD.search(label.strip())
    if found is None or not found[1][1:].islower():
        return []
    word, before = found[1].casefold(), label.strip()[: found.start(1)]
    plurals = (f"{word[:-1]}ies", f"{word}es", f"{word}s")
    return [before + form for form in (*_singulars(word), *(one for one in plurals if word in _singulars(one)))]


def cuts_short(text: str, label: str) -> bool:
    """Whether a text is an identifier with some, but not all, of its words cut short: "user repo" for UserRepository.

    In prose a beginning is another word: a port is no portal, data no database.
    """
    if len(label.split()) > 1:
        return False
    cut, whole = words(text).casefold().split(), words(label).casefold().split()
    if len(cut) != len(whole):
        return False
    differ = [(short, long) for short, long in zip(cut, whole, strict=True) if short != long]
    return 0 < len(differ) < len(cut) and all(
        len(short) >= _SHORTEST_CUT and long.startswith(short) for short, long in differ
    )


class Forms:
    """What comparing one text finds out of labels and words, for the texts that are compared with them next."""

    def __init__(self) -> None:
        self._labels: dict[str, tuple[str, list[str]]] = {}
        self._words: dict[str, _Word] = {}

    def label(self, label: str) -> tuple[str, list[str]]:
        """Its letters and digits, and its words."""
        if (form := self._labels.get(label)) is None:
            form = self._labels[label] = loose_key(label), _tokens(label)
        return form

    def word(self, text: str) -> "_Word":
        """The similarities of other words to this one."""
        if (known := self._words.get(text)) is None:
            known = _Word(text)
            if len(self._words) < _MOST_KNOWN_WORDS:
                self._words[text] = known
        return known


class Likeness:
    """The lexical similarity of many labels to one label; scores of words are cached."""

    def __init__(self, label: str, forms: Forms | None = None) -> None:
        """``forms``: shared by several texts that are compared with the same labels."""
        self._forms = forms or Forms()
        self._key = loose_key(label)
        self._words = [self._forms.word(word) for word in _tokens(label)]
        self._scores: dict[str, tuple[float, ...]] = {}

    def to(self, label: str) -> float:
        """0 to 1, the higher of word overlap and letter similarity; 1 only if nothing but punctuation differs."""
        key, tokens = self._forms.label(label)
        if key == self._key:
            return 1.0 if key else 0.0
        return min(_NOT_THE_SAME, max(self._by_words(tokens), _alike(self._key, key)))

    def _by_words(self, tokens: list[str]) -> float:
        if not tokens or not self._words:
            return 0.0
        rows = [self._of(token) for token in tokens]
        columns: Iterable[tuple[float, ...]] = zip(*rows, strict=True)
        return (sum(map(max, rows)) + sum(map(max, columns))) / (len(tokens) + len(self._words))

    def _of(self, token: str) -> tuple[float, ...]:
        known = self._scores.get(token)
        if known is None:
            known = self._scores[token] = tuple([own[token] for own in self._words])
        return known


def _singulars(word: str) -> list[str]:
    """The words of which this may be the plural; none for "status", "https" and "class"."""
    found = []
    if word.endswith("ies"):
        found.append(f"{word[:-3]}y")
    if word.endswith(("ses", "xes", "zes", "ches", "shes")):
        found.append(word[:-2])
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        found.append(word[:-1])
    return [one for one in found if len(one) >= _SHORTEST_SINGULAR and set(one) & set("aeiouy")]


def _is_start(text: str, at: int) -> bool:
    """Whether a word starts here within a name: ``authService``, ``HTTPServer``, but not ``OAuth``."""
    before, here = text[at - 1], text[at]
    if not here.isupper():
        return False
    if before.islower() or before.isdigit():
        return True
    follows = text[at + 1 : at + 2].islower()
    return follows and before.isupper() and at > 1 and text[at - 2].isupper()


def _tokens(label: str) -> list[str]:
    found = [loose_key(word) for word in words(label).split()[:_MOST_WORDS]]
    return [word for word in found if word and word not in _EMPTY_WORDS] or [word for word in found if word]


class _Word(dict[str, float]):
    """The similarities of other words to one: a prefix also counts as similar, and low similarities count as 0."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __missing__(self, other: str) -> float:
        score = self._score(other)
        if len(self) < _MOST_KNOWN_SCORES:
            self[other] = score
        return score

    def _score(self, other: str) -> float:
        if other == self._text:
            return 1.0
        short, long = sorted((self._text, other), key=len)
        if len(short) >= _SHORTEST_START and long.startswith(short):
            return _START + (1 - _START) * len(short) / len(long)
        alike = _alike(self._text, other)
        return alike if alike >= _LEAST_ALIKE else 0.0


def _alike(one: str, other: str) -> float:
    """The letter similarity, 1 minus the normalised edit distance; 0 for long texts and very different lengths."""
    longest = max(len(one), len(other))
    if not one or not other or longest > _LONGEST:
        return 0.0
    if abs(len(one) - len(other)) > (1 - _LEAST_ALIKE) * longest:
        return 0.0
    return 1 - Levenshtein.distance(one, other) / longest
