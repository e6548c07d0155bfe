"""Communities of entities: what the capability sagas asks."""

from collections.abc import Sequence

from graphiti_pkm.core.model.saga_records import Community
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import sagas as queries_sagas


class Communities(Part):
    """The port ``GraphCommunities``."""

    async def joined_entities(self, group_id: str, limit: int) -> list[tuple[str, str, int]]:
        found = await self._rows(queries_sagas.joined(group_id, limit))
        return [(row["one"], row["other"], int(row["facts"])) for row in found]

    async def communities(self, group_ids: Sequence[str], limit: int) -> list[Community]:
        found = await self._rows(queries_sagas.communities(group_ids, limit))
        return [
            Community(
                **{key: row[key] for key in ("uuid", "group_id", "name", "summary", "members")},
                created_at=mapping.instant(row["created_at"] or mapping.EPOCH),
            )
            for row in found
        ]
