"""Edges: facts, mentions, members of communities, episodes of sagas and what follows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphiti_core.edges import (
    CommunityEdge,
    Edge,
    EntityEdge,
    EpisodicEdge,
    HasEpisodeEdge,
    NextEpisodeEdge,
)
from graphiti_core.errors import EdgeNotFoundError, GroupsEdgesNotFoundError

from graphiti_pkm.graphiti_adapter.sqlite_driver.operations import Operations, record_of
from graphiti_pkm.storage.graph.sqlite import graphiti_reading as reading
from graphiti_pkm.storage.graph.sqlite.graphiti_records import FACTS, LINKS, MEMBERS, MENTIONS, STEPS

_FACT = ("fact",)
_MENTION = ("mention",)
_MEMBER = ("community_member", "community_part")
_STEP = ("saga_step",)
_LINK = ("episode_link",)
_TABLES = {HasEpisodeEdge: _STEP, NextEpisodeEdge: _LINK}
_ANY = (*_FACT, *_MENTION, *_MEMBER)
"""The kinds that Graphiti deletes as an edge, without checking which it is."""


class EdgeOperations(Operations):
    """Saving, deleting and reading each kind of edge."""

    # Facts, and what Graphiti asks of edges whatever they are

    async def edge_save(self, edge: EntityEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        """Save a fact. Raises NodeNotFoundError if an end is missing."""
        await self._save(lambda to: to.fact(edge))

    async def edge_save_bulk(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        transaction: Any,
        edges: Sequence[EntityEdge | Mapping[str, Any]],
        batch_size: int = 100,  # noqa: ARG002 one transaction takes all
    ) -> None:
        given = [record_of(EntityEdge, one) for one in edges]
        await self._save(*(lambda to, one=one: to.fact(one) for one in given), transaction=transaction)

    async def edge_delete(self, edge: Edge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.delete_edges(_ANY, [edge.uuid]))

    async def edge_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
    ) -> None:
        """Delete edges of sagas if asked for those; else facts, mentions and members, as in Graphiti's Cypher."""
        await self._save(lambda to: to.delete_edges(_TABLES.get(_cls, _ANY), uuids, group_id))

    async def edge_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> EntityEdge:  # noqa: ARG002 see Operations
        return await self._edge(FACTS, uuid)

    async def edge_get_by_uuids(self, _cls: Any, driver: Any, uuids: list[str]) -> list[EntityEdge]:  # noqa: ARG002 same
        return await self._by_uuids(FACTS, uuids)

    async def edge_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[EntityEdge]:
        """Facts with embeddings: Graphiti does not pass on whether it wants them. Raises GroupsEdgesNotFoundError."""
        found = await self._page(FACTS, group_ids, limit, uuid_cursor)
        if not found:
            raise GroupsEdgesNotFoundError(group_ids)
        return found

    async def edge_get_between_nodes(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        source_node_uuid: str,
        target_node_uuid: str,
    ) -> list[EntityEdge]:
        return await self._opened.file.read(lambda db: reading.between(db, source_node_uuid, target_node_uuid))

    async def edge_get_by_node_uuid(self, _cls: Any, driver: Any, node_uuid: str) -> list[EntityEdge]:  # noqa: ARG002
        return await self._opened.file.read(lambda db: reading.facts_of(db, node_uuid))

    async def edge_load_embeddings(self, edge: EntityEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        found = await self._embeddings([edge])
        if not found and not await self._by_uuids(FACTS, [edge.uuid]):
            raise EdgeNotFoundError(edge.uuid)
        edge.fact_embedding = found.get(edge.uuid)

    async def edge_load_embeddings_bulk(
        self,
        driver: Any,  # noqa: ARG002 see Operations
        edges: list[EntityEdge],
        batch_size: int = 100,  # noqa: ARG002 one query reads all
    ) -> dict[str, list[float]]:
        return await self._embeddings(edges)

    # Mentions

    async def episodic_edge_save(self, edge: EpisodicEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.mention(edge))

    async def episodic_edge_save_bulk(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        transaction: Any,
        episodic_edges: Sequence[EpisodicEdge | Mapping[str, Any]],
        batch_size: int = 100,  # noqa: ARG002 one transaction takes all
    ) -> None:
        given = [record_of(EpisodicEdge, one) for one in episodic_edges]
        await self._save(*(lambda to, one=one: to.mention(one) for one in given), transaction=transaction)

    async def episodic_edge_delete(self, edge: EpisodicEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.delete_edges(_MENTION, [edge.uuid]))

    async def episodic_edge_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
    ) -> None:
        await self._save(lambda to: to.delete_edges(_MENTION, uuids, group_id))

    async def episodic_edge_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> EpisodicEdge:  # noqa: ARG002 same
        return await self._edge(MENTIONS, uuid)

    async def episodic_edge_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
    ) -> list[EpisodicEdge]:
        """Mentions. Raises EdgeNotFoundError if there is none of them, as Graphiti does."""
        found = await self._by_uuids(MENTIONS, uuids)
        if uuids and not found:
            raise EdgeNotFoundError(uuids[0])
        return found

    async def episodic_edge_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[EpisodicEdge]:
        """Mentions of groups. Raises GroupsEdgesNotFoundError."""
        found = await self._page(MENTIONS, group_ids, limit, uuid_cursor)
        if not found:
            raise GroupsEdgesNotFoundError(group_ids)
        return found

    # Members of communities

    async def community_edge_save(self, edge: CommunityEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.member(edge))

    async def community_edge_delete(self, edge: CommunityEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.delete_edges(_MEMBER, [edge.uuid]))

    async def community_edge_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
    ) -> None:
        await self._save(lambda to: to.delete_edges(_MEMBER, uuids, group_id))

    async def community_edge_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> CommunityEdge:  # noqa: ARG002 same
        return await self._edge(MEMBERS, uuid)

    async def community_edge_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
    ) -> list[CommunityEdge]:
        return await self._by_uuids(MEMBERS, uuids)

    async def community_edge_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[CommunityEdge]:
        return await self._page(MEMBERS, group_ids, limit, uuid_cursor)

    # Episodes of sagas

    async def has_episode_edge_save(self, edge: HasEpisodeEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.step(edge))

    async def has_episode_edge_save_bulk(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        transaction: Any,
        edges: Sequence[HasEpisodeEdge | Mapping[str, Any]],
        batch_size: int = 100,  # noqa: ARG002 one transaction takes all
    ) -> None:
        given = [record_of(HasEpisodeEdge, one) for one in edges]
        await self._save(*(lambda to, one=one: to.step(one) for one in given), transaction=transaction)

    async def has_episode_edge_delete(self, edge: HasEpisodeEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.delete_edges(_STEP, [edge.uuid]))

    async def has_episode_edge_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
    ) -> None:
        await self._save(lambda to: to.delete_edges(_STEP, uuids, group_id))

    async def has_episode_edge_get_by_uuid(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuid: str,
    ) -> HasEpisodeEdge:
        return await self._edge(STEPS, uuid)

    async def has_episode_edge_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
    ) -> list[HasEpisodeEdge]:
        return await self._by_uuids(STEPS, uuids)

    async def has_episode_edge_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[HasEpisodeEdge]:
        return await self._page(STEPS, group_ids, limit, uuid_cursor)

    # Episodes that follow others

    async def next_episode_edge_save(self, edge: NextEpisodeEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.link(edge))

    async def next_episode_edge_save_bulk(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        transaction: Any,
        edges: Sequence[NextEpisodeEdge | Mapping[str, Any]],
        batch_size: int = 100,  # noqa: ARG002 one transaction takes all
    ) -> None:
        given = [record_of(NextEpisodeEdge, one) for one in edges]
        await self._save(*(lambda to, one=one: to.link(one) for one in given), transaction=transaction)

    async def next_episode_edge_delete(self, edge: NextEpisodeEdge, driver: Any) -> None:  # noqa: ARG002 see Operations
        await self._save(lambda to: to.delete_edges(_LINK, [edge.uuid]))

    async def next_episode_edge_delete_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
        group_id: str | None = None,
    ) -> None:
        await self._save(lambda to: to.delete_edges(_LINK, uuids, group_id))

    async def next_episode_edge_get_by_uuid(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuid: str,
    ) -> NextEpisodeEdge:
        return await self._edge(LINKS, uuid)

    async def next_episode_edge_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        uuids: list[str],
    ) -> list[NextEpisodeEdge]:
        return await self._by_uuids(LINKS, uuids)

    async def next_episode_edge_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 see Operations
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[NextEpisodeEdge]:
        return await self._page(LINKS, group_ids, limit, uuid_cursor)
