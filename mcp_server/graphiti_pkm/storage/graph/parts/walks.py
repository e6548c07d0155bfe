"""Walks over more than one edge: the queries of the capability explore."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeAlias

from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.walks import FactSource, Neighbourhood, SourceMode, SourcePage
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import paths as queries_paths
from graphiti_pkm.storage.graph.queries import read as queries_read
from graphiti_pkm.storage.graph.queries.values import Row

if TYPE_CHECKING:
    from graphiti_pkm.storage.graph.database import Database

_Way: TypeAlias = tuple[str, ...]
"""Uuids of the entities along a path."""

MOST_FACTS = 250_000
"""Maximum number of facts that one hop reads: some seconds."""


class Walks(Part):
    """The port ``GraphWalks``."""

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
            held=total[0]["held"] or 0,
        )

    async def shortest_paths(
        self, source_uuid: str, target_uuid: str, wanted: FactFilter, max_hops: int, limit: int
    ) -> list[tuple[Fact, ...]]:
        db = await self._db()
        (found,) = await db.read(queries_paths.degrees([source_uuid, target_uuid]))
        degrees = {row["uuid"]: row["facts"] for row in found}
        if source_uuid == target_uuid or not {source_uuid, target_uuid} <= degrees.keys():
            return []
        source, target = (_End.at(uuid, degrees[uuid]) for uuid in (source_uuid, target_uuid))
        ways = await _shortest_ways(db, source, target, wanted, max_hops, limit)
        steps = list(dict.fromkeys(step for way in ways for step in pairwise(way)))
        joining = await db.read(*(queries_paths.fact_joining(*step, wanted) for step in steps))
        facts = {step: mapping.fact(rows[0]) for step, rows in zip(steps, joining, strict=True) if rows}
        return [
            tuple(facts[step] for step in pairwise(way))
            for way in ways
            if all(step in facts for step in pairwise(way))  # one may have been deleted in between
        ]

    async def neighbourhood(
        self, entity_uuids: Sequence[str], wanted: FactFilter, hops: int, max_entities: int, max_facts: int
    ) -> Neighbourhood:
        db = await self._db()
        starts = list(dict.fromkeys(entity_uuids))
        rings: list[list[str]] = [starts]
        seen = list(starts)
        left_out = 0
        while len(rings) <= hops and rings[-1] and not left_out:
            room = max_entities + len(starts) - len(seen)
            ((ring,),) = await db.read(queries_paths.ring(rings[-1], seen, wanted, room))
            rings.append(ring["uuids"])
            seen += ring["uuids"]
            left_out = ring["total"] - len(ring["uuids"])
        among, total = await db.read_apart(*queries_paths.facts_among(seen, wanted, max_facts))
        (found,) = await db.read(queries_read.entities(seen[len(starts) :], wanted.group_ids))
        entities = {row["uuid"]: mapping.entity(row) for row in found}
        return Neighbourhood(
            entities=tuple(
                (entities[uuid], hop) for hop, uuids in enumerate(rings) for uuid in uuids if uuid in entities
            ),
            entities_left_out=left_out,
            facts=tuple(map(mapping.fact, among)),
            facts_total=total[0]["total"],
        )


@dataclass
class _End:
    """Entities reached from one end of a path so far."""

    before: dict[str, list[str]]
    """By entity, (some of) those one hop nearer to the end; empty for the end itself."""
    frontier: list[str]
    hops: int
    cost: int
    """Number of facts that the next hop reads."""

    @classmethod
    def at(cls, uuid: str, facts: int) -> "_End":
        return cls({uuid: []}, [uuid], 0, facts)

    def go_on(self, rows: Sequence[Row]) -> None:
        new = {row["uuid"]: row for row in rows if row["uuid"] not in self.before}
        self.before |= {uuid: row["before"] for uuid, row in new.items()}
        self.frontier = list(new)
        self.hops += 1
        self.cost = sum(row["facts"] for row in new.values())

    def ways_to(self, uuid: str) -> Iterator[_Way]:
        """Paths from the end, without duplicates."""
        if not self.before[uuid]:
            yield (uuid,)
        for nearer in sorted(self.before[uuid]):
            for way in self.ways_to(nearer):
                yield (*way, uuid)


async def _shortest_ways(
    db: "Database", source: _End, target: _End, wanted: FactFilter, max_hops: int, limit: int
) -> list[_Way]:
    """At most ``limit`` paths of equal length; all, if there are fewer.

    Each entity remembers ``limit`` of those it was reached from: if there are more, these are ways enough.
    """
    while source.hops + target.hops < max_hops:
        end = min((source, target), key=lambda one: one.cost)
        if not end.frontier:
            break
        if end.cost > MOST_FACTS:
            raise InvalidInput(
                f"More than {MOST_FACTS:,} facts lie between the two, without a path so far. Narrow it with as_of, "
                "valid_after, include_invalidated=false or fewer max_hops."
            )
        (found,) = await db.read(queries_paths.steps(end.frontier, wanted, limit))
        end.go_on(found)
        if met := sorted(set(source.frontier) & set(target.frontier)):
            ways = (
                (*to_middle, *reversed(from_middle[:-1]))
                for middle in met
                for to_middle in source.ways_to(middle)
                for from_middle in target.ways_to(middle)
            )
            return sorted(islice(ways, limit))
    return []
