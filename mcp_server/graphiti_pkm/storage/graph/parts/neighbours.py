"""What stands around episodes and entities: what the capability search ranks by."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from graphiti_pkm.core.model.places import Steps, Stretch
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import neighbours as queries_neighbours
from graphiti_pkm.storage.graph.queries import read as queries_read


class Neighbours(Part):
    """The port ``GraphNeighbours``."""

    async def uuids_in(
        self, stretches: Sequence[Stretch], recorded_until: datetime | None, limit_each: int
    ) -> list[list[str]]:
        wanted = [queries_neighbours.uuids_in(stretch, recorded_until, limit_each) for stretch in stretches]
        return [[row["uuid"] for row in rows] for rows in await self._read(*wanted)]

    async def saga_steps(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Steps]:
        if not uuids:
            return {}
        found = await self._rows(queries_neighbours.saga_steps(uuids, group_ids))
        return {row["uuid"]: Steps(previous=row["previous"], next=row["following"]) for row in found}

    async def followers(
        self, uuids: Sequence[str], wanted: EpisodeFilter, most: int, within: timedelta, count: int
    ) -> dict[str, list[str]]:
        if not uuids:
            return {}
        found = await self._rows(queries_neighbours.followers(uuids, wanted, most, within, count))
        return {row["uuid"]: list(takewhile(bool, row["following"])) for row in found}

    async def mentions_among(self, episode_uuids: Sequence[str], entity_uuids: Sequence[str]) -> dict[str, int]:
        if not episode_uuids or not entity_uuids:
            return {}
        found = await self._rows(queries_neighbours.mentions_among(episode_uuids, entity_uuids))
        return {row["uuid"]: int(row["n"]) for row in found}

    async def has_observations(self, group_ids: Sequence[str]) -> bool:
        return bool(await self._rows(queries_neighbours.an_observation(group_ids)))

    async def fact_distances(self, center_uuid: str, entity_uuids: Sequence[str]) -> dict[str, int]:
        rings = await self._read(*queries_read.distances(center_uuid, entity_uuids))
        distances: dict[str, int] = {}
        for hops, ring in enumerate(rings):
            for row in ring:
                distances.setdefault(row["uuid"], hops)
        return {uuid: distances[uuid] for uuid in entity_uuids if uuid in distances}
