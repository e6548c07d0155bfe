"""Walks around a fact or between entities: questions, results, and the port."""

from typing import Literal

from graphiti_pkm.core.model.records import Entity, Fact, Record

SourceMode = Literal["quote", "paragraph", "episode"]


class FactSource(Record):
    """A part of a supporting episode: a sentence, a paragraph or the whole, as requested."""

    episode_uuid: str
    holds_quote: bool
    """True if it contains the words that the fact stores as its quote."""
    start: int | None
    """Half-open offsets of the part; None if no passage can be compared with the fact, so any place may be meant."""
    end: int | None
    best: int | None
    """Start of its best passage."""
    cosine: float | None


class SourcePage(Record):
    """Parts that support a fact, with the sort key of each, and their number."""

    sources: tuple[FactSource, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int
    held: int
    """Number of parts of the supporting episodes, whether or not they support the fact."""


class Neighbourhood(Record):
    """Entities around the starting ones, nearest first, with the facts among all of them."""

    entities: tuple[tuple[Entity, int], ...]
    """Each with its hops from the nearest starting entity; without the starting ones."""
    entities_left_out: int
    """Entities of the last ring that did not fit; farther ones were not searched."""
    facts: tuple[Fact, ...]
    facts_total: int
    """Facts among these entities and the starting ones."""
