"""Centrality of nodes: PageRank and betweenness."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphiti_pkm.capabilities.scratch.algorithms.view import Floats, Ints, Rows, View
from graphiti_pkm.errors import InvalidInput

ALPHA = 0.85
EXACT = 1_000
"""Up to this number of nodes betweenness is exact."""
PIVOTS = 256
"""Source nodes that are sampled in a larger graph."""

_TOLERANCE = 1e-9
_MOST_ROUNDS = 200
_BATCH = 1_000_000
"""Nodes plus edges, over all sources, that are processed at once."""


def pagerank(view: View, alpha: float = ALPHA) -> Floats:
    """The PageRank of each node; the ranks sum to 1.

    Page, Brin, Motwani, Winograd 1998, by power iteration. As in NetworkX, a node without successors distributes its
    rank over all nodes.

    Raises:
        InvalidInput: a weight is negative.
    """
    if not view.n:
        return np.zeros(0)
    weights = view.weights
    if weights is not None and len(weights) and float(weights.min()) < 0:
        raise InvalidInput("Some of the weights are negative; pagerank needs weights of at least 0, or none.")
    counts = np.diff(view.out.starts)
    parts = None if weights is None else _parts(view, weights)
    sums = counts.astype(np.float64) if parts is None else np.bincount(view.sources, parts, view.n)
    dangling = np.flatnonzero(sums == 0)
    shares = np.divide(1.0, sums, out=np.zeros(view.n), where=sums != 0)
    ranks = np.full(view.n, 1 / view.n)
    for _ in range(_MOST_ROUNDS):
        given = np.repeat(ranks * shares, counts)
        taken = np.bincount(view.targets, given if parts is None else given * parts, view.n)
        following = alpha * (taken + ranks[dangling].sum() / view.n) + (1 - alpha) / view.n
        change = float(np.abs(following - ranks).sum())
        ranks = following
        if change < _TOLERANCE:
            break
    ranks /= ranks.sum()
    return ranks


def _parts(view: View, weights: Floats) -> Floats:
    """Divides each weight by the largest one of its source, so that neither sums nor shares overflow or underflow."""
    largest = np.zeros(view.n)
    np.maximum.at(largest, view.sources, weights)
    of_edges = largest[view.sources]
    parts: Floats = np.divide(weights, of_edges, out=np.zeros(len(weights)), where=of_edges != 0)
    return parts


@dataclass(frozen=True)
class Betweenness:
    """For each node the share of shortest paths between other nodes that pass through it, as far as counted."""

    scores: list[float]
    counted: int
    """Source nodes counted; all nodes if the scores are exact."""


def betweenness(view: View, exact: int = EXACT, pivots: int = PIVOTS) -> Iterator[Betweenness]:
    """Yields ever better estimates of betweenness; the last one is the result.

    Brandes 2001, level by level for several sources at once. A graph of more than ``exact`` nodes is sampled (Brandes
    and Pich 2007): paths are counted from ``pivots`` random nodes, the same ones in every run. Scores are scaled as in
    NetworkX: a source does not count as lying on its own paths.
    """
    drawn = view.n if view.n <= exact else min(pivots, view.n)
    sources = random.Random(view.n).sample(range(view.n), drawn)  # noqa: S311 a sample, not a secret
    size = max(1, _BATCH // max(view.n + len(view.sources), 1))
    sums, others = np.zeros(view.n), np.zeros(view.n)
    yield Betweenness(sums.tolist(), 0)
    for at in range(0, len(sources), size):
        batch = np.array(sources[at : at + size], np.int64)
        sums += dependencies(view.out, batch, view.n)
        others[batch] = 1
        counted = at + len(batch)
        pairs = np.maximum(counted - others, 1) * max(view.n - 2, 1)
        yield Betweenness((sums / pairs).tolist(), counted)


def dependencies(rows: Rows, sources: Ints, n: int) -> Floats:
    """For each node the sum of its shares in the shortest paths from these sources.

    All searches run in one set of arrays: index ``i * n + node`` belongs to the search from the i-th source.
    """
    places = np.arange(len(sources)) * n + sources
    seen = np.zeros(len(sources) * n, np.bool_)
    seen[places] = True
    paths = np.zeros(len(sources) * n)
    paths[places] = 1
    mark = np.empty(len(sources) * n, np.int64)
    levels: list[tuple[Ints, Ints, Floats]] = []
    frontier = places
    while len(frontier):
        nodes = frontier % n
        counts = rows.starts[nodes + 1] - rows.starts[nodes]
        ends = rows.ends[rows.positions(nodes)] + np.repeat(frontier - nodes, counts)
        fresh = ~seen[ends]
        ends, froms = ends[fresh], np.repeat(frontier, counts)[fresh]
        np.add.at(paths, ends, paths[froms])
        levels.append((froms, ends, paths[froms] / paths[ends]))
        seen[ends] = True
        at = np.arange(len(ends))
        mark[ends] = at
        frontier = ends[mark[ends] == at]
        if len(frontier):
            paths[frontier] /= paths[frontier].max()  # only ratios matter, and counts would overflow
    through = np.zeros(len(sources) * n)
    for froms, ends, shares in reversed(levels):
        np.add.at(through, froms, shares * (1 + through[ends]))
    through[places] = 0
    result: Floats = through.reshape(len(sources), n).sum(axis=0)
    return result
