"""The part ``changes``: what became of facts."""

from collections.abc import Sequence

from graphiti_pkm.core.model.records import RecordedChange
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import changes as queries_changes


class Changes(Part):
    """The port ``GraphChanges``."""

    async def fact_changes(
        self, fact_uuids: Sequence[str], group_ids: Sequence[str], limit_each: int
    ) -> dict[str, list[RecordedChange]]:
        wanted = [queries_changes.fact_changes(uuid, group_ids, limit_each) for uuid in fact_uuids]
        found = await self._read(*wanted)
        return {uuid: list(map(mapping.change, rows)) for uuid, rows in zip(fact_uuids, found, strict=True)}

    async def replacements(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        found = await self._rows(queries_changes.replacements(fact_uuids, group_ids))
        return {row["fact"]: row["by"] for row in found}

    async def reasons(self, group_id: str, limit: int) -> dict[str, str]:
        found = await self._rows(queries_changes.reasons(group_id, limit))
        return {row["uuid"]: row["reason"] for row in found}
