"""Roles towards the person of a group: who is "my coach" by a fact between the two. Pure."""

import re
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
_OWNER = r"(?:my|our|me's|(?:the\s+)?user[’']s|{person}[’']s)"
_BEING = r"(?:is|was|became|becomes|been|as)"
_BETWEEN = r"\s+(?:\w+\s+){0,2}?"


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
        return list(dict.fromkeys((*self.words[:-1], *sorted(_alike(self.words[-1])))))

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
        """From the person HAS_COACH, COACHED_BY or COACH; into it IS_COACH_OF, COACHES or COACH."""
        words = relation.lower().split("_")
        told = [one for one in words if one not in _AUXILIARIES | _HAVING | {"of", "by", "my"}]
        if stems("_".join(told)) != stems("_".join((*self.words[:-1], word))):
            return False
        if is_source:
            return words[-1] == "by" or (words[-1] != "of" and (words[0] in _HAVING or words[-1] == word))
        return words[-1] != "by" and words[0] not in _HAVING

    def _in_text(self, text: str, word: str, other: str, person: str) -> bool:
        """Says "Judith Brandt is my coach" or "the user's coach is Judith Brandt"."""
        role = r"\s+".join(map(re.escape, (*self.words[:-1], word))) + r"\b(?![’'])"
        owner = _OWNER.format(person=re.escape(person.lower()))
        low, name = text.lower(), re.escape(other.lower())
        mine = rf"\b{owner}{_BETWEEN}{role}"
        return bool(
            re.search(rf"\b{name}\s+(?:has\s+)?{_BEING}\s+{mine}", low)
            or re.search(rf"{mine}\s+{_BEING}\s+{name}\b", low)
        )


def role_of(text: str) -> Role | None:
    """The role that a name may be; None if it is longer than a role."""
    words = fold(text).split()
    is_mine = len(words) > 1 and words[0] in _MINE
    kept = tuple(words[1:] if is_mine else words)
    return Role(kept, is_mine) if 0 < len(kept) <= _MOST_WORDS else None


def _alike(word: str) -> frozenset[str]:
    return next((words for words in _SAME if word in words), frozenset({word}))
