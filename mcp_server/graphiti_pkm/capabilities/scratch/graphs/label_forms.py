"""The forms in which two labels are compared: as the same, as near enough to be found, as words, as alike.

Adding ignores only what memory ignores in names: case, spaces, hyphens and underscores, so that ``C``, ``C++`` and
``C#``, ``.env`` and ``env`` stay apart. Looking up may ignore all punctuation, as it changes nothing.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from graphiti_pkm.core.model.names import normalise_name

_SEPARATORS = re.compile(r"[\s_\-/\\|‐‑–—]+|::|->|(?<=[^\W\d_])\.(?=[^\W\d_])")
"""A dot only between letters: ``v1.2`` is one word."""
_EMPTY_WORDS = frozenset({"a", "an", "and", "der", "die", "das", "for", "in", "of", "on", "the", "to", "und"})
_MOST_WORDS = 24
_LONGEST = 40
"""Characters of what is compared by its letters."""
_SHORTEST_START = 3
_START = 0.7
_LEAST_ALIKE = 0.6
_NOT_THE_SAME = 0.98
"""The most that two labels have that are not one but for punctuation."""


def loose_key(label: str) -> str:
    """Letters and digits alone; empty for a label without any, which then is like no other."""
    return "".join(char for char in normalise_name(label) if unicodedata.category(char)[0] in "LNM")


def words(label: str) -> str:
    """A label as a phrase for a model that reads words: ``HTTPServer_v2`` is "HTTP Server v2"."""
    spaced = _SEPARATORS.sub(" ", label)
    cuts = [at for at in range(1, len(spaced)) if _is_start(spaced, at)]
    parts = (spaced[start:end] for start, end in pairwise([0, *cuts, len(spaced)]))
    return " ".join(" ".join(parts).split()) or label.strip()


class Likeness:
    """How alike labels are to one that is looked for; what was found of a word serves for all of them."""

    def __init__(self, label: str) -> None:
        self._key = loose_key(label)
        self._whole = _Letters(self._key)
        self._words = [_Letters(word) for word in _tokens(label)]
        self._scores: dict[str, tuple[float, ...]] = {}

    def to(self, label: str) -> float:
        """0 to 1: the better of words found in each other, in any order, and letters in theirs."""
        key = loose_key(label)
        if key == self._key:
            return 1.0 if key else 0.0
        return min(_NOT_THE_SAME, max(self._by_words(_tokens(label)), self._whole.alike(key)))

    def _by_words(self, tokens: list[str]) -> float:
        if not tokens or not self._words:
            return 0.0
        rows = [self._of(token) for token in tokens]
        columns: Iterable[tuple[float, ...]] = zip(*rows, strict=True)
        return (sum(map(max, rows)) + sum(map(max, columns))) / (len(tokens) + len(self._words))

    def _of(self, token: str) -> tuple[float, ...]:
        known = self._scores.get(token)
        if known is None:
            known = self._scores[token] = tuple(own.word(token) for own in self._words)
        return known


def _is_start(text: str, at: int) -> bool:
    """Whether a word starts inside a name: ``authService``, ``HTTPServer``; not ``OAuth``."""
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


class _Letters:
    """How alike texts are to one by their letters: 1 less the part that would have to be changed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def word(self, other: str) -> float:
        """Of words: one may also be the start of the other, and what is hardly alike is not at all."""
        if other == self.text:
            return 1.0
        short, long = sorted((self.text, other), key=len)
        if len(short) >= _SHORTEST_START and long.startswith(short):
            return _START + (1 - _START) * len(short) / len(long)
        alike = self.alike(other)
        return alike if alike >= _LEAST_ALIKE else 0.0

    def alike(self, other: str) -> float:
        """Nothing for what is long, or of another length."""
        longest = max(len(self.text), len(other))
        if not self.text or not other or longest > _LONGEST:
            return 0.0
        if abs(len(self.text) - len(other)) > (1 - _LEAST_ALIKE) * longest:
            return 0.0
        return 1 - Levenshtein.distance(self.text, other) / longest
