"""What only this capability asks of the storage."""

from collections.abc import Sequence
from typing import Protocol

from graphiti_pkm.core.model.saga_records import Community


class GraphCommunities(Protocol):
    """Communities of entities, and what joins entities to them."""

    async def joined_entities(self, group_id: str, limit: int) -> list[tuple[str, str, int]]:
        """Pairs of entities with their number of facts, without corrected ones; most first, then by uuids."""
        ...

    async def communities(self, group_ids: Sequence[str], limit: int) -> list[Community]:
        """Communities, those with most members first, then by uuid."""
        ...
