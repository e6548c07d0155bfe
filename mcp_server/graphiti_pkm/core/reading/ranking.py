"""Search scores: word scores over the pool, fusion with cosines, and where a page starts. Pure."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from graphiti_pkm.core.model.names import fold
from graphiti_pkm.core.model.stems import stem
from graphiti_pkm.core.reading.paging import Key

Ranking: TypeAlias = list[tuple[str, float]]
"""Uuids with scores, best first."""
WordCounts: TypeAlias = "Mapping[str, Counter[str]]"
"""Stems of documents with their counts, by uuid."""

MIN_COSINE = 0.15
"""Below this cosine MiniLM sees no similarity: related pairs tried by hand had at least 0.22, nearly all unrelated
sentences less than 0.15. Such records are found by their words only."""
WEAK = 0.2
"""A share of the best score, which counts as at most 1: below it a ranked list ends. In the examples every fact that
answered a query had more, and most of what was only near in meaning had less."""
NEAR_NAME = 0.4
"""Below this cosine MiniLM sees any two short names as alike: in the two conversations that were tried, what fitted a
query without its words had at least 0.41, and each of 38 queries was nearer than 0.2 to a dozen names."""
_SHOWN_FAINT = 3
_FIRST = 0.1
NO_TIES: Mapping[str, float] = {}
LIFT = {0: 0.3, 1: 0.2, 2: 0.1}
"""What a fused score gains by its distance in hops from the centre."""

_TEXT_WEIGHT = 0.5
_FLOOR = 0.05
"""Word score, relative to the best, of a hit whose words only the database's stemmer matched."""
_K1 = 1.2
_B = 0.75
_SCORED_CHARS = 50_000
_SCALE = 1_000_000


@dataclass(frozen=True)
class Scores:
    """Scores by uuid, after each step that led to them; the last ones rank."""

    steps: dict[str, dict[str, float]] = field(default_factory=dict)
    is_cut: bool = False
    """True if words or meaning filled their part of the pool, so there may be more."""
    unboosted: Mapping[str, float] = field(default_factory=dict)
    """The scores before a boost by fitness, if there was one; they decide between equal ones."""

    @property
    def by_uuid(self) -> dict[str, float]:
        """Those that rank."""
        return next(reversed(self.steps.values()), {})

    def then(self, step: str, scores: dict[str, float]) -> "Scores":
        """Followed by another step."""
        return replace(self, steps={**self.steps, step: scores})

    def why(self, uuid: str) -> dict[str, float]:
        """What each step added to the score of a record, or took from it; steps that changed nothing are left out."""
        parts, before = {}, 0.0
        for step, scores in self.steps.items():
            after = scores.get(uuid, 0.0)
            parts[step] = round(after - before, 3)
            before = after
        return {step: part for step, part in parts.items() if part}


def stem_counts(documents: Mapping[str, str]) -> WordCounts:
    """The words of each document."""
    return {uuid: Counter(map(stem, fold(text[:_SCORED_CHARS]).split())) for uuid, text in documents.items()}


def word_scores(terms: Sequence[str], documents: Mapping[str, str]) -> dict[str, float]:
    """As ``scores_of_words``, of texts."""
    return scores_of_words(terms, stem_counts(documents))


def holding_all(terms: Sequence[str], counts: WordCounts) -> list[str]:
    """Documents that hold every word."""
    wanted = set(map(stem, terms))
    return [uuid for uuid, words in counts.items() if wanted <= words.keys()]


def scores_of_words(terms: Sequence[str], counts: WordCounts) -> dict[str, float]:
    """BM25 of each document over this pool; always more than 0, because the database found the document.

    Robertson and Zaragoza 2009 with k1 1.2, b 0.75; document frequencies are those of the pool, so that what
    other groups hold has no influence.
    """
    if not counts:
        return {}
    lengths = {uuid: sum(words.values()) for uuid, words in counts.items()}
    average = max(sum(lengths.values()) / len(lengths), 1)
    scores = dict.fromkeys(counts, 0.0)
    for term in dict.fromkeys(map(stem, terms)):
        having = sum(term in words for words in counts.values())
        rarity = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
        for uuid, words in counts.items():
            often = words[term]
            scores[uuid] += rarity * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * lengths[uuid] / average))
    floor = max(scores.values()) * _FLOOR or 1.0
    return {uuid: max(score, floor) for uuid, score in scores.items()}


def by_words_alone(words: Mapping[str, float], *, only_words: bool) -> dict[str, float]:
    """What the words of each record add to its fused score."""
    best = max(words.values(), default=1.0) / (1 if only_words else _TEXT_WEIGHT)
    return {uuid: score / best for uuid, score in words.items()}


def fuse(words: Mapping[str, float], cosines: Mapping[str, float], *, only_words: bool) -> dict[str, float]:
    """Convex combination of min-max normalised scores, 0 to 1; a record that only one side found gets 0 for the other.

    The minimum word score is 0, that of records without the words, and the minimum cosine is MIN_COSINE: with the
    minimum of the pool instead, the second of two near records would count as unrelated.
    """
    by_words = by_words_alone(words, only_words=only_words)
    if only_words:
        return by_words
    near = {uuid: cosine for uuid, cosine in cosines.items() if cosine > MIN_COSINE}
    span = max(near.values(), default=1.0) - MIN_COSINE
    by_meaning = {uuid: (cosine - MIN_COSINE) / span for uuid, cosine in near.items()}
    return {
        uuid: by_words.get(uuid, 0.0) + (1 - _TEXT_WEIGHT) * by_meaning.get(uuid, 0.0)
        for uuid in by_words.keys() | by_meaning.keys()
    }


def floor_of(scores: Iterable[float], share: float = WEAK) -> float:
    """The least score that is not weak; scores above 1 are of records that were named."""
    return share * min(max(scores, default=0.0), 1.0)


def kept_above(scores: Mapping[str, float], sure: Iterable[str]) -> dict[str, float]:
    """Scores in which nothing that surely fits is weak; in its own order, just above the floor."""
    floor = floor_of(scores.values())
    return {**scores, **{uuid: floor * (1 + scores[uuid]) for uuid in sure if scores[uuid] < floor}}


def put_first(scores: Mapping[str, float], uuids: Iterable[str]) -> dict[str, float]:
    """Scores in which these stand just above all others, in their own order."""
    best = max(scores.values(), default=0.0)
    return {**scores, **{uuid: best + _FIRST * (1 + scores.get(uuid, 0.0)) for uuid in uuids}}


def faded(scores: Mapping[str, float], sure: Collection[str]) -> dict[str, float]:
    """Scores in which all that is not sure is weak, in its order; where nothing is sure, all but the first few."""
    floor = floor_of(scores.values())
    kept = set(sure).intersection(scores) or {uuid for uuid, _ in ranked(scores)[:_SHOWN_FAINT]}
    return {uuid: score if uuid in kept or score < floor else floor * min(score, 1.0) for uuid, score in scores.items()}


def ranked(scores: Mapping[str, float], ties: Mapping[str, float] = NO_TIES) -> Ranking:
    """Best first; equal ones by ``ties``, the highest first, and then by uuid."""
    return sorted(scores.items(), key=lambda item: (-item[1], -ties.get(item[0], 0.0), item[0]))


def lifted(scores: Mapping[str, float], distances: Mapping[str, int]) -> dict[str, float]:
    """Scores raised by nearness to a centre, in hops."""
    return {
        uuid: score + (LIFT.get(distances[uuid], 0.0) if uuid in distances else 0.0) for uuid, score in scores.items()
    }


def key_of(uuid: str, score: float) -> Key:
    """The sort key of a ranked record."""
    return (round(-score * _SCALE), uuid)


def items_after(ranking: Ranking, after: Key | None) -> Ranking:
    """Everything after the last record seen, or after its position if it was deleted meanwhile."""
    if after is None:
        return ranking
    for place, (uuid, _) in enumerate(ranking):
        if uuid == after[-1]:
            return ranking[place + 1 :]
    return [(uuid, score) for uuid, score in ranking if key_of(uuid, score) > after]


def best_sentence(terms: Sequence[str], sentences: Sequence[str]) -> int | None:
    """Index of the sentence with most of the words, the shortest of equals; None if none has any."""
    wanted = set(map(stem, terms))
    scored = [(-len(wanted & set(map(stem, fold(text).split()))), len(text), i) for i, text in enumerate(sentences)]
    hits, _, place = min(scored, default=(0, 0, 0))
    return place if hits else None
