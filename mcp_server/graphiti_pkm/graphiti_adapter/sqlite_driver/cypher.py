"""The queries that Graphiti sends itself instead of asking an interface, each answered by what it means.

A query is compared as a whole with what graphiti-core 0.31.1 sends; only a filter in it may differ, and its conditions
are translated one by one. Every other query is refused with the name of the function that sent it, so that a version
of Graphiti that asks something else is noticed.
"""

import re
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from graphiti_core.nodes import EntityNode
from graphiti_core.search.search_filters import SearchFilters

from graphiti_pkm.errors import ConfigurationError, InvalidInput
from graphiti_pkm.storage.graph.sqlite import graphiti_reading as reading
from graphiti_pkm.storage.graph.sqlite import graphiti_relevance as relevance
from graphiti_pkm.storage.graph.sqlite.graphiti_graph_search import SqliteGraphSearch
from graphiti_pkm.storage.graph.sqlite.graphiti_records import SAGAS
from graphiti_pkm.storage.graph.sqlite.part import OpenFile

Record = dict[str, Any]
Parameters = Mapping[str, Any]

_SAGA = """MATCH (s:Saga {name: $name, group_id: $group_id})
  RETURN s.uuid AS uuid, s.name AS name, s.group_id AS group_id, s.created_at AS created_at,
  s.first_episode_uuid AS first_episode_uuid, s.last_episode_uuid AS last_episode_uuid"""
_MENTIONS = "MATCH (e:Episodic)-[:MENTIONS]->(n:Entity {uuid: $uuid}) RETURN count(*) AS episode_count"
_DUPLICATES = """UNWIND $duplicate_node_uuids AS duplicate_tuple
  MATCH (n:Entity {uuid: duplicate_tuple[0]})
  -[r:RELATES_TO {name: 'IS_DUPLICATE_OF'}]->(m:Entity {uuid: duplicate_tuple[1]})
  RETURN DISTINCT n.uuid AS source_uuid, m.uuid AS target_uuid"""
_NODES = """UNWIND $nodes AS node MATCH (n:Entity {group_id: $group_id}) FILTER
  WITH node, n, vector.similarity.cosine(n.name_embedding, node.name_embedding) AS score WHERE score > $min_score
  WITH node, collect(n)[..$limit] AS top_vector_nodes, collect(n.uuid) AS vector_node_uuids
  CALL db.index.fulltext.queryNodes("node_name_and_summary", node.fulltext_query, {limit: $limit})
  YIELD node AS m WHERE m.group_id = $group_id
  WITH node, top_vector_nodes, vector_node_uuids, collect(m) AS fulltext_nodes
  WITH node, top_vector_nodes,
  [m IN fulltext_nodes WHERE NOT m.uuid IN vector_node_uuids] AS filtered_fulltext_nodes
  WITH node, top_vector_nodes + filtered_fulltext_nodes AS combined_nodes
  UNWIND combined_nodes AS combined_node WITH node, collect(DISTINCT combined_node) AS deduped_nodes
  RETURN node.uuid AS search_node_uuid, [x IN deduped_nodes | { uuid: x.uuid, name: x.name,
  name_embedding: x.name_embedding, group_id: x.group_id, created_at: x.created_at, summary: x.summary,
  labels: labels(x), attributes: properties(x) }] AS matches"""
_SCORED = """WITH e, edge, vector.similarity.cosine(e.fact_embedding, edge.fact_embedding) AS score
  WHERE score > $min_score WITH edge, e, score ORDER BY score DESC
  RETURN edge.uuid AS search_edge_uuid, collect({ uuid: e.uuid, source_node_uuid: startNode(e).uuid,
  target_node_uuid: endNode(e).uuid, created_at: e.created_at, name: e.name, group_id: e.group_id, fact: e.fact,
  fact_embedding: e.fact_embedding, episodes: e.episodes, expired_at: e.expired_at, valid_at: e.valid_at,
  invalid_at: e.invalid_at, attributes: properties(e) })[..$limit] AS matches"""
_EDGES = f"""UNWIND $edges AS edge
  MATCH (n:Entity {{uuid: edge.source_node_uuid}})-[e:RELATES_TO {{group_id: edge.group_id}}]
  -(m:Entity {{uuid: edge.target_node_uuid}})
  FILTER {_SCORED}"""
_CANDIDATES = f"""UNWIND $edges AS edge MATCH (n:Entity)-[e:RELATES_TO {{group_id: edge.group_id}}]->(m:Entity)
  WHERE n.uuid IN [edge.source_node_uuid, edge.target_node_uuid]
  OR m.uuid IN [edge.target_node_uuid, edge.source_node_uuid]
  FILTER {_SCORED.replace("WITH e, edge,", "WITH edge, e,", 1)}"""

_LABELS = re.compile(r"([nm]):(\w+(?:\|\w+)*)")


class KnownQueries:
    """Answers queries in Cypher that are known, and refuses the others."""

    def __init__(self, opened: OpenFile, search: SqliteGraphSearch) -> None:
        self._opened = opened
        self._search = search
        self._answers: Sequence[tuple[re.Pattern[str], Callable[[str, Parameters], Awaitable[list[Record]]]]] = (
            (_pattern(_SAGA), self._sagas),
            (_pattern(_MENTIONS), self._mentions),
            (_pattern(_DUPLICATES), self._duplicates),
            (_pattern(_NODES), self._relevant_nodes),
            (_pattern(_EDGES), self._edges_between),
            (_pattern(_CANDIDATES), self._edges_touching),
        )

    async def answer(self, query: str, parameters: Parameters) -> list[Record]:
        """The records of a query. Raises ConfigurationError for one that is not known."""
        text = _one_line(query)
        for pattern, ask in self._answers:
            found = pattern.fullmatch(text)
            if found is not None:
                return await ask((found.groupdict().get("filter") or "").strip(), parameters)
        raise refused()

    async def _sagas(self, _: str, given: Parameters) -> list[Record]:
        """Answers ``Graphiti._get_or_create_saga``."""

        def ask(db: sqlite3.Connection) -> list[Record]:
            uuids = reading.sagas_named(db, given["name"], given["group_id"])
            fields = {"uuid", "name", "group_id", "created_at", "first_episode_uuid", "last_episode_uuid"}
            return [one.model_dump(include=fields) for one in reading.by_uuids(db, SAGAS, uuids)]

        return await self._opened.file.read(ask)

    async def _mentions(self, _: str, given: Parameters) -> list[Record]:
        """Answers ``Graphiti.remove_episode``."""
        uuid = given["uuid"]
        counts = await self._opened.file.read(lambda db: reading.mentions(db, [uuid]))
        return [{"episode_count": counts.get(uuid, 0)}]

    async def _duplicates(self, _: str, given: Parameters) -> list[Record]:
        """Answers ``filter_existing_duplicate_of_edges``."""
        pairs = given["duplicate_node_uuids"]
        found = await self._opened.file.read(lambda db: reading.duplicates(db, pairs))
        return [{"source_uuid": source, "target_uuid": target} for source, target in found]

    async def _relevant_nodes(self, condition: str, given: Parameters) -> list[Record]:
        """Answers ``get_relevant_nodes``: by embedding, then by name; the filter holds for both."""
        labels = _LABELS.fullmatch(condition.removeprefix("WHERE "))
        if condition and labels is None:
            raise refused()
        wanted = SearchFilters(node_labels=labels[2].split("|") if labels else None)
        groups, limit = [given["group_id"]], given["limit"]
        records: list[Record] = []
        for node in given["nodes"]:
            near: list[EntityNode] = []
            if node["name_embedding"] is not None:
                near = await self._search.node_similarity_search(
                    None, node["name_embedding"], wanted, groups, limit, given["min_score"]
                )
            named = await self._search.node_fulltext_search(None, node["name"], wanted, groups, limit)
            found = {one.uuid: one for one in (*near, *named)}
            records.append({"search_node_uuid": node["uuid"], "matches": [one.model_dump() for one in found.values()]})
        return records

    async def _edges_between(self, condition: str, given: Parameters) -> list[Record]:
        """Answers ``get_relevant_edges``: edges between the same two entities."""
        return await self._edges(relevance.BETWEEN, condition.removeprefix("WHERE "), given)

    async def _edges_touching(self, condition: str, given: Parameters) -> list[Record]:
        """Answers ``get_edge_invalidation_candidates``: edges at either of its entities."""
        return await self._edges(relevance.TOUCHING, condition.removeprefix("AND "), given)

    async def _edges(self, ends: str, condition: str, given: Parameters) -> list[Record]:
        def ask(db: sqlite3.Connection) -> list[Record]:
            return [
                {
                    "search_edge_uuid": edge["uuid"],
                    "matches": [
                        one.model_dump() for one in relevance.near(db, self._search, edge, ends, condition, given)
                    ],
                }
                for edge in given["edges"]
            ]

        try:
            return await self._opened.file.read(ask)
        except InvalidInput:
            raise refused() from None


def refused() -> ConfigurationError:
    """The error for a query that is not known, with the name of Graphiti's function that sent it."""
    frame = sys._getframe(1)  # noqa: SLF001 for the message alone; nothing is decided by it
    while frame.f_back is not None and not frame.f_globals.get("__name__", "").startswith("graphiti_core."):
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "")
    sender = f"{module}.{frame.f_code.co_qualname}" if module.startswith("graphiti_core.") else "The caller"
    return ConfigurationError(
        f"{sender} asks the database in Cypher for what SqliteDriver cannot answer. Nothing was changed. "
        "DOCS/graphiti.md lists what it answers."
    )


def _one_line(query: str) -> str:
    return " ".join(query.split()).replace(" -[", "-[").replace(" -(", "-(")


def _pattern(query: str) -> re.Pattern[str]:
    """The pattern of a query, in which FILTER stands for the condition that Graphiti builds from ``SearchFilters``."""
    return re.compile(re.escape(_one_line(query)).replace(r"FILTER\ ", r"(?P<filter>(?:WHERE|AND) .*? )?"))
