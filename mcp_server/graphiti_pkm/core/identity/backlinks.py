"""Links an entity to earlier episodes of its group that name it."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import NAMESPACE_URL, uuid5

from graphiti_pkm.core.model.records import Episode, Mention
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.waiting import in_thread

AT_ONCE = 200
"""Episodes linked within one write; a job links the rest."""

_EXAMINED_AT_ONCE = 200
_ROUNDS = 5
"""Bounds the work for a name that full text finds often and the mention rules rarely accept."""


@dataclass(frozen=True)
class BackLinks:
    """Episodes that name an entity, by uuid; ``next_after`` is where to continue, None once all were examined."""

    episode_uuids: tuple[str, ...]
    next_after: str | None


class ReadTexts:
    """Which entities each text names by the mention rules: read in a thread, once for all entities looked for."""

    def __init__(self, mentioned: Callable[[str], Collection[str]]) -> None:
        self._mentioned = mentioned
        self._read: dict[str, asyncio.Future[Collection[str]]] = {}

    async def names(self, content: str, entity_uuid: str) -> bool:
        """Whether a text names an entity itself, and not another one with a longer name."""
        if content not in self._read:
            self._read[content] = asyncio.ensure_future(in_thread(self._mentioned, content))
        return entity_uuid in await self._read[content]


async def find_back_links(
    graph: Graph,
    group_id: str,
    entity_uuid: str,
    names: Sequence[str],
    before: datetime,
    texts: ReadTexts,
    *,
    after: str | None = None,
    limit: int = AT_ONCE,
) -> BackLinks:
    """Episodes recorded before an instant whose content names the entity, at most ``limit``.

    ``names`` are the entity's name and aliases, which the graph looks for; ``texts`` decides which contents name it.
    """
    found: list[str] = []
    for _ in range(_ROUNDS):
        candidates, horizon = await _candidates(graph, group_id, names, before, after)
        for episode in candidates:
            if await texts.names(episode.content, entity_uuid):
                if len(found) == limit:
                    return BackLinks(tuple(found), after)
                found.append(episode.uuid)
            after = episode.uuid
        if horizon is None:
            return BackLinks(tuple(found), None)
        after = horizon
    return BackLinks(tuple(found), after)


def back_link(entity_uuid: str, episode_uuid: str, now: datetime) -> Mention:
    """The mention; its uuid is derived from both ends, so that repeating a batch changes nothing."""
    uuid = uuid5(NAMESPACE_URL, f"mention:{episode_uuid}:{entity_uuid}")
    return Mention(uuid=str(uuid), episode_uuid=episode_uuid, entity_uuid=entity_uuid, created_at=now)


async def _candidates(
    graph: Graph, group_id: str, names: Sequence[str], before: datetime, after: str | None
) -> tuple[list[Episode], str | None]:
    """The next candidates for all names by uuid, and up to where they are complete (None: to the end)."""
    found: dict[str, Episode] = {}
    horizon: str | None = None
    for name in names:
        episodes = await graph.search.episodes_naming(
            group_id, name, before, after, _EXAMINED_AT_ONCE, only_linking=True
        )
        found.update((episode.uuid, episode) for episode in episodes)
        if len(episodes) == _EXAMINED_AT_ONCE:
            last = episodes[-1].uuid
            horizon = last if horizon is None else min(horizon, last)
    complete = sorted(uuid for uuid in found if horizon is None or uuid <= horizon)
    return [found[uuid] for uuid in complete], horizon
