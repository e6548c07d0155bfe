"""Declares the tools over scratch graphs."""

from functools import partial

from graphiti_pkm.capabilities.scratch.tools import (
    add_edge,
    add_edges,
    add_node,
    add_nodes,
    all_paths,
    commit_graph,
    common_causes,
    compare_graphs,
    connected_components,
    degree_centrality,
    delete_graph,
    draw_graph,
    export_graph,
    find_cycles,
    find_edges,
    find_node,
    get_graph_info,
    get_neighbors,
    impact_of_removal,
    import_graph,
    list_graphs,
    list_nodes,
    load_memory_graph,
    merge_nodes,
    open_graph,
    pagerank,
    remove_edge,
    remove_node,
    rename_node,
    save_graph,
    shortest_path,
    subgraph,
    transitive_reduction,
)
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.tool import DELETES, WRITES_IDEMPOTENT, ToolSpec

_tool = partial(ToolSpec, shown_by="list_graphs")

_LOADED = Hints(("get_graph_info", "pagerank", "shortest_path"))

DRAWING = _tool(draw_graph, "Draw Graph")
"""Answers the resources of pictures; it is in no toolset and no list."""

EXPORTING = export_graph.__name__
"""The tool that gives addresses of pictures: where it is offered, so are they."""

CAPABILITY = Capability(
    name="scratch",
    assembly="graphiti_pkm.capabilities.scratch.assembly",
    only_with="reasoning",
    former={
        "betweenness_centrality": ("pagerank", {"by": "betweenness"}),
        "bridges": ("connected_components", {"mode": "bridges"}),
        "communities": ("connected_components", {"mode": "communities"}),
    },
    tools={
        # Scratch graphs are temporary and belong to the caller, so that a contributor may also remove things from them.
        "reasoning": (
            _tool(list_graphs, "List Graphs", hints=Hints(("get_graph_info",))),
            _tool(delete_graph, "Delete Graph", DELETES, permitted_to="contributor"),
            _tool(get_graph_info, "Get Graph Info"),
            _tool(compare_graphs, "Compare Graphs"),
            _tool(add_node, "Add Node", WRITES_IDEMPOTENT),
            _tool(add_nodes, "Add Nodes", WRITES_IDEMPOTENT),
            _tool(find_node, "Find Node"),
            _tool(remove_node, "Remove Node", DELETES, permitted_to="contributor"),
            _tool(merge_nodes, "Merge Nodes", DELETES, permitted_to="contributor"),
            _tool(rename_node, "Rename Node", WRITES_IDEMPOTENT),
            _tool(list_nodes, "List Nodes"),
            _tool(add_edge, "Add Edge", WRITES_IDEMPOTENT),
            _tool(add_edges, "Add Edges", WRITES_IDEMPOTENT),
            _tool(find_edges, "Find Edges"),
            _tool(remove_edge, "Remove Edge", DELETES, permitted_to="contributor"),
            _tool(get_neighbors, "Get Neighbors"),
            _tool(subgraph, "Subgraph"),
            _tool(shortest_path, "Shortest Path"),
            _tool(all_paths, "All Paths"),
            _tool(pagerank, "Pagerank"),
            _tool(connected_components, "Connected Components"),
            _tool(find_cycles, "Find Cycles"),
            _tool(transitive_reduction, "Transitive Reduction", DELETES, permitted_to="contributor"),
            _tool(degree_centrality, "Degree Centrality"),
            _tool(impact_of_removal, "Impact Of Removal"),
            _tool(common_causes, "Common Causes"),
            _tool(import_graph, "Import Graph", WRITES_IDEMPOTENT, hints=_LOADED),
            _tool(export_graph, "Export Graph"),
            _tool(load_memory_graph, "Load Memory Graph", WRITES_IDEMPOTENT, hints=_LOADED),
            _tool(
                commit_graph,
                "Commit Graph",
                WRITES_IDEMPOTENT,
                shown_by="get_episodes",
                hints=Hints(("get_entity_connections",)),
            ),
            _tool(save_graph, "Save Graph", WRITES_IDEMPOTENT, hints=Hints(("list_graphs",))),
            _tool(open_graph, "Open Graph", WRITES_IDEMPOTENT, hints=_LOADED),
        ),
    },
)
