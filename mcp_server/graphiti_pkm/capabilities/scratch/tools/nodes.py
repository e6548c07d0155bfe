"""Tools of the toolset ``reasoning`` over nodes. Their docstrings are prompts."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH
from graphiti_pkm.capabilities.scratch.models.answers import (
    AddNodeResponse,
    AddNodesResponse,
    FindNodeResponse,
    ListNodesResponse,
    RemoveNodeResponse,
)
from graphiti_pkm.capabilities.scratch.tools.parameters import Graph, Nodes, Properties, Rows, reasoning_of
from graphiti_pkm.core.reading.paging import SCRATCH_ROWS as ROWS
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.parameters import Cursor


async def add_node(
    call: Call,
    label: str,
    type: str | None = None,  # noqa: A002  (callers know the parameter by this name)
    properties: Properties = None,
    graph: Graph = DEFAULT_GRAPH,
) -> AddNodeResponse:
    """Add a node to a scratch graph, or merge into the one of this label; case, spaces, - and _ are ignored.

    Use for one; for several use add_nodes instead. similar_existing names others that may be the same: nothing is
    merged by meaning.
    """
    return await reasoning_of(call).nodes.add_node(call.caller, label, type, properties, graph)


async def add_nodes(call: Call, nodes: Nodes, graph: Graph = DEFAULT_GRAPH) -> AddNodesResponse:
    """Add up to 500 nodes to a scratch graph at once; wrong ones are listed in failed, the others added.

    Use before add_edges; to take nodes from a text in DOT, CSV, JSON or GraphML use import_graph instead.
    """
    return await reasoning_of(call).nodes.add_nodes(call.caller, nodes, graph)


async def find_node(call: Call, query: str, graph: Graph = DEFAULT_GRAPH) -> FindNodeResponse:
    """Find nodes of a scratch graph by what they are called, exactly or nearly, most similar first.

    Use when unsure of a label; other tools find labels so themselves. For entities of memory use search_nodes instead.
    """
    return await reasoning_of(call).nodes.find_node(call.caller, query, graph)


async def remove_node(call: Call, label: str, graph: Graph = DEFAULT_GRAPH) -> RemoveNodeResponse:
    """Remove a node and its edges from a scratch graph; only the very label will do.

    Use to correct a graph; to see what would come apart without the node use impact_of_removal instead.
    """
    return await reasoning_of(call).nodes.remove_node(call.caller, label, graph)


async def list_nodes(
    call: Call,
    type: str | None = None,  # noqa: A002  (callers know the parameter by this name)
    max_in_degree: Annotated[int | None, Field(ge=0, description="0 = without incoming edges")] = None,
    max_out_degree: Annotated[int | None, Field(ge=0)] = None,
    relation: Annotated[str | None, Field(description="only its edges count for the degrees")] = None,
    limit: Rows = ROWS.default,
    cursor: Cursor = None,
    graph: Graph = DEFAULT_GRAPH,
) -> ListNodesResponse:
    """List nodes of a scratch graph as they were added, perhaps of one type or without edges in or out.

    Use for an overview or, with max_in_degree=0 and relation, what nothing explains; for one node by name use
    find_node instead.
    """
    return await reasoning_of(call).nodes.list_nodes(
        call.caller, type, max_in_degree, max_out_degree, relation, limit, cursor, graph
    )
