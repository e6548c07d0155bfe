"""A person in fifty entries that name others too is forgotten: no file, no tool and no second server has it after."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp_types import TextContent
from tests.e2e.support import Served, call, over_http, serving
from tests.integration.planted import files_with

pytestmark = pytest.mark.timeout(300)

GROUP = "diary"
PERSON = "Wilhelmina Ostrander"
HIDDEN = "Zéphyrin-Quolltext-4711"
OTHERS = ("Tobias", "Ingrid", "Marek", "Leonie", "Casimir")
COUNT = 50


def kept(number: int) -> str:
    return f"{OTHERS[number % len(OTHERS)]} planted {number + 2} apple trees near the river."


def entry(number: int) -> dict[str, Any]:
    """What is told of her stands between sentences about others; every tenth has it in title and summary."""
    other = OTHERS[number % len(OTHERS)]
    said = f"{PERSON} whispered {HIDDEN} to {other} on walk {number}."
    told: dict[str, Any] = {
        "episode_body": f"{kept(number)} {said} Later {other} slept well.",
        "reference_time": f"2025-{number % 12 + 1:02d}-{number % 28 + 1:02d}",
        "entities": [{"name": PERSON, "summary": f"Knows {HIDDEN}."}, {"name": other}],
        "facts": [
            {"source": PERSON, "relation": "TOLD", "target": other, "value": f"{HIDDEN} {number}", "quote": said},
            {"source": other, "relation": "PLANTED", "value": f"{number + 2} apple trees", "quote": kept(number)},
        ],
    }
    if number % 10 == 0:
        told["entities"][1]["summary"] = f"Gardener. {PERSON} told of {HIDDEN}."
        told["name"] = f"{PERSON} and {HIDDEN}"
        told["custom_extraction_instructions"] = f"mind {HIDDEN}"
    return told


@pytest.fixture
def servers(data_dir: Path) -> Iterator[tuple[Served, Served]]:
    """Two processes on one data directory."""
    with serving(data_dir, toolsets="memory,graph") as one, serving(data_dir, toolsets="memory,graph") as other:
        yield one, other


async def text_of(client: Client, tool: str, **arguments: Any) -> str:
    """All that a client gets to see of an answer, errors as well."""
    result = await client.call_tool(tool, arguments)
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    return " ".join([*texts, json.dumps(result.structured_content, ensure_ascii=False)])


async def everything(client: Client, episodes: list[str]) -> str:
    """What all reading tools say around it."""
    here = {"group_ids": [GROUP]}
    since = "2000-01-01"
    questions: list[tuple[str, dict[str, Any]]] = [
        ("search_nodes", {"query": PERSON, **here}),
        ("search_nodes", {"query": HIDDEN, **here}),
        ("search_nodes", {"names": list(OTHERS), **here}),
        ("search_memory_facts", {"query": f"{PERSON} {HIDDEN}", **here}),
        ("search_memory_facts", {"query": HIDDEN, "known_at": "2099-01-01", **here}),
        ("search_episodes", {"query": f"what did {PERSON} whisper", **here}),
        ("search_episodes", {"query": HIDDEN, **here}),
        ("get_episodes", {"max_episodes": COUNT, **here}),
        ("what_changed", {"since": since, "limit": 100, **here}),
        ("get_status", {}),
    ]
    found = [await text_of(client, tool, **arguments) for tool, arguments in questions]
    nodes = (await call(client, "search_nodes", names=list(OTHERS), **here))["nodes"]
    for node in nodes:
        uuid = node["uuid"]
        found += [
            await text_of(client, tool, entity_uuid=uuid) for tool in ("get_entity_connections", "get_entity_timeline")
        ]
        found.append(await text_of(client, "get_entity_subgraph", center_node_uuids=[uuid]))
        page = await call(client, "get_entity_connections", entity_uuid=uuid)
        for fact in page["facts"][:5]:
            found.append(await text_of(client, "get_fact_sources", fact_uuid=fact["uuid"], mode="paragraph"))
            found.append(await text_of(client, "get_entity_edge", uuid=fact["uuid"]))
    found += [await text_of(client, "get_episode_entities", episode_uuids=[uuid]) for uuid in episodes]
    return " ".join(found)


async def texts_kept(client: Client) -> list[str]:
    page = await call(client, "get_episodes", group_ids=[GROUP], max_episodes=COUNT)
    return [episode["content"] for episode in page["episodes"]]


def test_a_person_in_fifty_entries_is_forgotten_and_the_others_stay(
    servers: tuple[Served, Served], data_dir: Path
) -> None:
    async def story() -> None:
        async with over_http(servers[0].endpoint) as one, over_http(servers[1].endpoint) as other:
            episodes = []
            for number in range(COUNT):
                client = (one, other)[number % 2]  # both know all names, and hold them ready
                told = await call(client, "add_memory", group_id=GROUP, **entry(number))
                episodes.append(told["episode_uuid"])
            (person,) = (await call(one, "search_nodes", names=[PERSON], group_ids=[GROUP], max_nodes=1))["nodes"]
            assert HIDDEN in await everything(other, episodes[:1])
            assert files_with(data_dir, HIDDEN)

            preview = await call(one, "forget", entity_uuid=person["uuid"])
            assert preview["status"] == "preview"
            assert preview["removed"]["sentences"] == COUNT
            assert preview["removed"]["facts"] >= COUNT
            done = await call(one, "forget", entity_uuid=person["uuid"], confirm=preview["confirm"])
            assert done["status"] == "forgotten", done["message"]
            assert files_with(data_dir, HIDDEN) == []
            assert files_with(data_dir, PERSON) == []

            for client in (one, other):
                seen = await everything(client, episodes)
                assert HIDDEN not in seen
                assert PERSON not in seen
                named = await call(client, "search_nodes", names=[PERSON], group_ids=[GROUP])
                assert [node["name"] for node in named["nodes"] if "Wilhelmina" in node["name"]] == []
                contents = await texts_kept(client)
                assert sorted(contents) == sorted(
                    f"{kept(number)} [forgotten] Later {OTHERS[number % len(OTHERS)]} slept well."
                    for number in range(COUNT)
                )
            again = await call(other, "add_memory", group_id=GROUP, episode_body="Wilhelmina Ostrander is a street.")
            assert again["entities"] == []
            await call(other, "delete_episode", uuid=again["episode_uuid"])
            assert files_with(data_dir, HIDDEN) == []

    asyncio.run(story())
    assert files_with(data_dir, HIDDEN) == []
    assert [path.name for path in data_dir.parent.glob("*.log") if HIDDEN in path.read_text()] == []
