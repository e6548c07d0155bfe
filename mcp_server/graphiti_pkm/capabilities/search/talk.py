"""Ranks messages by what is talked about around them. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.stems import StemCounts

_HALF_LIFE = timedelta(minutes=1)
"""After which what was said counts half; the same for everybody, so that no other reads are needed."""
_K1 = 1.2


def talk_shares(
    rarities: Mapping[str, float],
    counts: Mapping[str, StemCounts],
    cosines: Mapping[str, float],
    messages: Mapping[str, Place],
) -> dict[str, float]:
    """How much the talk around each message is about the query, from 0 to 1: the mean of words and meaning.

    What was said before and after counts less the longer ago: of the words as if it stood in the message, without
    regard to its length; of the meaning, how much nearer than the farthest candidate the nearest message before was.
    Only candidates are looked at, as they are read already.
    """
    order = sorted(messages, key=lambda uuid: (messages[uuid].group_id, messages[uuid].order))
    said = {uuid: counts[uuid].counts if uuid in counts else {} for uuid in order}
    heard = _heard(order, said, messages)
    for uuid, others in _heard(order[::-1], said, messages).items():
        for word, often in others.items():
            heard[uuid][word] += often - said[uuid].get(word, 0)
    possible = sum(rarities.values()) * (_K1 + 1) or 1.0
    near = _nearness_before(order, cosines, messages)
    return {
        uuid: sum(
            (
                near[uuid],
                *(
                    rarities[word] * often * (_K1 + 1) / (often + _K1) / possible
                    for word, often in sorted(heard[uuid].items())
                    if word in rarities
                ),
            )
        )
        / 2
        for uuid in order
    }


def _heard(
    order: Sequence[str], said: Mapping[str, Mapping[str, int]], messages: Mapping[str, Place]
) -> dict[str, defaultdict[str, float]]:
    """The counts of words of each message and of those before it in this order."""
    heard: dict[str, defaultdict[str, float]] = {}
    before: Mapping[str, float] = {}
    for uuid, fading in _fading(order, messages):
        heard[uuid] = defaultdict(float, {word: often * fading for word, often in before.items()} if fading else {})
        for word, often in said[uuid].items():
            heard[uuid][word] += often
        before = heard[uuid]
    return heard


def _nearness_before(
    order: Sequence[str], cosines: Mapping[str, float], messages: Mapping[str, Place]
) -> dict[str, float]:
    least = min(cosines.values(), default=0.0)
    found: dict[str, float] = {}
    nearest = 0.0
    for uuid, fading in _fading(order, messages):
        found[uuid] = nearest * fading
        nearest = max(found[uuid], cosines.get(uuid, least) - least)
    return found


def _fading(order: Sequence[str], messages: Mapping[str, Place]) -> Iterator[tuple[str, float]]:
    """Each message, and how much of what was said up to the one before still counts."""
    last: Place | None = None
    for uuid in order:
        place = messages[uuid]
        is_same = last is not None and last.group_id == place.group_id
        yield uuid, 0.5 ** (abs(place.valid_at - last.valid_at) / _HALF_LIFE) if last and is_same else 0.0
        last = place
