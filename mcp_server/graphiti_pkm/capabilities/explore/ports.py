"""What only this capability, and what stands above it, asks of the storage."""

from collections.abc import Sequence
from typing import Protocol

from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.walks import Neighbourhood, SourceMode, SourcePage


class GraphWalks(Protocol):
    """Reads that go further than one edge; each is bounded. Facts that were corrected join nothing."""

    async def fact_sources(self, fact: Fact, group_ids: Sequence[str], mode: SourceMode, window: Window) -> SourcePage:
        """The parts of its episodes that say a fact: the one with its quote, then the nearest in meaning.

        By the cosine of their best passage with the fact itself, then newest episode, uuid, offset. What is less than
        half as near as the best is left out, unless it is the best of its episode. An episode none of whose passages
        can be compared counts as one part, after all others.
        """
        ...

    async def shortest_paths(
        self, source_uuid: str, target_uuid: str, wanted: FactFilter, max_hops: int, limit: int
    ) -> list[tuple[Fact, ...]]:
        """Ways of fewest facts from one entity to another, whichever way the facts point; none beyond ``max_hops``.

        No two go over the same entities: of several facts between two, the one that connections list first counts.
        """
        ...

    async def neighbourhood(
        self, entity_uuids: Sequence[str], wanted: FactFilter, hops: int, max_entities: int, max_facts: int
    ) -> Neighbourhood:
        """Ring by ring around the starts, the ones with most facts to the ring before first, then by name and uuid.

        Of the facts, one for each pair of entities comes first, then the second of each, current and newest first.
        """
        ...
