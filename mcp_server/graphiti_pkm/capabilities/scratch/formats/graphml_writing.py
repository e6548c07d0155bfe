"""Writes GraphML: labels are ids, texts, numbers and truth values have types, everything else is JSON (E-81)."""

import json
import math
from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.scratch.drawing.xml_text import xml_text
from graphiti_pkm.capabilities.scratch.formats.graphml_reading import PROPERTIES
from graphiti_pkm.capabilities.scratch.limits import Content

_OWN = {"node": frozenset({"type", "label", "name", PROPERTIES}), "edge": frozenset({"relation", "label", PROPERTIES})}
_LARGEST_LONG = 2**63
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"""


def write_graphml(content: Content) -> str:
    """All of it: types, properties and relations."""
    keys: dict[tuple[str, str, str], str] = {}
    items = []
    for node in content.nodes:
        own = {} if node.type is None else {"type": node.type}
        data = _data("node", own, node.properties, keys)
        items.append(
            f'<node id="{xml_text(node.label)}">{data}</node>' if data else f'<node id="{xml_text(node.label)}"/>'
        )
    for edge in content.edges:
        ends = f'source="{xml_text(edge.source)}" target="{xml_text(edge.target)}"'
        items.append(f"<edge {ends}>{_data('edge', {'relation': edge.relation}, edge.properties, keys)}</edge>")
    declared = [
        f'<key id="{key}" for="{scope}" attr.name="{xml_text(name)}" attr.type="{kind}"/>'
        for (scope, name, kind), key in keys.items()
    ]
    return "\n".join([_HEAD, *declared, '<graph edgedefault="directed">', *items, "</graph>", "</graphml>", ""])


def _data(
    scope: str, own: Mapping[str, str], properties: Mapping[str, Any], keys: dict[tuple[str, str, str], str]
) -> str:
    typed = {name: value for name, value in properties.items() if name not in _OWN[scope] and _kind(value)}
    rest = {name: value for name, value in properties.items() if name not in typed}
    values: dict[str, Any] = {**own, **typed}
    if rest:
        values[PROPERTIES] = json.dumps(rest, ensure_ascii=False, separators=(",", ":"))
    return "".join(
        f'<data key="{_key(keys, scope, name, str(_kind(value)))}">{_written(value)}</data>'
        for name, value in values.items()
    )


def _key(keys: dict[tuple[str, str, str], str], scope: str, name: str, kind: str) -> str:
    return keys.setdefault((scope, name, kind), f"d{len(keys)}")


def _kind(value: Any) -> str | None:
    """The type that GraphML has for a value and gives back as it was."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "long" if -_LARGEST_LONG <= value < _LARGEST_LONG else None
    if isinstance(value, float):
        return "double" if math.isfinite(value) else None
    return "string" if isinstance(value, str) else None


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return xml_text(value) if isinstance(value, str) else repr(value)
