"""From text to the content of a graph: parsed completely before anything is stored."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

from graphiti_pkm.capabilities.scratch.formats.dot_reading import read_dot
from graphiti_pkm.capabilities.scratch.formats.graphml_reading import read_graphml
from graphiti_pkm.capabilities.scratch.formats.json_text import read_json
from graphiti_pkm.capabilities.scratch.formats.tables import read_table
from graphiti_pkm.capabilities.scratch.limits import Content
from graphiti_pkm.errors import InvalidInput, TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

LARGEST_TEXT = 1_000_000
"""Bytes in UTF-8."""

ReadFormat: TypeAlias = Literal["dot", "csv", "tsv", "json", "graphml"]

_READERS: Mapping[str, Callable[[str, ScratchLimits], Content]] = {
    "dot": read_dot,
    "csv": read_table,
    "tsv": read_table,
    "json": read_json,
    "graphml": read_graphml,
}


def parse(text: str, text_format: ReadFormat, limits: ScratchLimits) -> Content:
    """What a text says. Within about a second for the largest one, whatever it holds.

    Raises:
        InvalidInput: it is no such text; the line and a piece of it are named.
        TooLarge: it has more than 1 MB, or more than a graph takes.
    """
    if text_format not in _READERS:
        raise InvalidInput(f"There is no such format. Texts are read from {', '.join(get_args(ReadFormat))}.")
    if len(text) > LARGEST_TEXT or len(text.encode(errors="replace")) > LARGEST_TEXT:
        raise TooLarge("The text is larger than 1 MB. Nothing was stored; send it in parts, they are merged.")
    return _READERS[text_format](text, limits)
