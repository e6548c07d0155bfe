"""Loads a limited part of memory into a scratch graph, as it is now or as it was at a moment. Memory is only read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from graphiti_pkm.capabilities.explore.ports import GraphWalks
from graphiti_pkm.capabilities.scratch.limits import Load
from graphiti_pkm.capabilities.scratch.memory_bridge.memory import content_of, labels_for
from graphiti_pkm.capabilities.scratch.models.memory import Beyond, LoadMemoryResponse
from graphiti_pkm.capabilities.scratch.requests import LoadMemoryGraph
from graphiti_pkm.capabilities.scratch.tenants import OpenGraph, ScratchGraphs, checked_name
from graphiti_pkm.capabilities.search.ports import GraphNeighbours
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import normalise_name, search_terms
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.model.walks import Neighbourhood
from graphiti_pkm.core.reading.candidates import PERSON_WORDS, POOL, checked_text
from graphiti_pkm.core.reading.fact_lists import FactLists
from graphiti_pkm.core.reading.paging import LOADED_HOPS, LOADED_NODES
from graphiti_pkm.core.reading.ranking import ranked
from graphiti_pkm.core.reading.reader import NOTHING_OF_ME, GroupIds
from graphiti_pkm.core.reading.views import clipped, status_of
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, NotFound

MIN_COSINE = 0.4
"""The minimum cosine of a start entity that contains no word of the query. With MiniLM, unrelated queries ("zzzz quux",
"penguin migration") reached at most 0.32, related ones ("jogging" and Berlin Marathon) at least 0.42."""


@dataclass(frozen=True)
class Seeds:
    """The entities from which a load starts, and the groups that it reads."""

    entities: Sequence[Entity]
    group_ids: tuple[str, ...]
    note: str | None = None


class SeedSearch(Searching):
    """The ranking of ``search_nodes`` without results that are merely the nearest."""

    async def seeds(self, caller: Caller, query: str, group_ids: GroupIds, most: int) -> Seeds:
        """At most ``most`` entities, the best first. Raises InvalidInput if the query has no word."""
        groups = self._groups.searched(caller, group_ids)
        wanted = EntityFilter(group_ids=groups)
        scores, words = await self._node_scores(checked_text("query", query), wanted, None, self._context.now())
        uuids = [uuid for uuid, _ in ranked(scores.by_uuid)]
        if search_terms(query, 1):
            fitting = await self._fitting(query, wanted)
            uuids = [uuid for uuid in uuids if uuid in fitting]
        found = {one.uuid: one for one in await self._graph.records.get_entities(uuids[:most], groups)}
        return Seeds([found[uuid] for uuid in uuids[:most] if uuid in found], groups, words.note if words else None)

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


MOST_SEEDS = 50
_FOUND = 10
"""The most entities from which a query starts."""
_FACTS_A_NODE = 10
_FACTS_OF_ONE = 200
"""Facts of one entity that are read in an earlier state of the record."""
_ALIASES = 20
"""Other names of one entity by which its node is found."""
_AROUND = 200
"""Entities next to the loaded ones whose facts are counted."""
_MOST_LISTED = 20
_NAME = 200


@dataclass(frozen=True)
class _Loaded:
    """The result of one load."""

    labels: dict[str, str]
    renamed: list[str]
    nodes_added: int
    edges_added: int
    node_count: int
    edge_count: int


@dataclass(frozen=True)
class _Outside:
    """What lies next to the loaded entities."""

    total: int
    facts: Counter[str]
    """By loaded entity, its facts that lead out, as far as they were counted."""


class ScratchBridge(FactLists):
    """``load_memory_graph``."""

    def __init__(
        self, context: Context, groups: Groups, graphs: ScratchGraphs, walks: GraphWalks, neighbours: GraphNeighbours
    ) -> None:
        super().__init__(context, groups)
        self._walks = walks
        self._searching = SeedSearch(context, groups, neighbours)
        self._graphs = graphs

    async def load_memory_graph(self, caller: Caller, request: LoadMemoryGraph) -> LoadMemoryResponse:
        """Merge the entities around the start entities, with the facts between them, into a scratch graph.

        With ``as_of`` only states that were valid at that time are loaded. Without ``group_ids`` the groups of the
        given entities are read, or the default group for a query.

        Raises:
            InvalidInput: not exactly one of entity_uuids and query is given, or a limit is exceeded.
            NotFound: the caller can see no entity with a given uuid; nothing was loaded.
            TooLarge: the graph would become too large; nothing was loaded.
        """
        name, hops, limit = checked_name(request.graph), request.hops, request.limit
        now, instant = self._context.now(), self._instant("as_of", request.as_of)
        seeds = await self._seeds(caller, request.entity_uuids, request.query, request.group_ids, limit)
        known = await self._known(request.known_at, seeds.group_ids, now)
        wanted = FactFilter(
            group_ids=seeds.group_ids,
            now=now,
            as_of=instant,
            known_at=known.at,
            by_reference_time=known.by_reference_time,
            status=None if instant is None else "current",
            only_current=not request.include_invalidated,
        )
        walk = self._walks.neighbourhood if known.at is None else self._neighbourhood_known
        found = await walk(
            [one.uuid for one in seeds.entities], wanted, hops, limit - len(seeds.entities), limit * _FACTS_A_NODE
        )
        among = [*seeds.entities, *(entity for entity, _ in found.entities)]
        beyond = await self._beyond(among, wanted)
        events = 0 if instant is None else await self._events(among, wanted)
        if request.query is not None and instant is not None and hops:
            seeds = _with_facts_then(seeds, found, self._context.settings.zone, instant)
        aliases = await self._graph.records.aliases([one.uuid for one in among], _ALIASES) if among else {}
        async with self._graphs.writing(caller, name) as opened:
            loaded = await in_thread(self._put, opened, seeds.entities, found, now, instant, known.at)
            facts_left_out = found.facts_total - len(found.facts)
            is_cut = bool(found.entities_left_out or facts_left_out)
            load = Load(
                _asked(seeds, request), _when(request), beyond.total, is_cut=is_cut, facts_left_out=facts_left_out
            )
            opened.graph.loads.append(load)
            for uuid, names in aliases.items():
                if uuid in loaded.labels:
                    opened.graph.call(loaded.labels[uuid], names)
        entities = len(seeds.entities) + len(found.entities)
        return LoadMemoryResponse(
            message=_told(name, entities, found, loaded, hops, beyond, is_then=instant is not None),
            graph=name,
            nodes_added=loaded.nodes_added,
            edges_added=loaded.edges_added,
            entities_loaded=entities,
            facts_loaded=len(found.facts),
            node_count=loaded.node_count,
            edge_count=loaded.edge_count,
            starts=[clipped(loaded.labels[one.uuid], _NAME) for one in seeds.entities],
            truncated=is_cut,
            beyond=[
                Beyond(label=clipped(loaded.labels[uuid], _NAME), facts=facts)
                for uuid, facts in beyond.facts.most_common(_MOST_LISTED)
                if uuid in loaded.labels
            ]
            or None,
            beyond_total=beyond.total or None,
            events_left_out=events or None,
            nodes_left_out=found.entities_left_out or None,
            facts_left_out=facts_left_out or None,
            renamed=[clipped(label, _NAME) for label in loaded.renamed[:_MOST_LISTED]] or None,
            scope=await self._scope(
                caller,
                seeds.group_ids,
                empty=not seeds.entities,
                note=" ".join(filter(None, (seeds.note, known.note, self._read_as(request.as_of, request.known_at))))
                or None,
            ),
        )

    async def _seeds(
        self, caller: Caller, entity_uuids: Sequence[str] | None, query: str | None, group_ids: GroupIds, limit: int
    ) -> Seeds:
        if (entity_uuids is None) == (query is None) or not (entity_uuids or query):
            raise InvalidInput("Nothing was loaded: give either entity_uuids (search_nodes finds them) or a query.")
        if query is not None:
            return await self._searching.seeds(caller, query, group_ids, min(_FOUND, limit))
        uuids = list(dict.fromkeys(entity_uuids or ()))
        if len(uuids) > min(MOST_SEEDS, limit):
            raise InvalidInput(f"Nothing was loaded: at most {min(MOST_SEEDS, limit)} entity_uuids, not {len(uuids)}.")
        wanted = self._groups.many(caller, group_ids)
        visible = await self._groups.visible(caller)
        searched = visible if wanted is None else tuple(group for group in wanted if group in visible)
        whole = [await self._whole(caller, uuid, wanted, visible) for uuid in uuids]
        entities = await self._graph.records.get_entities(list(dict.fromkeys(whole)), searched)
        known = {one.uuid for one in entities}
        for uuid in whole:
            if uuid not in known:
                raise unknown("entity", uuid)
        return Seeds(entities, wanted or tuple(dict.fromkeys(one.group_id for one in entities)))

    async def _whole(self, caller: Caller, uuid: str, wanted: tuple[str, ...] | None, visible: tuple[str, ...]) -> str:
        if normalise_name(uuid) in PERSON_WORDS:
            person = await self._person_uuid(caller, wanted or (self._groups.one(caller, None),))
            if person is None:
                raise NotFound(f"Nothing was loaded: {NOTHING_OF_ME}.")
            uuid = person
        return await resolve_within(self._graph, visible, "entity", uuid)

    async def _neighbourhood_known(
        self, entity_uuids: Sequence[str], wanted: FactFilter, hops: int, max_entities: int, max_facts: int
    ) -> Neighbourhood:
        """As ``GraphWalks.neighbourhood`` in an earlier state of the record, in which corrected facts still connect."""
        hop_of = dict.fromkeys(entity_uuids, 0)
        facts: dict[str, Fact] = {}
        total, left_out = 0, 0
        for hop in range(hops + 1):
            ring: Counter[str] = Counter()
            for uuid in [one for one, at in hop_of.items() if at == hop]:
                page = await self._graph.facts.connections(uuid, wanted, Window(limit=_FACTS_OF_ONE))
                total += page.total - len(page.facts)
                for fact in page.facts:
                    if not fact.voided and fact.source_uuid != fact.target_uuid:
                        facts[fact.uuid] = fact
                        ring.update({fact.source_uuid, fact.target_uuid} - hop_of.keys())
            if left_out or hop == hops:
                break
            entities = await self._graph.records.get_entities(list(ring), wanted.group_ids)
            entities.sort(key=lambda one: (-ring[one.uuid], one.name, one.uuid))
            room = max_entities + len(entity_uuids) - len(hop_of)
            hop_of |= dict.fromkeys((one.uuid for one in entities[:room]), hop + 1)
            left_out = len(entities) - len(entities[:room])
        among = [one for one in facts.values() if {one.source_uuid, one.target_uuid} <= hop_of.keys()]
        named = await self._as_known(among[:max_facts], wanted.group_ids, wanted.known_at)
        reached = await self._graph.records.get_entities([one for one, at in hop_of.items() if at], wanted.group_ids)
        return Neighbourhood(
            entities=tuple(sorted(((one, hop_of[one.uuid]) for one in reached), key=lambda pair: pair[1])),
            entities_left_out=left_out,
            facts=tuple(named),
            facts_total=len(among) + total,
        )

    async def _beyond(self, among: Sequence[Entity], wanted: FactFilter) -> "_Outside":
        """What lies next to the loaded entities, in the present record."""
        inside = {one.uuid for one in among}
        if not inside:
            return _Outside(0, Counter())
        now = wanted.model_copy(update={"known_at": None, "by_reference_time": False})
        around = await self._walks.neighbourhood(list(inside), now, 1, _AROUND, _AROUND * _FACTS_A_NODE)
        ends = [{fact.source_uuid, fact.target_uuid} & inside for fact in around.facts]
        facts = Counter(uuid for pair in ends if len(pair) == 1 for uuid in pair)
        return _Outside(len(around.entities) + around.entities_left_out, facts)

    async def _events(self, among: Sequence[Entity], wanted: FactFilter) -> int:
        """How many facts that never hold, as events, lie between the loaded entities."""
        if not among:
            return 0
        unlike = FactFilter(group_ids=wanted.group_ids, now=wanted.now, kinds=("event", "plan", "reading"))
        found = await self._walks.neighbourhood([one.uuid for one in among], unlike, 0, 1, 1)
        return found.facts_total

    def _put(
        self,
        opened: OpenGraph,
        seeds: Sequence[Entity],
        found: Neighbourhood,
        now: datetime,
        as_of: datetime | None,
        known_at: datetime | None,
    ) -> _Loaded:
        """Adds all or nothing; runs in a thread while the graph is locked."""

        def status(fact: Fact) -> str:
            return status_of(fact, now, as_of, known_at)

        entities = [*seeds, *(entity for entity, _ in found.entities)]
        labels, renamed = labels_for(entities, opened.graph)
        content = content_of(entities, found.facts, labels, opened.graph, self._groups.public, status)
        added = opened.graph.apply(content)
        return _Loaded(
            labels, renamed, added.nodes_added, added.edges_added, opened.graph.node_count, opened.graph.edge_count
        )


def _with_facts_then(seeds: Seeds, found: Neighbourhood, zone: tzinfo, instant: datetime) -> Seeds:
    """The starts for which a fact was valid at that time, or all if there are none."""
    joined = {end for fact in found.facts for end in (fact.source_uuid, fact.target_uuid)}
    kept = [one for one in seeds.entities if one.uuid in joined]
    if kept or not seeds.entities:
        return replace(seeds, entities=kept)
    told = f"Of none of the entities that fit the query memory knows a fact that held on {show_time(instant, zone)}."
    return replace(seeds, note=" ".join(filter(None, (seeds.note, told))))


def _asked(seeds: Seeds, request: LoadMemoryGraph) -> str:
    starts = sorted(one.uuid for one in seeds.entities) if request.query is None else [request.query]
    ended = "" if request.include_invalidated else ", only what holds now"
    return f"{', '.join(starts)}; {request.hops} hops in {', '.join(seeds.group_ids)}{ended}"


def _when(request: LoadMemoryGraph) -> str:
    told = (("as of", request.as_of), ("as known at", request.known_at))
    return ", ".join(f"{words} {at}" for words, at in told if at) or "now"


def _told(
    name: str, entities: int, found: Neighbourhood, loaded: _Loaded, hops: int, beyond: _Outside, *, is_then: bool
) -> str:
    if not entities:
        return "Nothing was loaded: no entity fits the query. search_nodes shows what there is."
    told = f"Loaded {entities} entities and {len(found.facts)} facts within {hops} hop(s) into scratch graph {name!r}"
    if is_then:
        told += ", as they held then"
    if found.entities_left_out:
        told += f"; {found.entities_left_out} more entities did not fit, limit can be {LOADED_NODES.maximum:,}"
    if beyond.total:
        told += f"; {beyond.total} entities next to them were not loaded, see beyond, hops can be {LOADED_HOPS.maximum}"
    if loaded.renamed:
        told += f"; {len(loaded.renamed)} have a name that another has too, see renamed"
    return f"{told}. Memory is unchanged; changes go back only with commit_graph."
