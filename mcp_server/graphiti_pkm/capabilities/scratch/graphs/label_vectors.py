"""The vectors of a scratch graph's labels, in one growing matrix: a nearest-neighbour search is a single product."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST = 16


class LabelVectors:
    """Vectors by node; nodes without a vector are pending."""

    def __init__(self) -> None:
        self.pending: dict[int, None] = {}
        """Nodes whose labels still have to be embedded, in order of insertion."""
        self._rows: NDArray[np.float32] | None = None
        self._nodes: list[int] = []
        self._row_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def bytes(self) -> int:
        """The size of the matrix, including its spare rows."""
        return 0 if self._rows is None else self._rows.nbytes

    def expect(self, node: int) -> None:
        """Mark a node as pending."""
        if node not in self._row_of:
            self.pending[node] = None

    def add(self, node: int, vector: Sequence[float]) -> None:
        """Store a vector, normalised to length one; it replaces an earlier one of the same node.

        Raises:
            ValueError: the stored vectors have another number of dimensions.
        """
        row = _of_length_one(vector)
        if self._rows is None:
            self._rows = np.empty((_FEWEST, len(row)), dtype=np.float32)
        if len(row) != self._rows.shape[1]:
            raise ValueError(f"a vector of {len(row)} numbers among vectors of {self._rows.shape[1]}")
        at = self._row_of.get(node, len(self._nodes))
        if at == len(self._rows):
            grown = np.empty((2 * at, len(row)), dtype=np.float32)  # unwritten pages take no memory
            grown[:at] = self._rows
            self._rows = grown
        self._rows[at] = row
        if at == len(self._nodes):
            self._nodes.append(node)
            self._row_of[node] = at
        self.pending.pop(node, None)

    def drop(self, node: int) -> None:
        """Remove a node; the last row moves into its row."""
        self.pending.pop(node, None)
        at = self._row_of.pop(node, None)
        if at is None or self._rows is None:
            return
        last = self._nodes.pop()
        if at < len(self._nodes):
            self._rows[at] = self._rows[len(self._nodes)]
            self._nodes[at] = last
            self._row_of[last] = at
        if len(self._rows) > _FEWEST and len(self._nodes) < len(self._rows) // 4:
            self._rows = self._rows[: len(self._rows) // 2].copy()

    def nearest(self, vector: Sequence[float], k: int) -> list[tuple[int, float]]:
        """The ``k`` nearest nodes with their cosines, nearest first."""
        return self.nearest_of([vector], k)[0]

    def nearest_of(self, vectors: Sequence[Sequence[float]], k: int) -> list[list[tuple[int, float]]]:
        """The nearest nodes of several vectors, by one matrix product."""
        if self._rows is None or not self._nodes:
            return [[] for _ in vectors]
        held = self._rows[: len(self._nodes)]
        found = held @ np.stack([_of_length_one(vector) for vector in vectors]).T
        return [self._first(found[:, one], k) for one in range(len(vectors))]

    def cosines(self, vector: Sequence[float]) -> Iterable[tuple[int, float]]:
        """The cosine of every node with a vector, unordered."""
        if self._rows is None or not self._nodes:
            return ()
        found = self._rows[: len(self._nodes)] @ _of_length_one(vector)
        return zip(self._nodes, found.tolist(), strict=True)

    def _first(self, cosines: "NDArray[np.float32]", k: int) -> list[tuple[int, float]]:
        best = np.argpartition(-cosines, k - 1)[:k] if k < len(cosines) else np.arange(len(cosines))
        ordered = sorted(best.tolist(), key=lambda at: (-cosines[at], self._nodes[at]))
        return [(self._nodes[at], float(cosines[at])) for at in ordered]


def _of_length_one(vector: Sequence[float]) -> "NDArray[np.float32]":
    row = np.asarray(vector, dtype=np.float32)
    length = math.sqrt(float(np.square(row).sum()))  # np.dot would wake the threads of BLAS for so little
    return row / np.float32(length) if length else row
