"""Observations and the relations between entities: what the capability compat asks."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import observations as queries


class Observations(Part):
    """The port ``GraphObservations``."""

    async def known_observations(self, group_id: str, wanted: Sequence[tuple[str, str]]) -> list[Fact]:
        return list(map(mapping.fact, await self._rows(queries.known(group_id, wanted))))

    async def observations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit_each: int
    ) -> dict[str, tuple[list[str], int]]:
        found = await self._rows(queries.observations(entity_uuids, group_ids, now, limit_each))
        return {row["uuid"]: (list(row["texts"]), int(row["total"])) for row in found}

    async def observed(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        return {row["uuid"]: row["value"] for row in await self._rows(queries.observed(fact_uuids, group_ids))}

    async def names(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        return {row["uuid"]: row["value"] for row in await self._rows(queries.names(entity_uuids, group_ids))}

    async def relations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit: int, *, within: bool
    ) -> tuple[list[Fact], int]:
        asked = queries.relations(entity_uuids, group_ids, now, limit, within=within)
        page, total = await self._read(*asked)
        return list(map(mapping.fact, page)), int(total[0]["total"])

    async def relation_counts(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime
    ) -> dict[str, int]:
        found = await self._rows(queries.relation_counts(entity_uuids, group_ids, now))
        return {row["uuid"]: int(row["n"]) for row in found}

    async def of_type(self, words: Sequence[str], group_ids: Sequence[str], limit: int) -> list[str]:
        return [row["uuid"] for row in await self._rows(queries.of_type(words, group_ids, limit))]

    async def holding(self, text: str, group_ids: Sequence[str], now: datetime, limit: int) -> tuple[list[str], int]:
        (row,) = await self._rows(queries.holding(text, group_ids, now, limit))
        return list(row["uuids"]), int(row["total"])
