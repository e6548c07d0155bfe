"""Scratch graphs from texts, and as texts and pictures. A text is read completely before a graph is touched."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphiti_pkm.domain.access import Caller
from graphiti_pkm.domain.scratch import Content, ScratchLimits
from graphiti_pkm.domain.scratch_exchange_answers import ExportGraphResponse, ImportGraphResponse
from graphiti_pkm.errors import TooLarge
from graphiti_pkm.services.paging import EXPORT
from graphiti_pkm.services.scratch_edges import matched
from graphiti_pkm.services.scratch_graphs import ScratchGraphs
from graphiti_pkm.services.scratch_matching import Matcher
from graphiti_pkm.services.waiting import in_thread

if TYPE_CHECKING:  # readers, writers and NumPy are loaded when a text is first read or written
    from graphiti_pkm.formats.reading import ReadFormat
    from graphiti_pkm.formats.writing import WriteFormat

DEFAULT_EXPORT, LARGEST_EXPORT = EXPORT.default, EXPORT.maximum
"""Characters of the content."""


class ScratchExchange:
    """Between graphs and texts of any format."""

    def __init__(self, graphs: ScratchGraphs, matcher: Matcher) -> None:
        self._graphs = graphs
        self._matcher = matcher

    async def import_graph(
        self, caller: Caller, graph: str, text_format: "ReadFormat", content: str
    ) -> ImportGraphResponse:
        """Merge what a text says into a graph: all of it, or nothing if anything is wrong with it."""
        said = await asyncio.to_thread(_read, content, text_format, self._graphs.limits)
        async with self._graphs.writing(caller, graph) as opened:
            applied = await in_thread(opened.graph.apply, said)
            return ImportGraphResponse(
                nodes_added=applied.nodes_added,
                edges_added=applied.edges_added,
                node_count=opened.graph.node_count,
                edge_count=opened.graph.edge_count,
                warnings=list(said.warnings),
            )

    async def export_graph(
        self, caller: Caller, graph: str, text_format: "WriteFormat", nodes: Sequence[str] | None, max_chars: int
    ) -> ExportGraphResponse:
        """A graph, or some of its nodes with the edges among them, as a text: whole or not at all."""
        labels = [label.strip() for label in nodes or ()]
        async with self._matcher.reading(caller, graph, labels) as found:
            chosen = {found.match(label).index for label in labels} or None
            told = matched(found, labels)
            part = await in_thread(found.graph.content, chosen)
        content = await asyncio.to_thread(_written, part, text_format)
        if len(content) > max_chars:
            raise TooLarge(
                f"The content has {len(content):,} characters, more than max_chars ({max_chars:,}), and a part would "
                f"be useless. {_way_out(len(content))} name fewer nodes, or use another format: csv and text are short."
            )
        return ExportGraphResponse(
            format=text_format,
            node_count=len(part.nodes),
            edge_count=len(part.edges),
            matched=told,
            content=content,
        )


def _way_out(characters: int) -> str:
    return f"Send max_chars={characters}," if characters <= LARGEST_EXPORT else f"At most {LARGEST_EXPORT:,} are sent:"


def _read(text: str, text_format: "ReadFormat", limits: ScratchLimits) -> Content:
    from graphiti_pkm.formats.reading import parse  # noqa: PLC0415  (see above)

    return parse(text, text_format, limits)


def _written(content: Content, text_format: "WriteFormat") -> str:
    from graphiti_pkm.formats.writing import write  # noqa: PLC0415  (see above)

    return write(content, text_format)
