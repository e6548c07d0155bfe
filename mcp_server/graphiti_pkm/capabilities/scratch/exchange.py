"""Imports scratch graphs from texts and exports them as texts and pictures."""

import asyncio
from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.scratch.edges import matched
from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.capabilities.scratch.matching.matching import Matcher
from graphiti_pkm.capabilities.scratch.models.answers import ExportGraphResponse, ImportGraphResponse
from graphiti_pkm.capabilities.scratch.requests import ExportGraph, ImportGraph
from graphiti_pkm.capabilities.scratch.snapshots import Snapshots, must_have
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.reading.paging import EXPORT
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

if TYPE_CHECKING:  # formats and NumPy are loaded on first use
    from graphiti_pkm.capabilities.scratch.formats.registry import WriteFormat
    from graphiti_pkm.capabilities.scratch.graphs.graph import Applied, ScratchGraph

DEFAULT_EXPORT, LARGEST_EXPORT = EXPORT.default, EXPORT.maximum
"""Default and maximum number of characters of an export."""
_SHORT = ("csv", "tsv", "text", "mermaid")
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
        """A graph, or some of its nodes with the edges between them, as a text, which is never truncated."""
        labels = [label.strip() for label in request.nodes or ()]
        async with self._matcher.reading(caller, request.graph, labels) as found:
            chosen = {found.match(label).index for label in labels} or None
            told = matched(found, labels)
            must_have(found.graph, request.relation)
            part = _of_relation(await in_thread(found.graph.content, chosen), request.relation)
        if request.format == "svg":
            content = await self._snapshots.drawn(caller, part)
            warnings = await asyncio.to_thread(_left_out, part, content, request.format)
        else:
            content, warnings = await asyncio.to_thread(_written, part, request.format)
        if len(content) > request.max_chars:
            raise TooLarge(
                f"The content has {len(content):,} characters, more than max_chars ({request.max_chars:,}), and a part "
                f"would be useless. {_way_out(len(content), request.format)}"
            )
        return ExportGraphResponse(
            format=request.format,
            node_count=len(part.nodes),
            edge_count=len(part.edges),
            matched=told,
            content=content,
            warnings=warnings,
        )


def _of_relation(content: Content, relation: str | None) -> Content:
    """Only the edges of a relation, with their ends."""
    if relation is None:
        return content
    edges = tuple(edge for edge in content.edges if edge.relation.casefold() == relation.casefold())
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    return Content(tuple(node for node in content.nodes if node.label in ends), edges)


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
