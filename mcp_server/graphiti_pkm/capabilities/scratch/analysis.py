"""The tools that analyse a whole scratch graph: paths, ranks, components, cycles, the impact of a removal.

A graph is locked only while a snapshot of it is taken. Linear work then runs in a thread, work without a useful time
bound in a worker process. Answers describe the graph as it was when the snapshot was taken.
"""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from graphiti_pkm.capabilities.scratch.edge_meaning import AS_CAUSES, loss_note, notes_on_causes, read_edges
from graphiti_pkm.capabilities.scratch.matching.matching import Match, shown
from graphiti_pkm.capabilities.scratch.models.analysis import (
    AllPathsResponse,
    CausesResponse,
    ComponentsResponse,
    CyclesResponse,
    DegreeRanking,
    DegreesResponse,
    ImpactResponse,
    LabelPair,
    LostNodes,
    PassedNode,
    PassingNode,
    RankingsResponse,
    ReductionResponse,
    RelationEdge,
    ShortestPathResponse,
)
from graphiti_pkm.capabilities.scratch.pages import ROOM, fitting
from graphiti_pkm.capabilities.scratch.requests import (
    AllPaths,
    CommonCauses,
    ConnectedComponents,
    DegreeCentrality,
    FindCycles,
    ImpactOfRemoval,
    Pagerank,
    ShortestPath,
    TransitiveReduction,
)
from graphiti_pkm.capabilities.scratch.snapshots import Labels, Snapshot, Snapshots, must_have
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import Answer
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, Unavailable

if TYPE_CHECKING:  # rustworkx and NumPy are loaded with the first graph
    from graphiti_pkm.capabilities.scratch.algorithms.view import View
    from graphiti_pkm.capabilities.scratch.graphs.edges import Edge
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph
if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph


MOST_DEPENDENTS = 100
"""Nearest dependents for which an impact analysis computes what they could no longer reach."""
_DECIMALS = 6
_CYCLE_LISTED = 8
_BREAKING = 100
"""Breaking edges that are listed at least, if there is room: they are the answer, cycles only examples."""
_TRIES = 3
_MOST_COUNTED = 10_000
"""Cycles that are counted if there are more than are listed."""
_MANY_WAYS = 2**53
"""Larger numbers are not exact in every client."""
_ALONG = " Edges are followed from cause to effect; in a graph of what depends on what use impact_of_removal."
_MOST_LENGTHS = 20
"""Lengths of longer paths that are listed."""
_QUARTER = ROOM // 4
_MORE = (
    "Lists were cut: a higher limit (up to 500) or one relation shows more, get_neighbors what is next to each node."
)
_MOST_RELATIONS = 5
"""Listed for one step of a path."""
_RELATIONS_ROOM = 6_000
"""Characters for the relations of all steps of a path."""
_Told = TypeVar("_Told", bound=Answer)


class ScratchAnalysis:
    """The tools that compute on snapshots of graphs."""

    def __init__(self, graphs: ScratchGraphs, snapshots: Snapshots) -> None:
        self._graphs = graphs
        self._snapshots = snapshots

    async def shortest_path(self, caller: Caller, request: ShortestPath) -> ShortestPathResponse:
        """The path with the fewest edges or the least weight."""
        taken = await self._snapshots.take(
            caller,
            request.graph,
            (request.source, request.target),
            request.weight,
            request.relation,
            undirected=request.undirected,
        )
        found = await asyncio.to_thread(
            _analyses().path, taken.view, *taken.nodes, by_weight=request.weight is not None
        )
        ends = _ends(taken.matches)
        if found is None:
            follows = (
                "" if request.undirected else "; edges are followed in their direction, undirected=true ignores it"
            )
            source, target = (shown(match.label) for match in taken.matches)
            reason = f"No path leads from {source} to {target}{follows}.{_in_part(taken)}"
            return ShortestPathResponse(**ends, path=None, reason=reason)
        path, cost = found
        shown_path = taken.labels.along(path)
        return ShortestPathResponse(
            **ends,
            path=shown_path,
            relations=await _relations_along(
                self._graphs, caller, request.graph, shown_path, request.relation, undirected=request.undirected
            ),
            truncated=len(shown_path) < len(path),
            length=len(path) - 1,
            weight=cost,
        )

    async def all_paths(self, caller: Caller, request: AllPaths) -> AllPathsResponse:
        """Simple paths up to a length, the shortest first."""
        taken = await self._snapshots.take(
            caller,
            request.graph,
            (request.source, request.target),
            relation=request.relation,
            undirected=request.undirected,
        )
        start, goal = taken.nodes
        longest = request.max_length or taken.view.n
        outcome = await self._snapshots.run(
            caller, "paths", taken.view, source=start, target=goal, longest=longest, most_paths=request.limit
        )
        paths, all_shown = taken.labels.groups(one["path"] for one in outcome.finds if "path" in one)
        longer = [one["longer"] for one in outcome.finds if "longer" in one]
        are_all = any("done" in one for one in outcome.finds)
        if any("more" in one for one in outcome.finds):
            reason: str | None = f"There are more than {request.limit} paths; these are the shortest."
        elif are_all and all_shown:
            reason = _longer_paths(paths, request, longer)
            if not paths and not longer:
                reason = f"{reason}{_in_part(taken)}"
        else:
            reason = self._snapshots.why(outcome, "paths", request.limit, all_shown=all_shown)
        return AllPathsResponse(
            **_ends(taken.matches),
            paths=paths,
            count=len(paths),
            truncated=not are_all or not all_shown or bool(longer),
            longer=longer[:_MOST_LENGTHS] or None,
            reason=reason,
        )

    async def pagerank(self, caller: Caller, request: Pagerank) -> RankingsResponse:
        """Nodes by PageRank or betweenness."""
        if request.by == "betweenness":
            return await self._betweenness(caller, request)
        taken = await self._snapshots.take(
            caller,
            request.graph,
            weight=request.weight,
            relation=request.relation,
            gathered="sum",
            undirected=bool(request.undirected),
        )
        scores = await asyncio.to_thread(_analyses().ranks, taken.view)
        ranked = _fit(taken.labels.ranked(scores, request.top_n))
        return RankingsResponse(rankings=ranked, total=len(scores), truncated=len(scores) > len(ranked))

    async def connected_components(self, caller: Caller, request: ConnectedComponents) -> ComponentsResponse:
        """Weakly or strongly connected components, or communities, the largest first; also what alone joins them."""
        if request.mode == "communities":
            return await self._communities(caller, request)
        taken = await self._snapshots.take(caller, request.graph, relation=request.relation)
        found = await asyncio.to_thread(_analyses().components, taken.view, strong=request.mode == "strong")
        cuts = await self._bridges(taken, request.limit) if request.mode == "bridges" else {}
        room = {"room": _QUARTER} if cuts else {}
        listed, all_shown = taken.labels.parts(found[: request.limit], **room)
        return ComponentsResponse(
            components=listed,
            sizes=[len(one) for one in found[: len(listed)]],
            count=len(found),
            **cuts,
            truncated=len(found) > request.limit
            or not all_shown
            or any(len(cuts[what]) < cuts[f"{what}_total"] for what in ("articulation_points", "bridges") if cuts),
        )

    async def find_cycles(self, caller: Caller, request: FindCycles) -> CyclesResponse:
        """Simple cycles, the shortest first."""
        taken = await self._snapshots.take(caller, request.graph, relation=request.relation)
        outcome = await self._snapshots.run(
            caller,
            "cycles",
            taken.view,
            longest=request.max_length,
            most_cycles=request.limit,
            most_counted=_MOST_COUNTED,
        )
        told = {name: value for one in outcome.finds for name, value in one.items()}  # the last of each name
        some, breaking, counted = told.get("some"), told.get("breaking", []), told.get("counted")
        found = [one["cycle"] for one in outcome.finds if "cycle" in one]
        reason = None
        if some and not found:  # the search found no cycle within its limits, although one exists
            found = [some]
            reason = "This is some cycle of the graph; none was found in the bounds of time and length."
        cycles, all_shown = taken.labels.groups(found)
        if reason is None and counted is not None and counted > len(found):
            number = f"are {counted:,}" if told["is_all"] else f"are at least {counted:,}"
            more = "" if request.limit > len(found) else "; limit shows more"
            reason = f"There {number} cycles; these are the shortest{more}."
        edges = _fit([_pair(taken.labels, *edge) for edge in breaking[: max(request.limit, _BREAKING)]], _QUARTER)
        return CyclesResponse(
            cycles=cycles,
            has_cycles=bool(some),
            count=len(cycles),
            total=counted if told.get("is_all") else None,
            breaking_edges=edges,
            breaking_edges_total=len(breaking),
            breaking_edges_are_fewest=told.get("is_fewest", not breaking),
            truncated=outcome.is_truncated or not all_shown or reason is not None or len(edges) < len(breaking),
            reason=reason or self._snapshots.why(outcome, "cycles", request.limit, all_shown=all_shown),
        )

    async def transitive_reduction(self, caller: Caller, request: TransitiveReduction) -> ReductionResponse:
        """Edges that longer paths make redundant; they are removed only if ``in_place``."""
        for _ in range(_TRIES):
            taken = await self._snapshots.take(caller, request.graph, relation=request.relation)
            found = self._snapshots.best(await self._snapshots.run(caller, "reduction", taken.view))
            if "cycle" in found:
                raise _no_reduction(taken, found["cycle"])
            holding = (
                self._graphs.writing(caller, request.graph, create=False)
                if request.in_place
                else self._graphs.reading(caller, request.graph)
            )
            async with holding as opened:
                if opened.graph is taken.graph and opened.graph.version == taken.version:
                    edges = _between(taken, found["edges"], request.relation)
                    if request.in_place:
                        for edge in edges:
                            taken.graph.remove_edges(edge.source, edge.target, edge.relation)
                    return _reduced(
                        [_labelled(taken.graph, edge) for edge in edges], request.limit, in_place=request.in_place
                    )
        raise Unavailable(f"The graph was changed during each of {_TRIES} attempts; nothing was removed. Call again.")

    async def degree_centrality(self, caller: Caller, request: DegreeCentrality) -> DegreesResponse:
        """Nodes by their number of edges; every relation counts."""
        async with self._graphs.reading(caller, request.graph) as opened:
            must_have(opened.graph, request.relation)
            ranked = await in_thread(_degrees, opened.graph, request.relation)
        told = _fit(ranked[: request.top_n])
        return DegreesResponse(rankings=told, total=len(ranked), truncated=len(ranked) > len(told))

    async def _betweenness(self, caller: Caller, request: Pagerank) -> RankingsResponse:
        """Nodes by the share of shortest paths that pass through them."""
        taken = await self._snapshots.take(
            caller, request.graph, relation=request.relation, undirected=request.undirected is not False
        )
        found = self._snapshots.best(await self._snapshots.run(caller, "betweenness", taken.view))
        total, counted = taken.view.n, found["counted"]
        note = f"Estimated: paths were counted from {counted:,} of {total:,} nodes, drawn at random."
        ranked = _fit(taken.labels.ranked(found["scores"], request.top_n))
        return RankingsResponse(
            rankings=ranked,
            total=total,
            truncated=total > len(ranked),
            note=note if counted < total else None,
        )

    async def impact_of_removal(self, caller: Caller, request: ImpactOfRemoval) -> ImpactResponse:
        """The effects of removing a node, which is not removed."""
        texts = (request.node, *([request.target] if request.target else []))
        taken = await self._snapshots.take(caller, request.graph, texts, relation=request.relation, with_relations=True)
        relations = await asyncio.to_thread(_analyses().relations_around, taken.view, taken.relations, taken.nodes[0])
        reading = read_edges(relations, request.edges)
        outcome = await self._snapshots.run(
            caller,
            "removal",
            taken.view,
            node=taken.nodes[0],
            most_dependents=MOST_DEPENDENTS,
            target=taken.nodes[1] if request.target else None,
            of_cause=reading.meaning == "causes",
        )
        self._snapshots.best(outcome)  # raises if there is no result
        whole, *more = outcome.finds
        lost = _by_loss(more[0]["lost"] if more else [])
        labels, match = taken.labels, taken.matches[0]
        parts, all_shown = labels.parts(whole["parts"][: request.limit], _QUARTER)
        dependents, dependencies = (
            labels.some_of(whole[what], request.limit, _QUARTER) for what in ("dependents", "dependencies")
        )
        falls = None if whole["falls"] is None else labels.some_of(whole["falls"], request.limit, _QUARTER)
        cut_off = _fit([_lost(labels, one, gone, request.limit) for one, gone in lost[: request.limit]], _QUARTER)
        is_cut = (
            len(whole["parts"]) > request.limit
            or not all_shown
            or any(one.lost_total > len(one.lost) or one.sources_total > len(one.sources) for one in cut_off)
        )
        asked = loss_note(match, taken.matches[1], more[0], reading.meaning) if request.target and more else None
        late = _looked_at(0 if request.target else len(whole["dependents"]), was_in_time=bool(more))
        truncated = (
            is_cut
            or not more
            or len(cut_off) < len(lost)
            or len(dependents) < len(whole["dependents"])
            or len(dependencies) < len(whole["dependencies"])
            or len(falls or ()) < len(whole["falls"] or ())
        )
        return ImpactResponse(
            read_as=reading.read_as,
            node_matched=match.label,
            node_similarity=_similarity(match),
            newly_unreachable=cut_off,
            newly_unreachable_total=sum(len(one) for one, _ in lost),
            components_before=whole["components_before"],
            components_after=whole["components_after"],
            parts=parts,
            parts_sizes=[len(part) for part in whole["parts"][: len(parts)]],
            **_apart("dependents", dependents, whole),
            **_apart("dependencies", dependencies, whole),
            falls=falls,
            falls_total=None if falls is None else len(whole["falls"]),
            truncated=truncated,
            note=" ".join(filter(None, (asked, reading.note, late, _MORE if truncated and more else None))) or None,
        )

    async def common_causes(self, caller: Caller, request: CommonCauses) -> CausesResponse:
        """What leads to a node, what most ways to it pass, and the fewest nodes that cut them all."""
        taken = await self._snapshots.take(
            caller, request.graph, (request.target,), relation=request.relation, with_relations=True
        )
        found = self._snapshots.best(await self._snapshots.run(caller, "causes_of", taken.view, target=taken.nodes[0]))
        labels, match, most = taken.labels, taken.matches[0], request.limit
        cut = labels.some_of(found["cut"], most, _QUARTER)
        sources = _passed(labels, found["sources"][:most])
        best_first = sorted(zip(found["shares"], found["cuts_off"], strict=True), key=lambda one: -one[1])
        through = _fit([_passing(labels, node, share, count) for (node, share), count in best_first[:most]], _QUARTER)
        passed = [node for node, _ in (*found["sources"], *found["shares"])]
        relations = await asyncio.to_thread(_analyses().relations_of_ways, taken.relations, passed, *taken.nodes)
        notes = notes_on_causes(relations, is_followed=bool(passed))
        if not sources:
            notes.append("Nothing leads to it, or only what it leads to itself." + _ALONG)
        if found["has_cycles"]:
            notes.append(
                "There are cycles on the ways: in share each counts as one node, cuts_off is of one node alone."
            )
        if len(cut) > 1 and {*found["cut"]} == {node for node, _ in found["sources"]}:
            notes.append("The smallest cut is the roots themselves: no fewer nodes cut all ways.")
        if found["leads_back"]:
            notes.append("The target leads back to what leads to it: ways end where they first reach it.")
        return CausesResponse(
            read_as=AS_CAUSES,
            target_matched=match.label,
            target_similarity=_similarity(match),
            roots=sources,
            roots_total=len(found["sources"]),
            ways=found["ways"] if found["ways"] < _MANY_WAYS else None,
            through=through,
            through_total=len(found["shares"]),
            smallest_cut=cut,
            smallest_cut_total=len(found["cut"]),
            truncated=any(
                len(shown) < len(found[what])
                for shown, what in ((sources, "sources"), (through, "shares"), (cut, "cut"))
            ),
            note=" ".join(notes) or None,
        )

    async def _bridges(self, taken: Snapshot, limit: int) -> dict[str, Any]:
        """Articulation points and bridges."""
        points, pairs = await asyncio.to_thread(_analyses().cut_points, taken.view)
        cut = taken.labels.some_of(points, limit, _QUARTER)
        told = _fit([_pair(taken.labels, one, other) for one, other in pairs[:limit]], _QUARTER)
        return {
            "articulation_points": cut,
            "articulation_points_total": len(points),
            "bridges": told,
            "bridges_total": len(pairs),
        }

    async def _communities(self, caller: Caller, request: ConnectedComponents) -> ComponentsResponse:
        """Communities by modularity."""
        taken = await self._snapshots.take(
            caller, request.graph, weight=request.weight, relation=request.relation, gathered="sum"
        )
        outcome = await self._snapshots.run(caller, "communities", taken.view)
        found = self._snapshots.best(outcome)
        lonely = _without_edges(taken.view) if request.relation is not None else set()
        groups = [part for part in _grouped(found["numbers"]) if not lonely.issuperset(part)]
        listed, all_shown = taken.labels.parts(groups[: request.limit])
        return ComponentsResponse(
            components=listed,
            sizes=[len(one) for one in groups[: len(listed)]],
            count=len(groups),
            modularity=round(found["modularity"], _DECIMALS),
            left_out=len(lonely) or None,
            truncated=outcome.is_truncated or len(groups) > request.limit or not all_shown,
            reason=self._snapshots.why(outcome, "communities", request.limit, all_shown=True),
        )


def _passed(labels: Labels, shares: Sequence[tuple[int, float]]) -> list[PassedNode]:
    return _fit([PassedNode(label=labels.of(node), share=round(share, _DECIMALS)) for node, share in shares], _QUARTER)


def _passing(labels: Labels, node: int, share: float, cuts_off: int) -> PassingNode:
    return PassingNode(label=labels.of(node), share=round(share, _DECIMALS), cuts_off=cuts_off)


def _apart(what: str, listed: list[str], whole: dict[str, Any]) -> dict[str, Any]:
    """Direct dependents, which come first, and indirect ones, or dependencies."""
    direct = whole[f"direct_{what}"]
    return {
        f"direct_{what}": listed[:direct],
        f"direct_{what}_total": direct,
        f"indirect_{what}": listed[direct:],
        f"indirect_{what}_total": len(whole[what]) - direct,
    }


def _in_part(taken: Snapshot) -> str:
    if not taken.is_part_of_memory:
        return ""
    return (
        " The graph was loaded from memory in part: there may be one there, load_memory_graph with more hops or "
        "find_entity_path tells."
    )


def _longer_paths(paths: Sequence[object], request: AllPaths, longer: Sequence[int]) -> str | None:
    """Why there are no paths, or not all."""
    lengths = ", ".join(map(str, longer[:_MOST_LENGTHS])) + (", …" if len(longer) > _MOST_LENGTHS else "")
    if paths:
        return f"Longer paths lead there too, of {lengths} edges; max_length leaves them out." if longer else None
    if longer:
        return f"No path of at most {request.max_length} edges leads there, but longer ones do, of {lengths} edges."
    return "No path leads there." if request.undirected else "No path leads there; undirected=true ignores directions."


def _fit(told: Sequence[_Told], room: int = ROOM) -> list[_Told]:
    """As many of the first items as fit into an answer, at least one."""
    return list(told[: fitting(told, room)])


def _without_edges(view: "View") -> set[int]:
    return set(range(view.n)) - set(view.sources.tolist()) - set(view.targets.tolist())


def _by_loss(lost: Sequence[tuple[int, Sequence[int]]]) -> list[tuple[list[int], Sequence[int]]]:
    """Dependents that lose the same nodes, together."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for dependent, gone in lost:
        groups.setdefault(tuple(gone), []).append(dependent)
    return [(dependents, gone) for gone, dependents in groups.items()]


def _lost(labels: Labels, sources: Sequence[int], gone: Sequence[int], limit: int) -> LostNodes:
    return LostNodes(
        sources=labels.some_of(sources, limit, _QUARTER // 4),
        sources_total=len(sources),
        lost=labels.some_of(gone, limit, _QUARTER // 4),
        lost_total=len(gone),
    )


def _pair(labels: Labels, source: int, target: int) -> LabelPair:
    return LabelPair(source=labels.of(source), target=labels.of(target))


def _ends(matches: Sequence[Match]) -> dict[str, Any]:
    source, target = matches
    return {
        "source_matched": source.label,
        "target_matched": target.label,
        "source_similarity": _similarity(source),
        "target_similarity": _similarity(target),
    }


def _similarity(match: Match) -> float | None:
    return match.shown_similarity if match.how in {"cut", "similar"} else None


def _no_reduction(taken: Snapshot, cycle: Sequence[int]) -> InvalidInput:
    told = [shown(label) for label in taken.labels.all_of([*cycle, cycle[0]])]
    if len(told) > _CYCLE_LISTED:
        told[_CYCLE_LISTED - 1 : -1] = [f"{len(told) - _CYCLE_LISTED} more"]
    return InvalidInput(
        f"A graph with cycles has no transitive reduction, and this one has {' -> '.join(told)}. Nothing was removed: "
        "find_cycles lists the cycles, remove_edge breaks one; or name a relation without cycles."
    )


def _between(taken: Snapshot, pairs: Sequence[Sequence[int]], relation: str | None) -> "list[Edge]":
    """The edges between these pairs of nodes, of all relations or one."""
    indices = taken.view.indices.tolist()
    return [edge for one, other in pairs for edge in taken.graph.edges(indices[one], indices[other], relation)]


def _labelled(graph: "ScratchGraph", edge: "Edge") -> RelationEdge:
    return RelationEdge(source=graph.label(edge.source), target=graph.label(edge.target), relation=edge.relation)


def _reduced(edges: Sequence[RelationEdge], limit: int, *, in_place: bool) -> ReductionResponse:
    listed = _fit(edges[:limit])
    told = "were removed" if in_place else "would go; nothing was removed, in_place=true removes them"
    return ReductionResponse(
        message=f"{len(edges)} of the edges {told}." if edges else "Every edge is needed.",
        edges_removed=len(edges),
        in_place=in_place,
        edges=listed,
        total=len(edges),
        truncated=len(edges) > len(listed),
    )


def _degrees(graph: "ScratchGraph", relation: str | None) -> list[DegreeRanking]:
    into, out = dict.fromkeys(graph.order(), 0), dict.fromkeys(graph.order(), 0)
    for edge in graph.edges(relation=relation):
        out[edge.source] += 1
        into[edge.target] += 1
    ranked = [
        DegreeRanking(label=graph.label(node), in_degree=into[node], out_degree=out[node], total=into[node] + out[node])
        for node in into
    ]
    return sorted(ranked, key=lambda one: (-one.total, one.label))


def _looked_at(dependents: int, *, was_in_time: bool) -> str | None:
    if not was_in_time:
        return "The time limit ended the search for what becomes unreachable."
    if dependents > MOST_DEPENDENTS:
        return f"What becomes unreachable was looked at for the {MOST_DEPENDENTS} nearest dependents."
    return None


def _grouped(numbers: Sequence[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for node, number in enumerate(numbers):
        groups.setdefault(number, []).append(node)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0]))


def _analyses() -> Any:
    """Imported on first use, since the algorithms load NumPy."""
    from graphiti_pkm.capabilities.scratch.algorithms import analyses  # noqa: PLC0415  (loads NumPy)

    return analyses


async def _relations_along(
    graphs: ScratchGraphs, caller: Caller, graph: str, path: Sequence[str], relation: str | None, *, undirected: bool
) -> list[list[str]]:
    """The relations of each step, as far as there is room; a step has none if its edge was removed meanwhile."""
    steps: list[list[str]] = []
    room = _RELATIONS_ROOM
    async with graphs.reading(caller, graph) as opened:
        for source, target in pairwise(path):
            found = _relations(opened.graph, source, target, relation)
            if undirected:
                found |= _relations(opened.graph, target, source, relation)
            steps.append(list(found)[:_MOST_RELATIONS])
            room -= sum(map(len, steps[-1])) + 4
            if room < 0:
                return steps[:-1]
    return steps


def _relations(graph: "ScratchGraph", source: str, target: str, relation: str | None) -> dict[str, None]:
    start, end = graph.find(source), graph.find(target)
    if start is None or end is None:
        return {}
    return {edge.relation: None for edge in graph.edges(start, end, relation)}
