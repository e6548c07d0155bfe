"""Where the edge of a relation between two nodes is: an open hash table of edge numbers, about nine bytes an edge.

A dict by (source, target, relation) would take more than the edges themselves; walking a node's edges instead takes
the square of their number at a hub.
"""

from array import array
from collections.abc import Callable, Iterable

_FREE = 0
_GONE = 1
_FIRST = 2
"""Slots hold an edge's number plus this; the numbers below say that none is there."""
_SMALLEST = 16
_FULLEST = 0.6


class EdgeIndex:
    """Edge numbers by a hash; the caller says what an edge's hash is and whether an edge is the one sought."""

    def __init__(self, hash_of: Callable[[int], int]) -> None:
        """``hash_of``: of the edge with this number."""
        self._hash_of = hash_of
        self._slots = array("I", [_FREE]) * _SMALLEST
        self._taken = 0
        self._edges = 0

    def find(self, hashed: int, is_it: Callable[[int], bool]) -> int | None:
        """Find the edge with this hash of which ``is_it`` is true."""
        slots = self._slots
        mask = len(slots) - 1
        at = hashed & mask
        while (held := slots[at]) != _FREE:
            if held != _GONE and is_it(held - _FIRST):
                return held - _FIRST
            at = (at + 1) & mask
        return None

    def add(self, edge: int, hashed: int) -> None:
        """Put an edge that is not in it."""
        if self._taken >= _FULLEST * len(self._slots):
            self._rebuild()
        self._put(edge, hashed)
        self._edges += 1

    def remove(self, edge: int) -> None:
        """Take an edge out while its hash can still be told."""
        slots = self._slots
        mask = len(slots) - 1
        at = self._hash_of(edge) & mask
        while slots[at] != edge + _FIRST:
            at = (at + 1) & mask
        slots[at] = _GONE
        self._edges -= 1

    def _put(self, edge: int, hashed: int) -> None:
        slots = self._slots
        mask = len(slots) - 1
        at = hashed & mask
        while slots[at] != _FREE:
            at = (at + 1) & mask
        slots[at] = edge + _FIRST
        self._taken += 1

    def _rebuild(self) -> None:
        """With twice the room its edges take; what was removed is forgotten."""
        kept: Iterable[int] = [held - _FIRST for held in self._slots if held not in {_FREE, _GONE}]
        size = _SMALLEST
        while self._edges >= _FULLEST / 2 * size:
            size *= 2
        self._slots = array("I", [_FREE]) * size
        self._taken = 0
        for edge in kept:
            self._put(edge, self._hash_of(edge))
