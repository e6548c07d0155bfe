"""Bookmarks in the graph: facts of one relation, for both kinds of store."""

import json
from collections.abc import Sequence

from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart

_MATCH = """MATCH ()-[e:RELATES_TO]->(n:Entity)
WHERE e.group_id IN $groups AND e.name = 'BOOKMARKED' AND e.expired_at IS NULL"""
_PAGE = f"""{_MATCH}
RETURN n.uuid AS entity_uuid, n.name AS name, e.fact AS note, e.uuid AS fact_uuid
ORDER BY e.created_at DESC, fact_uuid LIMIT $limit"""
_TOTAL = f"{_MATCH} RETURN count(e) AS total"
_SQL = """FROM fact f JOIN entity n ON n.uuid = f.target_uuid
WHERE f.group_id IN (SELECT value FROM json_each(:groups)) AND f.relation = 'BOOKMARKED' AND f.expired_at IS NULL"""
_SQL_PAGE = f"""SELECT n.uuid AS entity_uuid, n.name AS name, f.text AS note, f.uuid AS fact_uuid {_SQL}
ORDER BY f.created_at DESC, f.uuid LIMIT :limit"""


class CypherBookmarks(Part):
    """The port ``BookmarkPort``."""

    async def bookmarks(self, group_ids: Sequence[str], limit: int) -> tuple[list[Row], int]:
        values = {"groups": list(group_ids), "limit": limit}
        page, total = await (await self._db()).read(
            Query("bookmarks", _PAGE, values), Query("count bookmarks", _TOTAL, {"groups": list(group_ids)})
        )
        return page, total[0]["total"]


class SqliteBookmarks(SqlitePart):
    """The port ``BookmarkPort``."""

    async def bookmarks(self, group_ids: Sequence[str], limit: int) -> tuple[list[Row], int]:
        values = {"groups": json.dumps(list(group_ids)), "limit": limit}
        page = await self._file.read(lambda db: [dict(row) for row in db.execute(_SQL_PAGE, values)])
        (total,) = await self._file.read(lambda db: db.execute(f"SELECT count(*) {_SQL}", values).fetchone())
        return page, int(total)
