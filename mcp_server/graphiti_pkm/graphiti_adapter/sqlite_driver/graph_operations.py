"""The whole of Graphiti's operations: nodes, edges, and what concerns the graph at large."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from graphiti_core.nodes import CommunityNode, EntityNode, EpisodicNode

from graphiti_pkm.graphiti_adapter.sqlite_driver.edge_operations import EdgeOperations
from graphiti_pkm.graphiti_adapter.sqlite_driver.node_operations import NodeOperations
from graphiti_pkm.storage.graph.sqlite import graphiti_reading as reading
from graphiti_pkm.storage.graph.sqlite import lookups
from graphiti_pkm.storage.graph.sqlite.schema import COMMUNITY

_MOST_ROUNDS = 100
_TWO_FACTS = 2
"""The fewest facts that decide; a single one does not: then the higher label wins."""


class GraphOperations(NodeOperations, EdgeOperations):
    """Graphiti's whole ``GraphOperationsInterface``."""

    async def get_mentioned_nodes(self, driver: Any, episodes: list[EpisodicNode]) -> list[EntityNode]:  # noqa: ARG002
        uuids = [one.uuid for one in episodes]
        return await self._opened.file.read(lambda db: reading.mentioned(db, uuids))

    async def get_communities_by_nodes(self, driver: Any, nodes: list[EntityNode]) -> list[CommunityNode]:  # noqa: ARG002
        uuids = [one.uuid for one in nodes]
        return await self._opened.file.read(lambda db: reading.communities_of(db, uuids))

    async def clear_data(self, driver: Any, group_ids: list[str] | None = None) -> None:  # noqa: ARG002 see Operations
        """Delete the groups; with None everything in the file but a journal."""
        await self._save(lambda to: to.clear(group_ids))
        if group_ids is None:
            self._opened.cache.forget()

    async def get_community_clusters(self, driver: Any, group_ids: list[str] | None) -> list[list[EntityNode]]:  # noqa: ARG002
        """Clusters of entities; one without facts is a cluster of its own, as in Graphiti. None means all groups."""
        groups = await self._opened.file.read(lookups.groups) if group_ids is None else group_ids
        found: list[list[EntityNode]] = []
        for group in dict.fromkeys(groups):
            nodes, pairs = await self._opened.file.read(partial(reading.grouped, group_id=group))
            by_uuid = {node.uuid: node for node in nodes}
            found += [[by_uuid[uuid] for uuid in cluster] for cluster in _clusters(by_uuid, pairs)]
        return found

    async def remove_communities(self, driver: Any, group_ids: list[str] | None = None) -> None:  # noqa: ARG002 same
        """Delete the communities of these groups; with None or no group all."""
        if group_ids:
            await self._save(*(lambda to, group=group: to.delete_of(COMMUNITY, group) for group in group_ids))
        else:
            await self._save(lambda to: to.delete_all_communities())

    async def determine_entity_community(
        self,
        driver: Any,  # noqa: ARG002 see Operations
        entity: EntityNode,
    ) -> tuple[CommunityNode | None, bool]:
        """The entity's own community, or the one that most of its facts lead to and that it therefore joins."""
        own = await self._opened.file.read(lambda db: reading.communities_of(db, [entity.uuid]))
        if own:
            return own[0], False
        around = await self._opened.file.read(lambda db: reading.community_around(db, entity.uuid))
        return around, around is not None


def _clusters(uuids: Iterable[str], pairs: Sequence[tuple[str, str, int]]) -> list[list[str]]:
    """Graphiti's label propagation, one entity after the other.

    Graphiti changes all labels at once: two entities that two facts join then change places for ever.
    """
    labels = {uuid: place for place, uuid in enumerate(uuids)}
    joined: dict[str, dict[str, int]] = defaultdict(dict)
    for one, other, facts in pairs:
        if one in labels and other in labels:
            joined[one][other] = joined[other][one] = facts
    for _ in range(_MOST_ROUNDS):
        before = dict(labels)
        for uuid, around in joined.items():
            counts: Counter[int] = Counter()
            for other, facts in around.items():
                counts[labels[other]] += facts
            facts, label = max((facts, label) for label, facts in counts.items())
            labels[uuid] = label if facts >= _TWO_FACTS else max(label, labels[uuid])
        if labels == before:
            break
    found: dict[int, list[str]] = defaultdict(list)
    for uuid, label in labels.items():
        found[label].append(uuid)
    return list(found.values())
