"""The formats that scratch graphs can be read from and written to."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

from graphiti_pkm.capabilities.scratch.drawing.svg import write_svg
from graphiti_pkm.capabilities.scratch.drawing.text_picture import write_text
from graphiti_pkm.capabilities.scratch.formats.dot import read_dot, write_dot
from graphiti_pkm.capabilities.scratch.formats.graphml import read_graphml, write_graphml
from graphiti_pkm.capabilities.scratch.formats.json_text import read_json, write_json
from graphiti_pkm.capabilities.scratch.formats.mermaid import write_mermaid
from graphiti_pkm.capabilities.scratch.formats.tables import not_in_tables, read_table, write_csv, write_tsv
from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.errors import InvalidInput, TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

LARGEST_TEXT = 1_000_000
"""In bytes of UTF-8."""

ReadFormat: TypeAlias = Literal["dot", "csv", "tsv", "json", "graphml"]

WriteFormat: TypeAlias = Literal["dot", "csv", "tsv", "json", "graphml", "mermaid", "svg", "text"]

_READERS: Mapping[str, Callable[[str, ScratchLimits], Content]] = {
    "dot": read_dot,
    "csv": read_table,
    "tsv": read_table,
    "json": read_json,
    "graphml": read_graphml,
}


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


def parse(text: str, text_format: ReadFormat, limits: ScratchLimits) -> Content:
    """The content of a text. The largest text takes about one second, whatever it contains.

    Raises:
        InvalidInput: the text is not of this format; the message quotes the place.
        TooLarge: the text has more than 1 MB, or more nodes or edges than a graph may have.
    """
    if text_format not in _READERS:
        raise InvalidInput(f"There is no such format. Texts are read from {', '.join(get_args(ReadFormat))}.")
    if len(text) > LARGEST_TEXT or len(text.encode(errors="replace")) > LARGEST_TEXT:
        raise TooLarge("The text is larger than 1 MB. Nothing was stored; send it in parts, they are merged.")
    return _READERS[text_format](text, limits)


def write(content: Content, text_format: WriteFormat) -> str:
    """The text of a content, which must list all nodes that its edges name. Deterministic.

    Raises:
        InvalidInput: the format is unknown, or the content too large for it.
    """
    if text_format not in _WRITERS:
        raise InvalidInput(f"There is no such format. Texts are written as {', '.join(get_args(WriteFormat))}.")
    return _WRITERS[text_format](content)


def left_out(content: Content, text_format: WriteFormat) -> list[str]:
    """Warnings about parts of a content that the format cannot represent."""
    return not_in_tables(content) if text_format in ("csv", "tsv") else []
