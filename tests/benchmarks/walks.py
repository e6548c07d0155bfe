"""Paths, subgraphs and changes in a graph of 100,000 facts with a hub of 10,000, against a quarter of it."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

from tests.benchmarks.measuring import Figure, Side, Target, Times, in_turn, ms
from tests.benchmarks.world import call, client_of, memory
from tests.builders import RECORDED, a_fact, a_write, an_entity

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.core.model.records import Entity, Fact

SIZES = (25_000, 100_000)
"""Facts of a group; a fifth as many entities."""
HUB_FACTS = 10_000
"""In both, so that only the graph grows; two of them with each entity near the hub."""
ROUNDS = 60
_NEAR = 100
"""Most facts join entities so close in a row; one of twenty goes anywhere."""
_BATCH = 1_000
PATH, SUBGRAPH, HUB, CHANGED = KINDS = (
    "find_entity_path of two at random",
    "get_entity_subgraph, 2 hops of one at random",
    "get_entity_subgraph, 2 hops of the hub",
    "what_changed, the last day",
)


@dataclass(frozen=True)
class Land:
    """One group; the first of its entities is the hub."""

    group_id: str
    entities: list[Entity]
    facts: list[Fact]


async def figures(sizes: Sequence[int] = SIZES, rounds: int = ROUNDS) -> list[Figure]:
    """95th percentiles through MCP; both groups stand in one database."""
    lands = [make_land(size) for size in sizes]
    async with memory(toolsets=("memory", "graph")) as opened, client_of(opened) as client:
        for land in lands:
            await _load(opened, land)
        small, big = [await in_turn(_sides(client, land), rounds) for land in lands]
    return [_figure(kind, big[kind], small[kind], sizes) for kind in KINDS]


def make_land(size: int) -> Land:
    """A row of entities, each joined with near ones and a few far ones, and the first of them with the hub."""
    draw = random.Random(size)  # noqa: S311 the same graph in every run
    group = f"walks-{size}"
    entities = [an_entity(f"Place {i}", group_id=group) for i in range(size // 5)]
    spokes = min(HUB_FACTS // 2, len(entities) - 1)
    ends = [(0, 1 + i % spokes) for i in range(2 * spokes)]
    while len(ends) < size:
        one = draw.randrange(1, len(entities))
        other = draw.randrange(1, len(entities)) if draw.random() < 1 / 20 else one + draw.randint(1, _NEAR)
        ends.append((one, other % len(entities) or 1))
    facts = [
        a_fact(
            *(entities[end] for end in (pair if i % 2 else pair[::-1])),
            "LEADS_TO",
            created_at=RECORDED - timedelta(minutes=i % size),
        )
        for i, pair in enumerate(ends)
    ]
    return Land(group, entities, facts)


async def _load(opened: Memory, land: Land) -> None:
    """Without vectors: no query here compares them."""
    for records in (land.entities, land.facts):
        for i in range(0, len(records), _BATCH):
            await opened.context.graph.writer.apply(a_write(*records[i : i + _BATCH]), {})


def _sides(client: Any, land: Land) -> dict[str, Side]:
    """Each call asks about other entities, near the hub in either graph."""
    draw, turn = random.Random(1), count()  # noqa: S311 the same questions in every run
    asked = [draw.sample(land.entities[1 : HUB_FACTS // 2], 2) for _ in range(1_000)]

    async def path() -> None:
        one, other = asked[next(turn) % len(asked)]
        await call(client, "find_entity_path", source_uuid=one.uuid, target_uuid=other.uuid)

    async def subgraph() -> None:
        await call(client, "get_entity_subgraph", entity_uuid=asked[next(turn) % len(asked)][0].uuid, hops=2)

    async def hub() -> None:
        answer = await call(client, "get_entity_subgraph", entity_uuid=land.entities[0].uuid, hops=2)
        assert answer["truncated"]

    async def changed() -> None:
        since = (RECORDED - timedelta(days=1)).isoformat()
        answer = await call(client, "what_changed", since=since, group_ids=[land.group_id])
        assert answer["total"] >= min(len(land.facts), 1_440)

    return dict(zip(KINDS, (path, subgraph, hub, changed), strict=True))


def _figure(kind: str, big: Times, small: Times, sizes: Sequence[int]) -> Figure:
    more, less = (statistics.quantiles(times.milliseconds, n=20)[-1] for times in (big, small))
    what = f"{kind}, {sizes[-1]:,} facts against {sizes[0]:,}, p95"
    return Figure(what, ms(more), ms(less), more / less, Target("<=", 2.0))
