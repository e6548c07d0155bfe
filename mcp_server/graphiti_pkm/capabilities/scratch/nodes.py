"""Adding, finding, listing, merging, renaming and removing nodes of scratch graphs by label."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.scratch.checks import OVERGROWN, checked_label, checked_properties, checked_type
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchNode
from graphiti_pkm.capabilities.scratch.matching.matching import Found, Matcher, Missing, candidates_text, shown
from graphiti_pkm.capabilities.scratch.matching.similar_nodes import find_similar_labels
from graphiti_pkm.capabilities.scratch.models.answers import (
    AddNodeResponse,
    AddNodesResponse,
    EdgeEnds,
    FailedNode,
    FindNodeResponse,
    LabelCandidate,
    ListNodesResponse,
    MergeNodesResponse,
    NodeMatch,
    RemoveNodeResponse,
    RenameNodeResponse,
    ScratchNodeView,
)
from graphiti_pkm.capabilities.scratch.models.requests import NodeInput
from graphiti_pkm.capabilities.scratch.pages import (
    Place,
    fitting,
    has_properties,
    is_of,
    listed,
    relation_note,
    type_note,
)
from graphiti_pkm.capabilities.scratch.requests import (
    AddNode,
    AddNodes,
    FindNode,
    ListNodes,
    MergeNodes,
    RemoveNode,
    RenameNode,
)
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import AmbiguousLabel, InvalidInput

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.edges import Edge
    from graphiti_pkm.capabilities.scratch.graphs.graph import Applied, ScratchGraph

_MOST_LISTED = 20
"""Conflicts, or edges of one kind, listed in an answer."""
_FAILURES_ROOM = 12_000
"""Characters for the failed items of a batch."""


class ScratchNodes:
    """``add_node``, ``add_nodes``, ``find_node``, ``remove_node``, ``merge_nodes``, ``rename_node``, ``list_nodes``."""

    def __init__(self, graphs: ScratchGraphs, matcher: Matcher) -> None:
        self._graphs = graphs
        self._matcher = matcher

    async def add_node(self, caller: Caller, request: AddNode) -> AddNodeResponse:
        """Add a node, or merge into the one with this label. Similar nodes are reported but never used instead."""
        node = ScratchNode(
            checked_label(request.label), checked_type(request.type), checked_properties(request.properties)
        )
        async with self._matcher.writing(caller, request.graph, [node.label]) as found:
            applied = found.graph.apply(Content(nodes=(node,)))
            index = settled(found, node.label)
            return AddNodeResponse(
                **found.opened.message_if_created,
                node=node_view(found.graph, index),
                created=bool(applied.nodes_added),
                conflicts=_conflicts(found.graph, [node]) or None,
                similar_existing=self._similar(found, node.label) if applied.nodes_added else [],
                note=found.note if applied.nodes_added else None,
            )

    async def add_nodes(self, caller: Caller, request: AddNodes) -> AddNodesResponse:
        """Add the valid nodes, embedded in one batch; the others are returned with reasons."""
        good, failed = await in_thread(_checked, request.nodes)
        async with self._matcher.writing(caller, request.graph, [node.label for node in good]) as found:
            good, new, applied = await in_thread(_put, found, good, failed)
            kept = fitting(failed, _FAILURES_ROOM) if failed else 0
            return AddNodesResponse(
                **found.opened.message_if_created,
                added=applied.nodes_added,
                existing=len(good) - applied.nodes_added,
                failed=failed[:kept],
                failed_total=len(failed) if kept < len(failed) else None,
                conflicts=(await in_thread(_conflicts, found.graph, good))[:_MOST_LISTED] or None,
                similar_existing=await find_similar_labels(found, new, self._matcher),
                note=found.note if new else None,
            )

    async def find_node(self, caller: Caller, request: FindNode) -> FindNodeResponse:
        """The nodes that match a text, the best first; without an embedding model, by letters and words only."""
        async with self._matcher.reading(caller, request.graph, [request.query]) as found:
            meaning = found.meanings[request.query.strip()]
            candidates = found.candidates(request.query)
            far = isinstance(meaning, Missing) and found.note is None
            matches = [
                NodeMatch(**node_view(found.graph, one.index).model_dump(), similarity=one.shown_similarity)
                for one in candidates
                if one.similarity >= self._matcher.threshold and not far
            ]
            told = f"; nearest: {candidates_text(candidates)}" if candidates else ""
            return FindNodeResponse(
                matches=matches[: fitting(matches)] if matches else [],
                message=None if matches else f"No node is like {shown(request.query)}{told}. list_nodes lists them.",
                note=found.note,
            )

    async def remove_node(self, caller: Caller, request: RemoveNode) -> RemoveNodeResponse:
        """Remove the node with this label and its edges. A node that is only similar is not removed, but suggested."""
        async with self._matcher.writing(caller, request.graph, [request.label], create=False) as found:
            match = found.certain(request.label)
            removed = found.graph.remove_node(match.index)
            return RemoveNodeResponse(success=True, removed=match.label, edges_removed=removed)

    async def merge_nodes(self, caller: Caller, request: MergeNodes) -> MergeNodesResponse:
        """Merge the second node into the first one, and say what became of its edges.

        Raises:
            InvalidInput: both are the same node.
        """
        async with self._matcher.writing(caller, request.graph, [request.keep, request.remove], create=False) as found:
            keep, remove = found.certain(request.keep), found.certain(request.remove)
            if keep.index == remove.index:
                raise InvalidInput(f"keep and remove are the same node, {shown(keep.label)}. Nothing was changed.")
            gone = _named(found.graph, [*found.graph.edges(remove.index), *found.graph.edges(target=remove.index)])
            merged = await in_thread(found.graph.merge_nodes, keep.index, remove.index)
            moved, met = (_named(found.graph, edges) for edges in (merged.moved, merged.met))
            dropped = [one for one in gone if {one.source, one.target} == {keep.label, remove.label}]
            conflicts = [f"property {name!r} of the node stays as it was" for name in merged.of_node]
            for edge, name in merged.of_edges:
                (named,) = _named(found.graph, [edge])
                told = f"{shown(named.source)} -{named.relation}-> {shown(named.target)}"
                conflicts.append(f"property {name!r} of {told} stays as it was")
            return MergeNodesResponse(
                label=keep.label,
                removed=remove.label,
                edges_moved=moved[:_MOST_LISTED],
                edges_moved_total=len(moved),
                edges_met=met[:_MOST_LISTED],
                edges_met_total=len(met),
                edges_dropped=dropped[:_MOST_LISTED],
                conflicts=conflicts[:_MOST_LISTED],
            )

    async def rename_node(self, caller: Caller, request: RenameNode) -> RenameNodeResponse:
        """Give a node another label.

        Raises:
            AmbiguousLabel: another node has that label.
        """
        label = checked_label(request.new_label)
        async with self._matcher.writing(caller, request.graph, [request.label, label], create=False) as found:
            graph, old = found.graph, found.certain(request.label)
            if graph.find(label) not in {None, old.index}:
                raise AmbiguousLabel(
                    f"There is a node {shown(label)} already; nothing was changed. If both are one, use merge_nodes."
                )
            graph.rename(old.index, label)
            settled(found, label)
            edges = {edge.sequence: edge for edge in (*graph.edges(old.index), *graph.edges(target=old.index))}
            moved = _named(graph, [edge for _, edge in sorted(edges.items())])
            return RenameNodeResponse(
                label=label, removed=old.label, edges_moved=moved[:_MOST_LISTED], edges_moved_total=len(moved)
            )

    async def list_nodes(self, caller: Caller, request: ListNodes) -> ListNodesResponse:
        """Nodes in order of insertion, optionally of one type, with some properties or with bounds of their degrees.

        Raises:
            InvalidInput: ``relation`` is given without a bound.
        """
        rows, kind = request.limit, request.type
        checked_properties(request.properties)
        degrees = (request.max_in_degree, request.max_out_degree, request.min_out_degree)
        if request.relation is not None and degrees == (None, None, None):
            raise InvalidInput(
                "relation selects the edges that count for max_in_degree or max_out_degree, or min_out_degree, and "
                "none of them is given. To list the edges of a relation, use find_edges."
            )
        async with self._graphs.reading(caller, request.graph) as opened:
            held = opened.graph
            place = Place.of(self._graphs, opened, caller, request, request.cursor)
            typed = [index for index in held.order() if is_of(held.node(index), kind)]
            fit = [index for index in typed if _fits(held, index, request)]
            after = int(place.after[0]) if place.after else -1
            page = listed(
                (index for index in fit if held.sequence(index) > after),
                len(fit),
                rows,
                lambda index: node_view(held, index),
                lambda index: (held.sequence(index),),
                place,
                opened,
            )
            note = relation_note(held, request.relation) if typed or kind is None else type_note(held, kind)
            return ListNodesResponse(nodes=page.items, note=note, **page.counts)

    def _similar(self, found: Found, label: str) -> list[LabelCandidate]:
        """Existing nodes so similar to a new one that they may be the same."""
        return [one.view for one in found.candidates(label) if one.similarity >= self._matcher.threshold]


def settled(found: Found, label: str) -> int:
    """The index of a node that was just added, after its label's vector has been stored."""
    index = found.graph.find(label)
    assert index is not None  # noqa: S101  (it was added under the same hold)
    vector = found.vectors.get(label)
    if vector is not None and index in found.graph.vectors.pending:
        found.graph.vectors.add(index, vector)
    return index


def _named(graph: "ScratchGraph", edges: Iterable["Edge"]) -> list[EdgeEnds]:
    return [
        EdgeEnds(source=graph.label(edge.source), target=graph.label(edge.target), relation=edge.relation)
        for edge in edges
    ]


def _conflicts(graph: "ScratchGraph", nodes: Sequence[ScratchNode]) -> list[str]:
    """Reports types that were not set because the nodes already had others."""
    kept = ((node, graph.node(index)) for node in nodes if (index := graph.find(node.label)) is not None)
    return [
        f"{shown(had.label)} stays of type {had.type!r}, not {node.type!r}"
        for node, had in kept
        if node.type not in {None, had.type}
    ]


def _put(
    found: Found, nodes: Sequence[ScratchNode], failed: list[FailedNode]
) -> tuple[list[ScratchNode], list[str], "Applied"]:
    """Add the nodes; returns them and the new labels, and appends those with too large properties to ``failed``."""
    grown, _ = found.graph.overgrown(Content(nodes=tuple(nodes)))
    failed += [FailedNode(node=shown(nodes[at].label), reason=OVERGROWN) for at in grown]
    good = [node for at, node in enumerate(nodes) if at not in grown]
    new = [node.label for node in good if found.graph.find(node.label) is None]
    applied = found.graph.apply(Content(nodes=tuple(good)))
    for label in new:
        settled(found, label)
    return good, new, applied


def _checked(nodes: Sequence[NodeInput]) -> tuple[list[ScratchNode], list[FailedNode]]:
    good: list[ScratchNode] = []
    failed: list[FailedNode] = []
    for node in nodes:
        try:
            good.append(
                ScratchNode(checked_label(node.label), checked_type(node.type), checked_properties(node.properties))
            )
        except InvalidInput as error:
            failed.append(FailedNode(node=shown(node.label), reason=error.message))
    return good, failed


def node_view(graph: "ScratchGraph", index: int) -> ScratchNodeView:
    node = graph.node(index)
    return ScratchNodeView(label=node.label, type=node.type, properties=dict(node.properties))


def _fits(graph: "ScratchGraph", index: int, request: ListNodes) -> bool:
    if not has_properties(graph.node(index).properties, request.properties):
        return False
    bounds = (request.max_in_degree, request.max_out_degree, request.min_out_degree)
    if bounds == (None, None, None):
        return True
    most_in, most_out, least_out = bounds
    into, out = graph.degrees(index, request.relation)
    return (
        (most_in is None or into <= most_in)
        and (most_out is None or out <= most_out)
        and (least_out is None or out >= least_out)
    )
