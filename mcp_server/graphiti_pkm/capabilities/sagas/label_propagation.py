"""Groups entities into communities: label propagation as in Graphiti, but one that always terminates."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from uuid import NAMESPACE_URL, uuid5

MOST_COMMUNITIES = 30
MOST_SUMMARIES = 12
"""Members of a community whose summaries a model reads; a group takes at most 360 calls."""
MOST_PAIRS = 20_000
_MOST_ROUNDS = 50
_COMMUNITIES = uuid5(NAMESPACE_URL, "graphiti-pkm/communities")


def communities_uuid(group_id: str) -> str:
    """The uuid that stands for all communities of a group, by which their job is found."""
    return str(uuid5(_COMMUNITIES, group_id))


def clusters(
    pairs: Iterable[tuple[str, str, int]], left_out: Collection[str] = (), most: int = MOST_COMMUNITIES
) -> list[list[str]]:
    """Entities in clusters of two and more, the largest first; in each, those with the most facts inside it first.

    Each entity takes the label that most of its facts lead to, one after the other in the order of their uuids; of
    equal labels it keeps its own. Graphiti changes all of them at once, which may alternate between two states for
    ever. ``left_out``: entities that are connected to everything and join nothing.
    """
    joined: dict[str, dict[str, int]] = defaultdict(dict)
    for one, other, facts in pairs:
        if one not in left_out and other not in left_out:
            joined[one][other] = joined[other][one] = facts
    labels = {uuid: uuid for uuid in sorted(joined)}
    for _ in range(_MOST_ROUNDS):
        changed = False
        for uuid, own in labels.items():
            labels[uuid] = label = _label(joined[uuid], labels, own)
            changed |= label != own
        if not changed:
            break
    found: dict[str, list[str]] = defaultdict(list)
    for uuid, label in labels.items():
        found[label].append(uuid)
    ranked = [_ranked(members, joined) for members in found.values() if len(members) > 1]
    return sorted(ranked, key=lambda members: (-len(members), members))[:most]


def _label(around: dict[str, int], labels: dict[str, str], own: str) -> str:
    counts: Counter[str] = Counter()
    for uuid, facts in around.items():
        counts[labels[uuid]] += facts
    best = max(counts.values())
    alike = {label for label, count in counts.items() if count == best}
    return own if own in alike else max(alike)


def _ranked(members: list[str], joined: dict[str, dict[str, int]]) -> list[str]:
    inside = frozenset(members)
    facts = {uuid: sum(n for other, n in joined[uuid].items() if other in inside) for uuid in members}
    return sorted(members, key=lambda uuid: (-facts[uuid], uuid))
