"""The forms in which two labels are compared: as the same, as near enough to be found, as words, as alike.

Adding ignores only what memory ignores in names: case, spaces, hyphens and underscores, so that ``C``, ``C++`` and
``C#``, ``.env`` and ``env`` stay apart. Looking up may ignore all punctuation, as it changes nothing.
"""

import re
import unicodedata
from itertools import pairwise

from graphiti_pkm.domain.names import normalise_name

_SEPARATORS = re.compile(r"[\s_\-/\\|‐‑–—]+|::|->|(?<=[^\W\d_])\.(?=[^\W\d_])")
"""A dot only between letters: ``v1.2`` is one word."""
_EMPTY_WORDS = frozenset({"a", "an", "and", "der", "die", "das", "for", "in", "of", "on", "the", "to", "und"})
_MOST_WORDS = 24
_LONGEST = 40
"""Characters of what is compared by its letters; the time it takes grows with their square."""
_SHORTEST_START = 3
_START = 0.7
_LEAST_ALIKE = 0.6
_NOT_THE_SAME = 0.98
"""The most that two labels have that are not one but for punctuation."""


def same_key(label: str) -> str:
    """Two labels with the same key are one node; never empty unless the label is."""
    return normalise_name(label) or unicodedata.normalize("NFC", label.strip())


def loose_key(label: str) -> str:
    """Letters and digits alone; empty for a label without any, which then is like no other."""
    return "".join(char for char in normalise_name(label) if unicodedata.category(char)[0] in "LNM")


def words(label: str) -> str:
    """A label as a phrase for a model that reads words: ``HTTPServer_v2`` is "HTTP Server v2"."""
    spaced = _SEPARATORS.sub(" ", label)
    cuts = [at for at in range(1, len(spaced)) if _is_start(spaced, at)]
    parts = (spaced[start:end] for start, end in pairwise([0, *cuts, len(spaced)]))
    return " ".join(" ".join(parts).split()) or label.strip()


def token_similarity(first: str, second: str) -> float:
    """How alike two labels are by their words and letters, 0 to 1; 1 only if they are one but for punctuation."""
    return Likeness(first).to(second)


class Likeness:
    """How alike labels are to one that is looked for; what was found of a word serves for all of them."""

    def __init__(self, label: str) -> None:
        self._key = loose_key(label)
        self._tokens = _tokens(label)
        self._scores: dict[str, tuple[float, ...]] = {}

    def to(self, label: str) -> float:
        """0 to 1: the better of words found in each other, in any order, and letters in theirs."""
        key = loose_key(label)
        if key == self._key:
            return 1.0 if key else 0.0
        return min(_NOT_THE_SAME, max(self._by_words(_tokens(label)), _alike(self._key, key)))

    def _by_words(self, tokens: list[str]) -> float:
        if not tokens or not self._tokens:
            return 0.0
        rows = [self._of(token) for token in tokens]
        found = sum(max(row) for row in rows) + sum(max(column) for column in zip(*rows, strict=True))
        return found / (len(tokens) + len(self._tokens))

    def _of(self, token: str) -> tuple[float, ...]:
        known = self._scores.get(token)
        if known is None:
            known = self._scores[token] = tuple(_word_likeness(own, token) for own in self._tokens)
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


def _word_likeness(first: str, second: str) -> float:
    if first == second:
        return 1.0
    short, long = sorted((first, second), key=len)
    if len(short) >= _SHORTEST_START and long.startswith(short):
        return _START + (1 - _START) * len(short) / len(long)
    alike = _alike(first, second)
    return alike if alike >= _LEAST_ALIKE else 0.0


def _alike(first: str, second: str) -> float:
    """1 less the part of the letters that would have to be changed (Levenshtein); 0 for what is long."""
    longest = max(len(first), len(second))
    if not first or not second or longest > _LONGEST or abs(len(first) - len(second)) > (1 - _LEAST_ALIKE) * longest:
        return 0.0
    row = list(range(len(second) + 1))
    for at, char in enumerate(first, 1):
        diagonal, row[0] = row[0], at
        for to, other in enumerate(second, 1):
            diagonal, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, diagonal + (char != other))
    return 1 - row[-1] / longest
