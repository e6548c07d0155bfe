"""The same reads before and after somebody else writes 200 notes: equal byte for byte, but for what tells the time."""

import random
import re
from typing import Any

import pytest
from mcp.client import Client
from tests.builders import a_write
from tests.contracts.test_graph_tenants import MANY, OTHERS, their_records
from tests.corpus import embeddings
from tests.protocol.support import EVERYTHING, World

from graphiti_pkm.storage.graph.store import GraphStore

PLACES = ("harbour", "quay", "lantern", "gull", "tide", "rope")
pytestmark = pytest.mark.timeout(500)
_OF_NOW = re.compile(r'next_cursor[\\": ]+[A-Za-z0-9_-]+|uptime_seconds[\\": ]+[0-9]+')


async def tell(client: Client, draw: random.Random) -> str:
    """More notes than a search ranks, with names that are much alike; the uuid of the person in all of them."""
    uuid = ""
    for number in range(MANY // 20):
        facts = [
            {
                "source": "Tobias Wenger",
                "relation": f"SAW_{draw.choice(PLACES)}",
                "target": f"{draw.choice(PLACES).title()} {number * 20 + i}",
                "fact": f"Tobias Wenger saw the {' '.join(draw.choices(PLACES, k=draw.randint(1, 6)))} {i}.",
            }
            for i in range(20)
        ]
        body = f"Haushaltsplanungen {number}: {' '.join(draw.choices(PLACES, k=draw.randint(2, 40)))}"
        result = await client.call_tool("add_memory", {"episode_body": body, "facts": facts})
        assert result.structured_content is not None
        uuid = next(one["uuid"] for one in result.structured_content["entities"] if one["name"] == "Tobias Wenger")
    return uuid


def reads(person: str) -> list[tuple[str, dict[str, Any]]]:
    """Everything that ranks, lists, counts or hints."""
    return [
        ("search_nodes", {"query": "harbour quay", "max_nodes": 50}),
        ("search_nodes", {"query": "lantern"}),
        ("search_nodes", {"names": ["Tobis Wenger", "Harbor 3", "Tobias", "Lanterm 7"]}),
        ("search_memory_facts", {"query": "harbour rope tide", "max_facts": 200}),
        ("search_memory_facts", {"query": "saw", "max_facts": 50, "center_node_uuid": person}),
        ("search_memory_facts", {"edge_types": ["SAW_HARBOR"]}),
        ("search_episodes", {"query": "harbour lantern", "max_episodes": 50, "neighbours": True}),
        ("search_episodes", {"query": "Planung"}),
        ("search_episodes", {"query": "harbour", "entity_uuid": person}),
        ("get_entity_connections", {"entity_uuid": person}),
        ("get_entity_timeline", {"entity_uuid": person}),
        ("get_episodes", {"max_episodes": 100}),
        ("what_changed", {"since": "2020"}),
        ("get_entity_subgraph", {"entity_uuid": person, "hops": 2}),
        ("forget", {"query": "lantern 7"}),
    ]


async def answers(client: Client, person: str) -> list[str]:
    found = []
    for tool, arguments in reads(person):
        result = await client.call_tool(tool, arguments)
        found.append(f"{tool} {arguments} {_OF_NOW.sub('', result.model_dump_json())}")
    return found


async def test_what_others_write_changes_no_answer(store: GraphStore) -> None:
    draw = random.Random(13)  # noqa: S311 (not for secrets)
    world = World(EVERYTHING, graph=store, writes_really=True)  # type: ignore[arg-type]
    async with world.connect() as client:
        person = await tell(client, draw)
        before = await answers(client, person)
        assert await answers(client, person) == before
        write = a_write(*their_records(draw), group_id=OTHERS)
        await store.writer.apply(write, await embeddings(write, world.embedder))
        after = await answers(client, person)
    assert after == before
    assert sum("harbour" in answer for answer in before) >= 8
