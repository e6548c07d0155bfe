"""Walks over more than one edge: the queries of the capability explore."""

from collections.abc import Collection, Sequence
from itertools import pairwise

from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.walks import FactSource, Neighbourhood, SourceMode, SourcePage
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.path_search import End, PathSearch
from graphiti_pkm.storage.graph.queries import paths as queries_paths
from graphiti_pkm.storage.graph.queries import read as queries_read


class Walks(Part):
    """The port ``GraphWalks``."""

    async def fact_sources(self, fact: Fact, group_ids: Sequence[str], mode: SourceMode, window: Window) -> SourcePage:
        page, total = await self._read(*queries_paths.fact_sources(fact, group_ids, mode, window))
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
            held=total[0]["held"] or 0,
        )

    async def shortest_paths(
        self,
        source_uuid: str,
        target_uuid: str,
        wanted: FactFilter,
        max_hops: int,
        limit: int,
        avoided: Collection[str] = (),
    ) -> list[tuple[Fact, ...]]:
        found = await self._rows(queries_paths.degrees([source_uuid, target_uuid]))
        degrees = {row["uuid"]: row["facts"] for row in found}
        if source_uuid == target_uuid or not {source_uuid, target_uuid} <= degrees.keys():
            return []
        source, target = (End(uuid, degrees[uuid], avoided) for uuid in (source_uuid, target_uuid))
        search = PathSearch(source, target, max_hops)
        while (end := search.next_end()) is not None:
            found = await self._rows(queries_paths.steps(end.frontier, wanted, limit))
            new = [row for row in found if row["uuid"] not in end.closed]
            end.go_on({row["uuid"]: row["before"] for row in new}, sum(row["facts"] for row in new))
        ways = search.ways(limit)
        steps = list(dict.fromkeys(step for way in ways for step in pairwise(way)))
        joining = await self._read(*(queries_paths.fact_joining(*step, wanted) for step in steps))
        facts = {step: mapping.fact(rows[0]) for step, rows in zip(steps, joining, strict=True) if rows}
        return [
            tuple(facts[step] for step in pairwise(way))
            for way in ways
            if all(step in facts for step in pairwise(way))  # one may have been deleted in between
        ]

    async def neighbourhood(
        self,
        entity_uuids: Sequence[str],
        wanted: FactFilter,
        hops: int,
        max_entities: int,
        max_facts: int,
        avoided: Collection[str] = (),
    ) -> Neighbourhood:
        starts = list(dict.fromkeys(entity_uuids))
        rings: list[list[str]] = [starts]
        seen = list(starts)
        left_out = 0
        while len(rings) <= hops and rings[-1] and not left_out:
            room = max_entities + len(starts) - len(seen)
            inner = [one for one in rings[-1] if one not in avoided]
            (ring,) = await self._rows(queries_paths.ring(inner, seen, wanted, room))
            rings.append(ring["uuids"])
            seen += ring["uuids"]
            left_out = ring["total"] - len(ring["uuids"])
        among, total = await self._read(*queries_paths.facts_among(seen, wanted, max_facts))
        found = await self._rows(queries_read.entities(seen[len(starts) :], wanted.group_ids))
        entities = {row["uuid"]: mapping.entity(row) for row in found}
        return Neighbourhood(
            entities=tuple(
                (entities[uuid], hop) for hop, uuids in enumerate(rings) for uuid in uuids if uuid in entities
            ),
            entities_left_out=left_out,
            facts=tuple(map(mapping.fact, among)),
            facts_total=total[0]["total"],
        )
