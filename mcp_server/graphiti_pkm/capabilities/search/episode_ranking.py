"""Ranks episodes by a weighted sum of signals from 0 to 1, plus what their neighbours contribute. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from graphiti_pkm.core.model.places import Steps
from graphiti_pkm.core.model.stems import StemCounts, stem, stems_of
from graphiti_pkm.core.reading.ranking import Scores
from graphiti_pkm.settings.weights import EpisodeWeights

_K1 = 1.2
_B = 0.75
_FLOOR = 0.02
"""Share of an episode whose words only the database's stemmer matched."""
_DAYS_BEST = 3


@dataclass(frozen=True)
class Signs:
    """The signals of each episode, by uuid; a missing entry counts as 0."""

    words: Mapping[str, float]
    cosines: Mapping[str, float]
    dates: Mapping[str, float] = field(default_factory=dict)
    entities: Mapping[str, float] = field(default_factory=dict)
    talk: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Surroundings:
    """Surroundings of the best episodes: the ones before and after each, and those of its day."""

    steps: Mapping[str, Steps] = field(default_factory=dict)
    days: Mapping[str, Hashable] = field(default_factory=dict)


def unknown_terms(terms: Sequence[str], counts: Mapping[str, StemCounts]) -> list[str]:
    """Terms that no document contains."""
    known = {word for one in counts.values() for word in one.counts}
    return [term for term in terms if stem(term) not in known]


def holding_parts(counts: Mapping[str, StemCounts]) -> dict[str, StemCounts]:
    """Documents with words that contain what was asked for, which count as if it stood beside them; no others."""
    return {
        uuid: joined(one, StemCounts(sum(one.inside.values()), one.inside))
        for uuid, one in counts.items()
        if one.inside
    }


def joined(one: StemCounts, other: StemCounts) -> StemCounts:
    """The counts of two texts together."""
    return StemCounts(
        one.length + other.length,
        {word: one.counts.get(word, 0) + other.counts.get(word, 0) for word in one.counts.keys() | other.counts.keys()},
    )


def word_shares(terms: Sequence[str], counts: Mapping[str, StemCounts]) -> dict[str, float]:
    """BM25 of each document over these documents, as a share of the maximum for these words.

    A share rather than a rank: if the words of a question hardly occur, the best document by words says little, and its
    meaning should decide. Robertson and Zaragoza 2009 with k1 1.2 and b 0.75.
    """
    if not counts:
        return {}
    average = max(sum(one.length for one in counts.values()) / len(counts), 1)
    rarities = rarities_of(terms, counts)
    possible = sum(rarity * (_K1 + 1) for rarity in rarities.values())
    shares: dict[str, float] = {}
    for uuid, one in counts.items():
        if not one.counts:
            shares[uuid] = _FLOOR
            continue
        damping = _K1 * (1 - _B + _B * one.length / average)
        score = 0.0
        for word, rarity in rarities.items():
            if often := one.counts.get(word):
                score += rarity * often * (_K1 + 1) / (often + damping)
        shares[uuid] = max(score / possible, _FLOOR) if possible else _FLOOR
    return shares


def rarities_of(terms: Sequence[str], counts: Mapping[str, StemCounts]) -> dict[str, float]:
    """By stem: the fewer of the documents have it, the more it counts."""
    having = Counter(word for one in counts.values() for word in one.counts)
    return {word: math.log(1 + (len(counts) - having[word] + 0.5) / (having[word] + 0.5)) for word in stems_of(terms)}


def own_scores(signs: Signs, weights: EpisodeWeights, possible: float, in_talk: float = 1.0) -> Scores:
    """The weighted sum of what speaks for each episode itself, as a share of ``possible``.

    Of a message (a key of ``signs.talk``) it is a share of ``in_talk``: a note, which has nothing said before it, loses
    nothing by that beside messages.
    """
    limits = dict.fromkeys(signs.talk, in_talk)
    weighed = {
        "words": (signs.words, weights.words),
        "meaning": (signs.cosines, weights.meaning),
        "date": (signs.dates, weights.date),
        "entity": (signs.entities, weights.entity),
        "talk": (signs.talk, weights.talk),
    }
    found = Scores()
    for step, (sign, weight) in weighed.items():
        before = found.by_uuid
        scores = before | {
            uuid: before.get(uuid, 0.0) + weight * value / limits.get(uuid, possible) for uuid, value in sign.items()
        }
        found = found.then(step, scores)
    return found


def with_surroundings(own: Scores, around: Surroundings, weights: EpisodeWeights) -> Scores:
    """Own scores, then with what the neighbours and the others of the day add."""
    scores = own.by_uuid
    by_day: dict[Hashable, list[tuple[float, str]]] = defaultdict(list)
    for uuid, day in around.days.items():
        if uuid in scores:
            by_day[day].append((scores[uuid], uuid))
    best = {day: sorted(scored, reverse=True)[: _DAYS_BEST + 1] for day, scored in by_day.items()}
    beside, lifted = dict(scores), dict(scores)
    for uuid in around.days.keys() | around.steps.keys():
        if uuid not in scores:
            continue
        score = scores[uuid]
        step = around.steps.get(uuid, Steps())
        neighbour = max(scores.get(step.previous or "", 0.0), scores.get(step.next or "", 0.0))
        others = [value for value, other in best.get(around.days.get(uuid), ()) if other != uuid][:_DAYS_BEST]
        beside[uuid] = score + weights.neighbour * neighbour
        lifted[uuid] = beside[uuid] + weights.day * sum(others) / _DAYS_BEST
    return own.then("neighbour", beside).then("day", lifted)


def possible_score(weights: EpisodeWeights, *, meaning: bool, dates: bool, entities: bool, talk: bool = False) -> float:
    """The weighted sum for an episode for which every signal of this query is 1, its surroundings included."""
    own = (
        weights.words
        + (weights.meaning if meaning else 0.0)
        + (weights.date if dates else 0.0)
        + (weights.entity if entities else 0.0)
        + (weights.talk if talk else 0.0)
    )
    return own * (1 + weights.neighbour + weights.day) or 1.0


def best_of(scores: Mapping[str, float], count: int) -> list[str]:
    """Uuids, best first."""
    return sorted(scores, key=lambda uuid: (-scores[uuid], uuid))[:count]


def steps_in(order: Sequence[str], wanted: Collection[str]) -> dict[str, Steps]:
    """The neighbours before and after each wanted uuid of a sequence."""
    return {
        uuid: Steps(
            previous=order[place - 1] if place else None, next=order[place + 1] if place + 1 < len(order) else None
        )
        for place, uuid in enumerate(order)
        if uuid in wanted
    }
