"""Reads and writes JSON: our own lossless shape, and for reading also the node-link shape of other programs."""

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from graphiti_pkm.capabilities.scratch.formats.collecting import UNDIRECTED, Collector, labels_of
from graphiti_pkm.capabilities.scratch.formats.values import unreadable
from graphiti_pkm.capabilities.scratch.limits import DEFAULT_RELATION, Content
from graphiti_pkm.settings.scratch_limits import ScratchLimits

_NODE_NAMES = ("id", "label", "name")
_SOURCES, _TARGETS = ("source", "from"), ("target", "to")
_RELATIONS = ("relation", "label", "type")
_SHAPE = '{"nodes": [{"label": …, "type": …}], "edges": [{"source": …, "target": …, "relation": …}]}'


def read_json(text: str, limits: ScratchLimits) -> Content:
    """The content of a JSON text.

    Raises:
        InvalidInput: the text is not JSON of a known shape, or too large.
    """
    try:
        said = json.loads(text.removeprefix("\ufeff"), parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise unreadable(error.lineno, f"this is not JSON: {error.msg}", text[error.pos : error.pos + 40]) from None
    except RecursionError:
        raise unreadable(1, "lists or objects are nested too deep") from None
    except ValueError:  # more digits than Python converts to a number
        raise unreadable(1, "a number is too long") from None
    if not isinstance(said, dict):
        raise unreadable("The text", f"it must be an object such as {_SHAPE}", text[:80])
    nodes = _list(said, ("nodes",))
    edges = _list(said, ("edges", "links"))
    if "nodes" not in said and "edges" not in said and "links" not in said:
        raise unreadable(
            "The text", f"it has neither nodes nor edges; it must be an object such as {_SHAPE}", text[:80]
        )
    return _content(nodes, edges, limits, directed=said.get("directed") is not False)


def write_json(content: Content) -> str:
    """The whole graph: types, properties and relations."""
    nodes = [
        {"label": node.label} | ({"type": node.type} if node.type is not None else {}) | _told(node.properties)
        for node in content.nodes
    ]
    edges = [
        {"source": edge.source, "target": edge.target, "relation": edge.relation} | _told(edge.properties)
        for edge in content.edges
    ]
    return f'{{"nodes":[{_items(nodes)}],"edges":[{_items(edges)}]}}\n'


def _told(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"properties": dict(properties)} if properties else {}


def _items(items: list[dict[str, Any]]) -> str:
    """One item per line: compact, and still readable and comparable line by line."""
    lines = [json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in items]
    return "\n" + ",\n".join(lines) + "\n" if lines else ""


def _no_number(word: str) -> NoReturn:
    raise unreadable("The text", f"{word} is not a JSON number")


def _list(said: Mapping[str, Any], names: tuple[str, ...]) -> list[Any]:
    name = next((name for name in names if said.get(name) is not None), None)
    if name is None:
        return []
    if not isinstance(said[name], list):
        raise unreadable(name, "it must be a list")
    return list(said[name])


def _content(nodes: list[Any], edges: list[Any], limits: ScratchLimits, *, directed: bool) -> Content:
    collector = Collector(limits)
    listed: list[tuple[str, str | None, dict[str, Any], str]] = []
    for number, node in enumerate(nodes):
        at = f"nodes[{number}]"
        own = dict(node) if isinstance(node, dict) else {"label": node}
        key = _named(own, _NODE_NAMES, at)
        if key is None:
            raise unreadable(at, "a node needs a label")
        has_id = isinstance(node, dict) and node.get("id") is not None
        listed.append((key, _named(own, _NODE_NAMES[1:], at) if has_id else None, own, at))
    called = {key: label for key, label, _, _ in listed}
    labels = labels_of(called.items())
    by_number = [key for key, _, _, _ in listed] if _are_numbers(nodes, edges, labels) else []
    for key, label, own, at in listed:
        kind, properties = own.pop("type", None), _properties(own, at)
        if label is not None and label.strip() != labels[key]:
            properties["label"] = label
            collector.warn("Several nodes have the same label; they are known by their ids.")
        labels[key] = collector.node(labels[key], kind, properties, at)
    for number, edge in enumerate(edges):
        at = f"edges[{number}]"
        if not isinstance(edge, dict):
            raise unreadable(at, "an edge must be an object with source, target and relation")
        own = dict(edge)
        source, target = _end(own, _SOURCES, at, by_number), _end(own, _TARGETS, at, by_number)
        relation = next((str(own.pop(name)) for name in _RELATIONS if isinstance(own.get(name), str)), "")
        own.pop("key", None)  # NetworkX's number of parallel edges
        properties = _properties(own, at)
        relation = relation.strip() or DEFAULT_RELATION
        ends = labels.get(source, source), labels.get(target, target)
        collector.edge(*ends, relation, properties, at, directed=directed)
    if by_number:
        collector.warn("Numbers at the ends of edges were taken for places in the list of nodes, counted from 0.")
    if edges and not directed:
        collector.warn(UNDIRECTED)
    return collector.content()


def _are_numbers(nodes: list[Any], edges: list[Any], labels: Mapping[str, str]) -> bool:
    """Whether numbers at the ends of edges are positions of nodes, as in older D3: no node has such an id or label."""
    if not nodes or any(isinstance(node, dict) and node.get("id") is not None for node in nodes):
        return False
    said = (edge.get(name) for edge in edges if isinstance(edge, dict) for name in (*_SOURCES, *_TARGETS))
    numbers = {str(value) for value in said if _is_number(value)}
    return bool(numbers) and numbers.isdisjoint(labels)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _named(own: dict[str, Any], names: tuple[str, ...], at: str) -> str | None:
    """Removes the first of these fields that is set and returns its value."""
    name = next((name for name in names if own.get(name) is not None), None)
    return None if name is None else _name(own.pop(name), f"{at}.{name}", is_label=name in _NODE_NAMES[1:])


def _end(own: dict[str, Any], names: tuple[str, ...], at: str, by_number: list[str]) -> str:
    place = next((name for name in names if own.get(name) is not None), "")
    value = own.get(place)
    if by_number and isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value < len(by_number):
            most = len(by_number) - 1
            raise unreadable(f"{at}.{place}", f"{value} is neither a label nor the position of a node (0 to {most})")
        del own[place]
        return by_number[value]
    said = _named(own, names, at)
    if said is None:
        raise unreadable(at, f"the edge has no {names[0]}")
    return said


def _name(value: Any, at: str, *, is_label: bool) -> str:
    """A label or id as text. Ids may be numbers, and in NetworkX tuples, which JSON writes as lists."""
    if isinstance(value, dict) and "id" in value:  # D3 writes the node itself
        value = value["id"]
    if isinstance(value, str):
        return value.strip()
    if _is_number(value) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    if is_label:
        raise unreadable(at, "it must be a text")
    if isinstance(value, list) and value and not any(isinstance(part, dict | list) for part in value):
        return json.dumps(value, ensure_ascii=False)
    raise unreadable(at, "it must be a text, a number or a list of these")


def _properties(own: dict[str, Any], at: str) -> dict[str, Any]:
    """The fields under ``properties``, and all other remaining fields."""
    properties = own.pop("properties", None) or {}
    if not isinstance(properties, dict):
        raise unreadable(f"{at}.properties", "it must be an object")
    return {**{name: value for name, value in own.items() if value is not None}, **properties}
