"""Searches facts by words and meaning, best first, or lists all that pass a filter."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from graphiti_pkm.capabilities.search.episode_candidates import SMALL_WORDS
from graphiti_pkm.capabilities.search.periods import Period, nearness, periods_in, told_times
from graphiti_pkm.capabilities.search.ports import GraphNeighbours
from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.confidential import asks_for_confidential
from graphiti_pkm.core.facts.history import MOST_EVENTS, open_proposals
from graphiti_pkm.core.facts.readings import asks_for_readings
from graphiti_pkm.core.facts.statuses import OPEN, keys_of_class
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import FactSearchResponse, FactView
from graphiti_pkm.core.model.date_phrases import START_WORDS, date_at
from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.queries import FactFilter, FactPage, Window
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.reading.candidates import Candidates, Query, checked_text
from graphiti_pkm.core.reading.fact_lists import (
    FactLists,
    ended_of,
    in_series_order,
    joined,
    only_planned,
    read_at,
    series_note,
)
from graphiti_pkm.core.reading.paging import FACTS, budget, fit
from graphiti_pkm.core.reading.ranking import lifted, ranked
from graphiti_pkm.core.reading.reader import Anchor, GroupIds, Start
from graphiti_pkm.core.reading.slices import ASKED, found_message, slice_of
from graphiti_pkm.core.reading.views import item_sizes, said_once
from graphiti_pkm.errors import InvalidInput

_NOTHING_ASKED = (
    "query is blank: say what to look for, or give entity_uuid, entity_types, edge_types, kind, status or a time to "
    "list all facts that fit."
)
_WRONG = 0.5
_DATED = 0.5
"""How much more a fact counts that is of a time in the query."""
_HELD = 0.5
"""The share of that for a state that held then, and did not begin then."""
_MOST_DATED = 100
"""Readings of a time in the query that come first."""
_NO_RANKING = "center_node_uuid counts only with a query."


@dataclass(frozen=True)
class _Asked:
    """One call: what may be shown, and how."""

    wanted: FactFilter
    entity: Entity | None
    centre: str | None
    start: Start
    limit: int
    note: str | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        return self.wanted.group_ids

    @property
    def may_mean_a_time(self) -> bool:
        """Whether page one is asked for, and no time but what the query may name."""
        wanted = self.wanted
        times = (wanted.as_of, wanted.known_at, wanted.valid_after, wanted.valid_before)
        return not self.start.after and not any(times)


class FactSearch(FactLists):
    """``search_memory_facts``."""

    def __init__(self, context: Context, groups: Groups, neighbours: GraphNeighbours) -> None:
        super().__init__(context, groups)
        self._neighbours = neighbours
        self._candidates = Candidates(context.graph, context.embedder, self._persons)

    async def search_memory_facts(self, caller: Caller, request: SearchMemoryFacts) -> FactSearchResponse:
        """The best facts, ended ones included; without a query all facts that pass the filters.

        Filters apply before the ranking. Readings of one measure come oldest first.
        """
        limit = request.max_facts
        instants = {
            name: self._instant(name, getattr(request, name))
            for name in ("valid_after", "valid_before", "invalid_after", "invalid_before", "as_of")
        }
        narrowed = (
            request.entity_uuid,
            request.entity_types,
            request.edge_types,
            request.kind,
            request.status,
            request.known_at,
            *instants.values(),
        )
        query = request.query if request.query and request.query.strip() else None
        if query is None and not any(narrowed):
            raise InvalidInput(_NOTHING_ASKED)
        anchor = await self._entity(caller, request.entity_uuid, request.group_ids)
        entity = anchor.entity if anchor else None
        groups = anchor.group_ids if anchor else self._groups.searched(caller, request.group_ids)
        near = await self._centre(caller, request.center_node_uuid)
        centre = near.entity.uuid if near and near.entity else None
        start = self._start(
            caller,
            request,
            request.cursor,
            query=query,
            group_ids=groups,
            center_node_uuid=near and near.asked,
            entity_uuid=anchor and anchor.asked,
            **instants,
        )
        known = await self._known(request.known_at, groups, start.now)
        read_as = self._read_as(request.as_of, request.known_at)
        own = await self._measures_called(groups, entity) if entity else ()
        is_of_readings = request.kind == "reading" or (
            request.kind is None and bool(query and asks_for_readings(query))
        )
        named = await self._measures_in(query, groups) if query and is_of_readings and not own else ()
        kind = "reading" if named else request.kind
        is_confidential = bool(query and asks_for_confidential(query))
        wanted = FactFilter(
            group_ids=groups,
            measures=named,
            confidential=is_confidential,
            own_measures=own,
            now=start.now,
            recorded_until=start.recorded_until,
            with_due_plans=True,
            known_at=known.at,
            by_reference_time=known.by_reference_time,
            status=request.status,
            open_words=keys_of_class(OPEN) or () if request.status == OPEN else (),
            kinds=(kind,) if kind else (),
            labels=labels_of(request.entity_types or ()),
            neighbour_uuid=anchor and anchor.uuid,
            relations=await self._relations(groups, request.edge_types) if request.edge_types else (),
            **instants,
        ).told_in(self._context.settings.zone)
        nothing = f"{anchor.unknown}." if anchor and not entity else None
        is_series = bool(named or (own and is_of_readings))
        unbounded = self._of_all_time(query, start) if is_series and not any(instants.values()) else None
        asked = _Asked(wanted, entity, centre, start, limit, joined(read_as, known.note, nothing, unbounded))
        if query is None or is_series or is_confidential:
            return await self._all_of(caller, asked)
        return await self._best_of(caller, asked, query)

    def _of_all_time(self, query: str | None, start: Start) -> str | None:
        """Says that a list of readings is not narrowed to the dates in the query, and how to do that."""
        zone = self._context.settings.zone
        found = periods_in(query, start.now, zone) if query else []
        if not found:
            return None
        after, before = show_time(found[0].start, zone), show_time(found[0].end, zone)
        return f"Readings of all times: for those of the query, give valid_after {after} and valid_before {before}."

    async def _best_of(self, caller: Caller, asked: _Asked, query: str) -> FactSearchResponse:
        groups, limit = asked.groups, asked.limit
        periods = periods_in(query, asked.start.now, self._context.settings.zone)
        undated, told = told_times(query, asked.start.now, self._context.settings.zone)
        is_only_dates = SMALL_WORDS.issuperset(search_terms(undated))
        words = await self._candidates.query(query if is_only_dates else undated)
        found = await self._candidates.facts(words, asked.wanted, self._within(told, asked.wanted))
        scores = found.then("date", await self._of_their_time(found.by_uuid, asked.wanted, told))
        scores = scores.then("corrected", await self._without_wrong(scores.by_uuid, asked.wanted))
        scores = scores.then("centre", await self._near_centre(scores.by_uuid, asked.centre, groups))
        dated: list[Fact] = []
        if asked.wanted.kinds == ("reading",):
            scores = scores.then("time", await self._in_time(scores.by_uuid, asked.wanted))
        else:
            dated = await self._of_dates(asked, query, periods)
            first_of_all = {fact.uuid: ASKED + len(dated) - place for place, fact in enumerate(dated)}
            scores = scores.then("time", scores.by_uuid | first_of_all)
        page = slice_of(scores, asked.start)
        facts = await self._facts(page.uuids(limit), asked.wanted)
        views = [view.model_copy(update=page.shown(view.uuid)) for view in await self._shown(facts, asked)]
        kept = fit(item_sizes(views, groups), budget((FACTS, limit)))
        next_key = page.next_key([view.uuid for view in views[:kept]], page.uuids(limit))
        next_cursor = await self._next(asked.start, next_key, groups)
        by_uuid = {view.uuid: view for view in said_once(views[:kept])}
        asked_for = {fact.uuid for fact in dated}
        first = [fact for fact in facts[:kept] if fact.uuid in asked_for]
        others = [fact for fact in facts[:kept] if fact.uuid not in asked_for]
        in_order = in_series_order(others)
        shown = [by_uuid[fact.uuid] for fact in (*first, *in_order)]
        order = _order(has_dated=bool(first), is_ranked=in_order == others)
        message = found_message("fact", kept, page.hits, is_cut=found.is_cut, order=order)
        if kept and asked.wanted.kinds == ("reading",):
            message = series_note(facts[:kept], page.hits, views[:kept])
        if not page.total:
            message += await self._evidence(asked.entity, groups, asked.wanted.relations)
            message += self._of_starts(asked.wanted)
            message += await self._nearest_ended(words, asked.wanted)
        elif kept:
            message += only_planned(facts[:kept], asked.wanted)
        held = self._what_held((*first, *in_order), asked, periods)
        begun = await self._what_began((*first, *in_order), asked, told)
        note = joined(asked.note, words.note, held, begun)
        return FactSearchResponse(
            message=message,
            total=page.hits,
            returned=kept,
            truncated=next_cursor is not None,
            next_cursor=next_cursor,
            weaker=page.weaker(kept),
            now=self._counted_from(asked.wanted.now, asked.wanted.as_of, asked.wanted.known_at),
            as_of=self._shown_at(asked.wanted.as_of),
            known_at=self._shown_at(asked.wanted.known_at),
            scope=await self._scope(caller, groups, empty=not page.total, note=note),
            facts=shown,
        )

    async def _all_of(self, caller: Caller, asked: _Asked) -> FactSearchResponse:
        wanted, groups, limit = asked.wanted, asked.groups, asked.limit
        listed = await self._listed(self._read, wanted, limit, asked.start)
        page = listed.page
        views = await self._shown(page.facts[:limit], asked)
        if wanted.asks_open:
            views = await self._with_proposals(views, groups)
        kept = fit(item_sizes(views, groups), budget((FACTS, limit)))
        more = kept < len(page.facts)
        order = "those due first" if wanted.asks_open else "current ones first, then the newest"
        message = f"Found {kept} of {page.total} fact(s), {order}"
        if listed.is_series and kept:
            message = series_note(page.facts[:kept], page.total, views[:kept])
        if not kept:
            message = found_message("fact", 0, page.total)
        if not page.total:
            message += await self._evidence(asked.entity, groups, wanted.relations)
            message += self._of_starts(wanted)
            message += await self._newest_ended(self._read, wanted)
        elif kept:
            message += await self._before_plans(page.facts[:kept], wanted, self._read)
        note = joined(asked.note, _NO_RANKING if asked.centre else None)
        return FactSearchResponse(
            message=message,
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(asked.start, page.keys[kept - 1] if more else None, asked.groups),
            now=self._counted_from(wanted.now, wanted.as_of, wanted.known_at),
            as_of=self._shown_at(wanted.as_of),
            known_at=self._shown_at(wanted.known_at),
            scope=await self._scope(caller, groups, empty=not page.total, note=note),
            series=await self._series(listed, wanted.neighbour_uuid, own_of(wanted), asked.start),
            facts=said_once(views[:kept]),
        )

    async def _read(self, wanted: FactFilter, window: Window) -> FactPage:
        if wanted.neighbour_uuid is None:
            return await self._graph.facts.group_facts(wanted, window)
        return await self._graph.facts.connections(wanted.neighbour_uuid, own_of(wanted), window)

    async def _nearest_ended(self, words: Query, wanted: FactFilter) -> str:
        """For an empty answer of what held at an instant: the best fact that had ended by then."""
        over = ended_of(wanted)
        best = ranked((await self._candidates.facts(words, over)).by_uuid)[:1] if over else []
        facts = await self._graph.records.get_facts([uuid for uuid, _ in best], wanted.group_ids) if best else ()
        return self._said_ended(facts, "nearest that had ended")

    def _within(self, periods: Sequence[Period], wanted: FactFilter) -> list[FactFilter]:
        """The filter for the facts of each period."""
        found = []
        for period in periods:
            after = max(filter(None, (wanted.valid_after, period.start)))
            before = min(filter(None, (wanted.valid_before, period.end)))
            if after < before:
                inside = wanted.model_copy(update={"valid_after": after, "valid_before": before})
                found.append(inside.told_in(self._context.settings.zone))
        return found

    async def _of_their_time(
        self, scores: dict[str, float], wanted: FactFilter, periods: Sequence[Period]
    ) -> dict[str, float]:
        """Scores raised by how well a fact fits the times that the query names."""
        if not periods:
            return scores
        zone = self._context.settings.zone
        facts = await self._facts(list(scores), wanted)
        shares = {fact.uuid: max(_fits(fact, period, zone) for period in periods) for fact in facts}
        return {uuid: score * (1 + _DATED * shares.get(uuid, 0.0)) for uuid, score in scores.items()}

    async def _of_dates(self, asked: _Asked, query: str, periods: Sequence[Period]) -> list[Fact]:
        """Readings of a measure that the query names, of the dates that it names, oldest first."""
        wanted = asked.wanted
        if wanted.valid_after is not None or wanted.valid_before is not None:
            return []
        measures = await self._measures_in(query, asked.groups) if periods else ()
        if not measures:
            return []
        found: dict[str, Fact] = {}
        for period in periods:
            within = {"measures": measures, "valid_after": period.start, "valid_before": period.end}
            page = await self._read(wanted.model_copy(update=within), Window(limit=_MOST_DATED, newest=False))
            found |= {fact.uuid: fact for fact in page.facts if fact.kind == "reading" and not fact.voided}
        return sorted(found.values(), key=read_at)

    def _what_held(self, facts: Sequence[Fact], asked: _Asked, periods: Sequence[Period]) -> str | None:
        """If the query names a past time at which a state or plan shown did not hold: how to ask for what did.

        ``facts``: in the order shown; if the first of all is of that time, it answers the query. Said on page one.
        """
        if not asked.may_mean_a_time:
            return None
        period = next(iter(periods), None)
        if period is None or period.start > asked.start.now or not facts or _is_of(facts[0], period):
            return None
        if not any(_held_at_another_time(fact, period) for fact in facts if not fact.voided):
            return None
        day = show_time(period.start, self._context.settings.zone)
        return f"Not all of this held then: as_of={day} finds what did."

    async def _what_began(self, facts: Sequence[Fact], asked: _Asked, periods: Sequence[Period]) -> str | None:
        """If the first fact shown is not of the time that the query names: how to list those that are.

        A question such as "what was decided in July" has no word of a fact that was. Said on page one.
        """
        if not asked.may_mean_a_time:
            return None
        zone, period = self._context.settings.zone, next(iter(periods), None)
        if period is None or (facts and _fits(facts[0], period, zone) >= 1):
            return None
        total = sum([(await self._read(one, Window(limit=1))).total for one in self._within([period], asked.wanted)])
        if total <= sum(_fits(fact, period, zone) >= 1 for fact in facts):
            return None
        after, before = show_time(period.start, zone), show_time(period.end, zone)
        are, list_them = ("fact is", "lists it") if total == 1 else ("facts are", "lists them")
        dates = f"valid_after={after} with valid_before={before}"
        return f"{total} {are} of that time: {dates} and no query {list_them}."

    async def _shown(self, facts: Sequence[Fact], asked: _Asked) -> list[FactView]:
        wanted = asked.wanted
        replaced = await self._replacements(facts, asked.groups, wanted.known_at)
        return [
            self._views.fact(
                fact,
                wanted.now,
                as_of=wanted.as_of,
                known_at=wanted.known_at,
                replaced_by=replaced.get(fact.uuid),
            )
            for fact in await self._as_known(facts, asked.groups, wanted.known_at)
        ]

    async def _with_proposals(self, views: list[FactView], groups: Sequence[str]) -> list[FactView]:
        """Marks the facts whose proposed end nobody has decided on."""
        events = await self._graph.changes.fact_changes([view.uuid for view in views], groups, MOST_EVENTS)
        proposed = {uuid for uuid, found in events.items() if open_proposals(found)}
        return [view.model_copy(update={"proposed_end": True}) if view.uuid in proposed else view for view in views]

    async def _entity(self, caller: Caller, uuid: str | None, group_ids: GroupIds) -> Anchor | None:
        """The entity whose facts are asked for, and its groups; without an entity only "me" before it is known."""
        if uuid is None:
            return None
        anchor = await self._anchor(caller, uuid, group_ids)
        if anchor.entity is None and anchor.asked != ME:
            raise unknown("entity", anchor.asked)
        return anchor

    async def _centre(self, caller: Caller, uuid: str | None) -> Anchor | None:
        if uuid is None:
            return None
        anchor = await self._anchor(caller, uuid, None)
        if anchor.entity is None and anchor.asked != ME:
            raise unknown("entity", anchor.asked)
        return anchor

    async def _facts(self, uuids: Sequence[str], wanted: FactFilter) -> list[Fact]:
        """Facts with their present values, or those at ``known_at``."""
        if wanted.known_at is None:
            return await self._graph.records.get_facts(uuids, wanted.group_ids)
        return await self._graph.facts.facts_under(uuids, wanted)

    async def _without_wrong(self, scores: dict[str, float], wanted: FactFilter) -> dict[str, float]:
        """Corrected facts count half: the correction, in nearly the same words, comes first."""
        if wanted.status is not None or wanted.known_at is not None or wanted.as_of is not None:
            return scores
        wrong = await self._graph.facts.voided(list(scores), wanted.group_ids)
        return {uuid: score * _WRONG if uuid in wrong else score for uuid, score in scores.items()}

    async def _in_time(self, scores: dict[str, float], wanted: FactFilter) -> dict[str, float]:
        """Readings, oldest first."""
        ordered = sorted(await self._facts(list(scores), wanted), key=read_at)
        return {fact.uuid: ASKED + len(ordered) - i for i, fact in enumerate(ordered)}

    async def _near_centre(
        self, scores: dict[str, float], centre: str | None, group_ids: Sequence[str]
    ) -> dict[str, float]:
        """Scores raised by how near the nearer entity of a fact is to a centre."""
        if centre is None:
            return scores
        facts = await self._graph.records.get_facts(list(scores), group_ids)
        ends = list({uuid for fact in facts for uuid in (fact.source_uuid, fact.target_uuid)})
        hops = await self._neighbours.fact_distances(centre, ends)
        distances = {
            fact.uuid: min(hops[uuid] for uuid in (fact.source_uuid, fact.target_uuid) if uuid in hops)
            for fact in facts
            if fact.source_uuid in hops or fact.target_uuid in hops
        }
        return lifted(scores, distances)


def _order(*, has_dated: bool, is_ranked: bool) -> str:
    """The order of a ranked list in words."""
    dated = "readings of the time asked for first, then " if has_dated else ""
    return f"{dated}best first{'' if is_ranked else ', readings of a series in order of time'}"


def _is_of(fact: Fact, period: Period) -> bool:
    """Whether a fact begins, happened or was measured in a period."""
    at = read_at(fact)[0] if fact.kind == "reading" else fact.valid_at
    return at is not None and period.start <= at < period.end


def _fits(fact: Fact, period: Period, zone: tzinfo) -> float:
    """1 for a fact that begins, happened or was measured in a period; less if it only held then.

    As in filters, one without a start counts from its note, and of a date told as a period any part will do.
    """
    at = fact.valid_at or fact.reference_time
    if at is None:
        return 0.0
    told = date_at(at, fact.attributes.get(START_WORDS) if fact.valid_at else None, zone)
    if told.start < period.end and period.start < told.end:
        return 1.0
    is_over = fact.invalid_at is not None and fact.invalid_at <= period.start
    held = _HELD if fact.kind == "state" and at < period.end and not is_over else 0.0
    return max(held, nearness(at, period, zone))


def _held_at_another_time(fact: Fact, period: Period) -> bool:
    """Whether a state did not hold, or a plan was not open, in a period; what has no duration never did."""
    if fact.kind not in {"state", "plan"}:
        return False
    begun = fact.valid_at if fact.kind == "state" else fact.reference_time
    began_later = begun is not None and begun >= period.end
    is_over = fact.kind == "state" or not fact.is_open
    return began_later or (is_over and fact.invalid_at is not None and fact.invalid_at <= period.start)


def own_of(wanted: FactFilter) -> FactFilter:
    """The filter for the facts of its entity."""
    return wanted.model_copy(update={"neighbour_uuid": None})


def labels_of(types: Sequence[str]) -> tuple[str, ...]:
    """Types as stored: in the caller's spelling and capitalised."""
    plain = [checked_text("entity_types", text) for text in types if text]
    return tuple(dict.fromkeys(label for text in plain for label in (text, text[0].upper() + text[1:])))
