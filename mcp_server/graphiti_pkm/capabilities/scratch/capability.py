"""Declares the tools over scratch graphs."""

from graphiti_pkm.capabilities.scratch.tools.edges import (
    add_edge,
    add_edges,
    find_edges,
    get_neighbors,
    remove_edge,
    subgraph,
)
from graphiti_pkm.capabilities.scratch.tools.exchange import export_graph, import_graph
from graphiti_pkm.capabilities.scratch.tools.graphs import compare_graphs, delete_graph, get_graph_info, list_graphs
from graphiti_pkm.capabilities.scratch.tools.memory import commit_graph, load_memory_graph, open_graph, save_graph
from graphiti_pkm.capabilities.scratch.tools.nodes import add_node, add_nodes, find_node, list_nodes, remove_node
from graphiti_pkm.capabilities.scratch.tools.queries import (
    all_paths,
    betweenness_centrality,
    bridges,
    communities,
    connected_components,
    degree_centrality,
    find_cycles,
    impact_of_removal,
    pagerank,
    shortest_path,
    transitive_reduction,
)
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import DELETES, ENDS, ToolSpec

CAPABILITY = Capability(
    name="scratch",
    assembly="graphiti_pkm.capabilities.scratch.assembly",
    only_with="reasoning",
    tools={
        # Scratch graphs are temporary and belong to the caller, so that a contributor may also remove things from them.
        "reasoning": (
            ToolSpec(list_graphs, "List Graphs", shown_by="list_graphs"),
            ToolSpec(delete_graph, "Delete Graph", DELETES, permitted_to="contributor", shown_by="list_graphs"),
            ToolSpec(get_graph_info, "Get Graph Info", shown_by="list_graphs"),
            ToolSpec(compare_graphs, "Compare Graphs", shown_by="list_graphs"),
            ToolSpec(add_node, "Add Node", ENDS, shown_by="list_graphs"),
            ToolSpec(add_nodes, "Add Nodes", ENDS, shown_by="list_graphs"),
            ToolSpec(find_node, "Find Node", shown_by="list_graphs"),
            ToolSpec(remove_node, "Remove Node", DELETES, permitted_to="contributor", shown_by="list_graphs"),
            ToolSpec(list_nodes, "List Nodes", shown_by="list_graphs"),
            ToolSpec(add_edge, "Add Edge", ENDS, shown_by="list_graphs"),
            ToolSpec(add_edges, "Add Edges", ENDS, shown_by="list_graphs"),
            ToolSpec(find_edges, "Find Edges", shown_by="list_graphs"),
            ToolSpec(remove_edge, "Remove Edge", DELETES, permitted_to="contributor", shown_by="list_graphs"),
            ToolSpec(get_neighbors, "Get Neighbors", shown_by="list_graphs"),
            ToolSpec(subgraph, "Subgraph", shown_by="list_graphs"),
            ToolSpec(shortest_path, "Shortest Path", shown_by="list_graphs"),
            ToolSpec(all_paths, "All Paths", shown_by="list_graphs"),
            ToolSpec(pagerank, "Pagerank", shown_by="list_graphs"),
            ToolSpec(connected_components, "Connected Components", shown_by="list_graphs"),
            ToolSpec(find_cycles, "Find Cycles", shown_by="list_graphs"),
            ToolSpec(
                transitive_reduction,
                "Transitive Reduction",
                DELETES,
                permitted_to="contributor",
                shown_by="list_graphs",
            ),
            ToolSpec(degree_centrality, "Degree Centrality", shown_by="list_graphs"),
            ToolSpec(betweenness_centrality, "Betweenness Centrality", shown_by="list_graphs"),
            ToolSpec(impact_of_removal, "Impact Of Removal", shown_by="list_graphs"),
            ToolSpec(bridges, "Bridges", shown_by="list_graphs"),
            ToolSpec(communities, "Communities", shown_by="list_graphs"),
            ToolSpec(import_graph, "Import Graph", ENDS, shown_by="list_graphs"),
            ToolSpec(export_graph, "Export Graph", shown_by="list_graphs"),
            ToolSpec(load_memory_graph, "Load Memory Graph", ENDS, shown_by="list_graphs"),
            ToolSpec(commit_graph, "Commit Graph", ENDS),
            ToolSpec(save_graph, "Save Graph", ENDS, shown_by="list_graphs"),
            ToolSpec(open_graph, "Open Graph", ENDS, shown_by="list_graphs"),
        ),
    },
)
