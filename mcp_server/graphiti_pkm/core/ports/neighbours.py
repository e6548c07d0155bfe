"""What stands around an episode: the others of its day and saga, and the entities that it mentions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from graphiti_pkm.core.model.records import Record


class Place(Record):
    """Where an episode stands in time, without its content."""

    uuid: str
    group_id: str
    valid_at: datetime
    created_at: datetime

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        """Episodes of one moment in the order in which they were recorded."""
        return self.valid_at, self.created_at, self.uuid


class Stretch(Record):
    """A half-open stretch of time in one group."""

    group_id: str
    start: datetime
    end: datetime


class Steps(Record):
    """The episodes before and after one in Graphiti's saga, a chain that its writer made."""

    previous: str | None = None
    next: str | None = None


class GraphNeighbours(Protocol):
    """Reads of episodes by what stands around them."""

    async def episode_places(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Place]:
        """Where these episodes stand; unknown ones and those of other groups are left out."""
        ...

    async def places_in(
        self, stretches: Sequence[Stretch], recorded_until: datetime | None, limit_each: int
    ) -> list[list[Place]]:
        """The episodes of each stretch in order, the first ``limit_each``."""
        ...

    async def same_text(self, stretch: Stretch, content: str) -> str | None:
        """Uuid of the episode of a stretch that was first recorded with exactly this content."""
        ...

    async def saga_steps(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Steps]:
        """Of the episodes that belong to a saga."""
        ...

    async def mentions_among(self, episode_uuids: Sequence[str], entity_uuids: Sequence[str]) -> dict[str, int]:
        """How many of the entities each episode mentions; those that mention none are left out."""
        ...

    async def own_mentions(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        """Uuids of the episodes that mention each entity by what they told themselves, at most ``limit_each``.

        Not those that a back link joined to it later. Entities without any are left out.
        """
        ...
