"""Nodes: entities, episodes, communities, sagas."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from graphiti_core.errors import NodeNotFoundError
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode, Node, SagaNode

from graphiti_pkm.graphiti_adapter.sqlite_driver.operations import Operations, record_of
from graphiti_pkm.storage.graph.sqlite import graphiti_reading as reading
from graphiti_pkm.storage.graph.sqlite.graphiti_records import COMMUNITIES, ENTITIES, EPISODIC, SAGAS
from graphiti_pkm.storage.graph.sqlite.schema import COMMUNITY, ENTITY, EPISODE

_SAGA = "saga"


class NodeOperations(Operations):
    """Saving, deleting and reading each kind of node."""

    # Entities, and what Graphiti asks of nodes whatever they are

    async def node_save(self, node: EntityNode, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.entity(node))

    async def node_save_bulk(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        transaction: Any,
        nodes: Sequence[EntityNode | Mapping[str, Any]],
        batch_size: int = 100,  # noqa: ARG002 one transaction takes all
    ) -> None:
        given = [record_of(EntityNode, one) for one in nodes]
        await self._save(*(lambda to, one=one: to.entity(one) for one in given), transaction=transaction)

    async def node_delete(self, node: Node, driver: Any) -> None:  # noqa: ARG002 see Operations
        """Delete a node with its edges."""
        await self._save(lambda to: to.delete_nodes([node.uuid]))

    async def node_delete_by_group_id(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_id: str,
        batch_size: int = 100,  # noqa: ARG002 as above
    ) -> None:
        """Delete sagas if asked of ``SagaNode``; else entities, episodes and communities, as in Graphiti's Cypher."""
        if _cls is SagaNode:
            await self._save(lambda to: to.delete_of(_SAGA, group_id))
        else:
            await self._save(lambda to: to.delete_nodes_of(group_id))

    async def node_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
        batch_size: int = 100,  # noqa: ARG002 as above
    ) -> None:
        """Delete nodes by uuid: of any kind, or only sagas, as by group."""
        kinds = (_SAGA,) if _cls is SagaNode else (ENTITY, EPISODE, COMMUNITY)
        await self._save(*(lambda to, kind=kind: to.delete(kind, uuids, group_id) for kind in kinds))

    async def node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> EntityNode:  # noqa: ARG002 see Operations
        return await self._node(ENTITIES, uuid)

    async def node_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
    ) -> list[EntityNode]:
        return await self._by_uuids(ENTITIES, uuids, group_id)

    async def node_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[EntityNode]:
        """Nodes with embeddings: Graphiti does not pass on whether it wants them."""
        return await self._page(ENTITIES, group_ids, limit, uuid_cursor)

    async def node_get_by_names(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        names: list[str],
        group_ids: list[str],
    ) -> list[EntityNode]:
        return await self._opened.file.read(lambda db: reading.named(db, names, group_ids))

    async def node_get_by_attribute_values(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_id: str,
        attributes: dict[str, Any],
        node_labels: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityNode]:
        return await self._opened.file.read(
            lambda db: reading.with_attributes(db, group_id, attributes, node_labels, limit)
        )

    async def node_load_embeddings(self, node: EntityNode, driver: Any) -> None:  # noqa: ARG002 see Operations
        node.name_embedding = await self._embedding(ENTITIES, node)

    async def node_load_embeddings_bulk(
        self,
        driver: Any,  # noqa: ARG002 see Operations
        nodes: list[EntityNode],
        batch_size: int = 100,  # noqa: ARG002 one query reads all
    ) -> dict[str, list[float]]:
        return await self._embeddings(nodes)

    async def _embedding(self, kind: Any, node: EntityNode | CommunityNode) -> list[float] | None:
        found = await self._embeddings([node])
        if not found and not await self._by_uuids(kind, [node.uuid]):
            raise NodeNotFoundError(node.uuid)
        return found.get(node.uuid)

    # Episodes

    async def episodic_node_save(self, node: EpisodicNode, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.episode(node))

    async def episodic_node_save_bulk(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        transaction: Any,
        nodes: Sequence[EpisodicNode | Mapping[str, Any]],
        batch_size: int = 100,  # noqa: ARG002 one transaction takes all
    ) -> None:
        given = [record_of(EpisodicNode, one) for one in nodes]
        await self._save(*(lambda to, one=one: to.episode(one) for one in given), transaction=transaction)

    async def episodic_node_delete(self, node: EpisodicNode, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.delete(EPISODE, [node.uuid]))

    async def episodic_node_delete_by_group_id(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_id: str,
        batch_size: int = 100,  # noqa: ARG002 as above
    ) -> None:
        await self._save(lambda to: to.delete_of(EPISODE, group_id))

    async def episodic_node_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
        batch_size: int = 100,  # noqa: ARG002 as above
    ) -> None:
        await self._save(lambda to: to.delete(EPISODE, uuids, group_id))

    async def episodic_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> EpisodicNode:  # noqa: ARG002 same
        return await self._node(EPISODIC, uuid)

    async def episodic_node_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
    ) -> list[EpisodicNode]:
        return await self._by_uuids(EPISODIC, uuids)

    async def episodic_node_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[EpisodicNode]:
        return await self._page(EPISODIC, group_ids, limit, uuid_cursor)

    async def episodic_node_get_by_entity_node_uuid(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        entity_node_uuid: str,
    ) -> list[EpisodicNode]:
        return await self._opened.file.read(lambda db: reading.mentioning(db, entity_node_uuid))

    async def retrieve_episodes(
        self,
        driver: Any,  # noqa: ARG002 see Operations
        reference_time: datetime,
        last_n: int = 3,
        group_ids: list[str] | None = None,
        source: EpisodeType | None = None,
        saga: str | None = None,
    ) -> list[EpisodicNode]:
        """The latest episodes; without groups those of all groups."""
        kind = None if source is None else source.value
        return await self._opened.file.read(
            lambda db: reading.latest(db, reference_time, last_n, group_ids, kind, saga)
        )

    # Communities

    async def community_node_save(self, node: CommunityNode, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.community(node))

    async def community_node_save_bulk(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        transaction: Any,
        nodes: Sequence[CommunityNode | Mapping[str, Any]],
        batch_size: int = 100,  # noqa: ARG002 one transaction takes all
    ) -> None:
        given = [record_of(CommunityNode, one) for one in nodes]
        await self._save(*(lambda to, one=one: to.community(one) for one in given), transaction=transaction)

    async def community_node_delete(self, node: CommunityNode, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.delete(COMMUNITY, [node.uuid]))

    async def community_node_delete_by_group_id(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_id: str,
        batch_size: int = 100,  # noqa: ARG002 as above
    ) -> None:
        await self._save(lambda to: to.delete_of(COMMUNITY, group_id))

    async def community_node_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
        batch_size: int = 100,  # noqa: ARG002 as above
    ) -> None:
        await self._save(lambda to: to.delete(COMMUNITY, uuids, group_id))

    async def community_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> CommunityNode:  # noqa: ARG002 same
        return await self._node(COMMUNITIES, uuid)

    async def community_node_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
    ) -> list[CommunityNode]:
        return await self._by_uuids(COMMUNITIES, uuids)

    async def community_node_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[CommunityNode]:
        return await self._page(COMMUNITIES, group_ids, limit, uuid_cursor)

    async def community_node_load_name_embedding(self, node: CommunityNode, driver: Any) -> None:  # noqa: ARG002 same
        node.name_embedding = await self._embedding(COMMUNITIES, node)

    # Sagas

    async def saga_node_save(self, node: SagaNode, driver: Any) -> None:  # noqa: ARG002 see Operations
        """Save a saga; fields that were never set on the node stay as they are in the file."""
        await self._save(lambda to: to.saga(node))

    async def saga_node_save_bulk(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        transaction: Any,
        nodes: Sequence[SagaNode | Mapping[str, Any]],
        batch_size: int = 100,  # noqa: ARG002 one transaction takes all
    ) -> None:
        given = [record_of(SagaNode, one) for one in nodes]
        await self._save(*(lambda to, one=one: to.saga(one) for one in given), transaction=transaction)

    async def saga_node_delete(self, node: SagaNode, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.delete(_SAGA, [node.uuid]))

    async def saga_node_delete_by_group_id(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_id: str,
        batch_size: int = 100,  # noqa: ARG002 as above
    ) -> None:
        await self._save(lambda to: to.delete_of(_SAGA, group_id))

    async def saga_node_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
        batch_size: int = 100,  # noqa: ARG002 as above
    ) -> None:
        await self._save(lambda to: to.delete(_SAGA, uuids, group_id))

    async def saga_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> SagaNode:  # noqa: ARG002 see Operations
        return await self._node(SAGAS, uuid)

    async def saga_node_get_by_uuids(self, _cls: Any, driver: Any, uuids: list[str]) -> list[SagaNode]:  # noqa: ARG002
        return await self._by_uuids(SAGAS, uuids)

    async def saga_node_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[SagaNode]:
        return await self._page(SAGAS, group_ids, limit, uuid_cursor)

    async def saga_get_previous_episode_uuid(
        self,
        driver: Any,  # noqa: ARG002 see Operations
        saga_uuid: str,
        current_episode_uuid: str,
    ) -> str | None:
        return await self._opened.file.read(lambda db: reading.previous_in_saga(db, saga_uuid, current_episode_uuid))

    async def saga_get_episode_contents(
        self,
        driver: Any,  # noqa: ARG002 see Operations
        saga_uuid: str,
        since: datetime | None = None,
        limit: int = 200,
    ) -> list[tuple[str, datetime | None, datetime]]:
        return await self._opened.file.read(lambda db: reading.saga_contents(db, saga_uuid, since, limit))
