"""Full text and vectors: hits by uuid, best first."""

import math
from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.domain.queries import EntityFilter, EpisodeFilter, EpisodeHit, FactFilter
from graphiti_pkm.domain.records import Episode, Vector
from graphiti_pkm.errors import EmbeddingMismatch
from graphiti_pkm.graph import mapping, queries_search
from graphiti_pkm.graph.queries_values import Query
from graphiti_pkm.graph.reading import Connected


def is_direction(vector: Vector) -> bool:
    """False for a zero vector and for one with infinities: its cosine with anything is no number."""
    length = math.fsum(value * value for value in vector)
    return math.isfinite(length) and length > 0


class Searches(Connected):
    """The part of ``GraphReader`` that ranks. Vectors are compared exactly, inside the groups asked for."""

    async def _dimension(self) -> int | None:
        """Of the vectors in the database, None while there are none."""
        raise NotImplementedError

    async def episodes_naming(
        self, group_id: str, name: str, before: datetime, after: str | None, limit: int
    ) -> list[Episode]:
        query = queries_search.episodes_naming(group_id, name, before, after, limit)
        (found,) = await (await self._db()).read(query)
        return list(map(mapping.episode, found))

    async def search_entities(self, terms: Sequence[str], wanted: EntityFilter, limit: int) -> dict[str, float]:
        return await self._scores(queries_search.search_entities(terms, wanted, limit))

    async def search_facts(self, terms: Sequence[str], wanted: FactFilter, limit: int) -> dict[str, float]:
        return await self._scores(queries_search.search_facts(terms, wanted, limit))

    async def search_episodes(self, terms: Sequence[str], wanted: EpisodeFilter, limit: int) -> dict[str, float]:
        return await self._scores(queries_search.search_episodes(terms, wanted, limit))

    async def nearest_entities(self, vector: Vector, wanted: EntityFilter, limit: int) -> dict[str, float]:
        if not await self._is_comparable(vector):
            return {}
        return await self._scores(queries_search.nearest_entities(vector, wanted, limit))

    async def nearest_facts(self, vector: Vector, wanted: FactFilter, limit: int) -> dict[str, float]:
        if not await self._is_comparable(vector):
            return {}
        return await self._scores(queries_search.nearest_facts(vector, wanted, limit))

    async def nearest_episodes(self, vector: Vector, wanted: EpisodeFilter, limit: int) -> dict[str, EpisodeHit]:
        if not await self._is_comparable(vector):
            return {}
        (found,) = await (await self._db()).read(queries_search.nearest_episodes(vector, wanted, limit))
        hits: dict[str, EpisodeHit] = {}
        for row in found:
            hits.setdefault(row["uuid"], EpisodeHit(cosine=row["score"], start=row["start"], end=row["end"]))
        return hits

    async def _scores(self, query: Query | None) -> dict[str, float]:
        if query is None:
            return {}
        (found,) = await (await self._db()).read(query)
        return {row["uuid"]: float(row["score"]) for row in found}

    async def _is_comparable(self, vector: Vector) -> bool:
        """False when nothing can be near. Raises EmbeddingMismatch for another dimension than the database's."""
        dimension = await self._dimension()
        if dimension is not None and dimension != len(vector):
            raise EmbeddingMismatch(
                f"The database holds vectors of {dimension} dimensions, the search has {len(vector)}: "
                "another embedding model wrote it. `graphiti-pkm doctor` says what to do."
            )
        return dimension is not None and is_direction(vector)
