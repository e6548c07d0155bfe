"""The part ``search``: full text and vectors, hits by uuid, best first."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial

from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, EpisodeHit, FactFilter
from graphiti_pkm.core.model.records import Episode, Vector
from graphiti_pkm.core.model.stems import EpisodeWords, counted, text_stems
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.checks import is_comparable
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import read as queries_read
from graphiti_pkm.storage.graph.queries import search as queries_search
from graphiti_pkm.storage.graph.queries import vectors as queries_vectors
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.vector_indexes import ENTITIES, FACTS, PASSAGES, Embedded


def scores(found: Iterable[Row]) -> dict[str, float]:
    """By uuid, in the order of the rows."""
    return {row["uuid"]: float(row["score"]) for row in found}


class Searches(Part):
    """The port ``GraphSearch``. Vectors are compared exactly, inside the groups asked for."""

    async def episodes_naming(
        self,
        group_id: str,
        name: str,
        before: datetime,
        after: str | None,
        limit: int,
        *,
        only_linking: bool = False,
    ) -> list[Episode]:
        query = queries_search.episodes_naming(group_id, name, before, after, limit, only_linking=only_linking)
        found = await self._rows(query)
        return list(map(mapping.episode, found))

    async def search_entities(self, terms: Sequence[str], wanted: EntityFilter, limit: int) -> dict[str, float]:
        ask = partial(queries_search.search_entities, wanted=wanted, limit=limit)
        return await self.worded(terms, wanted.group_ids, "entity", limit, ask)

    async def search_facts(self, terms: Sequence[str], wanted: FactFilter, limit: int) -> dict[str, float]:
        ask = partial(queries_search.search_facts, wanted=wanted, limit=limit)
        return await self.worded(terms, wanted.group_ids, "fact", limit, ask)

    async def fact_texts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        found = await self._rows(queries_read.fact_texts(uuids, group_ids)) if uuids else ()
        return {row["uuid"]: row["text"] for row in found}

    async def search_episodes(self, terms: Sequence[str], wanted: EpisodeFilter, limit: int) -> dict[str, float]:
        ask = partial(queries_search.search_episodes, wanted=wanted, limit=limit)
        return await self.worded(terms, wanted.group_ids, "episode", limit, ask)

    async def worded(
        self,
        terms: Sequence[str],
        group_ids: Sequence[str],
        kind: queries_search.ScopeKind,
        limit: int,
        ask: Callable[[Sequence[queries_search.Weighed]], Query],
    ) -> dict[str, float]:
        """The best word matches of ``ask``: by rare words, and by all words if those do not fill the limit."""
        words = await self._weighed(terms, group_ids, kind)
        if not words:
            return {}
        rarer = queries_search.deciding(words)
        found = scores(await self._rows(ask(rarer)))
        if len(found) >= limit or len(rarer) == len(words):
            return found
        return scores(await self._rows(ask(words)))

    async def _weighed(
        self, terms: Sequence[str], group_ids: Sequence[str], kind: queries_search.ScopeKind
    ) -> list[queries_search.Weighed]:
        """The words of a search weighed by how rare they are in these groups; empty if none occurs."""
        asked = queries_search.asked_words(terms, group_ids, kind)
        if len(asked) <= 1:
            return queries_search.weighed(asked, dict.fromkeys(range(len(asked)), 1))
        counted = await self._rows(queries_search.word_counts(asked, kind))
        return queries_search.weighed(asked, {row["place"]: row["held"] for row in counted})

    async def episode_words(
        self, uuids: Sequence[str], stems: Sequence[str], parts: Sequence[str], group_ids: Sequence[str]
    ) -> dict[str, EpisodeWords]:
        found = [mapping.episode(row) for row in await self._rows(queries_read.episodes(uuids, group_ids))]

        def words(one: Episode) -> EpisodeWords:
            place = Place(one.uuid, one.group_id, one.valid_at, one.created_at)
            return EpisodeWords(place, counted(text_stems(f"{one.name} {one.content}"), stems, parts))

        return await in_thread(lambda: {one.uuid: words(one) for one in found})

    async def episodes_holding(self, terms: Sequence[str], wanted: EpisodeFilter) -> dict[str, int]:
        words = queries_search.words_asked(terms)
        asked = queries_search.asked_words(words, wanted.group_ids, "episode")
        counted = await self._rows(queries_search.word_counts(asked, "episode")) if asked else []
        held = {words[row["place"]]: row["held"] for row in counted}
        if held and wanted.recorded_until is not None:
            for row in await self._rows(queries_search.later_counts(asked, wanted.group_ids, wanted.recorded_until)):
                held[words[row["place"]]] -= row["held"]
        return {word: count for word, count in held.items() if count}

    async def episode_cosines(self, vector: Vector, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, float]:
        if not uuids or not await self._is_comparable(vector):
            return {}
        return scores(await self._rows(queries_vectors.episode_cosines(vector, uuids, group_ids)))

    async def nearest_entities(self, vector: Vector, wanted: EntityFilter, limit: int) -> dict[str, float]:
        ask = partial(queries_vectors.nearest_entities, vector, wanted, limit)
        return scores(await self.nearest(ENTITIES, vector, wanted.group_ids, limit, ask))

    async def nearest_facts(self, vector: Vector, wanted: FactFilter, limit: int) -> dict[str, float]:
        ask = partial(queries_vectors.nearest_facts, vector, wanted, limit)
        return scores(await self.nearest(FACTS, vector, wanted.group_ids, limit, ask))

    async def nearest_episodes(self, vector: Vector, wanted: EpisodeFilter, limit: int) -> dict[str, EpisodeHit]:
        ask = partial(queries_vectors.nearest_episodes, vector, wanted, limit)
        is_of_project = wanted.entries is not None and wanted.entries.project_uuid is not None
        groups = () if wanted.entity_uuid or is_of_project else wanted.group_ids  # those around one are few: no index
        hits: dict[str, EpisodeHit] = {}
        for row in await self.nearest(PASSAGES, vector, groups, limit, ask):
            hits.setdefault(row["uuid"], EpisodeHit(cosine=row["score"], start=row["start"], end=row["end"]))
        return hits

    async def nearest(
        self,
        kind: Embedded,
        vector: Vector,
        group_ids: Sequence[str],
        limit: int,
        ask: Callable[[int | None], Query],
    ) -> list[Row]:
        """Best first; nothing if nothing can be near. Raises EmbeddingMismatch."""
        if not await self._is_comparable(vector):
            return []
        return await self._opened.vectors.nearest(await self._db(), kind, group_ids, limit, ask)

    async def rows_of(self, query: Query) -> list[Row]:
        """What it finds."""
        return await self._rows(query)

    async def _is_comparable(self, vector: Vector) -> bool:
        """False if nothing can be near. Raises EmbeddingMismatch for another dimension than the database's."""
        dimension = await self._opened.dimension()
        if dimension is not None and dimension != len(vector):
            dimension = await self._opened.dimension(is_new=True)
        return is_comparable(vector, dimension, "database")
