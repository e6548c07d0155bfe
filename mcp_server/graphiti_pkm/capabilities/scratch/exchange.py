"""Imports scratch graphs from texts and exports them as texts and pictures."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphiti_pkm.capabilities.scratch.edges import matched
from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.capabilities.scratch.matching.matching import Matcher
from graphiti_pkm.capabilities.scratch.models.answers import (
    DrawnGraph,
    ExportGraphResponse,
    ImportGraphResponse,
    MatchedLabel,
)
from graphiti_pkm.capabilities.scratch.parts import highest, near, of_relation, without_implied
from graphiti_pkm.capabilities.scratch.pictures import address, renders_png
from graphiti_pkm.capabilities.scratch.requests import DrawGraph, ExportGraph, GraphPart, ImportGraph
from graphiti_pkm.capabilities.scratch.snapshots import Snapshots, must_have
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs, checked_name
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.reading.paging import EXPORT
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

if TYPE_CHECKING:  # formats and NumPy are loaded on first use
    from graphiti_pkm.capabilities.scratch.formats.registry import WriteFormat
    from graphiti_pkm.capabilities.scratch.graphs.graph import Applied, ScratchGraph

DEFAULT_EXPORT, LARGEST_EXPORT = EXPORT.default, EXPORT.maximum
"""Default and maximum number of characters of an export."""
_SHORT = ("csv", "tsv", "text", "mermaid")
_WHERE = "The picture is not in this answer: the client reads it as a resource, at the address in picture."
_FEWEST_DENSE, _DENSE = 60, 2.5
"""The edges, and how many for each node, from which no layout keeps the lines of a picture apart."""
_CLEAR = 20
_MOST_LISTED = 5
_LONGEST_LISTED = 60


class ScratchExchange:
    """``import_graph`` and ``export_graph``."""

    def __init__(self, graphs: ScratchGraphs, matcher: Matcher, snapshots: Snapshots) -> None:
        self._graphs = graphs
        self._matcher = matcher
        self._snapshots = snapshots

    async def import_graph(self, caller: Caller, request: ImportGraph) -> ImportGraphResponse:
        """Merge the content of a text into a graph; if any part of it is invalid, nothing is changed."""
        said = await asyncio.to_thread(_read, request, self._graphs.limits)
        async with self._graphs.writing(caller, request.graph) as opened:
            applied, other_types = await in_thread(_applied, opened.graph, said)
            return ImportGraphResponse(
                **opened.message_if_created,
                nodes_added=applied.nodes_added,
                edges_added=applied.edges_added,
                node_count=opened.graph.node_count,
                edge_count=opened.graph.edge_count,
                warnings=[*said.warnings, *other_types],
            )

    async def export_graph(self, caller: Caller, request: ExportGraph) -> ExportGraphResponse:
        """A graph, or a part of it, as a text, which is never truncated, or as a picture at an address."""
        part = await self._part(caller, request)
        content, size = part.content, dict[str, Any]()
        if request.format == "svg":
            drawn = await self._snapshots.drawn(caller, content)
            text, size = drawn["svg"], {"width": drawn["width"], "height": drawn["height"]}
            warnings = await asyncio.to_thread(_said_of_picture, content, text, request)
        else:
            text, warnings = await asyncio.to_thread(_written, content, request.format)
        told = {
            "format": request.format,
            "node_count": len(content.nodes),
            "edge_count": len(content.edges),
            "matched": part.matched,
            "warnings": [*part.left_out, *warnings],
            **size,
        }
        if request.format == "svg" and request.max_chars is None:
            return ExportGraphResponse(
                content=None,
                picture=address(part.graph, request, part.named, "svg"),
                png=address(part.graph, request, part.named, "png") if renders_png() else None,
                bytes=len(text.encode()),
                message=_WHERE,
                **told,
            )
        most = request.max_chars or DEFAULT_EXPORT
        if len(text) > most:
            raise TooLarge(
                f"The content has {len(text):,} characters, more than max_chars ({most:,}), and a part would be "
                f"useless. {_way_out(len(text), request.format)}"
            )
        return ExportGraphResponse(content=text, **told)

    async def draw_graph(self, caller: Caller, request: DrawGraph) -> DrawnGraph:
        """The picture at an address that ``export_graph`` gave, of the graph as it is now."""
        part = await self._part(caller, request)
        drawn = await self._snapshots.drawn(caller, part.content, as_png=request.format == "png")
        return DrawnGraph(svg=drawn.get("svg"), png=drawn.get("png"))

    async def _part(self, caller: Caller, request: GraphPart) -> "_Part":
        labels = [label.strip() for label in request.nodes or ()]
        if request.hops and not labels:
            raise InvalidInput("hops goes with nodes: name those around which to look.")
        async with self._matcher.reading(caller, request.graph, labels) as found:
            indices = {found.match(label).index for label in labels}
            told = matched(found, labels)
            must_have(found.graph, request.relation)
            named = [found.graph.label(index) for index in indices]
            around = await in_thread(near, found.graph, indices, request.hops, request.relation)
            content = await in_thread(found.graph.content, around or None)
        content, left_out = await in_thread(_chosen, content, request, named)
        return _Part(checked_name(request.graph), content, sorted(named), told, left_out)


class _Part(NamedTuple):
    """The part of a graph that is shown."""

    graph: str
    content: Content
    named: list[str]
    """The labels of the nodes that were asked for."""
    matched: list[MatchedLabel]
    left_out: list[str]


def _chosen(content: Content, request: GraphPart, named: Sequence[str]) -> tuple[Content, list[str]]:
    """What is shown of a content, and in words what is not."""
    content = of_relation(content, request.relation)
    left_out = []
    if request.rank is not None:
        whole, content = content, highest(content, request.rank, named)
        if lost := len(whole.nodes) - len(content.nodes):
            left_out.append(f"Left out: {counted(lost, 'node')} of lower PageRank.")
    if request.reduce:
        whole, content = content, without_implied(content)
        if lost := len(whole.edges) - len(content.edges):
            left_out.append(f"Left out: {counted(lost, 'edge')} implied by longer paths of the same relation.")
    return content, left_out


def _said_of_picture(content: Content, text: str, request: ExportGraph) -> list[str]:
    """What the picture does not show, and which choices would show less if its edges cannot be told apart."""
    left_out = _left_out(content, text, "svg")
    nodes, edges = len(content.nodes), len({(edge.source, edge.target) for edge in content.edges})
    if edges < _FEWEST_DENSE or edges < _DENSE * nodes:
        return left_out
    implied = 0 if request.reduce else len(content.edges) - len(without_implied(content).edges)
    most = nodes // 2 if nodes < 2 * _CLEAR else _CLEAR
    ways = [
        *([f"reduce=true leaves out {implied:,} that longer paths imply"] if implied else []),
        *([f"rank={most} draws the nodes of the highest PageRank"] if request.rank is None else []),
        *(["nodes with hops=1 draws what is around one"] if not request.nodes else []),
    ]
    said = f"{edges:,} edges among {nodes:,} nodes cross one another."
    return [*left_out, f"{said} To see more in less: {'; '.join(ways)}." if ways else said]


def _applied(graph: "ScratchGraph", said: Content) -> "tuple[Applied, list[str]]":
    return graph.apply(said), _other_types(graph, said)


def _other_types(graph: "ScratchGraph", said: Content) -> list[str]:
    """A warning that names the first nodes which keep a type other than the one in the text."""
    told = []
    for node in said.nodes:
        index = None if node.type is None else graph.find(node.label)
        kept = None if index is None else graph.node(index)
        if kept is not None and kept.type != node.type:
            told.append(f"‘{kept.label[:_LONGEST_LISTED]}’ stays {kept.type}, not {node.type}")
    if not told:
        return []
    more = f" and {len(told) - _MOST_LISTED} more" if len(told) > _MOST_LISTED else ""
    what = "The graph had nodes of these labels with another type, which they keep"
    return [f"{what}: {'; '.join(told[:_MOST_LISTED])}{more}."]


def _way_out(characters: int, text_format: str) -> str:
    narrow = "name the nodes that matter in nodes (with the edges among them), e.g. of list_nodes or get_neighbors"
    if characters <= LARGEST_EXPORT:
        return f"Send max_chars={characters}, or {narrow}."
    shorter = "" if text_format in _SHORT else "; csv is shorter and holds the edges"
    return f"At most {LARGEST_EXPORT:,} are sent (max_chars={LARGEST_EXPORT}): {narrow}, in several calls{shorter}."


def _read(request: ImportGraph, limits: ScratchLimits) -> Content:
    from graphiti_pkm.capabilities.scratch.formats.registry import parse  # noqa: PLC0415  (loaded on first use)

    return parse(request.content, request.format, limits, request.nodes)


def _left_out(content: Content, text: str, text_format: "WriteFormat") -> list[str]:
    from graphiti_pkm.capabilities.scratch.formats.registry import left_out  # noqa: PLC0415  (loaded on first use)

    return left_out(content, text, text_format)


def _written(content: Content, text_format: "WriteFormat") -> tuple[str, list[str]]:
    from graphiti_pkm.capabilities.scratch.formats.registry import write  # noqa: PLC0415  (loaded on first use)

    text = write(content, text_format)
    return text, _left_out(content, text, text_format)
