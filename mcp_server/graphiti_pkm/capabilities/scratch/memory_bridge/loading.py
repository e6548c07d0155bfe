"""Loads a limited part of memory into a scratch graph, as it is now or as it was at a moment. Memory is only read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from graphiti_pkm.capabilities.explore.ports import GraphWalks
from graphiti_pkm.capabilities.explore.surroundings import surroundings
from graphiti_pkm.capabilities.scratch.limits import Load
from graphiti_pkm.capabilities.scratch.memory_bridge.memory import content_of, labels_for
from graphiti_pkm.capabilities.scratch.memory_bridge.seeds import Seeds, SeedSearch
from graphiti_pkm.capabilities.scratch.models.memory import Beyond, LoadMemoryResponse
from graphiti_pkm.capabilities.scratch.requests import LoadMemoryGraph
from graphiti_pkm.capabilities.scratch.tenants import OpenGraph, ScratchGraphs, checked_name
from graphiti_pkm.capabilities.search.ports import GraphNeighbours
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.model.times import show_time
from graphiti_pkm.core.model.walks import Neighbourhood
from graphiti_pkm.core.reading.fact_lists import FactLists
from graphiti_pkm.core.reading.paging import LOADED_HOPS, LOADED_NODES
from graphiti_pkm.core.reading.views import clipped, status_of
from graphiti_pkm.core.waiting import in_thread

_FACTS_A_NODE = 10
_ALIASES = 20
"""Other names of one entity by which its node is found."""
_AROUND = 200
"""Entities next to the loaded ones whose facts are counted."""
_MOST_LISTED = 20
_MOST_STARTS = 50
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

        With ``as_of`` only states that were valid at that time are loaded, with ``known_at`` what memory knew then.
        Without ``group_ids`` the groups of given entities and episodes are read, else the default group.

        Raises:
            InvalidInput: nothing says where to start, or a limit is exceeded.
            NotFound: the caller can see no entity or episode with a given uuid; nothing was loaded.
            TooLarge: the graph would become too large; nothing was loaded.
        """
        name, hops, limit = checked_name(request.graph), request.hops, request.limit
        now, instant = self._context.now(), self._instant("as_of", request.as_of)
        seeds = await self._searching.seeds(caller, request)
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
        starts, room = [one.uuid for one in seeds.entities], limit - len(seeds.entities)
        found, values = await surroundings(self._walks, starts, wanted, hops, room, limit * _FACTS_A_NODE)
        named = await self._as_known(found.facts, seeds.group_ids, known.at)
        found = found.model_copy(update={"facts": tuple(named)})
        among = [*seeds.entities, *(entity for entity, _ in found.entities)]
        beyond = await self._beyond(among, wanted, values)
        events = 0 if instant is None else await self._events(among, wanted)
        if (then := instant or known.at) is not None and hops:
            seeds = _with_facts_then(seeds, found, self._context.settings.zone, then)
        aliases = await self._graph.records.aliases([one.uuid for one in among], _ALIASES) if among else {}
        async with self._graphs.writing(caller, name) as opened:
            loaded = await in_thread(self._put, opened, seeds.entities, found, now, instant, known.at)
            facts_left_out = found.facts_total - len(found.facts)
            nodes_left_out = found.entities_left_out + seeds.left_out
            is_cut = bool(nodes_left_out or facts_left_out)
            load = Load(
                _asked(seeds, request), _when(request), beyond.total, is_cut=is_cut, facts_left_out=facts_left_out
            )
            opened.graph.loads.append(load)
            for uuid, names in aliases.items():
                if uuid in loaded.labels:
                    opened.graph.call(loaded.labels[uuid], names)
        entities = len(seeds.entities) + len(found.entities)
        return LoadMemoryResponse(
            message=_told(name, entities, nodes_left_out, found, loaded, hops, beyond, is_then=instant is not None),
            graph=name,
            nodes_added=loaded.nodes_added,
            edges_added=loaded.edges_added,
            entities_loaded=entities,
            facts_loaded=len(found.facts),
            node_count=loaded.node_count,
            edge_count=loaded.edge_count,
            starts=[clipped(loaded.labels[one.uuid], _NAME) for one in seeds.entities[:_MOST_STARTS]],
            truncated=is_cut,
            beyond=[
                Beyond(label=clipped(loaded.labels[uuid], _NAME), facts=facts)
                for uuid, facts in beyond.facts.most_common(_MOST_LISTED)
                if uuid in loaded.labels
            ]
            or None,
            beyond_total=beyond.total or None,
            events_left_out=events or None,
            nodes_left_out=nodes_left_out or None,
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

    async def _beyond(self, among: Sequence[Entity], wanted: FactFilter, values: Sequence[str]) -> "_Outside":
        """What lies next to the loaded entities that are no values."""
        inside = {one.uuid for one in among}
        if not inside:
            return _Outside(0, Counter())
        around = await self._walks.neighbourhood(list(inside), wanted, 1, _AROUND, _AROUND * _FACTS_A_NODE, values)
        ends = [{fact.source_uuid, fact.target_uuid} & inside for fact in around.facts]
        facts = Counter(uuid for pair in ends if len(pair) == 1 for uuid in pair)
        return _Outside(len(around.entities) + around.entities_left_out, facts)

    async def _events(self, among: Sequence[Entity], wanted: FactFilter) -> int:
        """How many facts that never hold, as events, lie between the loaded entities."""
        if not among:
            return 0
        anything = {"as_of": None, "status": None, "only_current": False}
        unlike = wanted.model_copy(update={**anything, "kinds": ("event", "plan", "reading")})
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
    kept = [one for one in seeds.entities if one.uuid in joined or one.uuid in seeds.named]
    if kept or not seeds.entities:
        return replace(seeds, entities=kept)
    told = f"Of none of the entities that fit memory has a fact as of {show_time(instant, zone)}."
    return replace(seeds, note=" ".join(filter(None, (seeds.note, told))))


def _asked(seeds: Seeds, request: LoadMemoryGraph) -> str:
    ended = "" if request.include_invalidated else ", only what holds now"
    return f"{', '.join(seeds.asked)}; {request.hops} hops in {', '.join(sorted(seeds.group_ids))}{ended}"


def _when(request: LoadMemoryGraph) -> str:
    told = (("as of", request.as_of), ("as known at", request.known_at))
    return ", ".join(f"{words} {at}" for words, at in told if at) or "now"


def _told(
    name: str,
    entities: int,
    left_out: int,
    found: Neighbourhood,
    loaded: _Loaded,
    hops: int,
    beyond: _Outside,
    *,
    is_then: bool,
) -> str:
    if not entities:
        return "Nothing was loaded: no entity fits. search_nodes shows what there is."
    told = f"Loaded {entities} entities and {len(found.facts)} facts within {hops} hop(s) into scratch graph {name!r}"
    if is_then:
        told += ", as they held then"
    if left_out:
        told += f"; {left_out} more entities did not fit, limit can be {LOADED_NODES.maximum:,}"
    if beyond.total:
        told += f"; {beyond.total} entities next to them were not loaded, see beyond, hops can be {LOADED_HOPS.maximum}"
    if loaded.renamed:
        told += f"; {len(loaded.renamed)} have a name that another has too, see renamed"
    return f"{told}. Memory is unchanged; changes go back only with commit_graph."
