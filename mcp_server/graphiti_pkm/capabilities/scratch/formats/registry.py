"""The formats that scratch graphs can be read from and written to."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

from graphiti_pkm.capabilities.scratch.drawing.svg import write_svg
from graphiti_pkm.capabilities.scratch.drawing.text_picture import write_text
from graphiti_pkm.capabilities.scratch.formats.dot import read_dot, write_dot
from graphiti_pkm.capabilities.scratch.formats.graphml import read_graphml, write_graphml
from graphiti_pkm.capabilities.scratch.formats.json_text import read_json, write_json
from graphiti_pkm.capabilities.scratch.formats.mermaid import write_mermaid
from graphiti_pkm.capabilities.scratch.formats.tables import not_in_tables, read_table, write_csv, write_tsv
from graphiti_pkm.capabilities.scratch.limits import NONE, Content, Properties
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.errors import InvalidInput, TooLarge
from graphiti_pkm.settings.scratch_limits import ScratchLimits

LARGEST_TEXT = 1_000_000
"""In bytes of UTF-8."""

ReadFormat: TypeAlias = Literal["dot", "csv", "tsv", "json", "graphml"]

WriteFormat: TypeAlias = Literal["dot", "csv", "tsv", "json", "graphml", "mermaid", "svg", "text"]

_TABLES = ("csv", "tsv")
_UNLIMITED = ScratchLimits(nodes=10**9, edges=10**9)

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


def parse(text: str, text_format: ReadFormat, limits: ScratchLimits, nodes: str | None = None) -> Content:
    """The content of a text. The largest text takes about one second, whatever it contains.

    ``nodes``: beside a table of edges, a table of nodes.

    Raises:
        InvalidInput: the text is not of this format; the message quotes the place.
        TooLarge: the text has more than 1 MB, or more nodes or edges than a graph may have.
    """
    if text_format not in _READERS:
        raise InvalidInput(f"There is no such format. Texts are read from {', '.join(get_args(ReadFormat))}.")
    if nodes is not None and text_format not in _TABLES:
        raise InvalidInput(f"nodes is a table beside csv or tsv; {text_format} holds its nodes itself.")
    if len((text + (nodes or "")).encode(errors="replace")) > LARGEST_TEXT:
        raise TooLarge("The text is larger than 1 MB. Nothing was stored; send it in parts, they are merged.")
    if nodes is not None:
        return read_table(text, limits, nodes)
    return _READERS[text_format](text, limits)


def write(content: Content, text_format: WriteFormat) -> str:
    """The text of a content, which must list all nodes that its edges name. Deterministic.

    Raises:
        InvalidInput: the format is unknown, or the content too large for it.
    """
    if text_format not in _WRITERS:
        raise InvalidInput(f"There is no such format. Texts are written as {', '.join(get_args(WriteFormat))}.")
    return _WRITERS[text_format](content)


def left_out(content: Content, text: str, text_format: WriteFormat) -> list[str]:
    """Warnings about parts of a content that its text does not hold."""
    found = not_in_tables(content) if text_format in _TABLES else []
    if text_format in ("dot", *_TABLES):
        found += _changed(content, _READERS[text_format](text, _UNLIMITED), with_nodes=text_format == "dot")
    if text_format not in _READERS:
        described = [
            counted(count, what)
            for what, items in (("node", content.nodes), ("edge", content.edges))
            if (count := sum(bool(item.properties) for item in items))
        ]
        if described:
            found.append(f"Properties of {' and '.join(described)} are not in it; json and graphml hold everything.")
    return found


def _changed(content: Content, again: Content, *, with_nodes: bool) -> list[str]:
    """Says which values come back as something else when the text is read."""
    kinds: Counter[str] = Counter()
    items = zip(content.edges, again.edges, strict=False) if len(content.edges) == len(again.edges) else ()
    both: list[tuple[Properties, Properties]] = [(one.properties, other.properties) for one, other in items]
    if with_nodes:
        known = {node.label: node.properties for node in again.nodes}
        both += [(node.properties, known.get(node.label, NONE)) for node in content.nodes]
    for one, other in both:
        for name, value in one.items():
            back = other.get(name)
            if back != value or type(back) is not type(value):
                kinds[_kind(value)] += 1
    if not kinds:
        return []
    told = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    return [f"Values of properties that come back as something else: {told}; json and graphml hold everything."]


def _kind(value: object) -> str:
    for kind, name in ((bool, "booleans"), (list, "lists"), (dict, "objects"), (str, "texts"), (type(None), "nulls")):
        if isinstance(value, kind):
            return name
    return "numbers"
