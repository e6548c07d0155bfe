"""Reads that start at an entity or an episode and go along its edges."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from graphiti_pkm.core.model.queries import (
    EntityFilter,
    EpisodeFilter,
    EpisodePage,
    FactFilter,
    FactPage,
    NeighbourCount,
    TimelineSummary,
    Window,
)
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.times import as_utc
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.queries import changes as queries_changes
from graphiti_pkm.storage.graph.queries import episodes as queries_episodes
from graphiti_pkm.storage.graph.queries import facts as queries_facts
from graphiti_pkm.storage.graph.queries import read as queries_read
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.reading import Connected
from graphiti_pkm.storage.graph.values import Instant

_MONTH = len("2026-03")
_FACT_KEYS = ("cur", "va", "ca", "id")


class Traversals(Connected):
    """The part of ``GraphReader`` around one entity or episode; a page and its total travel together."""

    async def connections(self, entity_uuid: str, wanted: FactFilter, window: Window) -> FactPage:
        changed = await self._changed(entity_uuid, wanted)
        return await self._fact_page(*queries_read.connections(entity_uuid, wanted, window, changed))

    async def group_facts(self, wanted: FactFilter, window: Window) -> FactPage:
        return await self._fact_page(*queries_read.group_facts(wanted, window, await self._changed(None, wanted)))

    async def _changed(self, entity_uuid: str | None, wanted: FactFilter) -> list[Row] | None:
        """The first change after ``known_at`` of each fact, if they are few; None if not, or if nobody asks."""
        if wanted.known_at is None or wanted.by_reference_time:
            return None
        (found,) = await (await self._db()).read(queries_facts.first_changes(entity_uuid, wanted))
        if len(found) > queries_facts.FEW_CHANGES:
            return None
        return [_as_parameter(row) for row in {row["fact_uuid"]: row for row in reversed(found)}.values()]

    async def _fact_page(self, page_query: Query, total_query: Query) -> FactPage:
        page, total = await (await self._db()).read_apart(page_query, total_query)
        return FactPage(
            facts=tuple(map(mapping.fact, page)),
            keys=tuple(tuple(row[key] for key in _FACT_KEYS if key in row) for row in page),
            total=total[0]["total"],
        )

    async def facts_under(self, uuids: Sequence[str], wanted: FactFilter) -> list[Fact]:
        (found,) = await (await self._db()).read(queries_read.facts_under(uuids, wanted))
        facts = {row["uuid"]: mapping.fact(row) for row in found}
        return [facts[uuid] for uuid in uuids if uuid in facts]

    async def first_fact(
        self, entity_uuid: str | None, group_ids: Sequence[str], relations: Sequence[str]
    ) -> datetime | None:
        (found,) = await (await self._db()).read(queries_read.first_fact(entity_uuid, group_ids, relations))
        return found[0]["first"] and _instant(found[0]["first"])

    async def record_start(self, group_ids: Sequence[str]) -> datetime | None:
        (found,) = await (await self._db()).read(queries_read.record_start(group_ids))
        return found[0]["began"] and _instant(found[0]["began"])

    async def newest_record(self, group_ids: Sequence[str]) -> datetime | None:
        (found,) = await (await self._db()).read(queries_read.newest_record(group_ids))
        return found[0]["newest"] and _instant(found[0]["newest"])

    async def entity_page(self, wanted: EntityFilter, window: Window) -> tuple[list[Entity], int]:
        page, total = await (await self._db()).read_apart(*queries_read.entity_page(wanted, window))
        return list(map(mapping.entity, page)), total[0]["total"]

    async def neighbour_counts(self, entity_uuid: str, wanted: FactFilter, limit: int) -> list[NeighbourCount]:
        changed = await self._changed(entity_uuid, wanted)
        (found,) = await (await self._db()).read(queries_read.neighbour_counts(entity_uuid, wanted, limit, changed))
        return [NeighbourCount(entity_uuid=row["uuid"], name=row["name"], facts=row["facts"]) for row in found]

    async def newest_facts(
        self,
        entity_uuids: Sequence[str],
        group_ids: Sequence[str],
        now: datetime,
        limit_each: int,
        *,
        readings: bool = False,
    ) -> dict[str, list[Fact]]:
        wanted = FactFilter(
            group_ids=tuple(group_ids),
            now=now,
            only_current=not readings,
            status="reading" if readings else None,
        )
        found = await (await self._db()).read(
            *(queries_read.newest_facts(uuid, wanted, limit_each) for uuid in entity_uuids)
        )
        return {uuid: list(map(mapping.fact, rows)) for uuid, rows in zip(entity_uuids, found, strict=True)}

    async def voided(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> set[str]:
        (found,) = await (await self._db()).read(queries_read.voided(fact_uuids, group_ids))
        return {row["uuid"] for row in found}

    async def timeline(self, entity_uuid: str, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        return await self._episode_page(*queries_episodes.timeline(entity_uuid, wanted, window))

    async def recent_episodes(self, wanted: EpisodeFilter, window: Window) -> EpisodePage:
        return await self._episode_page(*queries_episodes.recent_episodes(wanted, window))

    async def _episode_page(self, page_query: Query, total_query: Query) -> EpisodePage:
        page, total = await (await self._db()).read_apart(page_query, total_query)
        return EpisodePage(
            episodes=tuple(map(mapping.episode, page)),
            keys=tuple((row["va"], row["ca"], row["id"]) for row in page),
            total=total[0]["total"],
        )

    async def timeline_summary(self, entity_uuid: str, wanted: EpisodeFilter, zone: tzinfo) -> TimelineSummary:
        months_of = queries_episodes.months_in_utc if str(zone) == "UTC" else queries_episodes.months_in_any_zone
        (spans,) = await (await self._db()).read(months_of(entity_uuid, wanted))
        return TimelineSummary(
            first=_instant(spans[0]["first"]) if spans else None,
            last=max(_instant(row["last"]) for row in spans) if spans else None,
            total=sum(row["n"] for row in spans),
            counts=tuple((_inside(row["span"]), row["n"]) for row in spans),
        )

    async def episode_entities(
        self, episode_uuids: Sequence[str], group_ids: Sequence[str], window: Window
    ) -> tuple[list[Entity], int]:
        page, total = await (await self._db()).read_apart(
            *queries_episodes.episode_entities(episode_uuids, group_ids, window)
        )
        return list(map(mapping.entity, page)), total[0]["total"]

    async def episode_facts(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        (found,) = await (await self._db()).read(queries_episodes.episode_facts(episode_uuid, group_ids, limit))
        return list(map(mapping.fact, found))

    async def facts_of_episodes(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Fact]:
        asked = queries_episodes.facts_of_episodes(episode_uuids, group_ids, limit)
        (found,) = await (await self._db()).read(asked)
        return list(map(mapping.fact, found))

    async def retired_by_episode(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        (found,) = await (await self._db()).read(queries_changes.retired_by_episode(episode_uuid, group_ids, limit))
        return list(map(mapping.fact, found))

    async def retired_by_fact(self, fact_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        (found,) = await (await self._db()).read(queries_changes.retired_by_fact(fact_uuid, group_ids, limit))
        return list(map(mapping.fact, found))

    async def fact_distances(self, center_uuid: str, entity_uuids: Sequence[str]) -> dict[str, int]:
        rings = await (await self._db()).read(*queries_read.distances(center_uuid, entity_uuids))
        distances: dict[str, int] = {}
        for hops, ring in enumerate(rings):
            for row in ring:
                distances.setdefault(row["uuid"], hops)
        return {uuid: distances[uuid] for uuid in entity_uuids if uuid in distances}


def _as_parameter(change: Row) -> Row:
    return {field: Instant(value) if field.endswith("_at") and value else value for field, value in change.items()}


def _instant(text: str) -> datetime:
    return as_utc(datetime.fromisoformat(text))


def _inside(span: str) -> datetime:
    """The start of a short span, or the middle of a month."""
    return datetime.fromisoformat(f"{span}-15" if len(span) == _MONTH else span).replace(tzinfo=UTC)
