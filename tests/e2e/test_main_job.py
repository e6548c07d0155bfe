"""Search, add, explore and delete over every transport, with processes that share one data directory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from mcp.client import Client
from tests.e2e.support import Served, call, over_http, over_sse, over_stdio, serving
from tests.protocol.support import DEFAULT_TOOLS, Mode

DJANGO = {
    "episode_body": "Using Django with PostgreSQL for the booking service.",
    "entities": [{"name": "Django", "type": "Technology"}, {"name": "PostgreSQL", "type": "Technology"}],
    "facts": [
        {"source": "Django", "relation": "USES", "target": "PostgreSQL", "fact": "Django is used with PostgreSQL"}
    ],
}


@asynccontextmanager
async def connected(kind: str, mode: Mode, server: Served, shared_dir: Path) -> AsyncIterator[Client]:
    """A client of the module's server, or of one more process on the same data directory."""
    async with AsyncExitStack() as stack:
        if kind == "stdio":
            yield await stack.enter_async_context(over_stdio(shared_dir, mode))
        elif kind == "http":
            yield await stack.enter_async_context(over_http(server.endpoint, mode))
        else:
            served = stack.enter_context(serving(shared_dir, "sse"))
            yield await stack.enter_async_context(over_sse(served.url))


async def found(client: Client, name: str, group_id: str) -> str:
    nodes = (await call(client, "search_nodes", names=[name], group_ids=group_id))["nodes"]
    return str(nodes[0]["uuid"])


@pytest.mark.parametrize(
    ("kind", "mode"), [("stdio", "auto"), ("stdio", "legacy"), ("http", "auto"), ("http", "legacy"), ("sse", "legacy")]
)
async def test_the_main_job_works_over(kind: str, mode: str, server: Served, shared_dir: Path) -> None:
    group = f"{kind}-{mode}"
    async with connected(kind, cast("Mode", mode), server, shared_dir) as client:
        assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
        stored = await call(client, "add_memory", group_id=group, **DJANGO)
        assert stored["status"] == "stored"

        django = await found(client, "Django", group)
        facts = await call(client, "search_memory_facts", query="which database does Django use", group_ids=group)
        assert [fact["fact"] for fact in facts["facts"]] == ["Django is used with PostgreSQL"]
        episodes = await call(client, "search_episodes", query="booking", group_ids=group)
        assert [episode["uuid"] for episode in episodes["episodes"]] == [stored["episode_uuid"]]

        connections = await call(client, "get_entity_connections", entity_uuid=django)
        assert [(fact["target_node_name"], fact["direction"]) for fact in connections["facts"]] == [
            ("PostgreSQL", "out")
        ]
        timeline = await call(client, "get_entity_timeline", entity_uuid=django)
        assert [episode["content"] for episode in timeline["episodes"]] == [DJANGO["episode_body"]]

        deleted = await call(client, "delete_episode", uuid=stored["episode_uuid"])
        assert (deleted["removed"]["episodes"], deleted["removed"]["entities"]) == (1, 2)
        assert (await call(client, "search_nodes", names=["Django"], group_ids=group))["total"] == 0


async def test_two_servers_on_one_directory_see_each_others_writes_at_once(server: Served, shared_dir: Path) -> None:
    async with over_stdio(shared_dir) as one, over_http(server.endpoint) as other:
        stored = await call(one, "add_memory", group_id="shared", **DJANGO)
        django = await found(other, "Django", "shared")
        assert (await call(other, "search_episodes", query="booking", group_ids="shared"))["returned"] == 1

        linked = await call(other, "add_memory", group_id="shared", episode_body="Django was upgraded on Monday.")
        assert linked["entities"] == [{"uuid": django, "name": "Django", "outcome": "linked"}]
        assert (await call(one, "get_entity_timeline", entity_uuid=django))["total"] == 2

        await call(one, "delete_episode", uuid=stored["episode_uuid"])
        assert (await call(other, "get_entity_timeline", entity_uuid=django))["total"] == 1


async def test_processes_that_write_the_same_entity_at_once_make_one(server: Served, shared_dir: Path) -> None:
    async with over_stdio(shared_dir) as one, over_http(server.endpoint) as other:

        async def told(client: Client, number: int) -> None:
            await call(
                client,
                "add_memory",
                group_id="race",
                episode_body=f"Note {number} on Ines.",
                entities=[{"name": "Ines"}],
            )

        await asyncio.gather(*(told((one, other)[number % 2], number) for number in range(12)))
        nodes = (await call(one, "search_nodes", names=["Ines"], group_ids="race"))["nodes"]
        assert [node["name"] for node in nodes] == ["Ines"]
        assert (await call(one, "get_entity_timeline", entity_uuid=nodes[0]["uuid"]))["total"] == 12


async def test_a_timeline_tells_how_a_project_went_on_from_week_to_week(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        for week, day in enumerate(("2026-03-02", "2026-03-09", "2026-03-16"), start=1):
            await call(
                client,
                "add_memory",
                group_id="weeks",
                name=f"Week {week}",
                episode_body=f"Week {week} of the Django project.",
                reference_time=day,
                entities=[{"name": "Django", "type": "Project"}],
            )
        timeline = await call(client, "get_entity_timeline", entity_uuid=await found(client, "Django", "weeks"))
        assert [episode["name"] for episode in timeline["episodes"]] == ["Week 1", "Week 2", "Week 3"]
        assert timeline["mentions_per_month"] == {"2026-03": 3}


async def test_searching_first_makes_what_is_known_of_an_entity_grow(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        await call(client, "add_memory", group_id="grow", **DJANGO)
        postgres = await found(client, "PostgreSQL", "grow")
        before = (await call(client, "get_entity_connections", entity_uuid=postgres))["total"]
        note = await call(
            client,
            "add_memory",
            group_id="grow",
            episode_body="notification-service joins Django on PostgreSQL, for JSON support.",
            facts=[{"source": "notification-service", "relation": "USES", "target": "PostgreSQL"}],
        )
        assert ("PostgreSQL", "matched") in [(entity["name"], entity["outcome"]) for entity in note["entities"]]
        after = (await call(client, "get_entity_connections", entity_uuid=postgres))["total"]
        assert (before, after) == (1, 2)


async def test_work_and_wellbeing_are_answered_from_one_memory(server: Served) -> None:
    notes = {
        "API": "The booking API gets versioned endpoints.",
        "stress": "Check-in: stress is up because of the deadline.",
        "GraphQL": "GraphQL was tried for the booking API.",
    }
    async with over_http(server.endpoint) as client:
        for name, body in notes.items():
            await call(client, "add_memory", group_id="mixed", episode_body=body, entities=[{"name": name}])
        for query in notes:
            nodes = (await call(client, "search_nodes", query=query, group_ids="mixed"))["nodes"]
            assert nodes[0]["name"] == query
            await call(client, "get_entity_connections", entity_uuid=nodes[0]["uuid"])
            assert (await call(client, "get_entity_timeline", entity_uuid=nodes[0]["uuid"]))["total"] >= 1
