"""Lists every fact of an entity, in pages: current first, then newest."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from graphiti_pkm.capabilities.explore.requests import GetEntityConnections
from graphiti_pkm.core.facts.history import MOST_EVENTS, known_state
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import ConnectionsResponse, FactView, FollowingView, KnownEntityView, NeighbourView
from graphiti_pkm.core.model.queries import FactCounts, FactFilter
from graphiti_pkm.core.reading.dependents import DependentsReader
from graphiti_pkm.core.reading.fact_lists import FactLists, Listed, ReadFacts, joined, series_note
from graphiti_pkm.core.reading.paging import CONNECTIONS, budget, fit, text_size
from graphiti_pkm.core.reading.reader import Anchor, Start
from graphiti_pkm.core.reading.views import clipped, item_sizes, said_once

_NEIGHBOURS = 200
_KINDS = 40
_NAME = 60
_SUMMARY = 1_000
_NEIGHBOUR_SHARE = 4
"""At most this fraction (1 / n) of an answer is used for counts per neighbour."""


class Connections(FactLists):
    """``get_entity_connections``."""

    async def get_entity_connections(self, caller: Caller, request: GetEntityConnections) -> ConnectionsResponse:
        """All facts of an entity under these filters, one page of them.

        Without ``group_ids`` the entity's own group is read. An unknown entity gives an empty answer that says so.
        """
        limit = request.max_connections
        instant = self._instant("as_of", request.as_of)
        after = self._instant("valid_after", request.valid_after)
        before = self._instant("valid_before", request.valid_before)
        anchor = await self._anchor(caller, request.entity_uuid, request.group_ids)
        relations = await self._relations(anchor.group_ids, [request.relation]) if request.relation else ()
        start = self._start(
            caller,
            request,
            request.cursor,
            entity_uuid=anchor.asked,
            group_ids=anchor.group_ids,
            as_of=instant,
            valid_after=after,
            valid_before=before,
        )
        known = await self._known(request.known_at, anchor.group_ids, start.now)
        read_as = self._read_as(request.as_of, request.known_at)
        own = await self._measures_called(anchor.group_ids, anchor.entity) if anchor.entity else ()
        wanted = FactFilter(
            group_ids=anchor.group_ids,
            own_measures=own,
            now=start.now,
            recorded_until=start.recorded_until,
            as_of=instant,
            with_due_plans=True,
            known_at=known.at,
            by_reference_time=known.by_reference_time,
            valid_after=after,
            valid_before=before,
            only_current=not request.include_invalidated,
            direction=request.direction,
            relations=relations,
        ).told_in(self._context.settings.zone)
        read = partial(self._graph.facts.connections, anchor.uuid)
        listed_facts, counts, following = await asyncio.gather(
            self._listed(read, wanted, limit, start),
            self._counts(anchor, wanted, start),
            self._following(anchor, wanted, start),
        )
        page = listed_facts.page
        neighbours = _neighbours(counts, wanted)
        replaced = await self._replacements(page.facts[:limit], anchor.group_ids, known.at)
        views = [
            self._views.fact(
                fact,
                start.now,
                as_of=instant,
                known_at=known.at,
                asked=anchor.uuid,
                replaced_by=replaced.get(fact.uuid),
            )
            for fact in await self._as_known(page.facts[:limit], anchor.group_ids, known.at)
        ]
        former = await self._former(anchor, known.at)
        room = budget((CONNECTIONS, limit)) - text_size(following.model_dump() if following else {})
        listed = _listed(neighbours, room // _NEIGHBOUR_SHARE)
        kinds = _kinds(counts) if counts is not None and page.total > limit else None
        counted = [kinds or {}, [item.model_dump() for item in listed or ()]]
        kept = fit(item_sizes(views, anchor.group_ids), room - text_size(counted))
        more = kept < len(page.facts)
        self._context.usage.traversed((fact.uuid, fact.group_id) for fact in page.facts[:kept])
        return ConnectionsResponse(
            message=await self._connections_message(anchor, views[:kept], listed_facts, read, wanted)
            if kept or not page.total
            else "Found 0 connection(s) for entity: no more",
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, page.keys[kept - 1] if more else None, anchor.group_ids),
            now=self._counted_from(start.now, instant, known.at),
            as_of=self._shown_at(instant),
            known_at=self._shown_at(known.at),
            scope=await self._scope(
                caller,
                anchor.group_ids,
                empty=not page.total,
                note=joined(read_as, known.note, self._states_only(anchor, instant, page.total)),
            ),
            series=await self._series(listed_facts, anchor.uuid, wanted, start),
            facts=said_once(views[:kept]),
            entity=anchor.entity and clipped(former.name if former else anchor.entity.name, 200),
            known_as=former,
            following=following,
            neighbours=listed,
            neighbours_total=len(neighbours) if neighbours and len(neighbours) <= _NEIGHBOURS else None,
            neighbours_others=page.total - sum(item.facts for item in listed)
            if listed is not None and neighbours is not None and len(listed) < len(neighbours)
            else None,
            kinds=kinds,
            kinds_others=page.total - sum(sum(counts.values()) for counts in kinds.values()) or None
            if kinds is not None
            else None,
        )

    async def _following(self, anchor: Anchor, wanted: FactFilter, start: Start) -> FollowingView | None:
        """What follows from the entity now, for page one."""
        if anchor.entity is None or start.after is not None or wanted.as_of or wanted.known_at:
            return None
        reader = DependentsReader(self._graph)
        found = await reader.on_facts(anchor.entity.group_id, [anchor.uuid], start.now, lambda _: False)
        facts = [self._views.sentence(fact) for fact in found.facts]
        return FollowingView(total=found.total, facts=facts) if facts else None

    async def _former(self, anchor: Anchor, known_at: datetime | None) -> KnownEntityView | None:
        """The entity as the record knew it; None if it is the same today."""
        if known_at is None or anchor.entity is None:
            return None
        events = await self._graph.changes.fact_changes([anchor.uuid], anchor.group_ids, MOST_EVENTS)
        state = known_state(events[anchor.uuid], known_at)
        if state is None:
            return None
        return KnownEntityView(
            name=clipped(state.name, 200), type=state.label, summary=clipped(state.summary, _SUMMARY)
        )

    async def _counts(self, anchor: Anchor, wanted: FactFilter, start: Start) -> FactCounts | None:
        """Counts for page one, of one neighbour more than are ever listed."""
        if start.after is not None:
            return None
        return await self._graph.facts.fact_counts(anchor.uuid, wanted, _NEIGHBOURS + 1, _KINDS)

    async def _connections_message(
        self, anchor: Anchor, shown: Sequence[FactView], listed: Listed, read: ReadFacts, wanted: FactFilter
    ) -> str:
        count = len(shown)
        if count and listed.is_series:
            return series_note(listed.page.facts[:count], listed.page.total, shown)
        if count:
            planned = await self._before_plans(listed.page.facts[:count], wanted, read)
            return f"Found {count} connection(s) for entity{planned}"
        none = f"No connections found for entity {anchor.asked}"
        if anchor.entity is None:
            return f"{none}: {anchor.unknown}."
        mentions, facts = (await self._graph.records.entity_support([anchor.uuid])).get(anchor.uuid, (0, 0))
        name = clipped(anchor.entity.name, 200)
        if facts:
            first = await self._evidence(anchor.entity, anchor.group_ids, wanted.relations)
            ended = await self._newest_ended(read, wanted)
            nothing = f"{name} exists and has {facts} fact(s), none of them under these filters and groups"
            return f"{none}: {nothing}{first}{self._of_starts(wanted)}{ended}."
        seen = f"; get_entity_timeline shows the {mentions} episode(s) that mention it" if mentions else ""
        return f"{none}: {name} exists but has no facts yet{seen}."


def _neighbours(counts: FactCounts | None, wanted: FactFilter) -> list[NeighbourView] | None:
    """None of a measure."""
    if counts is None or wanted.own_measures or not counts.neighbours:
        return None
    return [
        NeighbourView(uuid=item.entity_uuid, name=clipped(item.name, 200), facts=item.facts)
        for item in counts.neighbours
    ]


def _kinds(counts: FactCounts) -> dict[str, dict[str, int]]:
    """What the pages hold, so that a caller can ask for a part instead of reading them all."""
    kinds: dict[str, dict[str, int]] = {}
    for found in counts.kinds:
        of_kind, name = kinds.setdefault(found.kind, {}), clipped(found.name, _NAME)
        of_kind[name] = of_kind.get(name, 0) + found.facts
    return kinds


def _listed(neighbours: Sequence[NeighbourView] | None, room: int) -> list[NeighbourView] | None:
    """As many as fit into the neighbours' share of the answer."""
    if neighbours is None:
        return None
    return list(neighbours[: fit((text_size(item.model_dump()) + 1 for item in neighbours[:_NEIGHBOURS]), room)])
