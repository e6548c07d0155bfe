"""Words that no remaining text contains after sentences were removed: what still has them came from those. Pure."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from graphiti_pkm.core.identity.mentions import STOP_WORDS
from graphiti_pkm.core.model.names import fold
from graphiti_pkm.core.model.redaction import FORGOTTEN

_WORD = re.compile(r"[^\W_]+")
_DISTINCTIVE_NUMBER = 4
_DISTINCTIVE_CODE = 3
"""Shorter codes occur in many texts."""
_YEAR = 4
_DISTINCTIVE_NAMES = 2
_SHORTEST = 2
_IDLE = STOP_WORDS | frozenset(fold(FORGOTTEN).split())


def words_in(text: str) -> frozenset[str]:
    """The words of ``names.fold``."""
    return frozenset(_WORD.findall(text.lower()) if text.isascii() else fold(text).split())


def content_words(texts: Iterable[str]) -> frozenset[str]:
    """Significant words."""
    found = frozenset[str]().union(*map(words_in, texts))
    return frozenset(word for word in found - _IDLE if len(word) >= _SHORTEST)


@dataclass(frozen=True)
class RemovedWords:
    """Words of the removed text."""

    certain: frozenset[str]
    """Numbers, and words given by the caller: significant in any case."""
    names: frozenset[str]
    """Words capitalised inside a sentence: significant where they are capitalised."""
    words: frozenset[str]
    """All of them."""

    @classmethod
    def of(cls, sentences: Iterable[str], named: Iterable[str] = (), certain: Iterable[str] = ()) -> "RemovedWords":
        """``named``: names and values; ``certain``: words that the caller gave."""
        listed, others, given = list(sentences), list(named), content_words(certain)
        marked = frozenset[str]().union(
            *(_marked(text, skips_first=True) for text in listed), *(_marked(text) for text in others)
        )
        words = content_words((*listed, *others)) | given
        numbers = frozenset(word for word in words if _is_number(word))
        return cls(certain=(numbers | given) & words, names=marked & words - numbers, words=words)

    def without(self, remaining: Collection[str]) -> "RemovedWords":
        """The words that these texts do not contain."""
        others = frozenset(remaining)
        return RemovedWords(self.certain - others, self.names - others, self.words - others)


NO_REMOVED_WORDS = RemovedWords(frozenset(), frozenset(), frozenset())


@dataclass(frozen=True)
class VanishedWords:
    """Words that no remaining text contains, and those that remaining texts do contain."""

    gone: RemovedWords
    remaining: frozenset[str] = frozenset()

    def marks(self, text: str, but: Collection[str] = ()) -> bool:
        """Whether it contains a name, number or requested word among them."""
        words = words_in(text)
        if not words.isdisjoint(self.gone.certain):
            return True
        names = (words & self.gone.names).difference(but)
        return bool(names) and not _marked(text).isdisjoint(names)

    def covers_elsewhere(self, text: str) -> bool:
        """As ``takes`` for a text elsewhere: there a single capitalised word may mean something else."""
        words = content_words((text,))
        if not words.isdisjoint(self.gone.certain):
            return True
        names = words & self.gone.names & _marked(text)
        lost = names or words & self.gone.words
        return len(names) >= _DISTINCTIVE_NAMES or len(lost) > len((words - lost) & self.remaining)

    def suggests(self, text: str) -> bool:
        """Whether it probably derives from the removed text, wherever it is; enough to ask, not to remove it."""
        return self.marks(text) or self.covers_elsewhere(text)

    def takes(self, text: str, remaining: Collection[str] | None = None, but: Collection[str] = ()) -> bool:
        """Whether it derives from the removed text: it contains such a mark, or more of these words than of other ones.

        ``but``: words that are no evidence either way, such as the names of what it is about.
        """
        if self.marks(text, but):
            return True
        words = content_words((text,)).difference(but)
        lost = words & self.gone.words
        return len(lost) > len((words - lost) & (self.remaining if remaining is None else frozenset(remaining)))

    def holds(self, text: str, but: Collection[str] = ()) -> bool:
        """Whether it contains any of them."""
        return not words_in(text).difference(but).isdisjoint(self.gone.words)


NO_VANISHED_WORDS = VanishedWords(NO_REMOVED_WORDS)


def _marked(text: str, *, skips_first: bool = False) -> frozenset[str]:
    """Capitalised words; ``skips_first``: the first word may be capitalised only because it begins a sentence."""
    found: set[str] = set()
    for place, match in enumerate(_WORD.finditer(text)):
        word = match.group()
        begun = 1 if skips_first and place == 0 else 0
        if word[begun:] != word[begun:].lower():
            found |= words_in(word)
    return frozenset(word for word in found - _IDLE if len(word) >= _SHORTEST)


def _is_number(word: str) -> bool:
    """Whether it is a code or an amount; not a year or a round number, which occur in many texts."""
    if not word.isdecimal():
        return len(word) >= _DISTINCTIVE_CODE and any(character.isdigit() for character in word)
    is_year = len(word) == _YEAR and word.startswith(("19", "20"))
    return len(word) >= _DISTINCTIVE_NUMBER and not is_year and not word.endswith("00")
