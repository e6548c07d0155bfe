"""The edges of a scratch graph: where each is, in which order they came, and what they take.

An edge without properties is its relation's one string, so that a million edges take about 42 bytes each.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import rustworkx

from graphiti_pkm.capabilities.scratch.graphs import sizes
from graphiti_pkm.capabilities.scratch.limits import NONE, Properties, ScratchNode

_FREE = 0
_GONE = 1
_FIRST = 2
"""Slots hold an edge's number plus this; the numbers below say that none is there."""
_SMALLEST = 16
_FULLEST = 0.6


@dataclass(frozen=True, slots=True)
class Described:
    """What is kept of an edge with properties."""

    relation: str
    properties: Properties


Graph: TypeAlias = "rustworkx.PyDiGraph[ScratchNode, str | Described]"


class Edge(NamedTuple):
    """An edge between the numbers of nodes; ``sequence`` grows with every edge added."""

    sequence: int
    source: int
    target: int
    relation: str
    properties: Properties


class _EdgeIndex:
    """Finds the edge of a relation between two nodes: an open-addressing hash table, about nine bytes an edge.

    A dict keyed by (source, target, relation) would take more memory than the edges themselves. Scanning a node's
    edges instead would take quadratic time at a hub. The caller supplies the hash and the comparison.
    """

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


class Edges:
    """Edges by number; a relation is compared regardless of case and keeps its first spelling."""

    def __init__(self, graph: Graph) -> None:
        """``graph``: whose nodes they join; its edges are changed here alone."""
        self.bytes = 0
        self._graph = graph
        self._sequence = array("Q")
        self._added = 0
        self._spelling: dict[str, str] = {}
        self._number_of: Counter[str] = Counter()
        # Of the graph, not of this object: a circle would keep a dropped graph until the collector's next round.
        self._index = _EdgeIndex(partial(_hash_of, graph))

    @property
    def relations(self) -> dict[str, int]:
        """How many edges each relation has, by its spelling."""
        return {self._spelling[key]: number for key, number in self._number_of.items()}

    def spelled(self, relation: str) -> str | None:
        """The spelling of a relation that some edge has."""
        return self._spelling.get(relation.casefold())

    def number_of(self, relation: str) -> int:
        """How many edges have a relation."""
        return self._number_of[relation.casefold()]

    def at(self, number: int) -> Edge:
        """The edge of this number."""
        source, target = self._graph.get_edge_endpoints_by_index(number)
        payload = self._graph.get_edge_data_by_index(number)
        if isinstance(payload, str):
            return Edge(self._sequence[number], source, target, payload, NONE)
        return Edge(self._sequence[number], source, target, payload.relation, payload.properties)

    def find(self, source: int, target: int, relation: str) -> int | None:
        """The number of the edge of a relation between two nodes."""
        spelled = self.spelled(relation)
        if spelled is None:
            return None
        sought = (source, target, spelled)
        return self._index.find(hash(sought), lambda number: self.at(number)[1:4] == sought)

    def size_of(self, relation: str, properties: Properties) -> int:
        """Bytes that one more edge takes."""
        own = 0 if relation.casefold() in self._spelling else sizes.of_relation(relation)
        return sizes.EDGE + own + sizes.of_properties(properties)

    def put(self, source: int, target: int, relation: str, properties: Properties) -> None:
        """Add an edge that is not there."""
        self.bytes += self.size_of(relation, properties)
        key = relation.casefold()
        spelled = self._spelling.setdefault(key, relation)
        self._number_of[key] += 1
        payload = Described(spelled, dict(properties)) if properties else spelled
        number = self._graph.add_edge(source, target, payload)
        if number == len(self._sequence):
            self._sequence.append(self._added)
        else:
            self._sequence[number] = self._added
        self._added += 1
        self._index.add(number, hash((source, target, spelled)))

    def describe(self, number: int, properties: Properties) -> None:
        """Give an edge other properties."""
        old = self.at(number)
        self._graph.update_edge_by_index(number, Described(old.relation, properties))
        self.bytes += sizes.of_properties(properties) - sizes.of_properties(old.properties)

    def drop(self, number: int) -> None:
        """Remove an edge."""
        edge = self.at(number)
        self._index.remove(number)
        self._graph.remove_edge_from_index(number)
        key = edge.relation.casefold()
        self._number_of[key] -= 1
        if not self._number_of[key]:
            del self._number_of[key], self._spelling[key]
        self.bytes -= self.size_of(edge.relation, edge.properties)

    def numbers(self, source: int | None = None, target: int | None = None, after: int = -1) -> Iterator[int]:
        """The edges of a node, between two or all, in the order they were added, those after a sequence."""
        if source is target is None:
            yield from self._all(after)
            return
        for number in sorted(self._of_either(source, target), key=self._sequence.__getitem__):
            start, end = self._graph.get_edge_endpoints_by_index(number)
            if self._sequence[number] > after and source in {None, start} and target in {None, end}:
                yield number

    def _of_either(self, source: int | None, target: int | None) -> Iterable[int]:
        """The edges of the end that has fewer."""
        graph = self._graph
        if source is None or (target is not None and graph.in_degree(target) < graph.out_degree(source)):
            return graph.in_edge_indices(target) if target is not None else ()
        return graph.out_edge_indices(source)

    def _all(self, after: int) -> Iterator[int]:
        """A number that became free is taken again, so numbers alone are no order."""
        numbers = np.fromiter(self._graph.edge_indices(), dtype=np.int64, count=self._graph.num_edges())
        if len(numbers):
            sequences = np.array(self._sequence, dtype=np.int64)[numbers]
            order = np.argsort(sequences, kind="stable")
            first = int(np.searchsorted(sequences[order], after, side="right"))
            yield from numbers[order[first:]].tolist()


def _hash_of(graph: Graph, number: int) -> int:
    payload = graph.get_edge_data_by_index(number)
    relation = payload if isinstance(payload, str) else payload.relation
    return hash((*graph.get_edge_endpoints_by_index(number), relation))
