"""Queries over projects and entries. Each is bounded."""

from collections.abc import Sequence

from graphiti_pkm.core.model.projects import ProjectFilter
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.storage.graph.queries.parts import (
    IS_CURRENT,
    LATEST,
    RECORDED,
    STARTS,
    all_of,
    keys_after,
    normalised,
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
    so, word = "", normalised("coalesce(status, '')")
    if wanted.statuses is not None:
        so = f"WHERE {word} IN $statuses"
        values["statuses"] = wanted.statuses
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
