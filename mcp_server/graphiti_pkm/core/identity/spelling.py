"""Compares spellings: similar names and relations are reported, never merged."""

import re
from collections import Counter
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from graphiti_pkm.core.model.names import fold, normalise_name, words_of

_ONE_TYPO = 5
_TWO_TYPOS = 9
MOST_EXTRA_WORDS = 2
_SHORTEST_WORD = 3
_SHORTEST_BEGINNING = 4
_SHORTEST_MISSPELT = 6
"""Of shorter words, too many are other words with one letter changed: coach and couch."""
_DIGITS = re.compile(r"\d+")

_EMPTY_WORDS = words_of("the a an of and von van de la le der die das mr mrs ms dr sir")
_OPEN_PLACES = words_of("at for in on with")
_OF_THE_SOURCE = words_of("AT IN ON TO FROM WITH BY")
_BY_ONE = words_of("manages leads heads chairs directs supervises owns")
_ROLES = words_of("manager leader lead head chair director supervisor owner boss chief ceo cto cfo president captain")
_AUXILIARIES = words_of("is was are were has been")
_MEASURE_WORDS = words_of(
    """hours hour hrs h minutes minute min of the my duration time length level score rating amount total daily nightly
    night per in number count value today a"""
)


def typos_allowed(length: int) -> int:
    """How many letters of a name of this length may differ: one from 5 letters on, two from 9."""
    return 2 if length >= _TWO_TYPOS else 1 if length >= _ONE_TYPO else 0


def close_spelling(one: str, other: str) -> bool:
    """Whether two compared forms differ by a typo: one from 5 letters on, two from 9; never in digits.

    A typo is a letter inserted, omitted, changed or swapped with the next.
    """
    allowed = typos_allowed(min(len(one), len(other)))
    if abs(len(one) - len(other)) > allowed:
        return False
    return 0 < OSA.distance(one, other, score_cutoff=allowed) <= allowed and same_digits(one, other)


def may_name_one_person(one: str, other: str) -> bool:
    """Whether two names of people may be of one: Priya and Priyanka, Sarah and Sarah Chen, a typo. It may be wrong.

    One word of a name may be the beginning of the other's, from 4 letters on, or spelt like it; if one name is a word
    alone, the other's last names do not count.
    """
    ours, theirs = NameForm.of(one), NameForm.of(other)
    if ours.digits or theirs.digits or not ours.words or not theirs.words:
        return False
    if ours.contains(theirs) or theirs.contains(ours):
        return True
    if len(ours.words) != len(theirs.words) and min(len(ours.words), len(theirs.words)) > 1:
        return False
    unlike = [pair for pair in zip(ours.words, theirs.words, strict=False) if pair[0] != pair[1]]
    if len(unlike) != 1:
        return False
    shorter, longer = sorted(unlike[0], key=len)
    return (len(shorter) >= _SHORTEST_BEGINNING and longer.startswith(shorter)) or close_spelling(shorter, longer)


def same_relation(one: str, other: str) -> bool:
    """Whether two spellings are one relation: WORKS_AT and WORKSAT."""
    return normalise_name(one) == normalise_name(other)


def is_inflection(one: str, other: str) -> bool:
    """Whether two relations differ only in endings: WORK_AT, WORKS_AT and WORKED_AT, but not WORKS_WITH."""
    return same_relation(one, other) or stems(one) == stems(other)


def stems(relation: str) -> list[str]:
    """The words of a relation without their endings."""
    return [_stem(word) for word in relation.lower().split("_")]


def with_one_only(one: str, other: str) -> bool:
    """Whether exactly one of two relations contains WITH: WORKS_WITH a person, WORKS_AT a company."""
    return one.endswith("_WITH") != other.endswith("_WITH")


def describes_source(relation: str) -> bool:
    """Whether a relation describes its source, so that many sources may share a target: WORKS_AT, HAS_STATUS, USES.

    For other relations (MANAGES, LEADS, OWNS) a new source of a target may replace the previous one.
    """
    words = relation.split("_")
    return words[-1] in _OF_THE_SOURCE or (words[0] in {"HAS", "USES"} and words[-1] != "OF")


def has_exclusive_target(relation: str) -> bool:
    """Whether a target normally has a single source of this relation at a time: MANAGES, LEADS, IS_HEAD_OF."""
    words = [word for word in relation.lower().split("_") if word not in _AUXILIARIES]
    if len(words) == 1:
        return _stem(words[0]) in {_stem(verb) for verb in _BY_ONE}
    return words[-1:] == ["of"] and any(word in _ROLES for word in words)


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name in all compared forms, computed once for any number of comparisons."""

    compared: str
    words: tuple[str, ...]
    """Words by which it may be confused with another name."""
    word_count: int
    """Number of all its words."""
    digits: tuple[str, ...]

    @classmethod
    def of(cls, name: str) -> "NameForm":
        """Compute the forms; each takes linear time."""
        words = fold(name).split()
        kept = tuple(word for word in words if word not in _EMPTY_WORDS)
        return cls(normalise_name(name), kept, len(words), tuple(_DIGITS.findall(name)))

    def contains(self, shorter: "NameForm") -> bool:
        """Whether the other is this name with one or two words fewer at its start or end: "Sarah Chen", "Sarah"."""
        ours, theirs = self.words, shorter.words
        extra = len(ours) - len(theirs)
        if not theirs or extra < 0 or (ours[: len(theirs)] != theirs and ours[extra:] != theirs):
            return False
        if self.word_count - shorter.word_count > MOST_EXTRA_WORDS or max(map(len, theirs)) < _SHORTEST_WORD:
            return False
        return self.digits == shorter.digits and self.compared != shorter.compared

    def may_mean(self, known: "NameForm") -> bool:
        """Whether this text may refer to the name: some of its words, one or two more, or a typo."""
        shorter = min(self.words, known.words, key=len)
        if not shorter or max(map(len, shorter)) < _SHORTEST_WORD or self.digits != known.digits:
            return False
        is_part = set(shorter) <= {*self.words} & {*known.words}
        if is_part and abs(len(self.words) - len(known.words)) <= MOST_EXTRA_WORDS:
            return True
        return any(close_spelling(self.compared, one) for one in (known.compared, *known.words))

    @property
    def lone_word(self) -> str | None:
        """The only word, if it is long enough to be known although it is misspelt."""
        alone = self.words[0] if len(self.words) == 1 else ""
        return alone if alone.isalpha() and len(alone) >= _SHORTEST_MISSPELT else None

    def misspells(self, known: "NameForm") -> bool:
        """Whether this text is the name but for a typo in one long word; a text of one word, a word of the name.

        All else is equal, also numbers and marks: C# is not C++, and 1-2 not 12. Scripts without spaces have no words.
        """
        if self.lone_word:
            return any(_is_slip(self.lone_word, word) for word in known.words)
        ours, theirs = Counter(self.words), Counter(known.words)
        missing, unsaid = [*(ours - theirs).elements()], [*(theirs - ours).elements()]
        if len(missing) != 1 or len(unsaid) != 1 or _marks(self.compared) != _marks(known.compared):
            return False
        return _is_slip(missing[0], unsaid[0])


def _is_slip(one: str, other: str) -> bool:
    """Whether two long words of letters alone differ in one typo, and not in the first letter."""
    if min(len(one), len(other)) < _SHORTEST_MISSPELT or one[0] != other[0] or not (one + other).isalpha():
        return False
    return OSA.distance(one, other, score_cutoff=1) == 1


def _marks(compared: str) -> list[str]:
    return [character for character in compared if not character.isalpha()]


def contains_name(longer: str, shorter: str) -> bool:
    """Whether one name is the other plus one or two words at its start or end: "Sarah Chen", "Dr. Sarah Chen"."""
    return NameForm.of(longer).contains(NameForm.of(shorter))


def same_digits(one: str, other: str) -> bool:
    """Whether the numbers in both names are equal: Sprint 11 and Sprint 12 are different."""
    return digits_in(one) == digits_in(other)


def digits_in(name: str) -> list[str]:
    """The numbers in a name."""
    return _DIGITS.findall(name)


def deletions(name: str) -> set[str]:
    """All variants of a form with one letter removed, and the form itself: those of two similar names overlap."""
    return {name, *(name[:i] + name[i + 1 :] for i in range(len(name)))}


def relation_form(relation: str) -> tuple[str, ...]:
    """The words of a relation without their endings, and without words such as AT."""
    return tuple(_stem(word) for word in relation.lower().split("_") if word and word not in _OPEN_PLACES)


def measure_form(measure: str) -> frozenset[str]:
    """The words of a measure without their endings, and without words such as "hours of", if any remain."""
    words = fold(measure).split()
    return frozenset(_stem(word) for word in words if word not in _MEASURE_WORDS) or frozenset(words)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_WORD:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")
