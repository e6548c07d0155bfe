"""Tools of the toolset ``reasoning``, over scratch graphs. Their docstrings are prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed, requests and answers only if the tools are offered
    from graphiti_pkm.capabilities.scratch.models.analysis import (
        AllPathsResponse,
        CausesResponse,
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
        DrawnGraph,
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
    from graphiti_pkm.capabilities.scratch.requests import (
        AddEdge,
        AddEdges,
        AddNode,
        AddNodes,
        AllPaths,
        CommitGraph,
        CommonCauses,
        CompareGraphs,
        ConnectedComponents,
        DegreeCentrality,
        DeleteGraph,
        DrawGraph,
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

TYPES = (
    "graphiti_pkm.capabilities.scratch.models.analysis",
    "graphiti_pkm.capabilities.scratch.models.answers",
    "graphiti_pkm.capabilities.scratch.models.memory",
    "graphiti_pkm.capabilities.scratch.requests",
)
REASONING: ServiceKey[Reasoning] = ServiceKey("reasoning")


def reasoning_of(call: Call) -> Reasoning:
    """The use cases of scratch graphs. Raises Unavailable on a server that was started without them."""
    reasoning = call.services.get(REASONING)
    if reasoning is None:
        raise Unavailable("Scratch graphs are off: the server was started without the toolset reasoning.")
    return reasoning


async def list_graphs(call: Call, request: ListGraphs) -> ListGraphsResponse:  # noqa: ARG001  (it takes nothing)
    """List your scratch graphs with sizes, and saved ones.

    Use to find a graph again; for what is in one use get_graph_info instead.
    """
    return await reasoning_of(call).saving.list_graphs(call.caller)


async def delete_graph(call: Call, request: DeleteGraph) -> DeleteGraphResponse:
    """Delete a scratch graph; memory is not touched.

    Use when done with it; for parts use remove_node instead.
    """
    return await reasoning_of(call).saving.delete_graph(call.caller, request)


async def get_graph_info(call: Call, request: GetGraphInfo) -> GraphInfoResponse:
    """Get a scratch graph in figures: types, relations, density, connected (whichever way), acyclic.

    Use to see what there is; for nodes use list_nodes instead.
    """
    return await reasoning_of(call).looking.get_graph_info(call.caller, request)


async def compare_graphs(call: Call, request: CompareGraphs) -> CompareGraphsResponse:
    """Compare two scratch graphs: what only one has, what differs.

    Use for what changed, e.g. memory between two dates; for one use list_nodes instead.
    """
    return await reasoning_of(call).comparing.compare_graphs(call.caller, request)


async def add_node(call: Call, request: AddNode) -> AddNodeResponse:
    """Add a node to a scratch graph, or merge into the one of this label but for case, spaces, - and _.

    Use for one; for several use add_nodes instead. similar_existing may be the same.
    """
    return await reasoning_of(call).nodes.add_node(call.caller, request)


async def add_nodes(call: Call, request: AddNodes) -> AddNodesResponse:
    """Add up to 500 nodes; wrong ones come back in failed.

    Use before add_edges; for a text use import_graph instead.
    """
    return await reasoning_of(call).nodes.add_nodes(call.caller, request)


async def find_node(call: Call, request: FindNode) -> FindNodeResponse:
    """Find nodes of a scratch graph by name, most similar first.

    Use when unsure of a label; for entities of memory use search_nodes instead.
    """
    return await reasoning_of(call).nodes.find_node(call.caller, request)


async def remove_node(call: Call, request: RemoveNode) -> RemoveNodeResponse:
    """Remove a node and its edges, by its very label.

    Use to correct a graph; for what would break use impact_of_removal instead.
    """
    return await reasoning_of(call).nodes.remove_node(call.caller, request)


async def merge_nodes(call: Call, request: MergeNodes) -> MergeNodesResponse:
    """Merge one node into another, with its edges.

    Use for one thing under two labels; for a wrong label use rename_node instead.
    """
    return await reasoning_of(call).nodes.merge_nodes(call.caller, request)


async def rename_node(call: Call, request: RenameNode) -> RenameNodeResponse:
    """Rename a node; its edges stay.

    Use for a wrong label; for two nodes use merge_nodes instead.
    """
    return await reasoning_of(call).nodes.rename_node(call.caller, request)


async def list_nodes(call: Call, request: ListNodes) -> ListNodesResponse:
    """List nodes as they were added.

    Use for an overview, or with max_in_degree=0 and relation for what nothing explains; for a name use
    find_node instead.
    """
    return await reasoning_of(call).nodes.list_nodes(call.caller, request)


async def add_edge(call: Call, request: AddEdge) -> AddEdgeResponse:
    """Add a directed edge between two nodes.

    Use for one; for several use add_edges instead. Near labels add nothing: candidates come back.
    """
    return await reasoning_of(call).edges.add_edge(call.caller, request)


async def add_edges(call: Call, request: AddEdges) -> AddEdgesResponse:
    """Add up to 500 edges; unclear ones come back in failed.

    Use after add_nodes, or with create_missing; for a text use import_graph instead.
    """
    return await reasoning_of(call).edges.add_edges(call.caller, request)


async def find_edges(call: Call, request: FindEdges) -> FindEdgesResponse:
    """Find edges, with their properties.

    Use to check what is there; around one node use get_neighbors instead.
    """
    return await reasoning_of(call).looking.find_edges(call.caller, request)


async def remove_edge(call: Call, request: RemoveEdge) -> RemoveEdgeResponse:
    """Remove edges from one node to another, not the opposite ones.

    Use with the very labels; for a node use remove_node instead.
    """
    return await reasoning_of(call).edges.remove_edge(call.caller, request)


async def get_neighbors(call: Call, request: GetNeighbors) -> GetNeighborsResponse:
    """Get what edges join to a node, with relation and direction.

    Use to walk step by step; between two nodes use shortest_path instead.
    """
    return await reasoning_of(call).looking.get_neighbors(call.caller, request)


async def subgraph(call: Call, request: Subgraph) -> ScratchSubgraphResponse:
    """Get nodes and the edges among them.

    Use to look at a part; around one node use get_neighbors instead.
    """
    return await reasoning_of(call).looking.subgraph(call.caller, request)


async def shortest_path(call: Call, request: ShortestPath) -> ShortestPathResponse:
    """Find the path of fewest edges, or of least weight, between two nodes.

    Use for how A reaches B; for every way use all_paths instead.
    """
    return await reasoning_of(call).analysis.shortest_path(call.caller, request)


async def all_paths(call: Call, request: AllPaths) -> AllPathsResponse:
    """List paths between two nodes that pass no node twice, shortest first.

    Use for every way; for one use shortest_path instead.
    """
    return await reasoning_of(call).analysis.all_paths(call.caller, request)


async def pagerank(call: Call, request: Pagerank) -> RankingsResponse:
    """Rank nodes by PageRank, or by how many shortest paths pass them.

    Use for what everything rests on, by=betweenness for what joins clusters; for counts use degree_centrality
    instead.
    """
    return await reasoning_of(call).analysis.pagerank(call.caller, request)


async def connected_components(call: Call, request: ConnectedComponents) -> ComponentsResponse:
    """List connected parts of a scratch graph, or groups inside, largest first.

    Use for clusters, topics, modules, single points of failure; for one node use impact_of_removal instead.
    """
    return await reasoning_of(call).analysis.connected_components(call.caller, request)


async def find_cycles(call: Call, request: FindCycles) -> CyclesResponse:
    """List cycles, shortest first, and the fewest edges that break all.

    Use for circular dependencies; for nodes that reach each other use connected_components instead.
    """
    return await reasoning_of(call).analysis.find_cycles(call.caller, request)


async def transitive_reduction(call: Call, request: TransitiveReduction) -> ReductionResponse:
    """List edges that longer paths make superfluous, and remove them if asked.

    Use for direct dependencies only; for single edges use remove_edge instead.
    """
    return await reasoning_of(call).analysis.transitive_reduction(call.caller, request)


async def degree_centrality(call: Call, request: DegreeCentrality) -> DegreesResponse:
    """Rank nodes by number of edges, in and out.

    Use for hubs and, with relation, "most supported"; beyond neighbours use pagerank instead.
    """
    return await reasoning_of(call).analysis.degree_centrality(call.caller, request)


async def impact_of_removal(call: Call, request: ImpactOfRemoval) -> ImpactResponse:
    """Show what goes with a node: what needs it or follows from it, what falls apart.

    Use for "what breaks without X"; to remove it use remove_node instead.
    """
    return await reasoning_of(call).analysis.impact_of_removal(call.caller, request)


async def common_causes(call: Call, request: CommonCauses) -> CausesResponse:
    """Get what leads to a node: roots, what most ways pass, the fewest nodes that cut all.

    Use for root causes and the best fix; for what follows or needs it use impact_of_removal instead.
    """
    return await reasoning_of(call).analysis.common_causes(call.caller, request)


async def import_graph(call: Call, request: ImportGraph) -> ImportGraphResponse:
    """Import a text into a scratch graph, merging; all or nothing.

    Use for many; for few use add_edges instead. csv: header source,target,relation, then properties. json: nodes
    with label, type; edges with source, target, relation.
    """
    return await reasoning_of(call).exchange.import_graph(call.caller, request)


async def export_graph(call: Call, request: ExportGraph) -> ExportGraphResponse:
    """Export a scratch graph, or a part of it.

    Use text (a tree) to see it, svg for a picture's address, dot, mermaid, csv for other programs, json, graphml
    to keep all; for few nodes use subgraph instead.
    """
    return await reasoning_of(call).exchange.export_graph(call.caller, request)


async def draw_graph(call: Call, request: DrawGraph) -> DrawnGraph:
    """Draw a scratch graph: what a client reads at the address of a picture. It is not listed."""
    return await reasoning_of(call).exchange.draw_graph(call.caller, request)


async def load_memory_graph(call: Call, request: LoadMemoryGraph) -> LoadMemoryResponse:
    """Load a part of memory into a scratch graph: entities as nodes, facts as edges.

    Use to compute on memory, two dates in two graphs; for a first look use get_entity_subgraph instead.
    """
    return await reasoning_of(call).bridge.load_memory_graph(call.caller, request)


async def commit_graph(call: Call, request: CommitGraph) -> CommitGraphResponse:
    """Write a scratch graph to memory, as entities and facts of one episode.

    Use for results that are to last; for what was said use add_memory instead. First preview and show the user
    the sentences, then dry_run=false. Of an edge it takes fact (a sentence), kind, value, unit, measure,
    valid_at, invalid_at (ends a fact; a removed edge does not), of a new node its summary.
    """
    return await reasoning_of(call).committing.commit_graph(call.caller, request)


async def save_graph(call: Call, request: SaveGraph) -> SaveGraphResponse:
    """Save a copy of a scratch graph, which else goes when idle.

    Use to go on another day; for results use commit_graph instead.
    """
    return await reasoning_of(call).saving.save_graph(call.caller, request)


async def open_graph(call: Call, request: OpenGraph) -> OpenGraphResponse:
    """Open a saved graph as a scratch graph again.

    Use for saved ones of list_graphs; for memory use load_memory_graph instead.
    """
    return await reasoning_of(call).saving.open_graph(call.caller, request)
