"""What only this capability, and what stands above it, asks of the storage."""

from collections.abc import Collection, Sequence
from typing import Protocol

from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.walks import Neighbourhood, SourceMode, SourcePage


class GraphWalks(Protocol):
    """Reads over more than one edge; each is bounded. Corrected facts connect nothing; paths are of the present."""

    async def fact_sources(self, fact: Fact, group_ids: Sequence[str], mode: SourceMode, window: Window) -> SourcePage:
        """The parts of its episodes that support a fact: the one with its quote, then the nearest in meaning.

        Ordered by the cosine of their best passage with the fact, then newest episode, uuid, offset. A part less than
        half as near as the best is left out, unless it is the best of its episode. An episode without comparable
        passages counts as one part, after all others.
        """
        ...

    async def shortest_paths(
        self,
        source_uuid: str,
        target_uuid: str,
        wanted: FactFilter,
        max_hops: int,
        limit: int,
        avoided: Collection[str] = (),
    ) -> list[tuple[Fact, ...]]:
        """Shortest paths between two entities, in either direction of the facts; none longer than ``max_hops``.

        ``avoided``: entities that none leads through.
        No two have the same entities: of several facts between two, the one that connections list first is taken.
        """
        ...

    async def neighbourhood(
        self,
        entity_uuids: Sequence[str],
        wanted: FactFilter,
        hops: int,
        max_entities: int,
        max_facts: int,
        avoided: Collection[str] = (),
    ) -> Neighbourhood:
        """Entities ring by ring around the starting ones, those with most facts to the ring before first, then by name.

        ``avoided``: entities that no ring is reached from.
        With ``known_at`` facts connect as they were known then, also those that were corrected since.
        Of the facts, one for each pair of entities comes first, then the second of each, current and newest first.
        """
        ...
