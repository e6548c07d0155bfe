"""What the tests of the toolsets ``compat`` and ``reference`` share: servers that write, and the dense graph F1."""

from datetime import timedelta
from typing import Any

from mcp.client import Client
from tests.builders import GROUP, RECORDED, a_fact, a_name, a_write, an_entity
from tests.protocol.support import World, answered

from graphiti_pkm.core.facts.observations import OBSERVATION
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.server.tools.hints import PREREQUISITE, SUGGESTED
from graphiti_pkm.settings.loader import Settings

CHAIN = ("NEXT_DAY", "EVOLVED_FROM", "DISCOVERS")
COUNT = 600
EACH = 10


def classic_world(*toolsets: str, **settings: Any) -> World:
    return World(Settings(toolsets=toolsets or ("compat",), default_group=GROUP, **settings), writes_really=True)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What the other server would answer: without the hints of ours, which ``test_hints.py`` checks."""
    answer = answered(await client.call_tool(tool, arguments))
    return {name: value for name, value in answer.items() if name not in {SUGGESTED, PREREQUISITE}}


def f1() -> tuple[list[Entity], list[Fact]]:
    """600 entities with 5 observations and 10 relations to the next ones each, as dense as a chain of days."""
    nodes = [an_entity(f"N{n:03}", label="Day", created_at=RECORDED + timedelta(seconds=n)) for n in range(COUNT)]
    told = [
        a_fact(one, one, OBSERVATION, text=f"N number {k} of {one.name}", attributes={"position": k})
        for one in nodes
        for k in range(5)
    ]
    joined = [
        a_fact(one, nodes[(n + k) % COUNT], CHAIN[k % 3], created_at=RECORDED + timedelta(seconds=n))
        for n, one in enumerate(nodes)
        for k in range(1, EACH + 1)
    ]
    return nodes, [*told, *joined]


async def hold_f1(world: World) -> None:
    nodes, facts = f1()
    await world.graph.writer.apply(a_write(*nodes, *map(a_name, nodes), *facts), {})
