"""Counters of fitness beside the graph on Neo4j."""

import logging
from collections.abc import Sequence

from graphiti_pkm.core.model.fitness import Fitness, Usage
from graphiti_pkm.core.ports.usage import Searched
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import usage as queries_usage

_log = logging.getLogger(__name__)


class GraphUsagePart(Part):
    """The port ``GraphUsage``."""

    async def cosines(self, searches: Sequence[Searched]) -> list[dict[str, float]]:
        found: list[dict[str, float]] = [{} for _ in searches]
        if searches:
            for row in await self._rows(queries_usage.cosines(searches)):
                found[row["place"]][row["uuid"]] = row["cosine"]
        return found

    async def send(self, totals: Sequence[Usage], server: str) -> set[str]:
        try:
            found = await (await self._db()).write(queries_usage.send(totals, server))
        except Refused as refused:
            _log.warning("%s", refused)
            raise Unavailable("The database does not take the counters of searches.") from None
        return {row["uuid"] for row in found}

    async def fitness(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Fitness]:
        found = await self._rows(queries_usage.fitness(uuids, group_ids)) if uuids else []
        return {row.pop("uuid"): Fitness(**row) for row in found}
