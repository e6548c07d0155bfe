"""Sagas and communities: what the graph tells of them, and the rules that need nothing but uuids."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol
from uuid import NAMESPACE_URL, uuid5

from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Episode, Record
from graphiti_pkm.core.model.saga_records import Community, Saga

_SAGAS = uuid5(NAMESPACE_URL, "graphiti-pkm/saga")


class SagaMembers(Record):
    """A saga that holds some episodes, with the first and last recorded of its others."""

    saga: Saga
    first_remaining: str | None = None
    """None: it holds no others."""
    last_remaining: str | None = None


class GraphSagas(Protocol):
    """Reads of sagas and communities."""

    async def find_sagas(self, group_id: str, uuid: str, name: str) -> list[Saga]:
        """The saga with this uuid and those of exactly this name, oldest first, at most ten."""
        ...

    async def latest_of_saga(self, saga_uuid: str) -> str | None:
        """The episode that another one would follow: the latest in time, of several the last recorded."""
        ...

    async def episodes_of_saga(self, saga_uuid: str, recorded_after: datetime | None, limit: int) -> list[Episode]:
        """Of the saga's own group, as they were recorded, oldest first."""
        ...

    async def sagas_of_episodes(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], without: Sequence[str]
    ) -> list[SagaMembers]:
        """Sagas that hold any of the episodes, by uuid; the others that they hold are those not in ``without``."""
        ...

    async def links_around(self, episode_uuids: Sequence[str]) -> list[tuple[str, str]]:
        """All links from and to the episodes, as previous and next, in order of their uuids."""
        ...

    async def joined_entities(self, group_id: str, limit: int) -> list[tuple[str, str, int]]:
        """Pairs of entities with how many facts join them, corrected ones not counted; most first, then by uuids."""
        ...

    async def communities(self, group_ids: Sequence[str], limit: int) -> list[Community]:
        """Those with the most members first, then by uuid."""
        ...


def saga_uuid(group_id: str, name: str) -> str:
    """The same for the same name, whoever makes it first and however it is spelt."""
    return str(uuid5(_SAGAS, name_key(group_id, name)))


def closing_links(links: Iterable[tuple[str, str]], gone: Sequence[str]) -> list[tuple[str, str]]:
    """What joins the ends of a chain when episodes go: each that stays to the next ones that stay."""
    after: dict[str, list[str]] = defaultdict(list)
    starts: dict[str, None] = {}
    for previous, following in links:
        after[previous].append(following)
        if previous not in gone:
            starts[previous] = None
    return [(start, end) for start in starts for end in _next_remaining(start, after, frozenset(gone)) if end != start]


def _next_remaining(start: str, after: dict[str, list[str]], gone: frozenset[str]) -> list[str]:
    """Beyond at least one that goes."""
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
