"""Sentences in place of names: which fact says one, and what reads as one. Pure."""

import re
from collections.abc import Iterable, Sequence

from graphiti_pkm.core.facts.parsed_facts import relation_words
from graphiti_pkm.core.identity.mentions import STOP_WORDS
from graphiti_pkm.core.model.names import fold, normalise_name, words_of
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.stems import stem

SHORTEST_SENTENCE = 3
"""Words of a sentence that is told apart from a name."""
_LONGEST_NAME = 6
"""Words of a name that memory does not know; more are a sentence or a description."""
_MARKS = " \t\n.!?…\"'“”„‘’«»"
_END = re.compile(r"[.!?…][\"'”’»]?\Z")
_ABBREVIATED = re.compile(r"\A(?:[A-Z]\w{0,4}|(?:\w\.)+\w)\.\Z")
"""The last word of a name that ends in a full stop: "Ltd.", "D.C."."""
_SAYING = words_of("i we you he she it they i'm i've i'd we're we've")
_ALIKE = 0.5
"""The share of the telling words of a sentence that a fact has which may be meant."""
_UNTELLING = STOP_WORDS | words_of("i m s t ve re d")


def sentence_key(text: str) -> str:
    """The form in which sentences are compared: without case, spaces and the marks around them."""
    return normalise_name(text.strip(_MARKS))


def same_sentence(one: str, other: str) -> bool:
    """Whether two sentences are the same but for case, spaces and the marks around them."""
    return sentence_key(one) == sentence_key(other)


def reads_as_sentence(text: str, relation: str) -> bool:
    """Whether words that are no known name say something, rather than name what a relation leads to.

    They are many, end like a sentence, begin with who does something, or have the words of the relation between others.
    """
    words = text.split()
    if len(words) < SHORTEST_SENTENCE or len(words) > _LONGEST_NAME:
        return len(words) > _LONGEST_NAME
    if _END.search(text) and not _ABBREVIATED.match(words[-1]) and len(words) > SHORTEST_SENTENCE:
        return True
    if words[0].lower().replace("’", "'") in _SAYING and words[1][:1].islower():
        return True
    said = relation_words(relation)
    return f" {said} " in text and not STOP_WORDS.issuperset(said.split())


def nearest_sentences(text: str, facts: Iterable[Fact]) -> Sequence[Fact]:
    """Facts that say most of what a sentence says, the nearest first."""
    asked = _telling(text)
    shares = [(len(asked & _telling(f"{fact.text} {fact.target_name}")) / len(asked), fact) for fact in facts if asked]
    near = [one for one in shares if one[0] >= _ALIKE]
    return [fact for _, fact in sorted(near, key=lambda one: -one[0])]


def _telling(text: str) -> set[str]:
    return {stem(word) for word in fold(text).split() if word not in _UNTELLING}
