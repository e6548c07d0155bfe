"""How useful entities and facts turned out to be: counters, and what is computed from them. Pure."""

from typing import NamedTuple

_LEAST_FACTOR = 0.05
"""With a bias of -1 every score would become 0, and the order arbitrary; a negative factor would reverse it."""


class Usage(NamedTuple):
    """Counters of one entity or fact: what is added to them, or their totals."""

    uuid: str
    group_id: str
    hits: int = 0
    """How often a search returned the entity, or a list of connections the fact."""
    relevance: float = 0.0
    """The sum of the raw cosines of an entity with those queries, each from 0 to 1."""
    useful: int = 0
    """How often a caller said of a fact that it helped."""

    def plus(self, other: "Usage") -> "Usage":
        """Both together."""
        return self._replace(
            hits=self.hits + other.hits, relevance=self.relevance + other.relevance, useful=self.useful + other.useful
        )


class Fitness(NamedTuple):
    """The totals of an entity or fact over all servers, with what a curator set."""

    hits: int = 0
    relevance: float = 0.0
    useful: int = 0
    bias: float = 0.0

    @property
    def score(self) -> float:
        """The mean match of an entity; 0 while nothing returned it."""
        return self.relevance / self.hits if self.hits else 0.0

    @property
    def final_score(self) -> float:
        return self.score + self.bias

    @property
    def of_fact(self) -> float:
        """The share of returns that were useful; 0 while nothing returned the fact."""
        return self.useful / self.hits if self.hits else 0.0

    def boosted(self, score: float) -> float:
        """The score of a search by which the entity is ranked."""
        return score * max(_LEAST_FACTOR, 1 + self.final_score)


NO_FITNESS = Fitness()
