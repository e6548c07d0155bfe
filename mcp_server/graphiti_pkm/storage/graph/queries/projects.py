"""Queries over projects and entries. Each is bounded."""

from collections.abc import Sequence

from graphiti_pkm.core.model.projects import ProjectFilter
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.relevance import (
    ACTIVITY,
    CONNECTIONS,
    HALF_LIFE_DAYS,
    HALF_OF_CONNECTIONS,
    MENTIONS,
    PIN,
    SCALE,
    RelevanceFilter,
)
from graphiti_pkm.storage.graph.queries.parts import (
    ENTITY_COLUMNS,
    IS_CURRENT,
    LATEST,
    RECORDED,
    STARTS,
    all_of,
    has_word,
    keys_after,
)
from graphiti_pkm.storage.graph.queries.values import Query

_STATUS = f"""head(COLLECT {{ MATCH (n)-[e:RELATES_TO]->(w) WHERE coalesce(e.name, '') = 'HAS_STATUS'
    AND {IS_CURRENT} = 1 AND {RECORDED} <= $recorded_until
    RETURN coalesce(toStringOrNull(e.word), e.value, w.name, '') AS word
    ORDER BY {STARTS} DESC, {RECORDED} DESC, e.uuid LIMIT 1 }})"""


def projects(wanted: ProjectFilter, window: Window) -> tuple[Query, Query]:
    """A page, and the total."""
    parts = ["p.group_id IN $groups", "p.created_at <= $recorded_until"]
    values: dict[str, object] = {
        "groups": wanted.group_ids,
        "now": wanted.now,
        "recorded_until": wanted.recorded_until or LATEST,
    }
    if wanted.uuids is not None:
        parts.append("p.uuid IN $uuids")
        values["uuids"] = wanted.uuids
    so = ""
    if wanted.statuses is not None:
        is_so, words = has_word("coalesce(status, '')", wanted.statuses, "statuses")
        so = f"WHERE {is_so}"
        values |= words
    matched = f"""MATCH (p:ProjectRecord) WHERE {all_of(parts)} MATCH (n:Entity {{uuid: p.uuid}})
      WITH p, n, {_STATUS} AS status {so}"""
    after = ""
    if window.after is not None:
        after = "WITH p, n, status WHERE p.created_at < $c0 OR (p.created_at = $c0 AND p.uuid > $c1)"
    return (
        Query(
            "projects",
            f"""{matched} {after} WITH p, n, status ORDER BY p.created_at DESC, p.uuid LIMIT $limit
            RETURN p.uuid AS uuid, p.group_id AS group_id, p.metadata AS metadata, p.pins AS pins,
              p.created_at AS created_at, coalesce(n.name, '') AS name, coalesce(n.summary, '') AS summary, status,
              COUNT {{ MATCH (y:EntryRecord {{project_uuid: p.uuid}}) }} AS entries,
              head(COLLECT {{ MATCH (y:EntryRecord {{project_uuid: p.uuid}}) RETURN max(y.valid_at) }}) AS last_entry
            ORDER BY created_at DESC, uuid""",
            {**values, **keys_after(window.after, (0,)), "limit": window.limit},
        ),
        Query("projects total", f"{matched} RETURN count(p) AS total", values),
    )


def entries(episode_uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """What these episodes have besides."""
    return Query(
        "entries",
        """UNWIND $uuids AS u MATCH (y:EntryRecord {uuid: u}) WHERE y.group_id IN $groups
        RETURN DISTINCT y.uuid AS uuid, y.group_id AS group_id, y.type AS type, y.project_uuid AS project_uuid,
          y.metadata AS metadata, y.links_names AS links_names""",
        {"uuids": list(episode_uuids), "groups": list(group_ids)},
    )


def named(one: str) -> str:
    """Not a value, a measure or the person."""
    return f"""(NOT EXISTS {{ MATCH (:Name {{entity_uuid: {one}.uuid}}) }}
    OR EXISTS {{ MATCH (k:Name {{entity_uuid: {one}.uuid}}) WHERE k.is_linkable }})"""


_MENTIONING = """MATCH (%s)<-[r:MENTIONS]-(ep:Episodic) MATCH (y:EntryRecord {uuid: ep.uuid})
    WHERE y.project_uuid = $project AND coalesce(ep.created_at, $dawn) <= $recorded_until
    AND coalesce(r.created_at, $dawn) <= $recorded_until"""
_OWN = """MATCH (y:EntryRecord {project_uuid: $project}) MATCH (ep:Episodic {uuid: y.uuid})-[r:MENTIONS]->(o:Entity)
    WHERE o.uuid <> $project AND coalesce(ep.created_at, $dawn) <= $recorded_until
    AND coalesce(r.created_at, $dawn) <= $recorded_until"""
_OPEN = """e.group_id = $group AND coalesce(e.kind, 'state') <> 'plan' AND NOT coalesce(e.voided, false)
    AND coalesce(e.created_at, $dawn) <= $recorded_until AND coalesce(e.expired_at, $dusk) > $recorded_until
    AND coalesce(e.invalid_at, $dusk) > $now AND coalesce(e.valid_at, $now) <= $now"""
_LINK = "coalesce(e.valid_at, e.reference_time, e.created_at)"
_SCORED = f"""CALL () {{
    {_OWN} RETURN DISTINCT o AS n
    UNION {_OWN} WITH DISTINCT o MATCH (o)-[e:RELATES_TO]-(n:Entity) WHERE n <> o AND {_OPEN} RETURN DISTINCT n
    UNION UNWIND $pins AS pin MATCH (n:Entity {{uuid: pin}}) RETURN n }}
  WITH DISTINCT n WHERE n.group_id = $group AND n.uuid <> $project AND {named("n")}
  CALL (n) {{ {_MENTIONING % "n"}
    RETURN count(DISTINCT ep) AS mentions, max(coalesce(ep.valid_at, ep.created_at)) AS mentioned_at }}
  CALL (n) {{ MATCH (n)-[e:RELATES_TO]-(o:Entity) WHERE o <> n AND o.uuid <> $project AND {_OPEN}
    WITH o, max(CASE WHEN {_LINK} > $now THEN $now ELSE {_LINK} END) AS at
    WITH o, at WHERE {named("o")} AND EXISTS {{ {_MENTIONING % "o"} }}
    RETURN count(DISTINCT o) AS connections, max(at) AS linked_at }}
  WITH n, mentions, connections, n.uuid IN $pins AS is_pinned,
    CASE WHEN mentioned_at IS NULL THEN linked_at WHEN linked_at IS NULL OR mentioned_at > linked_at THEN mentioned_at
      ELSE linked_at END AS last
  WHERE mentions > 0 OR connections > 0 OR is_pinned
  WITH collect({{n: n, mentions: mentions, connections: connections, is_pinned: is_pinned, last: last}}) AS rows,
    coalesce(max(mentions), 0) AS most
  UNWIND rows AS row
  WITH row.n AS n, row.mentions AS mentions, row.connections AS connections, row.is_pinned AS is_pinned,
    row.last AS last, row.mentions > 0 AS is_primary, most
  WHERE is_primary OR is_pinned OR size($archived) = 0
    OR NOT EXISTS {{ MATCH (n)<-[:MENTIONS]-(ep:Episodic) MATCH (y:EntryRecord {{uuid: ep.uuid}})
      WHERE y.project_uuid IS NOT NULL }}
    OR EXISTS {{ MATCH (n)<-[:MENTIONS]-(ep:Episodic) MATCH (y:EntryRecord {{uuid: ep.uuid}})
      WHERE NOT y.project_uuid IN $archived }}
  WITH n, mentions, connections, is_pinned, is_primary, last, most,
    CASE WHEN last IS NULL THEN 0.0 WHEN last >= $now THEN 1.0
      ELSE 0.5 ^ (duration.inSeconds(last, $now).seconds / 86400.0 / {HALF_LIFE_DAYS}) END AS activity
  WITH n, mentions, connections, is_pinned, is_primary, last, most, toInteger(round({SCALE} * (
    {MENTIONS} * CASE WHEN most = 0 THEN 0.0 ELSE log(1 + mentions) / log(1 + most) END
    + {CONNECTIONS} * connections / (connections + {HALF_OF_CONNECTIONS}.0)
    + {ACTIVITY} * activity + {PIN} * CASE WHEN is_pinned THEN 1 ELSE 0 END))) AS score"""


def relevant(wanted: RelevanceFilter, window: Window, *, is_primary: bool) -> Query:
    """A page of one part."""
    after = ""
    if window.after is not None:
        after = """AND (score < $c0 OR (score = $c0 AND (coalesce(n.name, '') > $c1
          OR (coalesce(n.name, '') = $c1 AND n.uuid > $c2))))"""
    return Query(
        "relevant entities",
        f"""{_SCORED} WITH n, mentions, connections, is_pinned, is_primary, last, score
        WHERE is_primary = $part AND score >= $threshold {after}
        WITH n, mentions, connections, is_pinned, last, score
        ORDER BY score DESC, coalesce(n.name, ''), n.uuid LIMIT $limit
        RETURN {ENTITY_COLUMNS}, mentions, connections, is_pinned, last, score
        ORDER BY score DESC, name, uuid""",
        {**_relevance(wanted), **keys_after(window.after), "part": is_primary, "limit": window.limit},
    )


def relevance_totals(wanted: RelevanceFilter) -> Query:
    """How many of each part pass the threshold and do not."""
    return Query(
        "relevance totals",
        f"""{_SCORED} RETURN is_primary, max(most) AS most, count(CASE WHEN score >= $threshold THEN 1 END) AS total,
          count(CASE WHEN score < $threshold THEN 1 END) AS below""",
        _relevance(wanted),
    )


def _relevance(wanted: RelevanceFilter) -> dict[str, object]:
    return {
        "project": wanted.project_uuid,
        "group": wanted.group_id,
        "now": wanted.now,
        "recorded_until": wanted.recorded_until or LATEST,
        "threshold": wanted.threshold,
        "pins": wanted.pins,
        "archived": wanted.archived,
    }


def projects_of(entity_uuids: Sequence[str], group_id: str) -> Query:
    """In alphabetical order."""
    return Query(
        "projects of entities",
        """UNWIND $uuids AS u CALL (u) {
          MATCH (:Entity {uuid: u})<-[:MENTIONS]-(ep:Episodic) MATCH (y:EntryRecord {uuid: ep.uuid})
          WHERE y.group_id = $group AND y.project_uuid IS NOT NULL WITH DISTINCT y.project_uuid AS project
          MATCH (n:Entity {uuid: project}) RETURN n.name AS name ORDER BY name, n.uuid LIMIT 10 }
        RETURN u AS uuid, collect(name) AS names""",
        {"uuids": list(entity_uuids), "group": group_id},
    )
