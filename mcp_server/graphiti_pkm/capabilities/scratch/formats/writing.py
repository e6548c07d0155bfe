"""From the content of a graph to a text, whole or not at all."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

from graphiti_pkm.capabilities.scratch.drawing.svg import write_svg
from graphiti_pkm.capabilities.scratch.drawing.text_picture import write_text
from graphiti_pkm.capabilities.scratch.formats.dot_writing import write_dot
from graphiti_pkm.capabilities.scratch.formats.graphml_writing import write_graphml
from graphiti_pkm.capabilities.scratch.formats.json_text import write_json
from graphiti_pkm.capabilities.scratch.formats.mermaid import write_mermaid
from graphiti_pkm.capabilities.scratch.formats.tables import not_in_tables, write_csv, write_tsv
from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.errors import InvalidInput

WriteFormat: TypeAlias = Literal["dot", "csv", "tsv", "json", "graphml", "mermaid", "svg", "text"]

_WRITERS: Mapping[str, Callable[[Content], str]] = {
    "dot": write_dot,
    "csv": write_csv,
    "tsv": write_tsv,
    "json": write_json,
    "graphml": write_graphml,
    "mermaid": write_mermaid,
    "svg": write_svg,
    "text": write_text,
}


def write(content: Content, text_format: WriteFormat) -> str:
    """The text of a content whose edges name only nodes that are listed, always the same for the same content.

    Raises:
        InvalidInput: there is no such format, or it cannot show so much.
    """
    if text_format not in _WRITERS:
        raise InvalidInput(f"There is no such format. Texts are written as {', '.join(get_args(WriteFormat))}.")
    return _WRITERS[text_format](content)


def left_out(content: Content, text_format: WriteFormat) -> list[str]:
    """What of a content the text does not hold, and nobody sees in it."""
    return not_in_tables(content) if text_format in ("csv", "tsv") else []
