"""The port ``GraphWalks``: reads that go further than one edge."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from graphiti_pkm.domain.queries import FactFilter, Window
from graphiti_pkm.domain.records import Fact
from graphiti_pkm.domain.walks import FactSource, Neighbourhood, SourceMode, SourcePage
from graphiti_pkm.graph import mapping, queries_paths, queries_read
from graphiti_pkm.graph.reading import Connected

if TYPE_CHECKING:
    from graphiti_pkm.graph.drivers import Database

_Way: TypeAlias = tuple[str, ...]
"""Uuids of the entities along a path."""


class Walks(Connected):
    """The part of the graph that walks."""

    async def fact_sources(self, fact: Fact, group_ids: Sequence[str], mode: SourceMode, window: Window) -> SourcePage:
        page, total = await (await self._db()).read_apart(*queries_paths.fact_sources(fact, group_ids, mode, window))
        return SourcePage(
            sources=tuple(
                FactSource(
                    episode_uuid=row["id"],
                    holds_quote=row["first"] == 1,
                    start=row["start"],
                    end=row["end"],
                    best=row["best"],
                    cosine=row["score"] / queries_paths.COSINE_UNITS
                    if queries_paths.is_compared(row["score"])
                    else None,
                )
                for row in page
            ),
            keys=tuple((row["first"], row["score"], row["va"], row["id"], row["place"]) for row in page),
            total=total[0]["total"],
        )

    async def shortest_paths(
        self, source_uuid: str, target_uuid: str, wanted: FactFilter, max_hops: int, limit: int
    ) -> list[tuple[Fact, ...]]:
        db = await self._db()
        (found,) = await db.read(queries_paths.degrees([source_uuid, target_uuid]))
        degrees = {row["uuid"]: row["facts"] for row in found}
        if source_uuid == target_uuid or not {source_uuid, target_uuid} <= degrees.keys():
            return []
        begin, end = sorted((source_uuid, target_uuid), key=lambda uuid: degrees[uuid])
        ways = await _shortest_ways(db, begin, end, wanted, max_hops, limit)
        ways = sorted(way if begin == source_uuid else way[::-1] for way in ways)
        steps = list(dict.fromkeys(step for way in ways for step in pairwise(way)))
        joining = await db.read(*(queries_paths.fact_joining(*step, wanted) for step in steps))
        facts = {step: mapping.fact(rows[0]) for step, rows in zip(steps, joining, strict=True) if rows}
        return [
            tuple(facts[step] for step in pairwise(way))
            for way in ways
            if all(step in facts for step in pairwise(way))  # one may have been deleted in between
        ]

    async def neighbourhood(
        self, entity_uuid: str, wanted: FactFilter, hops: int, max_entities: int, max_facts: int
    ) -> Neighbourhood:
        db = await self._db()
        rings: list[list[str]] = [[entity_uuid]]
        seen = [entity_uuid]
        left_out = 0
        while len(rings) <= hops and rings[-1] and not left_out:
            ((ring,),) = await db.read(queries_paths.ring(rings[-1], seen, wanted, max_entities + 1 - len(seen)))
            rings.append(ring["uuids"])
            seen += ring["uuids"]
            left_out = ring["total"] - len(ring["uuids"])
        among, total = await db.read_apart(*queries_paths.facts_among(seen, wanted, max_facts))
        (found,) = await db.read(queries_read.entities(seen[1:], wanted.group_ids))
        entities = {row["uuid"]: mapping.entity(row) for row in found}
        return Neighbourhood(
            entities=tuple(
                (entities[uuid], hop) for hop, uuids in enumerate(rings) for uuid in uuids if uuid in entities
            ),
            entities_left_out=left_out,
            facts=tuple(map(mapping.fact, among)),
            facts_total=total[0]["total"],
        )


async def _shortest_ways(
    db: "Database", begin: str, end: str, wanted: FactFilter, max_hops: int, limit: int
) -> list[_Way]:
    """At most ``limit`` ways of equal length, all there are if they are fewer.

    A way takes as many of the sampled paths as it has combinations of facts. Where that leaves too few ways, the
    rest are found one by one: each leaves a known way somewhere for an entity to which no known one goes from there.
    """
    query = queries_paths.shortest_ways(begin, end, wanted, max_hops, queries_paths.SAMPLE)
    (found,) = await db.read(query)
    ways: list[_Way] = [tuple(row["way"]) for row in found][:limit]
    if sum(row["paths"] for row in found) < queries_paths.SAMPLE:
        return ways
    exhausted: set[_Way] = set()
    while len(ways) < limit:
        start = next((way[:i] for way in ways for i in range(1, len(way) - 1) if way[:i] not in exhausted), None)
        if start is None:
            break
        taken = [way[len(start)] for way in ways if way[: len(start)] == start]
        hops = len(ways[0]) - len(start)
        (found,) = await db.read(queries_paths.shortest_ways(start[-1], end, wanted, hops, 1, taken))
        if found:
            ways.append((*start[:-1], *found[0]["way"]))
        else:
            exhausted.add(start)
    return ways
