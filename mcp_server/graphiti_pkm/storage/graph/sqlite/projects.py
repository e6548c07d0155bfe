"""Projects and entries: what the capability projects asks."""

import json
import sqlite3
from collections.abc import Sequence

from graphiti_pkm.core.model.projects import ProjectFilter, ProjectPage, ProjectRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entry, Project
from graphiti_pkm.core.model.relevance import SCALE, RelevanceFilter, RelevanceParts, Relevant, RelevantPart, terms_of
from graphiti_pkm.storage.graph.sqlite.facts import IS_CURRENT
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.schema import DAWN, DUSK
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, as_list, instant_key, known_moment, micros, moment

_STATUS = f"""(SELECT coalesce(json_extract(f.attributes, '$.word'), f.value, w.name) FROM fact f
  JOIN entity w ON w.uuid = f.target_uuid WHERE f.source_uuid = p.uuid AND f.relation = 'HAS_STATUS'
  AND {IS_CURRENT} = 1 AND f.created_at <= :recorded_until
  ORDER BY f.starts DESC, f.created_at DESC, f.uuid LIMIT 1)"""
_WORD = f"replace(replace(replace(lowered(coalesce({_STATUS}, '')), ' ', ''), '-', ''), '_', '')"


class SqliteProjects(SqlitePart):
    """The port ``GraphProjects``."""

    async def projects(self, wanted: ProjectFilter, window: Window) -> ProjectPage:
        return await self._file.read(lambda db: _page(db, wanted, window))

    async def relevant(
        self, wanted: RelevanceFilter, primary: Window | None, secondary: Window | None
    ) -> RelevanceParts:
        return await self._file.read(lambda db: _relevant(db, wanted, primary, secondary))

    async def projects_of(self, entity_uuids: Sequence[str], group_id: str) -> dict[str, list[str]]:
        return await self._file.read(lambda db: {uuid: _projects_of(db, uuid, group_id) for uuid in entity_uuids})

    async def entries(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Entry]:
        return await self._file.read(lambda db: _entries(db, episode_uuids, group_ids))


def _page(db: sqlite3.Connection, wanted: ProjectFilter, window: Window) -> ProjectPage:
    parts = [f"p.group_id {IN_GROUPS}", "p.created_at <= :recorded_until"]
    parameters: dict[str, object] = {
        "groups": as_list(wanted.group_ids),
        "now": micros(wanted.now),
        "recorded_until": DUSK if wanted.recorded_until is None else micros(wanted.recorded_until),
        "limit": window.limit,
    }
    if wanted.uuids is not None:
        parts.append("p.uuid IN (SELECT value FROM json_each(:uuids))")
        parameters["uuids"] = as_list(wanted.uuids)
    if wanted.statuses is not None:
        parts.append(f"{_WORD} IN (SELECT value FROM json_each(:statuses))")
        parameters["statuses"] = as_list(wanted.statuses)
    where = " AND ".join(parts)
    (total,) = db.execute(f"SELECT count(*) FROM project p WHERE {where}", parameters).fetchone()
    further = ""
    if window.after is not None:
        further = "AND (p.created_at < :c0 OR (p.created_at = :c0 AND p.uuid > :c1))"
        parameters |= {"c0": instant_key(window.after[0]), "c1": window.after[1]}
    found = db.execute(
        f"""SELECT p.uuid, p.group_id, p.metadata, p.pins, p.created_at, n.name, n.summary, {_STATUS} AS status,
          (SELECT count(*) FROM entry y WHERE y.project_uuid = p.uuid) AS entries,
          (SELECT max(y.valid_at) FROM entry y WHERE y.project_uuid = p.uuid) AS last_entry
        FROM project p JOIN entity n ON n.uuid = p.uuid WHERE {where} {further}
        ORDER BY p.created_at DESC, p.uuid LIMIT :limit""",
        parameters,
    ).fetchall()
    return ProjectPage(
        projects=tuple(map(_row, found)), keys=tuple((row["created_at"], row["uuid"]) for row in found), total=total
    )


def _row(row: Row) -> ProjectRow:
    project = Project(
        uuid=row["uuid"],
        group_id=row["group_id"],
        metadata=row["metadata"],
        pins=tuple(json.loads(row["pins"])),
        created_at=moment(row["created_at"]),
    )
    return ProjectRow(
        project=project,
        name=row["name"],
        description=row["summary"],
        status=row["status"],
        entries=row["entries"],
        last_entry=known_moment(row["last_entry"]),
    )


def _entries(db: sqlite3.Connection, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Entry]:
    found = db.execute(
        f"""SELECT y.uuid, y.group_id, y.type, y.project_uuid, y.metadata, y.links_names FROM json_each(:uuids) u
        JOIN entry y ON y.uuid = u.value WHERE y.group_id {IN_GROUPS}""",
        {"uuids": as_list(dict.fromkeys(episode_uuids)), "groups": as_list(group_ids)},
    )
    return {row["uuid"]: Entry.model_validate({**dict(row), "links_names": bool(row["links_names"])}) for row in found}


_NAMED = """(NOT EXISTS (SELECT 1 FROM name k WHERE k.entity_uuid = {uuid})
  OR EXISTS (SELECT 1 FROM name k WHERE k.entity_uuid = {uuid} AND k.is_linkable))"""
"""Not a value, a measure or the person."""
_OPEN = f"""f.source_uuid <> f.target_uuid AND +f.group_id = :group AND f.kind <> 'plan' AND NOT f.voided
  AND +f.created_at <= :recorded_until AND (f.expired_at IS NULL OR f.expired_at > :recorded_until)
  AND coalesce(f.invalid_at, {DUSK}) > :now AND coalesce(f.valid_at, :now) <= :now"""
_AT = "min(coalesce(f.valid_at, f.reference_time, f.created_at), :now)"
_OF_PROJECT = "JOIN entry y ON y.uuid = m.episode_uuid WHERE m.entity_uuid = n.uuid AND y.project_uuid IS NOT NULL"
_SCORED = f"""WITH mentioned AS MATERIALIZED (
    SELECT * FROM (SELECT m.entity_uuid AS uuid, count(*) AS mentions, max(m.valid_at) AS last
      FROM entry y CROSS JOIN mention m ON m.episode_uuid = y.uuid
      WHERE y.project_uuid = :project AND m.entity_uuid <> :project AND m.recorded_at <= :recorded_until
        AND m.created_at <= :recorded_until
      GROUP BY m.entity_uuid LIMIT -1) g WHERE {_NAMED.format(uuid="g.uuid")}),
  linked AS MATERIALIZED (
    SELECT uuid, count(DISTINCT other) AS connections, max(at) AS last FROM (
      SELECT f.source_uuid AS uuid, o.uuid AS other, {_AT} AS at
      FROM mentioned o CROSS JOIN fact f ON f.target_uuid = o.uuid WHERE {_OPEN}
      UNION ALL SELECT f.target_uuid, o.uuid, {_AT}
      FROM mentioned o CROSS JOIN fact f ON f.source_uuid = o.uuid WHERE {_OPEN})
    GROUP BY uuid),
  most AS MATERIALIZED (SELECT coalesce(max(mentions), 0) AS mentions FROM mentioned),
  candidate AS (SELECT n.uuid, n.name, n.label, coalesce(m.mentions, 0) AS mentions,
      coalesce(l.connections, 0) AS connections, n.uuid IN (SELECT value FROM json_each(:pins)) AS is_pinned,
      m.uuid IS NOT NULL AS is_primary,
      nullif(max(coalesce(m.last, {DAWN}), coalesce(l.last, {DAWN})), {DAWN}) AS last
    FROM (SELECT uuid FROM mentioned UNION SELECT uuid FROM linked UNION SELECT value FROM json_each(:pins)) x
    CROSS JOIN entity n ON n.uuid = x.uuid
    LEFT JOIN mentioned m ON m.uuid = n.uuid LEFT JOIN linked l ON l.uuid = n.uuid
    WHERE n.group_id = :group AND n.uuid <> :project AND {_NAMED.format(uuid="n.uuid")}),
  scored AS MATERIALIZED (
    SELECT n.*, relevance(n.mentions, (SELECT mentions FROM most), n.connections, (:now - n.last) / 86400e6,
      n.is_pinned) AS score
    FROM candidate n WHERE n.is_primary OR n.is_pinned OR :archived = '[]'
      OR NOT EXISTS (SELECT 1 FROM mention m {_OF_PROJECT})
      OR EXISTS (SELECT 1 FROM mention m {_OF_PROJECT}
        AND y.project_uuid NOT IN (SELECT value FROM json_each(:archived))))"""


def _relevant(
    db: sqlite3.Connection, wanted: RelevanceFilter, primary: Window | None, secondary: Window | None
) -> RelevanceParts:
    db.create_function("relevance", 5, _relevance, deterministic=True)
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
    found = db.execute(
        f"""{_SCORED}, counted AS (SELECT is_primary, sum(score >= :threshold) AS total,
              sum(score < :threshold) AS below
            FROM scored GROUP BY is_primary)
          SELECT is_primary, NULL AS uuid, '' AS name, NULL AS label, total AS mentions, below AS connections,
            0 AS is_pinned, NULL AS last, (SELECT mentions FROM most) AS score FROM counted {" ".join(pages)}""",
        parameters,
    ).fetchall()
    totals = {row["is_primary"]: row for row in found if row["uuid"] is None}
    parts = [
        RelevantPart(
            entities=tuple(_scored(row) for row in found if row["uuid"] and row["is_primary"] == part),
            total=totals[part]["mentions"] if part in totals else 0,
            below=totals[part]["connections"] if part in totals else 0,
        )
        for part in (1, 0)
    ]
    most = max((row["score"] for row in totals.values()), default=0)
    return RelevanceParts(primary=parts[0], secondary=parts[1], most_mentions=most)


def _page_of(parameters: dict[str, object], window: Window, *, is_primary: int) -> str:
    """The statement's part for a page; its parameters are added."""
    further = ""
    if window.after is not None:
        keys = [f"c{is_primary}{place}" for place in range(3)]
        further = "AND (score < :{0} OR (score = :{0} AND (name, uuid) > (:{1}, :{2})))".format(*keys)
        parameters.update(zip(keys, window.after, strict=True))
    parameters[f"limit{is_primary}"] = window.limit
    return f"""UNION ALL SELECT * FROM (
      SELECT is_primary, uuid, name, label, mentions, connections, is_pinned, last, score FROM scored
      WHERE is_primary = {is_primary} AND score >= :threshold {further}
      ORDER BY score DESC, name, uuid LIMIT :limit{is_primary})"""


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


def _relevance(mentions: int, most: int, connections: int, days: float | None, is_pinned: int) -> int:
    return round(terms_of(mentions, most, connections, days, is_pinned=bool(is_pinned)).score * SCALE)


def _projects_of(db: sqlite3.Connection, entity_uuid: str, group_id: str) -> list[str]:
    found = db.execute(
        """SELECT n.name FROM (SELECT DISTINCT y.project_uuid AS uuid FROM mention m
          JOIN entry y ON y.uuid = m.episode_uuid WHERE m.entity_uuid = ? AND y.group_id = ?) p
        JOIN entity n ON n.uuid = p.uuid ORDER BY n.name, n.uuid LIMIT 10""",
        (entity_uuid, group_id),
    )
    return [row["name"] for row in found]
