"""What librarians said of entities: what the capability curation asks."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.curation import FlaggedFilter, FlaggedPage, FlaggedRow, QualityCounts, QualityFilter
from graphiti_pkm.core.model.quality_checks import SIMILAR
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, Quality
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.relevance_schema import named
from graphiti_pkm.storage.graph.sqlite.schema import DUSK
from graphiti_pkm.storage.graph.sqlite.values import (
    ENTITY_COLUMNS,
    IN_GROUPS,
    QUALITY_COLUMNS,
    as_list,
    instant_key,
    micros,
    quality,
)
from graphiti_pkm.storage.graph.sqlite.values import entity as entity_of

_ALONE = f"""NOT EXISTS (SELECT 1 FROM mention m WHERE m.entity_uuid = n.uuid)
  AND NOT EXISTS (SELECT 1 FROM fact f WHERE f.source_uuid = n.uuid)
  AND NOT EXISTS (SELECT 1 FROM fact f WHERE f.target_uuid = n.uuid)
  AND NOT EXISTS (SELECT 1 FROM instance i WHERE i.entity_uuid = n.uuid)
  AND NOT EXISTS (SELECT 1 FROM project p WHERE p.uuid = n.uuid) AND {named("n.uuid")}"""
_ENTITY = "n.name, n.label, n.summary, n.summary_by_model, n.created_at, n.attributes"

_TOLD_AT = """SELECT 1 FROM quality p WHERE p.uuid = s.value AND p.flagged_at <= :until
  AND EXISTS (SELECT 1 FROM json_each(p.similar_to) x WHERE x.value = q.uuid)
  AND (p.flagged_at > q.flagged_at OR (p.flagged_at = q.flagged_at AND p.uuid < q.uuid))"""
_IS_TOLD = f"""(q.flag_reason = :similar
  AND EXISTS (SELECT 1 FROM json_each(q.similar_to) s WHERE EXISTS ({_TOLD_AT}))
  AND NOT EXISTS (SELECT 1 FROM json_each(q.similar_to) s JOIN entity e ON e.uuid = s.value
    WHERE NOT EXISTS ({_TOLD_AT})))"""
"""Whether all that a flag for likeness says is said at others, as ``is_told_at`` has it."""


class SqliteCuration(SqlitePart):
    """The port ``GraphCuration``."""

    async def qualities(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Quality]:
        return await self._file.read(lambda db: _qualities(db, entity_uuids, group_ids))

    async def flagged(self, wanted: FlaggedFilter, window: Window) -> FlaggedPage:
        return await self._file.read(lambda db: _flagged(db, wanted, window))

    async def quality_counts(self, wanted: QualityFilter) -> QualityCounts:
        return await self._file.read(lambda db: _counts(db, wanted))

    async def orphans(self, group_id: str, window: Window, among: Sequence[str] | None = None) -> list[Entity]:
        given = "" if among is None else "AND n.uuid IN (SELECT value FROM json_each(:among))"
        parameters: dict[str, object] = {"group": group_id, "among": as_list(among or ())}
        return await self._entities(f"n.group_id = :group {given} AND {_ALONE}", parameters, window)

    async def rated_below(self, group_id: str, confidence: float, window: Window) -> list[Quality]:
        (after,) = window.after or ("",)
        found = await self._file.read(
            lambda db: db.execute(
                f"""SELECT {QUALITY_COLUMNS} FROM quality q WHERE q.group_id = :group AND q.confidence < :below
                AND q.uuid > :after ORDER BY q.uuid LIMIT :limit""",
                {"group": group_id, "below": confidence, "after": after, "limit": window.limit},
            ).fetchall()
        )
        return list(map(quality, found))

    async def made_since(self, group_id: str, since: datetime, window: Window) -> list[Entity]:
        parameters = {"group": group_id, "since": micros(since)}
        return await self._entities("n.group_id = :group AND n.created_at >= :since", parameters, window)

    async def _entities(self, where: str, parameters: dict[str, object], window: Window) -> list[Entity]:
        (after,) = window.after or ("",)
        found = await self._file.read(
            lambda db: db.execute(
                f"SELECT {ENTITY_COLUMNS} FROM entity n WHERE {where} AND n.uuid > :after ORDER BY n.uuid LIMIT :limit",
                {**parameters, "after": after, "limit": window.limit},
            ).fetchall()
        )
        return list(map(entity_of, found))


def _qualities(db: sqlite3.Connection, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Quality]:
    found = db.execute(
        f"""SELECT {QUALITY_COLUMNS} FROM json_each(:uuids) u JOIN quality q ON q.uuid = u.value
        WHERE q.group_id {IN_GROUPS}""",
        {"uuids": as_list(dict.fromkeys(entity_uuids)), "groups": as_list(group_ids)},
    )
    return {row["uuid"]: quality(row) for row in found}


def _flagged(db: sqlite3.Connection, wanted: FlaggedFilter, window: Window) -> FlaggedPage:
    where = f"q.group_id {IN_GROUPS} AND q.flagged_at IS NOT NULL AND q.flagged_at <= :until AND NOT {_IS_TOLD}"
    parameters: dict[str, object] = {
        "groups": as_list(wanted.group_ids),
        "until": DUSK if wanted.recorded_until is None else micros(wanted.recorded_until),
        "similar": SIMILAR,
        "limit": window.limit,
    }
    (total,) = db.execute(f"SELECT count(*) FROM quality q WHERE {where}", parameters).fetchone()
    further = ""
    if window.after is not None:
        further = "AND (q.flagged_at < :c0 OR (q.flagged_at = :c0 AND q.uuid > :c1))"
        parameters |= {"c0": instant_key(window.after[0]), "c1": window.after[1]}
    found = db.execute(
        f"""SELECT {QUALITY_COLUMNS}, {_ENTITY} FROM quality q JOIN entity n ON n.uuid = q.uuid
        WHERE {where} {further} ORDER BY q.flagged_at DESC, q.uuid LIMIT :limit""",
        parameters,
    ).fetchall()
    return FlaggedPage(
        rows=tuple(FlaggedRow(quality=quality(row), entity=entity_of(row)) for row in found),
        keys=tuple((row["flagged_at"], row["uuid"]) for row in found),
        total=total,
    )


_CREATORS = f"""FROM quality q JOIN entity n ON n.uuid = q.uuid
  JOIN write_origin o ON o.group_id = n.group_id AND o.recorded_at = n.created_at
  WHERE q.group_id {IN_GROUPS} AND q.confidence < :below AND substr(o.created_by, 1, length(:prefix)) = :prefix"""


def _counts(db: sqlite3.Connection, wanted: QualityFilter) -> QualityCounts:
    parameters = {
        "groups": as_list(wanted.group_ids),
        "below": wanted.below,
        "prefix": wanted.creator_prefix,
        "limit": wanted.limit,
    }
    flagged, rated, low = db.execute(
        f"""SELECT count(q.flagged_at), count(q.confidence), count(CASE WHEN q.confidence < :below THEN 1 END)
        FROM quality q WHERE q.group_id {IN_GROUPS}""",
        parameters,
    ).fetchone()
    entities, orphans = db.execute(
        f"""SELECT count(*), count(CASE WHEN {_ALONE} THEN 1 END) FROM entity n
        WHERE n.group_id {IN_GROUPS}""",
        parameters,
    ).fetchone()
    creators = db.execute(
        f"SELECT o.created_by, count(*) {_CREATORS} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :limit", parameters
    ).fetchall()
    (total,) = db.execute(f"SELECT count(DISTINCT o.created_by) {_CREATORS}", parameters).fetchone()
    return QualityCounts(
        entities=entities,
        flagged=flagged,
        rated=rated,
        low=low,
        orphans=orphans,
        creators=tuple((row[0], row[1]) for row in creators),
        creators_total=total,
    )
