"""What only this capability asks of the storage."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from graphiti_pkm.core.model.places import Steps, Stretch
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.core.model.records import Quality


class GraphFlags(Protocol):
    """What librarians said of entities."""

    async def qualities(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> Mapping[str, Quality]:
        """What is said of these entities; those of which nothing is said are left out."""
        ...


class GraphNeighbours(Protocol):
    """What stands around episodes and entities, for ranking; each read is bounded."""

    async def uuids_in(
        self, stretches: Sequence[Stretch], recorded_until: datetime | None, limit_each: int
    ) -> list[list[str]]:
        """The episodes of each period in order, the first ``limit_each``."""
        ...

    async def saga_steps(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Steps]:
        """Neighbours in the saga, for episodes that belong to one."""
        ...

    async def followers(
        self, uuids: Sequence[str], wanted: EpisodeFilter, most: int, within: timedelta, count: int
    ) -> dict[str, list[str]]:
        """Of the messages of at most ``most`` characters, the next ``count`` of their group, up to one that is longer.

        Those that have none after them are there too, other episodes are not. At most ``within`` later; of one instant
        in the order they were recorded. Of the filter, groups and ``recorded_until`` count.
        """
        ...

    async def mentions_among(self, episode_uuids: Sequence[str], entity_uuids: Sequence[str]) -> dict[str, int]:
        """How many of these entities each episode mentions; episodes without any are left out."""
        ...

    async def has_observations(self, group_ids: Sequence[str]) -> bool:
        """Whether any of the groups has an observation, ended ones included."""
        ...

    async def fact_distances(self, center_uuid: str, entity_uuids: Sequence[str]) -> dict[str, int]:
        """Hops (0 to 2) from an entity to others over facts; unreachable ones are left out."""
        ...
