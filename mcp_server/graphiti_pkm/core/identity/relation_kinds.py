"""What the words of a relation say: whether it has one target at a time, and whether a similar one means the same."""

from rapidfuzz.distance import OSA

from graphiti_pkm.core.identity.spelling import same_relation, stems
from graphiti_pkm.core.model.names import words_of

_AUXILIARIES = words_of("is was are were be been being has had have gets got")
_PAST = words_of("was were had")
_HAVING = words_of("has have had")
_LITTLE_WORDS = words_of("a an the my of by")
_ENDINGS = ("s", "es", "d", "ed", "r", "er", "or")
"""Of what is done ("uses", "used") and of who does it ("user")."""
_ONE_PLACE = words_of(
    """lives live reside resides living based located situated hosted stored written implemented deployed enrolled born
    stationed registered settled kept sits moved headquartered"""
)
_ONE_JOB = words_of("works worked working employed studies studied interns serves")
_ONE_BY = words_of(
    """managed led maintained owned coached employed sponsored headed chaired supervised directed hosted mentored run
    treated taught governed represented guided"""
)
_ONE_TO = words_of("reports reported married engaged assigned")
_ONE_DATE = words_of("due scheduled starts started ends begins planned fixed set launches opens takes")
_ONE_AMOUNT = words_of("costs cost weighs measures earns named called titled priced dated due dates lasts")
_PLACE_WORDS = frozenset({"in", "at", "on", "with", "by", "from", "under"})
_MANY = words_of(
    """goal member sister brother sibling friend child son daughter parent colleague option consequence risk customer
    client skill symptom allergy task feature part component alias reason problem idea plan question habit hobby meeting
    note example advantage drawback requirement dependency document issue concern wish need hope fear feeling step
    subcommand command offer interest topic effect cause benefit argument promise agreement"""
)
_MANY_LETTERS = 7
_SWAPPED_LETTERS = 4
_EXCHANGED = ({"at", "in"}, {"to", "in"})
_ADDED = frozenset({"with", "on", "at", "in"})
_ASKING = words_of("ask asks asked asking request requests requested inquires wonders wondered questions questioned")
_PREPOSITIONS = words_of("at for in on with to from by of about as into over")


def has_single_target(relation: str) -> bool:
    """Whether a source normally has one target or value of this relation at a time: LIVES_IN, REPORTS_TO, HAS_BUDGET.

    For other relations (USES, KNOWS, DECIDED, HAS_GOAL) a second target says nothing about the first.
    """
    given = relation.lower().split("_")
    words = [word for word in given if word not in _AUXILIARIES]
    if not words:
        return False
    if given[0] in {"has", "had"}:
        return _is_one_thing(words)
    first, last = words[0], words[-1]
    if len(words) == 1:
        return first in _ONE_AMOUNT
    return (
        (first in _ONE_PLACE and last in _PLACE_WORDS)
        or (first in _ONE_JOB and last in {"at", "for", "by"})
        or (first in _ONE_BY and last == "by")
        or (first in _ONE_TO and last == "to")
        or (first in _ONE_DATE and last in {"on", "for", "by", "at", "date"})
    )


def is_past(relation: str) -> bool:
    """Whether a relation says what was: WAS_IN, HAD_PASS."""
    return relation.lower().split("_")[0] in _PAST


def may_be_past(relation: str) -> bool:
    """Whether the form of the verb leaves open if it was or is: WORKED_AT, BASED_IN; not COACHED_BY."""
    words = relation.lower().split("_")
    return words[0].endswith("ed") and words[-1] != "by"


def direction_of(relation: str) -> tuple[bool, set[str]] | None:
    """Whether a relation of one word says what its source has or is subject to, and the word without its endings.

    COACHES and HAS_COACH or COACHED_BY differ in the first and share the second: they say the same from two ends.
    """
    words = relation.lower().split("_")
    said = [word for word in words if word not in _AUXILIARIES | _LITTLE_WORDS]
    if len(said) != 1:
        return None
    word = said[0]
    ends = (end for end in ("", *_ENDINGS) if word.endswith(end) and len(word) > len(end) + 1)
    return words[0] in _HAVING or words[-1] == "by", {word.removesuffix(end) for end in ends}


def may_mean_same(sent: str, known: str) -> bool:
    """Whether a relation that is spelt like a known one probably means the same: another ending, or a typo.

    Two verbs that differ in one letter are two verbs (LIVES_IN, LOVES_IN), who asks tells nothing, and another
    preposition is another relation unless both name the same place.
    """
    if same_relation(sent, known):
        return True
    one, other = sent.lower().split("_"), known.lower().split("_")
    if any(word in _ASKING for word in one) != any(word in _ASKING for word in other):
        return False
    if one[:-1] == other[:-1] and _is_typo(one[-1], other[-1]):
        return True
    (verbs, place), (others, known_place) = _split(one), _split(other)
    if len(verbs) != len(others) or not all(map(_is_one_word, verbs, others)):
        return False
    return place == known_place or _is_same_place(stems(verbs[0]), {place, known_place})


def _is_one_thing(words: list[str]) -> bool:
    """Whether a noun is one of its kind: a budget, a coach; not goals, nor a member."""
    noun = words[-1]
    if noun in _PREPOSITIONS:
        return False
    return noun not in _MANY and not (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))


def _split(words: list[str]) -> tuple[list[str], str]:
    """A relation without the preposition at its end, and that preposition."""
    return (words[:-1], words[-1]) if len(words) > 1 and words[-1] in _PREPOSITIONS else (words, "")


def _is_same_place(verb: list[str], prepositions: set[str]) -> bool:
    if prepositions == {"at", "for"}:
        return verb == ["work"]
    return prepositions in _EXCHANGED or ("" in prepositions and bool(prepositions & _ADDED))


def _is_one_word(one: str, other: str) -> bool:
    return one == other or stems(one) == stems(other) or _is_typo(one, other)


def _is_typo(one: str, other: str) -> bool:
    """Whether two words differ by a slip: letters swapped, one left out or doubled, in long words one changed."""
    if one[:1] != other[:1] or OSA.distance(one, other, score_cutoff=1) != 1:
        return False
    if len(one) != len(other):
        return min(len(one), len(other)) > 1
    return len(one) >= (_SWAPPED_LETTERS if sorted(one) == sorted(other) else _MANY_LETTERS)
