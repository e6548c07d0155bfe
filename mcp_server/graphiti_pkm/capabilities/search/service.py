"""Searches entities and facts by words and meaning, in stable pages."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from graphiti_pkm.capabilities.search.facts import FactSearch, labels_of
from graphiti_pkm.capabilities.search.people import People
from graphiti_pkm.capabilities.search.ports import GraphFlags, GraphNeighbours
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.observations import OBSERVATION, is_observation
from graphiti_pkm.core.facts.roles import role_of
from graphiti_pkm.core.facts.statuses import OPEN, class_of_status, keys_of_class, status_key
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import NodeSearchResponse, NodeView
from graphiti_pkm.core.model.fitness import NO_FITNESS, Fitness
from graphiti_pkm.core.model.names import normalise_name, search_terms
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.core.reading.candidates import PERSON_WORDS, Query, checked_text
from graphiti_pkm.core.reading.fact_lists import joined
from graphiti_pkm.core.reading.paging import NODES, budget, fit
from graphiti_pkm.core.reading.ranking import Scores, lifted
from graphiti_pkm.core.reading.reader import NOBODY_HERE, NOTHING_OF_ME, Start, all_shared
from graphiti_pkm.core.reading.slices import ASKED, found_message, slice_of
from graphiti_pkm.core.reading.views import cut_summaries, item_sizes
from graphiti_pkm.errors import InvalidInput

_EXACT = 1.0
"""Added to the score if the query is the name, and if it was asked for by name: more than any fused score."""
_NAME_CHARS = 200
_OTHER_OPEN = 'Only what has a status; search_memory_facts(status="open") lists open plans, goals and proposals.'


class Searching(FactSearch):
    """``search_nodes`` and ``search_memory_facts``."""

    def __init__(
        self, context: Context, groups: Groups, neighbours: GraphNeighbours, flags: GraphFlags | None = None
    ) -> None:
        """``flags``: None shows none."""
        super().__init__(context, groups, neighbours)
        self._flags = flags
        self._people = People(context.graph, self._candidates, self._persons, self._views, context.settings.zone)

    async def search_nodes(self, caller: Caller, request: SearchNodes) -> NodeSearchResponse:
        """Entities of these names first, then the best for the query, with their newest current facts.

        With only ``status`` or ``entity_types``, all entities that have it, by name.
        """
        limit = request.max_nodes
        if request.query is None and not request.names and not request.entity_types and not request.status:
            raise InvalidInput("Give a query, or names to look up, or entity_types or status to list all that fit.")
        asked = _checked_names(request.names or ())
        groups = self._groups.searched(caller, request.group_ids)
        near = await self._centre(caller, request.center_node_uuid)
        centre = near.entity.uuid if near and near.entity else None
        resolved = {"names": asked, "group_ids": groups, "center_node_uuid": near and near.asked}
        start = self._start(caller, request, request.cursor, **resolved)
        wanted = EntityFilter(
            group_ids=groups,
            labels=labels_of(request.entity_types or ()),
            recorded_until=start.recorded_until,
            status=(_status_keys(request.status), start.now) if request.status else None,
        )
        if request.query is None and not asked:
            return await self._all_nodes(caller, request, wanted, start)
        scores, words = await self._node_scores(request.query, wanted, centre, start.now)
        note = words.note if words else None
        fitness = await self._fitness(scores, wanted) if request.boost else None
        scores = scores if fitness is None else _boosted(scores, fitness)
        people = await self._people.find(await self._named(asked, wanted), wanted, start.now)
        missing = [name for name in asked if not people.named[name]]
        first = dict.fromkeys(uuid for uuids in people.named.values() for uuid in uuids)
        called = {uuid: ASKED + len(first) - place for place, uuid in enumerate(first)}
        scores = scores.then("named", {**scores.by_uuid, **called})
        if any(normalise_name(name) in PERSON_WORDS for name in missing):
            note = joined(note, f"{NOBODY_HERE if all_shared(caller, wanted.group_ids) else NOTHING_OF_ME}.")
        page = slice_of(scores, start)
        uuids = page.uuids(limit)
        whole = people.named[asked[0]] if len(asked) == 1 else ()
        entities = await self._graph.records.get_entities(uuids, groups)
        views = [
            view.model_copy(update={**page.shown(view.uuid), **_counted(fitness, view.uuid)})
            for view in await self._flagged_views(caller, entities, groups, whole)
        ]
        kept = fit(item_sizes(views, groups), budget((NODES, limit)))
        if words is not None and words.vector is not None:
            self._context.usage.searched(words.vector, ((one.uuid, one.group_id) for one in entities[:kept]))
        next_key = page.next_key([view.uuid for view in views[:kept]], uuids)
        next_cursor = await self._next(start, next_key, groups)
        total = page.total if request.query is None else page.hits
        if request.query is not None and total is not None and start.after is None:
            note = await self._unfound(wanted, total) or note
        note = joined(note, cut_summaries(entities[:kept], whole))
        return NodeSearchResponse(
            message=found_message("node", kept, total, is_cut=scores.is_cut),
            total=total,
            returned=kept,
            truncated=next_cursor is not None,
            next_cursor=next_cursor,
            weaker=page.weaker(kept),
            now=self._counted_from(start.now),
            scope=await self._scope(caller, groups, empty=not page.total, note=note),
            nodes=views[:kept],
            ambiguous=people.ambiguous or None,
            roles=people.roles or None,
            not_found=missing or None,
            similar=await self._candidates.similar(missing, wanted) or None,
        )

    async def _named(self, names: Sequence[str], wanted: EntityFilter) -> dict[str, list[Entity]]:
        """The entities with each name; "my dad" may be called dad."""
        plain = {name: " ".join(role.words) for name in names if (role := role_of(name)) and role.is_mine}
        found = await self._candidates.named([*names, *plain.values()], wanted) if names else {}
        return {name: found[name] or found.get(plain.get(name, name), []) for name in names}

    async def _flagged_views(
        self, caller: Caller, entities: Sequence[Entity], group_ids: Sequence[str], whole: Collection[str] = ()
    ) -> list[NodeView]:
        """With the reason of a flag, where the caller is a librarian: it may say more than others should see."""
        views = await self._node_views(entities, group_ids, self._context.now(), whole)
        open_to = [group for group in group_ids if self._groups.may(caller, group, "librarian")]
        if self._flags is None or not open_to or not entities:
            return views
        said = await self._flags.qualities([one.uuid for one in entities], open_to)
        reasons = {uuid: one.flag_reason for uuid, one in said.items() if one.is_flagged}
        return [view.model_copy(update={"flagged": reasons.get(view.uuid)}) for view in views]

    async def _all_nodes(
        self, caller: Caller, request: SearchNodes, wanted: EntityFilter, start: Start
    ) -> NodeSearchResponse:
        limit = request.max_nodes
        found, total = await self._graph.records.entity_page(wanted, Window(limit=limit + 1, after=start.after))
        views = await self._flagged_views(caller, found[:limit], wanted.group_ids)
        kept = fit(item_sizes(views, wanted.group_ids), budget((NODES, limit)))
        last = found[kept - 1] if kept < len(found) else None
        message = f"Found {kept} of {total} node(s), by name" if kept else found_message("node", 0, total)
        others = await self._other_words(request.status, wanted, total) if start.after is None else None
        return NodeSearchResponse(
            message=message,
            total=total,
            returned=kept,
            truncated=last is not None,
            next_cursor=await self._next(start, (last.name, last.uuid) if last else None, wanted.group_ids),
            now=self._counted_from(start.now),
            scope=await self._scope(
                caller,
                wanted.group_ids,
                empty=not total,
                note=joined(others, cut_summaries(found[:kept])),
            ),
            nodes=views[:kept],
        )

    async def _other_words(self, status: str | None, wanted: EntityFilter, total: int) -> str | None:
        """That others stand the same way by another word: who asks for "accepted" may mean those approved, too.

        What is open need not have a status.
        """
        if status and status_key(status) == OPEN:
            return _OTHER_OPEN
        name = class_of_status(status) if status and not keys_of_class(status) else None
        keys = keys_of_class(name) if name else None
        if wanted.status is None or keys is None:
            return None
        alike = wanted.model_copy(update={"status": (keys, wanted.status[1])})
        _, others = await self._graph.records.entity_page(alike, Window(limit=1))
        return f'{others} nodes are {name} in any word: status="{name}" lists them.' if others > total else None

    async def _unfound(self, wanted: EntityFilter, found: int) -> str | None:
        """How many entities pass the filters and do not fit the words: an answer of few must not look complete."""
        if not wanted.labels and not wanted.status:
            return None
        _, listed = await self._graph.records.entity_page(wanted, Window(limit=1))
        if listed <= found:
            return None
        return f"{listed} nodes pass the filters, {found} of them fit the query; without query all are listed."

    async def _node_scores(
        self, query: str | None, wanted: EntityFilter, centre: str | None, now: datetime
    ) -> tuple[Scores, Query | None]:
        """Scores for a query, an entity of exactly that name first, and the query if it has words."""
        if query is None:
            return Scores(), None
        name = checked_text("query", query)[:_NAME_CHARS]
        exact = [one.uuid for one in (await self._candidates.named([name], wanted))[name]]
        if exact and not search_terms(query, 1):  # an entity may be named by a symbol, which full text does not index
            words, scores = None, Scores()
        else:
            words = await self._candidates.query(query)
            scores = await self._candidates.entities(words, wanted, is_named=bool(exact))
            observed = await self._observed(words, wanted, now)
            better = {uuid: max(scores.by_uuid.get(uuid, 0.0), score) for uuid, score in observed.items()}
            scores = scores.then("observations", scores.by_uuid | better)
        found = scores.by_uuid
        scores = scores.then("exact_name", found | {uuid: found.get(uuid, 0.0) + _EXACT for uuid in exact})
        if centre:
            hops = await self._neighbours.fact_distances(centre, list(scores.by_uuid))
            scores = scores.then("centre", lifted(scores.by_uuid, hops))
        return scores, words

    async def _fitness(self, scores: Scores, wanted: EntityFilter) -> Mapping[str, Fitness] | None:
        """What the scores are boosted by; None if they are not."""
        if self._context.settings.fitness != "boost" or not scores.by_uuid:
            return None
        return await self._context.usage.fitness(list(scores.by_uuid), wanted.group_ids)

    async def _observed(self, words: Query, wanted: EntityFilter, now: datetime) -> dict[str, float]:
        """The entities of which an observation fits, each with the score of its best."""
        if not await self._neighbours.has_observations(wanted.group_ids):
            return {}
        facts = FactFilter(
            group_ids=wanted.group_ids,
            now=now,
            recorded_until=wanted.recorded_until,
            only_current=True,
            relations=(OBSERVATION,),
        )
        scores = (await self._candidates.facts(words, facts)).by_uuid
        best: dict[str, float] = {}
        for fact in await self._graph.records.get_facts(list(scores), wanted.group_ids):
            if is_observation(fact):
                best[fact.source_uuid] = max(best.get(fact.source_uuid, 0.0), scores[fact.uuid])
        if not best:
            return {}
        found, _ = await self._graph.records.entity_page(
            wanted.model_copy(update={"uuids": tuple(best)}), Window(limit=len(best))
        )
        return {entity.uuid: best[entity.uuid] for entity in found}


def _boosted(scores: Scores, fitness: Mapping[str, Fitness]) -> Scores:
    """All candidates of all pages, far more than three times a page: what is undervalued can rise into it."""
    plain = scores.by_uuid
    boosted = {uuid: fitness.get(uuid, NO_FITNESS).boosted(score) for uuid, score in plain.items()}
    return replace(scores.then("fitness", boosted), unboosted=plain)


def _counted(fitness: Mapping[str, Fitness] | None, uuid: str) -> dict[str, int]:
    """A mean says little without how much it is the mean of."""
    return {} if fitness is None else {"query_count": fitness.get(uuid, NO_FITNESS).hits}


def _status_keys(status: str) -> tuple[str, ...]:
    """The keys that the filter finds: of the word itself, or of all words of a class."""
    if len(checked_text("status", status)) > _NAME_CHARS:
        raise InvalidInput(f"status has {len(status)} characters; a status is a word or a few, at most {_NAME_CHARS}.")
    return keys_of_class(status) or (status_key(status),)


def _checked_names(names: Iterable[str]) -> list[str]:
    asked = list(dict.fromkeys(names))
    for place, name in enumerate(asked):
        if not normalise_name(checked_text(f"names[{place}]", name)) or len(name) > _NAME_CHARS:
            raise InvalidInput(f"names[{place}] is blank or longer than {_NAME_CHARS} characters.")
    return asked
