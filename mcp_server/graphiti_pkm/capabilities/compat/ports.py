"""What only this capability asks of the storage."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from graphiti_pkm.core.model.records import Fact


class GraphObservations(Protocol):
    """Entities with their observations, and the relations between them; relations are current facts that join."""

    async def known_observations(self, group_id: str, wanted: Sequence[tuple[str, str]]) -> list[Fact]:
        """Open observations with exactly the text of a pair of entity and text; oldest first, then by uuid."""
        ...

    async def observations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit_each: int
    ) -> dict[str, tuple[list[str], int]]:
        """Texts of the current observations of each entity in the order given, and how many it has.

        Entities without any are left out.
        """
        ...

    async def observed(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        """The entity of each fact that is an observation; other facts are left out."""
        ...

    async def names(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        """The name of each entity; those of other groups are left out."""
        ...

    async def relations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit: int, *, within: bool
    ) -> tuple[list[Fact], int]:
        """Relations of which both ends are among the entities, or any end; newest created first, with the total."""
        ...

    async def relation_counts(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime
    ) -> dict[str, int]:
        """How many relations each entity has; those without any are left out."""
        ...

    async def of_type(self, words: Sequence[str], group_ids: Sequence[str], limit: int) -> list[str]:
        """Uuids of entities whose label is one of these lower-case words; newest first, then by uuid."""
        ...

    async def holding(self, text: str, group_ids: Sequence[str], now: datetime, limit: int) -> tuple[list[str], int]:
        """Uuids of entities with a lower-case text in name, type or a current observation, oldest first; the total."""
        ...
