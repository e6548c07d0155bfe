"""The picture as a job of the process that computes: where boxes stand may take seconds."""

from collections.abc import Iterator, Sequence

from graphiti_pkm.capabilities.scratch.drawing.svg import write_svg
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode


def drawn(nodes: Sequence[tuple[str, str | None]], edges: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """The one find is the picture as SVG, of labels and types, and of ends and relations.

    Raises:
        InvalidInput: they are more than a picture shows.
    """
    content = Content(
        tuple(ScratchNode(label, kind) for label, kind in nodes), tuple(ScratchEdge(*edge) for edge in edges)
    )
    yield write_svg(content)
