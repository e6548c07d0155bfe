"""How long a person's assistant waits for a traversal of an ordinary memory: reported, no aim."""

from tests.benchmarks.measuring import Figure, in_turn, ms
from tests.benchmarks.world import call, client_of, memory
from tests.corpus import DENSE_FACTS_EACH, DJANGO, WEEKS, dense, fixed_uuid, load, weeks
from tests.fakes import FakeEmbedder

ROUNDS = 100
_ENTITY = fixed_uuid("entity N000")
_WAIT_MS = 300


async def figures(rounds: int = ROUNDS) -> list[Figure]:
    """95th percentiles on the catalogue's F1 (600 entities, 6,000 facts) and F3 (25 episodes), through MCP."""
    async with memory() as opened, client_of(opened) as client:
        # Any vectors of the right length do: no query here compares them, and a model would take a minute.
        await load(opened.context.graph, [*dense(), *weeks()], FakeEmbedder(opened.context.embedder.dimension))

        async def connections() -> None:
            answer = await call(client, "get_entity_connections", entity_uuid=_ENTITY)
            assert answer["total"] == 2 * DENSE_FACTS_EACH

        async def timeline() -> None:
            answer = await call(client, "get_entity_timeline", entity_uuid=DJANGO)
            assert answer["total"] == WEEKS

        taken = await in_turn({"get_entity_connections": connections, "get_entity_timeline": timeline}, rounds)
    return [
        Figure(f"{tool} on {fixture} through MCP, p95", ms(taken[tool].p95), f"{_WAIT_MS} ms proposed")
        for tool, fixture in (("get_entity_connections", "F1"), ("get_entity_timeline", "F3 beside F1"))
    ]
