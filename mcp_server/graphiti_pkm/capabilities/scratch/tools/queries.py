"""Tools of the toolset ``reasoning`` that analyse a whole scratch graph. Their docstrings are prompts."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH
from graphiti_pkm.capabilities.scratch.models.analysis import (
    AllPathsResponse,
    BetweennessResponse,
    BridgesResponse,
    CommunitiesResponse,
    ComponentsResponse,
    CyclesResponse,
    DegreesResponse,
    ImpactResponse,
    RankingsResponse,
    ReductionResponse,
    ShortestPathResponse,
)
from graphiti_pkm.capabilities.scratch.tools.parameters import Graph, Items, reasoning_of
from graphiti_pkm.core.reading.paging import PATH_LENGTH, SCRATCH_ITEMS, SCRATCH_TOP
from graphiti_pkm.toolkit.call import Call

Label: TypeAlias = Annotated[str, Field(description="node label; near ones match")]
Relation: TypeAlias = Annotated[str | None, Field(description="only edges of this relation")]
Weight: TypeAlias = Annotated[str | None, Field(description="number property of edges to weigh by, e.g. weight")]
Undirected: TypeAlias = Annotated[bool, Field(description="true = ignore the direction of edges")]
Top: TypeAlias = Annotated[int, Field(ge=SCRATCH_TOP.minimum, le=SCRATCH_TOP.maximum)]


async def shortest_path(
    call: Call,
    source: Label,
    target: Label,
    graph: Graph = DEFAULT_GRAPH,
    weight: Weight = None,
    relation: Relation = None,
    undirected: Undirected = False,
) -> ShortestPathResponse:
    """Find the path of fewest edges, or of least weight, from one node of a scratch graph to another.

    Use for "how does A reach B"; for every way between them use all_paths instead. No path comes with the reason.
    """
    return await reasoning_of(call).analysis.shortest_path(
        call.caller, graph, source, target, weight, relation, undirected=undirected
    )


async def all_paths(
    call: Call,
    source: Label,
    target: Label,
    graph: Graph = DEFAULT_GRAPH,
    max_length: Annotated[
        int, Field(ge=PATH_LENGTH.minimum, le=PATH_LENGTH.maximum, description="edges of a path at most")
    ] = PATH_LENGTH.default,
    limit: Items = SCRATCH_ITEMS.default,
    relation: Relation = None,
    undirected: Undirected = False,
) -> AllPathsResponse:
    """List the paths from one node of a scratch graph to another that pass no node twice, the shortest first.

    Use to see every way between two nodes; for one way use shortest_path instead. truncated says that there may be
    more.
    """
    return await reasoning_of(call).analysis.all_paths(
        call.caller, graph, source, target, max_length, limit, relation, undirected=undirected
    )


async def pagerank(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    top_n: Top = SCRATCH_TOP.default,
    weight: Weight = None,
    relation: Relation = None,
) -> RankingsResponse:
    """Rank the nodes of a scratch graph by PageRank: pointed to by many, or by those that are.

    Use for what everything rests on; for plain counts of edges use degree_centrality instead.
    """
    return await reasoning_of(call).analysis.pagerank(call.caller, graph, top_n, weight, relation)


async def connected_components(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    mode: Annotated[
        Literal["weak", "strong"], Field(description="strong = nodes that reach each other along edges")
    ] = "weak",
    limit: Items = SCRATCH_ITEMS.default,
    relation: Relation = None,
) -> ComponentsResponse:
    """List the parts of a scratch graph that hang together, the largest first.

    Use for isolated clusters; for groups inside a connected graph use communities instead. Of large parts sizes tell
    more than the labels listed.
    """
    return await reasoning_of(call).analysis.connected_components(call.caller, graph, mode, limit, relation)


async def find_cycles(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    max_length: Annotated[int | None, Field(ge=1, le=1_000, description="nodes of a cycle at most")] = None,
    limit: Items = SCRATCH_ITEMS.default,
    relation: Relation = None,
) -> CyclesResponse:
    """List the cycles of a scratch graph that pass no node twice, the shortest first.

    Use for circular dependencies; for nodes that reach each other use connected_components with mode strong instead.
    """
    return await reasoning_of(call).analysis.find_cycles(call.caller, graph, max_length, limit, relation)


async def transitive_reduction(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    in_place: Annotated[bool, Field(description="true = remove the edges; false = only list them")] = False,
    relation: Relation = None,
    limit: Items = SCRATCH_ITEMS.default,
) -> ReductionResponse:
    """List the edges of a scratch graph without cycles that longer paths make superfluous, and remove them if asked.

    Use to see direct dependencies only; to take out single edges use remove_edge instead.
    """
    return await reasoning_of(call).analysis.transitive_reduction(
        call.caller, graph, relation, limit, in_place=in_place
    )


async def degree_centrality(
    call: Call, graph: Graph = DEFAULT_GRAPH, top_n: Top = SCRATCH_TOP.default, relation: Relation = None
) -> DegreesResponse:
    """Rank the nodes of a scratch graph by their number of edges, in and out.

    Use for hubs, and with relation for questions like "most supported"; for influence beyond neighbours use pagerank
    instead.
    """
    return await reasoning_of(call).analysis.degree_centrality(call.caller, graph, top_n, relation)


async def betweenness_centrality(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    top_n: Top = SCRATCH_TOP.default,
    relation: Relation = None,
    undirected: Annotated[bool, Field(description="false = follow the direction of edges")] = True,
) -> BetweennessResponse:
    """Rank the nodes of a scratch graph by how many shortest paths pass them.

    Use for what joins clusters; for nodes without which the graph falls apart use bridges instead. Above 1,000 nodes
    the scores are estimates.
    """
    return await reasoning_of(call).analysis.betweenness_centrality(
        call.caller, graph, top_n, relation, undirected=undirected
    )


async def impact_of_removal(
    call: Call,
    node: Label,
    graph: Graph = DEFAULT_GRAPH,
    limit: Items = SCRATCH_ITEMS.default,
) -> ImpactResponse:
    """Show what a scratch graph loses with a node: who depends on it, what they no longer reach, what falls apart.

    Use for "what breaks without X"; nothing is removed. To remove it use remove_node instead.
    """
    return await reasoning_of(call).analysis.impact_of_removal(call.caller, graph, node, limit)


async def bridges(
    call: Call, graph: Graph = DEFAULT_GRAPH, limit: Items = SCRATCH_ITEMS.default, relation: Relation = None
) -> BridgesResponse:
    """List the nodes and edges of a scratch graph without which it falls apart, whichever way edges point.

    Use for single points of failure; for what one node carries use impact_of_removal instead.
    """
    return await reasoning_of(call).analysis.bridges(call.caller, graph, limit, relation)


async def communities(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    limit: Items = SCRATCH_ITEMS.default,
    weight: Weight = None,
    relation: Relation = None,
) -> CommunitiesResponse:
    """Group the nodes of a scratch graph so that most edges lie inside groups, the largest first.

    Use to find topics or modules; for parts without any edge between them use connected_components instead.
    """
    return await reasoning_of(call).analysis.communities(call.caller, graph, limit, weight, relation)
