"""Projects and entries: what the capability projects asks."""

import json
import sqlite3
from collections.abc import Sequence

from graphiti_pkm.core.model.projects import ProjectFilter, ProjectPage, ProjectRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entry, Project
from graphiti_pkm.core.model.relevance import RelevanceFilter, RelevanceParts
from graphiti_pkm.storage.graph.sqlite.facts import IS_CURRENT
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.relevance import relevant
from graphiti_pkm.storage.graph.sqlite.schema import DUSK
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, as_list, instant_key, known_moment, micros, moment

_STATUS = f"""(SELECT coalesce(json_extract(f.attributes, '$.word'), f.value, w.name) FROM fact f
  JOIN entity w ON w.uuid = f.target_uuid WHERE f.source_uuid = p.uuid AND f.relation = 'HAS_STATUS'
  AND {IS_CURRENT} = 1 AND f.created_at <= :recorded_until
  ORDER BY f.starts DESC, f.created_at DESC, f.uuid LIMIT 1)"""
_WORD = f"normalised(coalesce({_STATUS}, ''))"


class SqliteProjects(SqlitePart):
    """The port ``GraphProjects``."""

    async def projects(self, wanted: ProjectFilter, window: Window) -> ProjectPage:
        return await self._file.read(lambda db: _page(db, wanted, window))

    async def relevant(
        self, wanted: RelevanceFilter, primary: Window | None, secondary: Window | None
    ) -> RelevanceParts:
        return await self._file.read(lambda db: relevant(db, wanted, primary, secondary))

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


def _projects_of(db: sqlite3.Connection, entity_uuid: str, group_id: str) -> list[str]:
    found = db.execute(
        """SELECT n.name FROM relevant_to r JOIN entity n ON n.uuid = r.project_uuid
        WHERE r.entity_uuid = ? AND r.mentions > 0 AND n.group_id = ? ORDER BY n.name, n.uuid LIMIT 10""",
        (entity_uuid, group_id),
    )
    return [row["name"] for row in found]
