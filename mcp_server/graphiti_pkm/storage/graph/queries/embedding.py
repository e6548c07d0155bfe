"""Queries about vectors: counting, missing ones, removal."""

from collections.abc import Sequence

from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.vector_indexes import ENTITIES, FACTS, PASSAGES, Embedded

_COMMUNITIES = Embedded("communities", "Community", "name_embedding", variable="n")
"""Graphiti's; they are created again when communities are built."""
REMOVED = (ENTITIES, FACTS, PASSAGES, _COMMUNITIES)
"""Kinds of records that lose their vectors when the model changes."""

_WITHOUT = {
    ENTITIES.name: """MATCH (n:Entity) WHERE n.group_id = $group AND n.name_embedding IS NULL
        RETURN n.uuid AS uuid, n.name AS text ORDER BY uuid LIMIT $limit""",
    PASSAGES.name: """MATCH (p:Passage) WHERE p.group_id = $group AND p.embedding IS NULL
        MATCH (e:Episodic {uuid: p.episode_uuid})
        RETURN p.uuid AS uuid, e.uuid AS episode_uuid, p.start AS start, p.end AS end ORDER BY uuid LIMIT $limit""",
    FACTS.name: """MATCH (h:Entity)-[e:RELATES_TO]->(o:Entity) WHERE e.group_id = $group AND e.fact_embedding IS NULL
        RETURN e.uuid AS uuid, e.fact AS text, h.uuid AS source_uuid, o.uuid AS target_uuid,
          coalesce(e.episodes, []) AS episodes ORDER BY uuid LIMIT $limit""",
}
_LENGTHS = {
    ENTITIES.name: "size(coalesce(n.name, ''))",
    PASSAGES.name: "e.end - e.start",
    FACTS.name: "size(coalesce(e.fact, ''))",
}


def remove(kind: Embedded, limit: int) -> Query:
    """Remove vectors; returns how many."""
    one = kind.variable
    return Query(
        f"remove vectors of {kind.name}",
        f"""MATCH {kind.every} WHERE {one}.{kind.vector} IS NOT NULL WITH {one} LIMIT $limit
        SET {one}.{kind.vector} = NULL RETURN count({one}) AS removed""",
        {"limit": limit},
    )


def without(kind: Embedded, group_id: str, limit: int) -> Query:
    """Records of a group that have no vector."""
    return Query(f"{kind.name} without vector", _WITHOUT[kind.name], {"group": group_id, "limit": limit})


def of(kind: Embedded, uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """The vectors of records, for a write that copies them."""
    one = kind.variable
    return Query(
        f"vectors of {kind.name}",
        f"""UNWIND $uuids AS u MATCH {kind.with_uuid("u")} WHERE {one}.group_id IN $groups
        AND {one}.{kind.vector} IS NOT NULL RETURN {one}.uuid AS uuid, {one}.{kind.vector} AS vector""",
        {"uuids": list(uuids), "groups": list(group_ids)},
    )


def size(kind: Embedded, *, only_missing: bool) -> Query:
    """Texts and their characters in the whole database."""
    one = kind.variable
    only = f"WHERE {one}.{kind.vector} IS NULL" if only_missing else ""
    return Query(
        f"size of {kind.name}",
        f"MATCH {kind.every} {only} RETURN count({one}) AS texts, sum({_LENGTHS[kind.name]}) AS characters",
        {},
    )


CHANGE = "MERGE (m:Meta {id: 'database'}) SET m.model = $model, m.dimension = $dimension"
EPISODE_CONTENTS = """UNWIND $uuids AS u MATCH (e:Episodic {uuid: u})
RETURN e.uuid AS uuid, e.content AS content, e.source AS source"""
