"""Tools of the toolset ``reasoning`` over edges. Their docstrings are prompts."""

from typing import Annotated, Literal

from pydantic import Field

from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH
from graphiti_pkm.capabilities.scratch.models.answers import (
    AddEdgeResponse,
    AddEdgesResponse,
    FindEdgesResponse,
    GetNeighborsResponse,
    RemoveEdgeResponse,
    ScratchSubgraphResponse,
)
from graphiti_pkm.capabilities.scratch.tools.parameters import (
    CreateMissing,
    Edges,
    Graph,
    Properties,
    Rows,
    reasoning_of,
)
from graphiti_pkm.core.reading.paging import SCRATCH_ROWS as ROWS
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.parameters import Cursor
from graphiti_pkm.toolkit.schema import Strings


async def add_edge(
    call: Call,
    source: str,
    target: str,
    relation: str,
    properties: Properties = None,
    create_missing: CreateMissing = False,
    graph: Graph = DEFAULT_GRAPH,
) -> AddEdgeResponse:
    """Add a directed edge between two nodes of a scratch graph, each found by what it is called.

    Use for one; for several use add_edges instead. An unclear end adds nothing and comes back with candidates.
    """
    return await reasoning_of(call).edges.add_edge(
        call.caller, source, target, relation, properties, create_missing, graph
    )


async def add_edges(
    call: Call, edges: Edges, create_missing: CreateMissing = False, graph: Graph = DEFAULT_GRAPH
) -> AddEdgesResponse:
    """Add up to 500 edges to a scratch graph at once; unclear ones are listed in failed, the others added.

    Use after add_nodes, or with create_missing; for a text in DOT, CSV, JSON or GraphML use import_graph instead.
    """
    return await reasoning_of(call).edges.add_edges(call.caller, edges, create_missing, graph)


async def find_edges(
    call: Call,
    source: str | None = None,
    target: str | None = None,
    relation: str | None = None,
    limit: Rows = ROWS.default,
    cursor: Cursor = None,
    graph: Graph = DEFAULT_GRAPH,
) -> FindEdgesResponse:
    """Find edges of a scratch graph by source, target and relation, with their properties.

    Use to check what was added; for all around one node use get_neighbors instead.
    """
    return await reasoning_of(call).looking.find_edges(call.caller, source, target, relation, limit, cursor, graph)


async def remove_edge(
    call: Call,
    source: str,
    target: str,
    relation: Annotated[str | None, Field(description="all from source to target if left out")] = None,
    graph: Graph = DEFAULT_GRAPH,
) -> RemoveEdgeResponse:
    """Remove edges from one node to another of a scratch graph; the opposite direction stays.

    Use with the very labels; to remove a node with all its edges use remove_node instead.
    """
    return await reasoning_of(call).edges.remove_edge(call.caller, source, target, relation, graph)


async def get_neighbors(
    call: Call,
    node: str,
    direction: Literal["in", "out", "both"] = "both",
    relation: str | None = None,
    limit: Rows = ROWS.default,
    cursor: Cursor = None,
    graph: Graph = DEFAULT_GRAPH,
) -> GetNeighborsResponse:
    """Get what edges join to a node of a scratch graph, with relation and direction.

    Use to walk step by step; for how two nodes hang together use shortest_path instead.
    """
    return await reasoning_of(call).looking.get_neighbors(call.caller, node, direction, relation, limit, cursor, graph)


async def subgraph(
    call: Call,
    nodes: Annotated[Strings, Field(min_length=1, max_length=500)],
    include_edges: bool = True,
    graph: Graph = DEFAULT_GRAPH,
) -> ScratchSubgraphResponse:
    """Get some nodes of a scratch graph and the edges among them.

    Use to look at a part closely; for everything around one node use get_neighbors instead.
    """
    return await reasoning_of(call).looking.subgraph(call.caller, nodes, include_edges, graph)
