"""What librarians said of entities: what the capability curation asks."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.curation import FlaggedFilter, FlaggedPage, FlaggedRow, QualityCounts, QualityFilter
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, Quality
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import curation as queries_curation


class Curation(Part):
    """The port ``GraphCuration``."""

    async def qualities(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Quality]:
        if not entity_uuids:
            return {}
        found = await self._rows(queries_curation.qualities(entity_uuids, group_ids))
        return {row["quality"]["uuid"]: mapping.quality(row["quality"]) for row in found}

    async def flagged(self, wanted: FlaggedFilter, window: Window) -> FlaggedPage:
        page, total = await self._read(*queries_curation.flagged(wanted, window))
        return FlaggedPage(
            rows=tuple(FlaggedRow(quality=mapping.quality(row["quality"]), entity=mapping.entity(row)) for row in page),
            keys=tuple((row["quality"]["flagged_at"], row["quality"]["uuid"]) for row in page),
            total=total[0]["total"],
        )

    async def quality_counts(self, wanted: QualityFilter) -> QualityCounts:
        (said,), (held,), creators, (total,) = await self._read(*queries_curation.quality_counts(wanted))
        return QualityCounts(
            **said,
            **held,
            creators=tuple((row["created_by"], row["low"]) for row in creators),
            creators_total=total["total"],
        )

    async def orphans(self, group_id: str, window: Window, among: Sequence[str] | None = None) -> list[Entity]:
        return list(map(mapping.entity, await self._rows(queries_curation.orphans(group_id, window, among))))

    async def rated_below(self, group_id: str, confidence: float, window: Window) -> list[Quality]:
        found = await self._rows(queries_curation.rated_below(group_id, confidence, window))
        return [mapping.quality(row["quality"]) for row in found]

    async def made_since(self, group_id: str, since: datetime, window: Window) -> list[Entity]:
        return list(map(mapping.entity, await self._rows(queries_curation.made_since(group_id, since, window))))
