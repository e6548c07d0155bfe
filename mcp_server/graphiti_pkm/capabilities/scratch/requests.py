"""What the tools of scratch graphs are asked; the descriptions of fields are prompts."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH
from graphiti_pkm.capabilities.scratch.models.requests import EdgeChoice, EdgeInput, NodeInput
from graphiti_pkm.core.model.requests import PER_PAGE, SELDOM_NEEDED, GroupId, Request, Strings, as_list
from graphiti_pkm.core.reading.paging import (
    EXPORT,
    LOADED_HOPS,
    LOADED_NODES,
    SCRATCH_ITEMS,
    SCRATCH_ROWS,
    SCRATCH_TOP,
)
from graphiti_pkm.toolkit.parameters import AsOf, Cursor, KnownAt, OwnGroups, WithEnded
from graphiti_pkm.toolkit.schema import as_object


def _as_nodes(value: object) -> object:
    """A list of nodes as models send it; a bare text is a label."""
    items = as_list(value)
    return [{"label": item} if isinstance(item, str) else item for item in items] if isinstance(items, list) else items


Graph: TypeAlias = str
"""Optional everywhere, so that the instructions say what it is; the service checks its form."""
Properties: TypeAlias = Annotated[dict[str, Any] | None, BeforeValidator(as_object)]
Nodes: TypeAlias = Annotated[list[NodeInput], BeforeValidator(_as_nodes), Field(max_length=500)]
Edges: TypeAlias = Annotated[list[EdgeInput], BeforeValidator(as_list), Field(max_length=500)]
CreateMissing: TypeAlias = Annotated[bool, Field(description="add ends that are no nodes")]
Rows: TypeAlias = Annotated[int, Field(ge=SCRATCH_ROWS.minimum, le=SCRATCH_ROWS.maximum), PER_PAGE]
Items: TypeAlias = Annotated[int, Field(ge=SCRATCH_ITEMS.minimum, le=SCRATCH_ITEMS.maximum)]
Few: TypeAlias = Annotated[int, Field(ge=SCRATCH_ITEMS.minimum, le=SCRATCH_ITEMS.maximum), SELDOM_NEEDED]
"""Items of an answer whose default nearly always does: what it cuts is counted."""
Label: TypeAlias = str
"""Of a node; near ones match."""
Relation: TypeAlias = str | None
"""Only edges of it."""
Weight: TypeAlias = Annotated[str | None, Field(description="a number property of edges")]
Undirected: TypeAlias = bool
"""Whether the direction of edges is ignored."""
Top: TypeAlias = Annotated[int, Field(ge=SCRATCH_TOP.minimum, le=SCRATCH_TOP.maximum)]
EdgeChoices: TypeAlias = Annotated[list[EdgeChoice], BeforeValidator(as_list), Field(max_length=500)]


class ListGraphs(Request):
    """Nothing."""


class DeleteGraph(Request):
    graph: Graph = DEFAULT_GRAPH
    saved: Annotated[bool, Field(description="true = its saved copy instead")] = False


class GetGraphInfo(Request):
    graph: Graph = DEFAULT_GRAPH


class CompareGraphs(Request):
    other: Annotated[str, Field(description="scratch graph to compare it with")]
    graph: Graph = DEFAULT_GRAPH
    limit: Few = SCRATCH_ITEMS.default


class AddNode(Request):
    label: str
    type: str | None = None
    properties: Properties = None
    graph: Graph = DEFAULT_GRAPH


class AddNodes(Request):
    nodes: Nodes
    graph: Graph = DEFAULT_GRAPH


class FindNode(Request):
    query: str
    graph: Graph = DEFAULT_GRAPH


class RemoveNode(Request):
    label: str
    graph: Graph = DEFAULT_GRAPH


class MergeNodes(Request):
    keep: str
    remove: str
    graph: Graph = DEFAULT_GRAPH


class RenameNode(Request):
    label: str
    new_label: str
    graph: Graph = DEFAULT_GRAPH


class ListNodes(Request):
    type: str | None = None
    max_in_degree: Annotated[int | None, Field(ge=0, description="0 = without incoming edges")] = None
    max_out_degree: Annotated[int | None, Field(ge=0)] = None
    relation: Annotated[str | None, Field(description="only its edges count for the degrees")] = None
    limit: Rows = SCRATCH_ROWS.default
    cursor: Cursor = None
    graph: Graph = DEFAULT_GRAPH


class AddEdge(Request):
    source: str
    target: str
    relation: str
    properties: Properties = None
    create_missing: CreateMissing = False
    graph: Graph = DEFAULT_GRAPH


class AddEdges(Request):
    edges: Edges
    create_missing: CreateMissing = False
    graph: Graph = DEFAULT_GRAPH


class FindEdges(Request):
    source: str | None = None
    target: str | None = None
    relation: str | None = None
    limit: Rows = SCRATCH_ROWS.default
    cursor: Cursor = None
    graph: Graph = DEFAULT_GRAPH


class RemoveEdge(Request):
    source: str
    target: str
    relation: Annotated[str | None, Field(description="all from source to target if left out")] = None
    graph: Graph = DEFAULT_GRAPH


class GetNeighbors(Request):
    node: str
    direction: Literal["in", "out", "both"] = "both"
    relation: str | None = None
    limit: Rows = SCRATCH_ROWS.default
    cursor: Cursor = None
    graph: Graph = DEFAULT_GRAPH


class Subgraph(Request):
    nodes: Annotated[Strings, Field(min_length=1, max_length=500)]
    include_edges: bool = True
    graph: Graph = DEFAULT_GRAPH


class ShortestPath(Request):
    source: Label
    target: Label
    graph: Graph = DEFAULT_GRAPH
    weight: Weight = None
    relation: Relation = None
    undirected: Undirected = False


class AllPaths(Request):
    source: Label
    target: Label
    graph: Graph = DEFAULT_GRAPH
    max_length: Annotated[int | None, Field(ge=1, le=1_000, description="edges of a path at most")] = None
    limit: Items = SCRATCH_ITEMS.default
    relation: Relation = None
    undirected: Undirected = False


class Pagerank(Request):
    by: Literal["pagerank", "betweenness"] = "pagerank"
    graph: Graph = DEFAULT_GRAPH
    top_n: Top = SCRATCH_TOP.default
    weight: Weight = None
    relation: Relation = None
    undirected: Annotated[bool | None, Field(description="left out: only for betweenness")] = None


class ConnectedComponents(Request):
    graph: Graph = DEFAULT_GRAPH
    mode: Annotated[
        Literal["weak", "strong", "communities"],
        Field(description="strong = nodes that reach each other; communities = groups with most edges inside"),
    ] = "weak"
    limit: Few = SCRATCH_ITEMS.default
    weight: Weight = None
    relation: Relation = None


class FindCycles(Request):
    graph: Graph = DEFAULT_GRAPH
    max_length: Annotated[int | None, Field(ge=1, le=1_000, description="nodes of a cycle at most")] = None
    limit: Few = SCRATCH_ITEMS.default
    relation: Relation = None


class TransitiveReduction(Request):
    graph: Graph = DEFAULT_GRAPH
    in_place: Annotated[bool, Field(description="true = remove the edges; false = only list them")] = False
    relation: Relation = None
    limit: Few = SCRATCH_ITEMS.default


class DegreeCentrality(Request):
    graph: Graph = DEFAULT_GRAPH
    top_n: Top = SCRATCH_TOP.default
    relation: Relation = None


class ImpactOfRemoval(Request):
    node: Label
    relation: Relation = None
    target: Annotated[Label | None, Field(description="only who loses this")] = None
    graph: Graph = DEFAULT_GRAPH
    limit: Few = 15


class CommonCauses(Request):
    target: Label
    relation: Relation = None
    graph: Graph = DEFAULT_GRAPH
    limit: Few = 15


class Bridges(Request):
    graph: Graph = DEFAULT_GRAPH
    limit: Few = SCRATCH_ITEMS.default
    relation: Relation = None


class ImportGraph(Request):
    format: Literal["dot", "csv", "tsv", "json", "graphml"]
    content: Annotated[str, Field(max_length=1_000_000, description="the text itself, no file")]
    nodes: Annotated[str | None, Field(description="beside csv: a table label,type and properties")] = None
    graph: Graph = DEFAULT_GRAPH


class ExportGraph(Request):
    format: Literal["dot", "csv", "tsv", "json", "graphml", "mermaid", "svg", "text"]
    graph: Graph = DEFAULT_GRAPH
    nodes: Annotated[
        Strings | None, Field(max_length=500, description="only these labels and the edges among them")
    ] = None
    max_chars: Annotated[
        int, Field(ge=EXPORT.minimum, le=EXPORT.maximum, description="longer content is an error, never cut")
    ] = EXPORT.default


class LoadMemoryGraph(Request):
    graph: Graph = DEFAULT_GRAPH
    entity_uuids: Annotated[
        Strings | None, Field(max_length=50, description="start from these, from search_nodes; or me")
    ] = None
    query: Annotated[str | None, Field(description="or from what fits this best")] = None
    hops: Annotated[int, Field(ge=LOADED_HOPS.minimum, le=LOADED_HOPS.maximum)] = LOADED_HOPS.default
    as_of: AsOf = None
    known_at: KnownAt = None
    limit: Annotated[int, Field(ge=LOADED_NODES.minimum, le=LOADED_NODES.maximum, description="most entities")] = (
        LOADED_NODES.default
    )
    group_ids: OwnGroups = None
    include_invalidated: WithEnded = True


class CommitGraph(Request):
    graph: Graph = DEFAULT_GRAPH
    edges: Annotated[EdgeChoices | None, Field(description="only these, with their ends")] = None
    nodes: Annotated[
        Strings | None, Field(max_length=500, description="only these labels; with neither edges nor nodes: everything")
    ] = None
    dry_run: Annotated[bool, Field(description="true only shows what would be written")] = True
    title: Annotated[str | None, Field(description="of the episode")] = None
    note: Annotated[str | None, Field(max_length=10_000, description="text of your own, put first in it")] = None
    valid_at: Annotated[str | None, Field(description="when it happened; now if left out")] = None
    group_id: GroupId = None


class SaveGraph(Request):
    graph: Graph = DEFAULT_GRAPH
    name: Annotated[str | None, Field(description="to save it under; its own if left out")] = None


class OpenGraph(Request):
    name: Annotated[str, Field(description="of the saved graph")] = DEFAULT_GRAPH
    graph: Annotated[str | None, Field(description="scratch graph to merge it into; of its name if left out")] = None
