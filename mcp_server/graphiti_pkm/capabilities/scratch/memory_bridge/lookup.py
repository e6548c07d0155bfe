"""Looks up nodes and edges that came from memory: whether they still exist, and how memory states them now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphiti_pkm.capabilities.scratch.limits import ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.memory_bridge.memory import first_facts, memory_uuid, with_current_text
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.ports.graph import Graph

_PAGE = 1_000
_SUMMARY = "summary"


@dataclass
class MemoryRecords:
    """The existing records, by uuid."""

    entities: dict[str, Entity] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)

    @property
    def groups(self) -> set[str]:
        """The stored groups of these records."""
        entities, facts = self.entities.values(), self.facts.values()
        return {*(one.group_id for one in entities), *(one.group_id for one in facts)}

    def lacks_node(self, node: ScratchNode) -> bool:
        """Whether the node came from memory and its entity no longer exists."""
        uuid = memory_uuid(node)
        return uuid is not None and uuid not in self.entities

    def lacks_edge(self, edge: ScratchEdge) -> bool:
        """Whether the edge has the sentence of a fact that no longer exists."""
        uuids = first_facts(edge.properties)
        return bool(uuids) and uuids[0] not in self.facts

    def took_back(self, edge: ScratchEdge) -> bool:
        """Whether memory says since that the fact of the edge never held."""
        fact = next((self.facts[uuid] for uuid in first_facts(edge.properties)[:1] if uuid in self.facts), None)
        return fact is not None and fact.voided

    def edge_now(self, edge: ScratchEdge) -> ScratchEdge:
        """The edge with the current words of its fact, some of which may have been forgotten."""
        uuids = first_facts(edge.properties)
        fact = self.facts.get(uuids[0]) if uuids else None
        return edge if fact is None else with_current_text(edge, fact)

    def node_now(self, node: ScratchNode) -> ScratchNode:
        """The node without a summary that memory does not contain, since a part of it may have been forgotten."""
        uuid, summary = memory_uuid(node), node.properties.get(_SUMMARY)
        entity = None if uuid is None else self.entities.get(uuid)
        if entity is None or not isinstance(summary, str) or summary.strip() in entity.summary:
            return node
        left = {name: value for name, value in node.properties.items() if name != _SUMMARY}
        return ScratchNode(node.label, node.type, left)


async def look_up_records(
    graph: Graph, visible: Sequence[str], nodes: Iterable[ScratchNode], edges: Iterable[ScratchEdge]
) -> MemoryRecords:
    """Look up everything that came from memory, in the groups that the caller may see."""
    found = MemoryRecords()
    uuids = {uuid for node in nodes if (uuid := memory_uuid(node)) is not None}
    told = {first for edge in edges for first in first_facts(edge.properties)[:1]}
    for page in _pages(sorted(uuids)):
        found.entities.update({one.uuid: one for one in await graph.records.get_entities(page, visible)})
    for page in _pages(sorted(told)):
        found.facts.update({one.uuid: one for one in await graph.records.get_facts(page, visible)})
    return found


def _pages(uuids: Sequence[str]) -> list[Sequence[str]]:
    return [uuids[first : first + _PAGE] for first in range(0, len(uuids), _PAGE)]
