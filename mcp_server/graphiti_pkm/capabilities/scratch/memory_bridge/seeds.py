"""Finds the entities from which a load starts: named ones, matches of queries, whom episodes mention, whole groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphiti_pkm.capabilities.scratch.requests import LoadMemoryGraph
from graphiti_pkm.capabilities.search.facts import labels_of
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import normalise_name, search_terms
from graphiti_pkm.core.model.queries import EntityFilter, Window
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.core.reading.candidates import PERSON_WORDS, POOL, checked_text
from graphiti_pkm.core.reading.ranking import ranked
from graphiti_pkm.core.reading.reader import NOTHING_OF_ME
from graphiti_pkm.errors import InvalidInput, NotFound

MIN_COSINE = 0.4
"""The minimum cosine of a start entity that contains no word of the query. With MiniLM, unrelated queries ("zzzz quux",
"penguin migration") reached at most 0.32, related ones ("jogging" and Berlin Marathon) at least 0.42."""
MOST_NAMED = 50
_FOUND = 10
"""The most entities from which one query starts."""
_RANKED = 2_000
"""Entities of groups of which the best connected are taken: the first by name."""


@dataclass(frozen=True)
class Seeds:
    """The entities from which a load starts, and the groups that it reads."""

    entities: Sequence[Entity]
    group_ids: tuple[str, ...]
    asked: tuple[str, ...]
    """What was asked for, in words that are the same for the same question."""
    note: str | None = None
    named: frozenset[str] = frozenset()
    """Those whose uuids were given: they are loaded whatever memory knows of them."""
    left_out: int = 0
    """Entities that fitted and are too many."""


class SeedSearch(Searching):
    """The ranking of ``search_nodes`` without results that are merely the nearest, and other ways to start."""

    async def seeds(self, caller: Caller, request: LoadMemoryGraph) -> Seeds:
        """At most ``limit`` entities.

        Raises:
            InvalidInput: nothing says where to start, too many uuids are given, or a query has no word.
            NotFound: the caller can see no entity or episode with a given uuid.
        """
        groups = self._groups.searched(caller, request.group_ids)
        wanted = EntityFilter(group_ids=groups, labels=labels_of(request.entity_types or ()))
        parts = []
        if request.entity_uuids:
            parts.append(await self._named_ones(caller, request))
        if request.episode_uuids:
            parts.append(await self._mentioned(caller, request, wanted))
        parts += [await self._fitting_best(query, wanted, request.limit) for query in request.query or ()]
        if not parts:
            if not wanted.labels and request.group_ids is None:
                raise InvalidInput(
                    "Nothing was loaded: give entity_uuids (search_nodes finds them), a query, episode_uuids, "
                    "entity_types, or group_ids alone for all of them."
                )
            parts.append(await self._best_connected(wanted, request.limit))
        found = {one.uuid: one for part in parts for one in part.entities}
        entities = list(found.values())
        return Seeds(
            entities[: request.limit],
            tuple(dict.fromkeys(group for part in parts for group in part.group_ids)) or groups,
            tuple(sorted(one for part in parts for one in part.asked)) + wanted.labels,
            " ".join(dict.fromkeys(part.note for part in parts if part.note)) or None,
            frozenset(uuid for part in parts for uuid in part.named),
            sum(part.left_out for part in parts) + len(entities[request.limit :]),
        )

    async def _fitting_best(self, query: str, wanted: EntityFilter, limit: int) -> Seeds:
        scores, words = await self._node_scores(checked_text("query", query), wanted, None, self._context.now())
        uuids = [uuid for uuid, _ in ranked(scores.by_uuid)]
        if search_terms(query, 1):
            fitting = await self._fitting(query, wanted)
            uuids = [uuid for uuid in uuids if uuid in fitting]
        uuids = uuids[: min(_FOUND, limit)]
        found = {one.uuid: one for one in await self._graph.records.get_entities(uuids, wanted.group_ids)}
        return Seeds(
            [found[uuid] for uuid in uuids if uuid in found], wanted.group_ids, (query,), words.note if words else None
        )

    async def _fitting(self, query: str, wanted: EntityFilter) -> set[str]:
        """Entities with the query as name, with a word of it, or with a similar meaning."""
        named = await self._candidates.named([query], wanted)
        words = await self._candidates.query(query)
        hits = await self._graph.search.search_entities(words.terms, wanted, POOL)
        near = await self._graph.search.nearest_entities(words.vector, wanted, POOL) if words.vector else {}
        return {
            *(one.uuid for one in named[query]),
            *hits,
            *(uuid for uuid, cosine in near.items() if cosine >= MIN_COSINE),
        }

    async def _named_ones(self, caller: Caller, request: LoadMemoryGraph) -> Seeds:
        """Without groups those of the entities are read."""
        uuids = list(dict.fromkeys(request.entity_uuids or ()))
        if len(uuids) > min(MOST_NAMED, request.limit):
            most = min(MOST_NAMED, request.limit)
            raise InvalidInput(f"Nothing was loaded: at most {most} entity_uuids, not {len(uuids)}.")
        wanted, visible, searched = await self._places(caller, request)
        whole = [await self._whole(caller, uuid, wanted, visible) for uuid in uuids]
        entities = await self._graph.records.get_entities(list(dict.fromkeys(whole)), searched)
        known = {one.uuid for one in entities}
        for uuid in whole:
            if uuid not in known and not await self._graph.records.get_entities([uuid], searched):
                raise unknown("entity", uuid)
        groups = wanted or tuple(dict.fromkeys(one.group_id for one in entities))
        return Seeds(entities, groups, tuple(sorted(known)), named=frozenset(known))

    async def _places(
        self, caller: Caller, request: LoadMemoryGraph
    ) -> tuple[tuple[str, ...] | None, tuple[str, ...], tuple[str, ...]]:
        """The groups that are named, those that are visible, and those in which uuids are looked up."""
        wanted, visible = self._groups.many(caller, request.group_ids), await self._groups.visible(caller)
        return wanted, visible, visible if wanted is None else tuple(group for group in wanted if group in visible)

    async def _whole(self, caller: Caller, uuid: str, wanted: tuple[str, ...] | None, visible: tuple[str, ...]) -> str:
        if normalise_name(uuid) in PERSON_WORDS:
            person = await self._person_uuid(caller, wanted or (self._groups.one(caller, None),))
            if person is None:
                raise NotFound(f"Nothing was loaded: {NOTHING_OF_ME}.")
            uuid = person
        return await resolve_within(self._graph, visible, "entity", uuid)

    async def _mentioned(self, caller: Caller, request: LoadMemoryGraph, wanted: EntityFilter) -> Seeds:
        """Whom episodes mention; without groups those of the episodes are read."""
        given, visible, searched = await self._places(caller, request)
        uuids = [await resolve_within(self._graph, visible, "episode", one) for one in request.episode_uuids or ()]
        episodes = await self._graph.records.get_episodes(list(dict.fromkeys(uuids)), searched)
        known = {one.uuid for one in episodes}
        for uuid in uuids:
            if uuid not in known:
                raise unknown("episode", uuid)
        groups = given or tuple(dict.fromkeys(one.group_id for one in episodes))
        every, total = await self._graph.episodes.episode_entities(sorted(known), groups, Window(limit=_RANKED))
        kept = wanted.model_copy(update={"group_ids": groups, "uuids": tuple(one.uuid for one in every)})
        found = await self._best_connected(kept, request.limit)
        return replace(found, asked=tuple(sorted(known)), left_out=found.left_out + total - len(every))

    async def _best_connected(self, wanted: EntityFilter, limit: int) -> Seeds:
        """The entities under a filter with most facts and mentions."""
        found, total = await self._graph.records.entity_page(wanted, Window(limit=_RANKED))
        support = await self._graph.records.entity_support([one.uuid for one in found]) if total > limit else {}

        def rank(one: Entity) -> tuple[int, int, str, str]:
            mentions, facts = support.get(one.uuid, (0, 0))
            return -facts, -mentions, one.name, one.uuid

        kept = sorted(found, key=rank)[:limit]
        return Seeds(kept, wanted.group_ids, ("all",), left_out=total - len(kept))
