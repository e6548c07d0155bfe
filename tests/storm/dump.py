"""The whole graph as comparable values, and what a storm must not have done to it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from falkordb import FalkorDB

from graphiti_pkm.core.model.names import normalise_name

_KEYS = {"Name": "key", "SearchText": "id", "Group": "id", "Meta": "id"}
_MARKER = "Write"
_WHEN_APPLIED = frozenset({"names_version"})
"""Properties that say when a write reached the graph, not what it said."""

Properties = dict[str, Any]


@dataclass(frozen=True)
class Dump:
    """Nodes by labels and key, edges by type, ends and uuid, each as often as it is there."""

    nodes: dict[str, list[Properties]]
    edges: dict[str, list[Properties]]

    def of(self, label: str) -> list[Properties]:
        """Nodes that have a label."""
        return [one for key, many in self.nodes.items() if label in key.split("|")[0].split(",") for one in many]

    def facts(self) -> list[Properties]:
        return [one for key, many in self.edges.items() if key.startswith("RELATES_TO|") for one in many]

    def mentions(self) -> list[tuple[str, str]]:
        """Keys of episode and entity, once an edge."""
        pairs = [(key.split("|"), many) for key, many in self.edges.items() if key.startswith("MENTIONS|")]
        return [(parts[2], parts[4]) for parts, many in pairs for _ in many]


def dump(socket: Path) -> Dump:
    """Everything but the markers of writes; vectors with all their numbers."""
    graph = FalkorDB(unix_socket_path=str(socket)).select_graph("memory")  # type: ignore[no-untyped-call]
    by_id: dict[int, str] = {}
    nodes: dict[str, list[Properties]] = {}
    for (node,) in graph.query("MATCH (n) RETURN n").result_set:
        by_id[node.id] = key = _node_key(node.labels, node.properties)
        if _MARKER not in node.labels:
            content = _content(node.properties)
            if "Group" in node.labels:
                content.pop("recorded_at", None)  # of the newest write, also one that only embeds
            nodes.setdefault(key, []).append(content)
    edges: dict[str, list[Properties]] = {}
    for edge, start, end in graph.query("MATCH (a)-[e]->(b) RETURN e, id(a), id(b)").result_set:
        key = f"{edge.relation}|{by_id[start]}|{by_id[end]}|{edge.properties.get('uuid', '')}"
        edges.setdefault(key, []).append(_content(edge.properties))
    return Dump(nodes, edges)


def differences(before: Dump, after: Dump) -> list[str]:
    """What is not the same in both, in words, at most twenty."""
    found = [
        *_compared("node", before.nodes, after.nodes),
        *_compared("edge", before.edges, after.edges),
    ]
    return found[:20]


def repeated_names(graph: Dump) -> list[str]:
    """Names held by more than one entity of a group."""
    held = Counter((one["group_id"], normalise_name(one["name"])) for one in graph.of("Entity"))
    return _several(held)


def repeated_tokens(graph: Dump, tokens: Iterable[str]) -> list[str]:
    """Notes that stand in more than one episode."""
    words = Counter(word for one in graph.of("Episodic") for word in one["content"].replace("(", " ").split())
    return [token for token in tokens if words[f"{token})."] > 1]


def repeated_facts(graph: Dump) -> list[str]:
    """States told twice between the same entities in the same words, both still held true."""
    held = Counter(
        (one["source_node_uuid"], one["target_node_uuid"], one["name"], one["fact"].casefold())
        for one in graph.facts()
        if one.get("kind", "state") == "state" and not one.get("voided") and one.get("expired_at") is None
    )
    return _several(held)


def several_current(graph: Dump, relation: str) -> list[str]:
    """Entities with more than one current fact of a relation."""
    held = Counter(
        one["source_node_uuid"]
        for one in graph.facts()
        if one["name"] == relation and not one.get("voided") and one.get("invalid_at") is None
    )
    return _several(held)


def _several(counted: "Counter[Any]") -> list[str]:
    return [f"{what}: {times}" for what, times in counted.items() if times > 1]


def _node_key(labels: list[str], properties: Properties) -> str:
    unique = next((_KEYS[label] for label in labels if label in _KEYS), "uuid")
    return f"{','.join(sorted(labels))}|{properties[unique]}"


def _content(properties: Properties) -> Properties:
    return {name: value for name, value in properties.items() if name not in _WHEN_APPLIED}


def _compared(what: str, before: dict[str, list[Properties]], after: dict[str, list[Properties]]) -> Iterator[str]:
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key, []), after.get(key, [])
        if len(one) != len(other):
            yield f"{what} {key}: {len(one)} before, {len(other)} after"
        elif one != other:
            fields = sorted({name for a, b in zip(one, other, strict=True) for name in a.keys() | b.keys()
                             if a.get(name) != b.get(name)})  # fmt: skip
            yield f"{what} {key}: other {', '.join(fields)}"
