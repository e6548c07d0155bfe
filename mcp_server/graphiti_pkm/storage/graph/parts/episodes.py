"""The part ``episodes``: in time, by entity, and what they mention."""

from collections.abc import Sequence
from datetime import tzinfo

from graphiti_pkm.core.model.places import Place, Stretch
from graphiti_pkm.core.model.queries import Companion, EpisodeFilter, EpisodePage, TimelineSummary, Window
from graphiti_pkm.core.model.records import Entity, Passage
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import episodes as queries_episodes
from graphiti_pkm.storage.graph.queries import neighbours as queries_neighbours
from graphiti_pkm.storage.graph.queries.values import Query, Row


class Episodes(Part):
    """The port ``GraphEpisodes``; a page and its total travel together."""

    async def timeline(self, entity_uuid: str, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        page_query, total_query = queries_episodes.timeline(entity_uuid, wanted, window)
        page = await self._rows(page_query)
        counted = page or await self._rows(total_query)
        return _page(page, counted[0]["total"])

    async def recent_episodes(self, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        return await self._episode_page(*queries_episodes.recent_episodes(wanted, window))

    async def _episode_page(self, page_query: Query, total_query: Query) -> EpisodePage:
        page, total = await self._read(page_query, total_query)
        return _page(page, total[0]["total"])

    async def timeline_summary(self, entity_uuid: str, wanted: EpisodeFilter, zone: tzinfo) -> TimelineSummary:
        months_of = queries_episodes.months_in_utc if str(zone) == "UTC" else queries_episodes.months_in_any_zone
        found = await self._rows(months_of(entity_uuid, wanted))
        spans = [(mapping.instant(row["first"]), mapping.instant(row["last"]), row["n"]) for row in found]
        return TimelineSummary(
            first=spans[0][0] if spans else None,
            last=max(last for _, last, _ in spans) if spans else None,
            total=sum(count for *_, count in spans),
            counts=tuple((first, count) for first, _, count in spans),
        )

    async def mentioned_with(self, entity_uuid: str, wanted: EpisodeFilter, newest: int, limit: int) -> list[Companion]:
        found = await self._rows(queries_episodes.mentioned_with(entity_uuid, wanted, newest, limit))
        return [Companion(entity_uuid=row["uuid"], name=row["name"], episodes=row["often"]) for row in found]

    async def episode_entities(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], window: Window
    ) -> tuple[list[Entity], int]:
        page, total = await self._read(*queries_episodes.episode_entities(episode_uuids, group_ids, window))
        return list(map(mapping.entity, page)), total[0]["total"]

    async def passages(self, episode_uuid: str, without_vector: bool, limit: int) -> list[Passage]:
        query = queries_episodes.passages(episode_uuid, limit, without_vector=without_vector)
        found = await self._rows(query)
        return [mapping.passage(row) for row in found]

    async def episode_places(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Place]:
        if not uuids:
            return {}
        found = await self._rows(queries_neighbours.places(uuids, group_ids))
        return {row["uuid"]: mapping.place(row) for row in found}

    async def same_text(self, stretch: Stretch, content: str) -> str | None:
        found = await self._rows(queries_neighbours.same_text(stretch, content))
        return next((str(row["uuid"]) for row in found), None)

    async def own_mentions(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        if not entity_uuids:
            return {}
        found = await self._rows(queries_neighbours.own_mentions(entity_uuids, limit_each))
        return {row["uuid"]: row["episodes"] for row in found}


def _page(rows: Sequence[Row], total: int) -> EpisodePage:
    return EpisodePage(
        episodes=tuple(map(mapping.episode, rows)),
        keys=tuple((row["va"], row["ca"], row["id"]) for row in rows),
        total=total,
    )
