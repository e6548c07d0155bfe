"""Offers names and uuids for what a person has typed of them so far."""

import re
from collections.abc import Iterable, Sequence

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import fold, typed_terms
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, Window
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.core.ports.graph import RecordKind
from graphiti_pkm.core.reading.paging import MOST_OFFERED
from graphiti_pkm.core.reading.reader import Reader

_UUID = re.compile(r"[0-9a-f]{1,8}(-[0-9a-f-]*)?")
_LONGEST = 200


class Completing(Reader):
    """The part of exploring that completes the arguments of prompts and of resource templates."""

    async def complete_name(self, caller: Caller, typed: str) -> list[str]:
        """Names of entities, those that begin with what was typed before those with a later word that does."""
        entities = await self._beginning(await self._groups.own(caller), typed)
        names = dict.fromkeys(entity.name for entity in entities)
        return sorted(names, key=lambda name: (not fold(name).startswith(fold(typed)), fold(name), name))

    async def complete_entity(self, caller: Caller, typed: str) -> list[str]:
        """Uuids of entities, by their own beginning or by that of a name."""
        own = await self._groups.own(caller)
        named = [entity.uuid for entity in await self._beginning(own, typed)]
        return _at_most(await self._uuids("entity", typed, own), named)

    async def complete_episode(self, caller: Caller, typed: str) -> list[str]:
        """Uuids of episodes; the newest while nothing was typed."""
        own = await self._groups.own(caller)
        if typed.strip():
            return await self._uuids("episode", typed, own)
        wanted = EpisodeFilter(group_ids=own)
        return [
            one.uuid
            for one in (await self._graph.episodes.recent_episodes(wanted, Window(limit=MOST_OFFERED))).episodes
        ]

    async def _uuids(self, kind: RecordKind, typed: str, group_ids: Sequence[str]) -> list[str]:
        beginning = typed.strip().lower()
        if not _UUID.fullmatch(beginning):
            return []
        return await self._graph.records.find_uuids(kind, beginning, group_ids, MOST_OFFERED)

    async def _beginning(self, group_ids: Sequence[str], typed: str) -> list[Entity]:
        """Entities of whose names a word begins with what was typed."""
        wanted, typed = EntityFilter(group_ids=tuple(group_ids)), typed[:_LONGEST]
        if terms := typed_terms(typed):
            hits = list(await self._graph.search.search_entities(terms, wanted, MOST_OFFERED))
            found = await self._graph.records.get_entities(hits, group_ids)
        else:  # too short for the index of words: by the order of names, as typed and as names are written
            found = []
            for start in dict.fromkeys((typed.strip(), typed.strip().title())):
                window = Window(limit=MOST_OFFERED, after=(start, "") if start else None)
                found += (await self._graph.records.entity_page(wanted, window))[0]
        return [entity for entity in found if f" {fold(typed)}".rstrip() in f" {fold(entity.name)}"]


def _at_most(*lists: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(one for given in lists for one in given))[:MOST_OFFERED]
