"""Writes DOT that Graphviz accepts; every name and text is quoted."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.scratch.formats.dot_attributes import DRAWING
from graphiti_pkm.capabilities.scratch.formats.values import PREFIX, plain
from graphiti_pkm.capabilities.scratch.limits import Content

_OWN = frozenset({"label", "relation", "type", "xlabel"})


def write_dot(content: Content) -> str:
    """A digraph with every node and edge; an edge's label is its relation.

    A property whose name means something to Graphviz, or which has values other than texts and numbers, is written so
    that it changes no drawing.
    """
    lines = ["digraph {"]
    for node in content.nodes:
        attributes = ({} if node.type is None else {"type": node.type}) | _named(node.properties)
        lines.append(f"  {_quoted(node.label)}{_attributes(attributes)};")
    for edge in content.edges:
        attributes = {"label": edge.relation} | _named(edge.properties)
        lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)}{_attributes(attributes)};")
    return "\n".join([*lines, "}", ""])


def _named(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        PREFIX + name if name in DRAWING or name in _OWN or name.startswith(PREFIX) else name: value
        for name, value in properties.items()
    }


def _attributes(attributes: Mapping[str, Any]) -> str:
    if not attributes:
        return ""
    return " [" + ", ".join(f"{_name(name)}={_value(value)}" for name, value in attributes.items()) + "]"


def _name(name: str) -> str:
    is_plain = name.isascii() and name.isidentifier() and name.lower() not in _KEYWORDS
    return name if is_plain else _quoted(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        written = repr(value)
        return written if set(written) <= set("-.0123456789") else f'"{written}"'
    return _quoted(plain(value))


def _quoted(text: str) -> str:
    """As a quoted text whose escapes show it as it is."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_KEYWORDS = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})
