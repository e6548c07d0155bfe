"""What is relevant to a project: from what is kept of it, or, as of an earlier instant, counted anew."""

import sqlite3

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
    RelevanceParts,
    Relevant,
    RelevantPart,
)
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.relevance_schema import named
from graphiti_pkm.storage.graph.sqlite.schema import DAWN, DUSK
from graphiti_pkm.storage.graph.sqlite.values import as_list, known_moment, micros

_LATER = """SELECT 1 FROM groups WHERE group_id = :group AND recorded_at > min(:now, :recorded_until)"""
"""Something was written after the instant that is asked about."""
_KEPT = f"""WITH passing AS MATERIALIZED (
    SELECT l.entity_uuid AS uuid, l.other_uuid AS other, max(l.at) AS at
    FROM relevant_link l INDEXED BY relevant_link_ends
    WHERE l.project_uuid = :project AND NOT l.is_steady AND l.ends > :now AND l.starts <= :now
    GROUP BY l.entity_uuid, l.other_uuid),
  more AS MATERIALIZED (SELECT uuid, sum(connections) AS connections, max(at) AS linked_at FROM (
      SELECT p.uuid, p.at, NOT EXISTS (SELECT 1 FROM relevant_link l WHERE l.project_uuid = :project
        AND l.entity_uuid = p.uuid AND l.other_uuid = p.other AND l.is_steady) AS connections FROM passing p
      UNION ALL SELECT value, NULL, 0 FROM json_each(:pins))
    GROUP BY uuid),
  counted AS (
    SELECT r.entity_uuid AS uuid, r.mentions, r.connections + coalesce(x.connections, 0) AS connections,
      r.mentioned_at, max(coalesce(r.linked_at, {DAWN}), coalesce(x.linked_at, {DAWN})) AS linked_at
    FROM relevant_to r LEFT JOIN more x ON x.uuid = r.entity_uuid
    WHERE r.project_uuid = :project AND r.entity_uuid <> :project AND r.is_named
    UNION ALL SELECT x.uuid, 0, x.connections, NULL, x.linked_at
    FROM more x JOIN entity n ON n.uuid = x.uuid AND n.group_id = :group WHERE x.uuid <> :project AND {named("x.uuid")}
      AND NOT EXISTS (SELECT 1 FROM relevant_to r WHERE r.project_uuid = :project AND r.entity_uuid = x.uuid))"""
_OPEN = f"""f.source_uuid <> f.target_uuid AND +f.group_id = :group AND f.kind <> 'plan' AND NOT f.voided
  AND +f.created_at <= :recorded_until AND (f.expired_at IS NULL OR f.expired_at > :recorded_until)
  AND coalesce(f.invalid_at, {DUSK}) > :now AND coalesce(f.valid_at, :now) <= :now"""
_AT = "coalesce(f.valid_at, f.reference_time, f.created_at)"
_ANEW = f"""WITH mentioned AS MATERIALIZED (
    SELECT * FROM (SELECT m.entity_uuid AS uuid, count(*) AS mentions, max(m.valid_at) AS last
      FROM entry y CROSS JOIN mention m ON m.episode_uuid = y.uuid
      WHERE y.project_uuid = :project AND m.entity_uuid <> :project AND m.recorded_at <= :recorded_until
        AND m.created_at <= :recorded_until
      GROUP BY m.entity_uuid LIMIT -1) g WHERE {named("g.uuid")}),
  linked AS MATERIALIZED (
    SELECT uuid, count(DISTINCT other) AS connections, max(at) AS last FROM (
      SELECT f.source_uuid AS uuid, o.uuid AS other, {_AT} AS at
      FROM mentioned o CROSS JOIN fact f ON f.target_uuid = o.uuid WHERE {_OPEN}
      UNION ALL SELECT f.target_uuid, o.uuid, {_AT}
      FROM mentioned o CROSS JOIN fact f ON f.source_uuid = o.uuid WHERE {_OPEN})
    GROUP BY uuid),
  counted AS (SELECT n.uuid, coalesce(m.mentions, 0) AS mentions, coalesce(l.connections, 0) AS connections,
      m.last AS mentioned_at, l.last AS linked_at
    FROM (SELECT uuid FROM mentioned UNION SELECT uuid FROM linked UNION SELECT value FROM json_each(:pins)) x
    CROSS JOIN entity n ON n.uuid = x.uuid
    LEFT JOIN mentioned m ON m.uuid = n.uuid LEFT JOIN linked l ON l.uuid = n.uuid
    WHERE n.group_id = :group AND n.uuid <> :project AND {named("n.uuid")})"""
_OF_PROJECT = "SELECT 1 FROM relevant_to r WHERE r.entity_uuid = c.uuid AND r.mentions > 0"
_SCORE = f"""CAST(round(coalesce((SELECT share FROM most) * ln(1 + c.mentions), 0)
      + {SCALE * CONNECTIONS} * c.connections / (c.connections + {HALF_OF_CONNECTIONS})
      + {SCALE * ACTIVITY} * coalesce(pow(0.5, max(:now - c.last, 0) / {HALF_LIFE_DAYS * 86_400e6}), 0)
      + {SCALE * PIN} * c.is_pinned) AS INTEGER)"""
_SCORED = f""", most AS MATERIALIZED (
    SELECT m AS mentions, CASE WHEN m > 0 THEN {SCALE * MENTIONS} / ln(1 + m) END AS share
    FROM (SELECT coalesce(max(mentions), 0) AS m FROM counted)),
  candidate AS (SELECT c.*, c.mentions > 0 AS is_primary, c.uuid IN (SELECT value FROM json_each(:pins)) AS is_pinned,
      nullif(max(coalesce(mentioned_at, {DAWN}), min(coalesce(linked_at, {DAWN}), :now)), {DAWN}) AS last
    FROM counted c),
  scored AS MATERIALIZED (
    SELECT c.uuid, c.mentions, c.connections, c.is_primary, c.is_pinned, c.last, {_SCORE} AS score
    FROM candidate c WHERE c.is_primary OR c.is_pinned OR :archived = '[]' OR NOT EXISTS ({_OF_PROJECT})
      OR EXISTS ({_OF_PROJECT} AND r.project_uuid NOT IN (SELECT value FROM json_each(:archived))))"""


def _totals(part: int) -> str:
    """How many pass the threshold and do not, and the most mentions; sorting by part would read all a second time."""
    return f"""SELECT {part} AS is_primary, NULL AS uuid, '' AS name, NULL AS label,
      coalesce(sum(score >= :threshold), 0) AS mentions, coalesce(sum(score < :threshold), 0) AS connections,
      0 AS is_pinned, NULL AS last, (SELECT mentions FROM most) AS score
    FROM scored WHERE is_primary = {part}"""


def relevant(
    db: sqlite3.Connection, wanted: RelevanceFilter, primary: Window | None, secondary: Window | None
) -> RelevanceParts:
    """Totals of both parts, and a page of each that has a window."""
    parameters: dict[str, object] = {
        "project": wanted.project_uuid,
        "group": wanted.group_id,
        "now": micros(wanted.now),
        "recorded_until": DUSK if wanted.recorded_until is None else micros(wanted.recorded_until),
        "threshold": wanted.threshold,
        "pins": as_list(wanted.pins),
        "archived": as_list(wanted.archived),
    }
    pages = [
        _page_of(parameters, window, is_primary=is_primary)
        for is_primary, window in ((1, primary), (0, secondary))
        if window is not None
    ]
    is_past = db.execute(_LATER, parameters).fetchone() is not None
    asked = " UNION ALL ".join((_totals(1), _totals(0), *pages))
    found = db.execute(f"{_ANEW if is_past else _KEPT}{_SCORED} {asked}", parameters).fetchall()
    totals = {row["is_primary"]: row for row in found if row["uuid"] is None}
    parts = [
        RelevantPart(
            entities=tuple(_scored(row) for row in found if row["uuid"] and row["is_primary"] == part),
            total=totals[part]["mentions"],
            below=totals[part]["connections"],
        )
        for part in (1, 0)
    ]
    return RelevanceParts(primary=parts[0], secondary=parts[1], most_mentions=totals[1]["score"])


def _page_of(parameters: dict[str, object], window: Window, *, is_primary: int) -> str:
    """The statement's part for a page; its parameters are added. Names are read of those that may be on the page."""
    last, beyond = "", ""
    if window.after is not None:
        keys = [f"c{is_primary}{place}" for place in range(3)]
        last = f"AND score < :{keys[0]}"
        beyond = "AND (s.score < :{0} OR (s.score = :{0} AND (n.name, n.uuid) > (:{1}, :{2})))".format(*keys)
        parameters.update(zip(keys, window.after, strict=True))
    parameters[f"limit{is_primary}"] = window.limit
    return f"""SELECT * FROM (
      SELECT s.is_primary, s.uuid, n.name, n.label, s.mentions, s.connections, s.is_pinned, s.last, s.score
      FROM scored s JOIN entity n ON n.uuid = s.uuid AND n.group_id = :group
      WHERE s.is_primary = {is_primary} AND s.score >= :threshold {beyond} AND s.score >= coalesce((
        SELECT score FROM scored WHERE +is_primary = {is_primary} {last}
        ORDER BY score DESC LIMIT 1 OFFSET :limit{is_primary} - 1), 0)
      ORDER BY s.score DESC, n.name, n.uuid LIMIT :limit{is_primary})"""


def _scored(row: Row) -> Relevant:
    return Relevant(
        uuid=row["uuid"],
        name=row["name"],
        label=row["label"],
        mentions=row["mentions"],
        connections=row["connections"],
        last_active=known_moment(row["last"]),
        is_pinned=bool(row["is_pinned"]),
        score=row["score"],
    )
