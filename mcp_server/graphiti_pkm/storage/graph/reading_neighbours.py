"""The port ``GraphNeighbours``."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.times import as_utc
from graphiti_pkm.core.ports.neighbours import Place, Steps, Stretch
from graphiti_pkm.storage.graph.queries import neighbours as queries_neighbours
from graphiti_pkm.storage.graph.queries.values import Row
from graphiti_pkm.storage.graph.reading import Connected


class Neighbours(Connected):
    """The part of the graph that knows what stands around an episode."""

    async def episode_places(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Place]:
        if not uuids:
            return {}
        (found,) = await (await self._db()).read(queries_neighbours.places(uuids, group_ids))
        return {row["uuid"]: _place(row) for row in found}

    async def places_in(
        self, stretches: Sequence[Stretch], recorded_until: datetime | None, limit_each: int
    ) -> list[list[Place]]:
        wanted = [queries_neighbours.places_in(stretch, recorded_until, limit_each) for stretch in stretches]
        return [list(map(_place, rows)) for rows in await (await self._db()).read(*wanted)]

    async def same_text(self, stretch: Stretch, content: str) -> str | None:
        (found,) = await (await self._db()).read(queries_neighbours.same_text(stretch, content))
        return next((str(row["uuid"]) for row in found), None)

    async def saga_steps(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Steps]:
        if not uuids:
            return {}
        (found,) = await (await self._db()).read(queries_neighbours.saga_steps(uuids, group_ids))
        return {row["uuid"]: Steps(previous=row["previous"], next=row["following"]) for row in found}

    async def mentions_among(self, episode_uuids: Sequence[str], entity_uuids: Sequence[str]) -> dict[str, int]:
        if not episode_uuids or not entity_uuids:
            return {}
        (found,) = await (await self._db()).read(queries_neighbours.mentions_among(episode_uuids, entity_uuids))
        return {row["uuid"]: int(row["n"]) for row in found}

    async def own_mentions(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        if not entity_uuids:
            return {}
        (found,) = await (await self._db()).read(queries_neighbours.own_mentions(entity_uuids, limit_each))
        return {row["uuid"]: row["episodes"] for row in found}


def _place(row: Row) -> Place:
    return Place(
        uuid=row["uuid"],
        group_id=row["group_id"],
        valid_at=as_utc(datetime.fromisoformat(row["va"])),
        created_at=as_utc(datetime.fromisoformat(row["ca"])),
    )
