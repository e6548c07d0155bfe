"""Search by words and meaning over entities and facts, in stable pages."""

from collections.abc import Iterable, Sequence

from graphiti_pkm.domain.access import Caller
from graphiti_pkm.domain.answers import FactSearchResponse, NodeSearchResponse
from graphiti_pkm.domain.names import normalise_name
from graphiti_pkm.domain.queries import EntityFilter, FactFilter
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.services.candidates import Candidates, checked_text
from graphiti_pkm.services.context import Context
from graphiti_pkm.services.groups import Groups
from graphiti_pkm.services.lookups import NODE_ALIASES, NODE_FACTS
from graphiti_pkm.services.paging import FACTS, NODES, budget, fit
from graphiti_pkm.services.ranking import lifted
from graphiti_pkm.services.reading import GroupIds, Reader
from graphiti_pkm.services.slices import ASKED, filters_of, slice_of, told
from graphiti_pkm.services.uuids import resolve_within, unknown
from graphiti_pkm.services.views import item_sizes

_NAMES = 50
_EXACT = 1.0
"""What a score gains if the query is its name, and if it was asked for by name: more than any fused score."""
_NAME_CHARS = 200
_LARGEST_PAGE = 200


class Searching(Reader):
    """``search_nodes`` and ``search_memory_facts``."""

    def __init__(self, context: Context, groups: Groups) -> None:
        super().__init__(context, groups)
        self._candidates = Candidates(context.graph, context.embedder, context.settings.person)

    async def search_nodes(
        self,
        caller: Caller,
        query: str | None = None,
        names: Sequence[str] | None = None,
        group_ids: GroupIds = None,
        max_nodes: int = NODES.default,
        entity_types: Sequence[str] | None = None,
        center_node_uuid: str | None = None,
        cursor: str | None = None,
    ) -> NodeSearchResponse:
        """Entities of these names first, then those that fit the query best, with their newest current facts."""
        limit = NODES.check(max_nodes)
        if query is None and not names:
            raise InvalidInput("Give a query, or names to look up, or both.")
        asked = _checked_names(names or ())
        groups = self._searched(caller, group_ids)
        centre = await self._centre(caller, center_node_uuid)
        filters = filters_of("search_nodes", caller, groups, query, asked, entity_types, centre)
        start = self._start(cursor, filters)
        wanted = EntityFilter(group_ids=groups, labels=_labels(entity_types or ()), recorded_until=start.now)
        scores, is_cut, note = await self._node_scores(query, wanted, centre)
        named = await self._candidates.named(asked, wanted)
        first = dict.fromkeys(uuid for uuids in named.values() for uuid in uuids)
        scores.update({uuid: ASKED + len(first) - place for place, uuid in enumerate(first)})
        page = slice_of(scores, start)
        uuids = page.uuids(limit)
        aliases = await self._graph.aliases(uuids, NODE_ALIASES)
        facts = await self._graph.newest_facts(uuids, groups, start.now, NODE_FACTS)
        shown_scores = page.scores()
        views = [
            self._views.node(
                item,
                aliases=aliases.get(item.uuid, ()),
                facts=facts.get(item.uuid, ()),
                score=shown_scores.get(item.uuid),
            )
            for item in await self._graph.get_entities(uuids, groups)
        ]
        kept = fit(item_sizes(views, groups), budget((NODES, limit)))
        next_cursor = page.cursor([view.uuid for view in views[:kept]], page.uuids(limit), filters)
        return NodeSearchResponse(
            message=told("node", kept, page.total, is_cut=is_cut),
            total=page.total,
            returned=kept,
            truncated=next_cursor is not None,
            next_cursor=next_cursor,
            scope=await self._scope(caller, groups, empty=not page.total, note=note),
            nodes=views[:kept],
            not_found=[name for name in asked if not named[name]] or None,
        )

    async def search_memory_facts(
        self,
        caller: Caller,
        query: str,
        group_ids: GroupIds = None,
        max_facts: int = FACTS.default,
        center_node_uuid: str | None = None,
        edge_types: Sequence[str] | None = None,
        valid_at_after: str | None = None,
        valid_at_before: str | None = None,
        invalid_at_after: str | None = None,
        invalid_at_before: str | None = None,
        cursor: str | None = None,
    ) -> FactSearchResponse:
        """Facts that fit the query best, ended ones included; dates and relations filter before the ranking."""
        limit = FACTS.check(max_facts)
        groups = self._searched(caller, group_ids)
        centre = await self._centre(caller, center_node_uuid)
        times = (
            self._instant("valid_at_after", valid_at_after),
            self._instant("valid_at_before", valid_at_before),
            self._instant("invalid_at_after", invalid_at_after),
            self._instant("invalid_at_before", invalid_at_before),
        )
        filters = filters_of("search_memory_facts", caller, groups, query, edge_types, times, centre)
        start = self._start(cursor, filters)
        words = await self._candidates.query(query)
        wanted = FactFilter(
            group_ids=groups,
            now=start.now,
            valid_after=times[0],
            valid_before=times[1],
            invalid_after=times[2],
            invalid_before=times[3],
            relations=await self._relations(groups, edge_types) if edge_types else (),
        )
        found = await self._candidates.facts(words, wanted)
        page = slice_of(await self._near_centre(found.by_uuid, centre, groups), start)
        facts = await self._graph.get_facts(page.uuids(limit), groups)
        shown_scores = page.scores()
        views = [self._views.fact(item, start.now, score=shown_scores[item.uuid]) for item in facts]
        kept = fit(item_sizes(views, groups), budget((FACTS, limit)))
        next_cursor = page.cursor([view.uuid for view in views[:kept]], page.uuids(limit), filters)
        return FactSearchResponse(
            message=told("fact", kept, page.total, is_cut=found.is_cut),
            total=page.total,
            returned=kept,
            truncated=next_cursor is not None,
            next_cursor=next_cursor,
            scope=await self._scope(caller, groups, empty=not page.total, note=words.note),
            facts=views[:kept],
        )

    async def _centre(self, caller: Caller, uuid: str | None) -> str | None:
        if uuid is None:
            return None
        visible = await self._groups.visible(caller)
        whole = await resolve_within(self._graph, visible, "entity", uuid)
        if not await self._graph.get_entities([whole], visible):
            raise unknown("entity", whole)
        return whole

    async def _node_scores(
        self, query: str | None, wanted: EntityFilter, centre: str | None
    ) -> tuple[dict[str, float], bool, str | None]:
        """Scores of a query, an entity of exactly that name first; whether the pool was full; what to say about it."""
        if query is None:
            return {}, False, None
        words = await self._candidates.query(query)
        found = await self._candidates.entities(words, wanted)
        scores = found.by_uuid
        for uuids in (await self._candidates.named([query[:_NAME_CHARS]], wanted)).values():
            scores.update({uuid: scores.get(uuid, 0.0) + _EXACT for uuid in uuids})
        if centre:
            scores = lifted(scores, await self._graph.fact_distances(centre, list(scores)))
        return scores, found.is_cut, words.note

    async def _near_centre(
        self, scores: dict[str, float], centre: str | None, group_ids: Sequence[str]
    ) -> dict[str, float]:
        """Facts raised by how near their nearer end is to a centre."""
        if centre is None:
            return scores
        facts = await self._graph.get_facts(list(scores), group_ids)
        ends = list({uuid for fact in facts for uuid in (fact.source_uuid, fact.target_uuid)})
        hops = await self._graph.fact_distances(centre, ends)
        distances = {
            fact.uuid: min(hops[uuid] for uuid in (fact.source_uuid, fact.target_uuid) if uuid in hops)
            for fact in facts
            if fact.source_uuid in hops or fact.target_uuid in hops
        }
        return lifted(scores, distances)


def _checked_names(names: Iterable[str]) -> list[str]:
    asked = list(dict.fromkeys(names))
    if len(asked) > _NAMES:
        raise InvalidInput(f"names may hold at most {_NAMES} names, not {len(asked)}.")
    for place, name in enumerate(asked):
        if not normalise_name(checked_text(f"names[{place}]", name)) or len(name) > _NAME_CHARS:
            raise InvalidInput(f"names[{place}] is blank or longer than {_NAME_CHARS} characters.")
    return asked


def _labels(types: Iterable[str]) -> tuple[str, ...]:
    """Types as callers spell them and with a capital, as they are stored."""
    plain = [checked_text("entity_types", text) for text in types if text]
    return tuple(dict.fromkeys(label for text in plain for label in (text, text[0].upper() + text[1:])))
