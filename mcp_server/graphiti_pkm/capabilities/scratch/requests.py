"""What the tools of scratch graphs are asked; the descriptions of fields are prompts."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.capabilities.scratch.edge_meaning import EdgeMeaning
from graphiti_pkm.capabilities.scratch.limits import DEFAULT_GRAPH
from graphiti_pkm.capabilities.scratch.models.requests import EdgeChoice, EdgeInput, NodeInput
from graphiti_pkm.core.model.requests import PER_PAGE, SELDOM_NEEDED, GroupId, Request, Strings, as_list, is_blank
from graphiti_pkm.core.reading.paging import (
    EXPORT,
    LOADED_HOPS,
    LOADED_NODES,
    SCRATCH_ITEMS,
    SCRATCH_ROWS,
    SCRATCH_TOP,
)
from graphiti_pkm.toolkit.parameters import WithEnded
from graphiti_pkm.toolkit.schema import as_object


def _as_nodes(value: object) -> object:
    """A list of nodes as models send it; a bare text is a label."""
    items = as_list(value)
    return [{"label": item} if isinstance(item, str) else item for item in items] if isinstance(items, list) else items


def _unless_blank(value: Any) -> Any:
    """A list, also as a JSON text; None if there is nothing in it."""
    items = as_list(value)
    return None if is_blank(items) else items


Graph: TypeAlias = str
"""Optional everywhere, so that the instructions say what it is; the service checks its form."""
Properties: TypeAlias = Annotated[dict[str, Any] | None, BeforeValidator(as_object)]
Nodes: TypeAlias = Annotated[list[NodeInput], BeforeValidator(_as_nodes), Field(max_length=500)]
Edges: TypeAlias = Annotated[list[EdgeInput], BeforeValidator(as_list), Field(max_length=500)]
Groups: TypeAlias = Annotated[list[Annotated[Strings, Field(max_length=500)]], BeforeValidator(as_list)]
CreateMissing: TypeAlias = Annotated[bool, Field(description="add missing ends")]
Rows: TypeAlias = Annotated[int, Field(ge=SCRATCH_ROWS.minimum, le=SCRATCH_ROWS.maximum), PER_PAGE]
Cursor: TypeAlias = Annotated[str | None, PER_PAGE]
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
    saved: Annotated[bool, Field(description="its saved copy instead")] = False


class GetGraphInfo(Request):
    graph: Graph = DEFAULT_GRAPH


class CompareGraphs(Request):
    other: str
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
    max_in_degree: Annotated[int | None, Field(ge=0)] = None
    max_out_degree: Annotated[int | None, Field(ge=0)] = None
    min_out_degree: Annotated[int | None, Field(ge=0)] = None
    relation: Annotated[str | None, Field(description="its degrees")] = None
    properties: Properties = None
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
    source_type: str | None = None
    target_type: str | None = None
    between: Annotated[
        Annotated[Groups, Field(min_length=2, max_length=2)] | None,
        BeforeValidator(_unless_blank),
        Field(description="two lists of labels, either way"),
    ] = None
    properties: Properties = None
    limit: Rows = SCRATCH_ROWS.default
    cursor: Cursor = None
    graph: Graph = DEFAULT_GRAPH


class RemoveEdge(Request):
    source: str
    target: str
    relation: Annotated[str | None, Field(description="all if left out")] = None
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
    include_edges: Annotated[bool, SELDOM_NEEDED] = True
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
    max_length: Annotated[int | None, Field(ge=1, le=1_000, description="edges at most")] = None
    limit: Few = SCRATCH_ITEMS.default
    relation: Relation = None
    undirected: Undirected = False


class Pagerank(Request):
    by: Literal["pagerank", "betweenness"] = "pagerank"
    graph: Graph = DEFAULT_GRAPH
    top_n: Top = SCRATCH_TOP.default
    weight: Annotated[Weight, SELDOM_NEEDED] = None
    relation: Relation = None
    undirected: Annotated[bool | None, SELDOM_NEEDED] = None
    """If left out, only for betweenness."""


class ConnectedComponents(Request):
    graph: Graph = DEFAULT_GRAPH
    mode: Annotated[
        Literal["weak", "strong", "communities", "bridges"],
        Field(description="strong: reach each other; communities: groups inside; bridges: what alone joins"),
    ] = "weak"
    limit: Few = SCRATCH_ITEMS.default
    weight: Annotated[Weight, SELDOM_NEEDED] = None
    relation: Relation = None


class FindCycles(Request):
    graph: Graph = DEFAULT_GRAPH
    max_length: Annotated[int | None, Field(ge=1, le=1_000), SELDOM_NEEDED] = None
    """Nodes of a cycle at most."""
    limit: Few = 20
    relation: Relation = None


class TransitiveReduction(Request):
    graph: Graph = DEFAULT_GRAPH
    in_place: Annotated[bool, Field(description="true removes them")] = False
    relation: Relation = None
    limit: Few = SCRATCH_ITEMS.default


class DegreeCentrality(Request):
    graph: Graph = DEFAULT_GRAPH
    top_n: Top = SCRATCH_TOP.default
    relation: Relation = None


class ImpactOfRemoval(Request):
    node: Label
    relation: Relation = None
    edges: Annotated[EdgeMeaning | None, Field(description="what X→Y says; else by relation")] = None
    target: Annotated[Label | None, Field(description="only who loses this")] = None
    graph: Graph = DEFAULT_GRAPH
    limit: Few = SCRATCH_ITEMS.default


class CommonCauses(Request):
    target: Label
    relation: Relation = None
    graph: Graph = DEFAULT_GRAPH
    limit: Few = 15


class ImportGraph(Request):
    format: Literal["dot", "csv", "tsv", "json", "graphml"]
    content: Annotated[str, Field(max_length=1_000_000)]
    nodes: Annotated[str | None, Field(max_length=1_000_000, description="csv: label,type")] = None
    graph: Graph = DEFAULT_GRAPH


class GraphPart(Request):
    """What of a graph is shown; the graph stays as it is."""

    graph: Graph = DEFAULT_GRAPH
    nodes: Annotated[Strings | None, Field(max_length=500, description="only these")] = None
    hops: Annotated[int, Field(ge=0, le=10, description="and so near")] = 0
    relation: Relation = None
    rank: Annotated[int | None, Field(ge=1, description="so many, by PageRank")] = None
    reduce: Annotated[bool, Field(description="without what longer paths imply")] = False


class ExportGraph(GraphPart):
    format: Literal["text", "svg", "mermaid", "dot", "csv", "tsv", "json", "graphml"] = "text"
    max_chars: Annotated[int | None, Field(ge=EXPORT.minimum, le=EXPORT.maximum), SELDOM_NEEDED] = None
    """A longer content is an error that says which number to send; with a number an SVG comes as content."""


class DrawGraph(GraphPart):
    """Of a resource: the tool that answers it is not listed."""

    format: Literal["svg", "png"]


class LoadMemoryGraph(Request):
    graph: Graph = DEFAULT_GRAPH
    entity_uuids: Annotated[Strings | None, Field(max_length=50, description="from search_nodes; or me")] = None
    query: Annotated[Strings | None, Field(max_length=10, description="or best matches")] = None
    episode_uuids: Annotated[Strings | None, Field(max_length=50, description="or what these mention")] = None
    entity_types: Annotated[Strings | None, Field(max_length=20, description="only these, or all of these")] = None
    hops: Annotated[int, Field(ge=LOADED_HOPS.minimum, le=LOADED_HOPS.maximum)] = LOADED_HOPS.default
    as_of: Annotated[str | None, Field(description="what held then")] = None
    known_at: Annotated[str | None, Field(description="what memory knew then")] = None
    limit: Annotated[int, Field(ge=LOADED_NODES.minimum, le=LOADED_NODES.maximum)] = LOADED_NODES.default
    group_ids: Annotated[Strings | None, Field(description="namespaces; alone: all in them")] = None
    include_invalidated: Annotated[WithEnded, SELDOM_NEEDED] = True


class CommitGraph(Request):
    graph: Graph = DEFAULT_GRAPH
    edges: EdgeChoices | None = None
    nodes: Annotated[Strings | None, Field(max_length=500, description="only these; with neither: all")] = None
    dry_run: Annotated[bool, Field(description="show what would be written")] = True
    title: str | None = None
    note: Annotated[str | None, Field(max_length=10_000, description="your words in it")] = None
    valid_at: Annotated[str | None, Field(description="when it happened; now if left out")] = None
    group_id: GroupId = None


class SaveGraph(Request):
    graph: Graph = DEFAULT_GRAPH
    name: str | None = None
    """Of the copy; the graph's own if left out."""


class OpenGraph(Request):
    name: str = DEFAULT_GRAPH
    graph: Annotated[str | None, Field(description="merge into; its name if left out")] = None
