"""Entities that a load into a scratch graph starts from because they fit a query: none that is merely the nearest."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.queries import EntityFilter
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.core.reading.candidates import POOL, checked_text
from graphiti_pkm.core.reading.ranking import ranked
from graphiti_pkm.core.reading.reader import GroupIds

MIN_COSINE = 0.4
"""Of a start without a word of the query. With MiniLM, names tried by hand had at most 0.32 with queries that nothing
fits ("zzzz quux", "penguin migration"), and from 0.42 on what was meant ("jogging" and Berlin Marathon)."""


@dataclass(frozen=True)
class Starts:
    """Entities to walk from, and the groups in which that is done."""

    entities: Sequence[Entity]
    group_ids: tuple[str, ...]
    note: str | None = None


class StartSearch(Searching):
    """The ranking of ``search_nodes``, cut where nothing fits any more."""

    async def starts(self, caller: Caller, query: str, group_ids: GroupIds, most: int) -> Starts:
        """At most so many, best first. Raises InvalidInput if the query has no word."""
        groups = self._groups.searched(caller, group_ids)
        wanted = EntityFilter(group_ids=groups)
        scores, _, note = await self._node_scores(checked_text("query", query), wanted, None)
        uuids = [uuid for uuid, _ in ranked(scores)]
        if search_terms(query, 1):
            fitting = await self._fitting(query, wanted)
            uuids = [uuid for uuid in uuids if uuid in fitting]
        found = {one.uuid: one for one in await self._graph.get_entities(uuids[:most], groups)}
        return Starts([found[uuid] for uuid in uuids[:most] if uuid in found], groups, note)

    async def _fitting(self, query: str, wanted: EntityFilter) -> set[str]:
        """Those that have the name, a word of the query, or nearly its meaning."""
        named = await self._candidates.named([query], wanted)
        words = await self._candidates.query(query)
        hits = await self._graph.search_entities(words.terms, wanted, POOL)
        near = await self._graph.nearest_entities(words.vector, wanted, POOL) if words.vector else {}
        return {*named[query], *hits, *(uuid for uuid, cosine in near.items() if cosine >= MIN_COSINE)}
