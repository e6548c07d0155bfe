"""Questions about the graph around a fact or between entities: what they ask, what they get, and the port."""

from collections.abc import Sequence
from typing import Literal, Protocol

from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Fact, Record

SourceMode = Literal["quote", "paragraph", "episode"]


class FactSource(Record):
    """A part of a supporting episode: a sentence, a paragraph or the whole, as was asked for."""

    episode_uuid: str
    holds_quote: bool
    """True where the words are that the fact keeps as its quote."""
    start: int | None
    """Half-open offsets of the part; None where no passage can be compared with the fact: any place may be meant."""
    end: int | None
    best: int | None
    """Where its best passage starts."""
    cosine: float | None


class SourcePage(Record):
    """Parts that say a fact with the sort key of each, and how many there are."""

    sources: tuple[FactSource, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int
    held: int
    """Parts of the supporting episodes, whether they say it or not."""


class Neighbourhood(Record):
    """Entities around others, nearest first, with the facts among all of them."""

    entities: tuple[tuple[Entity, int], ...]
    """Each with its hops from the nearest start; the starts are not among them."""
    entities_left_out: int
    """Entities of the last ring looked at that did not fit; what lies beyond them was not looked for."""
    facts: tuple[Fact, ...]
    facts_total: int
    """Facts among the entities above and the starts."""


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
