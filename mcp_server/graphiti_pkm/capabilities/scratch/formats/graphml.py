"""Reads and writes GraphML.

The reader uses expat, which builds no tree, and rejects declarations: no entity is resolved and nothing is fetched. It
takes over nodes, edges, typed data and the labels that yEd draws. Nested graphs are read as one; ports and hyperedges
are ignored. The writer uses labels as ids, types for texts, numbers and booleans, and JSON for everything else.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn
from xml.parsers import expat

from graphiti_pkm.capabilities.scratch.drawing.picture_texts import xml_text
from graphiti_pkm.capabilities.scratch.formats.collecting import UNDIRECTED, Collector, labels_of
from graphiti_pkm.capabilities.scratch.formats.values import clipped, unreadable
from graphiti_pkm.capabilities.scratch.limits import DEFAULT_RELATION, Content
from graphiti_pkm.settings.scratch_limits import ScratchLimits

PROPERTIES = "properties"
"""The key whose text is a JSON object with the values that have no type in GraphML."""

_DRAWING = "drawing"
"""The type of a key whose data is a yEd drawing and not a value."""

_DEEPEST = 100
_MOST_KEYS = 1_000
_LABELS = ("label", "name")
_RELATIONS = ("relation", "label")
_OWN = {"node": frozenset({"type", "label", "name", PROPERTIES}), "edge": frozenset({"relation", "label", PROPERTIES})}
_LARGEST_LONG = 2**63
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"""

_TEXTS = frozenset({"data", "default", "NodeLabel", "EdgeLabel"})


@dataclass(slots=True)
class _Key:
    """The declaration of a piece of data: its name, type and scope."""

    name: str
    kind: str
    scope: str
    default: str | None = None


@dataclass(slots=True)
class _Item:
    """An edge, or a node, which has no target, while it is being read."""

    source: str
    target: str
    line: int
    directed: bool
    data: dict[str, str] = field(default_factory=dict)
    drawn: str = ""


def read_graphml(text: str, limits: ScratchLimits) -> Content:
    """The content of a GraphML text.

    Raises:
        InvalidInput: the text is not GraphML, contains declarations, or is too large.
    """
    return _Reader(limits).read(text.removeprefix("\ufeff"))


class _Reader:
    """The handlers of expat for one text."""

    def __init__(self, limits: ScratchLimits) -> None:
        self._limits = limits
        self._parser = parser = expat.ParserCreate(encoding="utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._declared
        parser.EntityDeclHandler = self._declared
        parser.ExternalEntityRefHandler = self._declared
        self._keys: dict[str, _Key] = {}
        self._nodes: list[_Item] = []
        self._edges: list[_Item] = []
        self._within: list[str] = []
        self._open: list[_Item] = []
        self._directed: list[bool] = []
        self._text: list[str] = []
        self._field = self._last = ""
        self._collector = Collector(limits)

    def read(self, text: str) -> Content:
        try:
            self._parser.Parse(text.encode(errors="replace"), True)  # noqa: FBT003  (positional in expat)
        except expat.ExpatError as error:
            lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # as XML counts them
            what = f"this is not XML ({expat.errors.messages[error.code]})"
            raise unreadable(error.lineno, what, *lines[error.lineno - 1 : error.lineno]) from None
        return self._content()

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if not self._within and name != "graphml":
            self._refuse("this is not GraphML; the root element must be graphml", tag)
        if len(self._within) >= _DEEPEST:
            self._refuse(f"elements are nested more than {_DEEPEST} deep")
        outer = self._within[-1] if self._within else ""
        self._within.append(name)
        if name == "graph":
            self._directed.append(attributes.get("edgedefault", "directed") != "undirected")
        elif name == "node" and outer == "graph":
            self._begin(_Item(self._given(attributes, "node", "id"), "", self._line, directed=True), self._nodes)
        elif name == "edge" and outer == "graph":
            source, target = self._given(attributes, "edge", "source"), self._given(attributes, "edge", "target")
            directed = attributes.get("directed", "true" if self._directed[-1] else "false") != "false"
            self._begin(_Item(source, target, self._line, directed=directed), self._edges)
        elif name == "key" and outer == "graphml":
            self._key(attributes)
        elif name == "hyperedge":
            self._collector.warn("Hyperedges are not taken over.")
        if name == "data":
            self._field = self._given(attributes, "data", "key")
        if name in _TEXTS:
            self._text = []

    def _begin(self, item: _Item, items: list[_Item]) -> None:
        most = self._limits.nodes if items is self._nodes else self._limits.edges
        if len(items) >= most:
            what = "nodes" if items is self._nodes else "edges"
            self._refuse(f"there are more than {most:,} {what}, the most that a graph may have")
        items.append(item)
        self._open.append(item)

    def _key(self, attributes: Mapping[str, str]) -> None:
        if len(self._keys) >= _MOST_KEYS:
            self._refuse(f"there are more than {_MOST_KEYS:,} keys")
        name, kind = attributes.get("attr.name", ""), attributes.get("attr.type", "string")
        self._last = self._given(attributes, "key", "id")
        kind = _DRAWING if "yfiles.type" in attributes else kind
        self._keys[self._last] = _Key(name or self._last, kind, attributes.get("for", "all"))

    def _characters(self, text: str) -> None:
        if self._within[-1] in _TEXTS:
            self._text.append(text)

    def _end(self, _tag: str) -> None:
        name = self._within.pop()
        outer = self._within[-1] if self._within else ""
        if name == "graph":
            self._directed.pop()
        elif name in ("node", "edge") and outer == "graph":
            self._open.pop()
        elif name == "data" and outer in ("node", "edge") and self._open and self._field in self._keys:
            self._open[-1].data[self._field] = "".join(self._text)
        elif name == "default" and outer == "key":
            self._keys[self._last].default = "".join(self._text)
        elif name in ("NodeLabel", "EdgeLabel") and self._open:
            self._open[-1].drawn = self._open[-1].drawn or " ".join("".join(self._text).split())
            self._text = []

    def _content(self) -> Content:
        nodes = [(node, *self._said(node, "node")) for node in self._nodes]
        called = {node.source: _text(values, _LABELS) or node.drawn for node, values, _ in nodes}
        labels = labels_of(called.items())
        for node, values, properties in nodes:
            label = labels[node.source]
            if called[node.source].strip() == label:
                _forget(values, _LABELS, label)
            elif called[node.source].strip():
                self._collector.warn("Several nodes have the same label; they are known by their ids.")
            kind = values.pop("type", None)
            labels[node.source] = self._collector.node(label, kind, {**values, **properties}, node.line)
        for edge in self._edges:
            values, properties = self._said(edge, "edge")
            relation = _text(values, _RELATIONS)
            _forget(values, _RELATIONS, relation)
            ends = labels.get(edge.source.strip(), edge.source), labels.get(edge.target.strip(), edge.target)
            relation, properties = relation.strip() or edge.drawn or DEFAULT_RELATION, {**values, **properties}
            self._collector.edge(*ends, relation, properties, edge.line, directed=edge.directed)
            if not edge.directed:
                self._collector.warn(UNDIRECTED)
        return self._collector.content()

    def _said(self, item: _Item, scope: str) -> tuple[dict[str, Any], Mapping[str, Any]]:
        """The data of a node or edge with the defaults of its keys, and the properties given as JSON."""
        defaults = self._defaults[scope]
        self._collector.charge(len(defaults))
        values = dict(defaults)
        for name, text in item.data.items():
            key = self._keys[name]
            if key.kind != _DRAWING:
                values[key.name] = _value(key, text, item.line)
        said = values.pop(PROPERTIES, None)
        if said is None:
            return values, {}
        try:
            properties = json.loads(said) if isinstance(said, str) else said
        except (ValueError, RecursionError):
            properties = None
        if not isinstance(properties, dict):
            raise unreadable(item.line, f"the data {PROPERTIES} must be a JSON object", str(said))
        return values, properties

    @cached_property
    def _defaults(self) -> dict[str, dict[str, Any]]:
        return {
            scope: {
                key.name: _value(key, key.default, 1)
                for key in self._keys.values()
                if key.default is not None and key.scope in (scope, "all") and key.kind != _DRAWING
            }
            for scope in ("node", "edge")
        }

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _given(self, attributes: Mapping[str, str], element: str, name: str) -> str:
        if not attributes.get(name, "").strip():
            self._refuse(f"an element {element} has no {name}")
        return attributes[name].strip()

    def _declared(self, *_: object) -> int:
        self._refuse("document type and entity declarations are not supported; remove them")

    def _refuse(self, what: str, near: str = "") -> NoReturn:
        raise unreadable(self._line, what, near)


def _value(key: _Key, text: str, line: int) -> Any:
    """Converts the text to the type of its key."""
    try:
        if key.kind == "boolean":
            return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
        if key.kind in ("int", "long"):
            return int(text)
        if key.kind in ("float", "double"):
            number = float(text)
            if math.isfinite(number):
                return number
            raise ValueError  # noqa: TRY301  (handled like any other text that is not a number)
    except (ValueError, KeyError):
        raise unreadable(line, f"the data {clipped(key.name)} is not of type {key.kind}", text) from None
    return text


def _text(values: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = next((values[name] for name in names if values.get(name) not in (None, "")), "")
    return str(found)


def _forget(values: dict[str, Any], names: tuple[str, ...], said: str) -> None:
    """Removes the value that was used as label or relation, so that it is not a property as well."""
    name = next((name for name in names if name in values and str(values[name]).strip() == said.strip()), None)
    if name is not None:
        del values[name]


def write_graphml(content: Content) -> str:
    """The whole graph: types, properties and relations."""
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
    """The GraphML type that preserves a value; None if there is none."""
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
