"""The rest of Graphiti's search interface: walks along edges, communities, rerankers."""

import sqlite3
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import CommunityNode, EntityNode
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.search.search_utils import rrf

from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.errors import TooLarge
from graphiti_pkm.storage.graph.sqlite import graphiti_reading as reading
from graphiti_pkm.storage.graph.sqlite import words
from graphiti_pkm.storage.graph.sqlite.file import SqliteFile
from graphiti_pkm.storage.graph.sqlite.graphiti_records import COMMUNITIES, ENTITIES, FACTS
from graphiti_pkm.storage.graph.sqlite.graphiti_search import SqliteSearch, entities_found
from graphiti_pkm.storage.graph.sqlite.schema import COMMUNITY
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, as_list
from graphiti_pkm.storage.graph.sqlite.vector_cache import VectorCache

MOST_WALKED = 100_000
"""Entities that one walk reaches at most: they are kept in memory."""
_AT_THE_CENTRE = 10.0
"""What Graphiti scores the centre itself: 1 / 0.1."""


class SqliteGraphSearch(SqliteSearch):
    """Graphiti's whole ``SearchInterface``; the ``driver`` in its methods is not used."""

    def __init__(self, file: SqliteFile, cache: VectorCache) -> None:
        super().__init__(file, cache)

    async def edge_bfs_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        bfs_origin_node_uuids: list[str] | None,
        bfs_max_depth: int,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityEdge]:
        """Facts, nearest first; they are followed from source to target, mentions from episode to entity."""

        def ask(db: sqlite3.Connection) -> list[EntityEdge]:
            found = self.facts_found(search_filter, group_ids)
            text = f"""SELECT f.uuid FROM json_each(:uuids) u JOIN fact f ON f.source_uuid = u.value
              WHERE {found.where} ORDER BY f.created_at DESC, f.uuid"""
            uuids: dict[str, None] = {}
            for step in _walk(db, bfs_origin_node_uuids or (), bfs_max_depth - 1, with_origins=True):
                uuids |= {row[0]: None for row in db.execute(text, {**found.parameters, "uuids": as_list(step)})}
                if len(uuids) >= limit:
                    break
            return reading.by_uuids(db, FACTS, list(uuids)[:limit])

        return await self._file.read(ask)

    async def node_bfs_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        bfs_origin_node_uuids: list[str] | None,
        search_filter: SearchFilters,
        bfs_max_depth: int,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityNode]:
        """Entities, nearest first, walked as for facts; an entity of another group than the start is no hit."""

        def ask(db: sqlite3.Connection) -> list[EntityNode]:
            found = entities_found(search_filter, group_ids)
            text = f"""SELECT n.uuid FROM json_each(:uuids) u JOIN entity n ON n.uuid = u.value
              WHERE {found.where} AND n.group_id = :origin ORDER BY n.created_at DESC, n.uuid"""
            uuids: dict[str, None] = {}
            for group, origins in _by_group(db, bfs_origin_node_uuids or (), group_ids).items():
                parameters = {**found.parameters, "origin": group}
                reached: dict[str, None] = {}
                for step in _walk(db, origins, bfs_max_depth, with_origins=False):
                    reached |= {row[0]: None for row in db.execute(text, {**parameters, "uuids": as_list(step)})}
                    if len(reached) >= limit:
                        break
                uuids |= reached
            return reading.by_uuids(db, ENTITIES, list(uuids)[:limit])

        return await self._file.read(ask)

    async def community_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        query: str,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[CommunityNode]:
        """Communities found by their names."""

        def ask(db: sqlite3.Connection) -> list[CommunityNode]:
            groups = _with_communities(db, group_ids)
            where = f"c.group_id {IN_GROUPS}"
            found = words.Found("community c ON c.uuid = h.uuid", where, "c.created_at", {"groups": as_list(groups)})
            hits = words.search(db, search_terms(query), groups, COMMUNITY, found, limit)
            return reading.by_uuids(db, COMMUNITIES, list(hits))

        return await self._file.read(ask)

    async def community_similarity_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        search_vector: list[float],
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.6,
    ) -> list[CommunityNode]:
        def ask(db: sqlite3.Connection) -> list[CommunityNode]:
            groups = _with_communities(db, group_ids)
            text = "SELECT c.uuid FROM json_each(:uuids) u JOIN community c ON c.uuid = u.value"
            near = self.near(db, COMMUNITY, search_vector, groups, text, {}, limit, min_score)
            return reading.by_uuids(db, COMMUNITIES, near)

        return await self._file.read(ask)

    async def get_embeddings_for_communities(
        self,
        driver: Any,  # noqa: ARG002 see the class
        communities: list[CommunityNode],
    ) -> dict[str, list[float]]:
        """The embeddings of those communities that have one."""
        uuids = [one.uuid for one in communities]
        return await self._file.read(lambda db: reading.embeddings(db, uuids))

    async def node_distance_reranker(
        self,
        driver: Any,  # noqa: ARG002 see the class
        node_uuids: list[str],
        center_node_uuid: str,
        min_score: float = 0,
    ) -> tuple[list[str], list[float]]:
        """Uuids by distance: the centre if it is asked for, its neighbours, then the others."""
        others = [uuid for uuid in node_uuids if uuid != center_node_uuid]
        near = await self._file.read(lambda db: reading.neighbours(db, center_node_uuid, others))
        ranked = sorted(((uuid, 1.0 if uuid in near else 1 / inf) for uuid in others), key=lambda one: -one[1])
        if center_node_uuid in node_uuids:
            ranked.insert(0, (center_node_uuid, _AT_THE_CENTRE))
        return _above(ranked, min_score)

    async def episode_mentions_reranker(
        self,
        driver: Any,  # noqa: ARG002 see the class
        node_uuids: list[list[str]],
        min_score: float = 0,
    ) -> tuple[list[str], list[float]]:
        """Uuids by number of mentions, most first; of equals the one that several rankings put first."""
        uuids, _ = rrf(node_uuids)
        counts = await self._file.read(lambda db: reading.mentions(db, uuids))
        ranked = sorted(((uuid, float(counts.get(uuid, 0))) for uuid in uuids), key=lambda one: -one[1])
        return _above(ranked, min_score)

    def build_node_search_filters(self, search_filters: SearchFilters) -> tuple[str, dict[str, object]]:
        """A condition over ``entity n`` and its parameters."""
        found = entities_found(search_filters, None)
        return found.where, found.parameters

    def build_edge_search_filters(self, search_filters: SearchFilters) -> tuple[str, dict[str, object]]:
        """A condition over ``fact f`` and its parameters."""
        found = self.facts_found(search_filters, None)
        return found.where, found.parameters


def _above(ranked: Sequence[tuple[str, float]], min_score: float) -> tuple[list[str], list[float]]:
    kept = [one for one in ranked if one[1] >= min_score]
    return [uuid for uuid, _ in kept], [score for _, score in kept]


def _with_communities(db: sqlite3.Connection, group_ids: Sequence[str] | None) -> Sequence[str]:
    """The groups asked for; for None all that have communities, which may be all that such a group has."""
    if group_ids is not None:
        return group_ids
    return [row[0] for row in db.execute("SELECT DISTINCT group_id FROM community ORDER BY group_id")]


def _by_group(db: sqlite3.Connection, origins: Sequence[str], group_ids: Sequence[str] | None) -> dict[str, list[str]]:
    """The entities and episodes among the uuids by their group; other groups than these are left out."""
    found: dict[str, list[str]] = {}
    for row in db.execute(
        """SELECT u.value AS uuid, coalesce(n.group_id, e.group_id) AS group_id FROM json_each(?) u
        LEFT JOIN entity n ON n.uuid = u.value LEFT JOIN episode e ON e.uuid = u.value ORDER BY u.key""",
        (as_list(dict.fromkeys(origins)),),
    ):
        if row["group_id"] is not None and (group_ids is None or row["group_id"] in group_ids):
            found.setdefault(row["group_id"], []).append(row["uuid"])
    return found


def _walk(db: sqlite3.Connection, origins: Sequence[str], depth: int, *, with_origins: bool) -> Iterator[list[str]]:
    """The entities of each further step; with ``with_origins`` those where it begins come first, at depth 0.

    Raises TooLarge.
    """
    step = list(dict.fromkeys(origins))
    seen: set[str] = set()
    if with_origins and depth >= 0:
        yield step
        seen.update(step)
    for _ in range(depth):
        found = db.execute(
            """SELECT DISTINCT uuid FROM (
              SELECT f.target_uuid AS uuid FROM json_each(:uuids) u JOIN fact f ON f.source_uuid = u.value
              UNION ALL SELECT m.entity_uuid FROM json_each(:uuids) u JOIN mention m ON m.episode_uuid = u.value)""",
            {"uuids": as_list(step)},
        )
        step = [row[0] for row in found if row[0] not in seen]
        if not step:
            return
        seen.update(step)
        if len(seen) > MOST_WALKED:
            raise TooLarge(
                f"A walk reached more than {MOST_WALKED} entities before it was at its depth: ask for a smaller depth."
            )
        yield step
