"""Chooses the sentence of an episode that answers a query, and how much text is shown around it."""

from collections.abc import Sequence

from graphiti_pkm.core.facts.amounts import amount_of
from graphiti_pkm.core.model.names import fold, search_terms
from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.queries import EpisodeHit
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.core.model.stems import stem
from graphiti_pkm.core.reading.ranking import best_sentence

EXCERPT = 600
"""Characters of an episode shown with a search hit."""
_MATCH = 400
_SURE = 0.3
"""From this cosine on the nearest sentence is shown, whatever its words."""
_DISTINCTIVE = 4
"""Shorter words of a query ("the", "did") count little, unless they contain a digit or are the only words."""
_SEARCHED = 100_000
_TERMS = 32


def matching_sentence(content: str, hit: EpisodeHit | None, terms: Sequence[str]) -> tuple[int, int] | None:
    """Offsets of the best sentence: the nearest in meaning, else the one with most of the words."""
    nearest = (hit.start, hit.end) if hit else None
    if hit and hit.cosine >= _SURE:
        return nearest
    words = _distinctive(terms)
    first = _first_searched(content, words)
    part = content[first : first + _SEARCHED]
    spans = split_passages(part)
    place = best_sentence(words, [part[span.start : span.end] for span in spans])
    return nearest if place is None else (first + spans[place].start, first + spans[place].end)


def supporting_sentence(content: str, fact: Fact, hit: EpisodeHit | None) -> str | None:
    """The sentence that supports a fact: near in meaning, else with most of its words; None if none holds them.

    A sentence that is only near may say another thing of the same kind: "Mood 7/10" does not support a mood of 5/10.
    So it holds what the fact states, and half of its words unless it is near. The name of the source does not count: a
    note about Petra contains it everywhere.
    """
    about = _stems(fact.source_name)
    terms = [word for word in search_terms(fact.text, _TERMS) if stem(word) not in about]
    words, stated = _distinctive(terms), _stated(fact)

    def supports(sentence: str, *, is_near: bool = False) -> bool:
        held = set(map(stem, fold(sentence).split()))
        return stated <= held and ((is_near and bool(stated)) or 2 * len(held & set(map(stem, words))) >= len(words))

    if hit and hit.cosine >= _SURE and supports(nearest := content[hit.start : hit.end], is_near=True):
        return nearest
    sentences = [content[span.start : span.end] for span in split_passages(content)]
    supporting = [sentence for sentence in sentences if supports(sentence)]
    place = best_sentence(words, supporting)
    return None if place is None else supporting[place]


def shown_match(content: str, span: tuple[int, int] | None) -> str | None:
    """The sentence itself, verbatim from its start."""
    return content[span[0] : span[1]][:_MATCH] if span else None


def excerpt(content: str, span: tuple[int, int] | None) -> str:
    """The content around a sentence, cut between words; "…" marks omissions."""
    if len(content) <= EXCERPT:
        return content
    start, end = span or (0, 0)
    first = max(0, min(start, (start + min(end, start + _MATCH) - EXCERPT) // 2, len(content) - EXCERPT))
    last = first + EXCERPT
    if first:
        first = min(_next_space(content, first), start)
    if last < len(content):
        last = max(content.rfind(" ", first, last), first + EXCERPT // 2)
    return f"{'…' if first else ''}{content[first:last].strip()}{'…' if last < len(content) else ''}"


def _stated(fact: Fact) -> set[str]:
    """What a sentence has to hold in any case: the numbers of an amount, or without a value the words of the target.

    Dates are told in many ways, and what the fact's own sentence does not name need not be named in the note.
    """
    if fact.value is None:
        named = set() if fact.target_name == ME else set(_distinctive(search_terms(fact.target_name, _TERMS)))
        return set(map(stem, named)) & _stems(fact.text)
    return {word for word in _stems(fact.value) if not word.isalpha()} if amount_of(fact.value, fact.unit) else set()


def _stems(text: str) -> set[str]:
    return set(map(stem, search_terms(text, _TERMS)))


def _distinctive(terms: Sequence[str]) -> Sequence[str]:
    distinctive = [term for term in terms if len(term) >= _DISTINCTIVE or not (term.isascii() and term.isalpha())]
    return distinctive or terms


def _first_searched(content: str, words: Sequence[str]) -> int:
    """Where the search begins: at the start, unless a very long content has the words only later."""
    if len(content) <= _SEARCHED:
        return 0
    lowered = content.lower()
    at = min((place for word in words if (place := lowered.find(word)) >= 0), default=0)
    if at < _SEARCHED:
        return 0
    return max(at - _MATCH, *(content.rfind(mark, 0, at) + len(mark) for mark in ("\n", ". ")))


def _next_space(content: str, start: int) -> int:
    space = content.find(" ", start, start + EXCERPT // 4)
    return start if space < 0 else space
