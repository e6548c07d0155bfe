"""The edges of a scratch graph: lookup, order and memory use.

An edge without properties is stored as its relation, a string shared with all others of that relation. In a graph of a
million edges it takes about 42 bytes.
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
"""Slots hold an edge's number plus this; smaller values mark free and deleted slots."""
_SMALLEST = 16
_FULLEST = 0.6


@dataclass(frozen=True, slots=True)
class Described:
    """The stored form of an edge with properties."""

    relation: str
    properties: Properties


Graph: TypeAlias = "rustworkx.PyDiGraph[ScratchNode, str | Described]"


class Edge(NamedTuple):
    """An edge between two node indices; ``sequence`` is its place in the order of insertion."""

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
        """``hash_of`` returns the hash of the edge with a number."""
        self._hash_of = hash_of
        self._slots = array("I", [_FREE]) * _SMALLEST
        self._taken = 0
        self._edges = 0

    def find(self, hashed: int, is_it: Callable[[int], bool]) -> int | None:
        """The edge with this hash for which ``is_it`` returns true."""
        slots = self._slots
        mask = len(slots) - 1
        at = hashed & mask
        while (held := slots[at]) != _FREE:
            if held != _GONE and is_it(held - _FIRST):
                return held - _FIRST
            at = (at + 1) & mask
        return None

    def add(self, edge: int, hashed: int) -> None:
        """Add an edge that is not in the table."""
        if self._taken >= _FULLEST * len(self._slots):
            self._rebuild()
        self._put(edge, hashed)
        self._edges += 1

    def remove(self, edge: int) -> None:
        """Remove an edge; call this while ``hash_of`` still knows it."""
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
        """Resize to at least twice the slots that the edges need, without the deleted slots."""
        kept: Iterable[int] = [held - _FIRST for held in self._slots if held not in {_FREE, _GONE}]
        size = _SMALLEST
        while self._edges >= _FULLEST / 2 * size:
            size *= 2
        self._slots = array("I", [_FREE]) * size
        self._taken = 0
        for edge in kept:
            self._put(edge, self._hash_of(edge))


class Edges:
    """Edges by number. Relations are compared without regard to case and keep their first spelling."""

    def __init__(self, graph: Graph) -> None:
        """``graph`` holds nodes and edges; only this class changes its edges."""
        self.bytes = 0
        self._graph = graph
        self._sequence = array("Q")
        self._added = 0
        self._spelling: dict[str, str] = {}
        self._number_of: Counter[str] = Counter()
        # Bound to the graph, not to this object: a reference cycle would delay freeing a dropped graph.
        self._index = _EdgeIndex(partial(_hash_of, graph))

    @property
    def added(self) -> int:
        """The number of edges that were ever added: the sequence number of the next one."""
        return self._added

    @property
    def relations(self) -> dict[str, int]:
        """The number of edges of each relation, by its spelling."""
        return {self._spelling[key]: number for key, number in self._number_of.items()}

    def spelled(self, relation: str) -> str | None:
        """The stored spelling of a relation; None if no edge has it."""
        return self._spelling.get(relation.casefold())

    def number_of(self, relation: str) -> int:
        """The number of edges of a relation."""
        return self._number_of[relation.casefold()]

    def at(self, number: int) -> Edge:
        """The edge with this number."""
        source, target = self._graph.get_edge_endpoints_by_index(number)
        payload = self._graph.get_edge_data_by_index(number)
        if isinstance(payload, str):
            return Edge(self._sequence[number], source, target, payload, NONE)
        return Edge(self._sequence[number], source, target, payload.relation, payload.properties)

    def find(self, source: int, target: int, relation: str) -> int | None:
        """The number of the edge with this relation between two nodes."""
        spelled = self.spelled(relation)
        if spelled is None:
            return None
        sought = (source, target, spelled)
        return self._index.find(hash(sought), lambda number: self.at(number)[1:4] == sought)

    def size_of(self, relation: str, properties: Properties) -> int:
        """The bytes that one more edge would take."""
        own = 0 if relation.casefold() in self._spelling else sizes.of_relation(relation)
        return sizes.EDGE + own + sizes.of_properties(properties)

    def put(self, source: int, target: int, relation: str, properties: Properties) -> None:
        """Add an edge that does not exist yet."""
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
        """Replace the properties of an edge."""
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
        """The edges of a node, between two nodes, or all: in order of insertion, after a sequence number."""
        if source is target is None:
            yield from self._all(after)
            return
        for number in sorted(self._of_either(source, target), key=self._sequence.__getitem__):
            start, end = self._graph.get_edge_endpoints_by_index(number)
            if self._sequence[number] > after and source in {None, start} and target in {None, end}:
                yield number

    def _of_either(self, source: int | None, target: int | None) -> Iterable[int]:
        """The edges at the end with fewer edges."""
        graph = self._graph
        if source is None or (target is not None and graph.in_degree(target) < graph.out_degree(source)):
            return graph.in_edge_indices(target) if target is not None else ()
        return graph.out_edge_indices(source)

    def _all(self, after: int) -> Iterator[int]:
        """Sorted by sequence: numbers of removed edges are reused, so numbers alone give no order."""
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
