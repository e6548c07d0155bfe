"""The stems of a text and how often it has them: what a ranking by words needs of it. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graphiti_pkm.core.model.names import fold, joined_words
from graphiti_pkm.core.model.places import Place

_SCORED_CHARS = 50_000
_SHORTEST_STEM = 3
_ENDINGS = frozenset(("ies", "ing", "es", "ed", "s", "e", "y"))
_LAST_LETTERS = frozenset(ending[-1] for ending in _ENDINGS)
_LONGEST_ENDING = 3


@dataclass(frozen=True)
class StemCounts:
    """How often a text has the stems that were asked for; those that it lacks are left out."""

    length: int
    """How many words it has; a word with a hyphen counts as its parts and as a whole."""
    counts: Mapping[str, int]
    inside: Mapping[str, int] = field(default_factory=dict)
    """How often a stem is part of its words."""


class EpisodeWords(NamedTuple):
    """Where an episode stands, and how often it has the stems that were asked for."""

    place: Place
    counts: StemCounts


def stem(word: str) -> str:
    """Removes the most common English endings: enough to match what the database's stemmer matched."""
    if word[-1:] not in _LAST_LETTERS:
        return word
    for letters in range(min(_LONGEST_ENDING, len(word)), 0, -1):
        if word[-letters:] in _ENDINGS:
            return word[:-letters] if len(word) - letters >= _SHORTEST_STEM else word
    return word


def stems_of(words: Iterable[str]) -> list[str]:
    """Each stem once, in order."""
    return list(dict.fromkeys(map(stem, words)))


def text_stems(text: str) -> Counter[str]:
    """The stems of a text; hyphenated words also as a whole. The rest of a very long text is not counted."""
    scored = text[:_SCORED_CHARS]
    return Counter(map(stem, (*fold(scored).split(), *joined_words(scored))))


def counted(words: Mapping[str, int], stems: Sequence[str], parts: Sequence[str] = ()) -> StemCounts:
    """Of the words of a text, those that are one of ``stems``; ``parts`` are also looked for inside of words."""
    inside = {part: often for part in parts if (often := sum(n for word, n in words.items() if part in word))}
    return StemCounts(sum(words.values()), {one: words[one] for one in stems if one in words}, inside)
