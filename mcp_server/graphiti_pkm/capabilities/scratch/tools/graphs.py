"""Tools of the toolset ``reasoning`` over whole scratch graphs. Their docstrings are prompts."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH
from graphiti_pkm.capabilities.scratch.models.answers import (
    CompareGraphsResponse,
    DeleteGraphResponse,
    GraphInfoResponse,
    ListGraphsResponse,
)
from graphiti_pkm.capabilities.scratch.tools.parameters import Graph, Items, reasoning_of
from graphiti_pkm.core.reading.paging import SCRATCH_ITEMS
from graphiti_pkm.toolkit.call import Call


async def list_graphs(call: Call) -> ListGraphsResponse:
    """List your scratch graphs with their sizes, last used first, and the saved ones that open_graph brings back.

    Use to find a graph again after losing context; for what is in one use get_graph_info instead.
    """
    return await reasoning_of(call).saving.list_graphs(call.caller)


async def delete_graph(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    saved: Annotated[bool, Field(description="true = its saved copy instead")] = False,
) -> DeleteGraphResponse:
    """Delete a whole scratch graph; memory is not touched.

    Use when it has served its purpose; to take out single nodes or edges use remove_node or remove_edge instead.
    """
    return await reasoning_of(call).saving.delete_graph(call.caller, graph, saved)


async def get_graph_info(call: Call, graph: Graph = DEFAULT_GRAPH) -> GraphInfoResponse:
    """Get a scratch graph in figures: types, relations, density, whether it is connected (whichever way) and acyclic.

    Use to see what there is to ask for; for the nodes themselves use list_nodes instead.
    """
    return await reasoning_of(call).looking.get_graph_info(call.caller, graph)


async def compare_graphs(
    call: Call,
    other: Annotated[str, Field(description="scratch graph to compare it with")],
    graph: Graph = DEFAULT_GRAPH,
    limit: Items = SCRATCH_ITEMS.default,
) -> CompareGraphsResponse:
    """Compare two scratch graphs: nodes and edges only in one or the other, and those in both that differ.

    Use for what changed, e.g. between memory loaded as of two dates into two graphs; to see what is in one use
    list_nodes and find_edges instead.
    """
    return await reasoning_of(call).comparing.compare_graphs(call.caller, other, graph, limit)
