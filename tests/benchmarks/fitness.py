"""Search with counters of fitness against without: what the caller waits for, and what it costs with its writes.

Processor time of server and client in one process, in turn, so that what else the machine does counts little.
"""

import gc
import random
from time import process_time

from mcp.client import Client
from tests.benchmarks.measuring import Figure, Target, Times, ms
from tests.benchmarks.world import call, client_of, memory
from tests.builders import GROUP
from tests.corpus import DENSE_ENTITIES, dense, load
from tests.fakes import FakeEmbedder

BLOCKS, OF_A_BLOCK = 10, 100
"""Blocks of as many searches as are written at once."""


async def figures(*, quick: bool = False) -> list[Figure]:
    """The catalogue's F1 (600 entities, 6,000 facts) twice; both are asked the same."""
    async with memory(fitness="record") as counting, memory(fitness="off") as plain:
        for opened in (counting, plain):
            await load(opened.context.graph, dense(), FakeEmbedder(opened.context.embedder.dimension))
        taken: dict[str, list[float]] = {"on": [], "off": []}
        whole = {"on": 0.0, "off": 0.0}
        gc.collect()
        gc.freeze()
        async with client_of(counting) as counted, client_of(plain) as uncounted:
            sides = [("on", counted), ("off", uncounted)]
            for block in range(-1, 2 if quick else BLOCKS):
                for side, client in sides:
                    begun = process_time()
                    single = await _searches(client, block)
                    await counting.usage.flush()  # nothing waits in the block of the other side
                    if block >= 0:  # the first warms up
                        whole[side] += process_time() - begun
                        taken[side] += single
                sides.reverse()
        gc.unfreeze()
    on, off = Times(tuple(taken["on"])).p95, Times(tuple(taken["off"])).p95
    calls = len(taken["on"])
    each = {side: 1000 * seconds / calls for side, seconds in whole.items()}
    return [
        Figure(
            "search_nodes through MCP with counters of fitness, against without, p95 of processor time",
            *(ms(on), ms(off), on / off, Target("<=", 1.05)),
        ),
        Figure(
            "the same with what is written behind it, mean of processor time",
            *(ms(each["on"]), ms(each["off"]), each["on"] / each["off"]),
        ),
    ]


async def _searches(client: Client, block: int) -> list[float]:
    """Milliseconds of each search of a block; the same ones on both sides."""
    rng, taken = random.Random(block), list[float]()  # noqa: S311 a seed
    for _ in range(OF_A_BLOCK):
        query = f"N{rng.randrange(DENSE_ENTITIES):03} and N{rng.randrange(DENSE_ENTITIES):03}"
        begun = process_time()
        answer = await call(client, "search_nodes", query=query, group_ids=GROUP, max_nodes=10)
        taken.append(1000 * (process_time() - begun))
        assert answer["returned"] > 0
    return taken
