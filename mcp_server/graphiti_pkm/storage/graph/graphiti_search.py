"""Graphiti's search interface over our own searches: what ``Graphiti.search_`` finds on our driver.

Graphiti scans every vector of the database, and its full text needs indexes that we do not build. Both use our own code
instead. Community search, breadth-first search and rerankers are Graphiti's: methods that are not overridden raise
``NotImplementedError``, whereupon Graphiti does them itself.

``min_score`` is on Graphiti's scale, that of Neo4j: (1 + cosine) / 2; elsewhere in this product scores are raw cosines.
"""

from array import array
from collections.abc import Sequence
from functools import partial
from typing import Any

from graphiti_core.driver.record_parsers import (
    entity_edge_from_record,
    entity_node_from_record,
    episodic_node_from_record,
)
from graphiti_core.driver.search_interface.search_interface import SearchInterface
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodicNode
from graphiti_core.search.search_filters import SearchFilters
from pydantic import PrivateAttr

from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.storage.graph import graphiti_filters
from graphiti_pkm.storage.graph.queries import search as queries_search
from graphiti_pkm.storage.graph.queries import vectors as queries_vectors
from graphiti_pkm.storage.graph.queries.parts import Conditions
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.graph.vector_indexes import ENTITIES, FACTS, Embedded

_EPOCH = "1970-01-01T00:00:00+00:00"
_PROPERTIES = "[k IN keys({0}) WHERE NOT k ENDS WITH '_embedding' | [k, {0}[k]]] AS properties"
_FACTS = f"""UNWIND $uuids AS u MATCH ()-[e:RELATES_TO {{uuid: u}}]->()
  RETURN startNode(e).uuid AS source_node_uuid, endNode(e).uuid AS target_node_uuid, {_PROPERTIES.format("e")}"""
_ENTITIES = f"""UNWIND $uuids AS u MATCH (n:Entity {{uuid: u}})
  RETURN labels(n) AS labels, {_PROPERTIES.format("n")}"""
_EPISODES = f"UNWIND $uuids AS u MATCH (e:Episodic {{uuid: u}}) RETURN {_PROPERTIES.format('e')}"
"""With all that Graphiti does not know among the properties: it writes back what it has read."""

_SHOWN_TO_A_MODEL = (
    "NOT coalesce(e.kind, '') IN ['plan', 'reading'] AND coalesce(e.voided, false) <> true "
    "AND coalesce(e.expired_at, $dawn) = $dawn"
)
"""What a new fact may repeat or contradict: readings add up, plans end nothing, the rest no longer holds."""

_NOTHING: Row = {
    **dict.fromkeys(("name", "fact", "summary", "content", "source_description", "group_id"), ""),
    **dict.fromkeys(("expired_at", "valid_at", "invalid_at", "reference_time")),
    "source": "text",
    "created_at": _EPOCH,
}


class GraphitiSearch(SearchInterface):
    """The searches that Graphiti asks its driver for; ``driver`` in them is the one this belongs to, and not used."""

    _store: GraphStore = PrivateAttr()
    _for_model: bool = PrivateAttr()

    def __init__(self, store: GraphStore, *, for_model: bool = False) -> None:
        """``for_model``: only facts that a new one may repeat or contradict."""
        super().__init__()
        self._store = store
        self._for_model = for_model

    async def edge_similarity_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        search_vector: list[float],
        source_node_uuid: str | None,
        target_node_uuid: str | None,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[EntityEdge]:
        ends = {"edge_source_node_uuids": source_node_uuid, "edge_target_node_uuids": target_node_uuid}
        given = {name: [uuid] for name, uuid in ends.items() if uuid is not None}
        matching = self._matching_facts(search_filter.model_copy(update=given), group_ids)
        return await self._facts(await self._near(FACTS, search_vector, matching, group_ids, limit, min_score))

    async def node_similarity_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        search_vector: list[float],
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[EntityNode]:
        matching = graphiti_filters.of_entities(search_filter, group_ids)
        return await self._entities(await self._near(ENTITIES, search_vector, matching, group_ids, limit, min_score))

    async def edge_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityEdge]:
        where, values = self._matching_facts(search_filter, group_ids)
        matched = (f"{queries_search.WORDED_FACTS} {where}", values)
        ask = partial(queries_search.facts_worded, matched=matched, limit=limit)
        groups = await self._groups(group_ids)
        return await self._facts(list(await self._store.search.worded(search_terms(query), groups, "fact", limit, ask)))

    async def node_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityNode]:
        where, values = graphiti_filters.of_entities(search_filter, group_ids)
        matched = (f"{queries_search.WORDED_ENTITIES} {where}", values)
        ask = partial(queries_search.entities_worded, matched=matched, limit=limit)
        groups = await self._groups(group_ids)
        return await self._entities(
            list(await self._store.search.worded(search_terms(query), groups, "entity", limit, ask))
        )

    async def episode_fulltext_search(
        self,
        driver: Any,  # noqa: ARG002 see the class
        query: str,
        search_filter: SearchFilters,  # noqa: ARG002 Graphiti has it for symmetry
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EpisodicNode]:
        wanted = EpisodeFilter(group_ids=tuple(await self._groups(group_ids)))
        uuids = list(await self._store.search.search_episodes(search_terms(query), wanted, limit))
        found = await self._records(_EPISODES, uuids)
        return [episodic_node_from_record(_episode(row)) for row in found]

    def _matching_facts(self, wanted: SearchFilters, group_ids: Sequence[str] | None) -> Conditions:
        where, values = graphiti_filters.of_facts(wanted, group_ids)
        return (f"{where} AND {_SHOWN_TO_A_MODEL}" if self._for_model else where), values

    async def _near(
        self,
        kind: Embedded,
        vector: Sequence[float],
        matching: Conditions,
        group_ids: Sequence[str] | None,
        limit: int,
        min_score: float,
    ) -> list[str]:
        where, values = matching
        query = array("f", vector)

        def ask(k: int | None) -> Query:
            found = queries_vectors.candidates(kind, k, in_groups=group_ids is not None)
            return queries_vectors.best(kind, (f"{found} {where}", values), query, limit, k)

        groups = await self._groups(group_ids)
        rows = await self._store.search.nearest(kind, query, groups, limit, ask)
        return [row["uuid"] for row in rows if (1 + row["score"]) / 2 > min_score]

    async def _groups(self, group_ids: Sequence[str] | None) -> Sequence[str]:
        return await self._store.records.groups() if group_ids is None else group_ids

    async def _facts(self, uuids: Sequence[str]) -> list[EntityEdge]:
        return [entity_edge_from_record(_record(row)) for row in await self._records(_FACTS, uuids)]

    async def _entities(self, uuids: Sequence[str]) -> list[EntityNode]:
        return [entity_node_from_record(_record(row)) for row in await self._records(_ENTITIES, uuids)]

    async def _records(self, text: str, uuids: Sequence[str]) -> list[Row]:
        """In this order, without duplicates."""
        found = await self._store.search.rows_of(Query("records", text, {"uuids": uuids})) if uuids else []
        by_uuid = {dict(row["properties"])["uuid"]: row for row in found}
        return [by_uuid[uuid] for uuid in uuids if uuid in by_uuid]


def _record(row: Row) -> Row:
    """As Graphiti's parsers read it."""
    properties = dict(row["properties"])
    return {**_NOTHING, "episodes": [], "entity_edges": [], **properties, **row, "attributes": properties}


def _episode(row: Row) -> Row:
    record = _record(row)
    instant = record["valid_at"] or record["created_at"]
    return {**record, "valid_at": instant}
