"""The part of the port ``Graph`` that lists facts under a filter."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from graphiti_pkm.core.model.queries import FactFilter, FactPage, NeighbourCount, Window
from graphiti_pkm.core.model.records import Fact


class GraphFacts(Protocol):
    """Bounded reads of facts, as they are or as they were known."""

    async def connections(self, entity_uuid: str, wanted: FactFilter, window: Window) -> FactPage:
        """Facts of an entity, either end: current first, then newest valid_at, created_at, then uuid.

        ``window.newest`` False: oldest first, by valid_at (unknown start: reference_time), created_at, then uuid.
        """
        ...

    async def group_facts(self, wanted: FactFilter, window: Window) -> FactPage:
        """All facts under the filter, in the orders of ``connections``."""
        ...

    async def facts_under(self, uuids: Sequence[str], wanted: FactFilter) -> list[Fact]:
        """Those of these facts that pass the filter, in the order asked, with their values at ``known_at``."""
        ...

    async def first_fact(
        self, entity_uuid: str | None, group_ids: Sequence[str], relations: Sequence[str]
    ) -> datetime | None:
        """The earliest date of a fact that is not voided: its start, else when it was told; of an entity, or of all."""
        ...

    async def record_start(self, group_ids: Sequence[str]) -> datetime | None:
        """When the first episode of these groups was recorded."""
        ...

    async def newest_record(self, group_ids: Sequence[str]) -> datetime | None:
        """The time of the newest write into these groups; ahead of the clock if that was set back since."""
        ...

    async def neighbour_counts(self, entity_uuid: str, wanted: FactFilter, limit: int) -> list[NeighbourCount]:
        """Facts a neighbour under the same filter, most first, then name; counts sum to the page's total."""
        ...

    async def facts_with_relation(
        self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int
    ) -> list[list[Fact]]:
        """Facts for each (source uuid, relation as stored), not voided, newest created first."""
        ...

    async def facts_between(self, group_id: str, pairs: Sequence[tuple[str, str]], limit_each: int) -> list[list[Fact]]:
        """Facts for each (source uuid, target uuid), any relation, not voided, newest created first."""
        ...

    async def newest_facts(
        self,
        entity_uuids: Sequence[str],
        group_ids: Sequence[str],
        now: datetime,
        limit_each: int,
        *,
        readings: bool = False,
    ) -> dict[str, list[Fact]]:
        """Current facts of each entity, newest first; or its readings that were not corrected, which are no states."""
        ...

    async def voided(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> set[str]:
        """Which of these turned out wrong."""
        ...
