"""Uuids of sagas, and chains of episodes when some of them go."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import NAMESPACE_URL, uuid5

from graphiti_pkm.core.model.names import name_key

_SAGAS = uuid5(NAMESPACE_URL, "graphiti-pkm/saga")


def saga_uuid(group_id: str, name: str) -> str:
    """The uuid of a saga: equal for equal names in any spelling, whoever creates it first."""
    return str(uuid5(_SAGAS, name_key(group_id, name)))


def closing_links(links: Iterable[tuple[str, str]], gone: Sequence[str]) -> list[tuple[str, str]]:
    """New links that close a chain when episodes are removed: from each remaining one to the next remaining ones."""
    after: dict[str, list[str]] = defaultdict(list)
    starts: dict[str, None] = {}
    for previous, following in links:
        after[previous].append(following)
        if previous not in gone:
            starts[previous] = None
    return [(start, end) for start in starts for end in _next_remaining(start, after, frozenset(gone)) if end != start]


def _next_remaining(start: str, after: dict[str, list[str]], gone: frozenset[str]) -> list[str]:
    """The next remaining episodes behind at least one removed."""
    ends: dict[str, None] = {}
    seen: set[str] = set()
    waiting = [one for one in after[start] if one in gone]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for following in after[one]:
            if following in gone:
                waiting.append(following)
            else:
                ends[following] = None
    return list(ends)
