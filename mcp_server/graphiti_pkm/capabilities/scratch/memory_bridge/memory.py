"""Represents records of memory as nodes and edges, and recognises them later. Pure functions.

An entity becomes a node labelled with its name. All facts with the same relation between two entities become one edge.
Properties hold the uuids of the records. ``loaded_as`` holds a digest per group of the edge at the time when it agreed
with memory: while the digest matches, the group already knows everything about the edge.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphiti_pkm.capabilities.scratch.limits import LONGEST_LABEL, Content, Properties, ScratchEdge, ScratchNode
from graphiti_pkm.core.facts.statuses import stated
from graphiti_pkm.core.model.names import display_name, same_key
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.scratch_marks import (
    FACT_UUIDS,
    LOADED_AS,
    MEMORY_GROUP,
    MEMORY_UUID,
    SENTENCE,
    VALUE,
)
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.ports.saved_graphs import is_start
from graphiti_pkm.core.reading.views import clipped

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph

SAID = (SENTENCE, "kind", "measure", VALUE, "unit", "valid_at", "invalid_at")
"""Properties of an edge that memory stores, named as in add_memory."""

_OF_AN_EDGE = (*SAID, "status", "facts", FACT_UUIDS, LOADED_AS)
_ABOUT = ("kind", "measure", VALUE, "unit", "valid_at")
"""Properties that the sentence states: if one was changed and the sentence was not, the sentence is outdated."""
_TEXT = 2_000
_MOST_UUIDS = 20
_DIGEST = 8
_ROOM = 60
"""Characters of a label reserved for a suffix that makes it unique."""
_NAMELESS = "unnamed"


def memory_uuid(node: ScratchNode) -> str | None:
    """The uuid of the entity that a node was loaded from or committed as."""
    uuid = node.properties.get(MEMORY_UUID)
    return uuid if isinstance(uuid, str) else None


def is_known(edge: ScratchEdge, group: str) -> bool:
    """Whether the edge was loaded from or committed to this group and not changed since."""
    return _marks(edge.properties).get(group) == _said(edge.relation, edge.properties)


def is_of_memory(edge: ScratchEdge) -> bool:
    """Whether its sentence, unchanged, is one of memory."""
    sentence, _, _ = _said(edge.relation, edge.properties).split(".")
    return any(mark.startswith(f"{sentence}.") for mark in _marks(edge.properties).values())


def is_outdated(edge: ScratchEdge) -> bool:
    """Whether its sentence is one of memory, but value, kind or start were changed since."""
    sentence, about, _ = _said(edge.relation, edge.properties).split(".")
    alike = [mark for mark in _marks(edge.properties).values() if mark.startswith(f"{sentence}.")]
    return bool(alike) and not any(mark.startswith(f"{sentence}.{about}.") for mark in alike)


def marked(relation: str, properties: Properties, fact_uuids: Sequence[str], group: str) -> dict[str, Any]:
    """Properties that mark an edge as known to a group by these facts; marks of other groups are kept."""
    others = {other: mark for other, mark in _marks(properties).items() if other != group}
    before = first_facts(properties) if others else []
    known = {**others, group: _said(relation, properties)}
    return {
        FACT_UUIDS: list(dict.fromkeys((*fact_uuids, *before)))[:_MOST_UUIDS],
        LOADED_AS: " ".join(f"{other}:{mark}" for other, mark in known.items()),
    }


def first_facts(properties: Properties) -> list[str]:
    """The uuids of the facts of an edge; the sentence is that of the first one."""
    uuids = properties.get(FACT_UUIDS)
    return [uuid for uuid in uuids if isinstance(uuid, str)] if isinstance(uuids, list) else []


def with_current_text(edge: ScratchEdge, fact: Fact) -> ScratchEdge:
    """The edge with the current words of its fact if its words came from memory; some may have been forgotten."""
    sentence = edge.properties.get(SENTENCE)
    if not isinstance(sentence, str) or is_start(sentence, fact.text) or not is_of_memory(edge):
        return edge
    told: dict[str, Any] = {SENTENCE: clipped(fact.text, _TEXT)}
    if not is_outdated(edge):
        told[VALUE] = stated(fact)[0]
    properties = {**edge.properties, **told}
    known = {
        group: _said(edge.relation, properties) if is_known(edge, group) else mark
        for group, mark in _marks(edge.properties).items()
    }
    marks = " ".join(f"{group}:{mark}" for group, mark in known.items())
    return ScratchEdge(edge.source, edge.target, edge.relation, {**properties, LOADED_AS: marks})


def labels_for(entities: Iterable[Entity], graph: "ScratchGraph") -> tuple[dict[str, str], list[str]]:
    """Labels for entities by uuid, and the labels that had to differ from the names.

    An entity that is already in the graph keeps its label. A node with its name that did not come from memory is taken
    for the entity.
    """
    nodes = [graph.node(index) for index in graph.order()]
    labels = {uuid: node.label for node in nodes if (uuid := memory_uuid(node)) is not None}
    taken = {same_key(label) for label in labels.values()}
    told: list[str] = []
    for entity in entities:
        if entity.uuid in labels:
            continue
        name = clipped(display_name(entity.name) or _NAMELESS, LONGEST_LABEL - _ROOM)
        label = next(one for one in _forms(name, entity.label) if same_key(one) not in taken)
        taken.add(same_key(label))
        labels[entity.uuid] = label
        if label != name:
            told.append(label)
    return labels, told


def content_of(
    entities: Iterable[Entity],
    facts: Iterable[Fact],
    labels: Mapping[str, str],
    graph: "ScratchGraph",
    public: Callable[[str], str],
    status: Callable[[Fact], str],
) -> Content:
    """Nodes and edges for a graph; they also reset outdated properties of an earlier load.

    ``facts``: the first of several facts that become one edge determines its properties.
    """
    nodes = [
        ScratchNode(label=labels[entity.uuid], type=entity.label, properties=_of_entity(entity, public))
        for entity in entities
    ]
    alike: dict[tuple[str, str, str], list[Fact]] = {}
    for fact in facts:
        if fact.source_uuid in labels and fact.target_uuid in labels:
            alike.setdefault((fact.source_uuid, fact.target_uuid, fact.relation.casefold()), []).append(fact)
    edges = [
        ScratchEdge(
            source=labels[same[0].source_uuid],
            target=labels[same[0].target_uuid],
            relation=same[0].relation,
            properties=_of_facts(same, status, public(same[0].group_id)),
        )
        for same in alike.values()
    ]
    return Content(
        nodes=tuple(nodes),
        edges=tuple(_renewed_edge(edge, graph) for edge in edges),
    )


def _forms(name: str, kind: str | None) -> Iterable[str]:
    yield name
    if kind and kind != "Entity":
        yield f"{name} ({kind})"
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1


def _of_entity(entity: Entity, public: Callable[[str], str]) -> dict[str, Any]:
    """Without the summary, since a copy would not notice if a part of it is forgotten."""
    return {MEMORY_UUID: entity.uuid, MEMORY_GROUP: public(entity.group_id)}


def _of_facts(facts: Sequence[Fact], status: Callable[[Fact], str], group: str) -> dict[str, Any]:
    first = facts[0]
    found: dict[str, Any] = {
        SENTENCE: clipped(first.text, _TEXT),
        "kind": None if first.kind == "state" else first.kind,
        "measure": first.measure,
        VALUE: stated(first)[0],
        "unit": first.unit,
        "valid_at": first.valid_at and iso(first.valid_at),
        "invalid_at": first.invalid_at and iso(first.invalid_at),
        "status": status(first),
        "facts": len(facts) if len(facts) > 1 else None,
    }
    said = {name: value for name, value in found.items() if value is not None}
    return {**said, **marked(first.relation, said, [fact.uuid for fact in facts], group)}


def _renewed_edge(edge: ScratchEdge, graph: "ScratchGraph") -> ScratchEdge:
    """Sets properties of an earlier load that are missing now to null, since merging would keep them."""
    source, target = graph.find(edge.source), graph.find(edge.target)
    if source is None or target is None:
        return edge
    for old in graph.edges(source, target, edge.relation):
        missing = {name: None for name in _OF_AN_EDGE if old.properties.get(name) is not None}
        return ScratchEdge(edge.source, edge.target, edge.relation, {**missing, **edge.properties})
    return edge


def _marks(properties: Properties) -> dict[str, str]:
    """The digest of the edge for each group."""
    told = properties.get(LOADED_AS)
    pairs = [part.rpartition(":") for part in told.split()] if isinstance(told, str) else []
    return {group: mark for group, _, mark in pairs if group}


def _said(relation: str, properties: Properties) -> str:
    """Digests of the sentence, of the properties that it states, and of relation and end."""
    end = [relation.casefold(), properties.get("invalid_at")]
    return ".".join(map(_digest, (properties.get(SENTENCE), [properties.get(name) for name in _ABOUT], end)))


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
