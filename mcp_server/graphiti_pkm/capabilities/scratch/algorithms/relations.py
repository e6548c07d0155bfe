"""Which relations the edges between given nodes have; the other algorithms do without relations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from graphiti_pkm.capabilities.scratch.algorithms.view import Ints


@dataclass(frozen=True)
class EdgeRelations:
    """Every edge of a graph with its relation; the ends are node numbers of its view."""

    sources: Ints
    targets: Ints
    relations: Sequence[str]

    def of(self, relation: str | None) -> "EdgeRelations":
        """The edges of one relation, by its very spelling."""
        kept = [edge for edge, other in enumerate(self.relations) if other == relation]
        return EdgeRelations(self.sources[kept], self.targets[kept], [self.relations[edge] for edge in kept])

    def between(self, spans: Iterable[tuple[Sequence[int], Sequence[int]]]) -> dict[str, int]:
        """The number of edges of each relation that lead from the starts to the ends of a span, most first.

        Edges from a node to itself are on no way and do not count.
        """
        followed = np.zeros(len(self.sources), dtype=np.bool_)
        for starts, ends in spans:
            followed |= np.isin(self.sources, starts) & np.isin(self.targets, ends)
        followed &= self.sources != self.targets
        counts: dict[str, int] = {}
        for edge in np.flatnonzero(followed).tolist():
            counts[self.relations[edge]] = counts.get(self.relations[edge], 0) + 1
        return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
