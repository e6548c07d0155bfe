"""Walks over facts: paths between two entities, and the surroundings of one; bounded in the database."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain, pairwise

from graphiti_pkm.capabilities.explore.ports import GraphWalks
from graphiti_pkm.capabilities.explore.requests import FindEntityPath, GetEntitySubgraph
from graphiti_pkm.capabilities.explore.surroundings import surroundings
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.parsed_facts import is_of_value
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import FactView, PathResponse, PathView, SubgraphNode, SubgraphResponse
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.reading.paging import (
    HOPS,
    PATHS,
    SUBGRAPH_FACTS,
    SUBGRAPH_HOPS,
    SUBGRAPH_NODES,
    budget,
    fit,
)
from graphiti_pkm.core.reading.reader import Anchor, Reader
from graphiti_pkm.core.reading.views import clipped, item_sizes

_NAME = 200
_SUMMARY = 200
_FACT = 500
_MOST_SHARED = 10
"""Searches for one answer: each leaves out the words for values that the one before led through."""
_MOST_NAMED = 3
_NODES_SHARE = 3
"""At most this fraction (1 / n) of an answer is used for entities, the rest for facts between them."""


class Paths(Reader):
    """``find_entity_path`` and ``get_entity_subgraph``."""

    def __init__(self, context: Context, groups: Groups, walks: GraphWalks) -> None:
        super().__init__(context, groups)
        self._walks = walks

    async def find_entity_path(self, caller: Caller, request: FindEntityPath) -> PathResponse:
        """The shortest paths between two entities over facts; an empty answer says why there is none.

        Without ``group_ids`` the entities' own groups are read.
        """
        hops, limit = request.max_hops, request.max_paths
        source = await self._anchor(caller, request.source_uuid, request.group_ids)
        target = await self._anchor(caller, request.target_uuid, request.group_ids)
        groups = tuple(dict.fromkeys((*source.group_ids, *target.group_ids)))
        now, instant = self._context.now(), self._instant("as_of", request.as_of)
        wanted = self._wanted(request, groups, now, instant)
        found, shared = await self._joining(source.uuid, target.uuid, wanted, hops, limit + 1)
        shown = found[:limit]
        kept = fit(
            (sum(item_sizes(self._lean(path, now, instant), groups)) + _NAME * (len(path) + 1) for path in shown),
            budget((HOPS, hops), (PATHS, limit)),
        )
        paths = shown[:kept]
        unique = {fact.uuid: fact for fact in chain.from_iterable(paths)}
        return PathResponse(
            message=_path_message(source, target, found, len(paths), hops, shared, is_filtered=_is_filtered(wanted)),
            source=source.entity and clipped(source.entity.name, _NAME),
            target=target.entity and clipped(target.entity.name, _NAME),
            hops=len(found[0]) if found else None,
            paths=[PathView(path=route(path, source.uuid), fact_uuids=[fact.uuid for fact in path]) for path in paths],
            truncated=len(paths) < len(found),
            scope=await self._scope(caller, groups, empty=not found, note=self._read_as(request.as_of)),
            facts=self._lean(list(unique.values()), now, instant),
        )

    async def _joining(
        self, source: str, target: str, wanted: FactFilter, hops: int, limit: int
    ) -> tuple[list[tuple[Fact, ...]], list[str]]:
        """The shortest paths over things, and the names of what two values of one kind have in common instead.

        Every decision has a status and a date; that two of them have is no connection.
        """
        shared: dict[str, str] = {}
        kept: list[tuple[Fact, ...]] = []
        for _ in range(_MOST_SHARED):
            found = await self._walks.shortest_paths(source, target, wanted, hops, limit, tuple(shared))
            if kept and (not found or len(found[0]) > len(kept[0])):
                return kept, list(shared.values())
            through = dict(chain.from_iterable(map(_shared_values, found)))
            if not through:
                return found, list(shared.values())
            kept = [path for path in found if not _shared_values(path)] or kept
            shared |= through
        return kept, list(shared.values())

    async def get_entity_subgraph(self, caller: Caller, request: GetEntitySubgraph) -> SubgraphResponse:
        """The entities around one, nearest and best connected first, with the facts among all of them."""
        hops, most_nodes, most_facts = request.hops, request.max_nodes, request.max_facts
        anchor = await self._anchor(caller, request.entity_uuid, request.group_ids)
        now, instant = self._context.now(), self._instant("as_of", request.as_of)
        wanted = self._wanted(request, anchor.group_ids, now, instant)
        found, values = await surroundings(self._walks, [anchor.uuid], wanted, hops, most_nodes - 1, most_facts)
        around = [(anchor.entity, 0), *found.entities] if anchor.entity else []
        nodes = [_node(entity, distance) for entity, distance in around]
        facts = self._lean(found.facts, now, instant)
        room = budget((SUBGRAPH_HOPS, hops), (SUBGRAPH_NODES, most_nodes), (SUBGRAPH_FACTS, most_facts))
        shown_nodes = nodes[: fit(item_sizes(nodes, anchor.group_ids), room // _NODES_SHARE)]
        used = sum(item_sizes(shown_nodes, anchor.group_ids))
        shown_facts = facts[: fit(item_sizes(facts, anchor.group_ids), room - used)]
        left_out = found.entities_left_out + len(nodes) - len(shown_nodes)
        return SubgraphResponse(
            message=_subgraph_message(anchor, len(shown_nodes), len(shown_facts), left_out, hops)
            + _no_further([one.name for one, _ in found.entities if one.uuid in values]),
            entity=anchor.entity and clipped(anchor.entity.name, _NAME),
            truncated=bool(left_out) or len(shown_facts) < found.facts_total,
            nodes_left_out=left_out or None,
            facts_total=found.facts_total,
            scope=await self._scope(caller, anchor.group_ids, empty=not found.facts, note=self._read_as(request.as_of)),
            nodes=shown_nodes,
            facts=shown_facts,
        )

    def _wanted(
        self,
        request: FindEntityPath | GetEntitySubgraph,
        group_ids: tuple[str, ...],
        now: datetime,
        as_of: datetime | None,
    ) -> FactFilter:
        return FactFilter(
            group_ids=group_ids,
            now=now,
            as_of=as_of,
            valid_after=self._instant("valid_after", request.valid_after),
            valid_before=self._instant("valid_before", request.valid_before),
            only_current=not request.include_invalidated,
        ).told_in(self._context.settings.zone)

    def _lean(self, facts: Sequence[Fact], now: datetime, as_of: datetime | None) -> list[FactView]:
        """Facts without the details that get_entity_edge returns: a walk has many."""
        views = [self._views.fact(fact, now, as_of=as_of) for fact in facts]
        return [
            view.model_copy(update={"fact": clipped(view.fact, _FACT), "quote": None, "attributes": {}, "episodes": []})
            for view in views
        ]


def route(path: Sequence[Fact], start_uuid: str) -> str:
    """E.g. "Maria -WORKS_AT-> Acme <-WORKS_AT- Tom"."""
    at = start_uuid
    words = [clipped(path[0].source_name if path[0].source_uuid == at else path[0].target_name, _NAME)]
    for fact in path:
        goes_on = fact.source_uuid == at
        words.append(f"-{fact.relation}->" if goes_on else f"<-{fact.relation}-")
        words.append(clipped(fact.target_name if goes_on else fact.source_name, _NAME))
        at = fact.target_uuid if goes_on else fact.source_uuid
    return " ".join(words)


def _node(entity: Entity, hops: int) -> SubgraphNode:
    return SubgraphNode(
        uuid=entity.uuid,
        name=clipped(entity.name, _NAME),
        labels=["Entity"] if entity.label in (None, "Entity") else ["Entity", str(entity.label)],
        hops=hops,
        summary=clipped(entity.summary, _SUMMARY),
    )


def _shared_values(path: Sequence[Fact]) -> list[tuple[str, str]]:
    """Uuid and name of what lies on a path only as the word for values: of both facts that meet there."""
    return [
        (one.target_uuid, one.target_name)
        for one, other in pairwise(path)
        if one.target_uuid == other.target_uuid and is_of_value(one) and is_of_value(other)
    ]


def _is_filtered(wanted: FactFilter) -> bool:
    return wanted.only_current or any((wanted.as_of, wanted.valid_after, wanted.valid_before))


def _path_message(
    source: Anchor,
    target: Anchor,
    found: Sequence[Sequence[Fact]],
    shown: int,
    hops: int,
    shared: Sequence[str],
    *,
    is_filtered: bool,
) -> str:
    if found:
        more = "; there are more of this length" if shown < len(found) else ""
        return f"Found {shown} path(s) of {len(found[0])} hop(s), the fewest there can be{more}"
    for end, anchor in (("source_uuid", source), ("target_uuid", target)):
        if anchor.entity is None:
            return f"No path: {end} names no entity; {anchor.unknown}."
    if source.uuid == target.uuid:
        return "No path: both ends are the same entity."
    if source.group_ids != target.group_ids:
        return "No path: the two are in different groups, and no fact joins groups."
    if is_filtered:
        return f"No path of at most {hops} hop(s) under these time filters; without them there may be one."
    further = f" max_hops can be {HOPS.maximum}." if hops < HOPS.maximum else ""
    words = ", ".join(clipped(name, _NAME) for name in sorted(shared)[:_MOST_NAMED])
    values = f"; only values meet between them ({words}), which is no connection" if shared else ""
    return f"No path: nothing within {hops} hop(s) joins the two{values}.{further}"


def _no_further(values: Sequence[str]) -> str:
    if not values:
        return ""
    words = ", ".join(clipped(name, _NAME) for name in sorted(values)[:_MOST_NAMED])
    return f"; values lead no further: {words}"


def _subgraph_message(anchor: Anchor, nodes: int, facts: int, left_out: int, hops: int) -> str:
    if anchor.entity is None:
        return f"No entity {anchor.asked}: {anchor.unknown}."
    name = clipped(anchor.entity.name, _NAME)
    if not facts:
        return f"{name} has no facts under these filters and groups"
    more = f"; {left_out} more did not fit, get_entity_connections pages through all of one" if left_out else ""
    return f"Found {nodes} node(s) and {facts} fact(s) within {hops} hop(s) of {name}{more}"
