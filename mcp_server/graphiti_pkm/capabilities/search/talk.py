"""Ranks messages by what has been talked about up to them. Pure."""

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta

from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.stems import StemCounts, stem

_HALF_LIFE = timedelta(minutes=1)
"""After which what was said counts half."""
_NEXT = 0.5
_K1 = 1.2
_STEEPNESS = 1.5
"""How much more a rare word counts than by its rarity alone: one alone tells a talk from all others, and five common
ones do not."""
_FAINT = 0.001
"""Less is left of a word after ten minutes; it is no longer counted."""
_UNHEARD = 0.5
"""Episodes taken to have a word that none has: what nobody said leaves more to meaning."""


def talk_weights(terms: Sequence[str], held: Mapping[str, int]) -> dict[str, float]:
    """By stem: the fewer episodes have a word than have the words of the query together, the more it counts."""
    total = sum(held.values())
    return {
        stem(term): math.log1p(total / held.get(term, _UNHEARD)) ** _STEEPNESS
        for term in sorted(terms, key=lambda term: -held.get(term, 0))
    }


def talk_shares(
    weights: Mapping[str, float],
    counts: Mapping[str, StemCounts],
    messages: Mapping[str, Place],
    followers: Mapping[str, str],
) -> dict[str, float]:
    """How much of the query was said in each message and before it, from 0 to 1.

    BM25 without regard to length, where a word said before counts as if it stood in the message, and less the longer
    ago; to the very next message (``followers``) at least a half of it, however long that took. Only candidates are
    looked at, as they are read already.
    """
    possible = sum(weights.values()) * (_K1 + 1) or 1.0
    gains = {word: weight * (_K1 + 1) / possible for word, weight in weights.items()}
    shares: dict[str, float] = {}
    heard: dict[str, float] = {}
    last: Place | None = None
    for uuid in sorted(messages, key=lambda uuid: (messages[uuid].group_id, messages[uuid].order)):
        place = messages[uuid]
        fading = _fading(last, place) if last else 0.0
        if last and followers.get(last.uuid) == uuid:
            fading = max(fading, _NEXT)
        heard = {word: left for word, often in heard.items() if (left := often * fading) > _FAINT}
        for word, count in counts[uuid].counts.items() if uuid in counts else ():
            if word in gains:
                heard[word] = heard.get(word, 0.0) + count
        share = 0.0
        for word, often in heard.items():
            share += gains[word] * often / (often + _K1)
        shares[uuid] = share
        last = place
    return shares


def _fading(last: Place, place: Place) -> float:
    """How much of what was said up to one message still counts in the next.

    Of messages of one instant, as some programs export them, nobody knows how far apart they were.
    """
    if last.group_id != place.group_id:
        return 0.0
    return 0.5 ** ((place.valid_at - last.valid_at) / _HALF_LIFE) if place.valid_at > last.valid_at else _NEXT
