"""The input of the algorithms: the edges of a scratch graph as arrays, without labels, relations or parallel edges.

Nodes are numbered 0 to n - 1 in the order of their indices. Self-loops are kept; edges of several relations between the
same nodes count once. To consider a single relation, leave the others out when the view is made.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from graphiti_pkm.capabilities.scratch.limits import Properties
from graphiti_pkm.errors import InvalidInput

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Pair: TypeAlias = tuple[int, int]

Gathered: TypeAlias = Literal["least", "sum"]
"""How weights of parallel edges are combined: the minimum for distances, the sum for ranks."""

_SHOWN = 60


@dataclass(frozen=True)
class Rows:
    """Adjacency in compressed rows: the neighbours of node i are ``ends[starts[i]:starts[i + 1]]``."""

    starts: Ints
    ends: Ints
    weights: Floats | None

    @cached_property
    def lists(self) -> list[list[int]]:
        """The neighbours as lists, which are faster than arrays for algorithms that go node by node."""
        ends, starts = self.ends.tolist(), self.starts.tolist()
        return [ends[low:high] for low, high in pairwise(starts)]

    @cached_property
    def costs(self) -> list[list[float]]:
        """The weights that belong to ``lists``; 1 if the view has none."""
        if self.weights is None:
            return [[1.0] * len(ends) for ends in self.lists]
        weights, starts = self.weights.tolist(), self.starts.tolist()
        return [weights[low:high] for low, high in pairwise(starts)]

    def positions(self, nodes: Ints) -> Ints:
        """The positions in ``ends`` of all neighbours of these nodes."""
        low = self.starts[nodes]
        counts = self.starts[nodes + 1] - low
        before = np.cumsum(counts) - counts
        shifts: Ints = np.repeat(low - before, counts)
        return np.arange(len(shifts)) + shifts


@dataclass(frozen=True)
class View:
    """A simple directed graph; its edges are sorted by source, then by target."""

    n: int
    sources: Ints
    targets: Ints
    weights: Floats | None
    indices: Ints
    """The index of each node in the scratch graph."""
    gathered: Gathered = "least"

    @cached_property
    def out(self) -> Rows:
        """The successors of each node."""
        return Rows(_starts(self.sources, self.n), self.targets, self.weights)

    @cached_property
    def into(self) -> Rows:
        """The predecessors of each node."""
        return self.turned.out

    @cached_property
    def turned(self) -> "View":
        """The graph with every edge the other way round."""
        return _simple(self.indices, self.targets, self.sources, self.weights, "least")

    @cached_property
    def undirected(self) -> "View":
        """The graph with every edge in both directions; opposite edges are combined."""
        sources = np.concatenate((self.sources, self.targets))
        targets = np.concatenate((self.targets, self.sources))
        weights = None if self.weights is None else np.concatenate((self.weights, self.weights))
        return _simple(self.indices, sources, targets, weights, self.gathered)

    def node(self, index: int) -> int:
        """The number of the node with this index.

        Raises:
            KeyError: the view has no such node.
        """
        at = int(np.searchsorted(self.indices, index))
        if at == self.n or self.indices[at] != index:
            raise KeyError(index)
        return at


def view_of(
    indices: Sequence[int] | Ints,
    ends: Sequence[Pair] | Ints,
    weights: Sequence[float] | Floats | None = None,
    gathered: Gathered = "least",
) -> View:
    """The view of a multigraph, given the ascending indices of its nodes and the two end indices of each edge."""
    nodes = np.asarray(indices, dtype=np.int64)
    pairs = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
    sources, targets = pairs[:, 0], pairs[:, 1]
    if len(nodes) and nodes[-1] != len(nodes) - 1:  # nodes were removed
        sources, targets = np.searchsorted(nodes, sources), np.searchsorted(nodes, targets)
    return _simple(nodes, sources, targets, None if weights is None else np.asarray(weights, np.float64), gathered)


def weights_of(properties: Iterable[Properties], name: str) -> list[float]:
    """The value of the property ``name`` of each edge; 1 for an edge without it.

    Raises:
        InvalidInput: a value is not a finite number, or no edge has this property.
    """
    weights, found, others = [], False, dict[str, None]()
    for one in properties:
        value = one.get(name)
        if value is None:
            weights.append(1.0)
            others.update(dict.fromkeys(one))
        else:
            found = True
            weights.append(_number(value, name))
    if weights and not found:
        known = ", ".join(repr(other[:_SHOWN]) for other in sorted(others)[:5])
        raise InvalidInput(
            f"No edge has the property {name[:_SHOWN]!r} that was given as weight."
            + (f" Properties of edges: {known}." if known else " The edges have no properties; add_edge sets them.")
        )
    return weights


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:  # noqa: PLR2004 NaN too
        raise InvalidInput(
            f"The property {name[:_SHOWN]!r} of an edge is {str(value)[:_SHOWN]!r}, which is not a number. "
            "find_edges shows the properties, add_edge changes them; or leave weight out."
        )
    return float(value)


def _simple(indices: Ints, sources: Ints, targets: Ints, weights: Floats | None, gathered: Gathered) -> View:
    n = len(indices)
    keys = sources * n + targets
    if weights is None:
        keys = np.sort(keys)
        keys = keys[_firsts(keys)]
    elif len(keys):
        order = np.argsort(keys)
        keys, weights = keys[order], weights[order]
        firsts = np.flatnonzero(_firsts(keys))
        gather = np.minimum if gathered == "least" else np.add
        keys, weights = keys[firsts], gather.reduceat(weights, firsts)
    simple_sources, simple_targets = np.divmod(keys, max(n, 1))
    return View(n, simple_sources, simple_targets, weights, indices, gathered)


def _firsts(keys: Ints) -> npt.NDArray[np.bool_]:
    firsts = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=firsts[1:])
    return firsts


def _starts(nodes: Ints, n: int) -> Ints:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(nodes, minlength=n))))
