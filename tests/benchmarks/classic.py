"""The tools of other memory servers: a thousand at once against one at a time, and their searches of a large memory.

Processor time of server and client in one process, so that what else the machine does counts little.
"""

import gc
from time import process_time
from typing import Any

from mcp.client import Client
from tests.benchmarks.large_world import Vectors
from tests.benchmarks.measuring import Figure, Target, ms
from tests.benchmarks.world import call, client_of, memory
from tests.builders import a_fact, a_name, a_write, an_entity

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.core.facts.observations import OBSERVATION
from graphiti_pkm.core.model.records import Entity, Fact, Name

AT_ONCE = 1_000
SINGLE = 40
"""Calls of one at a time; the time is scaled."""
SMALL, LARGE = 600, 100_000
RELATIONS = 2
_BATCH = 2_000
_ROUNDS = 40


async def figures(*, quick: bool = False) -> list[Figure]:
    """Both groups of the searches lie in one memory."""
    return [await _at_once(), *await _searches(LARGE // 20 if quick else LARGE)]


async def _at_once() -> Figure:
    async with memory() as opened, client_of(opened, toolsets=("compat",)) as client:

        async def write(first: int, count: int) -> None:
            entities = [{"name": f"Item {n}", "type": "Thing", "observations": []} for n in range(first, first + count)]
            relations = [
                {"source": one["name"], "target": "Hub", "relationType": "PART_OF"}
                for one in entities  # each a known name by then
            ]
            await call(client, "create_entities", entities=entities)
            await call(client, "create_relations", relations=relations)

        await call(client, "create_entities", entities=[{"name": "Hub", "type": "Thing"}])
        begun = process_time()
        for number in range(SINGLE):
            await write(number, 1)
        singly = (process_time() - begun) * AT_ONCE / SINGLE
        begun = process_time()
        await write(SINGLE, AT_ONCE)
        together = process_time() - begun
    name = "create_entities and create_relations, one at a time against 1,000 of each in a call, processor time"
    return Figure(name, f"{together:.1f} s", f"{singly:.1f} s", singly / together, Target(">=", 10))


async def _fill(opened: Memory, vectors: Vectors, group: str, count: int) -> None:
    """Each with a sentence, relations to the next ones, and vectors: else the memory would be embedding meanwhile."""

    async def store(seed: int, *records: Entity | Name | Fact) -> None:
        uuids = [one.uuid for one in records if not isinstance(one, Name)]
        drawn = dict(zip(uuids, vectors.draw(len(uuids), seed), strict=True))
        await opened.context.graph.writer.apply(a_write(*records, group_id=group), drawn)

    nodes = [an_entity(f"N{n:06}", label="Day", group_id=group) for n in range(count)]
    for start in range(0, count, _BATCH):
        part = nodes[start : start + _BATCH]
        await store(start, *part, *map(a_name, part))
    for start in range(0, count, _BATCH):
        facts = []
        for n in range(start, min(start + _BATCH, count)):
            one = nodes[n]
            text = f"{one.name} was a day of group {n % 97} and week {n // 7}"
            facts.append(a_fact(one, one, OBSERVATION, text=text, attributes={"position": 0}, group_id=group))
            facts += [a_fact(one, nodes[(n + k) % count], "NEXT_DAY", group_id=group) for k in range(1, RELATIONS + 1)]
        await store(count + start, *facts)


async def _searches(large: int) -> list[Figure]:
    async with memory(default_group="large") as opened:
        vectors = await Vectors.of_the_journal(opened.context.settings)
        await opened.context.graph.embeddings.record_embedding(
            opened.context.embedder.model, opened.context.embedder.dimension
        )
        await _fill(opened, vectors, "small", SMALL)
        await _fill(opened, vectors, "large", large)
        gc.collect()
        gc.freeze()  # the records made here are no part of what is measured
        names = [f"N{n:06}" for n in range(0, SMALL, SMALL // 20)]
        asked: dict[str, dict[str, Any]] = {
            "search_memories": {"query": "week 14"},
            "find_memories_by_name": {"names": names},
        }
        found = []
        async with client_of(opened, toolsets=("compat",)) as compat:
            for tool, arguments in asked.items():
                few, many = [await p95(compat, tool, {**arguments, "group_id": group}) for group in ("small", "large")]
                name = f"{tool} through MCP, {large:,} entities against {SMALL}, p95 of processor time"
                found.append(Figure(name, ms(many), ms(few), many / few, Target("<=", 3)))
        async with client_of(opened, toolsets=("reference",)) as reference:
            taken = await p95(reference, "search_nodes", {"query": "week 14"})
        name = f"search_nodes of reference through MCP, {large:,} entities, p95 of processor time"
        return [*found, Figure(name, ms(taken))]


async def p95(client: Client, tool: str, arguments: dict[str, Any]) -> float:
    """In milliseconds."""
    taken = []
    for _ in range(_ROUNDS):
        begun = process_time()
        await call(client, tool, **arguments)
        taken.append(1000 * (process_time() - begun))
    return sorted(taken[3:])[int(0.95 * (_ROUNDS - 3))]
