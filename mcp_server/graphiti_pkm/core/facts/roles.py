"""Roles towards the person of a group: who is "my coach" by a fact between the two. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphiti_pkm.core.identity.spelling import stems
from graphiti_pkm.core.model.names import fold, words_of
from graphiti_pkm.core.model.records import Fact

_SAME = tuple(
    map(
        words_of,
        (
            "dad daddy papa father",
            "mum mom mummy mommy mama mother",
            "grandpa grandad granddad grandfather",
            "grandma granny grandmother",
            "boss manager",
        ),
    )
)
_MINE = words_of("my our")
_MOST_WORDS = 3
_HAVING = words_of("has had have gets got")
_AUXILIARIES = words_of("is was are were became becomes as a an the has been")
_OWNERS = ("my", "our", "me's", "user's")
_BEING = words_of("is was became becomes been as")
_BETWEEN = 2
"""Words that may stand between the owner and the role ("my first coach")."""
_AGENTS = ("er", "or")
_MARKS = " .,;:!?\"'“”()"


@dataclass(frozen=True)
class Role:
    """A role as a caller names it."""

    words: tuple[str, ...]
    """Folded: "coach" of "my coach"."""
    is_mine: bool
    """Whether the caller said whose it is."""

    @property
    def terms(self) -> list[str]:
        """Words by which facts about it are found."""
        alike = sorted(_alike(self.words[-1]))
        verbs = sorted({verb for word in alike for verb in (*_doing(word), *_done(word))})
        return list(dict.fromkeys((*self.words[:-1], *alike, *verbs)))

    def is_held_by(self, fact: Fact, me_uuid: str, person: str) -> bool:
        """Whether the fact gives the other end this role towards the person."""
        if fact.kind != "state" or fact.voided or (fact.source_uuid == me_uuid) == (fact.target_uuid == me_uuid):
            return False
        is_source = fact.source_uuid == me_uuid
        other = fact.target_name if is_source else fact.source_name
        return any(
            self._in_relation(fact.relation, word, is_source=is_source) or self._in_text(fact.text, word, other, person)
            for word in _alike(self.words[-1])
        )

    def _in_relation(self, relation: str, word: str, *, is_source: bool) -> bool:
        """From the person HAS_COACH, COACHED_BY or COACH; into it IS_COACH_OF, COACHES, MANAGES or COACH."""
        words = relation.lower().split("_")
        told = [one for one in words if one not in _AUXILIARIES | _HAVING | {"of", "by", "my"}]
        if len(self.words) == 1 and len(told) == 1 and told[0] in (_done(word) if is_source else _doing(word)):
            return is_source == (words[-1] == "by")
        if stems("_".join(told)) != stems("_".join((*self.words[:-1], word))):
            return False
        if is_source:
            return words[-1] == "by" or (words[-1] != "of" and (words[0] in _HAVING or words[-1] == word))
        return words[-1] != "by" and words[0] not in _HAVING

    def _in_text(self, text: str, word: str, other: str, person: str) -> bool:
        """Says "Judith Brandt is my coach" or "the user's coach is Judith Brandt"."""
        said, name, role = _spoken(text), _spoken(other), [*self.words[:-1], word]
        owners = [*([one] for one in _OWNERS), _spoken(f"{person}'s")]
        return any(
            _is_said_of(name, said[:start], said[end:])
            for end in _ends(said, role)
            for owner in owners
            for between in range(_BETWEEN + 1)
            if (start := end - len(role) - between - len(owner)) >= 0 and said[start : start + len(owner)] == owner
        )


def _spoken(text: str) -> list[str]:
    """The words in lower case, without marks around them."""
    return [bare for word in text.lower().replace("’", "'").split() if (bare := word.strip(_MARKS))]


def _ends(said: Sequence[str], role: Sequence[str]) -> list[int]:
    """Where the role ends in what was said."""
    size = len(role)
    return [at + size for at in range(len(said) - size + 1) if said[at : at + size] == role]


def _is_said_of(name: Sequence[str], before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether "NAME is" stands before the owner and the role, or "is NAME" after them."""
    if after[:1] and after[0] in _BEING and after[1 : 1 + len(name)] == name:
        return True
    rest = before[:-1] if before[-1:] == ["the"] else before
    if not rest or rest[-1] not in _BEING:
        return False
    rest = rest[:-1]
    rest = rest[:-1] if rest[-1:] == ["has"] else rest
    return rest[len(rest) - len(name) :] == name


def role_of(text: str) -> Role | None:
    """The role that a name may be; None if it is longer than a role."""
    words = fold(text).split()
    is_mine = len(words) > 1 and words[0] in _MINE
    kept = tuple(words[1:] if is_mine else words)
    return Role(kept, is_mine) if 0 < len(kept) <= _MOST_WORDS else None


def _doing(word: str) -> frozenset[str]:
    """What a manager does."""
    return frozenset({f"{word[:-2]}s", f"{word[:-2]}es"}) if word.endswith(_AGENTS) else frozenset()


def _done(word: str) -> frozenset[str]:
    """What is done by a manager."""
    return frozenset({f"{word[:-2]}ed"}) if word.endswith(_AGENTS) else frozenset()


def _alike(word: str) -> frozenset[str]:
    return next((words for words in _SAME if word in words), frozenset({word}))
