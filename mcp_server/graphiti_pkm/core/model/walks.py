"""Questions about the graph around a fact or between entities: what they ask, what they get, and the port."""

from typing import Literal

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
