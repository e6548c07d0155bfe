"""Merges of two entities: what the capability curation asks."""

from collections.abc import Sequence

from graphiti_pkm.core.model.merges import MergeHead, MergeSizes
from graphiti_pkm.core.model.records import Fact, Mention, Merge, Name, Project
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import merging as queries_merging
from graphiti_pkm.storage.graph.queries.read import NAME_COLUMNS
from graphiti_pkm.storage.graph.queries.values import Query, Row

_NOTHING: Row = {"facts": 0, "mentions": 0, "entries": 0}


class CypherMerging(Part):
    """The port ``GraphMerging``."""

    async def sizes(self, kept_uuid: str, removed_uuid: str) -> MergeSizes:
        each, (both,) = await self._read(*queries_merging.sizes(kept_uuid, removed_uuid))
        by_uuid = {row["uuid"]: row for row in each}
        kept, removed = by_uuid.get(kept_uuid, _NOTHING), by_uuid.get(removed_uuid, _NOTHING)
        times = [mapping.instant(at) for row in each for name, at in row.items() if name.startswith("newest_") and at]
        return MergeSizes(
            facts=(kept["facts"], removed["facts"]),
            mentions=(kept["mentions"], removed["mentions"]),
            entries=removed["entries"],
            pair=both["pair"],
            newest=max(times, default=None),
        )

    async def facts(self, entity_uuid: str, limit: int, after: str = "") -> list[Fact]:
        return list(map(mapping.fact, await self._rows(queries_merging.facts(entity_uuid, limit, after))))

    async def facts_like(self, entity_uuid: str, facts: Sequence[Fact], limit: int) -> list[Fact]:
        return list(map(mapping.fact, await self._rows(queries_merging.facts_like(entity_uuid, facts, limit))))

    async def open_facts(
        self, entity_uuid: str, others: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Fact]:
        found = await self._rows(queries_merging.open_facts(entity_uuid, others, relations, limit))
        return list(map(mapping.fact, found))

    async def mentions(self, entity_uuid: str, limit: int, after: str = "") -> list[Mention]:
        return await self._mentions(queries_merging.mentions(entity_uuid, limit, after))

    async def mentions_in(self, entity_uuid: str, episode_uuids: Sequence[str]) -> list[Mention]:
        return await self._mentions(queries_merging.mentions_in(entity_uuid, episode_uuids))

    async def _mentions(self, query: Query) -> list[Mention]:
        found = await self._rows(query)
        return [Mention(**{**row, "created_at": mapping.instant(row["created_at"] or mapping.EPOCH)}) for row in found]

    async def entries(self, project_uuid: str, limit: int) -> list[str]:
        return await self._uuids(queries_merging.entries(project_uuid, limit))

    async def evidence(self, entity_uuid: str, limit: int) -> list[str]:
        return await self._uuids(queries_merging.evidence(entity_uuid, limit))

    async def project(self, uuid: str) -> Project | None:
        found = await self._projects(queries_merging.project(uuid))
        return found[0] if found else None

    async def pinning(self, entity_uuid: str, group_id: str, limit: int) -> list[Project]:
        return await self._projects(queries_merging.pinning(entity_uuid, group_id, limit))

    async def _projects(self, query: Query) -> list[Project]:
        return [
            Project(**{**row, "created_at": mapping.instant(row["created_at"]), "pins": tuple(row["pins"] or ())})
            for row in await self._rows(query)
        ]

    async def caused(self, entity_uuid: str, group_id: str, limit: int) -> list[str]:
        return await self._uuids(queries_merging.caused(entity_uuid, group_id, limit))

    async def change_ends(self, entity_uuid: str, limit: int) -> tuple[list[str], list[str]]:
        sources, targets = await self._read(*queries_merging.change_ends(entity_uuid, limit))
        return [row["uuid"] for row in sources], [row["uuid"] for row in targets]

    async def names(self, entity_uuid: str) -> list[Name]:
        return list(map(mapping.name, await self._rows(queries_merging.names(entity_uuid, NAME_COLUMNS))))

    async def apart(self, entity_uuid: str) -> list[tuple[str, str]]:
        return [(row["one"], row["other"]) for row in await self._rows(queries_merging.apart(entity_uuid))]

    async def heads(self, entity_uuid: str | None, group_ids: Sequence[str] | None, limit: int) -> list[MergeHead]:
        found = await self._rows(queries_merging.heads(entity_uuid, group_ids, limit))
        return [MergeHead(**{**row, "recorded_at": mapping.instant(row["recorded_at"])}) for row in found]

    async def part(self, merge_uuid: str, place: int) -> Merge | None:
        for row in await self._rows(queries_merging.part(merge_uuid, place)):
            return Merge.model_validate_json(row["content"])
        return None

    async def _uuids(self, query: Query) -> list[str]:
        return [row["uuid"] for row in await self._rows(query)]
