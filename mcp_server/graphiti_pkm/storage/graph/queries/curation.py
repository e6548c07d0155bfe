"""Queries over what librarians said of entities. Each is bounded."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.curation import FlaggedFilter, QualityFilter
from graphiti_pkm.core.model.quality_checks import SIMILAR
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Quality
from graphiti_pkm.storage.graph.queries.parts import ENTITY_COLUMNS, LATEST, keys_after
from graphiti_pkm.storage.graph.queries.projects import named
from graphiti_pkm.storage.graph.queries.values import Query

_QUALITY = "q {" + ", ".join(f".{field}" for field in Quality.model_fields) + "} AS quality"

_TOLD_AT = """MATCH (p:QualityRecord {uuid: s}) WHERE p.flagged_at <= $until AND q.uuid IN p.similar_to
  AND (p.flagged_at > q.flagged_at OR (p.flagged_at = q.flagged_at AND p.uuid < q.uuid))"""
_IS_TOLD = f"""(coalesce(q.flag_reason, '') = $similar
  AND any(s IN q.similar_to WHERE EXISTS {{ {_TOLD_AT} }})
  AND all(s IN q.similar_to WHERE EXISTS {{ {_TOLD_AT} }} OR NOT EXISTS {{ MATCH (:Entity {{uuid: s}}) }}))"""
"""Whether all that a flag for likeness says is said at others, as ``is_told_at`` has it."""


def qualities(entity_uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """What is said of these entities."""
    return Query(
        "qualities",
        f"""UNWIND $uuids AS u MATCH (q:QualityRecord {{uuid: u}}) WHERE q.group_id IN $groups
        RETURN {_QUALITY}""",
        {"uuids": list(dict.fromkeys(entity_uuids)), "groups": list(group_ids)},
    )


def flagged(wanted: FlaggedFilter, window: Window) -> tuple[Query, Query]:
    """A page, and the total."""
    matched = f"MATCH (q:QualityRecord) WHERE q.group_id IN $groups AND q.flagged_at <= $until AND NOT {_IS_TOLD}"
    values: dict[str, object] = {
        "groups": wanted.group_ids,
        "until": wanted.recorded_until or LATEST,
        "similar": SIMILAR,
    }
    after = ""
    if window.after is not None:
        after = "AND (q.flagged_at < $c0 OR (q.flagged_at = $c0 AND q.uuid > $c1))"
    return (
        Query(
            "flagged entities",
            f"""{matched} {after} MATCH (n:Entity {{uuid: q.uuid}})
            WITH q, n ORDER BY q.flagged_at DESC, q.uuid LIMIT $limit
            RETURN {_QUALITY}, {ENTITY_COLUMNS} ORDER BY quality.flagged_at DESC, quality.uuid""",
            {**values, **keys_after(window.after, (0,)), "limit": window.limit},
        ),
        Query("flagged total", f"{matched} RETURN count(q) AS total", values),
    )


_ALONE = f"""NOT EXISTS {{ MATCH (n)-[:RELATES_TO|MENTIONS|EVIDENCED_BY]-() }}
  AND NOT EXISTS {{ MATCH (:ProjectRecord {{uuid: n.uuid}}) }} AND {named("n")}"""
_PAGE = f"""WITH n ORDER BY n.uuid LIMIT $limit RETURN {ENTITY_COLUMNS} ORDER BY uuid"""


def orphans(group_id: str, window: Window, among: Sequence[str] | None) -> Query:
    """By uuid."""
    given = "" if among is None else "AND n.uuid IN $among"
    return Query(
        "orphans of a group",
        f"MATCH (n:Entity) WHERE n.group_id = $group AND n.uuid > $after {given} AND {_ALONE} {_PAGE}",
        {"group": group_id, **_after(window), "among": list(among or ())},
    )


def rated_below(group_id: str, confidence: float, window: Window) -> Query:
    """By uuid."""
    return Query(
        "rated below",
        f"""MATCH (q:QualityRecord) WHERE q.group_id = $group AND q.confidence < $below AND q.uuid > $after
        WITH q ORDER BY q.uuid LIMIT $limit RETURN {_QUALITY} ORDER BY quality.uuid""",
        {"group": group_id, "below": confidence, **_after(window)},
    )


def made_since(group_id: str, since: datetime, window: Window) -> Query:
    """By uuid."""
    return Query(
        "made since",
        f"MATCH (n:Entity) WHERE n.group_id = $group AND n.created_at >= $since AND n.uuid > $after {_PAGE}",
        {"group": group_id, "since": since, **_after(window)},
    )


def _after(window: Window) -> dict[str, object]:
    (after,) = window.after or ("",)
    return {"after": after, "limit": window.limit}


_CREATORS = """MATCH (q:QualityRecord) WHERE q.group_id IN $groups AND q.confidence < $below
  MATCH (n:Entity {uuid: q.uuid}) MATCH (o:WriteOrigin {group_id: n.group_id, recorded_at: n.created_at})
  WHERE o.created_by STARTS WITH $prefix"""


def quality_counts(wanted: QualityFilter) -> tuple[Query, Query, Query, Query]:
    """What is said of entities, all entities, creators, and how many creators there are."""
    values: dict[str, object] = {"groups": wanted.group_ids, "below": wanted.below}
    creators = {**values, "prefix": wanted.creator_prefix}
    return (
        Query(
            "quality counts",
            """MATCH (q:QualityRecord) WHERE q.group_id IN $groups
            RETURN count(q.flagged_at) AS flagged, count(q.confidence) AS rated,
              count(CASE WHEN q.confidence < $below THEN 1 END) AS low""",
            values,
        ),
        Query(
            "orphans",
            f"""MATCH (n:Entity) WHERE n.group_id IN $groups
            RETURN count(n) AS entities, count(CASE WHEN {_ALONE} THEN 1 END) AS orphans""",
            {"groups": wanted.group_ids},
        ),
        Query(
            "creators",
            f"""{_CREATORS} RETURN o.created_by AS created_by, count(*) AS low
            ORDER BY low DESC, created_by LIMIT $limit""",
            {**creators, "limit": wanted.limit},
        ),
        Query("creators total", f"{_CREATORS} RETURN count(DISTINCT o.created_by) AS total", creators),
    )
