"""What matters to a project: one of 10,000 entries against one of 100, in a memory of 100,000 entities.

Processor time of server and client in one process, so that what else the machine does counts little.
"""

import gc
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from mcp.client import Client
from tests.benchmarks.classic import p95
from tests.benchmarks.large_world import Vectors
from tests.benchmarks.measuring import Figure, Target, ms
from tests.benchmarks.world import client_of, memory
from tests.builders import a_fact, a_mention, a_name, a_project, a_write, an_entity, an_entry, an_episode

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.core.model.records import Entity, Fact, Project, Record

LARGE, SMALL, AROUND = 10_000, 100, 100_000
GROUP = "default"
_BATCH = 2_000
_MENTIONS = 3
"""Of each entry."""


async def figures(*, quick: bool = False) -> list[Figure]:
    """Both projects lie in one group."""
    large, around = (LARGE // 10, AROUND // 20) if quick else (LARGE, AROUND)
    async with memory() as opened:
        context = opened.context
        vectors = await Vectors.of_the_journal(context.settings)
        await context.graph.embeddings.record_embedding(context.embedder.model, context.embedder.dimension)
        store = Store(opened, vectors)
        await store([_named(f"N{n:06}") for n in range(around - large // 2)])
        for name, count, entities, facts in (("Small", SMALL, 200, 200), ("Large", large, large // 2, 2 * large)):
            await _project(store, name, count, entities, facts)
        gc.collect()
        gc.freeze()  # the records made here are no part of what is measured
        async with client_of(opened, toolsets=("projects",)) as client:
            return [await _read(client, large, limit) for limit in (50, 5)]


async def _read(client: Client, large: int, limit: int) -> Figure:
    few, many = [
        await p95(client, "get_project_memories", {"project_id": name, "limit": limit}) for name in ("Small", "Large")
    ]
    name = (
        f"get_project_memories through MCP, at most {limit}, {large:,} entries against {SMALL}, p95 of processor time"
    )
    return Figure(name, ms(many), ms(few), many / few, Target("<=", 3))


def _named(name: str) -> tuple[Record, ...]:
    entity = an_entity(name, group_id=GROUP)
    return entity, a_name(entity)


class Store:
    """Writes records with vectors: else the memory would be embedding meanwhile."""

    def __init__(self, opened: Memory, vectors: Vectors) -> None:
        self._writer = opened.context.graph.writer
        self._vectors = vectors
        self._stored = 0

    async def __call__(self, records: Sequence[tuple[Record, ...]]) -> None:
        for start in range(0, len(records), _BATCH):
            together = [record for some in records[start : start + _BATCH] for record in some]
            embedded = [record.uuid for record in together if isinstance(record, Entity | Fact)]
            drawn = self._vectors.draw(len(embedded), seed=self._stored)
            self._stored += len(together)
            await self._writer.apply(a_write(*together, group_id=GROUP), dict(zip(embedded, drawn, strict=True)))


async def _project(store: Store, name: str, count: int, entities: int, facts: int) -> None:
    """Mentions and facts of entities drawn by chance, some much more often than others."""
    draw = random.Random(count)  # noqa: S311 no secret
    entity = an_entity(name, label="Project", group_id=GROUP)
    project = a_project(entity)
    nodes = [_named(f"{name} {n}") for n in range(entities)]
    await store([(entity, a_name(entity), project), *nodes])
    known = [node for node, _ in nodes if isinstance(node, Entity)]
    now = datetime.now(UTC)
    await store([_entry(project, n, draw, known, now) for n in range(count)])
    ends = [draw.sample(known, 2) for _ in range(facts)]
    await store([(a_fact(source, target, "USES", group_id=GROUP),) for source, target in ends])


def _entry(
    project: Project, number: int, draw: random.Random, known: Sequence[Entity], now: datetime
) -> tuple[Record, ...]:
    at = now - timedelta(hours=number)
    episode = an_episode(f"Note {number}", group_id=GROUP, valid_at=at, created_at=at)
    places = {int(len(known) * draw.random() ** 2) for _ in range(_MENTIONS)}
    return episode, an_entry(episode, project), *(a_mention(episode, known[place]) for place in sorted(places))
