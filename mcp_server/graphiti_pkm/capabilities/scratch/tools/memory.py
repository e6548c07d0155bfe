"""Tools of the toolset ``reasoning`` between scratch graphs and memory. Their docstrings are prompts."""

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH
from graphiti_pkm.capabilities.scratch.models.memory import (
    CommitGraphResponse,
    LoadMemoryResponse,
    OpenGraphResponse,
    SaveGraphResponse,
)
from graphiti_pkm.capabilities.scratch.models.requests import EdgeChoice
from graphiti_pkm.capabilities.scratch.tools.parameters import Graph, reasoning_of
from graphiti_pkm.core.model.requests import as_list
from graphiti_pkm.core.reading.paging import LOADED_HOPS, LOADED_NODES
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.parameters import AsOf, GroupId, OwnGroups
from graphiti_pkm.toolkit.schema import Strings

Edges: TypeAlias = Annotated[list[EdgeChoice], BeforeValidator(as_list), Field(max_length=500)]


async def load_memory_graph(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    entity_uuids: Annotated[
        Strings | None, Field(max_length=50, description="start from these, from search_nodes; or me")
    ] = None,
    query: Annotated[str | None, Field(description="or from what fits this best")] = None,
    hops: Annotated[int, Field(ge=LOADED_HOPS.minimum, le=LOADED_HOPS.maximum)] = LOADED_HOPS.default,
    as_of: AsOf = None,
    limit: Annotated[
        int, Field(ge=LOADED_NODES.minimum, le=LOADED_NODES.maximum, description="most entities")
    ] = LOADED_NODES.default,
    group_ids: OwnGroups = None,
    include_invalidated: Annotated[bool, Field(description="false = only what holds now")] = True,
) -> LoadMemoryResponse:
    """Load a part of memory into a scratch graph: entities as nodes, their facts as edges with dates and status.

    Use to compute on memory; two dates go into two graphs. Loading again merges. Memory does not change. For a first
    look at what surrounds an entity use get_entity_subgraph instead.
    """
    return await reasoning_of(call).bridge.load_memory_graph(
        call.caller, graph, entity_uuids, query, hops, as_of, limit, group_ids, include_invalidated
    )


async def commit_graph(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    edges: Annotated[Edges | None, Field(description="only these, with their ends")] = None,
    nodes: Annotated[
        Strings | None, Field(max_length=500, description="only these labels; with neither edges nor nodes: everything")
    ] = None,
    dry_run: Annotated[bool, Field(description="true only shows what would be written")] = True,
    group_id: GroupId = None,
) -> CommitGraphResponse:
    """Commit what is worth keeping of a scratch graph to memory, as entities and facts with one episode as source.

    Use when a result is to last; for what was said use add_memory instead. Call it first as it is, show the user the
    sentences, then again with dry_run=false. What memory knows is not written again. Of properties it takes an edge's
    fact (a sentence), kind, value, unit, measure, valid_at and invalid_at, and a new node's summary. invalid_at ends a
    fact of memory; removing its edge does not.
    """
    return await reasoning_of(call).committing.commit_graph(call.caller, graph, edges, nodes, dry_run, group_id)


async def save_graph(
    call: Call,
    graph: Graph = DEFAULT_GRAPH,
    name: Annotated[str | None, Field(description="to save it under; its own if left out")] = None,
) -> SaveGraphResponse:
    """Save a copy of a scratch graph, which else is gone after some idle time or a restart; an older copy is replaced.

    Use when the work goes on another day; to make results part of memory use commit_graph instead.
    """
    return await reasoning_of(call).saving.save_graph(call.caller, graph, name)


async def open_graph(
    call: Call,
    name: Annotated[str, Field(description="of the saved graph")] = DEFAULT_GRAPH,
    graph: Annotated[str | None, Field(description="scratch graph to merge it into; of its name if left out")] = None,
) -> OpenGraphResponse:
    """Open a saved graph as a scratch graph again.

    Use to go on with what save_graph kept; list_graphs names saved ones. For facts of memory use load_memory_graph
    instead.
    """
    return await reasoning_of(call).saving.open_graph(call.caller, name, graph)
