"""Counters of fitness in the embedded file: they are those of the journal, which is in the same file."""

import sqlite3
from collections.abc import Sequence

from graphiti_pkm.core.model.fitness import Fitness, Usage
from graphiti_pkm.core.ports.usage import Searched
from graphiti_pkm.storage.graph.sqlite import vectors
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, as_list


class SqliteGraphUsage(SqlitePart):
    """The port ``GraphUsage``."""

    async def cosines(self, searches: Sequence[Searched]) -> list[dict[str, float]]:
        return await self._file.read(lambda db: _cosines(db, searches))

    async def send(self, totals: Sequence[Usage], _server: str) -> set[str]:
        """Nothing is stored a second time."""
        return await self._file.read(lambda db: _existing(db, totals))

    async def fitness(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Fitness]:
        return await self._file.read(lambda db: _fitness(db, uuids, group_ids))


def _cosines(db: sqlite3.Connection, searches: Sequence[Searched]) -> list[dict[str, float]]:
    import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

    known = vectors.of_records(db, [uuid for search in searches for uuid, _ in search.returned])
    found: list[dict[str, float]] = []
    for search in searches:
        asked = np.asarray(search.vector, np.float32)
        asked /= np.linalg.norm(asked)
        of = {uuid: known[uuid] for uuid, _ in search.returned if uuid in known}
        found.append({uuid: float(asked @ vector) for uuid, vector in of.items() if len(vector) == len(asked)})
    return found


def _existing(db: sqlite3.Connection, totals: Sequence[Usage]) -> set[str]:
    text = """SELECT n.uuid, n.group_id FROM json_each(?1) u JOIN entity n ON n.uuid = u.value
      UNION SELECT f.uuid, f.group_id FROM json_each(?1) u JOIN fact f ON f.uuid = u.value
      UNION SELECT r.uuid, r.group_id FROM json_each(?1) u JOIN former_uuid r ON r.uuid = u.value"""
    found = {(row[0], row[1]) for row in db.execute(text, (as_list([one.uuid for one in totals]),))}
    return {one.uuid for one in totals if (one.uuid, one.group_id) in found}


def _fitness(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Fitness]:
    """What was merged into an entity counts with it, under the uuid that it had."""
    text = f"""WITH asked (uuid, counted) AS (
        SELECT value, value FROM json_each(:uuids)
        UNION ALL SELECT r.entity_uuid, r.uuid FROM json_each(:uuids) u JOIN former_uuid r ON r.entity_uuid = u.value)
      SELECT a.uuid, coalesce(sum(m.hits), 0), coalesce(sum(m.relevance), 0.0), coalesce(sum(m.useful), 0),
        coalesce(q.bias, 0.0) FROM asked a
      LEFT JOIN usage m ON m.uuid = a.counted AND m.group_id {IN_GROUPS}
      LEFT JOIN quality q ON q.uuid = a.uuid AND q.group_id {IN_GROUPS}
      GROUP BY a.uuid HAVING count(m.uuid) OR q.bias IS NOT NULL"""
    found = db.execute(text, {"uuids": as_list(dict.fromkeys(uuids)), "groups": as_list(group_ids)})
    return {row[0]: Fitness(hits=row[1], relevance=row[2], useful=row[3], bias=row[4]) for row in found}
