"""Queries about Graphiti's sagas and communities: reads, and the sections of a write."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.storage.graph.queries.parts import EPISODE_COLUMNS
from graphiti_pkm.storage.graph.queries.values import Query

SAGA_KEYS = (
    "uuid",
    "name",
    "group_id",
    "created_at",
    "summary",
    "first_episode_uuid",
    "last_episode_uuid",
    "last_summarized_at",
    "last_summarized_episode_valid_at",
)
_SAGA = ", ".join(f"s.{key} AS {key}" for key in SAGA_KEYS)
_MOST_OF_A_NAME = 10
_IN_TIME = """coalesce({e}.valid_at, {e}.created_at, $dawn) {way},
        coalesce({e}.created_at, {e}.valid_at, $dawn) {way}, {e}.uuid {way}"""

SAGAS = "MERGE (s:Saga {uuid: r.uuid}) SET s = r"
SAGA_STEPS = """MATCH (s:Saga {uuid: r.saga_uuid}) MATCH (e:Episodic {uuid: r.episode_uuid})
MERGE (s)-[h:HAS_EPISODE]->(e) ON CREATE SET h.uuid = r.uuid, h.group_id = r.group_id, h.created_at = r.created_at"""
EPISODE_LINKS = """MATCH (a:Episodic {uuid: r.previous_uuid}) MATCH (b:Episodic {uuid: r.next_uuid})
MERGE (a)-[n:NEXT_EPISODE]->(b)
ON CREATE SET n.uuid = r.uuid, n.group_id = r.group_id, n.created_at = r.created_at"""
DELETE_SAGAS = "MATCH (s:Saga {uuid: r}) DETACH DELETE s"
DELETE_COMMUNITIES = "MATCH (c:Community {group_id: r}) DETACH DELETE c"
COMMUNITIES = "MERGE (c:Community {uuid: r.uuid}) SET c = r.properties, c.name_embedding = r.vector"
MEMBERS = """MATCH (c:Community {uuid: r.community_uuid}) MATCH (n:Entity {uuid: r.entity_uuid})
MERGE (c)-[m:HAS_MEMBER]->(n) ON CREATE SET m.uuid = r.uuid, m.group_id = r.group_id, m.created_at = r.created_at"""
FORGET_COMMUNITIES = "MATCH (n:Entity {uuid: r})<-[:HAS_MEMBER]-(c:Community) DETACH DELETE c"


def find(group_id: str, uuids: Sequence[str], name: str) -> Query:
    """By uuid or name."""
    return Query(
        "sagas by name",
        f"""MATCH (s:Saga) WHERE s.group_id = $group AND (s.uuid IN $uuids OR s.name = $name)
        RETURN {_SAGA} ORDER BY created_at, uuid LIMIT $limit""",
        {"group": group_id, "uuids": list(uuids), "name": name, "limit": _MOST_OF_A_NAME},
    )


def listed(group_id: str, window: Window) -> Query:
    """By name."""
    name, uuid = window.after or ("", "")
    return Query(
        "sagas of a group",
        f"""MATCH (s:Saga {{group_id: $group}}) WITH s, coalesce(s.name, '') AS sort
        WHERE sort > $after OR (sort = $after AND s.uuid > $uuid) WITH s, sort ORDER BY sort, s.uuid LIMIT $limit
        RETURN {_SAGA} ORDER BY sort, uuid""",
        {"group": group_id, "after": name, "uuid": uuid, "limit": window.limit},
    )


def latest(saga_uuid: str) -> Query:
    """The last one in time."""
    return Query(
        "latest of a saga",
        f"""MATCH (s:Saga {{uuid: $uuid}})-[:HAS_EPISODE]->(e:Episodic) WHERE e.group_id = s.group_id
        WITH e ORDER BY {_IN_TIME.format(e="e", way="DESC")} LIMIT 1 RETURN e.uuid AS uuid""",
        {"uuid": saga_uuid},
    )


def episodes(saga_uuid: str, recorded_after: datetime | None, limit: int) -> Query:
    """As they were recorded."""
    return Query(
        "episodes of a saga",
        f"""MATCH (s:Saga {{uuid: $uuid}})-[:HAS_EPISODE]->(e:Episodic)
        WHERE e.group_id = s.group_id AND coalesce(e.created_at, $dawn) > coalesce($after, $dawn)
        WITH DISTINCT e ORDER BY e.created_at, e.uuid LIMIT $limit
        OPTIONAL MATCH (e)<-[:OF]-(s:SearchText) RETURN {EPISODE_COLUMNS} ORDER BY created_at, uuid""",
        {"uuid": saga_uuid, "after": recorded_after, "limit": limit},
    )


def holding(episode_uuids: Sequence[str], group_ids: Sequence[str], without: Sequence[str]) -> Query:
    """With the first and last of the others in time."""
    return Query(
        "sagas of episodes",
        f"""UNWIND $episodes AS u MATCH (s:Saga)-[:HAS_EPISODE]->(e:Episodic {{uuid: u}})
        WHERE s.group_id IN $groups
        WITH DISTINCT s OPTIONAL MATCH (s)-[:HAS_EPISODE]->(o:Episodic) WHERE NOT o.uuid IN $without
        WITH s, o ORDER BY {_IN_TIME.format(e="o", way="")}
        WITH s, collect(o.uuid) AS others
        RETURN {_SAGA}, others[0] AS first, others[size(others) - 1] AS last ORDER BY uuid""",
        {"episodes": episode_uuids, "groups": group_ids, "without": without},
    )


def links(episode_uuids: Sequence[str]) -> Query:
    """From and to them."""
    return Query(
        "links around episodes",
        """UNWIND $episodes AS u MATCH (e:Episodic {uuid: u})-[n:NEXT_EPISODE]-()
        WITH DISTINCT n RETURN startNode(n).uuid AS previous, endNode(n).uuid AS following ORDER BY previous, following
        """,
        {"episodes": episode_uuids},
    )


def joined(group_id: str, limit: int) -> Query:
    """Each pair once, whichever way its facts point."""
    return Query(
        "joined entities",
        """MATCH ()-[e:RELATES_TO]->() WHERE e.group_id = $group AND coalesce(e.voided, false) <> true
        WITH startNode(e).uuid AS a, endNode(e).uuid AS b WHERE a <> b
        WITH CASE WHEN a < b THEN a ELSE b END AS one, CASE WHEN a < b THEN b ELSE a END AS other
        WITH one, other, count(*) AS facts
        RETURN one, other, facts ORDER BY facts DESC, one, other LIMIT $limit""",
        {"group": group_id, "limit": limit},
    )


def communities(group_ids: Sequence[str], limit: int) -> Query:
    """With their members."""
    return Query(
        "communities",
        """MATCH (c:Community) WHERE c.group_id IN $groups
        OPTIONAL MATCH (c)-[:HAS_MEMBER]->(n:Entity)
        WITH c, n ORDER BY n.uuid
        WITH c, collect(DISTINCT n.uuid) AS members
        RETURN c.uuid AS uuid, c.group_id AS group_id, coalesce(c.name, '') AS name, coalesce(c.summary, '') AS summary,
          c.created_at AS created_at, members ORDER BY size(members) DESC, uuid LIMIT $limit""",
        {"groups": group_ids, "limit": limit},
    )
