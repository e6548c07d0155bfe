"""Tools of the toolset ``reasoning`` between texts and scratch graphs. Their docstrings are prompts."""

from typing import Annotated, Literal

from pydantic import Field

from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH
from graphiti_pkm.capabilities.scratch.models.answers import ExportGraphResponse, ImportGraphResponse
from graphiti_pkm.capabilities.scratch.tools.parameters import Graph, reasoning_of
from graphiti_pkm.core.reading.paging import EXPORT
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.schema import Strings


async def import_graph(
    call: Call,
    format: Literal["dot", "csv", "tsv", "json", "graphml"],  # noqa: A002  (the documents' name)
    content: Annotated[str, Field(max_length=1_000_000, description="the text itself, no file")],
    graph: Graph = DEFAULT_GRAPH,
) -> ImportGraphResponse:
    """Import a text into a scratch graph, merging with what is there: nodes by label, one edge a relation.

    Use for many nodes and edges at once, your own or of another program; for single ones use add_nodes and add_edges
    instead. dot: an edge's label is its relation. csv: header source,target,relation, then properties. json: nodes
    with label and type, edges with source, target and relation. All or nothing; an error names the line.
    """
    return await reasoning_of(call).exchange.import_graph(call.caller, graph, format, content)


async def export_graph(
    call: Call,
    format: Literal["dot", "csv", "tsv", "json", "graphml", "mermaid", "svg", "text"],  # noqa: A002  (as above)
    graph: Graph = DEFAULT_GRAPH,
    nodes: Annotated[
        Strings | None, Field(max_length=500, description="only these labels and the edges among them")
    ] = None,
    max_chars: Annotated[
        int, Field(ge=EXPORT.minimum, le=EXPORT.maximum, description="longer content is an error, never cut")
    ] = EXPORT.default,
) -> ExportGraphResponse:
    """Export a scratch graph as a text or a picture.

    Use json or graphml to keep everything, dot and mermaid for other programs, csv for the edges, svg for a picture
    and text for a tree in characters, both of at most some hundred nodes. To look at a few nodes use subgraph or
    get_neighbors instead.
    """
    return await reasoning_of(call).exchange.export_graph(call.caller, graph, format, nodes, max_chars)
