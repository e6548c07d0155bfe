"""Reading scratch graphs: edges, neighbours, subgraphs and statistics."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphiti_pkm.capabilities.scratch.checks import checked_properties
from graphiti_pkm.capabilities.scratch.edges import matched
from graphiti_pkm.capabilities.scratch.matching.matching import Ambiguous, Found, Match, Matcher
from graphiti_pkm.capabilities.scratch.models.answers import (
    AmbiguousText,
    FindEdgesResponse,
    GetNeighborsResponse,
    GraphInfoResponse,
    NeighborView,
    ScratchEdgeView,
    ScratchSubgraphResponse,
)
from graphiti_pkm.capabilities.scratch.nodes import node_view
from graphiti_pkm.capabilities.scratch.pages import (
    ROOM,
    UNTYPED,
    Place,
    fitting,
    has_properties,
    is_of,
    listed,
    relation_note,
)
from graphiti_pkm.capabilities.scratch.requests import FindEdges, GetGraphInfo, GetNeighbors, Subgraph
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.reading.paging import SCRATCH_ROWS as ROWS
from graphiti_pkm.core.waiting import in_thread

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.edges import Edge
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph

Direction: TypeAlias = Literal["in", "out", "both"]

_MOST_KINDS = 100
"""The most types, and relations, that are listed with their counts."""


class ScratchLooking:
    """``find_edges``, ``get_neighbors``, ``subgraph`` and ``get_graph_info``."""

    def __init__(self, graphs: ScratchGraphs, matcher: Matcher) -> None:
        self._graphs = graphs
        self._matcher = matcher

    async def find_edges(self, caller: Caller, request: FindEdges) -> FindEdgesResponse:
        """Edges in order of insertion, optionally of one source, target or relation, or between two groups."""
        rows = request.limit
        checked_properties(request.properties)
        ends = [end for end in (request.source, request.target) if end is not None]
        named = [label for group in request.between or () for label in group]
        async with self._matcher.reading(caller, request.graph, [*ends, *named]) as found:
            held = found.graph
            start, end = (None if text is None else found.match(text) for text in (request.source, request.target))
            filters = (start.index if start else None, end.index if end else None, request.relation)
            place = Place.of(
                self._graphs, found.opened, caller, request, request.cursor, source=filters[0], target=filters[1]
            )
            groups = [{found.match(label).index for label in group} for group in request.between or ()]
            after = int(place.after[0]) if place.after else -1
            if groups or request.source_type or request.target_type or request.properties:
                edges = [edge for edge in held.edges(*filters) if _fits(held, edge, request, groups)]
                following: Iterable[Edge] = (edge for edge in edges if edge.sequence > after)
                total = len(edges)
            else:
                following, total = held.edges(*filters, after=after), held.count_edges(*filters)
            page = listed(
                following,
                total,
                rows,
                lambda edge: _edge_view(held, edge),
                lambda edge: (edge.sequence,),
                place,
                found.opened,
            )
            return FindEdgesResponse(
                source_matched=start and start.label,
                target_matched=end and end.label,
                edges=page.items,
                note=found.note or relation_note(held, request.relation),
                **page.counts,
            )

    async def get_neighbors(self, caller: Caller, request: GetNeighbors) -> GetNeighborsResponse:
        """The neighbours of a node, one row for each edge and direction."""
        rows = request.limit
        async with self._matcher.reading(caller, request.graph, [request.node]) as found:
            held, match = found.graph, found.match(request.node)
            joined = _joined(held, match.index, request.direction, request.relation)
            place = Place.of(self._graphs, found.opened, caller, request, request.cursor, node=match.index)
            page = listed(
                (row for row in joined if place.after is None or row[:2] > place.after),
                len(joined),
                rows,
                lambda row: NeighborView(label=held.label(row[2]), relation=row[3], direction=row[1]),
                lambda row: row[:2],
                place,
                found.opened,
            )
            return GetNeighborsResponse(
                matched=match.label,
                similarity=None if match.how == "exact" else match.shown_similarity,
                neighbors=page.items,
                note=found.note or relation_note(held, request.relation),
                **page.counts,
            )

    async def subgraph(self, caller: Caller, request: Subgraph) -> ScratchSubgraphResponse:
        """Some nodes and the edges between them; texts without a match and ambiguous texts are listed separately."""
        named = [text for text in request.nodes if text.strip()]
        async with self._matcher.reading(caller, request.graph, named) as found:
            return await in_thread(_part, found, named, include_edges=request.include_edges)

    async def get_graph_info(self, caller: Caller, request: GetGraphInfo) -> GraphInfoResponse:
        """Statistics of a graph."""
        from graphiti_pkm.capabilities.scratch.algorithms import structure  # noqa: PLC0415  (NumPy is loaded with the first graph)

        async with self._graphs.reading(caller, request.graph) as opened:
            held, view = opened.graph, opened.graph.view()
            types: dict[str, int] = {}
            for index in held.order():
                kind = held.node(index).type or UNTYPED
                types[kind] = types.get(kind, 0) + 1
            listed_as = self._graphs.view(opened)
            loops = int((view.sources == view.targets).sum())
            could_be = view.n * (view.n - 1)
            return GraphInfoResponse(
                name=opened.name,
                node_count=held.node_count,
                edge_count=held.edge_count,
                density=(len(view.sources) - loops) / could_be if could_be else 0.0,
                is_connected=structure.is_connected(view),
                is_dag=held.is_dag,
                node_types=_most(types),
                relation_types=_most(held.relations),
                more_types=max(0, len(types) - _MOST_KINDS) or None,
                more_relations=max(0, len(held.relations) - _MOST_KINDS) or None,
                created_at=listed_as.created_at,
                last_accessed=listed_as.last_accessed,
                expires_at=listed_as.expires_at,
            )


_Row: TypeAlias = tuple[int, Literal["in", "out"], int, str]
"""The sequence of an edge, its direction as seen from the node, the other end and the relation."""


def _part(found: Found, named: Sequence[str], *, include_edges: bool) -> ScratchSubgraphResponse:
    meanings = {text: found.meanings[text.strip()] for text in dict.fromkeys(named)}
    chosen = dict.fromkeys(one.index for one in meanings.values() if isinstance(one, Match))
    views = [node_view(found.graph, index) for index in chosen]
    shown_nodes = views[: fitting(views, ROOM // 2)] if views else []
    among = found.graph.edges_among(chosen) if include_edges else []
    edges = [_edge_view(found.graph, edge) for edge in among[: ROWS.maximum]]
    shown_edges = edges[: fitting(edges, ROOM // 3)] if edges else []
    return ScratchSubgraphResponse(
        truncated=len(shown_nodes) < len(views) or len(shown_edges) < len(among),
        nodes=shown_nodes,
        edges=shown_edges,
        edges_total=len(among),
        not_found=[text for text, one in meanings.items() if not isinstance(one, Match | Ambiguous)][:_MOST_KINDS],
        ambiguous=[
            AmbiguousText(text=text, candidates=[candidate.view for candidate in one.candidates])
            for text, one in meanings.items()
            if isinstance(one, Ambiguous)
        ][:_MOST_KINDS],
        matched=matched(found, [text.strip() for text in named]),
        note=found.note,
    )


def _joined(graph: "ScratchGraph", index: int, direction: Direction, relation: str | None) -> list[_Row]:
    rows: list[_Row] = []
    if direction in {"in", "both"}:
        rows += [
            (edge.sequence, "in", edge.source, edge.relation) for edge in graph.edges(target=index, relation=relation)
        ]
    if direction in {"out", "both"}:
        rows += [
            (edge.sequence, "out", edge.target, edge.relation) for edge in graph.edges(source=index, relation=relation)
        ]
    return sorted(rows)


def _fits(graph: "ScratchGraph", edge: "Edge", request: FindEdges, groups: Sequence[set[int]]) -> bool:
    if not is_of(graph.node(edge.source), request.source_type) or not is_of(
        graph.node(edge.target), request.target_type
    ):
        return False
    if groups and not any(edge.source in one and edge.target in other for one, other in (groups, groups[::-1])):
        return False
    return has_properties(edge.properties, request.properties)


def _edge_view(graph: "ScratchGraph", edge: "Edge") -> ScratchEdgeView:
    return ScratchEdgeView(
        source=graph.label(edge.source),
        target=graph.label(edge.target),
        relation=edge.relation,
        properties=dict(edge.properties),
    )


def _most(counts: Mapping[str, int]) -> dict[str, int]:
    """The highest counts, in descending order."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:_MOST_KINDS])
