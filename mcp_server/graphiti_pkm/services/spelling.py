"""When two names are so alike that a model may have meant one: reported for names and relations, never merged."""

import re
from collections.abc import Iterable

from graphiti_pkm.domain.names import fold, normalise_name, words_of

_ONE_SLIP = 5
_TWO_SLIPS = 9
MOST_EXTRA_WORDS = 2
_SHORTEST_WORD = 3
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


def close_spelling(one: str, other: str) -> bool:
    """Whether two compared forms differ by a slip: one from 5 letters on, two from 9; never in their digits."""
    if one == other or _DIGITS.findall(one) != _DIGITS.findall(other):
        return False
    shorter = min(len(one), len(other))
    allowed = 2 if shorter >= _TWO_SLIPS else 1 if shorter >= _ONE_SLIP else 0
    return allowed > 0 and _slips(one, other, allowed) <= allowed


def same_relation(one: str, other: str) -> bool:
    """WORKS_AT and WORKSAT are one relation."""
    return normalise_name(one) == normalise_name(other)


def inflected_alike(one: str, other: str) -> bool:
    """WORK_AT, WORKS_AT and WORKED_AT are one relation too, WORKS_WITH is another."""
    return same_relation(one, other) or [*map(_stem, one.lower().split("_"))] == [*map(_stem, other.lower().split("_"))]


def spelt_alike(one: str, other: str) -> bool:
    """Whether relations differ by a slip or an ending only, not by a word such as AT or WITH."""
    return inflected_alike(one, other) or close_spelling(normalise_name(one), normalise_name(other))


def with_one_only(one: str, other: str) -> bool:
    """WORKS_WITH somebody, WORKS_AT a firm: whether just one of two relations is WITH something."""
    return one.endswith("_WITH") != other.endswith("_WITH")


def says_of_source(relation: str) -> bool:
    """Whether a relation says where its source stands, so that many may share a target: WORKS_AT, HAS_STATUS, USES.

    Of others (MANAGES, LEADS, OWNS) a new source of a target may have taken the place of another one.
    """
    words = relation.split("_")
    return words[-1] in _OF_THE_SOURCE or (words[0] in {"HAS", "USES"} and words[-1] != "OF")


def held_by_one(relation: str) -> bool:
    """Whether the target of a relation as a rule has one such source at a time: MANAGES, LEADS, IS_HEAD_OF."""
    words = [word for word in relation.lower().split("_") if word not in _AUXILIARIES]
    if len(words) == 1:
        return _stem(words[0]) in {_stem(verb) for verb in _BY_ONE}
    return words[-1:] == ["of"] and any(word in _ROLES for word in words)


def near_relations(relation: str, existing: Iterable[str], *, is_plan: bool) -> list[str]:
    """Other relations that this one may be a variant of, as stored; USES and SUPERSEDES are none for a plan."""
    form = _relation_form(relation)
    compared = normalise_name(relation)
    return [
        other
        for other in existing
        if other != relation
        and not (is_plan and other in {"USES", "SUPERSEDES"})
        and (
            same_relation(relation, other)
            or _relation_form(other) == form
            or close_spelling(compared, normalise_name(other))
        )
    ]


def near_measure(measure: str, existing: Iterable[str]) -> str | None:
    """The existing series that a measure belongs to, the first that fits: the same name, else the same words."""
    candidates = list(existing)
    compared = normalise_name(measure)
    for other in candidates:
        if normalise_name(other) == compared:
            return other
    words = _measure_form(measure)
    for other in candidates:
        if words == _measure_form(other) or close_spelling(compared, normalise_name(other)):
            return other
    return None


def contains_name(longer: str, shorter: str) -> bool:
    """Whether one name is the other with a word or two before or after it: "Sarah Chen", "Sarah", "Dr. Sarah"."""
    ours, theirs = name_words(longer), name_words(shorter)
    extra = len(ours) - len(theirs)
    if not theirs or extra < 0 or normalise_name(longer) == normalise_name(shorter):
        return False
    if max(map(len, theirs)) < _SHORTEST_WORD:
        return False
    if len(fold(longer).split()) - len(fold(shorter).split()) > MOST_EXTRA_WORDS:
        return False
    if _DIGITS.findall(longer) != _DIGITS.findall(shorter):
        return False
    return ours[: len(theirs)] == theirs or ours[extra:] == theirs


def may_be_meant(asked: str, name: str) -> bool:
    """Whether somebody may ask for a name by this: some of its words, one or two more, or with a slip."""
    words, known = name_words(asked), name_words(name)
    shorter = min(words, known, key=len)
    if not shorter or max(map(len, shorter)) < _SHORTEST_WORD or not same_digits(asked, name):
        return False
    is_part = set(shorter) <= {*words} & {*known}
    if is_part and abs(len(words) - len(known)) <= MOST_EXTRA_WORDS:
        return True
    one = normalise_name(asked)
    return close_spelling(one, normalise_name(name)) or any(close_spelling(one, word) for word in known)


def name_words(name: str) -> list[str]:
    """The words of a name by which it may be taken for another."""
    return [word for word in fold(name).split() if word not in _EMPTY_WORDS]


def same_digits(one: str, other: str) -> bool:
    """Names that differ in a number are two: Sprint 11 and Sprint 12."""
    return _DIGITS.findall(one) == _DIGITS.findall(other)


def deletions(name: str) -> set[str]:
    """A compared form with one letter left out, in every way, and itself: forms of two close names overlap."""
    return {name, *(name[:i] + name[i + 1 :] for i in range(len(name)))}


def _relation_form(relation: str) -> tuple[str, ...]:
    return tuple(_stem(word) for word in relation.lower().split("_") if word and word not in _OPEN_PLACES)


def _measure_form(measure: str) -> frozenset[str]:
    words = fold(measure).split()
    return frozenset(_stem(word) for word in words if word not in _MEASURE_WORDS) or frozenset(words)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_WORD:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")


def _slips(one: str, other: str, allowed: int) -> int:
    """Letters inserted, left out, changed or swapped with the next (optimal string alignment); capped above allowed."""
    if abs(len(one) - len(other)) > allowed:
        return allowed + 1
    earlier: list[int] = []
    before = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > allowed:
            return allowed + 1
        earlier, before = before, row
    return before[-1]
