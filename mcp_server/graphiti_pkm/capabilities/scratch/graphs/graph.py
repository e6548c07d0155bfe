"""One scratch graph, stored in rustworkx: labelled nodes and directed edges, one per relation and pair of nodes.

Internally nodes are numbers; callers use labels. Nothing here waits or locks: whoever changes a graph holds its lock.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import rustworkx

from graphiti_pkm.capabilities.scratch.algorithms.relations import EdgeRelations
from graphiti_pkm.capabilities.scratch.algorithms.view import Gathered, View, view_of, weights_of
from graphiti_pkm.capabilities.scratch.checks import OVERGROWN, overgrown
from graphiti_pkm.capabilities.scratch.graphs import sizes
from graphiti_pkm.capabilities.scratch.graphs.edges import Edge, Edges, Graph
from graphiti_pkm.capabilities.scratch.graphs.label_forms import loose_key, words
from graphiti_pkm.capabilities.scratch.graphs.label_vectors import LabelVectors
from graphiti_pkm.capabilities.scratch.limits import NONE, Content, Load, Properties, ScratchEdge, ScratchNode
from graphiti_pkm.core.model.names import same_key
from graphiti_pkm.errors import TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

_SHOWN = 60


class Applied(NamedTuple):
    """The number of nodes and edges that were new, and of edges that were there and have other properties now."""

    nodes_added: int
    edges_added: int
    edges_changed: int = 0


class Merged(NamedTuple):
    """What became of the edges of a node that was merged into another one, and which properties were not taken."""

    moved: list[Edge]
    met: list[Edge]
    """Edges that the other node had too; they are one now."""
    dropped: list[Edge]
    """Edges between the two."""
    of_node: list[str]
    of_edges: list[tuple[Edge, str]]


class ScratchGraph:
    """A directed multigraph. Relations are compared without regard to case and keep their first spelling."""

    def __init__(self, limits: ScratchLimits, bytes_elsewhere: Callable[[], int] = lambda: 0) -> None:
        """``bytes_elsewhere`` returns the bytes of the tenant's other graphs, which count towards the same limit."""
        self.version = 0
        """Incremented by every change."""
        self.vectors = LabelVectors()
        """The vectors of the labels; nodes that have none yet are pending there."""
        self.limits = limits
        self.loads: list[Load] = []
        """What was loaded from memory, the last load last."""
        self._aliases: dict[str, dict[str, None]] = {}
        self._bytes_elsewhere = bytes_elsewhere
        self._graph: Graph = rustworkx.PyDiGraph(multigraph=True)
        self._edges = Edges(self._graph)
        self._by_same: dict[str, int] = {}
        self._by_loose: dict[str, list[int]] = {}
        self._sequence: dict[int, int] = {}
        self._added = 0
        self._bytes = 0
        self._views: dict[tuple[str | None, str | None, Gathered], tuple[int, View]] = {}

    # Queries

    @property
    def is_part_of_memory(self) -> bool:
        """Whether memory holds more next to what was loaded last."""
        return bool(self.loads) and (self.loads[-1].is_cut or self.loads[-1].beyond > 0)

    @property
    def node_count(self) -> int:
        return self._graph.num_nodes()

    @property
    def edge_count(self) -> int:
        return self._graph.num_edges()

    @property
    def is_dag(self) -> bool:
        """Whether there is no cycle; a self-loop is one."""
        return rustworkx.is_directed_acyclic_graph(self._graph)

    @property
    def bytes(self) -> int:
        """The estimated memory of labels, properties, edges and vectors."""
        return self._bytes + self._edges.bytes + self.vectors.bytes

    @property
    def relations(self) -> dict[str, int]:
        """The number of edges of each relation, by its spelling."""
        return self._edges.relations

    def find(self, label: str) -> int | None:
        """The node with this label, ignoring case, spaces, hyphens and underscores."""
        return self._by_same.get(same_key(label))

    def loose(self, label: str) -> list[int]:
        """The nodes whose labels differ from this one only in punctuation; there may be several."""
        return list(self._by_loose.get(loose_key(label), ()))

    def called(self, name: str) -> list[int]:
        """The nodes that memory also calls so; a node of this label is not among them."""
        found = (self.find(label) for label in self._aliases.get(same_key(name), ()))
        return [index for index in found if index is not None]

    def call(self, label: str, aliases: Iterable[str]) -> None:
        """Remember what memory also calls the node with this label."""
        for alias in aliases:
            self._aliases.setdefault(same_key(alias), {})[label] = None

    def node(self, index: int) -> ScratchNode:
        return self._graph[index]

    def label(self, index: int) -> str:
        return self._graph[index].label

    def order(self) -> Iterator[int]:
        """The nodes in order of insertion."""
        return iter(self._sequence)

    def sequence(self, index: int) -> int:
        """The place of a node in the order of insertion; it does not change when other nodes are removed."""
        return self._sequence[index]

    def edges(
        self, source: int | None = None, target: int | None = None, relation: str | None = None, after: int = -1
    ) -> Iterator[Edge]:
        """Matching edges in order of insertion, after a sequence number."""
        spelled = None if relation is None else self._edges.spelled(relation)
        if relation is not None and spelled is None:
            return
        for number in self._edges.numbers(source, target, after):
            edge = self._edges.at(number)
            if spelled is None or edge.relation is spelled:
                yield edge

    def count_edges(self, source: int | None = None, target: int | None = None, relation: str | None = None) -> int:
        """The number of matching edges."""
        if source is target is None:
            return self.edge_count if relation is None else self._edges.number_of(relation)
        return sum(1 for _ in self.edges(source, target, relation))

    def degrees(self, index: int, relation: str | None = None) -> tuple[int, int]:
        """The number of incoming and of outgoing edges; a self-loop counts in both."""
        if relation is None:
            return self._graph.in_degree(index), self._graph.out_degree(index)
        return self.count_edges(target=index, relation=relation), self.count_edges(source=index, relation=relation)

    def content(self, indices: Iterable[int] | None = None) -> Content:
        """The whole graph, or some nodes and the edges between them."""
        chosen = None if indices is None else set(indices)
        return Content(
            nodes=tuple(self.node(index) for index in self.order() if chosen is None or index in chosen),
            edges=tuple(
                ScratchEdge(self.label(edge.source), self.label(edge.target), edge.relation, edge.properties)
                for edge in (self.edges() if chosen is None else self.edges_among(chosen))
            ),
        )

    def edges_among(self, chosen: Collection[int]) -> list[Edge]:
        """The edges between some nodes, in order of insertion."""
        inside = [edge for index in chosen for edge in self.edges(source=index) if edge.target in chosen]
        return sorted(inside, key=lambda edge: edge.sequence)

    def view(self, weight: str | None = None, relation: str | None = None, gathered: Gathered = "least") -> View:
        """The simple directed graph that algorithms take, of all relations or one; cached until the graph changes.

        Raises:
            InvalidInput: the weight property is not always a number, or no edge has it.
        """
        asked = (weight, relation and relation.casefold(), gathered)
        version, kept = self._views.get(asked, (-1, None))
        if kept is None or version != self.version:
            version = self.version
            kept = self._viewed(weight, relation, gathered)
            self._views = {one: held for one, held in self._views.items() if held[0] == self.version}
            if version == self.version:  # otherwise the graph changed meanwhile and this view is outdated
                self._views[asked] = (version, kept)
        return kept

    def edge_relations(self, relation: str | None = None) -> EdgeRelations:
        """Every edge with its relation, or those of one relation; the ends are numbered as in the view."""
        nodes = np.fromiter(self._graph.node_indices(), dtype=np.int64, count=self.node_count)
        ends = np.array(self._graph.edge_list(), dtype=np.int64).reshape(-1, 2)
        names = [payload if isinstance(payload, str) else payload.relation for payload in self._graph.edges()]
        found = EdgeRelations(np.searchsorted(nodes, ends[:, 0]), np.searchsorted(nodes, ends[:, 1]), names)
        return found if relation is None else found.of(self._edges.spelled(relation))

    # Changes

    def add_node(self, node: ScratchNode) -> tuple[int, bool]:
        """Add a node, or find the one with its label, which is left unchanged.

        Raises:
            TooLarge: a limit would be exceeded; nothing was added.
        """
        key = same_key(node.label)
        if (found := self._by_same.get(key)) is not None:
            return found, False
        self._make_room(1, 0, _size_of(node))
        return self._put_node(node), True

    def merge_node(self, index: int, kind: str | None, properties: Properties) -> tuple[str, ...]:
        """Set a missing type and add properties, replacing existing values; returns what was not applied.

        Raises:
            TooLarge: a limit would be exceeded; nothing was changed.
        """
        old = self._graph[index]
        self._make_room(0, 0, _size_of(_joined(old, kind, properties)) - _size_of(old))
        return self._merge_node(index, kind, properties)

    def remove_node(self, index: int) -> int:
        """Remove a node with its vector and its edges; returns the number of edges."""
        going = {*self._graph.out_edge_indices(index), *self._graph.in_edge_indices(index)}
        for number in going:
            self._edges.drop(number)
        node = self._graph[index]
        self._unlist(index, node.label)
        del self._sequence[index]
        self.vectors.drop(index)
        self._graph.remove_node(index)
        self._bytes -= _size_of(node)
        self.version += 1
        return len(going)

    def merge_nodes(self, keep: int, remove: int) -> Merged:
        """Merge a node into another one, whose type and properties win; edges between the two are dropped.

        Raises:
            TooLarge: properties would become too large; nothing was changed.
        """
        kept, gone = self._graph[keep], self._graph[remove]
        going = {edge.sequence: edge for edge in (*self.edges(source=remove), *self.edges(target=remove))}
        merged = Merged([], [], [], _differing(gone.properties, kept.properties), [])
        properties: list[tuple[Edge, Properties]] = []
        for _, edge in sorted(going.items()):
            if {edge.source, edge.target} == {keep, remove}:
                merged.dropped.append(edge)
                continue
            source, target = (keep if end == remove else end for end in (edge.source, edge.target))
            after = edge._replace(source=source, target=target)
            known = self._edges.find(source, target, edge.relation)
            old = NONE if known is None else self._edges.at(known).properties
            (merged.moved if known is None else merged.met).append(after)
            merged.of_edges.extend((after, name) for name in _differing(edge.properties, old))
            properties.append((after, {**edge.properties, **old}))
        of_node = {**gone.properties, **kept.properties}
        self._refuse_overgrown(
            Content(
                nodes=(ScratchNode(kept.label, None, of_node),),
                edges=tuple(
                    ScratchEdge(self.label(edge.source), self.label(edge.target), edge.relation, whole)
                    for edge, whole in properties
                ),
            ),
            "changed",
        )
        self.remove_node(remove)
        self._merge_node(keep, gone.type, of_node)
        for edge, whole in properties:
            known = self._edges.find(edge.source, edge.target, edge.relation)
            self._merge_edge(known, edge.source, edge.target, edge.relation, whole)
        return merged

    def rename(self, index: int, label: str) -> None:
        """Give a node another label, which no other node has.

        Raises:
            TooLarge: a limit would be exceeded; nothing was changed.
        """
        old = self._graph[index]
        new = replace(old, label=label)
        self._make_room(0, 0, _size_of(new) - _size_of(old))
        self._unlist(index, old.label)
        self._graph[index] = new
        self._list(index, label)
        if words(label) != words(old.label):
            self.vectors.drop(index)
            self.vectors.expect(index)
        self._bytes += _size_of(new) - _size_of(old)
        self.version += 1

    def add_edge(self, source: int, target: int, relation: str, properties: Properties = NONE) -> bool:
        """Add an edge, or merge the properties into the existing one.

        Raises:
            TooLarge: a limit would be exceeded; nothing was changed.
        """
        found = self._edges.find(source, target, relation)
        if found is None:
            self._make_room(0, 1, self._edges.size_of(relation, properties))
        else:
            old = self._edges.at(found).properties
            self._make_room(0, 0, sizes.of_properties(_merged(old, properties)) - sizes.of_properties(old))
        return self._merge_edge(found, source, target, relation, properties)

    def remove_edges(self, source: int, target: int, relation: str | None = None) -> int:
        """Remove all edges from one node to another, or the one of a relation; returns their number."""
        if relation is None:
            going = list(self._edges.numbers(source, target))
        else:
            found = self._edges.find(source, target, relation)
            going = [] if found is None else [found]
        for number in going:
            self._edges.drop(number)
        if going:
            self.version += 1
        return len(going)

    def overgrown(self, content: Content) -> tuple[list[int], list[int]]:
        """The positions of the nodes and edges whose properties would become too large by merging."""
        return (
            overgrown(content.nodes, lambda node: same_key(node.label), self._of_node),
            overgrown(content.edges, _key_of, self._of_edge),
        )

    def apply(self, content: Content) -> Applied:
        """Add all nodes and edges of a content, merging them with existing ones. Beyond a limit nothing is added.

        Raises:
            TooLarge: a limit would be exceeded; nothing was added.
        """
        self._refuse_overgrown(content, "added")
        nodes, edges, size = self._plan(content)
        self._make_room(nodes, edges, size)
        before = self.node_count, self.edge_count
        for node in content.nodes:
            key = same_key(node.label)
            if (found := self._by_same.get(key)) is None:
                self._put_node(node)
            else:
                self._merge_node(found, node.type, node.properties)
        first_new, changed = self._edges.added, set[int]()
        for edge in content.edges:
            source, target = self._found_or_put(edge.source), self._found_or_put(edge.target)
            known = self._edges.find(source, target, edge.relation)
            version = self.version
            self._merge_edge(known, source, target, edge.relation, edge.properties)
            if known is not None and version < self.version:
                changed.add(self._edges.at(known).sequence)
        return Applied(
            self.node_count - before[0], self.edge_count - before[1], sum(one < first_new for one in changed)
        )

    # Internals

    def _refuse_overgrown(self, content: Content, done: str) -> None:
        too_much, between = self.overgrown(content)
        told = [repr(content.nodes[at].label[:_SHOWN]) for at in too_much]
        told += [f"{content.edges[at].source[:_SHOWN]!r} -> {content.edges[at].target[:_SHOWN]!r}" for at in between]
        if told:
            raise TooLarge(f"{told[0]}: {OVERGROWN}. Nothing was {done}.")

    def _list(self, index: int, label: str) -> None:
        self._by_same[same_key(label)] = index
        if loose := loose_key(label):
            self._by_loose.setdefault(loose, []).append(index)

    def _unlist(self, index: int, label: str) -> None:
        del self._by_same[same_key(label)]
        if loose := loose_key(label):
            self._by_loose[loose].remove(index)
            if not self._by_loose[loose]:
                del self._by_loose[loose]

    def _of_node(self, key: str) -> Properties:
        index = self._by_same.get(key)
        return NONE if index is None else self._graph[index].properties

    def _of_edge(self, key: tuple[str, str, str]) -> Properties:
        source, target = (self._by_same.get(end) for end in key[:2])
        found = None if source is None or target is None else self._edges.find(source, target, key[2])
        return NONE if found is None else self._edges.at(found).properties

    def _plan(self, content: Content) -> tuple[int, int, int]:
        """The number of nodes and edges that a content would add, and an upper bound on their bytes."""
        named = [node.label for node in content.nodes]
        named += [label for edge in content.edges for label in (edge.source, edge.target)]
        key_of = {label: same_key(label) for label in named}
        new = {key_of[label]: label for label in named if key_of[label] not in self._by_same}
        size = sum(_size_of(ScratchNode(label)) for label in new.values())
        size += sum(sizes.of_properties(node.properties) + sizes.of_text(node.type or "") for node in content.nodes)
        fresh: set[tuple[str, str, str]] = set()
        for edge in content.edges:
            source, target = key_of[edge.source], key_of[edge.target]
            size += sizes.of_properties(edge.properties)
            known = source not in new and target not in new
            if known and self._edges.find(self._by_same[source], self._by_same[target], edge.relation) is not None:
                continue
            fresh.add((source, target, edge.relation.casefold()))
        relations = {relation for _, _, relation in fresh if self._edges.spelled(relation) is None}
        return len(new), len(fresh), size + len(fresh) * sizes.EDGE + sum(map(sizes.of_relation, relations))

    def _make_room(self, nodes: int, edges: int, size: int) -> None:
        for what, have, more, most in (
            ("nodes", self.node_count, nodes, self.limits.nodes),
            ("edges", self.edge_count, edges, self.limits.edges),
        ):
            if more > 0 and have + more > most:
                raise TooLarge(
                    f"A scratch graph may have at most {most:,} {what} (scratch_{what}); this one has {have:,} and "
                    f"{more:,} more were to be added. Nothing was added: remove some first, or use another graph."
                )
        if size > 0 and self.bytes + self._bytes_elsewhere() + size > self.limits.bytes:
            raise TooLarge(
                f"Your scratch graphs may take at most {self.limits.bytes:,} bytes together (scratch_bytes), which "
                "this would exceed. Nothing was added: delete_graph removes graphs that are no longer needed."
            )

    def _found_or_put(self, label: str) -> int:
        key = same_key(label)
        found = self._by_same.get(key)
        return self._put_node(ScratchNode(label)) if found is None else found

    def _put_node(self, node: ScratchNode) -> int:
        kept = ScratchNode(node.label, node.type, _merged(NONE, node.properties))
        index = self._graph.add_node(kept)
        self._list(index, node.label)
        self._sequence[index] = self._added
        self._added += 1
        self.vectors.expect(index)
        self._bytes += _size_of(kept)
        self.version += 1
        return index

    def _merge_node(self, index: int, kind: str | None, properties: Properties) -> tuple[str, ...]:
        old = self._graph[index]
        new = _joined(old, kind, properties)
        if new != old:
            self._graph[index] = new
            self._bytes += _size_of(new) - _size_of(old)
            self.version += 1
        if kind is None or new.type == kind:
            return ()
        return (f"type stays {new.type!r}, not {kind!r}",)

    def _merge_edge(self, found: int | None, source: int, target: int, relation: str, properties: Properties) -> bool:
        if found is None:
            self._edges.put(source, target, relation, properties)
            self.version += 1
            return True
        old = self._edges.at(found).properties
        merged = _merged(old, properties)
        if merged != old:
            self._edges.describe(found, merged)
            self.version += 1
        return False

    def _viewed(self, weight: str | None, relation: str | None, gathered: Gathered) -> View:
        indices = self._graph.node_indices()
        nodes = np.fromiter(indices, dtype=np.int64, count=len(indices))
        if relation is None and weight is None:
            return view_of(nodes, np.array(self._graph.edge_list(), dtype=np.int64))
        edges = list(self.edges(relation=relation))
        weights = None if weight is None else weights_of((edge.properties for edge in edges), weight)
        return view_of(nodes, [(edge.source, edge.target) for edge in edges], weights, gathered)


def _key_of(edge: ScratchEdge) -> tuple[str, str, str]:
    return same_key(edge.source), same_key(edge.target), edge.relation.casefold()


def _merged(old: Properties, new: Properties) -> Properties:
    return {**old, **new} if new else old


def _differing(properties: Properties, others: Properties) -> list[str]:
    """The names of properties that others have with another value."""
    return [name for name, value in properties.items() if name in others and others[name] != value]


def _joined(old: ScratchNode, kind: str | None, properties: Properties) -> ScratchNode:
    return ScratchNode(old.label, old.type or kind, _merged(old.properties, properties))


def _size_of(node: ScratchNode) -> int:
    named = sizes.of_label(node.label) + (sizes.of_text(node.type) if node.type else 0)
    return sizes.NODE + named + sizes.of_properties(node.properties)
