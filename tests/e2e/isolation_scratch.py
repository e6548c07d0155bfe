"""Scratch graphs of two principals: what each has in theirs, and calls that are as they should be."""

import json
from typing import Any

from mcp.client import Client
from tests.e2e.support import call

from graphiti_pkm.server.tools.registry import TOOLSETS

HERS, NOBODYS = "orbit plan", "sunlit plan"
"""Names of graphs: one that she has, open and saved, and one that nobody has."""
SCRATCH = {tool.name for toolset in TOOLSETS if toolset.name == "reasoning" for tool in toolset.tools}
MEMORY = {"load_memory_graph", "commit_graph", "save_graph", "open_graph"}
"""Those of them that reach the database or the journal."""
OPENING = {"save_graph", "open_graph"}
_EDGE = {"source": "Tom", "target": "Heron", "relation": "KNOWS"}
_ENDS = {"source": "Tom", "target": "Heron"}
_SECRET = [
    {"source": "Ilse Quark", "target": "Zanzibar", "relation": "MET"},
    {"source": "Zanzibar", "target": "fjord", "relation": "AT"},
]


def scratch_arguments(entity: str) -> dict[str, dict[str, Any]]:
    """By tool, of the graph that is called ``default``; its nodes are Tom and Heron."""
    return {
        **{tool: {} for tool in SCRATCH},
        "compare_graphs": {"other": "default"},
        "add_node": {"label": "Tom"},
        "add_nodes": {"nodes": [{"label": "Tom"}]},
        "find_node": {"query": "Tom"},
        "remove_node": {"label": "Tom"},
        "merge_nodes": {"keep": "Heron", "remove": "Tom"},
        "rename_node": {"label": "Tom", "new_label": "Tomas"},
        "list_nodes": {"limit": 1},
        "add_edge": {**_EDGE, "create_missing": True},
        "add_edges": {"edges": [_EDGE], "create_missing": True},
        "find_edges": {"limit": 1},
        "remove_edge": _ENDS,
        "get_neighbors": {"node": "Heron", "limit": 1},
        "subgraph": {"nodes": ["Tom"]},
        "shortest_path": _ENDS,
        "all_paths": _ENDS,
        "impact_of_removal": {"node": "Tom"},
        "common_causes": {"target": "Tom"},
        "import_graph": {"format": "csv", "content": "source,target,relation\nTom,Heron,KNOWS\n"},
        "export_graph": {"format": "json"},
        "load_memory_graph": {"entity_uuids": [entity]},
        "open_graph": {"name": "default"},
    }


async def draw_hers(client: Client) -> None:
    """The same graph as the others have, and one of the same words as her memory, also saved."""
    await draw_own(client)
    for graph in ("default", HERS):
        await call(client, "add_edges", edges=_SECRET, create_missing=True, graph=graph)
    await call(client, "save_graph", graph=HERS)


async def draw_own(client: Client) -> None:
    """Begin anew, with the graph that ``scratch_arguments`` speaks of alone."""
    for graph in ("default", HERS, NOBODYS):
        for saved in (True, False):
            await call(client, "delete_graph", graph=graph, saved=saved)
    edges = [_EDGE, {**_EDGE, "relation": "LEADS"}, {**_EDGE, "target": "Osprey"}]
    await call(client, "add_edges", edges=edges, create_missing=True)


async def drawn(client: Client) -> dict[str, Any]:
    """All that she has; when it was used last is no part of it."""
    listed = await call(client, "list_graphs")
    contents = {
        graph: json.loads((await call(client, "export_graph", format="json", graph=graph))["content"])
        for graph in ("default", HERS)
    }
    graphs = sorted((one["name"], one["node_count"], one["edge_count"], one["created_at"]) for one in listed["graphs"])
    return {"graphs": graphs, "saved": listed["saved"], "contents": contents}
