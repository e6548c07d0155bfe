"""What only this capability asks of the storage."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from graphiti_pkm.core.model.curation import FlaggedFilter, FlaggedPage, QualityCounts, QualityFilter
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Quality


class GraphCuration(Protocol):
    """Bounded reads of what librarians said of entities."""

    async def qualities(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> Mapping[str, Quality]:
        """What is said of these entities; those of which nothing is said are left out."""
        ...

    async def flagged(self, wanted: FlaggedFilter, window: Window) -> FlaggedPage:
        """Flagged entities, the last flagged first, then by uuid."""
        ...

    async def quality_counts(self, wanted: QualityFilter) -> QualityCounts:
        """Counts over whole groups."""
        ...
