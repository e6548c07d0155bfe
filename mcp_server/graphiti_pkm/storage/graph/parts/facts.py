"""The part ``facts``: lists of facts, as they are or as they were known."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.names import measure_key as key_of_measure
from graphiti_pkm.core.model.queries import (
    FactCounts,
    FactFilter,
    FactPage,
    KindCount,
    NeighbourCount,
    NewestOf,
    ReadingSeries,
    Window,
    newest_under,
)
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.ordering import in_order
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import changes as queries_changes
from graphiti_pkm.storage.graph.queries import episodes as queries_episodes
from graphiti_pkm.storage.graph.queries import facts as queries_facts
from graphiti_pkm.storage.graph.queries import read as queries_read
from graphiti_pkm.storage.graph.queries.values import Query, Row

_FACT_KEYS = ("cur", "va", "ca", "id")
_MEASURES = 1_000
"""Distinct spellings of measures looked through for one entity."""


class Facts(Part):
    """The port ``GraphFacts``; a page and its total travel together."""

    async def connections(self, entity_uuid: str, wanted: FactFilter, window: Window) -> FactPage:
        changed = await self._changed(entity_uuid, wanted)
        page_query, total_query = queries_read.connections(entity_uuid, wanted, window, changed)
        if wanted.known_at is not None:
            return await self._fact_page(page_query, total_query)
        page = await self._rows(page_query)
        counted = page or await self._rows(total_query)
        return _page(page, counted[0]["total"])

    async def group_facts(self, wanted: FactFilter, window: Window) -> FactPage:
        return await self._fact_page(*queries_read.group_facts(wanted, window, await self._changed(None, wanted)))

    async def reading_series(
        self, entity_uuid: str | None, wanted: FactFilter, zone: str, limit: int, months: int
    ) -> list[ReadingSeries]:
        changed = await self._changed(entity_uuid, wanted)
        asked = queries_read.reading_series(entity_uuid, wanted, zone, limit, months, changed)
        series, means = await self._read(*asked)
        return [mapping.reading_series(row, means) for row in series]

    async def _changed(self, entity_uuid: str | None, wanted: FactFilter) -> list[Row] | None:
        """The first change after ``known_at`` of each fact, if they are few; None if not, or if nobody asks."""
        if wanted.known_at is None or wanted.by_reference_time:
            return None
        if wanted.own_measures:
            entity_uuid = None
        found = await self._rows(queries_facts.first_changes(entity_uuid, wanted))
        if len(found) > queries_facts.FEW_CHANGES:
            return None
        return [_as_parameter(row) for row in {row["fact_uuid"]: row for row in reversed(found)}.values()]

    async def _fact_page(self, page_query: Query, total_query: Query) -> FactPage:
        page, total = await self._read(page_query, total_query)
        return _page(page, total[0]["total"])

    async def facts_under(self, uuids: Sequence[str], wanted: FactFilter) -> list[Fact]:
        return in_order(uuids, await self._facts(queries_read.facts_under(uuids, wanted)))

    async def first_fact(
        self, entity_uuid: str | None, group_ids: Sequence[str], relations: Sequence[str]
    ) -> datetime | None:
        found = await self._rows(queries_read.first_fact(entity_uuid, group_ids, relations))
        return found[0]["first"] and mapping.instant(found[0]["first"])

    async def record_start(self, group_ids: Sequence[str]) -> datetime | None:
        found = await self._rows(queries_read.record_start(group_ids))
        return found[0]["began"] and mapping.instant(found[0]["began"])

    async def newest_record(self, group_ids: Sequence[str]) -> datetime | None:
        found = await self._rows(queries_read.newest_record(group_ids))
        return found[0]["newest"] and mapping.instant(found[0]["newest"])

    async def fact_counts(self, entity_uuid: str, wanted: FactFilter, neighbours: int, kinds: int) -> FactCounts:
        changed = await self._changed(entity_uuid, wanted)
        (found,) = await self._rows(queries_read.fact_counts(entity_uuid, wanted, neighbours, kinds, changed))
        return FactCounts(
            neighbours=tuple(
                NeighbourCount(entity_uuid=row["uuid"], name=row["name"], facts=row["facts"])
                for row in found["neighbours"]
            ),
            kinds=tuple(KindCount(kind=row["kind"], name=row["name"], facts=row["facts"]) for row in found["kinds"]),
        )

    async def newest_facts(
        self,
        entity_uuids: Sequence[str],
        group_ids: Sequence[str],
        now: datetime,
        limit_each: int,
        *,
        status: NewestOf = "current",
    ) -> dict[str, list[Fact]]:
        wanted = newest_under(group_ids, now, status)
        newest: dict[str, list[Fact]] = {uuid: [] for uuid in entity_uuids}
        if entity_uuids:
            for row in await self._rows(queries_read.newest_facts(entity_uuids, wanted, limit_each)):
                newest[row["asked"]].append(mapping.fact(row))
        return newest

    async def voided(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> set[str]:
        found = await self._rows(queries_read.voided(fact_uuids, group_ids))
        return {row["uuid"] for row in found}

    async def episode_facts(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self._facts(queries_episodes.episode_facts(episode_uuid, group_ids, limit))

    async def facts_of_episodes(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self._facts(queries_episodes.facts_of_episodes(episode_uuids, group_ids, limit))

    async def retired_by_episode(self, episode_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self._facts(queries_changes.retired_by_episode(episode_uuid, group_ids, limit))

    async def retired_by_fact(self, fact_uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
        return await self._facts(queries_changes.retired_by_fact(fact_uuid, group_ids, limit))

    async def _facts(self, query: Query) -> list[Fact]:
        return list(map(mapping.fact, await self._rows(query)))

    async def facts_with_relation(
        self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int
    ) -> list[list[Fact]]:
        wanted = [queries_read.facts_with_relation(group_id, *pair, limit_each) for pair in pairs]
        return [list(map(mapping.fact, rows)) for rows in await self._read(*wanted)]

    async def facts_between(self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int) -> list[list[Fact]]:
        wanted = [queries_read.facts_between(group_id, *pair, limit_each) for pair in pairs]
        return [list(map(mapping.fact, rows)) for rows in await self._read(*wanted)]

    async def relations(self, group_id: str, limit: int) -> dict[str, int]:
        found = await self._rows(queries_read.relations(group_id, limit))
        return {row["word"]: row["uses"] for row in found}

    async def measures(self, group_id: str, source_uuid: str | None, limit: int) -> dict[str, int]:
        found = await self._rows(queries_read.measures(group_id, source_uuid, limit))
        return {row["word"]: row["uses"] for row in found}

    async def readings(self, group_id: str, source_uuid: str, measure_key: str, limit: int) -> tuple[list[Fact], int]:
        known = await self.measures(group_id, source_uuid, _MEASURES)
        spellings = [spelling for spelling in known if key_of_measure(spelling) == measure_key]
        if not spellings:
            return [], 0
        page, total = await self._read(*queries_read.readings(group_id, source_uuid, spellings, limit))
        return [mapping.fact(row) for row in reversed(page)], total[0]["total"]


def _page(rows: Sequence[Row], total: int) -> FactPage:
    return FactPage(
        facts=tuple(map(mapping.fact, rows)),
        keys=tuple(tuple(row[key] for key in _FACT_KEYS if key in row) for row in rows),
        total=total,
    )


def _as_parameter(change: Row) -> Row:
    return {
        field: mapping.instant(value) if field.endswith("_at") and value else value for field, value in change.items()
    }
