"""The part ``sagas``: sagas and the chains of their episodes."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.core.model.saga_records import Saga, SagaMembers
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import sagas as queries_sagas
from graphiti_pkm.storage.graph.queries.values import Row


class Sagas(Part):
    """The port ``GraphSagas``."""

    async def find_sagas(self, group_id: str, uuids: Sequence[str], name: str) -> list[Saga]:
        found = await self._rows(queries_sagas.find(group_id, uuids, name))
        return list(map(_saga, found))

    async def listed(self, group_id: str, window: Window) -> list[Saga]:
        return list(map(_saga, await self._rows(queries_sagas.listed(group_id, window))))

    async def latest_of_saga(self, saga_uuid: str) -> str | None:
        found = await self._rows(queries_sagas.latest(saga_uuid))
        return found[0]["uuid"] if found else None

    async def episodes_of_saga(self, saga_uuid: str, recorded_after: datetime | None, limit: int) -> list[Episode]:
        found = await self._rows(queries_sagas.episodes(saga_uuid, recorded_after, limit))
        return [mapping.episode(row) for row in found]

    async def sagas_of_episodes(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], without: Sequence[str]
    ) -> list[SagaMembers]:
        if not episode_uuids:
            return []
        found = await self._rows(queries_sagas.holding(episode_uuids, group_ids, without))
        return [SagaMembers(saga=_saga(row), first_remaining=row["first"], last_remaining=row["last"]) for row in found]

    async def links_around(self, episode_uuids: Sequence[str]) -> list[tuple[str, str]]:
        if not episode_uuids:
            return []
        found = await self._rows(queries_sagas.links(episode_uuids))
        return [(row["previous"], row["following"]) for row in found]


def _saga(row: Row) -> Saga:
    """A saga, written by any program, so any of its values may be missing."""
    texts = {key: row[key] or "" for key in ("uuid", "group_id", "name", "summary")}
    instants = {
        key: mapping.instant(row[key]) if row[key] else None
        for key in ("last_summarized_at", "last_summarized_episode_valid_at")
    }
    ends = {key: row[key] for key in ("first_episode_uuid", "last_episode_uuid")}
    return Saga(**texts, **ends, **instants, created_at=mapping.instant(row["created_at"] or mapping.EPOCH))
