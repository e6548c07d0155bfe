"""The part ``comparison``: all that the graph holds, by uuid."""

from collections.abc import Sequence

from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries.values import Query

_WRITE_COUNT = Query("count markers", "MATCH (w:Write) RETURN count(w) AS count", {})
_EPISODE_COUNT = Query("count episodes", "MATCH (e:Episodic) RETURN count(e) AS count", {})
_WRITES = "MATCH (w:Write) WHERE w.uuid > $after RETURN w.uuid AS uuid ORDER BY uuid LIMIT $limit"
_EPISODES = "MATCH (e:Episodic) WHERE e.uuid > $after RETURN e.uuid AS uuid ORDER BY uuid LIMIT $limit"
_EXISTING_EPISODES = "UNWIND $uuids AS u MATCH (e:Episodic {uuid: u}) RETURN DISTINCT e.uuid AS uuid"


class Comparison(Part):
    """The port ``GraphComparison``."""

    async def write_count(self) -> int:
        found = await self._rows(_WRITE_COUNT)
        return int(found[0]["count"])

    async def episode_count(self) -> int:
        found = await self._rows(_EPISODE_COUNT)
        return int(found[0]["count"])

    async def writes_after(self, uuid: str, limit: int) -> list[str]:
        return await self._uuids(Query("markers after", _WRITES, {"after": uuid, "limit": limit}))

    async def episodes_after(self, uuid: str, limit: int) -> list[str]:
        return await self._uuids(Query("episodes after", _EPISODES, {"after": uuid, "limit": limit}))

    async def existing_episodes(self, uuids: Sequence[str]) -> set[str]:
        return set(await self._uuids(Query("held episodes", _EXISTING_EPISODES, {"uuids": list(uuids)})))

    async def _uuids(self, query: Query) -> list[str]:
        found = await self._rows(query)
        return [row["uuid"] for row in found]
