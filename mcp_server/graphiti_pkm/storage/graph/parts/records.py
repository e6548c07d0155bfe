"""The part ``records``: by uuid, by name and by group."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import EntityFilter, GroupSize, NameBook, Window
from graphiti_pkm.core.model.records import Entity, Episode, Fact, Name, Origin
from graphiti_pkm.core.ports.graph import RecordKind
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.ordering import as_asked, in_order
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import merging as queries_merging
from graphiti_pkm.storage.graph.queries import read as queries_read

WHOLE_UUID = 36
_KEY_SEPARATOR = "\x1f"


class Records(Part):
    """The port ``GraphRecords``."""

    async def groups(self) -> list[str]:
        found = await self._rows(queries_read.GROUPS)
        return [row["id"] for row in found]

    async def find_uuids(self, kind: RecordKind, prefix: str, group_ids: Sequence[str], limit: int) -> list[str]:
        query = (
            queries_read.whole_uuid(kind, prefix, group_ids)
            if len(prefix) >= WHOLE_UUID
            else queries_read.uuids(kind, prefix, group_ids, limit)
        )
        asked = [query]
        if kind == "entity":
            asked.append(queries_merging.former_by_prefix(prefix, group_ids, limit))
        found = [row["uuid"] for rows in await self._read(*asked) for row in rows]
        return sorted(found)[:limit]

    async def origins(self, kind: RecordKind, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Origin]:
        if not uuids:
            return {}
        found = await self._rows(queries_read.origins(kind, uuids, group_ids))
        return {row.pop("uuid"): Origin.model_validate(row) for row in found}

    async def get_entities(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Entity]:
        held = await self._entities(uuids, group_ids)
        if missing := [uuid for uuid in dict.fromkeys(uuids) if uuid not in held]:
            found = await self._rows(queries_merging.now(missing, group_ids))
            now = {row["uuid"]: row["now"] for row in found}
            others = await self._entities(list(dict.fromkeys(now.values())), group_ids) if now else {}
            held |= {uuid: others[other] for uuid, other in now.items() if other in others}
        return as_asked(uuids, held)

    async def _entities(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Entity]:
        found = await self._rows(queries_read.entities(uuids, group_ids))
        return {entity.uuid: entity for entity in map(mapping.entity, found)}

    async def former_uuids(self, group_id: str) -> dict[str, str]:
        found = await self._rows(queries_merging.former_uuids(group_id))
        return {row["uuid"]: row["now"] for row in found}

    async def get_episodes(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Episode]:
        found = await self._rows(queries_read.episodes(uuids, group_ids))
        return in_order(uuids, map(mapping.episode, found))

    async def get_facts(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Fact]:
        found = await self._rows(queries_read.facts(uuids, group_ids))
        return in_order(uuids, map(mapping.fact, found))

    async def get_names(self, keys: Sequence[str]) -> dict[str, Name]:
        missing: dict[str, set[str]] = defaultdict(set)
        for key in keys:
            missing[key.partition(_KEY_SEPARATOR)[0]].add(key)
        if not missing:
            return {}
        found = await self._rows(queries_read.names(keys, list(missing)))
        names = {row["key"]: mapping.name(row) for row in found[0]["names"]}
        for row in found:
            unknown = missing[row["group"]] - names.keys()
            if unknown and row["entities"] > row["named"]:
                names.update(await self._unnamed(row["group"], unknown))
        return {key: names[key] for key in keys if key in names}

    async def _unnamed(self, group_id: str, keys: set[str]) -> Mapping[str, Name]:
        """Entities that Graphiti created without a ``Name`` of ours; of several with one name the first uuid."""
        normalised = [key.partition(_KEY_SEPARATOR)[2] for key in keys]
        found = await self._rows(queries_read.unnamed(group_id, normalised))
        names: dict[str, Name] = {}
        for row in found:
            key = name_key(group_id, row["name"])
            if key in keys:
                names.setdefault(key, Name(key=key, group_id=group_id, text=row["name"], entity_uuid=row["uuid"]))
        return names

    async def aliases(self, entity_uuids: Sequence[str], limit_each: int) -> dict[str, list[str]]:
        if not entity_uuids:
            return {}
        found = {row["uuid"]: row["texts"] for row in await self._rows(queries_read.aliases(entity_uuids, limit_each))}
        return {uuid: found[uuid] for uuid in entity_uuids}

    async def mentioned(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        found = await self._rows(queries_read.mentioned(pairs)) if pairs else []
        return {(row["one"], row["other"]) for row in found}

    async def apart(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        found = await self._rows(queries_read.apart(pairs)) if pairs else []
        return {(row["one"], row["other"]) for row in found}

    async def name_book(self, group_id: str, known_version: int | None) -> NameBook | None:
        if known_version is not None:
            version = await self._rows(queries_read.names_version(group_id))
            if (version[0]["version"] if version else 0) == known_version:
                return None
        found = await self._rows(queries_read.linkable_names(group_id))
        names = tuple(mapping.name(row) for row in found if row["key"] is not None)
        return NameBook(version=found[0]["version"] if found else 0, names=names)

    async def entity_support(self, entity_uuids: Sequence[str]) -> dict[str, tuple[int, int]]:
        found = await self._rows(queries_read.entity_support(entity_uuids))
        support = {row["uuid"]: (row["mentions"], row["facts"]) for row in found}
        return {uuid: support.get(uuid, (0, 0)) for uuid in entity_uuids}

    async def group_sizes(self, group_ids: Sequence[str]) -> dict[str, GroupSize]:
        wanted = [query for group in group_ids for query in queries_read.group_size(group)]
        counts = [rows[0]["n"] for rows in await self._read(*wanted)]
        return {
            group: GroupSize(episodes=counts[3 * i], entities=counts[3 * i + 1], facts=counts[3 * i + 2])
            for i, group in enumerate(group_ids)
        }

    async def entity_page(self, wanted: EntityFilter, window: Window) -> tuple[list[Entity], int]:
        page, total = await self._read(*queries_read.entity_page(wanted, window))
        return list(map(mapping.entity, page)), total[0]["total"]
