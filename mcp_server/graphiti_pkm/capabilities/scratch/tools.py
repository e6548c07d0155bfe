"""Tools of the toolset ``reasoning``, over scratch graphs. Their docstrings are prompts."""

from typing import TYPE_CHECKING

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
from graphiti_pkm.capabilities.scratch.models.answers import (
    AddEdgeResponse,
    AddEdgesResponse,
    AddNodeResponse,
    AddNodesResponse,
    CompareGraphsResponse,
    DeleteGraphResponse,
    ExportGraphResponse,
    FindEdgesResponse,
    FindNodeResponse,
    GetNeighborsResponse,
    GraphInfoResponse,
    ImportGraphResponse,
    ListGraphsResponse,
    ListNodesResponse,
    MergeNodesResponse,
    RemoveEdgeResponse,
    RemoveNodeResponse,
    RenameNodeResponse,
    ScratchSubgraphResponse,
)
from graphiti_pkm.capabilities.scratch.models.memory import (
    CommitGraphResponse,
    LoadMemoryResponse,
    OpenGraphResponse,
    SaveGraphResponse,
)
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed, requests only if the tools are offered
    from graphiti_pkm.capabilities.scratch.requests import (
        AddEdge,
        AddEdges,
        AddNode,
        AddNodes,
        AllPaths,
        BetweennessCentrality,
        Bridges,
        CommitGraph,
        Communities,
        CompareGraphs,
        ConnectedComponents,
        DegreeCentrality,
        DeleteGraph,
        ExportGraph,
        FindCycles,
        FindEdges,
        FindNode,
        GetGraphInfo,
        GetNeighbors,
        ImpactOfRemoval,
        ImportGraph,
        ListGraphs,
        ListNodes,
        LoadMemoryGraph,
        MergeNodes,
        OpenGraph,
        Pagerank,
        RemoveEdge,
        RemoveNode,
        RenameNode,
        SaveGraph,
        ShortestPath,
        Subgraph,
        TransitiveReduction,
    )
    from graphiti_pkm.capabilities.scratch.service import Reasoning

REASONING: ServiceKey["Reasoning"] = ServiceKey("reasoning")


def reasoning_of(call: Call) -> "Reasoning":
    """The use cases of scratch graphs. Raises Unavailable on a server that was started without them."""
    reasoning = call.services.get(REASONING)
    if reasoning is None:
        raise Unavailable("Scratch graphs are off: the server was started without the toolset reasoning.")
    return reasoning


async def list_graphs(call: Call, request: "ListGraphs") -> ListGraphsResponse:  # noqa: ARG001  (it takes nothing)
    """List your scratch graphs with their sizes, last used first, and the saved ones that open_graph brings back.

    Use to find a graph again after losing context; for what is in one use get_graph_info instead.
    """
    return await reasoning_of(call).saving.list_graphs(call.caller)


async def delete_graph(call: Call, request: "DeleteGraph") -> DeleteGraphResponse:
    """Delete a whole scratch graph; memory is not touched.

    Use when it has served its purpose; to take out single nodes or edges use remove_node or remove_edge instead.
    """
    return await reasoning_of(call).saving.delete_graph(call.caller, request)


async def get_graph_info(call: Call, request: "GetGraphInfo") -> GraphInfoResponse:
    """Get a scratch graph in figures: types, relations, density, whether it is connected (whichever way) and acyclic.

    Use to see what there is to ask for; for the nodes themselves use list_nodes instead.
    """
    return await reasoning_of(call).looking.get_graph_info(call.caller, request)


async def compare_graphs(call: Call, request: "CompareGraphs") -> CompareGraphsResponse:
    """Compare two scratch graphs: nodes and edges only in one or the other, and those in both that differ.

    Use for what changed, e.g. between memory loaded as of two dates into two graphs; to see what is in one use
    list_nodes and find_edges instead.
    """
    return await reasoning_of(call).comparing.compare_graphs(call.caller, request)


async def add_node(call: Call, request: "AddNode") -> AddNodeResponse:
    """Add a node to a scratch graph, or merge into the one of this label; case, spaces, - and _ are ignored.

    Use for one; for several use add_nodes instead. similar_existing names others that may be the same: nothing is
    merged by meaning.
    """
    return await reasoning_of(call).nodes.add_node(call.caller, request)


async def add_nodes(call: Call, request: "AddNodes") -> AddNodesResponse:
    """Add up to 500 nodes to a scratch graph at once; wrong ones are listed in failed, the others added.

    Use before add_edges; to take nodes from a text in DOT, CSV, JSON or GraphML use import_graph instead.
    """
    return await reasoning_of(call).nodes.add_nodes(call.caller, request)


async def find_node(call: Call, request: "FindNode") -> FindNodeResponse:
    """Find nodes of a scratch graph by what they are called, exactly or nearly, most similar first.

    Use when unsure of a label; other tools find labels so themselves. For entities of memory use search_nodes instead.
    """
    return await reasoning_of(call).nodes.find_node(call.caller, request)


async def remove_node(call: Call, request: "RemoveNode") -> RemoveNodeResponse:
    """Remove a node and its edges from a scratch graph; only the very label will do.

    Use to correct a graph; to see what would come apart without the node use impact_of_removal instead.
    """
    return await reasoning_of(call).nodes.remove_node(call.caller, request)


async def merge_nodes(call: Call, request: "MergeNodes") -> MergeNodesResponse:
    """Merge a node of a scratch graph into the one to keep, with all its edges.

    Use for one thing under two labels; for one label to correct use rename_node instead.
    """
    return await reasoning_of(call).nodes.merge_nodes(call.caller, request)


async def rename_node(call: Call, request: "RenameNode") -> RenameNodeResponse:
    """Rename a node of a scratch graph; its edges stay.

    Use to correct a label; if a node has that label already use merge_nodes instead.
    """
    return await reasoning_of(call).nodes.rename_node(call.caller, request)


async def list_nodes(call: Call, request: "ListNodes") -> ListNodesResponse:
    """List nodes of a scratch graph as they were added, perhaps of one type or without edges in or out.

    Use for an overview or, with max_in_degree=0 and relation, what nothing explains; for one node by name use
    find_node instead.
    """
    return await reasoning_of(call).nodes.list_nodes(call.caller, request)


async def add_edge(call: Call, request: "AddEdge") -> AddEdgeResponse:
    """Add a directed edge between two nodes of a scratch graph.

    Use for one; for several use add_edges instead. An end that is only near a label adds nothing: candidates come back.
    """
    return await reasoning_of(call).edges.add_edge(call.caller, request)


async def add_edges(call: Call, request: "AddEdges") -> AddEdgesResponse:
    """Add up to 500 edges to a scratch graph at once; unclear ones are listed in failed, the others added.

    Use after add_nodes, or with create_missing; for a text in DOT, CSV, JSON or GraphML use import_graph instead.
    """
    return await reasoning_of(call).edges.add_edges(call.caller, request)


async def find_edges(call: Call, request: "FindEdges") -> FindEdgesResponse:
    """Find edges of a scratch graph by source, target and relation, with their properties.

    Use to check what was added; for all around one node use get_neighbors instead.
    """
    return await reasoning_of(call).looking.find_edges(call.caller, request)


async def remove_edge(call: Call, request: "RemoveEdge") -> RemoveEdgeResponse:
    """Remove edges from one node to another of a scratch graph; the opposite direction stays.

    Use with the very labels; to remove a node with all its edges use remove_node instead.
    """
    return await reasoning_of(call).edges.remove_edge(call.caller, request)


async def get_neighbors(call: Call, request: "GetNeighbors") -> GetNeighborsResponse:
    """Get what edges join to a node of a scratch graph, with relation and direction.

    Use to walk step by step; for how two nodes are connected use shortest_path instead.
    """
    return await reasoning_of(call).looking.get_neighbors(call.caller, request)


async def subgraph(call: Call, request: "Subgraph") -> ScratchSubgraphResponse:
    """Get some nodes of a scratch graph and the edges among them.

    Use to look at a part closely; for everything around one node use get_neighbors instead.
    """
    return await reasoning_of(call).looking.subgraph(call.caller, request)


async def shortest_path(call: Call, request: "ShortestPath") -> ShortestPathResponse:
    """Find the path of fewest edges, or of least weight, from one node of a scratch graph to another.

    Use for "how does A reach B"; for every way between them use all_paths instead. No path comes with the reason.
    """
    return await reasoning_of(call).analysis.shortest_path(call.caller, request)


async def all_paths(call: Call, request: "AllPaths") -> AllPathsResponse:
    """List the paths from one node of a scratch graph to another that pass no node twice, the shortest first.

    Use to see every way between two nodes; for one way use shortest_path instead. truncated says that there may be
    more.
    """
    return await reasoning_of(call).analysis.all_paths(call.caller, request)


async def pagerank(call: Call, request: "Pagerank") -> RankingsResponse:
    """Rank the nodes of a scratch graph by PageRank: pointed to by many, or by those that are.

    Use for what everything rests on; for plain counts of edges use degree_centrality instead.
    """
    return await reasoning_of(call).analysis.pagerank(call.caller, request)


async def connected_components(call: Call, request: "ConnectedComponents") -> ComponentsResponse:
    """List the connected parts of a scratch graph, the largest first.

    Use for isolated clusters; for groups inside a connected graph use communities instead. Of large parts sizes tell
    more than the labels listed.
    """
    return await reasoning_of(call).analysis.connected_components(call.caller, request)


async def find_cycles(call: Call, request: "FindCycles") -> CyclesResponse:
    """List the cycles of a scratch graph that pass no node twice, the shortest first.

    Use for circular dependencies; for nodes that reach each other use connected_components with mode strong instead.
    """
    return await reasoning_of(call).analysis.find_cycles(call.caller, request)


async def transitive_reduction(call: Call, request: "TransitiveReduction") -> ReductionResponse:
    """List the edges of a scratch graph without cycles that longer paths make superfluous, and remove them if asked.

    Use to see direct dependencies only; to take out single edges use remove_edge instead.
    """
    return await reasoning_of(call).analysis.transitive_reduction(call.caller, request)


async def degree_centrality(call: Call, request: "DegreeCentrality") -> DegreesResponse:
    """Rank the nodes of a scratch graph by their number of edges, in and out.

    Use for hubs, and with relation for questions like "most supported"; for influence beyond neighbours use pagerank
    instead.
    """
    return await reasoning_of(call).analysis.degree_centrality(call.caller, request)


async def betweenness_centrality(call: Call, request: "BetweennessCentrality") -> BetweennessResponse:
    """Rank the nodes of a scratch graph by how many shortest paths pass them.

    Use for what joins clusters; for nodes without which the graph falls apart use bridges instead. Above 1,000 nodes
    the scores are estimates.
    """
    return await reasoning_of(call).analysis.betweenness_centrality(call.caller, request)


async def impact_of_removal(call: Call, request: "ImpactOfRemoval") -> ImpactResponse:
    """Show what a scratch graph loses with a node: who depends on it, what they no longer reach, what falls apart.

    Use for "what breaks without X"; nothing is removed. To remove it use remove_node instead.
    """
    return await reasoning_of(call).analysis.impact_of_removal(call.caller, request)


async def bridges(call: Call, request: "Bridges") -> BridgesResponse:
    """List the nodes and edges of a scratch graph without which it falls apart, whichever way edges point.

    Use for single points of failure; for what one node carries use impact_of_removal instead.
    """
    return await reasoning_of(call).analysis.bridges(call.caller, request)


async def communities(call: Call, request: "Communities") -> CommunitiesResponse:
    """Group the nodes of a scratch graph so that most edges lie inside groups, the largest first.

    Use to find topics or modules; for parts without any edge between them use connected_components instead.
    """
    return await reasoning_of(call).analysis.communities(call.caller, request)


async def import_graph(call: Call, request: "ImportGraph") -> ImportGraphResponse:
    """Import a text into a scratch graph, merging with what is there: nodes by label, one edge a relation.

    Use for many nodes and edges at once, your own or of another program; for single ones use add_nodes and add_edges
    instead. dot: an edge's label is its relation. csv: header source,target,relation, then properties. json: nodes
    with label and type, edges with source, target and relation. All or nothing; an error names the line.
    """
    return await reasoning_of(call).exchange.import_graph(call.caller, request)


async def export_graph(call: Call, request: "ExportGraph") -> ExportGraphResponse:
    """Export a scratch graph as a text or a picture.

    Use json or graphml to keep everything, dot and mermaid for other programs, csv for the edges, svg for a picture
    and text for a tree in characters, both of at most some hundred nodes. To look at a few nodes use subgraph or
    get_neighbors instead.
    """
    return await reasoning_of(call).exchange.export_graph(call.caller, request)


async def load_memory_graph(call: Call, request: "LoadMemoryGraph") -> LoadMemoryResponse:
    """Load a part of memory into a scratch graph: entities as nodes, their facts as edges with dates and status.

    Use to compute on memory; two dates go into two graphs. Loading again merges. Memory does not change. For a first
    look at what surrounds an entity use get_entity_subgraph instead.
    """
    return await reasoning_of(call).bridge.load_memory_graph(call.caller, request)


async def commit_graph(call: Call, request: "CommitGraph") -> CommitGraphResponse:
    """Commit what is worth keeping of a scratch graph to memory, as entities and facts with one episode as source.

    Use when a result is to last; for what was said use add_memory instead. Call it first as it is, show the user the
    sentences, then again with dry_run=false. What memory knows is not written again. Of properties it takes an edge's
    fact (a sentence), kind, value, unit, measure, valid_at and invalid_at, and a new node's summary. invalid_at ends a
    fact of memory; removing its edge does not.
    """
    return await reasoning_of(call).committing.commit_graph(call.caller, request)


async def save_graph(call: Call, request: "SaveGraph") -> SaveGraphResponse:
    """Save a copy of a scratch graph, which else is gone after some idle time or a restart; an older copy is replaced.

    Use when the work goes on another day; to make results part of memory use commit_graph instead.
    """
    return await reasoning_of(call).saving.save_graph(call.caller, request)


async def open_graph(call: Call, request: "OpenGraph") -> OpenGraphResponse:
    """Open a saved graph as a scratch graph again.

    Use to go on with what save_graph kept; list_graphs names saved ones. For facts of memory use load_memory_graph
    instead.
    """
    return await reasoning_of(call).saving.open_graph(call.caller, request)
